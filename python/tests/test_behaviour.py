"""While functions work: other threads run, Ctrl-C is heard, progress is told; processes and threads."""

import concurrent.futures
import contextlib
import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
import warnings

import pytest

import fairplan as fp

LONG = "population(kind='spread', users=400, cluster='distinct:60', seed=1)"


def long() -> fp.Instance:
    return fp.generate.population(kind="spread", users=400, cluster="distinct:60", seed=1)


def test_other_threads_run_meanwhile():
    cluster, ticks, done = long(), [], threading.Event()

    def tick() -> None:
        while not done.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.001)

    ticker = threading.Thread(target=tick)
    ticker.start()
    start = time.perf_counter()
    try:
        # On a busy machine a second may not be enough for any answer.
        with contextlib.suppress(fp.NotProved):
            fp.bound(cluster, time_limit=1)
        took = time.perf_counter() - start
    finally:
        done.set()
        ticker.join()
    gaps = [later - sooner for sooner, later in zip(ticks, ticks[1:], strict=False)]
    assert took > 0.2 and max(gaps) < 0.2 * max(took, 1), (took, max(gaps))


def test_ctrl_c_is_heard_at_once_and_leaves_no_file(tmp_path):
    script = f"""
    import signal, threading, time, os, fairplan as fp
    cluster = fp.generate.{LONG}
    sent = []
    def interrupt():
        time.sleep(0.3)
        sent.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)
    threading.Thread(target=interrupt).start()
    try:
        fp.bound(cluster, time_limit=60).write("bound.json")
    except KeyboardInterrupt:
        print(time.perf_counter() - sent[0])
    """
    line = [sys.executable, "-c", textwrap.dedent(script)]
    told = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=True).stdout
    assert float(told) < 0.2
    assert list(tmp_path.iterdir()) == []


def test_progress_is_told_and_may_stop_the_work():
    told = []
    fp.solve(fp.generate.drfh_fig1(), progress=told.append)
    assert told == ["solving", "checking the solution"]

    class Enough(Exception):
        pass

    def stop(text: str) -> None:
        raise Enough(text)

    with pytest.raises(Enough, match="solving"):
        fp.solve(long(), progress=stop)


def test_what_is_left_out_is_a_warning():
    cluster = fp.generate.google(servers=40, users=4, finite=True)
    demands = {user["id"]: [3, 1] for user in cluster.to_dict()["users"]}
    with pytest.warns(fp.FairplanWarning, match="how many they are the demands say"):
        fp.allocate(demands, instance=cluster, mechanism="drfh")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fp.compare(fp.generate.drfh_fig1())


def test_an_instance_that_deserves_a_second_look_is_a_warning_where_it_is_asked_about():
    servers = [{"id": "s", "count": 2, "capacity": {"cpu": 4, "gpu": 1}}]
    cluster = fp.Instance.from_dict(
        {"resources": ["cpu", "gpu"], "server_classes": servers, "users": [{"id": "a", "demand": {"cpu": 1}}]}
    )
    assert cluster.warnings == ["no user demands gpu"]
    for ask in [fp.solve, fp.place, fp.bound, fp.compare, fp.plan.worth, lambda cluster: fp.explain(cluster, "a")]:
        with pytest.warns(fp.FairplanWarning, match="no user demands gpu") as warned:
            ask(cluster)
        assert warned[0].filename == __file__
    with warnings.catch_warnings(), pytest.raises(fp.FairplanWarning):
        warnings.simplefilter("error")
        fp.solve(cluster)


def test_what_time_was_not_enough_for_is_not_proved():
    with pytest.raises(fp.NotProved, match="no placement in time"):
        fp.place(fp.generate.google(), time_limit=0.001)


def test_many_threads_get_the_answers_of_one():
    clusters = [fp.generate.google(servers=80, users=20, seed=seed) for seed in range(8)]
    alone = [fp.solve(cluster).to_json(timing=False) for cluster in clusters]
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        together = list(pool.map(lambda cluster: fp.solve(cluster).to_json(timing=False), clusters))
    assert together == alone


def test_a_solve_does_not_wait_for_another_call_that_is_under_way():
    cluster, long_cluster, ended = fp.generate.drfh_fig1(), long(), []

    def work() -> None:
        # A machine that is busy proves nothing in this time, which is not asked here.
        with contextlib.suppress(fp.NotProved):
            fp.bound(long_cluster, time_limit=2)
        ended.append(True)

    other = threading.Thread(target=work)
    other.start()
    fp.solve(cluster)
    assert not ended, "the other call works for two seconds"
    other.join()
    assert ended


def value(cluster: fp.Instance) -> float:
    return fp.solve(cluster).value


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_processes_that_are_forked_or_spawned_solve(method):
    cluster = fp.generate.google(servers=80, users=20)
    expected = value(cluster)
    with warnings.catch_warnings():
        # Python warns of every fork beside threads.
        warnings.simplefilter("ignore", DeprecationWarning)
        context = multiprocessing.get_context(method)
        with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as pool:
            assert list(pool.map(value, [cluster] * 4, timeout=60)) == [expected] * 4


def test_a_signal_that_python_handles_itself_does_not_end_the_work():
    heard = []
    previous = signal.signal(signal.SIGUSR1, lambda *_: heard.append(True))
    try:
        timer = threading.Timer(0.1, lambda: os.kill(os.getpid(), signal.SIGUSR1))
        timer.start()
        with contextlib.suppress(fp.NotProved):
            fp.bound(long(), time_limit=0.5)
        timer.join()
    finally:
        signal.signal(signal.SIGUSR1, previous)
    assert heard == [True]
