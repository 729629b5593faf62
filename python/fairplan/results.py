"""Results: what the command writes as JSON, with tables, pictures and, in notebooks, its section of a page."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

from fairplan import _native
from fairplan.errors import InputError
from fairplan.files import path_of
from fairplan.held import as_bytes
from fairplan.instances import Instance
from fairplan.pictures import Picture
from fairplan.tables import Table

if TYPE_CHECKING:
    import pandas  # type: ignore[import-untyped, import-not-found, unused-ignore]

__all__ = [
    "Allocation",
    "Audit",
    "Bound",
    "Comparison",
    "Difference",
    "Entitlements",
    "Explanation",
    "Export",
    "Flows",
    "Growth",
    "Losses",
    "Moves",
    "Offline",
    "Placement",
    "Plan",
    "Reproduction",
    "Result",
    "Simulation",
    "Solution",
    "Verification",
    "Worth",
]


class Result:
    """A result: its members by name (``result["stats"]``), its main table, its chart, and the JSON that the command writes."""

    _kinds: ClassVar[tuple[str, ...]] = ()
    """Of which formats it may be: all, if none is said."""

    def __init__(self, native: _native.Document) -> None:
        self._native = native

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """A result from the JSON that ``to_json`` or the command gave.

        Raises:
            InputError: it is none of this class.
        """
        native = _native.Document(as_bytes(text), "the result")
        kinds = [f"fairplan.{kind}.v1" for kind in cls._kinds] or [native.format]
        if native.format not in kinds:
            problem = f"is no {cls.__name__}, which is a {' or '.join(kinds)}"
            raise InputError(f"the result: format = {native.format}: {problem}", "the result", "format", native.format)
        return cls(native)

    def to_json(self) -> str:
        """The JSON document, to the byte as the command writes it."""
        return self._native.to_json().decode()

    @cached_property
    def _members(self) -> dict[str, Any]:
        members: dict[str, Any] = json.loads(self.to_json())
        return members

    def to_dict(self) -> dict[str, Any]:
        """The document as a dictionary."""
        members: dict[str, Any] = json.loads(self.to_json())
        return members

    def __getitem__(self, member: str) -> Any:
        """A member of the document."""
        return self._members[member]

    def __iter__(self) -> Iterator[str]:
        """The names of the document's members."""
        return iter(self._members)

    def __contains__(self, member: object) -> bool:
        return member in self._members

    @property
    def format(self) -> str:
        """The document's format and version, such as ``fairplan.bound.v1``."""
        return self._document.format

    @property
    def _document(self) -> _native.Document:
        return self._native

    @property
    def table(self) -> Table:
        """The main table."""
        return Table(self._native.table())

    def to_pandas(self) -> pandas.DataFrame:
        """The main table as a ``pandas.DataFrame``."""
        return self.table.to_pandas()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.table.__arrow_c_stream__(requested_schema)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Writes the result to a file, whole or not at all: ``.json``, the main table as ``.csv``, ``.parquet`` or ``.arrow``
        (the texts also with ``.gz``), or a page as ``.html``."""
        self._document.write(path)

    def plot(self, chart: int = 1) -> Picture:
        """A chart of the result, counted from 1, as an SVG picture.

        Raises:
            InputError: says which charts there are.
        """
        return Picture(self._document.svg(chart))

    def _repr_html_(self) -> str:
        return self._document.html()

    def __reduce__(self) -> tuple[Any, ...]:
        # What there is beside the document: tables, configurations, clusters.
        beside = {name: value for name, value in self.__dict__.items() if name not in ("_native", "_members")}
        return type(self).from_json, (self.to_json(),), beside

    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self)) and self.to_json() == other.to_json()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<fairplan.{type(self).__name__}: {self.format}>"


def document_of(name: str, given: Result | str | os.PathLike[str]) -> tuple[str, bytes]:
    """A result's JSON, with what errors call it: its file, or ``name``.

    Raises:
        InputError: there is no such file, or it cannot be read.
    """
    if isinstance(given, Result):
        return name, given.to_json().encode()
    path = path_of(name, given)
    try:
        return path, Path(path).read_bytes()
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}", path) from error


class Solution(Result):
    """What everybody gets, exactly, with the proof. Shares are parts of the whole cluster, 0 to 1."""

    def __init__(self, native: _native.Solution) -> None:
        self._solution = native

    @classmethod
    def from_json(cls, text: str | bytes, instance: Instance | None = None) -> Self:
        """A solution of ``instance`` from the JSON that ``to_json`` or the command gave.

        Raises:
            InputError: it is a solution of another instance.
        """
        if instance is None:
            raise TypeError("a solution is read with the instance that it is of: Solution.from_json(text, instance)")
        return cls(_native.Solution(instance._native, as_bytes(text), "the solution"))

    def to_json(self, timing: bool = True) -> str:
        """The ``fairplan.solution.v1``, as the command writes it; without ``timing`` the same input gives the same bytes."""
        return self._solution.to_json(timing).decode()

    @cached_property
    def _document(self) -> _native.Document:
        return _native.Document(self._solution.to_json(True), "the solution")

    @cached_property
    def _head(self) -> dict[str, Any]:
        head: dict[str, Any] = json.loads(self._solution.head())
        return head

    @property
    def instance(self) -> Instance:
        """The instance that was solved."""
        return Instance._of(self._solution.instance)

    @property
    def format(self) -> str:
        """``fairplan.solution.v1``."""
        return "fairplan.solution.v1"

    @property
    def value(self) -> float:
        """The value of the objective; of ``drfh`` the smallest weighted dominant share."""
        return self._solution.value

    @property
    def level(self) -> float | None:
        """The smallest weighted share of those that still want more; ``None`` if all have all they ask for."""
        return self._solution.level

    @property
    def status(self) -> str:
        """``optimal`` if the certificate closes."""
        status: str = self._head["status"]
        return status

    @property
    def objective(self) -> str:
        """What is fair here."""
        objective: str = self._head["objective"]
        return objective

    @property
    def utilization(self) -> dict[str, float]:
        """The part of the cluster's capacity that is used, by resource."""
        utilization: dict[str, float] = self._head["utilization"]
        return utilization

    @property
    def certificate(self) -> dict[str, Any]:
        """The proof: value reached (``primal``), value that cannot be exceeded (``dual``), and the prices behind it."""
        certificate: dict[str, Any] = self._head["certificate"]
        return certificate

    @property
    def stats(self) -> dict[str, Any]:
        """How the result came about."""
        stats: dict[str, Any] = self._head["stats"]
        return stats

    @property
    def users(self) -> Table:
        """A row a user, in the instance's order: dominant share, tasks, what limits it."""
        return Table(self._solution.users)

    @property
    def classes(self) -> Table:
        """A row a server class: servers, capacity of one, utilization, price of one more unit of each resource."""
        return Table(self._solution.classes())

    @property
    def groups(self) -> Table:
        """A row a group; no rows without groups."""
        return Table(self._solution.groups())

    @property
    def placement(self) -> Table:
        """A row for each user and class with tasks of it: ``user``, ``class``, ``tasks``."""
        return Table(self._solution.placement())

    @property
    def table(self) -> Table:
        """The users."""
        return self.users

    def __reduce__(self) -> tuple[Any, ...]:
        return _solution, (self.to_json(), self.instance)

    def __repr__(self) -> str:
        return f"<fairplan.Solution: {self.objective} {self.value:.6g}, {self.status}>"


