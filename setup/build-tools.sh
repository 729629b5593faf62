#!/usr/bin/env bash
# Finds cmake and libclang, without which HiGHS cannot be built, or gets them, and tells cargo where they are.
#
# In this order: what the system has; wheels from PyPI under .tools/ (needs python3 with pip or venv);
# apt-get when run as root; otherwise a message that says what to install. The findings go to
# .cargo/config.toml, so that `make` and a plain `cargo build` see the same settings and HiGHS is built once.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly CMAKE_WHEEL=cmake==4.4.4 LIBCLANG_WHEEL=libclang==18.1.1
readonly WHEELS=$PWD/.tools/python
readonly CONFIG=.cargo/config.toml
readonly HEADER="# Written by setup/build-tools.sh: where the HiGHS build finds its tools."

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
    local pip=(python3 -m pip)
    command -v python3 >/dev/null || return 1
    if ! "${pip[@]}" --version >/dev/null 2>&1; then
        python3 -m venv .tools/venv >/dev/null 2>&1 || return 1
        pip=(.tools/venv/bin/python -m pip)
    fi
    echo "setup: getting $* from PyPI into .tools/" >&2
    PIP_ROOT_USER_ACTION=ignore "${pip[@]}" install --quiet --disable-pip-version-check \
        --only-binary=:all: --upgrade --target "$WHEELS" "$@"
}

install_packages() {
    [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || return 1
    echo "setup: apt-get install $*" >&2
    apt-get update -qq || true
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null
}

command -v cargo >/dev/null || fail "cargo is missing; install Rust 1.95 or later from https://rustup.rs"
command -v c++ >/dev/null || fail "no C++ compiler (c++); install one, for example: apt-get install g++"

wheels=() packages=()
find_cmake >/dev/null || { wheels+=("$CMAKE_WHEEL") packages+=(cmake); }
find_libclang >/dev/null || { wheels+=("$LIBCLANG_WHEEL") packages+=(libclang-dev); }
if [ ${#packages[@]} -gt 0 ]; then
    install_wheels "${wheels[@]}" || install_packages "${packages[@]}" ||
        fail "the HiGHS build needs: ${packages[*]}. Install by one of
    sudo apt-get install cmake libclang-dev
    sudo dnf install cmake clang-devel
    brew install cmake llvm
and run make again."
fi
cmake=$(find_cmake) || fail "cmake was installed but cannot be found; put it on PATH"
libclang=$(find_libclang) || fail "libclang was installed but cannot be found; set LIBCLANG_PATH to its folder"

# A libclang from a wheel or a bare library package lacks the compiler's own headers (stddef.h).
headers=$(c++ -print-file-name=include)
settings="$HEADER
[env]
CMAKE = \"$cmake\"
LIBCLANG_PATH = \"$libclang\""
if [ -f "$headers/stddef.h" ]; then
    settings+="
BINDGEN_EXTRA_CLANG_ARGS = \"-I$headers\""
fi

if [ -e "$CONFIG" ]; then
    [ "$(head -n 1 "$CONFIG")" = "$HEADER" ] ||
        fail "$CONFIG is not ours; add these lines to it or move it away:"$'\n'"$settings"
    [ "$(cat "$CONFIG")" != "$settings" ] || exit 0
fi
mkdir -p "$(dirname "$CONFIG")"
echo "$settings" >"$CONFIG.new"
mv "$CONFIG.new" "$CONFIG"
