"""Peers that are linear programs, stated in cvxpy as their papers describe them, and solved by open solvers.

Gavel's max-min fairness (Narayanan et al., OSDI 2020, Sec. 4.1) and water-filling (Sec. 4.3), POP (Narayanan et al., SOSP 2021, Sec. 3),
the equi-depth binner of Soroush (Namyar et al., NSDI 2024, Sec. 3.3). Our implementations, not the authors' code. Gavel's ran with ECOS and
GLPK, Soroush's with Gurobi; here it is HiGHS and Clarabel.
"""

import cvxpy as cp
import numpy as np
import scipy.optimize
import scipy.sparse

import waterfillers


def bounds(problem, x):
    """What every allocation keeps."""
    rows = [x.T @ problem.demand <= problem.capacity]
    limited = np.flatnonzero(np.isfinite(problem.limit))
    if len(limited) == problem.users:
        rows.append(cp.sum(x, axis=1) <= problem.limit)
    elif len(limited):
        rows.append(cp.sum(x[limited], axis=1) <= problem.limit[limited])
    return rows


def solved(program, solver, **settings):
    program.solve(solver=solver, **settings)
    if program.status not in (cp.OPTIMAL, cp.OPTIMAL_INACCURATE):
        raise RuntimeError(f"{solver} says {program.status}")


def max_min(problem, solver):
    """Gavel's policy: the smallest level as large as possible, and nothing said of the others."""
    x = cp.Variable(problem.worth.shape, nonneg=True)
    level = cp.sum(cp.multiply(problem.worth, x), axis=1)
    solved(cp.Problem(cp.Maximize(cp.min(level)), bounds(problem, x)), solver)
    return x.value


def water_filling(problem, solver):
    """Gavel's water-filling: raise all that can still rise, find who cannot by an integer program, hold them, go on.

    The constants of that program (a margin of 1.0001, and 1e-5) are Gavel's. Where it has no solution, everybody is held, as there.
    """
    margin, below = 1.0001, 1e-5
    users, big = problem.users, float(problem.worth.max())
    x = cp.Variable(problem.worth.shape, nonneg=True)
    level = cp.sum(cp.multiply(problem.worth, x), axis=1)
    reached, rises = cp.Parameter(users, nonneg=True), cp.Parameter(users, nonneg=True)
    step = cp.Variable(nonneg=True)
    raising = cp.Problem(cp.Maximize(step), bounds(problem, x) + [level >= reached + rises * step])
    y, can = cp.Variable(problem.worth.shape, nonneg=True), cp.Variable(users, boolean=True)
    above = cp.sum(cp.multiply(problem.worth, y), axis=1)
    finding = cp.Problem(
        cp.Maximize(cp.sum(can)),
        bounds(problem, y)
        + [big * can >= above - margin * reached + below, big * (1 - can) >= margin * reached - above, above >= reached, can <= rises],
    )
    reached.value, rises.value, best = np.zeros(users), np.ones(users), None
    while rises.value.any():
        try:
            solved(raising, solver)
        except (RuntimeError, cp.SolverError):
            break
        best = x.value
        reached.value = reached.value + rises.value * float(step.value)
        try:
            solved(finding, cp.HIGHS)
            still = rises.value * (can.value > 0.5)
        except (RuntimeError, cp.SolverError):
            still = np.zeros(users)
        if (still == rises.value).all():
            break
        rises.value = still
    return best


def pop(problem, solver, parts, seed=1):
    """POP: users into so many parts at random, each with that part of every class, and Gavel's program in each apart."""
    part = np.random.default_rng(seed).permutation(problem.users) % parts
    x = np.zeros(problem.worth.shape)
    for number in range(parts):
        mine = part == number
        x[mine] = max_min(problem.of_part(mine, parts), solver)
    return x


def equi_depth_binner(problem, solver, bins=5, rounds=2, least_weight=1e-6, least_slack=1e-4):
    """Soroush's: users in bins by the levels of its adaptive water-filler; one program that holds the bins in that order."""
    order = np.argsort(waterfillers.levels(problem, waterfillers.adaptive(problem, rounds)), kind="stable")
    depth = -(-problem.users // bins)
    bins = -(-problem.users // depth)
    bin_of = np.arange(problem.users) // depth
    weight = least_weight ** (np.arange(bins) / max(bins - 1, 1))
    slack = least_slack ** (np.arange(bins - 1, 0, -1) / max(bins - 1, 1))
    x, border = cp.Variable(problem.worth.shape, nonneg=True), cp.Variable(bins - 1)
    level = cp.sum(cp.multiply(problem.worth, x), axis=1)[order]
    last = depth * (bins - 1)
    rows = bounds(problem, x) + [
        border[:-1] <= border[1:],
        level[depth:] >= border[bin_of[depth:] - 1],
        level[:last] <= border[bin_of[:last]] + slack[bin_of[:last]],
    ]
    solved(cp.Problem(cp.Maximize(weight[bin_of] @ level), rows), solver)
    return x.value


def by_levels(problem):
    """The lexicographic optimum by HiGHS alone, without cvxpy: a program a level, in which whoever has a multiplier is held from then on.

    Not a published system, but what one would write who wants the optimum; our independent reference at small sizes.
    """
    users, classes = problem.worth.shape
    runs = np.argwhere(problem.worth > 0)
    user, kind = runs[:, 0], runs[:, 1]
    columns = np.arange(len(runs))
    rows, right = [], []
    for resource in range(problem.demand.shape[1]):
        rows.append(scipy.sparse.csr_array((problem.demand[user, resource], (kind, columns)), (classes, len(runs))))
        right.append(problem.capacity[:, resource])
    limited = np.isfinite(problem.limit)
    rows.append(scipy.sparse.csr_array((np.ones(len(runs)), (user, columns)), (users, len(runs)))[limited])
    right.append(problem.limit[limited])
    above = scipy.sparse.vstack(rows)
    level = scipy.sparse.csr_array((problem.worth[user, kind], (user, columns)), (users, len(runs)))
    held, final = np.zeros(users, bool), np.zeros(users)
    while True:
        # level - rises * t >= final of those who are held, and 0 of the others.
        t = scipy.sparse.csr_array((~held).astype(float)[:, None])
        matrix = scipy.sparse.vstack([
            scipy.sparse.hstack([above, scipy.sparse.csr_array((above.shape[0], 1))]),
            scipy.sparse.hstack([-level, t]),
        ])
        bound = np.concatenate([*right, -final * (1 - 1e-9) * held])
        answer = scipy.optimize.linprog(np.append(np.zeros(len(runs)), -1.0), matrix, bound, method="highs")
        if answer.status != 0:
            raise RuntimeError(f"HiGHS says {answer.message}")
        multiplier = -answer.ineqlin.marginals[-users:]
        now = ~held & (multiplier > 1e-9)
        final[now] = answer.x[-1]
        held |= now
        if held.all() or not now.any():
            x = np.zeros(problem.worth.shape)
            x[user, kind] = answer.x[:-1]
            return x


def by_levels_merged(problem):
    """The same with users that are alike as one, each then having an equal part: what the jobs of a table of few types come down to."""
    alike = np.column_stack([problem.demand, problem.worth, problem.limit])
    _, chosen, kind, count = np.unique(alike, axis=0, return_index=True, return_inverse=True, return_counts=True)
    kind = kind.ravel()
    few = type(problem)(
        problem.name, problem.demand[chosen], problem.capacity, problem.worth[chosen] / count[:, None],
        problem.limit[chosen] * count, problem.tasks[chosen],
    )
    return by_levels(few)[kind] / count[kind][:, None]
