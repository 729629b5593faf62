#!/usr/bin/env python3
"""Makes a Python wheel of the tree that tree.sh lays out: `wheel.py FOLDER` writes FOLDER/fairplan-VERSION-….whl.

It carries the command, its library and its manual, and no Python: `pip install` puts them into the environment's bin, lib and
share. The same tree gives the same bytes.
"""

import base64
import hashlib
import pathlib
import re
import subprocess
import sys
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
TAGS = ["py3-none-manylinux_2_17_x86_64", "py3-none-manylinux2014_x86_64"]
# What is not for Python's environments: their pip knows no place for it.
LEFT_OUT = ("share/doc",)
# The glibc that the tags promise to do with.
GLIBC = (2, 17)


def told(script):
    """What a script beside this one prints."""
    run = subprocess.run([HERE / script], stdout=subprocess.PIPE, check=False, text=True)
    if run.returncode != 0:
        sys.exit(run.returncode)
    return run.stdout.strip()


def check_symbols(file, content):
    """Ends with a message if a program or library needs a later glibc than the tags say."""
    needed = [tuple(map(int, found.split(b"."))) for found in re.findall(rb"GLIBC_(\d+\.\d+)", content)]
    if max(needed, default=GLIBC) > GLIBC:
        newest = ".".join(map(str, max(needed)))
        sys.exit(f"package: {file} needs glibc {newest}, and the wheel shall do with {GLIBC[0]}.{GLIBC[1]}; link it by zig")


def metadata(version):
    readme = (HERE.parent / "README.md").read_text(encoding="utf-8")
    head = [
        "Metadata-Version: 2.1",
        "Name: fairplan",
        f"Version: {version}",
        "Summary: Exact fair allocation of clusters whose servers differ, with prices and a proof",
        "License: MIT OR Apache-2.0",
        "Keywords: fairness,allocation,cluster,scheduling,DRF",
        "Classifier: Environment :: Console",
        "Classifier: Operating System :: POSIX :: Linux",
        "Classifier: Topic :: Scientific/Engineering :: Mathematics",
        "Requires-Python: >=3.7",
        "Description-Content-Type: text/markdown",
    ]
    return "\n".join(head) + "\n\n" + readme


def members(version):
    """Name in the wheel, content and mode of each file."""
    tree = pathlib.Path(told("tree.sh"))
    data, info = f"fairplan-{version}.data", f"fairplan-{version}.dist-info"
    for file in sorted(path for path in tree.rglob("*") if path.is_file()):
        name = file.relative_to(tree).as_posix()
        if name.startswith(LEFT_OUT):
            continue
        place = f"{data}/scripts/{file.name}" if name.startswith("bin/") else f"{data}/data/{name}"
        content = file.read_bytes()
        if content.startswith(b"\x7fELF"):
            check_symbols(file, content)
        yield place, content, 0o755 if name.startswith("bin/") else 0o644
    for name in ["LICENSE-APACHE", "LICENSE-MIT"]:
        yield f"{info}/licenses/{name}", (HERE.parent / name).read_bytes(), 0o644
    highs = tree / "share/doc/fairplan/LICENSE-HiGHS"
    yield f"{info}/licenses/{highs.name}", highs.read_bytes(), 0o644
    yield f"{info}/METADATA", metadata(version).encode(), 0o644
    wheel = ["Wheel-Version: 1.0", "Generator: fairplan package/wheel.py", "Root-Is-Purelib: false"]
    wheel += [f"Tag: {tag}" for tag in TAGS]
    yield f"{info}/WHEEL", ("\n".join(wheel) + "\n").encode(), 0o644


def main(folder):
    version = told("version.sh")
    tags = ".".join(tag.split("-")[2] for tag in TAGS)
    path = pathlib.Path(folder) / f"fairplan-{version}-py3-none-{tags}.whl"
    record = f"fairplan-{version}.dist-info/RECORD"
    lines = []
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as wheel:

        def add(name, content, mode):
            entry = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
            entry.external_attr = (0o100000 | mode) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(entry, content)

        for name, content, mode in members(version):
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            lines.append(f"{name},sha256={digest},{len(content)}")
            add(name, content, mode)
        add(record, ("\n".join([*lines, f"{record},,"]) + "\n").encode(), 0o644)
    print(path)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: wheel.py FOLDER")
    main(sys.argv[1])
