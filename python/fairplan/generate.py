"""Instances and demands that need no file: published clusters, the papers' examples, synthetic populations.

The same settings and seed give the same instance on every machine.
"""

from __future__ import annotations

from collections.abc import Sequence

from fairplan import _native
from fairplan.demands import Demands
from fairplan.instances import Instance

__all__ = ["demands", "drfh_fig1", "drfh_fig4", "google", "karma_fig2", "population"]


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
