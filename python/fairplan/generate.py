"""Instances, demands, traces and traffic that need no file: published clusters, the papers' examples, synthetic populations.

The same settings and seed give the same instance on every machine.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fairplan import _native
from fairplan.demands import Demands
from fairplan.instances import Instance
from fairplan.traces import Trace

__all__ = [
    "demands",
    "drfh_fig1",
    "drfh_fig4",
    "google",
    "karma_fig2",
    "kubernetes_nodes",
    "kubernetes_pods",
    "mrf_fig1",
    "mrf_fig2",
    "population",
    "trace_drfh_fig4",
    "trace_random",
]


def google(
    *,
    servers: int | None = None,
    users: int | None = None,
    rounded: bool = False,
    finite: bool = False,
    seed: int = 0,
) -> Instance:
    """Google's cluster of 2011: 12,583 servers in ten classes, 507 real users.

    Args:
        servers: draw this many servers from the published distribution instead of taking all.
        users: draw this many users from the real tasks at trace time 0 instead of taking the real users.
        rounded: the capacities as the DRFH paper prints them, with two decimals.
        finite: as many tasks of each user as it really had, instead of unlimited ones.
        seed: of everything drawn.

    >>> import fairplan as fp
    >>> fp.generate.google()
    <fairplan.Instance of 12,583 servers in 10 classes, 507 users, cpu memory>
    """
    return Instance._of(_native.google(servers, users, rounded, finite, seed))


def drfh_fig1() -> Instance:
    """The two servers and two users of the DRFH paper, Fig. 1."""
    return Instance._of(_native.drfh_fig1())


def drfh_fig4(*, users: Sequence[int] = (1, 2, 3)) -> Instance:
    """One hundred servers of Google shapes and the three users of the DRFH paper, Fig. 4, or some of them."""
    return Instance._of(_native.drfh_fig4(list(users)))


def population(*, kind: str = "spread", users: int = 1000, cluster: str = "google", seed: int = 0) -> Instance:
    """A synthetic population of any size.

    Args:
        kind: how demands and weights lie: ``spread``, ``alike``, ``zeros`` or ``weighted``.
        users: how many.
        cluster: ``google``, ``random:CLASSESxRESOURCES`` or ``distinct:SERVERS``.
        seed: of everything drawn.
    """
    return Instance._of(_native.population(kind, users, cluster, seed))


def karma_fig2() -> Demands:
    """The demands of the three users of the Karma paper, Fig. 2 and 3."""
    return Demands._of(_native.karma_fig2())


def demands(
    *, kind: str = "bursts", users: int = 100, quanta: int = 900, mean: float = 10, together: float = 0, seed: int = 0
) -> Demands:
    """Demands over time like those that the Karma and Fair Shares papers measured.

    Args:
        kind: ``bursts`` (everybody the same mean, active 9% to 100% of the time) or ``queries`` (a few users most of them).
        users: how many.
        quanta: how many.
        mean: what a user demands on the mean of a quantum, in slices.
        together: how much bursts begin together, 0 to 10.
        seed: of everything drawn.
    """
    return Demands._of(_native.workload(kind, users, quanta, mean, together, seed))


def mrf_fig1(*, load: float = 0.5) -> dict[str, Any]:
    """The three classes of transactions of the multi-resource fairness paper, Fig. 1, their arrivals alike: a ``fairplan.traffic.v1``,
    as :func:`fairplan.flows` takes it.

    Args:
        load: of the heaviest resource.

    >>> import fairplan as fp
    >>> fp.generate.mrf_fig1(load=0.7)["format"]
    'fairplan.traffic.v1'
    """
    traffic: dict[str, Any] = json.loads(_native.mrf_fig1(load))
    return traffic


def mrf_fig2(*, load: float = 0.5) -> dict[str, Any]:
    """The same classes as in Fig. 2 and 3: four times as many arrivals of the first as of the others."""
    traffic: dict[str, Any] = json.loads(_native.mrf_fig2(load))
    return traffic


def trace_drfh_fig4() -> Trace:
    """A trace: one hundred servers and the three users who join and leave in the DRFH paper, Fig. 4."""
    return Trace._of(_native.trace_drfh_fig4())


def trace_random(
    *,
    servers: int = 100,
    users: int = 10,
    jobs: int = 1000,
    seconds: int = 3600,
    outages: int = 0,
    seed: int = 0,
) -> Trace:
    """A trace of random jobs on servers drawn from Google's.

    Args:
        servers: how many.
        users: how many.
        jobs: how many, of 1 to 255 tasks each.
        seconds: within how many they are submitted.
        outages: how many times a server goes for a while.
        seed: of everything drawn.
    """
    return Trace._of(_native.trace_random(servers, users, jobs, seconds, outages, seed))


def kubernetes_nodes(output: str | os.PathLike[str]) -> None:
    """Writes the nodes of a real cluster as ``kubectl`` prints them, to try :func:`fairplan.import_kubernetes` on."""
    Path(output).write_text(_native.kubernetes_nodes(), encoding="utf-8")


def kubernetes_pods(output: str | os.PathLike[str]) -> None:
    """Writes the pods of that cluster as ``kubectl`` prints them."""
    Path(output).write_text(_native.kubernetes_pods(), encoding="utf-8")
