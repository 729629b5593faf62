"""Clusters and traffic over time."""

from __future__ import annotations

import os
from collections.abc import Sequence
from decimal import Decimal

from fairplan import _native
from fairplan.commands import Progress, _call, _found
from fairplan.errors import InputError, NotProved
from fairplan.options import Level, Run
from fairplan.policies import Policy, named
from fairplan.results import Flows, Simulation

__all__ = ["flows", "simulate"]


def _microseconds(name: str, seconds: float | Decimal) -> int:
    exact = Decimal(str(seconds)) * 1_000_000
    if not exact.is_finite() or exact < 0 or exact != int(exact):
        raise InputError(f"{name} = {seconds}: state seconds with at most 6 decimal places")
    return int(exact)


def simulate(
    trace: str | os.PathLike[str],
    *,
    policies: Sequence[str | Policy] = ("best-fit", "first-fit", "slots=14"),
    over_commit: float | Decimal = 1,
    lose_evicted: bool = False,
    horizon: float | Decimal | None = None,
    dedicated: bool = False,
    resolve_every: float | Decimal = 0,
    seed: int = 0,
    time_limit: float | None = None,
    progress: Progress | None = None,
) -> Simulation:
    """Runs the jobs of a trace on its cluster under every policy.

    Args:
        trace: the path of a ``fairplan.trace.v1``.
        policies: those of :func:`place`, and ``exact``, ``pf``, ``bmf``, which serve whoever is most deprived; and functions
            ``(task, free) -> server`` (see :data:`fairplan.policies.Policy`), which serve the lowest share first.
        over_commit: servers give so many times their capacity to tasks.
        lose_evicted: tasks that lose their server are lost, instead of submitted again.
        horizon: simulate nothing later than this, in seconds.
        dedicated: also run every user alone on its part of the servers.
        resolve_every: ``exact``, ``pf``: follow an ideal allocation for so many seconds.
        seed: of the policy ``random`` and of the dealing of dedicated clouds.

    Raises:
        NotProved: it was stopped by ``time_limit``; ``found`` has the partial result.
        InputError: the trace cannot be used; a function answered what cannot be, or raised (then ``__cause__`` is what it raised).
    """
    if isinstance(policies, str) or not hasattr(policies, "__iter__"):
        raise TypeError("policies: simulate takes a list of names and functions")
    all_policies = [named("policies", policy, "(task, free) -> server") for policy in policies]
    run: Run = {
        "over_commit": over_commit,
        "lose_evicted": lose_evicted,
        "horizon": None if horizon is None else _microseconds("horizon", horizon),
        "resolve_every": _microseconds("resolve_every", resolve_every),
        "dedicated": dedicated,
        "seed": seed,
    }
    try:
        call = _call(time_limit, progress)
        return Simulation(_native.simulate(os.fspath(trace), all_policies, run, call))
    except NotProved as error:
        raise _found(error, Simulation) from None


def flows(
    spec: str | os.PathLike[str],
    *,
    objective: Sequence[str] = ("drf", "pf", "bmf"),
    level: str = "markov",
    loads: Sequence[float] = (),
    border_mass: float | None = None,
    memory: float | None = None,
    replications: int | None = None,
    arrivals: int | None = None,
    seed: int | None = None,
    tasks_per_job: float | None = None,
    task_share: float | None = None,
    packets_per_flow: float | None = None,
    window: int | None = None,
    time_limit: float | None = None,
    progress: Progress | None = None,
) -> Flows:
    """Says how fast classes of transactions are served that come and go at random.

    Args:
        spec: the path of a ``fairplan.traffic.v1``.
        objective: by which transactions share the pool.
        level: ``markov`` (exactly, for exponential work), ``flow``, ``task`` or ``packet`` (simulated).
        loads: scale the arrivals to these loads of the heaviest resource.

    The others are settings of one level, and refused at another: ``fairplan flows --help`` explains each.
    """
    settings: Level = {
        "border_mass": border_mass,
        "memory": memory,
        "replications": replications,
        "arrivals": arrivals,
        "seed": seed,
        "tasks_per_job": tasks_per_job,
        "task_share": task_share,
        "packets_per_flow": packets_per_flow,
        "window": window,
    }
    call = _call(time_limit, progress)
    return Flows(_native.flows(os.fspath(spec), list(objective), level, settings, list(loads), call))
