"""The inputs of the comparison: problems of one form, and how each becomes an instance of fairplan.

    python peers/inputs.py gavel --jobs 512 --seed 1 -o jobs.json     an instance of fairplan of Gavel's problem
    python peers/inputs.py --help                                    all families and settings

Gavel's problem. A cluster has `workers[k]` GPUs of type k. Job j needs `s[j]` GPUs at a time (its scale factor), makes
`throughput[j][k]` steps a second on type k, and has a priority `w[j]`. Wanted is `X[j][k]`, the part of the time that job j runs on
type k:

    X >= 0,   sum_k X[j][k] <= 1 for each job,   sum_j s[j] X[j][k] <= workers[k] for each type.

A job's normalised throughput is what it makes, over what it would make with its time spread over the types as the cluster is, by
priority and size (`max_min_fairness.py` of Gavel, and the same in Soroush and DeDe):

    level[j] = s[j] * sum_k throughput[j][k] X[j][k] / (w[j] * sum_k throughput[j][k] workers[k] / sum_k workers[k]).

Max-min fairness makes the smallest level as large as possible; water-filling then the next smallest, and so on.

In fairplan's words, exactly: a GPU type is a server class with one resource `gpu`; a job is a user with `demand` s[j], at most one
task (`tasks: 1`, which limits the sum of X), `rates` throughput[j], and `weight` w[j] times that mean. A rate of 0 is a class that the
user is not eligible for. Its weighted dominant share is the level above over the number of GPUs, for everybody the same factor. So
`solve` (the objective `drfh`) finds the lexicographic optimum of the same problem. All GPUs of a type are written as one server, as Gavel
knows no servers either.
"""

import argparse
import dataclasses
import gzip
import json
import os
import pathlib
import random
import subprocess

import numpy as np

GPUS = ("k80", "p100", "v100")


@dataclasses.dataclass
class Problem:
    """Users who share classes: what they need, what they make of it, and how the result is measured.

    `x[i, l]` is how many tasks of user i run on class l. `sum_i demand[i] x[i, l] <= capacity[l]`, `sum_l x[i, l] <= limit[i]`, and the
    level of user i is `sum_l worth[i, l] x[i, l]`. A worth of 0: the user may not run there.
    """

    name: str
    demand: np.ndarray  # users x resources
    capacity: np.ndarray  # classes x resources
    worth: np.ndarray  # users x classes
    limit: np.ndarray  # users; infinite where there is none
    # A unit of x[i] is so many tasks of user i in fairplan's instance: solvers with tolerances get numbers near 1.
    tasks: np.ndarray

    @property
    def users(self):
        return len(self.demand)

    @property
    def classes(self):
        return len(self.capacity)

    def save(self, path):
        fields = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        np.savez(path, **fields)

    @classmethod
    def load(cls, path):
        with np.load(path) as file:
            fields = {name: file[name] for name in file.files}
        return cls(**{**fields, "name": str(fields["name"])})

    def of_part(self, mine, parts):
        """These users on an equal part of every class."""
        return Problem(self.name, self.demand[mine], self.capacity / parts, self.worth[mine], self.limit[mine], self.tasks[mine])


def decimal(number):
    """A number as text of at most 15 digits: what fairplan reads is then exactly what the peers get."""
    return f"{number:.15g}"


def short(numbers):
    """The same numbers as `decimal` writes them."""
    return np.array([float(decimal(number)) for number in np.ravel(numbers)]).reshape(np.shape(numbers))


def folder():
    return pathlib.Path(os.environ.get("PEERS_DATA", "../shared/data/gavel"))


def gavel_types():
    """Job types that run alone: for each (name, scale factor) its throughputs on the three GPU types."""
    path = folder() / "simulation_throughputs.json.gz"
    with gzip.open(path, "rt") as file:
        measured = json.load(file)
    found = []
    for job in measured[GPUS[-1]]:
        scale = int(job.rstrip(")").rsplit(",", 1)[1])
        found.append((job, scale, [measured[gpu].get(job, {}).get("null", 0.0) for gpu in GPUS]))
    return found


