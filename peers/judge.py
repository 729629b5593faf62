"""How good an allocation is, computed from the problem and the allocation alone, the same for everybody."""

import numpy as np

# Levels that differ by less, as a part of the optimum's, are the same: what solvers with tolerances can be held to.
SAME = 1e-6


def usage(problem, x):
    """What is used of each class and of each user's tasks, as parts of what there is; infinite for use of what is not there."""
    with np.errstate(divide="ignore", invalid="ignore"):
        of_class = np.nan_to_num((x.T @ problem.demand) / problem.capacity, nan=0.0, posinf=np.inf)
        of_user = x.sum(axis=1) / problem.limit
    return of_class, of_user


def violation(problem, x):
    """The worst: by which part a row is overdrawn, or how far below 0 an entry is."""
    of_class, of_user = usage(problem, x)
    return max(of_class.max() - 1, of_user.max() - 1, -x.min(), 0.0)


def made_feasible(problem, x):
    """The allocation scaled down until it fits: each entry by what its class, then its user, is overdrawn.

    Nothing else is done with it: what is given back is given to nobody.
    """
    x = np.where(problem.worth > 0, np.maximum(x, 0.0), 0.0)
    of_class, _ = usage(problem, x)
    x = x / np.maximum(of_class.max(axis=1), 1.0)
    _, of_user = usage(problem, x)
    return x / np.maximum(of_user, 1.0)[:, None]


def levels(problem, x):
    return (problem.worth * x).sum(axis=1)


def judged(problem, x, optimum):
    """An allocation beside the sorted levels of the optimum.

    `first`: the position (from 1) and the size, as a part of the optimum's level there, of the first difference of the sorted levels;
    negative where the optimum has more. `largest`: the largest difference by size.
    """
    found = np.sort(levels(problem, made_feasible(problem, x)))
    apart = (found - optimum) / optimum
    where = np.flatnonzero(np.abs(apart) > SAME)
    first = (int(where[0]) + 1, float(apart[where[0]])) if len(where) else None
    return {
        "violation": float(violation(problem, x)),
        "smallest": float(levels(problem, x).min()),
        "smallest_feasible": float(found[0]),
        "first": first,
        "largest": float(np.abs(apart).max()),
        "of_smallest": float(1 - found[0] / optimum[0]),
    }
