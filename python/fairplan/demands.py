"""Demands that change over time: divided by mechanisms, quantum by quantum, and at best."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from fairplan import _native
from fairplan.commands import Cluster, Progress, _call, _found, _instance
from fairplan.documents import as_json
from fairplan.errors import InputError, NotProved
from fairplan.files import path_of
from fairplan.frames import ArrowStream
from fairplan.held import Held, as_bytes
from fairplan.mechanisms import Mechanism
from fairplan.options import Due, Settings
from fairplan.policies import named
from fairplan.results import Allocation, Offline, Result, Verification
from fairplan.tables import Table

__all__ = ["Demands", "allocate", "offline", "verify_offline"]


class Demands(Held[_native.Demands]):
    """Demands over time, in slices of one resource or in tasks: never changed.

    Args:
        demands: a frame, or the path of a file, with the columns ``quantum``, ``user``, ``demand``, or with ``quantum`` and a
            column a user; or a mapping from users to their demands, one a quantum. A missing cell is no demand.
        members: the path of a table of the quanta in which users who join or leave are members.
        round: round demands that are no whole number of slices ``down``, ``nearest`` or ``up``, instead of refusing them.

    >>> import fairplan as fp
    >>> fp.Demands({"a": [3, 0, 1], "b": [1, 2, 0]})
    <fairplan.Demands of 2 users over 3 quanta>
    """

    def __init__(
        self,
        demands: ArrowStream | Mapping[str, Sequence[int]] | str | os.PathLike[str],
        *,
        members: str | os.PathLike[str] | None = None,
        round: str | None = None,
    ) -> None:
        if isinstance(demands, Mapping):
            if members is not None:
                raise TypeError("members: a mapping has every user in every quantum; give a frame or a file")
            self._native = _of_mapping("demands", demands, round)
        else:
            self._native = _native.Demands(demands, None if members is None else path_of("members", members), round)

    @classmethod
    def from_json(cls, text: str | bytes, name: str = "the demands") -> Demands:
        """The demands in a ``fairplan.demands.v1``; errors call them ``name``."""
        return cls._of(_native.Demands.from_json(as_bytes(text), name, None, None))

    def to_json(self) -> str:
        """The canonical ``fairplan.demands.v1``, with the instance that its file named; who joins and leaves is no part of it."""
        return self._native.to_json().decode()

    @property
    def users(self) -> list[str]:
        """The ids of the users, in their order."""
        return self._native.users

    @property
    def quantum_count(self) -> int:
        """How many quanta there are."""
        return self._native.quantum_count

    def __reduce__(self) -> tuple[Any, ...]:
        native = self._native
        return _again, (native.to_json(), native.name, native.members)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Demands):
            return False
        return self.to_json() == other.to_json() and self._native.members == other._native.members

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<fairplan.Demands of {len(self.users):,} users over {self.quantum_count:,} quanta>"


def _again(json: bytes, name: str, members: list[tuple[int, int]] | None) -> Demands:
    """What was pickled."""
    return Demands._of(_native.Demands.from_json(json, name, None, members))


def _of_mapping(name: str, demands: Mapping[str, Sequence[int]], round: str | None = None) -> _native.Demands:
    """Demands that errors call ``name``."""
    document = {"format": "fairplan.demands.v1", "users": list(demands), "demands": _by_quantum(demands)}
    return _native.Demands.from_json(as_json(name, document), name, round, None)


def _by_quantum(demands: Mapping[str, Sequence[int]]) -> list[list[int]]:
    """A row a quantum of what users demand in each."""
    columns = {user: list(column) for user, column in demands.items()}
    first, quanta = next(((user, len(column)) for user, column in columns.items()), ("", 0))
    for user, column in columns.items():
        if len(column) != quanta:
            told = f"demands: {user} = {len(column)} quanta: {first} has {quanta}; say 0 where there is no demand"
            raise InputError(told, "demands", user, f"{len(column)} quanta")
    return [list(row) for row in zip(*columns.values(), strict=True)]


def _demands(given: Any) -> _native.Demands:
    return given._native if isinstance(given, Demands) else Demands(given)._native


def _reported(given: Any, truth: _native.Demands) -> _native.Demands | None:
    """What users report; a mapping may name them in any order."""
    if not isinstance(given, Mapping):
        return None if given is None else _demands(given)
    same = set(given) == set(truth.users)
    return _of_mapping("reported", {user: given[user] for user in truth.users} if same else given)


def _due(
    fair_share: int | None,
    capacity: int | None,
    fair_shares: Mapping[str, int] | str | os.PathLike[str] | None,
    instance: Cluster | None,
) -> Due:
    each = dict(fair_shares) if isinstance(fair_shares, Mapping) else None
    table = None if fair_shares is None or isinstance(fair_shares, Mapping) else path_of("fair_shares", fair_shares)
    return {
        "fair_share": fair_share,
        "capacity": capacity,
        "fair_shares": table if each is None else each,
        "instance": None if instance is None else _instance(instance)._native,
    }


def allocate(
    demands: Demands | ArrowStream | Mapping[str, Sequence[int]] | str | os.PathLike[str],
    *,
    fair_share: int | None = None,
    capacity: int | None = None,
    fair_shares: Mapping[str, int] | str | os.PathLike[str] | None = None,
    instance: Cluster | None = None,
    mechanism: str | Mechanism = "karma",
    alpha: float | Decimal = 0.5,
    initial_credits: int | None = None,
    ties: str = "lowest",
    oversubscription: int = 2,
    term: int = 2,
    seed: int = 0,
    non_conformant: float | Decimal | None = None,
    reported: Demands | ArrowStream | Mapping[str, Sequence[int]] | str | os.PathLike[str] | None = None,
    cache_slowdown: float | Decimal | None = None,
    per_quantum: bool = False,
    time_limit: float | None = None,
    progress: Progress | None = None,
) -> Allocation:
    """Divides demands over time among users by a mechanism, quantum by quantum.

    Args:
        demands: :class:`Demands`, or what they are made of.
        fair_share: slices that every user is due in a quantum.
        capacity: slices in a quantum, shared equally (or, with one of the others: their sum, which is checked).
        fair_shares: slices that each user is due, by its id; or the path of a table with the columns ``user`` and ``fair_share``.
        instance: demands are tasks over the servers of this instance, whose users have the same ids.
        mechanism: ``karma``, ``max-min``, ``strict``, ``las``, ``mpsp``, ``sharp`` …; for tasks ``drfh``, ``karma`` …; or a
            function ``(demands, history) -> slices`` (see :data:`fairplan.mechanisms.Mechanism`), which divides slices.
        alpha: Karma: the guaranteed fraction of the fair share, 0 to 1.
        initial_credits: Karma: of every user at the start; by default so many that nobody with an average share can run out.
        ties: who comes first among equals: ``lowest`` or ``highest`` in the input, or the largest ``demand``.
        oversubscription: tickets for every slice.
        term: quanta until a claim of tickets ends.
        seed: of everything drawn.
        non_conformant: this part of the users reports at least its fair share.
        reported: what users report instead of the truth in ``demands``.
        cache_slowdown: slices are a cache, the store behind it so many times slower.
        per_quantum: keep every quantum too, in ``quanta``.

    Raises:
        InputError: a setting or the demands cannot be used; a function answered what cannot be, with quantum and user, or raised
            (then ``__cause__`` is what it raised).

    >>> import fairplan as fp
    >>> def first_comes(demands, history):
    ...     slices, left = [], history.capacity
    ...     for demand in demands:
    ...         slices.append(min(int(demand), left))
    ...         left -= slices[-1]
    ...     return slices
    >>> fp.allocate(fp.generate.karma_fig2(), fair_share=2, mechanism=first_comes).users["useful"]
    [10, 10, 4]
    >>> karma = fp.allocate(fp.generate.karma_fig2(), fair_share=2, initial_credits=6)
    >>> karma.users["useful"]
    [8, 8, 8]
    """
    settings: Settings = {
        "alpha": alpha,
        "initial_credits": initial_credits,
        "ties": ties,
        "oversubscription": oversubscription,
        "term": term,
        "seed": seed,
    }
    truth = _demands(demands)
    native, quanta = _native.allocate(
        truth,
        _due(fair_share, capacity, fair_shares, instance),
        named("mechanism", mechanism, "(demands, history) -> slices"),
        settings,
        non_conformant,
        _reported(reported, truth),
        cache_slowdown,
        per_quantum,
        _call(time_limit, progress),
    )
    allocation = Allocation(native)
    if quanta is not None:
        allocation.quanta = Table(quanta)
    return allocation


def offline(
    demands: Demands | ArrowStream | Mapping[str, Sequence[int]] | str | os.PathLike[str],
    *,
    fair_share: int | None = None,
    capacity: int | None = None,
    fair_shares: Mapping[str, int] | str | os.PathLike[str] | None = None,
    instance: Cluster | None = None,
    measure: str = "totals",
    whole_slices: bool = False,
    guaranteed: bool = False,
    exact: bool = False,
    against: Sequence[str] | str = (),
    alpha: float | Decimal = 0.5,
    initial_credits: int | None = None,
    ties: str = "lowest",
    oversubscription: int = 2,
    term: int = 2,
    seed: int = 0,
    per_quantum: bool = False,
    time_limit: float | None = None,
    progress: Progress | None = None,
) -> Offline:
    """Finds the most even allocation when all demands are known beforehand, proves it, and states what mechanisms lose against it.

    Args:
        measure: what is evened out: ``totals`` by weight, or ``welfare``, the part of its demand that each is allocated.
        whole_slices: slices are whole, as mechanisms allocate them.
        guaranteed: everybody gets its guaranteed share in every quantum.
        exact: state fractions such as 5/7 beside the doubles, proved without any tolerance.
        against: mechanisms whose regret to state, or one.

    The others are as in :func:`allocate`.

    >>> import fairplan as fp
    >>> optimum = fp.offline(fp.generate.karma_fig2(), fair_share=2, against=["strict"])
    >>> optimum["against"][0]["regret"] > 0.2
    True
    >>> fp.offline({"a": [1, 1], "b": [1, 1], "c": [0, 1]}, capacity=1, exact=True).to_dict()["exact"]["levels"]
    ['2/3']
    """
    settings: Settings = {
        "alpha": alpha,
        "initial_credits": initial_credits,
        "ties": ties,
        "oversubscription": oversubscription,
        "term": term,
        "seed": seed,
    }
    try:
        native, quanta = _native.offline(
            _demands(demands),
            _due(fair_share, capacity, fair_shares, instance),
            measure,
            whole_slices,
            guaranteed,
            exact,
            [against] if isinstance(against, str) else list(against),
            settings,
            per_quantum,
            _call(time_limit, progress),
        )
    except NotProved as error:
        raise _found(error, Offline) from None
    optimum = Offline(native)
    if quanta is not None:
        optimum.quanta = Table(quanta)
    return optimum


def verify_offline(
    demands: Demands | ArrowStream | Mapping[str, Sequence[int]] | str | os.PathLike[str],
    result: Result,
    *,
    instance: Cluster | None = None,
    time_limit: float | None = None,
    progress: Progress | None = None,
) -> Verification:
    """Checks a result of :func:`offline` that was made with ``per_quantum=True``.

    >>> import fairplan as fp
    >>> demands = fp.generate.karma_fig2()
    >>> fp.verify_offline(demands, fp.offline(demands, fair_share=2, per_quantum=True)).holds
    True
    """
    native = None if instance is None else _instance(instance)._native
    call = _call(time_limit, progress)
    document = result.to_json().encode()
    return Verification(_native.verify_offline(_demands(demands), native, document, "the result", call))
