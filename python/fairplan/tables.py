"""Tables of results: any program that reads Arrow takes them without a copy."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any

from fairplan import _native

if TYPE_CHECKING:
    import numpy  # type: ignore[import-untyped, import-not-found, unused-ignore]
    import pandas  # type: ignore[import-untyped, import-not-found, unused-ignore]
    import polars  # type: ignore[import-untyped, import-not-found, unused-ignore]
    import pyarrow  # type: ignore[import-untyped, import-not-found, unused-ignore]

__all__ = ["Table"]


class Table:
    """Columns of equal length, to be taken by ``pandas``, ``polars``, ``pyarrow`` or anything that reads Arrow streams.

    >>> import fairplan as fp
    >>> users = fp.solve(fp.generate.drfh_fig1()).users
    >>> len(users), users.column_names[:3]
    (2, ['id', 'dominant_resource', 'dominant_share'])
    >>> [round(tasks, 6) for tasks in users["tasks"]]
    [10.0, 10.0]
    """

    def __init__(self, native: _native.Table | Callable[[bool], _native.Table]) -> None:
        self._made = native

    @cached_property
    def _native(self) -> _native.Table:
        # A table of a million rows is made when somebody asks for it, and in the form that this somebody holds texts in.
        return self._made(False) if callable(self._made) else self._made

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._native.__arrow_c_stream__(requested_schema)

    def __len__(self) -> int:
        return len(self._native)

    @property
    def column_names(self) -> list[str]:
        """The names of the columns, in their order."""
        return self._native.column_names

    def __getitem__(self, column: str) -> list[Any]:
        """The cells of a column as Python's own values; ``None`` where there is none."""
        return self._native.column(column)

    def __iter__(self) -> Iterator[str]:
        """The names of the columns."""
        return iter(self.column_names)

    def __contains__(self, column: object) -> bool:
        return column in self.column_names

    def to_dict(self) -> dict[str, list[Any]]:
        """All columns by their names."""
        return self._native.to_dict()

    def to_numpy(self, column: str) -> numpy.ndarray[Any, Any]:
        """The cells of a column, such as prices or a series, as an array of numpy; NaN where there is no number."""
        import numpy

        cells = self[column]
        if None in cells and not any(isinstance(cell, str) for cell in cells):
            return numpy.array(cells, dtype=float)
        return numpy.array(cells)

    def to_arrow(self) -> pyarrow.Table:
        """The same as a ``pyarrow.Table``, without a copy."""
        import pyarrow

        return pyarrow.table(self)

    def to_polars(self) -> polars.DataFrame:
        """The same as a ``polars.DataFrame``."""
        import polars

        return polars.DataFrame(self._made(True) if callable(self._made) else self._made)

    def to_pandas(self) -> pandas.DataFrame:
        """The same as a ``pandas.DataFrame``; through ``pyarrow`` where that is installed."""
        import pandas

        try:
            return self.to_arrow().to_pandas()
        except ImportError:
            return pandas.DataFrame(self.to_dict())

    def __repr__(self) -> str:
        return f"<fairplan.Table of {len(self)} rows: {', '.join(self.column_names)}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return _kept, (self._native.to_ipc(),)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Table) and self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]


def _kept(stream: bytes) -> Table:
    """The table in an Arrow stream that was pickled."""
    return Table(_native.Table.from_ipc(stream))
