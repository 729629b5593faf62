#!/usr/bin/env bash
# Finds HiGHS, or gets it, or gets what it is built with, tells cargo where that is and prints what cargo is to be told beside.
#
#   setup/build-tools.sh           the first of: a shared HiGHS that pkg-config knows, of the version that Cargo.lock asks for;
#                                  the one of PyPI's wheel `highsbox`, under .tools/; HiGHS from source; none at all
#   setup/build-tools.sh source    HiGHS from source, linked into the binary, or a message that says what to install
#   setup/build-tools.sh wheel     that of the wheel, which runs on other systems too, or a message
#
# HiGHS needs libclang, which reads its header, and from source a C++ compiler and cmake. What the system lacks comes from PyPI
# as wheels under .tools/ (needs python3 with pip or venv), else by apt-get when run as root. Without HiGHS fairplan is built
# without that backend: then `--no-default-features` is printed. One line on standard error says which it is whenever that
# changes. The findings go to .cargo/config.toml, so that `make` and a plain `cargo build` see the same settings.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly CMAKE_WHEEL=cmake==4.4.4 LIBCLANG_WHEEL=libclang==18.1.1 HIGHS_WHEEL=highsbox==1.15.1
readonly TOOLS=$PWD/.tools
readonly WHEELS=$TOOLS/python SHARED=$TOOLS/highs
readonly CONFIG=.cargo/config.toml
readonly HEADER="# Written by setup/build-tools.sh: where the build finds HiGHS and its tools."
# Written by earlier versions of this file.
readonly HEADERS="$HEADER
# Written by setup/build-tools.sh: where the HiGHS build finds its tools."

fail() {
    echo "setup: $*" >&2
    exit 1
}

find_cmake() {
    command -v "${CMAKE:-cmake}" || ls "$WHEELS/cmake/data/bin/cmake" 2>/dev/null
}

