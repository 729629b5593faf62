#!/usr/bin/env bash
# Makes a Debian package of the tree that tree.sh lays out: `deb.sh FOLDER` writes FOLDER/fairplan_VERSION_amd64.deb.
#
# With the manual and the completions where Debian looks for them. Needs dpkg-deb.
set -euo pipefail
out=$(realpath "$1")
cd "$(dirname "$0")/.."
command -v dpkg-deb >/dev/null || {
    echo "package: dpkg-deb is missing; install it, for example: apt-get install dpkg" >&2
    exit 1
}
version=$(package/version.sh)
tree=$(package/tree.sh)
root=target/package/deb
rm -rf "$root"
mkdir -p "$root/DEBIAN" "$root/usr"
cp -r "$tree/." "$root/usr"
mv "$root/usr/share/zsh/site-functions" "$root/usr/share/zsh/vendor-completions"
gzip -9n "$root"/usr/share/man/man1/*.1
{
    echo "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/"
    echo
    echo "Files: *"
    echo "Copyright: the authors of fairplan"
    echo "License: Apache-2.0 or MIT, see LICENSE-APACHE and LICENSE-MIT beside this file"
    echo
    echo "Files: usr/lib/fairplan/libhighs.so"
    echo "Copyright: HiGHS"
    echo "License: MIT, see LICENSE-HiGHS beside this file"
} >"$root/usr/share/doc/fairplan/copyright"
cat >"$root/DEBIAN/control" <<CONTROL
Package: fairplan
Version: $version
Architecture: amd64
Maintainer: the authors of fairplan <fairplan@localhost>
Installed-Size: $(du -sk "$root/usr" | cut -f 1)
Depends: libc6 (>= 2.17), libgcc-s1 | libgcc1, libstdc++6 (>= 4.8), zlib1g
Section: science
Priority: optional
Description: exact fair allocation of clusters whose servers differ
 What each user of a heterogeneous cluster should get, exactly, with prices and
 a proof; whole tasks placed by the policies that schedulers use; and how far
 each policy is from the best.
CONTROL
dpkg-deb --build --root-owner-group "$root" "$out/fairplan_${version}_amd64.deb" >&2
echo "$out/fairplan_${version}_amd64.deb"
