#!/usr/bin/env python3
"""Checks a fairplan.solution.v1 file against its fairplan.instance.v1 file in exact fractions.

    check_solution.py instance.json solution.json

Prints one line, `ok ...` (exit status 0) or `FAIL ...` (1). Written from the mathematics alone: for prices p >= 0
let c_i = min over usable classes of sum_r D_ir p_lr / rate, the least price of a unit of work. Any allocation pays at
most C.p, so of the users A that may still rise none is kept from a weighted share above
(C.p - sum_F c_i work_i) / sum_A c_i w_i / delta_i, when the users F keep their work. Where a user has few tasks, which do
more work on some classes than on others, its work costs a convex function of it: a tangent takes the place of c_i work_i.
"""
import json
import sys
from fractions import Fraction

GAP, SHARE_OF_POOL = Fraction(1, 10**9), Fraction(1, 10**6)
JUST_ABOVE = Fraction(1.0 + 1e-9)


class Wrong(Exception):
    pass


def need(condition, what):
    if not condition:
        raise Wrong(what)


def near(stated, computed, what):
    need(abs(stated - computed) <= GAP * max(abs(stated), abs(computed)),
         f"{what}: {float(stated)!r} is stated, {float(computed)!r} is computed")


def read(path, number):
    def constant(text):
        raise Wrong(f"{path}: {text}")

    def distinct(pairs):
        need(len(dict(pairs)) == len(pairs), f"{path}: duplicate key among {[key for key, _ in pairs]}")
        return dict(pairs)

    with open(path, encoding="utf-8") as file:
        return json.load(file, parse_float=number, parse_int=number, parse_constant=constant,
                         object_pairs_hook=distinct)


