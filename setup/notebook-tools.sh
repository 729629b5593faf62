#!/usr/bin/env bash
# Makes the Python environment of the notebooks under .tools/notebooks and prints its interpreter.
#
# It holds what notebooks/requirements.txt pins, from PyPI, and is made anew when that file changes. Needs python3 with
# venv, and the network the first time; without them it says so and fails.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly ENVIRONMENT=$PWD/.tools/notebooks
readonly REQUIREMENTS=notebooks/requirements.txt

fail() {
    echo "setup: $*" >&2
    exit 1
}

if ! cmp -s "$REQUIREMENTS" "$ENVIRONMENT/requirements.txt"; then
    command -v python3 >/dev/null || fail "the notebooks need python3"
    rm -rf "$ENVIRONMENT"
    mkdir -p "$(dirname "$ENVIRONMENT")"
    python3 -m venv "$ENVIRONMENT" >/dev/null 2>&1 || fail "python3 has no venv; install it, for example: apt-get install python3-venv"
    echo "setup: getting the notebooks' packages from PyPI into .tools/" >&2
    "$ENVIRONMENT/bin/python" -m pip install --quiet --disable-pip-version-check --only-binary=:all: --retries 1 \
        --timeout 15 --requirement "$REQUIREMENTS" >&2 || fail "cannot get $REQUIREMENTS from PyPI; is there a network?"
    cp "$REQUIREMENTS" "$ENVIRONMENT/requirements.txt"
fi
echo "$ENVIRONMENT/bin/python"
