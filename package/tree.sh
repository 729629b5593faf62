#!/usr/bin/env bash
# Builds the command for any Linux with glibc 2.17 or later (2012) and lays out what packages of it contain; prints where.
#
# HiGHS comes along as a shared library, that of PyPI's wheel `highsbox`, which is built for the same systems; the command finds
# it beside itself ($ORIGIN/../lib/fairplan), wherever the tree is put, and Python's module, which goes into wheels only, from
# where pip puts it (lib/python3.N/site-packages/fairplan, or lib64). Linked by zig (PyPI's wheels `ziglang` and
# `cargo-zigbuild`, under .tools/), which knows the symbols of every glibc. Needs a Linux on x86-64, python3 with venv, and the
# network the first time.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly ZIG_WHEELS=(ziglang==0.13.0 cargo-zigbuild==0.24.0)
readonly TRIPLE=x86_64-unknown-linux-gnu GLIBC=2.17
readonly TOOLS=$PWD/.tools
readonly ZIG=$TOOLS/zig HIGHS=$TOOLS/highs/highsbox/highs_dist
readonly TREE=$PWD/target/package/tree MODULE=$PWD/target/package/module

fail() {
    echo "package: $*" >&2
    exit 1
}

[ "$(uname -sm)" = "Linux x86_64" ] || fail "packages are made on Linux on x86-64, not on $(uname -sm)"
setup/build-tools.sh wheel >/dev/null

if [ "$(cat "$ZIG/wheels" 2>/dev/null)" != "${ZIG_WHEELS[*]}" ]; then
    command -v python3 >/dev/null || fail "python3 is missing; install it with its venv module"
    rm -rf "$ZIG"
    python3 -m venv "$ZIG" >/dev/null 2>&1 || fail "python3 has no venv; install it, for example: apt-get install python3-venv"
    echo "package: getting ${ZIG_WHEELS[*]} from PyPI into .tools/" >&2
    "$ZIG/bin/python" -m pip install --quiet --disable-pip-version-check --only-binary=:all: --retries 1 --timeout 30 \
        "${ZIG_WHEELS[@]}" >/dev/null 2>&1 || fail "cannot get ${ZIG_WHEELS[*]} from PyPI; is there a network?"
    echo "${ZIG_WHEELS[*]}" >"$ZIG/wheels"
fi

# Not the flags that setup wrote: they name folders of this machine. HiGHS's header is read with the headers of its compiler all the
# same, which are told by the name that comes before the one that cargo-zigbuild sets.
headers=$(cc -E -Wp,-v -xc /dev/null 2>&1 >/dev/null | sed -n 's|^ /|-isystem/|p' | tr '\n' ' ')
PATH="$ZIG/bin:$PATH" CARGO_TARGET_DIR=target/package \
    env "BINDGEN_EXTRA_CLANG_ARGS_$TRIPLE=$headers" \
    CARGO_ENCODED_RUSTFLAGS=$'-C\x1flink-arg=-Wl,-rpath,$ORIGIN/../lib/fairplan:$ORIGIN/../../../fairplan:$ORIGIN/../../../../lib/fairplan\x1f--remap-path-prefix='"$PWD"$'=/fairplan\x1f--remap-path-prefix='"${CARGO_HOME:-$HOME/.cargo}=/cargo" \
    cargo-zigbuild zigbuild --release --locked -p fairplan-cli -p fairplan-python --target "$TRIPLE.$GLIBC" >&2

rm -rf "$TREE" "$MODULE"
install -D -s "target/package/$TRIPLE/release/lib_native.so" "$MODULE/_native.abi3.so"
install -D -s "target/package/$TRIPLE/release/fairplan" "$TREE/bin/fairplan"
install -D -m 644 "$HIGHS/lib/libhighs.so" "$TREE/lib/fairplan/libhighs.so"
readonly SHARE=$TREE/share
mkdir -p "$SHARE"/{man/man1,bash-completion/completions,zsh/site-functions,fish/vendor_completions.d,doc/fairplan}
"$TREE/bin/fairplan" manual "$SHARE/man/man1"
"$TREE/bin/fairplan" completions bash -o "$SHARE/bash-completion/completions/fairplan"
"$TREE/bin/fairplan" completions zsh -o "$SHARE/zsh/site-functions/_fairplan"
"$TREE/bin/fairplan" completions fish -o "$SHARE/fish/vendor_completions.d/fairplan.fish"
install -m 644 README.md CHANGELOG.md LICENSE-APACHE LICENSE-MIT "$SHARE/doc/fairplan"
install -m 644 "$HIGHS/share/doc/HIGHS/LICENSE.txt" "$SHARE/doc/fairplan/LICENSE-HiGHS"
echo "$TREE"
