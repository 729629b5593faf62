"""A mechanism of one's own, which divides the slices of each quantum."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["History", "Mechanism"]

Mechanism = Callable[[Any, "History"], Any]
"""Divides the slices of one quantum: ``(demands, history) -> slices``.

``demands`` is an array of what each user reports to demand in this quantum, in slices; ``history`` is a :class:`History` of what was
before. The answer has a whole number for each user, in the same order: at least 0, together at most ``history.capacity``, and not
more than the user demands, unless the function has an attribute ``beyond_demand`` that is true. An answer that cannot be is an
``InputError`` that names quantum and user. Without numpy the arrays are tuples.
"""


class History:
    """What a mechanism may know when it divides a quantum: who is due what, and the quanta before."""

    __slots__ = (
        "_demands",
        "_last",
        "_slices",
        "capacity",
        "demands",
        "fair_shares",
        "members",
        "quantum",
        "slices",
        "users",
    )

    def __init__(self, users: list[str], quanta: int) -> None:
        self.users: list[str] = users
        """The ids of the users, in the order of all arrays."""
        self.quantum: int | str = 0
        """The quantum to be divided, as the demands call it."""
        self.capacity: int = 0
        """Slices in this quantum."""
        self.fair_shares: Any = ()
        """Slices that each user is due in this quantum, perhaps with a fraction; 0 of who is no member."""
        self.members: Any = ()
        """Of each user whether it is a member in this quantum."""
        self._last: list[Any] | None = None
        self._demands, self._slices = _rows(quanta, len(users)), _rows(quanta, len(users))
        self.demands: Any = _seen(self._demands, 0)
        """What users reported in the quanta before: an array of quanta times users."""
        self.slices: Any = _seen(self._slices, 0)
        """What they got in the quanta before: an array of quanta times users."""

    def _admit(self, capacity: int, fair_shares: list[float], members: list[bool]) -> None:
        self.capacity = capacity
        self.fair_shares, self.members = _array(fair_shares), _array(members)

    def _ask(self, function: Mechanism, position: int, quantum: int | str, demands: list[int]) -> list[Any]:
        # The last answer was found to be right before this is asked.
        if self._last is not None:
            self.slices = _put(self._slices, position - 1, self._last)
        now = _put(self._demands, position, demands)
        self.quantum, self.demands = quantum, now[:position]
        answer = function(now[position], self)
        self._last = answer.tolist() if hasattr(answer, "tolist") else list(answer)
        return self._last


def _array(values: list[Any]) -> Any:
    try:
        import numpy
    except ImportError:
        return tuple(values)
    array = numpy.array(values)
    array.flags.writeable = False
    return array


def _rows(quanta: int, users: int) -> Any:
    """Room for a row a quantum."""
    try:
        import numpy
    except ImportError:
        return []
    return numpy.zeros((quanta, users), dtype=numpy.int64)


def _put(rows: Any, position: int, row: list[Any]) -> Any:
    """The rows up to this one, which is put there."""
    if isinstance(rows, list):
        rows.append(tuple(row))
    else:
        rows[position] = row
    return _seen(rows, position + 1)


def _seen(rows: Any, count: int) -> Any:
    """The first rows, which cannot be written."""
    if isinstance(rows, list):
        return tuple(rows[:count])
    filled = rows[:count]
    filled.flags.writeable = False
    return filled
