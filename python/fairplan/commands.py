"""One function a question. Each is a command of ``fairplan`` too, with the same names and defaults.

Functions release the interpreter's lock while they compute, and hear Ctrl-C within a tenth of a second. All take ``time_limit``
(seconds after which they end) and ``progress`` (called with a line of text about what begins and how far it is). What a result
leaves out is a :class:`FairplanWarning`.
"""

from __future__ import annotations

import json
import numbers
import os
import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from fairplan import _native
from fairplan.errors import FairplanWarning, NotProved
from fairplan.files import path_of
from fairplan.frames import ArrowStream
from fairplan.instances import Instance, read
from fairplan.options import Call, Comparing, PublishedFiles
from fairplan.policies import Policy, PolicyCommand, all_asked, asked
from fairplan.results import (
    Audit,
    Bound,
    Comparison,
    Entitlements,
    Explanation,
    Placement,
    Reproduction,
    Result,
    Solution,
    Verification,
    document_of,
)

__all__ = [
    "audit",
    "bound",
    "compare",
    "entitlements",
    "explain",
    "place",
    "report",
    "reproduce",
    "schema",
    "solve",
    "verify",
]

Progress = Callable[[str], object]
Cluster = Instance | str | os.PathLike[str]

POLICIES = ("best-fit", "first-fit", "slots=14", "worst-fit", "dot-product", "random")
"""What ``compare`` compares unless it is told otherwise."""


def _instance(given: Cluster | ArrowStream) -> Instance:
    if isinstance(given, Instance):
        return given
    if not isinstance(given, str | os.PathLike):
        kind = type(given).__name__
        raise TypeError(f"instance: {kind} is none; make one by fairplan.Instance(servers, users), or give the path of a file")
    return read(given)


def _call(time_limit: float | None, progress: Progress | None) -> Call:
    if time_limit is not None and not isinstance(time_limit, numbers.Real):
        raise TypeError(f"time_limit: {type(time_limit).__name__} is no number of seconds")
    if progress is not None and not callable(progress):
        raise TypeError(f"progress: {type(progress).__name__} cannot be called; give a function of one text")

    def note(text: str) -> None:
        warnings.warn(text, FairplanWarning, stacklevel=3)

    return {"time_limit": time_limit, "progress": progress, "note": note}


def _found(error: NotProved, result: type[Result]) -> NotProved:
    """What there is all the same, as a result."""
    if error.found is not None and not isinstance(error.found, Result):
        error.found = result(error.found)
    return error


def solve(
    instance: Cluster | ArrowStream,
    users: ArrowStream | str | os.PathLike[str] | None = None,
    *,
    objective: str = "drfh",
    backend: str = "auto",
    exact: bool = False,
    sparse: bool = False,
    time_limit: float | None = None,
    progress: Progress | None = None,
) -> Solution:
    """Finds the exact fair allocation of divisible tasks, with prices, and proves it.

    Args:
        instance: an :class:`Instance`, or the path of one; beside ``users``, the table of its servers.
        users: the table of users, as :class:`Instance` takes both.
        objective: what is fair: ``drfh`` (equal weighted dominant shares over all servers together; Wang, Li and Liang,
            "Multi-Resource Fair Allocation in Heterogeneous Cloud Computing Systems"), ``pf``, ``alpha=A``, ``utilitarian``,
            ``tsf``, ``bmf``, ``drf`` or ``drf-per-server``.
        backend: ``auto`` (aggregation, else interior point), ``ipm`` or ``highs``.
        exact: state fractions such as 5/7 beside the doubles, proved without any tolerance (``drfh``, ``tsf``, ``drf`` and
            ``drf-per-server``).
        sparse: put nearly everybody on one server class, as fairly (fractions always are so).
        time_limit: seconds; a tenth of them is kept for checking.
        progress: called with what begins.

    Raises:
        InputError: the instance cannot have this objective, or a name is unknown.
        NotProved: what was found is valid but not proved to be the best; ``found`` has it.

    >>> import fairplan as fp
    >>> solution = fp.solve(fp.generate.drfh_fig1())
    >>> round(solution.value, 9), solution.status
    (0.714285714, 'optimal')
    >>> solution.placement["class"]
    ['high-memory', 'high-cpu']
    >>> fp.solve(fp.generate.drfh_fig1(), exact=True).to_dict()["exact"]["value"]
    '5/7'
    """
    if users is None:
        cluster = _instance(instance)
    elif isinstance(instance, Instance):
        raise TypeError("users: the instance has users of its own; beside a table of users give that of the servers")
    else:
        cluster = Instance(instance, users)
    try:
        native = _native.solve(
            cluster._native, objective, backend, (exact, sparse), _call(time_limit, progress)
        )
    except NotProved as error:
        if isinstance(error.found, _native.Solution):
            error.found = Solution(error.found)
        raise
    return Solution(native)