# The folder of a real libclang; libclang-cpp and llvm-config alone do not help bindgen.
find_libclang() {
    local folder
    for folder in "${LIBCLANG_PATH:-}" "$(llvm-config --libdir 2>/dev/null || true)" \
        /usr/lib/llvm-*/lib /usr/lib64/llvm*/lib* /usr/local/llvm*/lib /usr/lib/*-linux-* /usr/lib64 /usr/lib \
        /usr/local/lib /opt/homebrew/opt/llvm/lib /usr/local/opt/llvm/lib \
        /Library/Developer/CommandLineTools/usr/lib "$WHEELS/clang/native"; do
        if [ -n "$(ls "$folder"/libclang{.so,.so.*,-[0-9]*.so,-[0-9]*.so.*,.dylib} 2>/dev/null)" ]; then
            echo "$folder"
            return
        fi
    done
    return 1
}

install_wheels() {
    local target=$1 pip=(python3 -m pip)
    shift
    command -v python3 >/dev/null || return 1
    if ! "${pip[@]}" --version >/dev/null 2>&1; then
        python3 -m venv "$TOOLS/venv" >/dev/null 2>&1 || return 1
        pip=("$TOOLS/venv/bin/python" -m pip)
    fi
    echo "setup: getting $* from PyPI into .tools/" >&2
    PIP_ROOT_USER_ACTION=ignore "${pip[@]}" install --quiet --disable-pip-version-check --retries 1 --timeout 30 \
        --only-binary=:all: --no-deps --upgrade --target "$target" "$@" >/dev/null 2>&1
}

install_packages() {
    [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || return 1
    echo "setup: apt-get install $*" >&2
    apt-get update -qq >&2 || true
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null
}

get_libclang() {
    find_libclang >/dev/null || install_wheels "$WHEELS" "$LIBCLANG_WHEEL" || install_packages libclang-dev || return 1
    find_libclang >/dev/null
}

get_cmake() {
    find_cmake >/dev/null || install_wheels "$WHEELS" "$CMAKE_WHEEL" || install_packages cmake || return 1
    find_cmake >/dev/null
}

# The version of the sources that come with the crate, without the last number: libraries of others may lack what is called.
accepted_version() {
    sed -n '/^name = "highs-sys"$/{n;s/^version = "\([0-9]*\.[0-9]*\)\..*"$/\1/p}' Cargo.lock
}

# The version of a HiGHS that pkg-config knows, if it is accepted; one that is not is named.
system_highs() {
    local version
    version=$(pkg-config --modversion highs 2>/dev/null) || return 1
    case $version in
    "$(accepted_version)".*) echo "$version" ;;
    *)
        echo "setup: the system's HiGHS $version is not used; fairplan needs $(accepted_version)" >&2
        return 1
        ;;
    esac
}

# The wheel's library, whose pkg-config file names the folder where it was built.
get_shared_highs() {
    local version=${HIGHS_WHEEL#*==} installed
    case $version in "$(accepted_version)".*) ;; *) return 1 ;; esac
    installed=$SHARED/highsbox/highs_dist
    if [ "$(cat "$SHARED/version" 2>/dev/null)" != "$version" ]; then
        rm -rf "$SHARED"
        install_wheels "$SHARED" "$HIGHS_WHEEL" || return 1
        [ -e "$installed/lib/libhighs.so" ] || [ -e "$installed/lib/libhighs.dylib" ] || return 1
        # A library that this system cannot load is as good as none.
        python3 - "$installed"/lib/libhighs.* >/dev/null 2>&1 <<'PYTHON' || return 1
import ctypes, sys
ctypes.CDLL(sys.argv[1]).Highs_versionMajor()
PYTHON
        # What pkg-config would say, for systems without it too.
        cat >"$SHARED/pkg-config" <<SCRIPT
#!/bin/sh
# Answers for HiGHS as pkg-config would; any other library is asked of pkg-config itself.
case "\$*" in
*highs*) ;;
*) exec pkg-config "\$@" ;;
esac
case "\$*" in
*--modversion*) echo "$version" ;;
*) echo "-I${installed// /\\\\ }/include/highs -L${installed// /\\\\ }/lib -lhighs" ;;
esac
SCRIPT
        chmod +x "$SHARED/pkg-config"
        echo "$version" >"$SHARED/version"
    fi
}

command -v cargo >/dev/null || fail "cargo is missing; install Rust 1.95 or later from https://rustup.rs"
command -v cc >/dev/null || fail "no C compiler (cc), which Rust links with; install one, for example: apt-get install gcc"

# What is decided: `with` is what cargo is told beside, `settings` what it reads, `decision` what is said.
with="" settings="" decision="" rustflags=""
from_source() {
    command -v c++ >/dev/null && get_cmake
}
if [ "${1:-}" = source ]; then
    command -v c++ >/dev/null || fail "no C++ compiler (c++); install one, for example: apt-get install g++"
    get_libclang && get_cmake ||
        fail "HiGHS from source needs cmake and libclang. Install them by one of
    sudo apt-get install cmake libclang-dev
    sudo dnf install cmake clang-devel
    brew install cmake llvm
and run make again."
    decision="HiGHS $(accepted_version) from source, some minutes"
    settings="CMAKE = \"$(find_cmake)\"
HIGHS_NO_PKG_CONFIG = \"1\""
elif [ "${1:-}" != wheel ] && ! get_libclang; then
    decision="without HiGHS, whose header only libclang can read: install it (apt-get install libclang-dev) or let python3 with pip reach PyPI"
    with=--no-default-features
elif [ "${1:-}" != wheel ] && version=$(system_highs); then
    decision="HiGHS $version of the system"
    rustflags=$(pkg-config --variable=libdir highs)
elif get_libclang && get_shared_highs; then
    decision="HiGHS ${HIGHS_WHEEL#*==} of the PyPI wheel $HIGHS_WHEEL, under .tools/"
    settings="PKG_CONFIG = \"$SHARED/pkg-config\""
    rustflags=$SHARED/highsbox/highs_dist/lib
elif [ "${1:-}" = wheel ]; then
    fail "cannot get $LIBCLANG_WHEEL and $HIGHS_WHEEL from PyPI; is there a network, and python3 with pip or venv?"
elif from_source; then
    decision="HiGHS $(accepted_version) from source, some minutes"
    settings="CMAKE = \"$(find_cmake)\"
HIGHS_NO_PKG_CONFIG = \"1\""
else
    decision="without HiGHS: there is none of version $(accepted_version), no PyPI to get it from, and no C++ compiler with cmake to build it"
    with=--no-default-features
fi

if [ -z "$with" ]; then
    # A libclang from a wheel or a bare library package lacks the compiler's own headers (stddef.h).
    headers=$(cc -print-file-name=include)
    settings+="${settings:+
}LIBCLANG_PATH = \"$(find_libclang)\""
    if [ -f "$headers/stddef.h" ]; then
        settings+="
BINDGEN_EXTRA_CLANG_ARGS = \"-I$headers\""
    fi
    settings="[env]
$settings"
fi
if [ -n "$rustflags" ]; then
    # Where the binary finds the library, run from anywhere, and where examples in the documentation do.
    settings+="

[build]
rustflags = [\"-C\", \"link-arg=-Wl,-rpath,$rustflags\"]
rustdocflags = [\"-C\", \"link-arg=-Wl,-rpath,$rustflags\"]"
fi
settings="$HEADER
# $decision${settings:+
$settings}"

if [ -n "$rustflags" ] && [ -n "${RUSTFLAGS:-}${CARGO_ENCODED_RUSTFLAGS:-}" ]; then
    echo "setup: RUSTFLAGS is set, so add to it what $CONFIG says there, or the command will not find HiGHS" >&2
fi
echo "$with"
if [ -e "$CONFIG" ]; then
    grep -qxF "$(head -n 1 "$CONFIG")" <<<"$HEADERS" ||
        fail "$CONFIG is not ours; add these lines to it or move it away:"$'\n'"$settings"
    [ "$(cat "$CONFIG")" != "$settings" ] || exit 0
fi
echo "setup: $decision" >&2
mkdir -p "$(dirname "$CONFIG")"
echo "$settings" >"$CONFIG.new"
mv "$CONFIG.new" "$CONFIG"
