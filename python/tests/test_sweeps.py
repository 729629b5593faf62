"""Sweeps: whoever runs the tasks, the table is the same to the byte."""

import concurrent.futures
import multiprocessing
import os
import pathlib
import signal
import threading
import time

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