def of_jobs(name, workers, scale, throughput, priority):
    """Gavel's problem in the common form, and what fairplan's instance says."""
    workers, scale, throughput = np.array(workers, float), np.array(scale, float), short(throughput)
    mean = throughput @ workers / workers.sum()
    weight = short(np.array(priority) * mean)
    worth = scale[:, None] * throughput / weight[:, None]
    problem = Problem(name, scale[:, None], workers[:, None], worth, np.ones(len(scale)), np.ones(len(scale)))
    return problem, {"resources": ["gpu"], "weight": weight, "rates": throughput, "tasks": 1}


def gavel(jobs, seed, skewed=False, gpus=0.25):
    """`jobs` drawn as Gavel draws them: a scale factor (1 in 70%, 2 in 10%, 4 in 15%, 8 in 5%), then one of the job types that have it.

    `gpus` for each job of each of the three types: 1/4 in Gavel's measurements of run time and in Soroush's. With `skewed` every fourth
    job has priority 1, 2, 4 and 8, as in Soroush's benchmark; without it all have 1.
    """
    rng, types = random.Random(seed), gavel_types()
    of_scale = {scale: [kind for kind in types if kind[1] == scale] for scale in (1, 2, 4, 8)}
    chosen = [rng.choice(of_scale[scale]) for scale in rng.choices((1, 2, 4, 8), (70, 10, 15, 5), k=jobs)]
    priority = [1 << job % 4 if skewed else 1 for job in range(jobs)]
    workers = [max(int(jobs * gpus), 1)] * len(GPUS)
    name = f"Gavel's three GPU types, {jobs} jobs, {workers[0]} GPUs of each" + (", priorities 1 to 8" if skewed else "")
    return of_jobs(name, workers, [s for _, s, _ in chosen], [t for _, _, t in chosen], priority)


def dede_throughputs():
    """Where DeDe's own throughputs are: its repository's `examples/cluster_scheduling/data/simulation_throughputs.npy` (MIT)."""
    return pathlib.Path(os.environ.get("DEDE_THROUGHPUTS", folder() / "dede_throughputs.npy"))


def dede(jobs, seed, drawn):
    """`jobs` on DeDe's ten worker types: its cluster for every 512 jobs.

    Throughputs are DeDe's (types x jobs x scale factors 1, 2, 4, 8, 16, 32), or `drawn`: a job of Gavel's, which on worker type k makes what
    it makes on one of Gavel's GPU types, times a number between 1/2 and 2, and on one type in five nothing.
    """
    with open(folder() / "dede_cluster_spec.json") as file:
        spec = json.load(file)
    workers = np.ceil(np.array([spec[kind] for kind in sorted(spec)]) * jobs / 512)
    rng = np.random.default_rng(seed)
    if drawn:
        types = gavel_types()
        chosen = rng.integers(len(types), size=jobs)
        alike = rng.integers(len(GPUS), size=len(workers))
        throughput = np.array([types[job][2] for job in chosen])[:, alike]
        throughput = throughput * 2 ** rng.uniform(-1, 1, throughput.shape) * (rng.random(throughput.shape) > 0.2)
        throughput[throughput.sum(axis=1) == 0] = 1.0
        scale = np.array([types[job][1] for job in chosen])
    else:
        measured = np.load(dede_throughputs())
        runs = np.argwhere((measured > 0).any(axis=0))
        chosen = runs[rng.integers(len(runs), size=jobs)]
        throughput, scale = measured[:, chosen[:, 0], chosen[:, 1]].T, 2.0 ** chosen[:, 1]
    name = f"DeDe's ten worker types, {jobs} jobs, " + ("throughputs drawn from Gavel's" if drawn else "its throughputs")
    return of_jobs(name, workers, scale, throughput, np.ones(jobs))