def floor(x):
    """x rounded down to a multiple of 2^-300: sums of unrounded fractions grow without end."""
    return Fraction((x.numerator << 300) // x.denominator, 1 << 300)


def line(user, price, work):
    """A lower bound `slope * work - intercept` on what this user's work costs, as high as can be just above `work`."""
    cost = {l: sum(d * price.get((l, r), 0) for r, d in user["needs"].items()) for l in user["usable"]}
    if not user["limited"]:
        return min(cost[l] / user["rate"][l] for l in cost), 0
    if user["tasks"] == 0:
        return 0, 0
    at, slope = (Fraction(0), Fraction(0)), Fraction(0)
    points = [(user["rate"][l], cost[l]) for l in cost]
    while at[0] <= work / user["tasks"] and any(rate > at[0] for rate, _ in points):
        slope, rate, height = min(((c - at[1]) / (rate - at[0]), -rate, c) for rate, c in points if rate > at[0])
        at = (-rate, height)
    return slope, user["tasks"] * (slope * at[0] - at[1])


def check(instance, solution):
    need(instance["format"] == "fairplan.instance.v1", "not an instance")
    need(solution["format"] == "fairplan.solution.v1" and solution["objective"] == "drfh", "not a DRFH solution")
    resources, classes, users = instance["resources"], instance["server_classes"], instance["users"]
    for name, ours, theirs in [("class", classes, solution["server_classes"]), ("user", users, solution["users"])]:
        need([x["id"] for x in ours] == [x["id"] for x in theirs], f"the {name} ids differ")
    capacity = {(l["id"], r): l["count"] * l["capacity"].get(r, 0) for l in classes for r in resources}
    total = {r: sum(capacity[l["id"], r] for l in classes) for r in resources}
    load = dict.fromkeys(capacity, Fraction(0))
    levels = solution["certificate"]["levels"]

    for user, said in zip(users, solution["users"]):
        demand = {r: d for r, d in user["demand"].items() if d > 0}
        shares = {r: d / total[r] for r, d in demand.items()}
        rate = {l["id"]: user.get("rates", {}).get(l["id"], Fraction(1)) for l in classes}
        usable = [l["id"] for l in classes if l["id"] in user.get("eligible", rate)
                  and all(capacity[l["id"], r] > 0 for r in demand)]
        tasks = work = Fraction(0)
        for put in said["placement"]:
            need(put["tasks"] >= 0 and put["class"] in usable, f"user {user['id']}: {put}")
            tasks, work = tasks + put["tasks"], work + put["tasks"] * rate[put["class"]]
            for r in demand:
                load[put["class"], r] += put["tasks"] * demand[r]
        delta, weight = max(shares.values()), user.get("weight", Fraction(1))
        cap = delta * user["tasks"] * max([rate[l] for l in usable], default=0) / weight if "tasks" in user else None
        cap = cap if usable else Fraction(0)
        limited = "tasks" in user and len({rate[l] for l in usable}) > 1
        need("tasks" not in user or tasks <= user["tasks"], f"user {user['id']} has more tasks than there are")
        near(said["tasks"], tasks, f"tasks of user {user['id']}")
        near(said["dominant_share"], delta * work, f"dominant share of user {user['id']}")
        need(shares.get(said["dominant_resource"]) == delta, f"dominant resource of user {user['id']}")
        user.update(needs=demand, usable=usable, rate=rate, work=work, share=delta * work, delta=delta, weight=weight,
                    weighted=delta * work / weight, cap=cap, level=int(said["level"]), limit=said["limited_by"],
                    limited=limited, running=tasks)

    for l, r in capacity:
        need(load[l, r] <= capacity[l, r], f"class {l} is overloaded in {r}")
    utilizations = {(l["id"], r): l["utilization"].get(r, 0) for l in solution["server_classes"] for r in resources}
    for (l, r), stated in utilizations.items():
        near(stated, load[l, r] / capacity[l, r] if capacity[l, r] else 0, f"{r} utilization of class {l}")
    for r in resources:
        used = sum(load[l["id"], r] for l in classes)
        near(solution["utilization"].get(r, 0), used / total[r] if total[r] else 0, f"utilization of {r}")

    values = [level["value"] for level in levels]
    for user in users:
        k, limit, weighted, cap, who = (user[key] for key in ("level", "limit", "weighted", "cap", "id"))
        need(0 <= k <= len(levels) and limit in ("capacity", "tasks", "no-usable-class"), f"user {who}: {k}, {limit}")
        need((limit == "no-usable-class") == (not user["usable"]), f"user {who} has usable classes {user['usable']}")
        if limit == "capacity":
            need(k < len(levels), f"user {who} is held by no level")
            near(values[k], weighted, f"weighted share of user {who}")
        elif limit == "tasks":
            need(cap is not None and user["running"] >= user["tasks"] * (1 - GAP), f"user {who} has tasks left")
            need(k == len(levels) or weighted <= values[k] * (1 + GAP), f"user {who} has more than level {k}")
            need(k == 0 or weighted >= values[k - 1] * (1 - GAP), f"user {who} belongs to a level before {k}")
            user["done"] = weighted >= cap * (1 - GAP)

    bounds, worst = [], Fraction(0)
    for k, level in enumerate(levels):
        price = {(one["class"], r): p for one in level["prices"] for r, p in one["price"].items()}
        need(all(p >= 0 for p in price.values()) and price.keys() <= capacity.keys(), f"prices of level {k}")
        need(k == 0 or level["value"] >= values[k - 1] * (1 - GAP), f"level {k} is below level {k - 1}")
        left, scale, achieved, held = sum(capacity[at] * p for at, p in price.items()), Fraction(0), [], []
        moving = []
        for user in users:
            if user["limit"] == "no-usable-class":
                continue
            frozen = user["level"] < k or user["level"] == k and user["limit"] == "tasks"
            at_level = level["value"] * JUST_ABOVE * user["weight"] / user["delta"]
            cost, lent = line(user, price, user["work"] if frozen else at_level)
            left += lent
            if frozen:
                left -= floor(cost * user["work"])
            else:
                if user["limit"] == "tasks" and not user["done"]:
                    own, own_lent = line(user, price, user["work"] * JUST_ABOVE)
                    counted = cost * user["weight"] / user["delta"]
                    moving.append((user, own / user["delta"], own * user["work"] - own_lent, counted, lent))
                scale += floor(cost * user["weight"] / user["delta"])
                achieved.append(user["weighted"])
                if user["level"] == k:
                    held.append((cost / user["delta"], user))
        need(held and scale > 0, f"level {k} holds nobody")
        bound, slack = left / scale, left - min(achieved) * scale
        near(scale, Fraction(1), f"scale of the prices of level {k}")
        near(level["bound"], bound, f"bound of level {k}")
        need(bound - min(achieved) <= GAP * bound, f"gap of level {k}")
        for y, user in held:
            rest = SHARE_OF_POOL * max(1, user["share"])
            done = user["cap"] is not None and user["cap"] * user["weight"] - user["share"] <= rest
            need(done or slack <= rest * y, f"user {user['id']} is frozen on level {k} but could have more")
        for user, y, paid, counted, lent in moving:
            room = slack + counted * min(achieved) - lent - paid
            user["done"] = user["done"] or room <= SHARE_OF_POOL * max(1, user["share"]) * y
        bounds.append(bound)
        worst = max(worst, 1 - min(achieved) / bound)

    for user in users:
        need(user.get("done", True), f"user {user['id']} could do more with its tasks elsewhere")
    value = min(user["weighted"] for user in users)
    limits = [user["cap"] for user in users if user["cap"] is not None]
    if bounds and not any(user["limit"] == "tasks" and user["level"] == 0 for user in users):
        limits.append(bounds[0])
    certificate = solution["certificate"]
    for stated, computed, what in [(solution["value"], value, "value"), (certificate["primal"], value, "primal"),
                                   (certificate["dual"], min(limits), "dual")]:
        near(stated, computed, what)
    need(min(limits) - value <= GAP * min(limits), "gap of the value")
    return f"value {float(value):.12g}, {len(levels)} levels, largest gap {float(worst):.1e}"


def main():
    try:
        instance = read(sys.argv[1], Fraction)
        print("ok", check(instance, read(sys.argv[2], lambda text: Fraction(float(text)))))
    except (Wrong, ArithmeticError, AttributeError, IndexError, KeyError, OSError, TypeError, ValueError) as wrong:
        print("FAIL", type(wrong).__name__, wrong)
        sys.exit(1)


if __name__ == "__main__":
    main()
