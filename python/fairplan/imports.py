"""Instances from the files of other systems. What was read and what was left out is told to ``progress``."""

from __future__ import annotations

import os
from collections.abc import Sequence

from fairplan import _native
from fairplan.commands import Progress, _call
from fairplan.instances import Instance

__all__ = ["import_kubernetes", "import_kueue", "import_slurm", "import_yarn"]

Files = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]


def _paths(files: Files) -> list[str]:
    if isinstance(files, (str, os.PathLike)):
        return [os.fspath(files)]
    return [os.fspath(file) for file in files]


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
    progress: Progress | None = None,
) -> Instance:
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
    """
    counted = None if resources is None else list(resources)
    call = _call(None, progress)
    files = (_paths(nodes), _paths(pods), _paths(quotas))
    return Instance._of(
        _native.import_kubernetes(*files, group_by, group, counted, daemons, all_nodes, call)
    )


def import_slurm(
    *,
    nodes: Files,
    jobs: Files,
    accounts: Files = (),
    user: str = "user",
    group: str = "tree",
    all_nodes: bool = False,
    progress: Progress | None = None,
) -> Instance:
    """A Slurm cluster: its nodes, and its jobs that run or wait, as ``scontrol show nodes --json`` and ``squeue --json`` print.

    Args:
        nodes: files of nodes.
        jobs: files of jobs.
        accounts: files of accounts and associations, as ``sacctmgr show assoc --json`` or ``sshare --json`` print.
        user: whose a job is: ``user``, ``account`` or ``partition``.
        group: who becomes a user: ``tree``, ``shape`` or ``user``.
        all_nodes: count nodes that are down, drained or otherwise closed as well.
    """
    call = _call(None, progress)
    files = (_paths(nodes), _paths(jobs), _paths(accounts))
    return Instance._of(_native.import_slurm(*files, user, group, all_nodes, call))


def import_yarn(
    *, nodes: Files, queues: str | os.PathLike[str], progress: Progress | None = None
) -> Instance:
    """A YARN cluster: its nodes, and the queues of ``fair-scheduler.xml`` or ``capacity-scheduler.xml``.

    Args:
        nodes: what the ResourceManager answers, or a node list of the load simulator.
        queues: the scheduler's file.
    """
    return Instance._of(_native.import_yarn(_paths(nodes), os.fspath(queues), _call(None, progress)))


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
    return Instance._of(_native.import_kueue(_paths(files), _paths(nodes), user, weights, call))
