"""Runs fairplan and its peers on the peers' inputs, one after the other, and writes what came out as lines of JSON.

    python peers/run.py -o out/peers                  everything: half an hour of two cores
    python peers/run.py -o out/peers --small          512 jobs, a minute
    python peers/run.py --help

Every peer runs in a process of its own, with a time limit. Its seconds are from the problem in memory to the allocation in memory, its
model included, and not Python's start. fairplan's seconds are those of the whole command: start, reading the instance, solving, proving,
writing the result; `solver` is what the result states of it.
"""

import argparse
import json
import os
import pathlib
import platform
import resource
import subprocess
import sys
import time

import numpy as np

import inputs
import judge

HERE = pathlib.Path(__file__).parent

# Sizes of each family, and how many jobs each peer is asked to do at most: beyond that it would only meet the time limit.
SIZES = {
    "gavel": (64, 512, 2048, 10000, 100000),
    "gavel-priorities": (512, 10000),
    "gavel-room": (512, 10000),
    "dede": (512, 10000),
    "dede-drawn": (512, 10000),
    "population": (512, 10000),
}
PEERS = {
    "Gavel max-min, cvxpy, HiGHS": 10**6,
    "Gavel max-min, cvxpy, Clarabel": 10**6,
    "Gavel water-filling, cvxpy, HiGHS": 2048,
    "Gavel water-filling, cvxpy, Clarabel and HiGHS": 2048,
    "POP by 2, HiGHS": 10**6,
    "POP by 4, HiGHS": 10**6,
    "POP by 8, HiGHS": 10**6,
    "POP by 8, Clarabel": 10**6,
    "Soroush approximate water-filler": 10**6,
    "Soroush adaptive water-filler, 10 rounds": 10**6,
    "Soroush equi-depth binner, Clarabel": 10**6,
    "DeDe": 512,
    "HiGHS level by level": 10**4,
    "HiGHS level by level, alike users merged": 10**6,
}


def allocation(peer, problem):
    """What a peer gives."""
    import programs
    import waterfillers

    solver = "CLARABEL" if "Clarabel" in peer else "HIGHS"
    if peer.startswith("Gavel max-min"):
        return programs.max_min(problem, solver)
    if peer.startswith("Gavel water-filling"):
        return programs.water_filling(problem, solver)
    if peer.startswith("POP"):
        return programs.pop(problem, solver, int(peer.split()[2].rstrip(",")))
    if peer.startswith("Soroush approximate"):
        return waterfillers.approximate(problem)
    if peer.startswith("Soroush adaptive"):
        return waterfillers.adaptive(problem, 10)
    if peer.startswith("Soroush equi-depth"):
        return programs.equi_depth_binner(problem, solver)
    if peer.startswith("HiGHS level by level"):
        return programs.by_levels_merged(problem) if peer.endswith("merged") else programs.by_levels(problem)
    raise ValueError(peer)


def one(peer, source, target):
    """In a process of its own: one peer on one problem."""
    import programs  # noqa: F401, so that its imports are not measured

    problem, best = inputs.Problem.load(source), None
    # The best of three, as of fairplan, but for what takes long.
    for _ in range(3):
        start, processor = time.perf_counter(), time.process_time()
        x = allocation(peer, problem)
        told = time.perf_counter() - start, time.process_time() - processor
        best = told if best is None else min(best, told)
        if told[0] > 5:
            break
    np.savez(target, x=x, seconds=best[0], processor=best[1])


def watched(words, limit, fine=(0,)):
    """Runs a command: its wall seconds and its processor seconds; what went wrong instead, in a few words."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    child = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
    try:
        _, complaint = child.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, 9)
        child.communicate()
        return None, f"no answer in {limit:g} s"
    seconds, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    if child.returncode not in fine:
        lines = complaint.strip().splitlines()
        return None, f"failed: {lines[-1][:100] if lines else child.returncode}"
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return (seconds, processor), None


def fairplan(command, problem, instance, folder):
    """The command's line, and what its own checker says."""
    result, best = folder / "solution.json", None
    for _ in range(3):
        # Exit status 3: not proved, with the result written.
        told, problem_met = watched([command, "-q", "solve", str(instance), "-o", str(result)], 600, (0, 3))
        if told is None:
            return None, {"failed": problem_met}
        best = told if best is None else min(best, told)
    checked, refused = watched([command, "-q", "verify", str(instance), str(result), "-o", str(folder / "verdict.json")], 600)
    with open(result) as file:
        solution = json.load(file)
    column = {c["id"]: l for l, c in enumerate(solution["server_classes"])}
    x = np.zeros(problem.worth.shape)
    for row, user in enumerate(solution["users"]):
        for there in user["placement"]:
            x[row, column[there["class"]]] = there["tasks"] / problem.tasks[row]
    gap = f"{solution['certificate']['relative_gap']:.0e}"
    proved = solution["status"] == "optimal" and checked is not None
    return x, {
        "seconds": best[0], "processor": best[1], "solver": solution["stats"]["seconds"],
        "verify": checked[0] if checked else None,
        "proof": f"gap {gap}, verified" if proved else f"none: {solution['status']}, value to {gap}, `verify` {refused or 'agrees'}",
    }


