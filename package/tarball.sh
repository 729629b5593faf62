#!/usr/bin/env bash
# Packs the tree that tree.sh lays out: `tarball.sh FOLDER` writes FOLDER/fairplan-VERSION-x86_64-linux.tar.gz.
#
# It runs where it is unpacked, also under /usr/local. The same tree gives the same bytes.
set -euo pipefail
out=$(realpath "$1")
cd "$(dirname "$0")/.."
name=fairplan-$(package/version.sh)
tree=$(package/tree.sh)
date=$(git log -1 --format=@%ct 2>/dev/null || echo @0)
tar --create --sort=name --owner=0 --group=0 --numeric-owner --mtime="$date" --transform="s|^\.|$name|" -C "$tree" . |
    gzip -9n >"$out/$name-x86_64-linux.tar.gz"
echo "$out/$name-x86_64-linux.tar.gz"
