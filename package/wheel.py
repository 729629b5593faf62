#!/usr/bin/env python3
"""Makes the Python wheel: the package `fairplan` with its compiled module, which is the command too.

    wheel.py FOLDER            of the tree that tree.sh lays out, for any Linux on x86-64, with HiGHS and the manual
    wheel.py FOLDER MODULE     of a module that cargo built here, for this machine, to try it

writes FOLDER/fairplan-VERSION-….whl. `pip install` puts the package into the environment's site-packages, makes the command in its bin, and
puts the others into its lib and share. The same input gives the same bytes.
"""

import base64
import hashlib
import pathlib
import re
import subprocess
import sys
import sysconfig
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
# Pythons from 3.11 on, by their stable interface.
PYTHON = "cp311-abi3"
PLATFORMS = ["manylinux_2_17_x86_64", "manylinux2014_x86_64"]
# What is not for Python's environments: their command is the module, and their pip knows no place for documents.
LEFT_OUT = ("bin", "share/doc")
COMMAND = "[console_scripts]\nfairplan = fairplan.__main__:main\n"
# What tables can become, and the array that a policy of one's own sees.
EXTRAS = {"pandas": ["pandas", "pyarrow"], "polars": ["polars"], "numpy": ["numpy"]}
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
        "Classifier: Programming Language :: Python :: 3",
        "Classifier: Programming Language :: Rust",
        "Classifier: Typing :: Typed",
        "Classifier: Operating System :: POSIX :: Linux",
        "Classifier: Topic :: Scientific/Engineering :: Mathematics",
        "Requires-Python: >=3.11",
        *[f"Provides-Extra: {extra}" for extra in EXTRAS],
        *[f"Requires-Dist: {needed}; extra == '{extra}'" for extra, all in EXTRAS.items() for needed in all],
        "Description-Content-Type: text/markdown",
    ]
    return "\n".join(head) + "\n\n" + readme


def package(module):
    """Name in the wheel, content and mode of each file of the package."""
    sources = HERE.parent / "python" / "fairplan"
    for file in sorted(sources.iterdir()):
        if file.suffix in (".py", ".pyi") or file.name == "py.typed":
            yield f"fairplan/{file.name}", file.read_bytes(), 0o644
    yield "fairplan/_native.abi3.so", module, 0o755


def packed(version):
    """The same of all that tree.sh lays out."""
    tree = pathlib.Path(told("tree.sh"))
    module = tree.parent / "module" / "_native.abi3.so"
    check_symbols(module, module.read_bytes())
    yield from package(module.read_bytes())
    data, info = f"fairplan-{version}.data", f"fairplan-{version}.dist-info"
    for file in sorted(path for path in tree.rglob("*") if path.is_file()):
        name = file.relative_to(tree).as_posix()
        if name.startswith(LEFT_OUT):
            continue
        content = file.read_bytes()
        if content.startswith(b"\x7fELF"):
            check_symbols(file, content)
        yield f"{data}/data/{name}", content, 0o644
    highs = tree / "share/doc/fairplan/LICENSE-HiGHS"
    yield f"{info}/licenses/{highs.name}", highs.read_bytes(), 0o644


def described(version, platforms):
    """What says what the wheel is."""
    info = f"fairplan-{version}.dist-info"
    for name in ["LICENSE-APACHE", "LICENSE-MIT"]:
        yield f"{info}/licenses/{name}", (HERE.parent / name).read_bytes(), 0o644
    yield f"{info}/METADATA", metadata(version).encode(), 0o644
    yield f"{info}/entry_points.txt", COMMAND.encode(), 0o644
    wheel = ["Wheel-Version: 1.0", "Generator: fairplan package/wheel.py", "Root-Is-Purelib: false"]
    wheel += [f"Tag: {PYTHON}-{platform}" for platform in platforms]
    yield f"{info}/WHEEL", ("\n".join(wheel) + "\n").encode(), 0o644


def main(folder, here=None):
    version = told("version.sh")
    platforms = [sysconfig.get_platform().replace("-", "_").replace(".", "_")] if here else PLATFORMS
    path = pathlib.Path(folder) / f"fairplan-{version}-{PYTHON}-{'.'.join(platforms)}.whl"
    record = f"fairplan-{version}.dist-info/RECORD"
    lines = []
    # All of it before the file is begun, which else is left empty where something fails.
    members = package(pathlib.Path(here).read_bytes()) if here else packed(version)
    members = [*members, *described(version, platforms)]
    # A wheel to be tried once is not worth the time to make it small.
    level = 1 if here else 9
    with zipfile.ZipFile(path, "w") as wheel:

        def add(name, content, mode):
            entry = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
            entry.external_attr = (0o100000 | mode) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(entry, content, compresslevel=level)

        for name, content, mode in members:
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            lines.append(f"{name},sha256={digest},{len(content)}")
            add(name, content, mode)
        add(record, ("\n".join([*lines, f"{record},,"]) + "\n").encode(), 0o644)
    print(path)


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit("usage: wheel.py FOLDER [MODULE]")
    main(*sys.argv[1:])
