#!/usr/bin/env bash
# Prints fairplan's version, from the workspace's Cargo.toml.
set -euo pipefail
cd "$(dirname "$0")/.."
sed -n '/^\[workspace.package\]/,/^$/s/^version = "\(.*\)"/\1/p' Cargo.toml
