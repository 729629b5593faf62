#!/usr/bin/env bash
# Makes a Python environment under .tools/ and prints its interpreter.
#
#   setup/notebook-tools.sh            that of the notebooks
#   setup/notebook-tools.sh FOLDER     that of this folder (python/tests)
#
# It holds what the folder's requirements.txt pins, from PyPI, and is made anew when that file changes. Needs python3 with
# venv, and the network the first time; without them it says so and fails.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly FOLDER=${1:-notebooks}
readonly ENVIRONMENT=$PWD/.tools/${FOLDER//\//-}
readonly REQUIREMENTS=$FOLDER/requirements.txt

fail() {
    echo "setup: $*" >&2
    exit 1
}

if ! cmp -s "$REQUIREMENTS" "$ENVIRONMENT/requirements.txt"; then
    command -v python3 >/dev/null || fail "$FOLDER needs python3"
    rm -rf "$ENVIRONMENT"
    mkdir -p "$(dirname "$ENVIRONMENT")"
    python3 -m venv "$ENVIRONMENT" >/dev/null 2>&1 || fail "python3 has no venv; install it, for example: apt-get install python3-venv"
    echo "setup: getting the packages of $FOLDER from PyPI into .tools/" >&2
    "$ENVIRONMENT/bin/python" -m pip install --quiet --disable-pip-version-check --only-binary=:all: --retries 1 \
        --timeout 15 --requirement "$REQUIREMENTS" >&2 || fail "cannot get $REQUIREMENTS from PyPI; is there a network?"
    cp "$REQUIREMENTS" "$ENVIRONMENT/requirements.txt"
fi
echo "$ENVIRONMENT/bin/python"
