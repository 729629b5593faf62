"""What counts as a frame, and what is wrong with one that cannot be handed over."""

from __future__ import annotations

import numbers
from collections.abc import Iterable
from decimal import Decimal
from typing import Any, Protocol, runtime_checkable

from fairplan import _native
from fairplan.errors import InputError

__all__ = ["ArrowStream"]


@runtime_checkable
class ArrowStream(Protocol):
    """Anything that hands its columns over as an Arrow stream: frames of pandas, polars, pyarrow, and others."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


def _refused(name: str, frame: Any, error: Exception) -> Exception:
    """What is raised for a frame that does not become a stream: pandas finds out only then what cells a column of objects has."""
    columns = getattr(frame, "column_names", getattr(frame, "columns", None))
    if not isinstance(columns, Iterable) or not hasattr(frame, "__getitem__"):
        return InputError(f"{name}: {type(frame).__name__} gives no columns: {error}", name)
    columns = list(columns)
    twice = next((column for column in columns if columns.count(column) > 1), None)
    if twice is not None:
        return InputError(f"{name}: columns, column {twice}: duplicate column", name, f"columns, column {twice}")
    for column in columns:
        problem = _problem(frame, column)
        if problem is not None:
            return _cell(name, frame, column) or InputError(
                f"{name}: columns, column {column}: cannot be read: {problem}", name, f"columns, column {column}"
            )
    return InputError(f"{name}: {error}", name)


def _problem(frame: Any, column: Any) -> Exception | None:
    """Why the column alone does not become a stream either."""
    try:
        alone = frame.select([column]) if callable(getattr(type(frame), "select", None)) else frame[[column]]
        _native.hand_over(alone)
    except Exception as problem:
        return problem
    return None


def _cell(name: str, frame: Any, column: Any) -> InputError | None:
    """The first cell that is not what the others are, as a column of objects may have."""
    cells = frame[column].to_pylist() if hasattr(frame[column], "to_pylist") else list(frame[column])
    kinds = [_kind(cell) for cell in cells]
    of_text = kinds.count("a text") > kinds.count("a number")
    for row, kind in enumerate(kinds):
        if kind not in (None, "a text" if of_text else "a number"):
            path, value = f"row {row}, column {column}", str(cells[row])
            others = "texts" if of_text else "numbers"
            problem = "is neither a number nor a text" if kind == "" else f"is {kind}, where the others are {others}"
            return InputError(f"{name}: {path} = {value[:100]}: {problem}", name, path, value)
    return None


def _kind(cell: Any) -> str | None:
    """What a cell is; ``None`` for one that is missing, and nothing for what is not read."""
    if cell is None or type(cell).__name__ in ("NAType", "NaTType") or (isinstance(cell, float) and cell != cell):
        return None
    if isinstance(cell, str):
        return "a text"
    is_number = isinstance(cell, numbers.Real | Decimal) and not isinstance(cell, bool)
    return "a number" if is_number else ""
