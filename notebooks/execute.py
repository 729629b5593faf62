"""Executes the notebooks beside this file with the `fairplan` command that $FAIRPLAN names, or that is on the PATH.

The package is the one that is installed, or else that of the sources beside this folder with the compiled module beside the command.

Without an option the outputs are stored in the notebooks. With --check nothing is written: what is printed must be what is
stored, and where a picture is stored, there must be one. What changes from run to run without meaning anything (times, counters,
the kernel's version) is left out, so that another execution changes little.
"""

import argparse
import difflib
import importlib.util
import itertools
import os
import pathlib
import shutil
import sys
import tempfile

import nbformat
from nbclient import NotebookClient

FOLDER = pathlib.Path(__file__).parent


def lay_out_package(command, folder):
    """Lets kernels import the package of the sources, where none is installed."""
    installed = importlib.util.find_spec("fairplan")
    if installed is not None and installed.origin is not None:
        return
    module = command.with_name("lib_native.so")
    if not module.exists():
        sys.exit(f"the package fairplan is not installed, and {module} is not there: run make notebooks, or cargo build --release")
    shutil.copytree(FOLDER.parent / "python/fairplan", folder / "fairplan", ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "fairplan/_native.abi3.so").symlink_to(module)
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(folder), os.environ.get("PYTHONPATH")]))


def executed(path):
    """The notebook with the outputs of a run; it makes its own folder to work in."""
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(notebook, timeout=600, kernel_name="python3").execute()
    return normal(notebook)


def normal(notebook):
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    for number, cell in enumerate(notebook.cells):
        cell.id = f"cell-{number}"
        cell.metadata = {}
        if cell.cell_type == "code":
            cell.execution_count = None
            cell.outputs = [kept for output in cell.outputs if (kept := normal_output(output))]
    return notebook


def normal_output(output):
    """An output without its counter; of a picture the picture alone."""
    if "data" not in output:
        return output
    output.metadata = {}
    if "execution_count" in output:
        output.execution_count = None
    for kind in ("image/png", "text/plain"):
        if kind in output.data:
            output.data = {kind: output.data[kind]}
            return output
    return None


def said(notebook):
    """What the cells print, line by line, with a word for each picture."""
    lines = []
    for cell in notebook.cells:
        for is_stream, outputs in itertools.groupby(cell.get("outputs", []), lambda output: output.output_type == "stream"):
            if is_stream:
                # On a busy machine a stream may come in pieces, cut anywhere in a line.
                lines += "".join(output.text for output in outputs).splitlines()
                continue
            for output in outputs:
                lines += ["(a picture)"] if "image/png" in output.data else output.data["text/plain"].splitlines()
    return [line.rstrip() for line in lines]


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--check", action="store_true", help="compare with what is stored, and write nothing")
    arguments.add_argument("names", nargs="*", help="only these notebooks, such as 1-shares-and-prices")
    arguments = arguments.parse_args()

    command = shutil.which(os.environ.get("FAIRPLAN", "fairplan"))
    if command is None:
        sys.exit("the fairplan command is not there: set FAIRPLAN to it, or run make build and put it on the PATH")
    command = pathlib.Path(command).resolve()
    os.environ["FAIRPLAN"] = str(command)

    with tempfile.TemporaryDirectory() as folder:
        lay_out_package(command, pathlib.Path(folder))
        sys.exit(differs(arguments))


def differs(arguments):
    """Whether what is printed is not what is stored, after all have been executed."""
    differ = False
    for path in sorted(FOLDER.glob("*.ipynb")):
        if arguments.names and path.stem not in arguments.names:
            continue
        notebook = executed(path)
        if not arguments.check:
            nbformat.write(notebook, path)
            continue
        stored, given = said(nbformat.read(path, as_version=4)), said(notebook)
        if stored != given:
            differ = True
            print("\n".join(difflib.unified_diff(stored, given, f"{path.name}, stored", "given now", lineterm="")))
    return differ


if __name__ == "__main__":
    main()