def verify(
    instance: Cluster,
    result: Result | str | os.PathLike[str],
    *,
    exported: str | os.PathLike[str] | None = None,
    time_limit: float | None = None,
    progress: Progress | None = None,
) -> Verification:
    """Checks a solution, a bound, or a placement with its servers in exact arithmetic, by code that shares nothing with what made
    it. ``holds`` is the answer.

    Args:
        instance: what the result is of.
        result: a result, or the path of a file that the command wrote.
        exported: the path of a file that :func:`export` made of the result, a configuration or a ``fairplan.export.v1``: it is held
            against the result too.

    Raises:
        InputError: it is no result, or was written without what is checked (see ``servers_out`` of :func:`place`).

    >>> import fairplan as fp
    >>> cluster = fp.generate.drfh_fig1()
    >>> fp.verify(cluster, fp.solve(cluster)).holds
    True
    """
    name, found = document_of("the result", result)
    call = _call(time_limit, progress)
    beside = None if exported is None else path_of("exported", exported)
    return Verification(_native.verify(_instance(instance)._native, found, name, beside, call))


def place(
    instance: Cluster,
    *,
    policy: str | PolicyCommand | Policy = "best-fit",
    seed: int = 0,
    servers_out: bool = False,
    time_limit: float | None = None,
    progress: Progress | None = None,
) -> Placement:
    """Places whole tasks on servers until nothing more fits; the user with the smallest weighted dominant share is next.

    Args:
        instance: an :class:`Instance`, or the path of one.
        policy: ``best-fit``, ``first-fit``, ``worst-fit``, ``dot-product``, ``random``, ``slots=N`` or ``pattern``; or a function
            ``(task, free) -> server`` (see :data:`fairplan.policies.Policy`), or a :class:`PolicyCommand`.
        seed: of the policy ``random``.
        servers_out: list the tasks on each server too, without which the placement cannot be verified.

    Raises:
        InputError: the policy is unknown, answered what cannot be, or raised (then ``__cause__`` is what it raised).
        NotProved: it was not done within ``time_limit``.

    >>> import fairplan as fp
    >>> cluster = fp.generate.drfh_fig1()
    >>> def first(task, free):
    ...     for server in range(len(free)):
    ...         if all(need <= room for need, room in zip(task.demand, free[server])):
    ...             return server
    >>> fp.place(cluster, policy=first).users["tasks"] == fp.place(cluster, policy="first-fit").users["tasks"]
    True
    """
    call = _call(time_limit, progress)
    return Placement(_native.place(_instance(instance)._native, asked("policy", policy), seed, servers_out, call))


