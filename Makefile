# Two commands do everything on a fresh machine with Rust and a C compiler: `make demo` and `make test`.
# The first builds with cargo's profile `quick` of Cargo.toml, which compiles in a fifth of the time of `release`; tests, which compute,
# with `tested`; all else is `release`.

FAIRPLAN := target/release/fairplan
QUICK := target/quick/fairplan
OUT := out
# What cargo is told beside, as setup finds HiGHS or not.
SETUP = with=$$(setup/build-tools.sh) &&

.DEFAULT_GOAL := help
.PHONY: help setup build demo figures compile test test-all lint bench peers fuzz notebooks guide install tarball wheel deb packages

help: ## Say what the targets are
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-9s  %s\n", $$1, $$2}' Makefile

setup: ## Find or get HiGHS, or what it is built with
	@setup/build-tools.sh >/dev/null

build: ## Build the fairplan command, and nothing of the tests
	@$(SETUP) set -x && cargo build --release --locked -p fairplan-cli $$with

demo: ## Build quickly, without HiGHS; solve, verify and compare placements on the built-in Google cluster of 12,583 servers
	cargo build --profile quick --locked -p fairplan-cli --no-default-features
	@mkdir -p $(OUT)
	$(QUICK) generate google -o $(OUT)/google.json
	$(QUICK) solve $(OUT)/google.json -o $(OUT)/solution.json
	$(QUICK) verify $(OUT)/google.json $(OUT)/solution.json
	$(QUICK) compare $(OUT)/google.json -o $(OUT)/comparison.json
	@echo '$(QUICK) is this command, built quickly and without --backend highs; make build makes a faster one with it, target/release/fairplan'

figures: build ## Draw the README's pictures again, docs/*.svg (some minutes)
	@mkdir -p $(OUT)
	$(FAIRPLAN) generate google --quiet -o $(OUT)/google.json
	cd $(OUT) && { \
	  echo '$$ fairplan solve google.json -o solution.json'; ../$(FAIRPLAN) solve google.json -o solution.json; echo; \
	  echo '$$ fairplan compare google.json -o comparison.json'; ../$(FAIRPLAN) compare google.json -o comparison.json; \
	} 2>&1 | python3 ../setup/terminal-picture.py 'fairplan on 12,583 Google servers' > ../docs/demo.svg
	$(FAIRPLAN) generate drfh-fig4 | $(FAIRPLAN) compare - --no-timing -o $(OUT)/hundred.json
	$(FAIRPLAN) report $(OUT)/hundred.json --plot docs/hundred-servers.svg -o $(OUT)/hundred.html
	$(FAIRPLAN) generate google | $(FAIRPLAN) compare - --time-limit 1000 --no-timing -o tests/samples/google_comparison.json
	$(FAIRPLAN) report tests/samples/google_comparison.json --plot docs/google-servers.svg -o $(OUT)/google-whole.html
	@if test -n "$$ALIBABA_GPU2023"; then set -x; $(FAIRPLAN) reproduce fgd --alibaba-gpu2023 "$$ALIBABA_GPU2023" --plots docs -o $(OUT)/fgd.json; \
	else echo 'docs/fgd.svg is left as it is: ALIBABA_GPU2023 names no directory of the tables of that cluster'; fi

compile: ## Compile every test, and run none
	@$(SETUP) set -x && cargo test --profile tested --locked --workspace $$with --no-run

test: ## Run every test but those of half a minute and more
	@$(SETUP) set -x && cargo test --profile tested --locked --workspace $$with

test-all: ## Run every test, the long ones and those that measure too
	@$(SETUP) set -x && cargo test --profile tested --locked --workspace $$with -- --include-ignored

lint: setup ## Formatting, clippy and documentation, warnings refused; with HiGHS and without
	cargo fmt --all --check
	cargo clippy --profile tested --locked --workspace --all-targets -- -D warnings
	cargo clippy --profile tested --locked -p fairplan-solver -p fairplan-tests --all-targets --no-default-features -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --profile tested --locked --workspace --no-deps

bench: setup ## Measure against HiGHS and against one pass over the users; writes the table of the README
	cargo run --release --locked -p fairplan-tests --bin bench

PEERS_DATA ?= ../shared/data/gavel
export PEERS_DATA
PEERS_NOTE ?= nothing is known of what else ran on the machine.

peers: build ## Compare with published systems on their own inputs; PEERS_DATA=FOLDER has them (peers/README.md)
	@test -f $(PEERS_DATA)/simulation_throughputs.json.gz || { echo "peers: $(PEERS_DATA) has no simulation_throughputs.json.gz; peers/README.md says where it comes from. Say where it lies: make peers PEERS_DATA=FOLDER" >&2; exit 1; }
	python=$$(setup/notebook-tools.sh peers) && dede=$$(setup/notebook-tools.sh peers/dede) && \
	export PYTHONDONTWRITEBYTECODE=1 FAIRPLAN=$(FAIRPLAN) && $$python peers/run.py --dede $$dede -o $(OUT)/peers && \
	$$python peers/table.py $(OUT)/peers/lines.jsonl --benchmarks docs/benchmarks.md --figure docs/peers.svg --note '$(PEERS_NOTE)'

COUNT ?= 200000
SEED ?= 1

fuzz: build ## Read COUNT damaged files (200,000) of SEED (1) with every reader; docs/reliability.md has the counts
	cargo run --release --locked -p fairplan-tests --bin fuzz -- --count $(COUNT) --seed $(SEED)

notebooks: build ## Execute the notebooks in a Python environment of their own and store their outputs
	@$(SETUP) set -x && cargo build --release --locked -p fairplan-python $$with
	FAIRPLAN=$(FAIRPLAN) $$(setup/notebook-tools.sh) notebooks/execute.py

guide: ## Build the guide as HTML in out/guide, with mdbook; guide/src/ reads well without
	@command -v mdbook >/dev/null || { echo "mdbook is missing; install it by: cargo install mdbook" >&2; exit 1; }
	mdbook build guide

install: ## Install the command with cargo, HiGHS from source inside it
	@setup/build-tools.sh source >/dev/null
	cargo install --locked --path cli

PACKAGES := $(OUT)/packages

tarball: ## Pack the command with its library, manual and completions for any Linux on x86-64, in out/packages
	@mkdir -p $(PACKAGES)
	package/tarball.sh $(PACKAGES)

wheel: ## The same with the Python package as a wheel: pip install out/packages/fairplan-*.whl
	@mkdir -p $(PACKAGES)
	package/wheel.py $(PACKAGES)

deb: ## The same as a Debian package: apt-get install ./out/packages/fairplan_*.deb
	@mkdir -p $(PACKAGES)
	package/deb.sh $(PACKAGES)

packages: tarball wheel deb ## Make all three, and install and run each in an empty environment
	FAIRPLAN_PACKAGES=$(PACKAGES) cargo test --release --locked -p fairplan-tests --test fairplan packages:: -- --include-ignored
