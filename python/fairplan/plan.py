"""What to buy, what servers are worth, what failures cost, what made a difference, how long a cluster lasts, what to
move."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal

from fairplan import _native
from fairplan.commands import Cluster, Progress, _call, _instance
from fairplan.errors import Infeasible
from fairplan.files import path_of, paths_of
from fairplan.frames import ArrowStream
from fairplan.instances import Instance
from fairplan.options import Files, LoseSharing, Moving, Purchases, Target
from fairplan.results import Difference, Growth, Losses, Moves, Placement, Plan, Solution, Worth, document_of

__all__ = ["buy", "diff", "growth", "lose", "move", "worth"]

Amount = int | float | Decimal


def _target(
    share: Amount | Mapping[str, Amount] | None,
    tasks: Amount | Mapping[str, Amount] | None,
    as_today: bool,
    scale: Amount | Mapping[str, Amount] | None,
    more_users: int | Mapping[str, int] | None,
) -> Target:
    shares = list(share.items()) if isinstance(share, Mapping) else []
    own = list(tasks.items()) if isinstance(tasks, Mapping) else []
    factors = list(scale.items()) if isinstance(scale, Mapping) else []
    more: list[tuple[str | None, int]] = []
    if isinstance(more_users, Mapping):
        more = list(more_users.items())
    elif more_users is not None:
        more = [(None, more_users)]
    return {
        "share": None if isinstance(share, Mapping) else share,
        "share_of": shares,
        "tasks": None if isinstance(tasks, Mapping) else tasks,
        "tasks_of": own,
        "as_today": as_today,
        "scale": None if isinstance(scale, Mapping) else scale,
        "scale_of": factors,
        "more_users": more,
    }


def _overhead(overhead: Mapping[str, Amount | str] | None) -> list[tuple[str, str]]:
    return [(resource, str(amount)) for resource, amount in (overhead or {}).items()]


def buy(
    instance: Cluster,
    *,
    catalog: ArrowStream | str | os.PathLike[str],
    share: Amount | Mapping[str, Amount] | None = None,
    tasks: Amount | Mapping[str, Amount] | None = None,
    as_today: bool = False,
    scale: Amount | Mapping[str, Amount] | None = None,
    more_users: int | Mapping[str, int] | None = None,
    overhead: Mapping[str, Amount | str] | None = None,
    whole: bool = False,
    under_drfh: bool = False,
    budget: float | None = None,
    frontier: int | None = None,
    backend: str = "auto",
    time_limit: float | None = None,
    progress: Progress | None = None,
) -> Plan:
    """Finds the cheapest servers of a catalog with which every user reaches its target, and checks the plan.

    Args:
        catalog: a frame with the columns ``id`` and ``price``, or the path of such a table or of a ``fairplan.catalog.v1``.
        share: every user shall reach this weighted dominant share of the cluster as it is now, or have all its tasks, or each user and group of a mapping this
            share; in groups every child of the root, whose members divide it.
        tasks: every user shall be able to run so many tasks, or each user as many as it has in a mapping.
        as_today: every user shall keep what DRFH gives it today.
        scale: every user shall be able to run so many times what it asks for today, or each user and group of a mapping.
        more_users: so many users come, or so many like each user of a mapping.
        overhead: what the system and the pods of each node take off every bought server, by resource, in what the instance
            counts in or with a unit (``"2Gi"``); types that are a class of the
            instance have it off already.
        whole: whole tasks, each on one server; ``placement`` of the plan has all of them.
        under_drfh: DRFH by itself has to give every user its target.
        budget: the most that may be spent.
        frontier: say too what so many steps from what is reached now to the target cost.

    Raises:
        Infeasible: nothing that may be bought is enough; ``found`` says what stands against it.
    """
    target = _target(share, tasks, as_today, scale, more_users)
    try:
        plan, cluster, placement = _native.buy(
            _instance(instance)._native,
            catalog,
            _overhead(overhead),
            target,
            whole,
            under_drfh,
            budget,
            frontier,
            backend,
            _call(time_limit, progress),
        )
    except Infeasible as error:
        if isinstance(error.found, _native.Document):
            error.found = Plan(error.found)
        raise
    bought = Plan(plan)
    bought.cluster = None if cluster is None else Instance._of(cluster)
    bought.placement = None if placement is None else Placement(placement)
    return bought


def worth(
    instance: Cluster,
    *,
    ranges: bool = True,
    backend: str = "auto",
    time_limit: float | None = None,
    progress: Progress | None = None,
) -> Worth:
    """Says what one more server of each class is worth, solved again beside what the prices say.

    Args:
        ranges: say how far prices hold, which takes some ten solutions for each class and resource.

    >>> import fairplan as fp
    >>> [entry["id"] for entry in fp.plan.worth(fp.generate.drfh_fig1(), ranges=False)["server_classes"]]
    ['high-memory', 'high-cpu']
    """
    return Worth(_native.worth(_instance(instance)._native, ranges, backend, _call(time_limit, progress)))


def lose(
    instance: Cluster,
    *,
    servers: int | None = None,
    together: Sequence[str] = (),
    label: str | Sequence[str] = (),
    nodes: Files = (),
    whole: bool = False,
    policy: str = "best-fit",
    seed: int = 0,
    backend: str = "auto",
    time_limit: float | None = None,
    progress: Progress | None = None,
) -> Losses:
    """Says who loses how much when a class of servers fails, or ``servers`` of each class are drained.

    Args:
        servers: so many of each class instead of all.
        together: servers that fail together, by a pattern of their names or classes (``zone-b-*``), each a failure of its own.
        label: nodes that fail together by what they are labelled: ``KEY=VALUE``, or ``KEY`` for each of its values in turn.
        nodes: with ``label``, the files that ``kubectl get nodes -o json`` prints; the instance has the names of its nodes if
            ``fairplan import kubernetes --placement-out`` wrote it.
        whole: count whole tasks: those that ``policy`` places today, and places anew on what is left, under all rules.
        policy: with ``whole``, a policy of :func:`fairplan.place` by name.
        seed: with ``whole``, the seed of the policy ``random`` and of those that look at devices.

    >>> import fairplan as fp
    >>> len(fp.plan.lose(fp.generate.drfh_fig1())["losses"])
    2
    >>> [loss["tasks_lost"] for loss in fp.plan.lose(fp.generate.drfh_fig1(), whole=True)["losses"]]
    [14, 14]
    """
    labels = [label] if isinstance(label, str) else list(label)
    labelled = labels, paths_of("nodes", nodes)
    if bool(labelled[0]) != bool(labelled[1]):
        raise TypeError("label and nodes are stated together")
    sharing: LoseSharing = {"backend": backend, "whole": whole, "policy": policy, "seed": seed}
    call = _call(time_limit, progress)
    return Losses(_native.lose(_instance(instance)._native, servers, list(together), labelled, sharing, call))


def diff(
    before: Cluster | Solution,
    after: Cluster | Solution,
    *,
    backend: str = "auto",
    time_limit: float | None = None,
    progress: Progress | None = None,
) -> Difference:
    """Says what differs between two instances, and who has more or less for it; or between two solutions, user by user.

    Raises:
        TypeError: one is an instance and the other a solution.

    >>> import fairplan as fp
    >>> difference = fp.plan.diff(fp.generate.drfh_fig4(), fp.generate.drfh_fig4(users=[1, 2]))
    >>> difference.format
    'fairplan.difference.v1'
    """
    if isinstance(before, Solution) and isinstance(after, Solution):
        first, second = ("before", before.to_json().encode()), ("after", after.to_json().encode())
        return Difference(_native.diff_of_results(first, second, _call(time_limit, progress)))
    if isinstance(before, Solution) or isinstance(after, Solution):
        raise TypeError("before and after: give two instances or two solutions")
    natives = _instance(before)._native, _instance(after)._native
    return Difference(_native.diff(*natives, backend, _call(time_limit, progress)))


def growth(
    instance: Cluster,
    *,
    series: str | os.PathLike[str],
    share: Amount | Mapping[str, Amount] | None = None,
    tasks: Amount | Mapping[str, Amount] | None = None,
    as_today: bool = False,
    scale: Amount | Mapping[str, Amount] | None = None,
    more_users: int | Mapping[str, int] | None = None,
    quantum: str = "quantum",
    by: str | None = None,
    base: int = 1,
    catalog: ArrowStream | str | os.PathLike[str] | None = None,
    overhead: Mapping[str, Amount | str] | None = None,
    stages: int = 4,
    periods_per_quantum: Amount = 1,
    per_quantum: bool = False,
    backend: str = "auto",
    time_limit: float | None = None,
    progress: Progress | None = None,
) -> Growth:
    """Says when a cluster first misses what is asked of it as the targets follow a series.

    Args:
        series: the path of a table or a ``fairplan.demands.v1``.
        quantum: what a table calls its column of times.
        by: what scales whom: ``total``, ``user``, or the column that scales all.
        base: how many of the first quanta are, on average, a scale of 1.
        catalog: say too what to buy by when of this catalog, and what that costs where it has commitments.
        overhead: what is taken off every bought server, as in :func:`buy`.
        stages: in how many stages of equal length at most.
        periods_per_quantum: how many periods of the catalog's prices a quantum lasts.
        per_quantum: keep every quantum of a series of more than 400 too.

    The targets are those of :func:`buy`.
    """
    purchases: Purchases | None = None
    if catalog is not None:
        purchases = {
            "catalog": catalog,
            "overhead": _overhead(overhead),
            "stages": stages,
            "periods_per_quantum": periods_per_quantum,
        }
    native = _native.growth(
        _instance(instance)._native,
        path_of("series", series),
        _target(share, tasks, as_today, scale, more_users),
        quantum,
        by,
        base,
        per_quantum,
        purchases,
        backend,
        _call(time_limit, progress),
    )
    return Growth(native)


def move(
    instance: Cluster,
    *,
    start: Placement | str | os.PathLike[str],
    to: Placement | str | os.PathLike[str] | None = None,
    level: float | None = None,
    keep: Iterable[str] = (),
    keep_servers: Iterable[str] = (),
    costs: Mapping[str, int] | None = None,
    time_limit: float | None = None,
    progress: Progress | None = None,
) -> Moves:
    """Finds the fewest moves from one placement to a better one, in an order in which each can be made, with a proved lower bound.

    Args:
        start: what runs where now (``--from``): a ``fairplan.placement.v1`` with its servers.
        to: reach this placement.
        level: reach this part of the highest level that whole tasks can have. Without ``to`` and ``level`` what waits is placed.
        keep: users whose running tasks stay where they are.
        keep_servers: servers whose running tasks stay where they are.
        costs: what moving or stopping a task of a user costs, instead of 1.

    >>> import fairplan as fp
    >>> cluster = fp.generate.drfh_fig1()
    >>> now = fp.place(cluster, policy="first-fit", servers_out=True)
    >>> moves = fp.plan.move(cluster, start=now, level=1)
    >>> moves["cost"], moves["lower_bound"]
    (2, 2)
    """
    if to is not None and level is not None:
        raise TypeError("say to or level, not both")
    moving: Moving = {
        "keep": list(keep),
        "keep_servers": list(keep_servers),
        "costs": list((costs or {}).items()),
    }
    start_file = document_of("start", start)
    to_file = None if to is None else document_of("to", to)
    call = _call(time_limit, progress)
    return Moves(_native.moves(_instance(instance)._native, start_file, to_file, level, moving, call))