def _solution(text: str, instance: Instance) -> Solution:
    return Solution.from_json(text, instance)


class Placement(Result):
    """Whole tasks on servers. Its table has a row a user."""

    _kinds = ("placement",)

    @property
    def policy(self) -> str:
        """The policy that chose the servers."""
        policy: str = self["policy"]
        return policy

    @property
    def value(self) -> float:
        """The smallest weighted dominant share of all users."""
        value: float = self["value"]
        return value

    @property
    def level(self) -> float | None:
        """The same of those that still want more; ``None`` if nobody does."""
        level: float | None = self._members.get("level")
        return level

    @property
    def users(self) -> Table:
        """A row a user: dominant share and whole tasks."""
        return self.table

    @property
    def servers(self) -> list[dict[str, Any]] | None:
        """The tasks on each server; ``None`` unless ``place`` was told ``servers_out=True``."""
        servers: list[dict[str, Any]] | None = self._members.get("servers")
        return servers


class Comparison(Result):
    """Policies side by side. Its table has a row a policy."""

    _kinds = ("comparison",)

    @property
    def bounds(self) -> dict[str, float]:
        """What no allocation of divisible tasks exceeds, and from both sides what whole tasks can reach."""
        bounds: dict[str, float] = self["bounds"]
        return bounds

    @property
    def policies(self) -> Table:
        """A row a policy: value, gaps to the bounds, tasks."""
        return self.table

    @property
    def users(self) -> Table:
        """A row for each policy and user: dominant share and tasks. No rows unless ``compare`` was told ``per_user=True``."""
        return Table(self._native.users())


class Bound(Result):
    """The best that whole tasks can do, from both sides. ``result["integral_lower"]`` and so on are its members."""

    _kinds = ("bound", "proportional-bound", "allocated-bound")

    @property
    def lower(self) -> float:
        """Some placement of whole tasks reaches this."""
        lower: float = self["integral_lower"]
        return lower

    @property
    def upper(self) -> float:
        """No placement of whole tasks is better."""
        upper: float = self["integral_upper"]
        return upper

    @property
    def proved_optimal(self) -> bool:
        """Whether the placement is proved optimal."""
        proved: bool = self["proved_optimal"]
        return proved