def compared(family, jobs, asked, folder, write):
    """One input: fairplan's line, then each peer's."""
    problem, text = inputs.made(family, jobs, asked.seed, asked.fairplan)
    instance, source = folder / "instance.json", folder / "problem.npz"
    instance.write_text(text)
    problem.save(source)
    x, line = fairplan(asked.fairplan, problem, instance, folder)
    line = {"family": family, "input": problem.name, "jobs": jobs, "peer": "fairplan", **line}
    if x is None:
        write(line)
        return
    optimum = np.sort(judge.levels(problem, judge.made_feasible(problem, x)))
    write({**line, **judge.judged(problem, x, optimum), "levels": int(1 + (np.diff(optimum) > judge.SAME * optimum[1:]).sum())})
    for peer, most in PEERS.items():
        line = {"family": family, "input": problem.name, "jobs": jobs, "peer": peer}
        # DeDe takes minutes: on Gavel's jobs and its own only.
        if peer == "DeDe" and family not in ("gavel", "dede"):
            continue
        if jobs > most or asked.only and not any(part in peer for part in asked.only):
            continue
        target = folder / "answer.npz"
        target.unlink(missing_ok=True)
        if peer == "DeDe":
            if asked.dede is None:
                write({**line, "failed": "its packages are not here"})
                continue
            words = [asked.dede, str(HERE / "dede/run.py"), str(source), str(target)]
        else:
            words = [sys.executable, str(HERE / "run.py"), "--one", peer, str(source), str(target)]
        told, problem_met = watched(words, asked.limit * (4 if peer == "DeDe" else 1))
        if told is None:
            write({**line, "failed": problem_met})
            continue
        with np.load(target) as file:
            seconds, processor = float(file["seconds"]), float(file["processor"])
            write({
                **line, "seconds": seconds, "processor": told[1] if np.isnan(processor) else processor,
                **judge.judged(problem, file["x"], optimum),
            })


def main():
    if sys.argv[1:2] == ["--one"]:
        one(*sys.argv[2:])
        return
    parser = argparse.ArgumentParser(description="fairplan and its peers on the peers' inputs")
    parser.add_argument("-o", "--output", type=pathlib.Path, default=pathlib.Path("out/peers"))
    parser.add_argument("--fairplan", default=os.environ.get("FAIRPLAN", "target/release/fairplan"))
    parser.add_argument("--dede", help="the interpreter of the environment that has DeDe")
    parser.add_argument("--families", default=",".join(SIZES), help="some of: " + ", ".join(SIZES))
    parser.add_argument("--sizes", help="these instead of each family's own")
    parser.add_argument("--small", action="store_true", help="512 jobs only")
    parser.add_argument("--only", action="append", help="peers with this in their name; may be said several times")
    parser.add_argument("--limit", type=float, default=60, help="seconds for a peer on an input, four times as many for DeDe")
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    if asked.families != "population" and not (inputs.folder() / "simulation_throughputs.json.gz").exists():
        sys.exit(
            f"peers: {inputs.folder()} has no simulation_throughputs.json.gz. It is Gavel's (github.com/stanford-futuredata/gavel, "
            "scheduler/simulation_throughputs.json, MIT), gzipped; say where it lies by PEERS_DATA=FOLDER"
        )
    asked.output.mkdir(parents=True, exist_ok=True)
    sizes = [512] if asked.small else [int(size) for size in asked.sizes.split(",")] if asked.sizes else None
    with open(asked.output / "lines.jsonl", "w") as file:
        def write(line):
            line = {"machine": f"{platform.machine()}, {os.cpu_count()} cores", **line}
            file.write(json.dumps(line) + "\n")
            file.flush()
            told = line.get("failed") or f"{line['seconds']:.3f} s, smallest {line['smallest_feasible']:.6f}, first {line['first']}"
            print(f"{line['family']} {line['jobs']}: {line['peer']}: {told}", file=sys.stderr)

        for family in asked.families.split(","):
            if family == "dede" and not inputs.dede_throughputs().exists():
                print(f"peers: no dede: {inputs.dede_throughputs()} is not there (see peers/README.md)", file=sys.stderr)
                continue
            for jobs in sizes or SIZES[family]:
                compared(family, jobs, asked, asked.output, write)


if __name__ == "__main__":
    main()
