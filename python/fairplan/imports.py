"""Instances, traces and demands from the files of other systems.

What was read is told to ``progress``. What is left out is a :class:`fairplan.FairplanWarning` for each reason, with its count.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from decimal import Decimal
from typing import Literal, Unpack, overload

from fairplan import _native
from fairplan.commands import Progress, _call
from fairplan.demands import Demands
from fairplan.files import path_of, paths_of
from fairplan.instances import Instance
from fairplan.options import AzureFiles, Files, Google2011Options, KubernetesOptions, SlurmOptions
from fairplan.results import Placement
from fairplan.traces import Trace

__all__ = [
    "import_alibaba_gpu2023",
    "import_alibaba_gpu2023_trace",
    "import_azure_v1",
    "import_azure_v1_trace",
    "import_google_2011",
    "import_google_2011_trace",
    "import_helios",
    "import_kubernetes",
    "import_kubernetes_queues",
    "import_kueue",
    "import_philly_trace",
    "import_shaved_ice",
    "import_slurm",
    "import_snowset",
    "import_swf_trace",
    "import_yarn",
]

def _present(told: tuple[_native.Instance, _native.Document | None]) -> Instance | tuple[Instance, Placement]:
    """A cluster, and where it was asked for what runs where now."""
    instance, placement = told
    cluster = Instance._of(instance)
    return cluster if placement is None else (cluster, Placement(placement))


@overload
def import_kubernetes(
    *, placement_out: Literal[False] = False, progress: Progress | None = None, **options: Unpack[KubernetesOptions]
) -> Instance: ...
@overload
def import_kubernetes(
    *, placement_out: Literal[True], progress: Progress | None = None, **options: Unpack[KubernetesOptions]
) -> tuple[Instance, Placement]: ...
def import_kubernetes(
    *,
    nodes: Files,
    pods: Files,
    quotas: Files = (),
    group_by: str = "namespace",
    group: str = "tree",
    resources: Sequence[str] | None = None,
    daemons: str = "count",
    all_nodes: bool = False,
    rules: bool = False,
    gangs: Files = (),
    domain: str = "topology.kubernetes.io/zone",
    placement_out: bool = False,
    progress: Progress | None = None,
) -> Instance | tuple[Instance, Placement]:
    """A Kubernetes cluster: its nodes, and its pods that run or wait, as ``kubectl get … -o json`` prints them.

    Args:
        nodes: files of nodes, JSON or YAML.
        pods: files of pods.
        quotas: files of ResourceQuotas, which limit their namespaces.
        group_by: whose a pod is: ``namespace``, or ``label:KEY``.
        group: who becomes a user: ``tree``, ``shape`` or ``user``.
        resources: those that count; by default all that are requested.
        daemons: pods that belong to their node: ``count`` or ``reserve``.
        all_nodes: count nodes that are cordoned or not ready as well.
        rules: keep the rules that only whole tasks meet: GPUs as devices, zones as domains, one pod on a node, spread, gangs.
        gangs: with ``rules``, files of PodGroups and Jobs, whose pods start together.
        domain: with ``rules``, the label of nodes whose value is their domain.
        placement_out: give what runs where now too: classes then carry the names of their nodes, and the second of what comes back is
            a placement for :func:`fairplan.compare` and :func:`fairplan.plan.move`.

    >>> import os, tempfile, warnings
    >>> import fairplan as fp
    >>> nodes, pods = (os.path.join(tempfile.mkdtemp(), name) for name in ["nodes.json", "pods.json"])
    >>> fp.generate.kubernetes_nodes(nodes)
    >>> fp.generate.kubernetes_pods(pods)
    >>> cluster, now = fp.import_kubernetes(nodes=nodes, pods=pods, placement_out=True)
    >>> fp.compare(cluster, policies=["best-fit"], placements=[now]).policies["name"]
    ['best-fit', 'kubernetes']
    """
    options: KubernetesOptions = {
        "nodes": paths_of("nodes", nodes),
        "pods": paths_of("pods", pods),
        "quotas": paths_of("quotas", quotas),
        "group_by": group_by,
        "group": group,
        "resources": None if resources is None else list(resources),
        "daemons": daemons,
        "all_nodes": all_nodes,
        "rules": rules,
        "gangs": paths_of("gangs", gangs),
        "domain": domain,
    }
    return _present(_native.import_kubernetes(options, placement_out, _call(None, progress)))


def import_kubernetes_queues(*, nodes: Files, queues: Files, progress: Progress | None = None) -> Instance:
    """Queues of Volcano, KAI or YuniKorn over the nodes of a Kubernetes cluster, as groups and users.

    Args:
        nodes: files of nodes.
        queues: files of queues, as ``kubectl get queues -o yaml`` prints them, or YuniKorn's ``queues.yaml`` or ConfigMap.
    """
    files, call = (paths_of("nodes", nodes), paths_of("queues", queues)), _call(None, progress)
    return Instance._of(_native.import_kubernetes_queues(*files, call))


@overload
def import_slurm(
    *, placement_out: Literal[False] = False, progress: Progress | None = None, **options: Unpack[SlurmOptions]
) -> Instance: ...
@overload
def import_slurm(
    *, placement_out: Literal[True], progress: Progress | None = None, **options: Unpack[SlurmOptions]
) -> tuple[Instance, Placement]: ...
def import_slurm(
    *,
    nodes: Files,
    jobs: Files,
    accounts: Files = (),
    user: str = "user",
    group: str = "tree",
    all_nodes: bool = False,
    rules: bool = False,
    topology: Files = (),
    placement_out: bool = False,
    progress: Progress | None = None,
) -> Instance | tuple[Instance, Placement]:
    """A Slurm cluster: its nodes, and its jobs that run or wait, as ``scontrol show nodes --json`` and ``squeue --json`` print.

    Args:
        nodes: files of nodes.
        jobs: files of jobs.
        accounts: files of accounts and associations, as ``sacctmgr show assoc --json`` or ``sshare --json`` print.
        user: whose a job is: ``user``, ``account`` or ``partition``.
        group: who becomes a user: ``tree``, ``shape`` or ``user``.
        all_nodes: count nodes that are down, drained or otherwise closed as well.
        rules: keep the rules that only whole tasks meet: GPUs as devices, jobs of several nodes as gangs.
        topology: with ``rules``: ``topology.conf``, or what ``scontrol show topology`` prints; jobs that ask for one switch run below one.
        placement_out: give what runs where now too, as :func:`import_kubernetes` does.
    """
    options: SlurmOptions = {
        "nodes": paths_of("nodes", nodes),
        "jobs": paths_of("jobs", jobs),
        "accounts": paths_of("accounts", accounts),
        "user": user,
        "group": group,
        "all_nodes": all_nodes,
        "rules": rules,
        "topology": paths_of("topology", topology),
    }
    return _present(_native.import_slurm(options, placement_out, _call(None, progress)))


def import_yarn(
    *, nodes: Files, queues: str | os.PathLike[str], progress: Progress | None = None
) -> Instance:
    """A YARN cluster: its nodes, and the queues of ``fair-scheduler.xml`` or ``capacity-scheduler.xml``.

    Args:
        nodes: what the ResourceManager answers, or a node list of the load simulator.
        queues: the scheduler's file.
    """
    return Instance._of(_native.import_yarn(paths_of("nodes", nodes), path_of("queues", queues), _call(None, progress)))


def import_kueue(
    files: Files,
    *,
    nodes: Files = (),
    user: str = "cluster-queue",
    weights: str = "fair-sharing",
    progress: Progress | None = None,
) -> Instance:
    """Kueue's cohorts and queues as groups and users with their quotas.

    Args:
        files: ClusterQueues, Cohorts, LocalQueues, ResourceFlavors and Workloads, as YAML or JSON.
        nodes: files of nodes; without any the quotas are the cluster.
        user: ``cluster-queue`` or ``local-queue``.
        weights: ``fair-sharing`` or ``quota``.
    """
    call = _call(None, progress)
    return Instance._of(_native.import_kueue(paths_of("files", files), paths_of("nodes", nodes), user, weights, call))


@overload
def import_google_2011(
    *, placement_out: Literal[False] = False, progress: Progress | None = None, **options: Unpack[Google2011Options]
) -> Instance: ...
@overload
def import_google_2011(
    *, placement_out: Literal[True], progress: Progress | None = None, **options: Unpack[Google2011Options]
) -> tuple[Instance, Placement]: ...
def import_google_2011(
    *,
    machine_events: Files,
    task_events: Files,
    at: int = 0,
    last_shapes: bool = False,
    group: str = "user",
    placement_out: bool = False,
    progress: Progress | None = None,
) -> Instance | tuple[Instance, Placement]:
    """Google's cluster-usage traces of 2011 (v2.1), as of one moment.

    Args:
        machine_events: parts of the table machine_events in order, gzipped or not.
        task_events: parts of the table task_events in order.
        at: the moment in microseconds of trace time; 0 is the state before the trace begins.
        last_shapes: take every machine of the trace with its last known capacity: the published 12,583 servers.
        group: who becomes a user: each ``user`` of the trace, or each different request of each (``shape``).
        placement_out: give what runs where at the moment too, as :func:`import_kubernetes` does. Machines may hold more than they have.
    """
    options: Google2011Options = {
        "machine_events": paths_of("machine_events", machine_events),
        "task_events": paths_of("task_events", task_events),
        "at": at,
        "last_shapes": last_shapes,
        "group": group,
    }
    return _present(_native.import_google_2011(options, placement_out, _call(None, progress)))


def import_google_2011_trace(
    *,
    task_events: Files,
    job_events: Files = (),
    machine_events: Files = (),
    servers: int | None = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> Trace:
    """Google's cluster-usage traces of 2011 (v2.1), as a trace: tasks with the times they ran, and servers.

    Args:
        task_events: consecutive parts of the table task_events in order, gzipped or not.
        job_events: parts of the table job_events of the same time in order.
        machine_events: take the machines of the trace, which come, change and go: parts of the table machine_events in order.
        servers: draw so many servers from the published distribution instead.
        seed: of the servers drawn.

    Raises:
        TypeError: neither ``machine_events`` nor ``servers`` is given, or both.
    """
    machines = paths_of("machine_events", machine_events)
    if bool(machines) == (servers is not None):
        raise TypeError("give machine_events, or how many servers to draw")
    call = _call(None, progress)
    return Trace._of(
        _native.import_google_2011_trace(
            paths_of("task_events", task_events), paths_of("job_events", job_events), machines, servers, seed, call
        )
    )


def import_alibaba_gpu2023(
    *,
    nodes: str | os.PathLike[str],
    pods: str | os.PathLike[str],
    at: int | None = None,
    group: str = "tree",
    devices: bool = False,
    progress: Progress | None = None,
) -> Instance:
    """Alibaba's GPU cluster of 2023: its nodes, and its pods with parts of GPUs. The tables do not say on which node a pod runs, so
    there is no present placement.

    Args:
        nodes: the table of nodes: sn, cpu_milli, memory_mib, gpu, model.
        pods: the table of pods.
        at: only the pods that are there at this second of the trace.
        group: who becomes a user: ``tree``, ``shape`` or ``user``.
        devices: make each GPU a device: a part of a GPU is of one GPU. Needs ``group`` shape or tree.
    """
    files, call = (path_of("nodes", nodes), path_of("pods", pods)), _call(None, progress)
    return Instance._of(_native.import_alibaba_gpu2023(*files, at, group, devices, call))


def import_alibaba_gpu2023_trace(
    *,
    nodes: str | os.PathLike[str],
    pods: str | os.PathLike[str],
    devices: bool = False,
    progress: Progress | None = None,
) -> Trace:
    """Alibaba's GPU cluster of 2023, as a trace: nodes with CPU, memory and GPUs, pods with parts of GPUs.

    Args:
        nodes: the table of nodes.
        pods: the table of pods.
        devices: make each GPU a device: a part of a GPU is of one GPU.
    """
    files, call = (path_of("nodes", nodes), path_of("pods", pods)), _call(None, progress)
    return Trace._of(_native.import_alibaba_gpu2023_trace(*files, devices, call))


def import_azure_v1(
    *,
    arrivals: Files,
    sizes: str | os.PathLike[str],
    start: int = 0,
    until: int | None = None,
    servers: int,
    cores: int | float | Decimal,
    memory: int | float | Decimal,
    progress: Progress | None = None,
) -> Instance:
    """Arrivals of Azure's V1 trace: each size of virtual machine is a user, over servers that you choose.

    Args:
        arrivals: what arrives when, by letter of its size.
        sizes: what the letters mean: cores,GB letter.
        start: count arrivals from this second of the trace on (``--from``).
        until: count arrivals before this second of the trace; all, if it is not said.
        servers: how many.
        cores: of a server.
        memory: of a server in GB.
    """
    call = _call(None, progress)
    of_each = (servers, cores, memory)
    return Instance._of(
        _native.import_azure_v1(paths_of("arrivals", arrivals), path_of("sizes", sizes), start, until, of_each, call)
    )


def import_azure_v1_trace(
    *,
    arrivals: str | os.PathLike[str],
    durations: str | os.PathLike[str],
    sizes: str | os.PathLike[str],
    intervals: str | os.PathLike[str],
    users: int | None = None,
    servers: int,
    cores: int | float | Decimal,
    memory: int | float | Decimal,
    progress: Progress | None = None,
) -> Trace:
    """Arrivals of Azure's V1 trace: batches of virtual machines and how long they stay.

    Args:
        arrivals: what arrives when, by letter of its size.
        durations: how long it stays, by bin, in the same form.
        sizes: what the letters mean: cores,GB letter.
        intervals: which duration is in which bin: seconds bin.
        users: deal the batches out to so many users in turn instead of making each a user.
        servers: how many.
        cores: of a server.
        memory: of a server in GB.
    """
    files: AzureFiles = {
        "arrivals": path_of("arrivals", arrivals),
        "durations": path_of("durations", durations),
        "sizes": path_of("sizes", sizes),
        "intervals": path_of("intervals", intervals),
    }
    call = _call(None, progress)
    return Trace._of(_native.import_azure_v1_trace(files, users, (servers, cores, memory), call))


def import_philly_trace(
    jobs: str | os.PathLike[str],
    *,
    servers: int,
    gpus: int = 8,
    gangs: bool = False,
    progress: Progress | None = None,
) -> Trace:
    """Microsoft's Philly traces: GPU jobs of virtual clusters.

    Args:
        jobs: the table of jobs: timestamp, duration, num_gpus, cluster.
        servers: how many.
        gpus: of a server.
        gangs: whether a job is equal tasks that start at once or not at all.
    """
    return Trace._of(
        _native.import_philly_trace(path_of("jobs", jobs), servers, gpus, gangs, _call(None, progress))
    )


def import_swf_trace(
    log: str | os.PathLike[str],
    *,
    servers: int | None = None,
    processors: int = 1,
    gangs: bool = False,
    progress: Progress | None = None,
) -> Trace:
    """A log in the Standard Workload Format of parallel machines.

    Args:
        log: the log, gzipped or not.
        servers: how many servers, instead of those that the log describes.
        processors: with ``servers``: processors of each.
        gangs: whether a job's tasks start at once or not at all.
    """
    return Trace._of(
        _native.import_swf_trace(path_of("log", log), servers, processors, gangs, _call(None, progress))
    )


def import_snowset(
    queries: str | os.PathLike[str],
    *,
    quantum: int = 60,
    memory_slice: int | None = None,
    per_query: int | None = None,
    start: str | None = None,
    until: str | None = None,
    progress: Progress | None = None,
) -> Demands:
    """Snowflake's queries (Snowset): one user a warehouse.

    Args:
        queries: the table snowset-main with its header, gzipped or not.
        quantum: seconds of a quantum.
        memory_slice: slices are so many bytes of memoryUsed, instead of one server of serverCount.
        per_query: every query demands so many slices in each quantum that it touches, however briefly.
        start: from this time in UTC on, ``2018-02-21 00:00:00`` (``--from``).
        until: until this time in UTC.
    """
    call = _call(None, progress)
    return Demands._of(
        _native.import_snowset(path_of("queries", queries), quantum, memory_slice, per_query, start, until, call)
    )


def import_helios(
    sequences: Files, *, every: int = 1, progress: Progress | None = None
) -> tuple[Demands, dict[str, int]]:
    """Helios' virtual clusters: demand is running and pending GPUs. Every file is a user, named by what its name begins with; what
    comes back second is the quota of each, for the ``fair_shares`` of :func:`fairplan.allocate`.

    Args:
        sequences: files ``NAME.cluster_sequence_vc.csv``, gzipped or not.
        every: take one minute of so many as a quantum (rows are a minute apart).
    """
    native, quotas = _native.import_helios(paths_of("sequences", sequences), every, _call(None, progress))
    demands = Demands._of(native)
    return demands, dict(zip(demands.users, quotas, strict=True))


def import_shaved_ice(table: str | os.PathLike[str], *, progress: Progress | None = None) -> Demands:
    """Snowflake's hourly demand for virtual machines over three years (Shaved Ice): one user a region and type of machine.

    Args:
        table: ``hourly_normalized.csv`` with its header, gzipped or not.
    """
    return Demands._of(_native.import_shaved_ice(path_of("table", table), _call(None, progress)))
