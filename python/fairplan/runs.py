"""Clusters and traffic over time."""

from __future__ import annotations

import numbers
import os
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from fairplan import _native
from fairplan.commands import Cluster, Progress, _call, _instance
from fairplan.documents import as_json
from fairplan.errors import InputError, NotProved
from fairplan.files import path_of
from fairplan.options import Level, Run, Start
from fairplan.policies import Policy, PolicyCommand, each_asked
from fairplan.results import Flows, Placement, Simulation, document_of
from fairplan.traces import Trace

__all__ = ["flows", "simulate"]


def _microseconds(name: str, seconds: float | Decimal) -> int:
    if isinstance(seconds, bool) or not isinstance(seconds, numbers.Real | Decimal):
        raise TypeError(f"{name}: {type(seconds).__name__} is no number of seconds")
    exact = Decimal(str(seconds)) * 1_000_000
    if not exact.is_finite() or exact < 0 or exact != int(exact):
        raise InputError(f"{name} = {seconds}: state seconds with at most 6 decimal places")
    return int(exact)


def _perhaps(name: str, seconds: float | Decimal | None) -> int | None:
    return None if seconds is None else _microseconds(name, seconds)


def simulate(
    trace: Trace | str | os.PathLike[str],
    *,
    policies: Sequence[str | PolicyCommand | Policy] = (),
    over_commit: float | Decimal = 1,
    lose_evicted: bool = False,
    horizon: float | Decimal | None = None,
    dedicated: bool = False,
    series: bool = False,
    sample: float | Decimal | None = None,
    optimum: float | Decimal | None = None,
    jobs: bool = False,
    placement: Placement | str | os.PathLike[str] | None = None,
    instance: Cluster | None = None,
    remaining: float | Decimal | None = None,
    tenants: Cluster | None = None,
    resolve_every: float | Decimal = 0,
    seed: int = 0,
    time_limit: float | None = None,
    progress: Progress | None = None,
) -> Simulation:
    """Runs the jobs of a trace on its cluster under every policy.

    Args:
        trace: a :class:`Trace`, or the path of a ``fairplan.trace.v1``.
        policies: those of :func:`place`, and ``exact``, ``pf``, ``bmf``, ``hdrf``, which serve whoever is most deprived; and functions
            ``(task, free) -> server`` (see :data:`fairplan.policies.Policy`) and commands, which serve the lowest share first; none
            means those of ``best-fit``, ``first-fit`` and ``slots=14`` that know the devices and rules of the trace.
        over_commit: servers give so many times their capacity to tasks.
        lose_evicted: tasks that lose their server are lost, instead of submitted again.
        horizon: simulate nothing later than this, in seconds.
        dedicated: also run every user alone on its part of the servers.
        series: tell how things stand over time, in the table ``series`` of the result.
        sample: how often the series tells how things stand, in seconds: 300, or as often as the optimum, if it is not said.
        optimum: how often the series tells the exact DRFH optimum, in seconds.
        jobs: tell the completed jobs, in the table ``jobs`` of the result.
        placement: begin with this ``fairplan.placement.v1`` with its servers: its tasks run on their servers from the trace's first
            instant on, before any other is placed.
        instance: the instance of the placement, which says what its tasks hold.
        remaining: the tasks of the placement go on for so many seconds; to the end of the run, if it is not said.
        tenants: an instance whose groups the users are in, with its weights: the group furthest below its part is served first.
        resolve_every: ``exact``, ``pf``: follow an ideal allocation for so many seconds.
        seed: of the policy ``random`` and of the dealing of dedicated clouds.

    Raises:
        NotProved: it was stopped by ``time_limit``; ``found`` has the partial result.
        InputError: the trace cannot be used; a function answered what cannot be, or raised (then ``__cause__`` is what it raised).
        TypeError: ``placement`` and ``instance`` are not stated together; ``sample`` or ``optimum`` without ``series``, ``remaining``
            without ``placement``.

    >>> import json, os, tempfile
    >>> import fairplan as fp
    >>> lines = [
    ...     {"format": "fairplan.trace.v1", "resources": ["cpu"], "server_classes": [{"id": "s", "count": 2, "capacity": {"cpu": 4}}]},
    ...     {"time": 0, "event": "tasks_submitted", "user": "a", "job": "j", "demand": {"cpu": 2}, "duration": 60, "count": 6},
    ... ]
    >>> trace = os.path.join(tempfile.mkdtemp(), "trace.jsonl")
    >>> with open(trace, "w") as file:
    ...     for line in lines:
    ...         print(json.dumps(line), file=file)
    >>> simulation = fp.simulate(trace, policies=["best-fit"], series=True, sample=30, jobs=True)
    >>> simulation.jobs["completion_time"]
    [120.0]
    >>> used = zip(simulation.series["time"], simulation.series["utilization_cpu"])
    >>> [(time, part) for time, part in used if part is not None]
    [(0.0, 1.0), (30.0, 1.0), (60.0, 0.5), (90.0, 0.5), (120.0, 0.0)]
    """
    all_policies = each_asked(policies)
    if (placement is None) != (instance is None):
        raise TypeError("placement and instance must be stated together")
    if not series and (sample is not None or optimum is not None):
        raise TypeError("sample and optimum say what the series tells: state series=True too")
    if placement is None and remaining is not None:
        raise TypeError("remaining is how long the tasks of a placement go on: state placement too")
    start: Start | None = None
    if placement is not None and instance is not None:
        start = {
            "instance": _instance(instance)._native,
            "placement": document_of("placement", placement),
            "remaining": _perhaps("remaining", remaining),
        }
    run: Run = {
        "over_commit": over_commit,
        "lose_evicted": lose_evicted,
        "horizon": _perhaps("horizon", horizon),
        "resolve_every": _microseconds("resolve_every", resolve_every),
        "dedicated": dedicated,
        "seed": seed,
        "start": start,
        "tenants": None if tenants is None else _instance(tenants)._native,
        "series": series,
        "sample": _perhaps("sample", sample),
        "optimum": _perhaps("optimum", optimum),
        "jobs": jobs,
    }
    try:
        call = _call(time_limit, progress)
        given = trace if isinstance(trace, Trace) else Trace(trace)
        return Simulation._of(_native.simulate(given._native, all_policies, run, call))
    except NotProved as error:
        if isinstance(error.found, tuple):
            error.found = Simulation._of(error.found)
        raise


def flows(
    spec: Mapping[str, Any] | str | os.PathLike[str],
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
        spec: the path of a ``fairplan.traffic.v1``, or a dictionary laid out like one.
        objective: by which transactions share the pool.
        level: ``markov`` (exactly, for exponential work), ``flow``, ``task`` or ``packet`` (simulated).
        loads: scale the arrivals to these loads of the heaviest resource.

    The others are settings of one level, and refused at another: ``fairplan flows --help`` explains each.

    >>> import fairplan as fp
    >>> fp.flows(fp.generate.mrf_fig1(load=0.3), objective=["drf"]).table["objective"]
    ['drf', 'drf', 'drf']
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
    given = ("spec", as_json("spec", spec)) if isinstance(spec, Mapping) else (path_of("spec", spec), None)
    return Flows(_native.flows(given, list(objective), level, settings, list(loads), call))
