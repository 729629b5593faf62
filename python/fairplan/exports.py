"""A solution as the configuration of the scheduler that shall obey it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from decimal import Decimal

from fairplan import _native
from fairplan.commands import Cluster, Progress, _call, _instance
from fairplan.files import paths_of
from fairplan.options import Exporting, Files
from fairplan.results import Export, Solution, document_of
from fairplan.tables import Table

__all__ = ["export"]


def export(
    instance: Cluster,
    solution: Solution | str | os.PathLike[str],
    target: str,
    *,
    current: Files = (),
    headroom: int | float | Decimal = 0,
    unit: Mapping[str, str] | None = None,
    memory_in: str | None = None,
    levels: int | None = None,
    hard: bool = False,
    time_limit: float | None = None,
    progress: Progress | None = None,
) -> Export:
    """Writes a solution as the configuration of a scheduler, in whole units that fit the servers. The solution is verified first;
    ``configuration`` of what comes back is the scheduler's own file.

    Args:
        instance: what the solution is of.
        solution: a solution, or the path of one.
        target: ``kueue``, ``yarn``, ``yarn-fair``, ``yunikorn``, ``volcano``, ``kai`` or ``slurm``.
        current: files of the configuration that is deployed: ``changes`` and ``lost`` of what comes back say what this one changes.
        headroom: the part of every class that nobody is given.
        unit: whole units of resources (``{"cpu": "100m", "memory": "4Gi"}``); of others one core, one GiB or one piece.
        memory_in: what the instance counts memory in: ``bytes``, ``Mi`` or ``Gi`` (default: bytes; for YARN and Slurm ``Mi``).
        levels: how many levels of groups and users become queues (default: all).
        hard: let nobody have more than it is given, even when others are idle.

    Raises:
        InputError: the solution is of another instance or not proved, or the scheduler cannot count in these units.

    >>> import fairplan as fp
    >>> cluster = fp.generate.drfh_fig1()
    >>> exported = fp.export(cluster, fp.solve(cluster), "kueue", memory_in="Gi")
    >>> [tenant["amounts"][0]["units"] for tenant in exported["tenants"]]
    [2, 10]
    >>> exported.configuration.count("kind: ClusterQueue")
    2
    """
    exporting: Exporting = {
        "headroom": headroom,
        "units": [f"{resource}={amount}" for resource, amount in (unit or {}).items()],
        "memory_in": memory_in,
        "levels": levels,
        "hard": hard,
    }
    native, text, changes = _native.export(
        _instance(instance)._native,
        document_of("the solution", solution),
        target,
        exporting,
        paths_of("current", current) or None,
        _call(time_limit, progress),
    )
    exported = Export(native, text)
    if changes is not None:
        exported.changes, exported.lost = map(Table, changes)
    return exported
