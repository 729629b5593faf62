"""Soroush's approximate and adaptive water-fillers (Namyar et al., NSDI 2024, Sec. 3.2), as the paper describes them.

Our implementation in numpy, not the authors' code. A user on a class is a sub-user that is filled by itself: `x = part * claim * fill`,
where the claim of a user is what gives it level 1 if it is spread over the classes as the cluster is (priority over scale factor, for
Gavel's jobs), and the parts of a user add up to 1. Rows (resources of a class; a user's tasks) are taken once, in the order of the fill that
each would allow alone; a row that is overdrawn takes from those of its sub-users that have most. That is the approximate water-filler. The
adaptive one does it again with parts as the levels came out, so many times; its allocations always fit.
"""

import numpy as np


def levels(problem, x):
    return (problem.worth * x).sum(axis=1)


def one_row(fill, use, room):
    """The fills cut at one height, so that `sum use * fill` is `room`."""
    if use @ fill <= room:
        return fill
    order = np.argsort(fill)
    sorted_fill, sorted_use = fill[order], use[order]
    below = np.concatenate([[0.0], np.cumsum(sorted_fill * sorted_use)[:-1]])
    rest = np.cumsum(sorted_use[::-1])[::-1]
    height = (room - below) / rest
    return np.minimum(fill, height[np.argmax(height <= sorted_fill)])


def many_rows(fill, use, room):
    """The same for rows of a few sub-users each, all at once."""
    order = np.argsort(fill, axis=1)
    sorted_fill, sorted_use = np.take_along_axis(fill, order, 1), np.take_along_axis(use, order, 1)
    below = np.cumsum(sorted_fill * sorted_use, axis=1) - sorted_fill * sorted_use
    rest = np.cumsum(sorted_use[:, ::-1], axis=1)[:, ::-1]
    height = np.divide(room[:, None] - below, rest, out=np.full(fill.shape, np.inf), where=rest > 0)
    column = np.argmax(height <= sorted_fill, axis=1)
    height = np.take_along_axis(height, column[:, None], 1)
    over = (use * fill).sum(axis=1) > room
    return np.where(over[:, None], np.minimum(fill, height), fill)


def filled(problem, part):
    """One pass over all rows."""
    runs = problem.worth > 0
    for_one = np.where(runs, part, 0.0) * claims(problem)[:, None]
    limited = np.isfinite(problem.limit)
    with np.errstate(divide="ignore", invalid="ignore"):
        of_user = np.where(limited, problem.limit / for_one.sum(axis=1), np.inf)
        of_class = problem.capacity / (for_one.T @ problem.demand)
    order = sorted((share, l, r) for (l, r), share in np.ndenumerate(of_class) if np.isfinite(share))
    # Nothing holds a sub-user but its rows; the best it can have of its class and tasks stands in for infinity.
    fill = np.full(part.shape, order[-1][0] * problem.users)
    fill = np.where(runs & (part > 0), fill, 0.0)
    done = -np.inf
    for share, l, r in [*order, (np.inf, None, None)]:
        rows = np.flatnonzero(limited & (of_user > done) & (of_user <= share))
        fill[rows] = many_rows(fill[rows], for_one[rows], problem.limit[rows])
        if l is not None:
            fill[:, l] = one_row(fill[:, l], for_one[:, l] * problem.demand[:, r], problem.capacity[l, r])
        done = share
    return fill * for_one


def claims(problem):
    """For each user the tasks, spread as the cluster is, that make its level 1."""
    size = (problem.capacity / problem.capacity.sum(axis=0)).mean(axis=1)
    return 1 / (problem.worth @ size)


def first_parts(problem):
    """Parts in proportion to what a task is worth on each class."""
    return problem.worth / problem.worth.sum(axis=1, keepdims=True)


def approximate(problem):
    return filled(problem, first_parts(problem))


def adaptive(problem, rounds):
    part = first_parts(problem)
    for _ in range(rounds):
        x = filled(problem, part)
        level = levels(problem, x)
        part = np.divide(problem.worth * x, level[:, None], out=part.copy(), where=level[:, None] > 0)
    return x
