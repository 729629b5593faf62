"""The paths of files, as functions take them."""

from __future__ import annotations

import os

from fairplan.options import Files

__all__ = ["path_of", "paths_of"]


def path_of(name: str, given: str | os.PathLike[str]) -> str:
    """The path that ``name`` was given."""
    if not isinstance(given, str | os.PathLike):
        raise TypeError(f"{name}: {type(given).__name__} is no path; give that of a file")
    return os.fspath(given)


def paths_of(name: str, given: Files) -> list[str]:
    """The paths that ``name`` was given: one, or several."""
    if isinstance(given, str | os.PathLike):
        return [os.fspath(given)]
    if not hasattr(given, "__iter__"):
        raise TypeError(f"{name}: {type(given).__name__} is neither a path nor a list of paths")
    return [path_of(name, one) for one in given]
