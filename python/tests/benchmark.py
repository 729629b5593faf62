"""What the way through Python costs, and the same problem in cvxpy: prints the tables of docs/benchmarks.md.

    python python/tests/benchmark.py         needs fairplan, numpy, polars; and for the second table cvxpy with clarabel and highspy
"""

import concurrent.futures
import os
import resource
import statistics
import subprocess
import sys
import time

import numpy
import polars

import fairplan as fp


def best(work, times):
    """The best and the median time of some, and what the last gave."""
    seconds = []
    for _ in range(times):
        start = time.perf_counter()
        result = work()
        seconds.append(time.perf_counter() - start)
    return min(seconds), statistics.median(seconds), result


def frames(users, classes, seed):
    """Servers and users of two resources."""
    dice = numpy.random.default_rng(seed)
    servers = polars.DataFrame(
        {
            "id": [f"c{i}" for i in range(classes)],
            "count": [max(users // classes, 1)] * classes,
            "cpu": dice.integers(4, 64, classes).astype(float),
            "memory": dice.integers(4, 64, classes).astype(float),
        }
    )
    wanted = polars.DataFrame(
        {
            "id": [f"u{i}" for i in range(users)],
            "cpu": dice.uniform(0.1, 2, users).round(3),
            "memory": dice.uniform(0.1, 2, users).round(3),
        }
    )
    return servers, wanted


def importing():
    """Seconds that `import fairplan` takes in a new interpreter."""
    line = "import time; t = time.perf_counter(); import fairplan; print(time.perf_counter() - t)"
    runs = [float(subprocess.check_output([sys.executable, "-c", line])) for _ in range(7)]
    return min(runs)


def overhead():
    """The way through Python."""
    print(f"import fairplan: {1000 * importing():.0f} ms")
    print("| users | frame to instance | `fp.solve` | of it the solver | solution to frame |")
    print("|---|---|---|---|---|")
    for users, times in [(1_000, 30), (1_000_000, 3)]:
        servers, wanted = frames(users, 10, 1)
        reading, _, cluster = best(lambda s=servers, w=wanted: fp.Instance(s, w), times)
        solving, _, solution = best(lambda c=cluster: fp.solve(c), times)
        inside = solution.stats["seconds"]
        writing, _, _ = best(lambda s=solution: polars.DataFrame(s.users), times)
        cells = [f"{1000 * seconds:.1f} ms" for seconds in (reading, solving, inside, writing)]
        print(f"| {users:,} | {' | '.join(cells)} |")


def from_frame_to_frame(clock):
    """All of the way beside what of it is `fp.solve`, in one run, and the median of their ratios; by the clock, or the processor time
    of all threads."""
    print(f"by {clock.__name__}:\n| users | frame to frame | of it `fp.solve` | ratio |")
    print("|---|---|---|---|")
    for users, times in [(1_000, 30), (1_000_000, 9)]:
        servers, wanted = frames(users, 10, 1)

        def all_of_it(servers=servers, wanted=wanted):
            start = clock()
            cluster = fp.Instance(servers, wanted)
            read = clock()
            solution = fp.solve(cluster)
            solved = clock()
            solution.users.to_polars()
            return clock() - start, solved - read

        runs = [all_of_it() for _ in range(times)]
        whole, solving = min(runs)
        ratio = statistics.median(whole / solving for whole, solving in runs)
        print(f"| {users:,} | {1000 * whole:.1f} ms | {1000 * solving:.1f} ms | {ratio:.3f} |")


def in_two_threads():
    """Two solves at the same time beside one: of all threads that a solve has, and where each has one."""
    line = "import sys; sys.path.insert(0, sys.argv[1]); import benchmark; print(benchmark.side_by_side())"
    here = os.path.dirname(os.path.abspath(__file__))
    for threads in ("2", "1"):
        told = subprocess.check_output([sys.executable, "-c", line, here], env=os.environ | {"RAYON_NUM_THREADS": threads})
        print(f"threads of a solve: {threads}; {told.decode().strip()}")


def side_by_side():
    """One solve after another, then two at the same time: by the clock, by processor time, and how often a thread waited for something."""
    cluster = fp.generate.population(kind="spread", users=400, cluster="distinct:60", seed=1)
    rounds = range(20)

    def used(work):
        start, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_SELF)
        work()
        after, clock = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter() - start
        processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return numpy.array([clock, processor, after.ru_nvcsw - before.ru_nvcsw]) / len(rounds)

    def least(work):
        return numpy.min([used(work) for _ in range(5)], axis=0)

    alone = least(lambda: [fp.solve(cluster) for _ in rounds])
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        beside = least(lambda: list(pool.map(lambda _: fp.solve(cluster), rounds)))
    told = zip(("alone", "beside another"), (alone, beside), strict=True)
    return "; ".join(
        f"{how} {1000 * clock:.1f} ms a solve, {1000 * processor:.1f} ms of processor time, {waits:.0f} waits"
        for how, (clock, processor, waits) in told
    )


def decisions():
    """What a rule in numpy decides a second on a thousand servers, one task a call and several."""
    document = {
        "resources": ["cpu", "memory"],
        "server_classes": [{"id": "c", "count": 1000, "capacity": {"cpu": 64, "memory": 64}}],
        "users": [
            {"id": f"u{i}", "demand": {"cpu": 1 + i % 3, "memory": 1 + i % 2}, "tasks": 2500} for i in range(8)
        ],
    }
    cluster = fp.Instance.from_dict(document)

    def first(task, free):
        room = (free >= task.demand).all(axis=1)
        server = int(room.argmax())
        return server if room[server] else None

    def by(at_once):
        def rule(task, free):
            left = (free - task.demand).min(axis=1)
            fits = int((left >= 0).sum())
            if not fits:
                return None
            most = min(at_once, fits)
            # Those with most left, in no order.
            return numpy.argpartition(left, -most)[-most:]

        return rule

    free = numpy.full((1000, 2), 64.0)
    for name, rule in [("first fit", first), *((f"roomiest, {n} a call", by(n)) for n in (1, 4, 16, 64))]:
        task = fp.Task("u0", [1.0, 1.0], None, 1000)
        alone, _, _ = best(lambda rule=rule, task=task: [rule(task, free) for _ in range(1000)], 5)
        seconds, _, placed = best(lambda rule=rule: fp.place(cluster, policy=rule), 2)
        tasks = sum(placed.users["tasks"])
        print(f"{name}: {tasks / seconds:,.0f} decisions a second; the rule alone is called {1000 / alone:,.0f} times")


def level_in_cvxpy(cluster, solver):
    """The largest smallest dominant share, as people write it in cvxpy."""
    import cvxpy

    document = cluster.to_dict()
    resources = document["resources"]
    capacity = numpy.array(
        [[entry["count"] * entry["capacity"].get(name, 0) for name in resources] for entry in document["server_classes"]]
    )
    demand = numpy.array([[entry["demand"].get(name, 0) for name in resources] for entry in document["users"]])
    # Of the whole cluster, so that numbers are near one.
    total = capacity.sum(axis=0)
    part = demand / total
    dominant = part.max(axis=1)
    shape = part / dominant[:, None]
    shares = cvxpy.Variable((len(demand), len(capacity)), nonneg=True)
    level = cvxpy.Variable()
    limits = [shares.T @ shape <= capacity / total, cvxpy.sum(shares, axis=1) >= level]
    problem = cvxpy.Problem(cvxpy.Maximize(level), limits)
    problem.solve(solver=solver)
    return problem.value


def beside_cvxpy():
    """The same problem in cvxpy, from frames to numbers."""
    servers, wanted = frames(3_000, 10, 2)

    def ours():
        solution = fp.solve(fp.Instance(servers, wanted))
        polars.DataFrame(solution.users)
        return solution.value

    seconds, _, value = best(ours, 10)
    print("| by | seconds | ratio | value |")
    print("|---|---|---|---|")
    print(f"| fairplan, all levels, proved | {seconds:.4f} | 1 | {value:.9f} |")
    cluster = fp.Instance(servers, wanted)
    for name, solver in [("Clarabel", "CLARABEL"), ("HiGHS", "HIGHS")]:
        theirs, _, other = best(lambda s=solver: level_in_cvxpy(cluster, s), 2)
        print(f"| cvxpy with {name}, the first level | {theirs:.3f} | {theirs / seconds:.0f} | {other:.9f} |")
        assert abs(other - value) <= 1e-6 * value


if __name__ == "__main__":
    overhead()
    from_frame_to_frame(time.perf_counter)
    from_frame_to_frame(time.process_time)
    in_two_threads()
    decisions()
    beside_cvxpy()
