"""Sweeps: whoever runs the tasks, the table is the same to the byte."""

import concurrent.futures
import json
import multiprocessing
import os
import pathlib
import random
import signal
import subprocess
import sys
import threading
import time
import typing

import pytest

import fairplan as fp


def spec(folder: pathlib.Path, seeds: int) -> dict[str, object]:
    demands = folder / "demands.json"
    demands.write_text(fp.generate.demands(users=30, quanta=200, seed=1).to_json(), encoding="utf-8")
    return {
        "command": "allocate",
        "arguments": [str(demands), "--fair-share", 10],
        "parameters": {"alpha": [0, 0.5], "non-conformant": [0, 0.3], "seed": {"seeds": seeds}},
    }


def test_this_machine_and_an_executor_make_the_same_table(tmp_path: pathlib.Path):
    study = spec(tmp_path, 10)
    here = fp.sweep(study, tmp_path / "here")
    assert here.tasks == 40
    # Processes that are made anew: one that is forked beside threads may wait for ever.
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as executor:
        there = fp.sweep(study, tmp_path / "there", executor, chunk=7)
    assert here.path.read_bytes() == there.path.read_bytes()
    frame = here.to_pandas()
    assert list(frame.columns[:5]) == ["index", "id", "alpha", "non-conformant", "seed"]
    assert frame.groupby("alpha")["metrics.fairness"].mean().between(0, 1).all()


def test_what_cannot_be_used_is_named(tmp_path: pathlib.Path):
    study = spec(tmp_path, 2)
    with pytest.raises(fp.InputError, match="parameter alhpa: allocate has no such option"):
        fp.sweep({**study, "parameters": {"alhpa": [1]}}, tmp_path / "wrong")
    with pytest.raises(fp.FairplanError, match="task 0: .*mechanism"):
        fp.sweep({**study, "parameters": {"mechanism": ["none-such"]}}, tmp_path / "failing")


def test_dask_loses_a_worker_and_no_result(tmp_path: pathlib.Path):
    distributed = pytest.importorskip("distributed")
    study = spec(tmp_path, 100)
    here = fp.sweep(study, tmp_path / "here")
    there = tmp_path / "there"
    cluster = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, host="127.0.0.1", dashboard_address=None
    )
    with cluster, distributed.Client(cluster) as client:
        pids = list(client.run(os.getpid).values())

        def kill_one() -> None:
            while len(list(there.glob("results/*/*.json"))) < 20:
                time.sleep(0.005)
            os.kill(pids[0], signal.SIGKILL)

        killer = threading.Thread(target=kill_one)
        killer.start()
        table = fp.sweep(study, there, client, chunk=5)
        killer.join()
    assert table.path.read_bytes() == here.path.read_bytes()


def test_ray_makes_the_same_table(tmp_path: pathlib.Path):
    ray = pytest.importorskip("ray")
    study = spec(tmp_path, 10)
    here = fp.sweep(study, tmp_path / "here")
    ray.init(num_cpus=2, include_dashboard=False, _node_ip_address="127.0.0.1")
    try:
        there = fp.sweep(study, tmp_path / "there", ray, chunk=7)
    finally:
        ray.shutdown()
    assert here.path.read_bytes() == there.path.read_bytes()


COORDINATOR = """
import concurrent.futures, json, multiprocessing, sys
import fairplan as fp

if __name__ == "__main__":
    spec, directory = json.load(open(sys.argv[1])), sys.argv[2]
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as executor:
        fp.sweep(spec, directory, executor, chunk=5)
"""


def children_of(pid: int) -> list[int]:
    """The processes that a process has begun, and theirs."""
    found, waiting = [], [pid]
    while waiting:
        path = pathlib.Path(f"/proc/{waiting.pop()}")
        for told in path.glob("task/*/children"):
            try:
                more = [int(word) for word in told.read_text().split()]
            except OSError:  # It has ended meanwhile.
                continue
            found += more
            waiting += more
    return found


def end(kill: typing.Callable[[int, int], None], pid: int) -> None:
    try:
        kill(pid, signal.SIGKILL)
    except ProcessLookupError:  # It has ended by itself.
        pass


@pytest.mark.skipif(not pathlib.Path("/proc/self/task").exists(), reason="needs Linux")
def test_workers_and_coordinators_are_killed_at_random_times_and_the_table_is_the_same(tmp_path: pathlib.Path):
    study = spec(tmp_path, 100)
    here = fp.sweep(study, tmp_path / "here")
    (tmp_path / "spec.json").write_text(json.dumps(study), encoding="utf-8")
    (tmp_path / "coordinator.py").write_text(COORDINATOR, encoding="utf-8")
    there, dice = tmp_path / "there", random.Random(1)
    words = [sys.executable, str(tmp_path / "coordinator.py"), str(tmp_path / "spec.json"), str(there)]
    for kill in range(int(os.environ.get("FAIRPLAN_KILLS", "4"))):
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        coordinator = subprocess.Popen(words, start_new_session=True, **quiet)
        time.sleep(dice.uniform(0.3, 1.5))
        whom = children_of(coordinator.pid)
        if kill % 2 == 1 and whom:
            # One of those that work for the coordinator, which sees that it is gone.
            end(os.kill, dice.choice(whom))
            try:
                coordinator.wait(timeout=20)
            except subprocess.TimeoutExpired:
                pass
        else:
            end(os.kill, coordinator.pid)
        end(os.killpg, coordinator.pid)
        coordinator.wait()
    assert fp.sweep(study, there).path.read_bytes() == here.path.read_bytes()


def test_kubernetes_takes_the_manifest(tmp_path: pathlib.Path):
    published = pytest.importorskip("kubernetes_validate")
    study = spec(tmp_path, 10)
    fp.sweep(study, tmp_path / "here")
    words = ["sweep", "kubernetes", str(tmp_path / "here/sweep.jsonl"), "results", "--image", "fairplan:1", "--claim", "studies"]
    for more in [[], ["--memory", "2Gi", "--cpus", "2", "--retries", "0", "--chunk", "7"]]:
        told = subprocess.run([os.environ.get("FAIRPLAN", "fairplan"), "--quiet", *words, *more], capture_output=True, check=True)
        job = json.loads(told.stdout)
        assert job["spec"]["backoffLimitPerIndex"] == (0 if more else 3)
        published.validate(job, published.latest_version(), strict=True)
        job["spec"]["backoffLimitPerIndex"] = "3"
        with pytest.raises(published.ValidationError):
            published.validate(job, published.latest_version(), strict=True)


def test_hyperqueue_makes_the_same_table(tmp_path: pathlib.Path):
    hyperqueue = pytest.importorskip("hyperqueue")
    study = spec(tmp_path, 10)
    here = fp.sweep(study, tmp_path / "here")
    tasks, results, table = tmp_path / "here/sweep.jsonl", tmp_path / "results", tmp_path / "all.parquet"
    program = os.environ.get("FAIRPLAN", "fairplan")
    call = [program, "-q", "sweep", "run", str(tasks), "--chunk", "7", "-o", str(results), "--index"]
    with hyperqueue.LocalCluster(str(tmp_path / "server")) as cluster:
        cluster.start_worker()
        client, job = cluster.client(), hyperqueue.Job()
        for chunk in range(6):
            job.program([*call, str(chunk)])
        client.wait_for_jobs([client.submit(job)])
    subprocess.run([program, "-q", "sweep", "collect", str(tasks), str(results), "-o", str(table)], check=True)
    assert table.read_bytes() == here.path.read_bytes()
