"""What counts as a frame, and what is wrong with one that cannot be handed over."""

from __future__ import annotations

import numbers
from collections.abc import Iterable
from decimal import Decimal
from typing import Any, Protocol, runtime_checkable

from fairplan.errors import InputError

__all__ = ["ArrowStream"]


@runtime_checkable
class ArrowStream(Protocol):
    """Anything that hands its columns over as an Arrow stream: frames of pandas, polars, pyarrow, and others."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


def _refused(name: str, frame: Any, error: Exception) -> Exception:
    """What is raised for a frame that does not become a stream: pandas finds out only then what cells a column of objects has."""
    columns = getattr(frame, "columns", None)
    if not isinstance(columns, Iterable) or not hasattr(frame, "__getitem__"):
        return InputError(f"{name}: {type(frame).__name__} gives no columns: {error}", name)
    for column in columns:
        kinds = [_kind(cell) for cell in frame[column]]
        of_text = kinds.count("a text") > kinds.count("a number")
        for row, kind in enumerate(kinds):
            if kind not in (None, "a text" if of_text else "a number"):
                path, value = f"row {row}, column {column}", str(list(frame[column])[row])
                others = "texts" if of_text else "numbers"
                problem = "is neither a number nor a text" if kind == "" else f"is {kind}, where the others are {others}"
                return InputError(f"{name}: {path} = {value[:100]}: {problem}", name, path, value)
    return InputError(f"{name}: {error}", name)


def _kind(cell: Any) -> str | None:
    """What a cell is; ``None`` for one that is missing, and nothing for what is not read."""
    if cell is None or type(cell).__name__ in ("NAType", "NaTType") or (isinstance(cell, float) and cell != cell):
        return None
    if isinstance(cell, str):
        return "a text"
    is_number = isinstance(cell, numbers.Real | Decimal) and not isinstance(cell, bool)
    return "a number" if is_number else ""