class Explanation(Result):
    """Why a user or a group has its share, and what would change it."""

    _kinds = ("explanation", "group-explanation")

    @property
    def limited_by(self) -> str:
        """What keeps the user from more; of a group each member in ``members`` says so."""
        limited_by: str = self["limited_by"]
        return limited_by


class Entitlements(Result):
    """What schedulers' rules promise. Its table has a row a user."""

    _kinds = ("entitlements",)


class Audit(Result):
    """Fairness properties, each with a witness if it fails. Its table has a row a property."""

    _kinds = ("audit",)

    @property
    def holds(self) -> bool:
        """Whether no property fails."""
        return all(entry["holds"] is not False for entry in self["properties"])


class Verification(Result):
    """A result held against its instance. Its table has a row a property."""

    _kinds = ("verification",)

    @property
    def holds(self) -> bool:
        """Whether every property holds."""
        holds: bool = self["holds"]
        return holds

    def __bool__(self) -> bool:
        return self.holds


class Export(Result):
    """A solution as a scheduler is told. Its table has a row a tenant."""

    _kinds = ("export",)

    changes: Table | None = None
    """With ``current``: what differs from the deployed configuration, a row for each queue and field."""
    lost: Table | None = None
    """With ``current``: what deployed objects state that applying the configuration would take away."""

    def __init__(self, native: _native.Document, configuration: str = "") -> None:
        super().__init__(native)
        self.configuration = configuration
        """The scheduler's own file; empty where the result was read from JSON."""

    @property
    def notes(self) -> list[str]:
        """What the scheduler cannot be told."""
        notes: list[str] = self._members.get("notes", [])
        return notes


class Allocation(Result):
    """Demands divided by a mechanism. Its table has a row a user."""

    _kinds = ("allocation",)

    quanta: Table | None = None
    """With ``per_quantum`` a row for each quantum and user (of tasks also for each class): what it demanded, was allocated, and its
    credits afterwards."""

    @property
    def users(self) -> Table:
        """A row a user: what it demanded, was allocated and could use."""
        return self.table

    @property
    def metrics(self) -> dict[str, Any]:
        """Utilization, fairness and welfare over all quanta."""
        metrics: dict[str, Any] = self["metrics"]
        return metrics


class Offline(Allocation):
    """The most even allocation of demands that are known. Its table has a row a user."""

    _kinds = ("offline",)

    @property
    def value(self) -> float:
        """The smallest weighted total."""
        value: float = self["value"]
        return value


class Simulation(Result):
    """What became of a trace under every policy. Its table has a row a policy."""

    _kinds = ("simulation",)

    series: Table | None = None
    """How things stood over time, if ``simulate`` was told ``series=True``: for each policy and time a row for the whole cluster, which
    names no user and has the columns ``cluster_running``, ``cluster_waiting`` and ``utilization_…``, and one for each user with tasks,
    which has the others."""

    jobs: Table | None = None
    """The completed jobs, if ``simulate`` was told ``jobs=True``, in the order in which they were completed."""

    @classmethod
    def _of(cls, told: tuple[_native.Document, _native.Table | None, _native.Table | None]) -> Self:
        document, series, jobs = told
        simulation = cls(document)
        simulation.series = None if series is None else Table(series)
        simulation.jobs = None if jobs is None else Table(jobs)
        return simulation


class Flows(Result):
    """How fast transactions are served. Its table has a row a class, objective and load."""

    _kinds = ("flows",)


class Plan(Result):
    """What to buy. Its table has a row a type of server."""

    _kinds = ("plan",)

    cluster: Instance | None = None
    """The cluster after the purchase."""
    placement: Placement | None = None
    """With ``whole``: all tasks on that cluster."""


class Worth(Result):
    """What one more server of each class is worth. Its table has a row a class."""

    _kinds = ("worth",)


class Losses(Result):
    """What failures cost."""

    _kinds = ("loss",)


class Moves(Result):
    """Steps to a better placement. Its table has a row a step."""

    _kinds = ("moves",)


class Difference(Result):
    """What made a difference. Its table has a row a user."""

    _kinds = ("difference",)


class Growth(Result):
    """When a cluster first misses what is asked of it. Its table has a row a quantum."""

    _kinds = ("growth",)

    @property
    def first_missed(self) -> Any:
        """The first quantum that is missed; ``None`` if none is."""
        return self._members.get("first_missed")


class Reproduction(Result):
    """Published numbers beside ours. Its table has a row a number."""

    _kinds = ("reproduction",)

    @property
    def agrees(self) -> bool:
        """Whether nothing differs from what was published."""
        agrees: bool = self["agrees"]
        return agrees