def instance(problem, words):
    """What fairplan reads."""
    resources, rates = words["resources"], words["rates"]
    amounts = lambda row: "{" + ", ".join(f'"{r}": {decimal(a)}' for r, a in zip(resources, row)) + "}"
    classes = [f'    {{"id": "type-{l}", "count": 1, "capacity": {amounts(row)}}}' for l, row in enumerate(problem.capacity)]
    users = []
    for user in range(problem.users):
        runs = [l for l in range(problem.classes) if rates[user, l] > 0]
        told = ", ".join(f'"type-{l}": {decimal(rates[user, l])}' for l in runs)
        where = "" if len(runs) == problem.classes else ', "eligible": [' + ", ".join(f'"type-{l}"' for l in runs) + "]"
        users.append(
            f'    {{"id": "job-{user}", "demand": {amounts(problem.demand[user])}, "weight": {decimal(words["weight"][user])}, '
            f'"tasks": {words["tasks"]}{where}, "rates": {{{told}}}}}'
        )
    return (
        '{\n  "format": "fairplan.instance.v1",\n  "name": ' + json.dumps(problem.name)
        + ',\n  "resources": ' + json.dumps(resources)
        + ',\n  "server_classes": [\n' + ",\n".join(classes) + '\n  ],\n  "users": [\n' + ",\n".join(users) + "\n  ]\n}\n"
    )


def generated(command, words, name):
    """A population of fairplan's own generator, read back from its file: the instance as text, and the common form."""
    text = subprocess.run([command, "-q", "generate", *words], check=True, capture_output=True, text=True).stdout
    file = json.loads(text)
    resources, classes, users = file["resources"], file["server_classes"], file["users"]
    capacity = np.array([[c["count"] * c["capacity"].get(r, 0) for r in resources] for c in classes], float)
    demand = np.array([[u["demand"].get(r, 0) for r in resources] for u in users], float)
    share = (demand / capacity.sum(axis=0)).max(axis=1)
    worth = np.empty((len(users), len(classes)))
    for row, user in enumerate(users):
        eligible, rates = user.get("eligible"), user.get("rates", {})
        for column, c in enumerate(classes):
            may = eligible is None or c["id"] in eligible
            worth[row, column] = may * rates.get(c["id"], 1) * share[row] / user.get("weight", 1)
    limit = np.array([user.get("tasks", np.inf) for user in users], float)
    # In numbers near 1: resources in parts of the cluster, levels in n-ths of it, and so many tasks that they are an n-th of it.
    tasks = 1 / (share * len(users))
    total = capacity.sum(axis=0)
    worth = worth * len(users) * tasks[:, None]
    return Problem(name, demand / total * tasks[:, None] * len(users), capacity / total * len(users), worth, limit / tasks, tasks), text


FAMILIES = {
    "gavel": "Gavel's jobs, a quarter of a GPU of each type for a job",
    "gavel-priorities": "the same with priorities 1, 2, 4 and 8, as Soroush has it",
    "gavel-room": "Gavel's jobs, a GPU of each type for a job: most jobs are held by their own time, on many levels",
    "dede": "DeDe's cluster of ten worker types, with its throughputs",
    "dede-drawn": "the same cluster, with throughputs drawn from Gavel's",
    "population": "`fairplan generate population --kind zeros`: Google's ten classes, CPU and memory, no limits",
}


def made(family, jobs, seed, command):
    """A problem of a family, and its instance as text."""
    if family == "population":
        words = ["population", "--kind", "zeros", "--users", str(jobs), "--seed", str(seed)]
        return generated(command, words, f"fairplan's population, {jobs} users")
    if family in ("dede", "dede-drawn"):
        problem, words = dede(jobs, seed, family == "dede-drawn")
    else:
        problem, words = gavel(jobs, seed, family == "gavel-priorities", 1 if family == "gavel-room" else 0.25)
    return problem, instance(problem, words)


def main():
    parser = argparse.ArgumentParser(description="Write a problem of a peer as an instance of fairplan")
    parser.add_argument("family", choices=FAMILIES)
    parser.add_argument("--jobs", type=int, default=512)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--fairplan", default=os.environ.get("FAIRPLAN", "target/release/fairplan"))
    parser.add_argument("-o", "--output", required=True, help="the instance; the same for the peers beside it, as .npz")
    asked = parser.parse_args()
    problem, text = made(asked.family, asked.jobs, asked.seed, asked.fairplan)
    path = pathlib.Path(asked.output)
    path.write_text(text)
    problem.save(path.with_suffix(".npz"))


if __name__ == "__main__":
    main()