def compare(
    instance: Cluster,
    *,
    policies: Iterable[str | PolicyCommand | Policy] = POLICIES,
    seed: int = 0,
    objective: str = "drfh",
    backend: str = "auto",
    per_user: bool = False,
    timing: bool = True,
    placements: Iterable[Placement | str | os.PathLike[str]] = (),
    time_limit: float | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """Compares placement policies with each other, with the best divisible allocation, and with the best that whole tasks can do.

    Args:
        instance: an :class:`Instance`, or the path of one.
        policies: names, functions ``(task, free) -> server``, and commands (:class:`PolicyCommand`).
        seed: of the policy ``random``.
        objective: what placements are held against the best of: ``drfh``, the smallest weighted dominant share, or
            ``allocated=RESOURCE``, how much of a resource they take.
        backend: what finds the bound of divisible tasks.
        per_user: say too what each user has under each policy, in ``users``.
        timing: say how long each policy took, the only numbers that differ from run to run.
        placements: made elsewhere, each a ``fairplan.placement.v1`` with its servers: they are judged like the policies' own.
        time_limit: seconds; policies place first, and the bound of whole tasks, which is else left out where it may take minutes, has the rest.

    >>> import fairplan as fp
    >>> comparison = fp.compare(fp.generate.drfh_fig1(), policies=["best-fit", "first-fit"])
    >>> comparison.policies["proved_optimal"]
    [True, False]
    """
    all_policies = all_asked(policies)
    given = [document_of(f"placement {position}", placement) for position, placement in enumerate(placements, 1)]
    comparing: Comparing = {
        "seed": seed,
        "objective": objective,
        "backend": backend,
        "timing": timing,
        "per_user": per_user,
        "placements": given,
    }
    call = _call(time_limit, progress)
    return Comparison(_native.compare(_instance(instance)._native, all_policies, comparing, call))


def bound(
    instance: Cluster,
    *,
    objective: str = "drfh",
    backend: str = "auto",
    time_limit: float | None = None,
    progress: Progress | None = None,
) -> Bound:
    """Brackets the best that any placement of whole tasks can do, with a proof from both sides.

    Args:
        instance: an :class:`Instance`, or the path of one.
        objective: ``drfh``, the smallest weighted dominant share; ``pf``, the sum of ``w ln(dominant share)``; or
            ``allocated=RESOURCE``, how much of a resource is taken.

    >>> import fairplan as fp
    >>> fp.bound(fp.generate.drfh_fig1()).proved_optimal
    True
    """
    call = _call(time_limit, progress)
    return Bound(_native.bound(_instance(instance)._native, objective, backend, call))


def explain(
    instance: Cluster,
    user: str | None = None,
    *,
    group: str | None = None,
    objective: str = "drfh",
    backend: str = "auto",
    time_limit: float | None = None,
    progress: Progress | None = None,
) -> Explanation:
    """Says why a user has its share: what limits it, what each class costs it, who gains if its tasks need less.

    Args:
        user: the user.
        group: a group instead: what it has, what holds its members, and which siblings gain if it asks for less.

    Raises:
        TypeError: neither is given, or both.
        NotProved: some questions could not be asked in time; ``found`` has the others.

    >>> import fairplan as fp
    >>> fp.explain(fp.generate.drfh_fig1(), "user-1").limited_by
    'capacity'
    """
    if (user is None) == (group is None):
        raise TypeError("explain takes a user or a group")
    try:
        call = _call(time_limit, progress)
        return Explanation(_native.explain(_instance(instance)._native, user, group, objective, backend, call))
    except NotProved as error:
        raise _found(error, Explanation) from None


def audit(
    instance: Cluster,
    *,
    objective: str = "drfh",
    users_searched: int = 20,
    seed: int = 0,
    backend: str = "auto",
    time_limit: float | None = None,
    progress: Progress | None = None,
) -> Audit:
    """Tests the fairness properties of an objective on an instance and on variants of it, with a witness for each that fails.

    Args:
        users_searched: so many users misreport, leave and are asked for envy, evenly spread over the instance.
        seed: of the servers dealt out to compare with sharing.

    >>> import fairplan as fp
    >>> audit = fp.audit(fp.generate.drfh_fig1())
    >>> dict(zip(audit.table["property"], audit.table["holds"]))["envy-freeness"]
    'holds'
    """
    try:
        call = _call(time_limit, progress)
        native = _native.audit(_instance(instance)._native, objective, users_searched, seed, backend, call)
        return Audit(native)
    except NotProved as error:
        raise _found(error, Audit) from None


def entitlements(
    instance: Cluster,
    *,
    quotas: Cluster | None = None,
    time_limit: float | None = None,
    progress: Progress | None = None,
) -> Entitlements:
    """Says what the rules of YARN, Kueue and Volcano and hierarchical DRF entitle users to, which see all servers as one pool, beside exact DRFH.

    Args:
        instance: an :class:`Instance`, or the path of one.
        quotas: nominal quotas for Kueue: an instance as :func:`fairplan.import_kueue` gives it, where the guarantee of the user or group
            of the same name counts.

    >>> import fairplan as fp
    >>> rules = fp.entitlements(fp.generate.drfh_fig1())["rules"]
    >>> [(rule["name"], round(rule["kept"], 3)) for rule in rules]
    [('yarn-drf', 0.857), ('hdrf', 0.857), ('kueue', 0.857), ('volcano-proportion', 1.0)]
    """
    native = None if quotas is None else _instance(quotas)._native
    return Entitlements(_native.entitlements(_instance(instance)._native, native, _call(time_limit, progress)))


def reproduce(
    *ids: str,
    summary: bool = False,
    google2011: str | os.PathLike[str] | None = None,
    alibaba_gpu2023: str | os.PathLike[str] | None = None,
    snowset: str | os.PathLike[str] | None = None,
    servers: int = 2000,
    progress: Progress | None = None,
) -> Reproduction:
    """Recomputes published tables and figures, and puts ours beside what papers say.

    Args:
        ids: which ones, such as ``drfh-fig3``; all whose files are named or not needed, if none is said.
        summary: say what stands of every table and figure of the papers, instead of every number.
        google2011: the directory that contains ``task_events`` of the Google cluster-usage traces of 2011.
        alibaba_gpu2023: the directory of the tables of Alibaba's GPU cluster of 2023.
        snowset: the table ``snowset-main`` of Snowflake's public queries.
        servers: with ``google2011``: servers drawn from the published distribution.

    >>> import fairplan as fp
    >>> fp.reproduce("drfh-fig3").agrees
    True
    """
    files: PublishedFiles = {"google2011": google2011, "alibaba_gpu2023": alibaba_gpu2023, "snowset": snowset}
    return Reproduction(_native.reproduce(list(ids), summary, files, servers, _call(None, progress)))


def schema(name: str | None = None) -> dict[str, Any]:
    """The JSON Schema of a format, or of all of them by their names.

    >>> import fairplan as fp
    >>> fp.schema("solution")["title"]
    'fairplan.solution.v1'
    """
    told: dict[str, Any] = json.loads(_native.schema(name))
    return told


def report(results: Result | Sequence[Result], path: str | os.PathLike[str], *, title: str = "fairplan report") -> None:
    """Writes one self-contained HTML page of tables and charts from results."""
    all_results = [results] if isinstance(results, Result) else list(results)
    if not all_results:
        raise TypeError("results: name at least one")
    _native.report([result._document for result in all_results], path, title)
