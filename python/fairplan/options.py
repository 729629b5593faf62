"""Options as the compiled half takes them, several at once."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Required, TypedDict

if TYPE_CHECKING:
    from fairplan import _native
    from fairplan.frames import ArrowStream

__all__ = [
    "AzureFiles",
    "Call",
    "Comparing",
    "Due",
    "Exporting",
    "Files",
    "Google2011Options",
    "KubernetesOptions",
    "Level",
    "Moving",
    "PublishedFiles",
    "Purchases",
    "Run",
    "Settings",
    "SlurmOptions",
    "Start",
    "Target",
]


class Call(TypedDict):
    """What every function takes beside its options."""

    time_limit: float | None
    progress: Callable[[str], object] | None
    note: Callable[[str], object] | None


class Comparing(TypedDict):
    """What policies are compared with, and how."""

    seed: int
    objective: str
    backend: str
    timing: bool
    per_user: bool
    placements: Sequence[tuple[str, bytes]]


class Due(TypedDict):
    """What users are due."""

    fair_share: int | None
    capacity: int | None
    fair_shares: str | dict[str, int] | None
    instance: _native.Instance | None


class Exporting(TypedDict):
    """How a solution is written for a scheduler."""

    headroom: int | float | Decimal
    units: Sequence[str]
    memory_in: str | None
    levels: int | None
    hard: bool


class Settings(TypedDict):
    """How mechanisms are set."""

    alpha: float | Decimal
    initial_credits: int | None
    ties: str
    oversubscription: int
    term: int
    seed: int


class Target(TypedDict):
    """What every user shall reach."""

    share: float | Decimal | None
    share_of: Sequence[tuple[str, float | Decimal]]
    tasks: float | Decimal | None
    tasks_of: Sequence[tuple[str, float | Decimal]]
    as_today: bool
    scale: float | Decimal | None
    scale_of: Sequence[tuple[str, float | Decimal]]
    more_users: Sequence[tuple[str | None, int]]


class Purchases(TypedDict):
    """What is bought by when."""

    catalog: ArrowStream | str | os.PathLike[str]
    overhead: Sequence[tuple[str, str]]
    stages: int
    periods_per_quantum: float | Decimal


class Moving(TypedDict):
    """What may move, and at which cost."""

    keep: Sequence[str]
    keep_servers: Sequence[str]
    costs: Sequence[tuple[str, int]]


class LoseSharing(TypedDict):
    """How what servers have is shared, before and after some fail."""

    backend: str
    whole: bool
    policy: str
    seed: int


class Start(TypedDict):
    """What runs when a trace begins, and for how many microseconds."""

    instance: _native.Instance
    placement: tuple[str, bytes]
    remaining: int | None


class Run(TypedDict):
    """What decides a simulation; times are in microseconds."""

    over_commit: float | Decimal
    lose_evicted: bool
    horizon: int | None
    resolve_every: int
    dedicated: bool
    seed: int
    start: Start | None
    tenants: _native.Instance | None
    series: bool
    sample: int | None
    optimum: int | None
    jobs: bool


class Level(TypedDict):
    """The settings of a level of `flows`."""

    border_mass: float | None
    memory: float | None
    replications: int | None
    arrivals: int | None
    seed: int | None
    tasks_per_job: float | None
    task_share: float | None
    packets_per_flow: float | None
    window: int | None


Files = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]
"""One file, or several."""


class KubernetesOptions(TypedDict, total=False):
    """What is read of a Kubernetes cluster."""

    nodes: Required[Files]
    pods: Required[Files]
    quotas: Files
    group_by: str
    group: str
    resources: Sequence[str] | None
    daemons: str
    all_nodes: bool
    rules: bool
    gangs: Files
    domain: str


class SlurmOptions(TypedDict, total=False):
    """What is read of a Slurm cluster."""

    nodes: Required[Files]
    jobs: Required[Files]
    accounts: Files
    user: str
    group: str
    all_nodes: bool
    rules: bool
    topology: Files


class Google2011Options(TypedDict, total=False):
    """What is read of Google's cluster of 2011."""

    machine_events: Required[Files]
    task_events: Required[Files]
    at: int
    last_shapes: bool
    group: str


class AzureFiles(TypedDict):
    """The files of Azure's arrivals."""

    arrivals: str
    durations: str
    sizes: str
    intervals: str


class PublishedFiles(TypedDict):
    """Files of others, for tables and figures that are computed from them."""

    google2011: str | os.PathLike[str] | None
    alibaba_gpu2023: str | os.PathLike[str] | None
    snowset: str | os.PathLike[str] | None
