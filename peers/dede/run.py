"""DeDe's own package (Xu et al., OSDI 2025; `dede` on PyPI, MIT) on one problem: python peers/dede/run.py PROBLEM.npz ANSWER.npz.

It has an environment of its own, since it asks for older packages than the other peers. Its interface takes sums as objectives, so max-min
is stated as its cluster example does it: each user has a copy of the smallest level, the copies are equal as one more resource, and their
sum is what grows. `rho` is an eighth of the number of users: on 64 of Gavel's jobs, of 1, an eighth and all of them, that came closest; its
iterations are the 100 of that example, which come closer than its rule of less than 1% better. What it returns is the copy of the
allocation that its users solved for; `judge.py` scales it down where it does not fit.
"""

import sys
import time

import dede
import numpy as np
import ray


def main(source, target):
    with np.load(source) as file:
        demand, capacity, worth, limit = (file[name] for name in ("demand", "capacity", "worth", "limit"))
    users, classes = worth.shape
    # It pickles expressions that are as deep as there are users.
    sys.setrecursionlimit(100000)
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    start = time.perf_counter()
    # Rows are classes, the last one the copies of the smallest level.
    x = dede.Variable((classes + 1, users), nonneg=True)
    of_classes = [x[l, :] @ demand[:, r] <= capacity[l, r] for l in range(classes) for r in range(demand.shape[1])]
    of_classes += [x[classes, i] - x[classes, i + 1] == 0 for i in range(users - 1)]
    of_users = [x[classes, i] - worth[i] @ x[:classes, i] <= 0 for i in range(users)]
    of_users += [x[:classes, i].sum() <= limit[i] for i in range(users) if np.isfinite(limit[i])]
    problem = dede.Problem(dede.Maximize(x[classes, :].sum()), of_classes, of_users)
    problem.solve(num_cpus=2, rho=users / 8, num_iter=100, solver=dede.CLARABEL)
    # Solutions lie in the order of the subproblems; their places say which entry each is.
    probs = problem._subprob_cache.probs
    places = [place for prob in probs for place in ray.get(prob.get_solution_idx_d.remote())]
    answer = np.zeros((classes + 1) * users)
    for (_, place), value in zip(places, problem.sol_d):
        answer[place] = value
    seconds = time.perf_counter() - start
    # cvxpy lies entries column by column.
    np.savez(target, x=answer.reshape(users, classes + 1)[:, :classes], seconds=seconds, processor=np.nan)


if __name__ == "__main__":
    main(*sys.argv[1:])
