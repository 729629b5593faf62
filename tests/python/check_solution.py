#!/usr/bin/env python3
"""Checks a fairplan.solution.v1 file against its fairplan.instance.v1 file in exact fractions.

    check_solution.py instance.json solution.json
    check_solution.py - < pairs-of-files-a-line-with-a-tab-between

Prints one line for each, `ok ...` (exit status 0 of the first form) or `FAIL ...` (1). Written from the mathematics alone: for prices p >= 0
let c_i = min over usable classes of sum_r D_ir p_lr / rate, the least price of a unit of work. Any allocation pays at
most C.p, so of the users A that may still rise none is kept from a weighted share above
(C.p - sum_F c_i work_i) / sum_A c_i w_i / delta_i, when the users F keep their work. Where a user has few tasks, which do
more work on some classes than on others, its work costs a convex function of it: a tangent takes the place of c_i work_i.
A sum of utilities w U(G) is at most C.p + sum_i (z_i T_i + max_G (w_i U(G) - y_i G)) for any prices z_i >= 0 of a task,
y_i = min over usable classes of (sum_r D_ir p_lr / delta_i + z_i) / rate, with z_i T_i in shares.
Over groups a level t at the root gives everybody a share S_i(t), by weights from the root down: none is possible at which
sum_i y_i S_i(t) > C.p, when those who are held keep what they have.
A limit of a group or a user is a capacity too: C.p counts it at its price, and y_i the prices of the limits above a user that cover
the class. A reserve is a limit of all others, of what there is besides. What is guaranteed is a floor of S_i(t), whatever the level.
What a group is guaranteed its members would divide if they were alone with that as its limit: that division is checked as any other is, and
what each has there is its floor.
An allocation that is defined by what holds each user is held against the definition. Knows drfh, tsf, drf, drf-per-server,
bmf, pf, alpha=A and utilitarian.
What a result states in fractions is checked once more, without any tolerance (see `exactly`); of users in groups only that it fits.
It does not look at what follows from the rest, or says how it was found: prices of classes and of limits beside those of the levels, price_groups,
relative_gap of levels, the level of a user, what waits, which guarantees are kept, solver, warnings. `fairplan verify` does.
"""
import copy
import json
import sys
from decimal import Decimal, getcontext
from fractions import Fraction

sys.dont_write_bytecode = True
import hidden
from hidden import decimal

# A part of the value; of what a user has (but at most of a share of MEASURED), what prices or what is idle may leave it to gain; of a
# capacity, nothing.
GAP, GAIN, IDLE, NOTHING = Fraction(1, 10**9), Fraction(1, 10**2), Fraction(1, 10**6), Fraction(1, 10**13)
MEASURED, ALL = Fraction(1, 10**4), Fraction(1, 10**3)  # The share that gains are measured by at most; tasks not run.
ALL_RUN = GAP / 10  # Of tasks: who lacks no more is held by them, not by capacity.
# The part of all worth that is rounding, and of the highest price, each for all there is, from which a price is clear.
ROUNDED, CLEARLY = Fraction(1, 10**12), Fraction(1, 10**3)
JUST_ABOVE = Fraction(1.0 + 1e-9)
# What a user of a sum may miss of what it would take, and what may be left of what is used up; where nobody needs anything.
OWN, MILLIONTH, LEAST_PRICE = Decimal("0.01"), Decimal("0.000001"), Decimal("1e-200")
# Of that, what a user may take at once of what is idle (but for rounding, a part of the capacity) or clearly above its level.
TAKEN, ROUNDED_IDLE, CLEARLY_ABOVE = Fraction(1, 10**3), Fraction(1, 10**11), Fraction(2, 10**6)
HIDDEN = Fraction(1, 10**9)  # Of the cluster: who has more does not hide in rounding.
PRICED = ("capacity", "limit")  # What holds a user by prices.


class Wrong(Exception):
    pass


class Unstated:
    """Stands for what is not stated: of the division of what a group is guaranteed there is only the proof."""


class Alone:
    """Of what such a division states the key under which its group is, which no file can have."""


def need(condition, what):
    if not condition:
        raise Wrong(what)


def near(stated, computed, what):
    if stated is Unstated:
        return
    need(stated is not None, f"{what}: null is stated, {float(computed)!r} is computed")
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
    costs = [{l: sum(d * price.get((l, r), 0) for r, d in needs.items()) for l in usable} for needs, usable in user["kinds"]]
    for at, row in user["rows"].items():
        for (needs, _), cost in zip(user["kinds"], costs):
            for l in cost:
                cost[l] += needs.get(row["resource"], 0) * price.get(at, 0) if l in row["classes"] else 0
    cost = costs[0]
    if not user["limited"]:
        return sum(min(cost[l] / user["rate"][l] for l in cost) for cost in costs), 0
    if user["tasks"] == 0:
        return 0, 0
    at, slope = (Fraction(0), Fraction(0)), Fraction(0)
    points = [(user["rate"][l], cost[l]) for l in cost]
    while at[0] <= work / user["tasks"] and any(rate > at[0] for rate, _ in points):
        slope, rate, height = min(((c - at[1]) / (rate - at[0]), -rate, c) for rate, c in points if rate > at[0])
        at = (-rate, height)
    return slope, user["tasks"] * (slope * at[0] - at[1])


def rounding_only(user, price, capacity, slack):
    """Whether the slack is rounding, and a kind of this user's, who is tiny, needs something that is clearly priced wherever it can run."""
    if user["share"] > HIDDEN or slack > ROUNDED * sum(capacity[at] * p for at, p in price.items() if at in capacity):
        return False
    total = {}
    for (_, r), amount in capacity.items():
        total[r] = total.get(r, 0) + amount
    highest = max((p * total[at[1]] for at, p in price.items() if at in capacity), default=0)
    clear = {at for at, p in price.items() if at in capacity and p > 0 and p * total[at[1]] >= CLEARLY * highest}
    return any(all(any(d > 0 and (l, r) in clear for r, d in needs.items()) for l in usable) for needs, usable in user["kinds"])


def owners_above(instance):
    """Of each user and group the groups that it is in."""
    parent = {("group", g["id"]): g.get("parent") for g in instance.get("groups", [])}
    parent |= {("user", user["id"]): user.get("group") for user in instance["users"]}
    above = lambda at: [] if parent[at] is None else [("group", parent[at])] + above(("group", parent[at]))
    return {owner: above(owner) for owner in parent}


def too_few_for_reserves(instance, stated, above):
    """By classes and resource: who has too few tasks for what it reserves there, and how much that is."""
    def most(owner, r):
        of = [(user, sum(kind.get("each", 1) * kind["demand"].get(r, 0) for kind in user.get("kinds") or [user]))
              for user in instance["users"] if owner in [("user", user["id"])] + above["user", user["id"]]]
        of = [(user, need) for user, need in of if need]
        return None if any("tasks" not in user for user, _ in of) else sum(user["tasks"] * need for user, need in of)

    found = {}
    for owner, classes, r, amount in stated:
        if (used := most(owner, r)) is not None and used < amount:
            found.setdefault((classes, r), []).append((owner, amount))
    return found


def kept_beside(owner, few, above, within):
    """Of those in a group, or of all, with too few tasks, those whose reserves are kept with that of an owner: none inside another, those that
    reserve most first."""
    kept = {}
    for other, amount in sorted(few, key=lambda one: -one[1]):
        if (within is None or within in above[other]) and not any(one in above[other] or other in above[one] for one in kept):
            kept[other] = amount
    return {other: amount for other, amount in kept.items() if other != owner and other not in above[owner] and owner not in above[other]}


def limit_rows(instance):
    """All limits by position, those of groups first, and of each user those above it."""
    rows, every = {}, [l["id"] for l in instance["server_classes"]]
    above = owners_above(instance)
    of_owner = lambda one, what="reserve": [(None, one.get(what, {}))] + [(frozenset(some["classes"]), some["amounts"]) for some in one.get(what + "s", [])]
    limits = {("group", one["id"]): {(classes, r): amount for classes, amounts in of_owner(one, "limit") for r, amount in amounts.items()}
              for one in instance.get("groups", [])}
    few = too_few_for_reserves(instance, [((kind, one["id"]), classes, r, amount) for kind in ("group", "user") for one in instance.get(kind + "s", [])
                                          for classes, amounts in of_owner(one) for r, amount in amounts.items() if amount], above)
    for kind in ("group", "user"):
        for one in instance.get(kind + "s", []):
            sets = [(every, one.get("limit", {}))] + [(some["classes"], some["amounts"]) for some in one.get("limits", [])]
            for classes, amounts in sets:
                for r in instance["resources"]:
                    if r in amounts:
                        rows["limit", len(rows)] = {"owner": (kind, one["id"]), "classes": set(classes), "resource": r,
                                                    "amount": amounts[r], "every": classes is every}
            sets = [(every, one.get("reserve", {}))] + [(some["classes"], some["amounts"]) for some in one.get("reserves", [])]
            for classes, amounts in sets:
                for r in instance["resources"]:
                    if amounts.get(r):
                        total = sum(l["count"] * l["capacity"].get(r, 0) for l in instance["server_classes"] if l["id"] in classes)
                        owner = kind, one["id"]
                        place = None if classes is every else frozenset(classes), r
                        around = [(group, limits[group][place]) for group in above[owner] if limits[group].get(place, total) < total]
                        for within, most in [(None, total)] + around:
                            beside = kept_beside(owner, few.get(place, []), above, within)
                            # Where no more is left and nobody is there to leave it, that is not asked of anybody.
                            beside = beside if most - amounts[r] - sum(beside.values()) > 0 else {}
                            left = most - amounts[r] - sum(beside.values())
                            if within is None or left > 0:
                                rows["limit", len(rows)] = {"owner": owner, "classes": set(classes), "resource": r, "every": classes is every,
                                                            "amount": left, "reserve": amounts[r], "beside": beside, "within": within}
    for user in instance["users"]:
        owners = {("user", user["id"]), *above["user", user["id"]]}
        user["rows"] = {at: row for at, row in rows.items()
                        if (not owners & {row["owner"], *row["beside"]} and row["within"] in owners | {None} if "reserve" in row
                            else row["owner"] in owners)}
    return rows


def limits_kept(solution, users, rows, load):
    """Whether the limits are those of the instance, and who is held by one is."""
    said = solution.get("limits", [])
    need(Alone in solution or len(said) == len(rows), f"{len(said)} limits are stated")
    for (at, row), stated in zip(rows.items(), said):
        kind, owner = row["owner"]
        need(stated.get(kind) == owner and list(stated["limit"]) == [row["resource"]], f"limit {at[1]} is of {owner}")
        need(row["every"] == ("classes" not in stated) and set(stated.get("classes", row["classes"])) == row["classes"],
             f"classes of limit {at[1]}")
        near(stated["limit"][row["resource"]], row["amount"], f"amount of limit {at[1]}")
        need(("reserve" in row) == ("reserve" in stated), f"limit {at[1]} is a reserve, or is none")
        need((row.get("within") or (None, None))[1] == stated.get("within"), f"group in which limit {at[1]} is kept")
        for what, amount in [("reserve", row.get("reserve", 0)), ("beside", sum(row.get("beside", {}).values()))]:
            near(stated.get(what, {row["resource"]: 0})[row["resource"]], amount, f"{what} of limit {at[1]}")
        near(stated["used"], load[at] / row["amount"], f"used part of limit {at[1]}")
    first = solution["certificate"].get("levels", [])[:1]
    if any(stated["price"] for stated in said) and "levels" in solution["certificate"]:
        for stated, price in zip(said, first[0]["limit_prices"]):
            near(stated["price"], price, "price of a limit")
    for user in users:
        full_for = lambda needs, usable: min((max([load[at] / row["amount"] for at, row in user["rows"].items()
                                                   if "reserve" not in row and l in row["classes"] and row["resource"] in needs], default=0)
                                              for l in usable), default=0)
        full = max(full_for(needs, usable) for needs, usable in user["kinds"]) if user["usable"] else 0
        need(user["held_by"] != "limit" or full >= 1 - Fraction(1, 10**6), f"user {user['id']} is held by no limit")
        need(user["held_by"] != "capacity" or full <= 1 - Fraction(1, 10**8), f"user {user['id']} is held by a limit")


def pooled(instance, solution):
    """The same with all servers as one class, where all tasks run."""
    classes, resources = instance["server_classes"], instance["resources"]
    total = {r: sum(l["count"] * l["capacity"].get(r, 0) for l in classes) for r in resources}
    for user, said in zip(instance["users"], solution["users"]):
        if "kinds" in user:
            need(all(set(kind.get("eligible", [l["id"] for l in classes])) == {l["id"] for l in classes}
                     for kind in user["kinds"]), f"user {user['id']} in a pool")
            user["demand"] = {r: sum(kind["each"] * kind["demand"].get(r, 0) for kind in user["kinds"]) for r in resources}
            del user["kinds"]
        need(set(user.get("eligible", [l["id"] for l in classes])) == {l["id"] for l in classes} and "placement" not in said
             and all(rate == 1 for rate in user.get("rates", {}).values()), f"user {user['id']} in a pool")
        said["placement"] = [{"class": "pool", "tasks": said["tasks"]}]
        user.pop("eligible", None)
        user.pop("rates", None)
    for level in solution["certificate"].get("levels", []):
        prices = [one["price"] for one in level["prices"]]
        need(len(prices) == len(classes) and all(p == prices[0] for p in prices), "a pool has one price a resource")
        level["prices"] = [{"class": "pool", "price": prices[0]}]
    need(all("utilization" not in l for l in solution["server_classes"]), "utilization of classes in a pool")
    instance["server_classes"] = [{"id": "pool", "count": 1, "capacity": total}]
    solution["server_classes"] = [{"id": "pool", "utilization": solution["utilization"]}]


def bottlenecks(instance, solution, users, capacity, load):
    """Whether everybody is held by the largest weighted share of what is used up."""
    resources, worst = instance["resources"], Fraction(0)
    full = {at for at in capacity if capacity[at] and load[at] >= capacity[at] * (1 - GAP)}
    for l in instance["server_classes"]:
        here = [(user, sum(put["tasks"] for put in said["placement"] if put["class"] == l["id"]
                           and user["named"].get(put.get("kind"), 0) == 0))
                for user, said in zip(users, solution["users"]) if l["id"] in user["usable"]]
        part = {(user["id"], r): tasks * user["needs"].get(r, 0) / capacity[l["id"], r] / user["weight"]
                for user, tasks in here for r in resources if capacity[l["id"], r]}
        if solution["objective"] == "drf-per-server":
            largest = {user["id"]: max(part[user["id"], r] for r in user["needs"]) for user, _ in here}
            part = {(who, r): share and largest[who] for (who, r), share in part.items()}
        top = {r: max([part[user["id"], r] for user, _ in here if r in user["needs"]], default=0) for r in resources}
        for user, _ in here:
            tasks = {who["id"]: tasks for who, tasks in here}[user["id"]]
            idle = {r: capacity[l["id"], r] - load[l["id"], r] for r in user["needs"]}
            idle = {r: 0 if x <= NOTHING * capacity[l["id"], r] else x for r, x in idle.items()}
            holds = [1 - part[user["id"], r] / top[r] if top[r] else Fraction(0) for r in user["needs"]
                     if (l["id"], r) in full and idle[r] <= IDLE * tasks * user["needs"][r]]
            need(holds and min(holds) <= GAP, f"nothing holds user {user['id']} on {l['id']}")
            worst = max(worst, min(holds))
    for user in users:
        need(user["held_by"] == ("capacity" if user["usable"] else "no-usable-class"), f"limit of user {user['id']}")
    value = min(user["share"] for user in users)
    for stated in [solution["value"], solution["certificate"]["primal"], solution["certificate"]["dual"]]:
        near(stated, value, "value")
    return f"value {float(value):.12g}, by definition, missed by {float(worst):.1e}"


def is_sum_over_users(objective):
    return objective in ("pf", "utilitarian") or objective.startswith("alpha=")


def utility(alpha, share):
    return share.ln() if alpha == 1 else share ** (1 - alpha) / (1 - alpha)


def most(alpha, weight, y, sure):
    """The most that utility exceeds what it costs, a unit of share costing y: the largest weight U(G) - y G, U' = G^-alpha, over G of at
    least what is sure."""
    if sure and y > weight * sure ** -alpha:
        return weight * utility(alpha, sure) - y * sure
    if alpha == 0 or (alpha <= 1 and y == 0):
        return Decimal(0) if alpha == 0 and y >= weight else Decimal("Infinity")
    if alpha == 1:
        return weight * ((weight / y).ln() - 1)
    return alpha / (1 - alpha) * (weight.ln() / alpha).exp() * (y ** (1 - 1 / alpha) if y else 0)


def best(alpha, user, cost):
    """The least of z T + max_G (w U(G) - y(z) G) over prices z of a task: it is convex, and bends or is flat at one of these."""
    weight, rate = decimal(user["weight"]), {l: decimal(rate) for l, rate in user["rate"].items()}
    if "tasks" not in user:
        return most(alpha, weight, min(cost[l] / rate[l] for l in cost), user["floor"])
    tasks = decimal(user["tasks"] * user["delta"])
    at = [Decimal(0)] + [rate[l] * weight * (tasks * rate[l]) ** -alpha - cost[l] for l in cost]
    at += [(cost[l] * rate[k] - cost[k] * rate[l]) / (rate[l] - rate[k])
           for l in cost for k in cost if rate[l] != rate[k]]
    return min(z * tasks + most(alpha, weight, min((cost[l] + z) / rate[l] for l in cost), user["floor"]) for z in at if z >= 0)


def fill(tree, ceiling, level):
    """What a level at the root gives every user: each child its weight times what its parent gives, at least what it is guaranteed
    and at most its ceiling."""
    def below(node):
        if node in tree["users"]:
            least[node] = min(least[node], ceiling[node]) if ceiling[node] is not None else least[node]
            return ceiling[node], least[node]
        parts = [below(child) for child, _ in tree["children"][node]]
        tops = [part for part, _ in parts]
        top[node], least[node] = None if None in tops else sum(tops, Fraction(0)), sum((part for _, part in parts), Fraction(0))
        return top[node], least[node]

    def between(child, due):
        return max(due, least[child]) if top[child] is None else min(max(due, least[child]), top[child])

    def divide(node, has):
        if node in tree["users"]:
            out[node] = has
            return
        # Of those at one end, who puts the others off by more stays there, whatever the rest get.
        children, left = list(tree["children"][node]), has
        while children:
            each = level if node is None else left / sum(weight for _, weight in children)
            off = {child: between(child, weight * each) - weight * each for child, weight in children}
            up = sum(off.values()) > 0 and node is not None
            done = [child for child, weight in children
                    if (off[child] > 0 if up else off[child] < 0 or top[child] is not None and top[child] <= weight * each)]
            if node is None:
                done = [child for child in off if off[child]]
            for child in done:
                part = least[child] if off[child] > 0 else top[child]
                divide(child, part)
                left = left if left is None else left - part
            children = [(child, weight) for child, weight in children if child not in done]
            if not done:
                break
        for child, weight in children:
            divide(child, weight * each)

    top, least, out = dict(ceiling), dict(tree["floors"]), {}
    below(None)
    divide(None, None)
    return out


def divided(tree, node, has, wants):
    """What a node has as far as its members divide it by their weights, and whether any of them wants more: nobody who wants more
    may have less than its part."""
    if node in tree["users"]:
        return has(tree["users"][node]), wants(tree["users"][node])
    parts = [(weight, sure(tree, child), *divided(tree, child, has, wants)) for child, weight in tree["children"][node]]
    each = min((share / weight for weight, _, share, more in parts if more), default=None)
    if each is None:
        return sum((share for _, _, share, _ in parts), Fraction(0)), False
    return sum((min(share, max(floor, weight * each)) for weight, floor, share, more in parts), Fraction(0)), True


def sure(tree, node):
    """What a node is guaranteed, its members together."""
    if node in tree["users"]:
        return tree["floors"][node]
    return sum((sure(tree, child) for child, _ in tree["children"][node]), Fraction(0))


def sure_on(piece, places, one):
    """The classes that pieces of a kind can use where whatever they need of what somebody is guaranteed anywhere is guaranteed too."""
    stated = [(None, one.get("guarantee", {}))] + [(some["classes"], some["amounts"]) for some in one.get("guarantees", [])]
    needed = [(classes, r) for classes, amounts in stated for r, amount in amounts.items() if amount and piece.get(r)]
    there = lambda l, r: any(r == other and (classes is None or l in classes) for classes, other in needed)
    return [l for l in places if all(there(l, r) for _, r in needed)]


def guaranteed_inside(whole, solution, users):
    """What members of groups that are guaranteed something have when the group is alone with that as its limit."""
    groups = {g["id"]: g for g in whole.get("groups", [])}
    is_sure = lambda one: any(amount for amount in one.get("guarantee", {}).values()) or any(
        amount for some in one.get("guarantees", []) for amount in some["amounts"].values())
    above = lambda at: [] if at is None else [at] + above(groups[at].get("parent"))
    raw = {user["id"]: user for user in whole["users"]}
    members = {}
    for user in users:
        demand = user["needs"]
        # Who needs some of it has a part, on whatever classes; of amounts on some classes who can run there with all its kinds.
        has_part = lambda g: (any(demand.get(r) and amount for amounts in [g.get("guarantee", {})] + [s["amounts"] for s in g.get("guarantees", [])]
                                  for r, amount in amounts.items())
                              and (not g.get("guarantees") or all(sure_on(piece, places, g) for piece, places in user["kinds"])))
        outermost = [g for g in above(user.get("group")) if is_sure(groups[g]) and has_part(groups[g])][-1:]
        for g in outermost:
            members.setdefault(g, []).append(user)
    stated, floors = solution.get("guaranteed_groups", []), {}
    tops = [g for g in groups if g in members]
    need([one["group"] for one in stated] == tops, f"divisions of what {tops} are guaranteed")
    for g, said in zip(tops, stated):
        need([one["id"] for one in said["members"]] == [user["id"] for user in members[g]], f"members of group {g}")
        inside = [copy.deepcopy(one) for one in groups.values() if g in above(one["id"])]
        for one in inside:
            one.pop("reserve", None), one.pop("reserves", None)
            if one["id"] == g:
                one.pop("parent", None)
                sure = one.pop("guarantee", {})
                one["limit"] = one.get("limit", {}) | {r: amount for r, amount in sure.items() if amount}
                one["limits"] = one.get("limits", []) + one.pop("guarantees", [])
        own = []
        for user in members[g]:
            one = copy.deepcopy(raw[user["id"]])
            one.pop("reserve", None), one.pop("reserves", None)
            if groups[g].get("guarantees"):
                for kind, (piece, places) in zip(one.get("kinds", [one]), user["kinds"]):
                    kind["eligible"] = sure_on(piece, places, groups[g])
            own.append(one)
        alone = {key: copy.deepcopy(whole[key]) for key in ("format", "resources", "server_classes")} | {"groups": inside, "users": own}
        divided = {"format": solution["format"], Alone: g, "status": "optimal", "value": Unstated,
                   "objective": "drfh" if is_sum_over_users(solution["objective"]) else solution["objective"],
                   "certificate": {"levels": said["levels"], "primal": Unstated, "dual": Unstated},
                   "users": [{"dominant_resource": Unstated, "dominant_share": Unstated, "tasks": Unstated} | one for one in said["members"]],
                   "server_classes": [{"id": l["id"]} for l in alone["server_classes"]], "utilization": {},
                   "guaranteed_groups": said.get("guaranteed_groups", [])}
        check(alone, divided)
        floors |= {user["id"]: user["weighted"] * user["own"] for user in alone["users"]}
    return floors


def floor_of(user):
    """What a user is guaranteed as the objective counts shares, at most what its tasks are worth."""
    if "sure" in user:
        return user["sure"] if user["cap"] is None else min(user["sure"], user["cap"] * user["own"])
    stated = [(None, user.get("guarantee", {}))] + [(some["classes"], some["amounts"]) for some in user.get("guarantees", [])]
    stated = [(classes, r, amount) for classes, amounts in stated for r, amount in amounts.items() if amount]
    if not stated or not user["usable"]:
        return Fraction(0)
    # What runs of each kind on classes that the same amounts count is one variable, tasks are the last: of every kind as many run.
    needing = [(piece, sure_on(piece, places, user)) for piece, places in user["kinds"] if any(piece.get(r) for _, r, _ in stated)]
    counted = lambda piece, l: frozenset(at for at, (classes, r, _) in enumerate(stated) if piece.get(r) and (classes is None or l in classes))
    places = sorted({(k, counted(piece, l)) for k, (piece, on) in enumerate(needing) for l in on}, key=lambda one: (one[0], sorted(one[1])))
    rows = [[needing[k][0][r] if at in counts else Fraction(0) for k, counts in places] + [Fraction(0)] for at, (_, r, _) in enumerate(stated)]
    rows += [[Fraction(-(of == k)) for of, _ in places] + [Fraction(1)] for k in range(len(needing))]
    sure = largest_last(rows, [Fraction(amount) for *_, amount in stated] + [Fraction(0)] * len(needing))
    need(len(set(user["rate"].values())) == 1, f"user {user['id']} is guaranteed work at several rates: not known here")
    tasks = min(sure, user["tasks"]) if "tasks" in user else sure
    return tasks * user["delta"] / user["weight"] * user["own"]


def standing(instance, solution, users):
    """What groups have, and the children of the root that still want more, against what is stated."""
    groups, named = instance.get("groups", []), {}
    need(Alone in solution or [g["id"] for g in groups] == [g["id"] for g in solution.get("groups", [])], "the group ids differ")
    children = {None: []} | {("group", g["id"]): [] for g in groups}
    for g in groups:
        children[("group", g["parent"]) if "parent" in g else None].append((("group", g["id"]), g.get("weight", Fraction(1))))
    for user in users:
        children[("group", user["group"]) if "group" in user else None].append((("user", user["id"]), user["own"]))
        named["user", user["id"]] = user
    tree = {"children": children, "users": named, "floors": {node: floor_of(user) for node, user in named.items()}}

    def total(node, what):
        if node in named:
            return what(named[node])
        return sum((total(child, what) for child, _ in children[node]), Fraction(0))

    plain = solution["objective"] in ("bmf", "drf-per-server")  # Their value is a share without weights.
    has = lambda user: (user["share"] if plain else user["weighted"]) * user["own"]
    wants = lambda user: Fraction(user["held_by"] == "capacity")
    for g, said in zip(groups, solution.get("groups", [])):
        node, weight = ("group", g["id"]), g.get("weight", Fraction(1))
        near(said["share"], total(node, has), f"share of group {g['id']}")
        near(said["level"], said["share"] / weight, f"level of group {g['id']}")
        near(said["weight"], weight, f"weight of group {g['id']}")
        need((said["limited_by"] == "capacity") == (total(node, wants) > 0), f"what limits group {g['id']}")
        need(said.get("parent") == g.get("parent"), f"parent of group {g['id']}")
    parts = [(weight, *divided(tree, child, has, lambda user: bool(wants(user)))) for child, weight in children[None]]
    wanting = [share / weight for weight, share, more in parts if more]
    if Alone not in solution:
        need(("level" in solution) == bool(wanting), "a level of those who want more is stated, or is not, and the opposite is so")
    if "level" in solution:
        near(solution["level"], min(wanting), "level of those who want more")
    return tree


def missed_by_floors(filled, level, y, most):
    """What rounding of floors may be of what all is worth: no more than makes a level uncertain by next to nothing of the cluster, whatever its prices."""
    here, step = filled(level), level / 10**6 or Fraction(1, 10**6) / max(1, len(y))
    for _ in range(60):
        above = filled(level + step)
        rise = {node: above[node] - here[node] for node in here}
        in_shares = sum(rise.values()) / step
        if in_shares > 0:
            uncertain = max(HIDDEN / in_shares, level * GAP / 10)
            return min(most, uncertain * sum(y[node] * more for node, more in rise.items()) / step)
        step *= 2
    return 0


def stages(solution, users, capacity, load, tree, measure, usual, rows, prove):
    """Whether every level of a tree is the largest that there can be, and everybody has what the levels give."""
    named, levels = tree["users"], solution["certificate"]["levels"]
    share = {node: user["weighted"] * user["own"] for node, user in named.items()}
    cap = {node: None if user["cap"] is None else user["cap"] * user["own"] for node, user in named.items()}
    worst = Fraction(0)
    # Beside what is guaranteed, what is left and who has a part in it are known but for rounding.
    rounding = Fraction(1, 10**12) if any(tree["floors"].values()) else 0
    for k, level in enumerate(levels):
        price = {(one["class"], r): p for one in level["prices"] for r, p in one["price"].items()}
        need(len(level.get("limit_prices", [])) == len(rows), f"prices of limits of level {k}")
        price |= dict(zip(rows, level.get("limit_prices", [])))
        need(all(p >= 0 for p in price.values()) and price.keys() <= capacity.keys(), f"prices of level {k}")
        need(all(capacity[at] > 0 or p == 0 for at, p in price.items()), f"a price of what is not there on level {k}")
        need(k == 0 or level["value"] >= levels[k - 1]["value"], f"level {k} is below level {k - 1}")
        if not prove:
            near(level["bound"], level["value"], f"bound of level {k}")
            continue
        held = {node: user["held_by"] in PRICED and user["level"] < k for node, user in named.items()}
        ceiling = {node: share[node] if held[node] else cap[node] for node in named}
        # The price of a share, as the objective counts it.
        y = {node: line(user, price, Fraction(0))[0] * user["weight"] / user["own"] / user["delta"] if user["usable"] else 0
             for node, user in named.items()}
        paid = lambda at: sum(floor(y[node] * S) for node, S in fill(tree, ceiling, at).items())
        worth = sum(capacity[at] * p for at, p in price.items())
        here, bound = fill(tree, ceiling, level["value"]), level["bound"] * (1 + GAP / 10)
        may_miss = missed_by_floors(lambda at: fill(tree, ceiling, at), bound, y, worth * rounding) if rounding else 0
        need(paid(bound) >= worth - may_miss, f"level {k} could be above {float(bound)!r}")
        need(bound - level["value"] <= GAP * bound, f"gap of level {k}")
        worst = max(worst, 1 - level["value"] / level["bound"] if level["bound"] else 0)
        # What is stated of the level may be a little more than users have: that would hide what is left.
        kept = sum(floor(y[node] * min(S, share[node])) for node, S in here.items())
        slack, anybody, room = worth - kept, False, None
        just_below = fill(tree, ceiling, level["value"] * (1 - 10 * GAP))
        for node, user in named.items():
            if user["held_by"] == "tasks" and cap[node]:
                all_run = cap[node] * (1 - GAP)
                need(user["level"] != k or here[node] >= all_run, f"level {k} does not give user {user['id']} all its tasks")
                need(user["level"] != k + 1 or just_below[node] < all_run, f"the tasks of user {user['id']} run out before level {k + 1}")
            if user["held_by"] in PRICED and user["level"] == k and cap[node] is not None:
                need(share[node] < cap[node] * (1 - ALL_RUN), f"user {user['id']} is held by level {k}, and all its tasks run")
                need(just_below[node] < cap[node] * (1 - GAP), f"the tasks of user {user['id']} run out before level {k} holds it")
            need(share[node] >= tree["floors"][node] * (1 - GAP), f"user {user['id']} has less than it is guaranteed")
            need(share[node] >= here[node] * (1 - GAP) - rounding, f"user {user['id']} has less than level {k} gives")
            if user["held_by"] not in PRICED or user["level"] != k:
                continue
            anybody = True
            if abs(share[node] - here[node]) > rounding:
                near(share[node], here[node], f"share of user {user['id']}, held on level {k}")
            done = cap[node] is not None and cap[node] - share[node] <= ALL * min(share[node], ALL)
            # Who has nothing, because siblings are guaranteed more than the group's part, is measured by what others have.
            all_of_it = (measure(user["share"]) * share[node] / user["share"] if user["share"]
                         else min(usual, MEASURED) * user["own"] / user["weight"])
            rest = GAIN * all_of_it
            if slack > TAKEN * all_of_it * y[node]:
                given = lambda user: here["user", user["id"]] / user["own"]
                room = room if room is not None else room_beside(given, users, capacity, load)
                need(takes(user, room) * user["delta"] <= TAKEN * measure(user["share"] or usual), f"user {user['id']} could take more on level {k}")
            need(done or y[node] > 0 and (slack <= rest * y[node] or rounding_only(user, price, capacity, slack)), f"user {user['id']} is held on level {k} but could have more")
        need(anybody, f"level {k} holds nobody")
    for node, user in named.items():
        need(not (prove and user["limited"]), f"user {user['id']} has few tasks and several rates: known here in fractions alone")
        if user["held_by"] in PRICED:
            need(user["level"] < len(levels), f"user {user['id']} is held by no level")
        elif user["held_by"] == "tasks":
            has_all = user["running"] >= user["tasks"] * (1 - GAP) if user["limited"] else share[node] >= cap[node] * (1 - GAP)
            need(has_all, f"user {user['id']} has tasks left")
        else:
            need(user["held_by"] == "no-usable-class" and not user["usable"], f"limit of user {user['id']}")

    def total(node, of):
        parts = [of[node]] if node in named else [total(child, of) for child, _ in tree["children"][node]]
        return None if None in parts else sum(parts, Fraction(0))

    empty = {node: Fraction(1) for node in named}
    children = [(child, weight) for child, weight in tree["children"][None] if total(child, empty)]
    tops = [(total(child, cap), weight) for child, weight in children]
    bounds = [top / weight for top, weight in tops if top is not None] + [level["bound"] for level in levels[:1]]
    certificate = solution["certificate"]
    own = lambda user: user["weighted"] * user["own"]
    value = min(divided(tree, child, own, lambda user: user["held_by"] in PRICED)[0] / weight for child, weight in children)
    bounds = bounds if prove else [value]  # Which fractions prove.
    for stated, computed, what in [(solution["value"], value, "value"), (certificate["primal"], value, "primal"),
                                   (certificate["dual"], min(bounds), "dual")]:
        near(stated, computed, what)
    return f"value {float(value):.12g}, {len(levels)} levels of a tree, largest gap {float(worst):.1e}"


def most_on(capacity, l, needs):
    """How many tasks that need so much a class could run."""
    return min(capacity[l, r] / d for r, d in needs.items())


def costs_of(user, price_for):
    """Of each kind what its part of a unit of share costs on each class, were its rate one, at the prices for it there."""
    def on(k, needs, l):
        price = price_for(k, l)
        of = lambda r: price.get((l, r), 0) + sum(price[at] for at, row in user["rows"].items() if row["resource"] == r and l in row["classes"])
        return sum((decimal(d / user["delta"]) * of(r) for r, d in needs.items()), Decimal(0))
    return [{l: on(k, needs, l) for l in usable} for k, (needs, usable) in enumerate(user["kinds"])]


def all_run(one):
    """Whether all tasks run but for next to nothing."""
    return "tasks" in one and one["running"] >= one["tasks"] * (1 - Fraction(OWN))


def something(capacity, user, k):
    """The classes of a kind that are something to a user: those with the least room are nothing that together could run next to nothing of
    what it has. Of those that are alike all count or none."""
    room = sorted((most_on(capacity, l, user["kinds"][k][0]), l) for l in user["kinds"][k][1])
    sums, most = 0, Fraction(OWN) * user["running"]
    for much, _ in room:
        sums += much
        if sums > most:
            return {l for other, l in room if other >= much}
    return set()


def few_tasks(alpha, user, costs):
    """What each of few tasks, that do more work in some places, is worth beside what it costs a unit of its share, and the share of all of
    them where they would all run in one place; and which part of what a task is worth there that is. As they become dearer, faster classes are the cheapest. Where the sum is linear they may as
    well run elsewhere for as much less."""
    tasks, rates = decimal(user["tasks"]), {l: decimal(user["rate"].get(l, Fraction(1))) for l in costs}
    unit = decimal(user["delta"])
    worth = lambda rate: rate * decimal(user["weight"]) * (tasks * rate * unit) ** -alpha if alpha else rate * decimal(user["weight"])
    here, each = min(costs, key=lambda l: costs[l] / rates[l]), Decimal(0)
    while True:
        enough = worth(rates[here]) - costs[here]
        if enough <= each:
            return each, None, each / (each + costs[here]) if each else 0
        meets = {l: (costs[l] * rates[here] - costs[here] * rates[l]) / (rates[l] - rates[here]) for l in costs if rates[l] > rates[here]}
        after = min(meets, key=meets.get, default=None)
        if after is None or meets[after] >= enough:
            return enough, tasks * rates[here] * unit if alpha else None, enough / (enough + costs[here])
        here, each = after, max(each, meets[after])


def add_dear_tasks(user, costs, paid, each, price, dear, wanted):
    """Adds what tasks use where they would cost less elsewhere, and what somebody pays a noticeable part for that has tasks left, or runs
    some where they do less work. What few tasks are worth counts with what they cost, and of them what would cost less where they do no less."""
    for k, l, here in user["placed"]:
        rates = {at: user["rate"].get(at, Fraction(1)) for at in costs[k]}
        few, much = "tasks" in user and user["limited"], lambda cost: cost * (1 + OWN)
        least = min((costs[k][at] + each) / decimal(rates[at]) for at in rates)
        is_dear = paid[k][l] + each > much(least) * decimal(rates[l]) \
            or few and any(rates[at] >= rates[l] and much(costs[k][at]) < paid[k][l] for at in rates)
        places = sum(kind == k for kind, *_ in user["placed"])
        is_wanted = not is_dear and here * places > Fraction(OWN) * user["running"] \
            and (not all_run(user) or rates[l] < max(rates.values()))
        needs = user["kinds"][k][0]
        rows = [(l, r) for r in needs] + [at for at, row in user["rows"].items() if row["resource"] in needs and l in row["classes"]]
        for at in rows:
            r = user["rows"][at]["resource"] if at in user["rows"] else at[1]
            if is_dear:
                dear[at] = dear.get(at, 0) + here * needs[r]
            elif is_wanted and decimal(needs[r] / user["delta"]) * price.get(at, 0) > OWN * paid[k][l]:
                wanted.add(at)


def takes_what_it_would(alpha, who, one, cost, few=None):
    """Whether somebody has what it would take where a unit of share costs so much: all but a hundredth, and below alpha = 1, where nobody
    needs anything, all but a millionth of the cluster. Of few tasks, that do more work in some places, what all do in one where they would."""
    weight, share = decimal(one["weight"]), decimal(one["share"])
    if few is not None and few[1] is not None:
        want = few[1]
    elif alpha == 0:
        want = share if cost and abs((weight / cost).ln()) <= OWN else Decimal("Infinity") if cost < weight else Decimal(0)
    else:
        want = ((weight / cost).ln() / alpha).exp() if cost else Decimal("Infinity")
    most = min(want, decimal(one["most"])) if "most" in one else want
    if share < want * (1 - OWN):
        need(few is None and all_run(one) or alpha < 1 and most - share <= MILLIONTH, f"{who} would take more than it has at the prices of what is used up")
    enough = max(want, one["floor"])
    need(enough >= share * (1 - OWN) or alpha < 1 and share - enough <= MILLIONTH,
         f"{who} has more than it would take at the prices of what is used up")


def member(tree, users, user, needs):
    """A user, the work that it needs, and which part of what it has is guaranteed."""
    least = tree["floors"]["user", user["id"]]
    return users.index(user), needs, min(least / user["share"], Fraction(1)) if user["share"] > 0 else Fraction(0)


def party(alpha, name, weight, share, members, counts):
    """What a child of the root is to those who look for hidden losses: who has nothing is worth nothing."""
    log_worth = decimal(weight).ln() + (1 - alpha) * decimal(share).ln() if share > 0 else Decimal("-Infinity")
    return {"name": name, "log_worth": log_worth, "members": [one for one in members if one[1] > 0], "counts": counts and share > 0}


def sum_of_utilities(solution, users, capacity, load, tree, rows):
    """Whether prices prove that no sum of utilities is larger. A group is one user that has of every member's share what that is for its
    part of the group's. Limits are rows as capacities are, and nobody may have less than is guaranteed."""
    getcontext().prec = 60
    name = solution["objective"]
    alpha = {"pf": Decimal(1), "utilitarian": Decimal(0)}.get(name) or Decimal(name.partition("=")[2] or 0)
    unit = Decimal(10) ** int(solution.get("value_exponent", 0))
    price_unit = Decimal(10) ** int(solution.get("price_exponent", solution.get("value_exponent", 0)))
    price = {(l["id"], r): decimal(p) * price_unit for l in solution["server_classes"] for r, p in l["price"].items()}
    price |= {at: decimal(stated["price"]) * price_unit for at, stated in zip(rows, solution.get("limits", []), strict=True)}
    need(all(p >= 0 for p in price.values()) and price.keys() <= capacity.keys(), "prices")
    need(all(capacity[at] > 0 or p == 0 for at, p in price.items()), "a price of what is not there")
    value = worth = Decimal(0)
    taking, having, members = [], [], {}
    able = lambda user: user["usable"] and user.get("tasks") != 0
    # At an optimum only what is used up has a price.
    counting = {at: p if load[at] >= capacity[at] * (1 - Fraction(OWN)) else Decimal(0) for at, p in price.items()}
    # Parts are by weights alone: what somebody is guaranteed is a floor of its share, and changes nobody's part.
    by_weights = tree | {"floors": dict.fromkeys(tree["users"], Fraction(0))}
    parts = fill(by_weights, {node: None if able(user) else Fraction(0) for node, user in tree["users"].items()}, Fraction(1))
    above = {child: node for node, children in tree["children"].items() for child, _ in children}
    weights = dict(tree["children"][None])
    need(alpha > 1 or price_unit == unit, "the unit of prices")
    dear, wanted, priceless, parties = {}, set(), [], []
    for user in users:
        done = lambda lacking: "tasks" in user and user["running"] >= user["tasks"] * (1 - lacking)
        # A hair's breadth either way both is true.
        limits = (["tasks"] if done(GAP) else []) + (["capacity", "limit"] if not done(GAP / 10) else [])
        need(user["held_by"] in (limits if user["usable"] else ["no-usable-class"]), f"limit of user {user['id']}")
        if not able(user):
            continue
        # Classes that could run next to nothing of what a user has decide nothing.
        counts = [something(capacity, user, k) for k in range(len(user["kinds"]))]
        costs = costs_of(user, lambda *_: price)
        own_costs = costs_of(user, lambda k, l: counting if l in counts[k] else price)
        own_paid = costs_of(user, lambda *_: counting)
        full = lambda at: load[at] >= capacity[at] * (1 - Fraction(OWN))
        is_left = lambda needs, l: not any(full((l, r)) for r in needs) \
            and not any(full(at) for at, row in user["rows"].items() if row["resource"] in needs and l in row["classes"])
        own = above["user", user["id"]] is None
        could_have_more = not all_run(user) and all(any(is_left(needs, l) for l in usable) for needs, usable in user["kinds"])
        idle = lambda needs, usable: sum(most_on(capacity, l, needs) * user["rate"].get(l, Fraction(1)) for l in usable if is_left(needs, l))
        much_idle = could_have_more and all(idle(*kind) > Fraction(OWN) * user["share"] / user["delta"] for kind in user["kinds"])
        need(not own or alpha >= 1 or not much_idle, f"user {user['id']} could have more: what it needs is not used up")
        own_price = Decimal(0)
        if user["share"] > 0 and own and decimal(user["weight"] * user["delta"]) \
                * decimal(user["share"]) ** -alpha < LEAST_PRICE * price_unit * decimal(max(user["needs"].values())):
            # Prices that it would pay are too small for numbers in their unit, so that there are none.
            priceless += [] if all_run(user) else [user["id"]]
            own_price = None
            free = max((user["rate"][l] for l, cost in own_costs[0].items() if cost == 0), default=0) if user.get("limited") else 0
            need(user["share"] >= user["tasks"] * user["delta"] * free * (1 - Fraction(OWN)) if free else True,
                 f"user {user['id']} could have more where its tasks would cost nothing")
        few = few_tasks(alpha, user, own_costs[0]) if "tasks" in user and user["limited"] else None
        each, share = few[0] if few else Decimal(0), decimal(user["share"])
        add_dear_tasks(user, own_costs, own_paid, each, counting, dear, wanted)
        if own_price is not None:
            own_price = sum(min((cost[l] + each) / decimal(user["rate"].get(l, 1)) for l in cost) for cost in own_costs)
            paid = sum((decimal(here * user["delta"]) * own_paid[k][l] for k, l, here in user["placed"]), Decimal(0))
            own_worth = decimal(user["weight"]) * share ** (1 - alpha) if share and own else Decimal(0)
            run = decimal(user["running"] * user["delta"])
            paid += each * run
            need(alpha < 1 and share <= MILLIONTH or paid - own_price * share <= OWN * max(paid, own_worth),
                 f"user {user['id']} pays more for its tasks than it need")
            need(not few or few[2] * (1 - decimal(user["running"] / user["tasks"])) <= OWN,
                 f"all tasks of user {user['id']} are worth more than they cost")
        cost, least = costs[0], tree["floors"]["user", user["id"]]
        need(user["share"] >= least * (1 - GAP), f"user {user['id']} has less than it is guaranteed")
        user["floor"] = decimal(min(least, user["share"]))
        if len(costs) > 1:  # Wherever its pieces run, a task does the same work: as if there were one class.
            cost, user["rate"] = {"": sum(min(cost.values()) for cost in costs)}, {"": Fraction(1)}
        node = ("user", user["id"])
        if above[node] is None:
            counts = (not all_run(user) or user["limited"]) and (alpha >= 1 or share > MILLIONTH)
            parties.append(party(alpha, f"user {user['id']}", user["weight"], user["share"], [member(tree, users, user, user["work"])], counts))
            taking.append((user, cost))
            having.append((user["weight"], user["share"]))
            if own_price is not None:
                takes_what_it_would(alpha, f"user {user['id']}", user, own_price, few)
            continue
        need("tasks" not in user, f"user {user['id']} is in a group and has few tasks")
        top = node
        while above[top] is not None:
            top = above[top]
        part = parts[node] / weights[top]
        least = min(cost[l] / decimal(user["rate"][l]) for l in cost)
        members.setdefault(top, []).append((part, user["share"], least, user["id"], user["floor"], own_price))
    for at in wanted:
        need(dear.get(at, 0) <= Fraction(OWN) * capacity[at], f"tasks that would cost less elsewhere take a part of {at}")
    for top, inside in members.items():
        share = min(has / part for part, has, *_ in inside)
        for part, has, _, who, *_ in inside:
            near(has, share * part, f"part that user {who} has of its group")
        cost = sum((decimal(part) * least for part, _, least, *_ in inside), Decimal(0))
        own_price = sum((decimal(part) * own for part, *_, own in inside), Decimal(0))
        least = min(min(sure / decimal(part) for part, *_, sure, _ in inside), decimal(share))
        takes_what_it_would(alpha, f"group {top[1]}", {"weight": weights[top], "share": share, "floor": least}, own_price)
        by_id = {user["id"]: user for user in users}
        needing = [member(tree, users, by_id[who], share * part / by_id[who]["delta"]) for part, _, _, who, *_ in inside]
        parties.append(party(alpha, f"group {top[1]}", weights[top], share, needing, alpha >= 1 or share > Fraction(MILLIONTH)))
        taking.append(({"weight": weights[top], "rate": {"": Fraction(1)}, "floor": least}, {"": cost}))
        having.append((weights[top], share))
    for weight, share in having:
        weight, share = decimal(weight), decimal(share)
        need(share > 0 or alpha < 1, "somebody has nothing")
        value += weight * utility(alpha, share)
        worth += weight * share ** (1 - alpha)
    dearer = Decimal(1)
    if alpha == 0:  # A user without a limit must not be worth more than it pays.
        dearer = max([dearer] + [decimal(user["weight"]) / min(cost[l] / decimal(user["rate"][l]) for l in cost)
                                 for user, cost in taking if "tasks" not in user])
        need(dearer <= 1 + decimal(GAP), "prices are lower than what a user without a limit is worth")
    bound = sum((decimal(capacity[at]) * p for at, p in price.items()), Decimal(0)) * dearer
    bound += sum((best(alpha, user, {l: c * dearer for l, c in cost.items()}) for user, cost in taking), Decimal(0))
    certificate, slack = solution["certificate"], decimal(GAP) * worth
    need(bound - value <= slack, f"the bound is {float(bound)!r}, the value {float(value)!r}")
    for stated, computed, what in [(solution["value"], value, "value"), (certificate["primal"], value, "primal"),
                                   (certificate["dual"], bound, "dual")]:
        need(abs(decimal(stated) * unit - computed) <= slack, f"{what}: {float(stated)!r} in units of {float(unit)!r} is "
             f"stated, {float(computed)!r} is computed")
    unseen = [p for p, one in enumerate(parties) if one["counts"] and bound > value and (bound - value).ln() > OWN.ln() + one["log_worth"]]
    are_few = sum(len(places) for user in users for _, places in user["kinds"]) <= hidden.PAIRS
    if unseen and are_few:
        who = hidden.could_have_more(parties, unseen, alpha, users, capacity, load)
        need(who is None, f"{who} could have more for less than that is worth to it")
    seen = {users[i]["id"] for p in unseen if are_few for i, *_ in parties[p]["members"]}
    need(seen >= set(priceless), f"the prices that {set(priceless) - seen} would pay are too small numbers in this unit")
    gap = (bound - value) / worth if worth else Decimal(0)
    need(abs(decimal(certificate["relative_gap"]) - gap) <= decimal(GAP), "relative gap")
    told = "" if are_few or not unseen else f", {len(unseen)} worth less than the gap and too many to look at"
    return f"value {float(value):.12g}, gap {float(gap):.1e}{told}"


def fraction(text):
    """A fraction as results write it."""
    need(isinstance(text, str) and all(part.isascii() and part.isdigit() for part in text.split("/", 1)), f"{text!r} is no fraction")
    return Fraction(text)


def exactly(instance, solution):
    """What is stated in fractions. At prices p of all rows (capacities, limits, tasks) with y_i the least price of a unit of work, no
    allocation has sum_i y_i work_i above what the rows are worth. So if this one has just as much, whoever pays can have more only
    where another who pays has less; and if none who pays stands above the level, nobody on it can gain but from one who has no more."""
    objective, users, resources = solution["objective"], instance["users"], instance["resources"]
    rows, exact = instance["limit_rows"], solution["exact"]
    in_groups = any("group" in user for user in users) or any("exact" in group for group in solution.get("groups", []))
    apart = objective == "drf-per-server"
    capacity = {(l["id"], r): l["count"] * l["capacity"].get(r, 0) for l in instance["server_classes"] for r in resources}
    capacity |= {at: row["amount"] for at, row in rows.items()}
    values = [fraction(level["value"]) for level in exact["levels"]]
    need(in_groups or all(a < b for a, b in zip(values, values[1:])), "levels in fractions do not rise")
    levels = solution["certificate"].get("levels", [])
    need(apart or len(levels) == len(values), "levels in fractions")
    for k, level in enumerate(levels):
        near(level["value"], values[k], f"level {k} beside its fraction")
    load, parts = dict.fromkeys(capacity, Fraction(0)), {}
    for user, said in zip(users, solution["users"]):
        who, k, all_tasks = user["id"], user["level"], user.get("tasks")
        follows = None  # The work of whom no fraction is stated.
        if user["held_by"] == "tasks" and not user["limited"]:
            follows = all_tasks * user["rate"][user["usable"][0]] if user["usable"] else Fraction(0)
        elif user["held_by"] in PRICED and not in_groups and not apart:
            follows = values[k] * user["weight"] / user["delta"]
        work = [Fraction(0)] * len(user["kinds"])
        tasks = [Fraction(0)] * len(user["kinds"])
        for put in said["placement"]:
            kind = user["named"].get(put.get("kind"), 0)
            rate, needs = user["rate"][put["class"]], user["kinds"][kind][0]
            if "exact" in put:
                running = fraction(put["exact"])
            else:
                alone = [one for one in said["placement"] if one.get("kind") == put.get("kind")]
                if len(alone) != 1 or follows is None:
                    return "fractions not stated of everybody"
                running = follows / rate
            near(put["tasks"], running, f"tasks of user {who}")
            work[kind], tasks[kind] = work[kind] + running * rate, tasks[kind] + running
            need(not apart or parts.get((who, put["class"]), running) == running, f"user {who} has no whole tasks, in fractions")
            parts[who, put["class"]] = running
            for r, d in needs.items():
                load[put["class"], r] += running * d
            for at, row in user["rows"].items():
                load[at] += running * needs.get(row["resource"], 0) if put["class"] in row["classes"] else 0
        need(len(set(work)) == 1, f"user {who} does different work in its kinds")
        need(all_tasks is None or max(tasks) <= all_tasks, f"user {who} has more tasks than there are, in fractions")
        stated = said.get("exact", {})
        need("tasks" not in stated or fraction(stated["tasks"]) == tasks[0], f"tasks of user {who} in fractions")
        need("dominant_share" not in stated or fraction(stated["dominant_share"]) == user["delta"] * work[0],
             f"dominant share of user {who} in fractions")
        user.update(exact_work=work[0], exact_tasks=tasks[0], exact_weighted=user["delta"] * work[0] / user["weight"])
    for at, amount in capacity.items():
        need(load[at] <= amount, f"{at} is overloaded in fractions")
    if in_groups:
        return "fractions fit"
    least = min(user["delta"] * user["exact_work"] if apart else user["exact_weighted"] for user in users)
    need(fraction(exact["value"]) == least, "the value in fractions")
    if apart:
        for l in instance["server_classes"]:
            here = {user["id"]: user for user in users if l["id"] in user["usable"]}
            level = {who: parts.get((who, l["id"]), 0) / user["own"] / l["count"]
                     * max(d / l["capacity"][r] for r, d in user["needs"].items()) for who, user in here.items()}
            for who, user in here.items():
                held = (all(level[who] >= level[other] for other in here if r in here[other]["needs"])
                        for r in user["needs"] if load[l["id"], r] == capacity[l["id"], r])
                need(any(held), f"user {who} is held by nothing on class {l['id']}")
        return "fractions exact"
    for k, level in enumerate(exact["levels"]):
        prices = level["prices"][:1] if objective == "drf" else level["prices"]
        price = {("pool" if objective == "drf" else one["class"], r): fraction(p)
                 for one in prices for r, p in zip(resources, one["price"], strict=True)}
        need(all(one["price"] == prices[0]["price"] for one in level["prices"]) or objective != "drf", "a pool has one price a resource")
        price |= {at: fraction(p) for at, p in zip(rows, level.get("limit_prices", []), strict=True)}
        need(price.keys() == capacity.keys(), f"prices of level {k} in fractions")
        of_tasks = {one["user"]: fraction(one["price"]) for one in level.get("task_prices", [])}
        worth, paid, unit = sum(price[at] * capacity[at] for at in capacity), Fraction(0), Fraction(0)
        for user in users:
            if not user["usable"] or user.get("tasks") == 0:
                continue
            need(user["id"] not in of_tasks or "tasks" in user, f"a price of tasks of user {user['id']}")
            worth += of_tasks.get(user["id"], 0) * user.get("tasks", 0)
            y = sum(min((sum(d * price[l, r] for r, d in needs.items()) + of_tasks.get(user["id"], 0)
                         + sum(needs.get(row["resource"], 0) * price[at] for at, row in user["rows"].items() if l in row["classes"]))
                        / user["rate"][l] for l in places) for needs, places in user["kinds"])
            paid += y * user["exact_work"]
            if user["level"] > k or user["level"] == k and (user["held_by"] != "tasks" or user["limited"]):
                unit += y * user["weight"] / user["delta"]
            need(y == 0 or user["exact_weighted"] <= values[k], f"user {user['id']} pays on level {k} and has more")
            if user["level"] == k and (user["held_by"] in PRICED or user["exact_weighted"] != user["cap"]):
                need(y > 0 and user["exact_weighted"] == values[k], f"user {user['id']} is not held by level {k} in fractions")
        need(paid == worth, f"the rows are not worth on level {k} what is paid")
        need(unit > 0, f"the prices of level {k} cost nobody who has it anything, in fractions")
        for one in levels[k]["prices"] if not of_tasks else []:
            for r, p in one["price"].items():
                near(p, price[one["class"], r] / unit, f"price of {r} in class {one['class']} on level {k} beside its fraction")
    for user in users:
        # Few tasks may all run where they do little.
        has_all = user["exact_weighted"] == user["cap"] if user["limited"] else user["exact_tasks"] == user.get("tasks")
        held = user["level"] < len(values) or user["held_by"] == "no-usable-class" or has_all
        need(held, f"user {user['id']} is held by nothing in fractions")
    return "fractions exact"


def fill_in_profiles(instance):
    """What a task with a profile takes of a device, where its demand leaves that out."""
    for resource, cut in instance.get("device_profiles", {}).items():
        of = next(l for l in instance["server_classes"] if resource in l.get("devices", {}))
        size = Fraction(of["capacity"][resource]) / of["devices"][resource]
        for task in (task for user in instance["users"] for task in user.get("kinds", [user]) if "profile" in task):
            profile = cut["profiles"].get(task["profile"])
            if profile is not None:
                task.setdefault("demand", {}).setdefault(resource, size * profile["slices"] / cut["slices"])


def check(instance, solution):
    """The doubles, and the fractions where there are any."""
    fill_in_profiles(instance)
    if "exact" not in solution:
        return in_doubles(instance, solution)
    whole = copy.deepcopy((instance, solution))
    told = in_doubles(instance, solution, False)
    proved = exactly(instance, solution)
    # Only all fractions prove what sums of doubles may not: high levels lose their last digits.
    told = told if proved == "fractions exact" else in_doubles(*whole)
    return f"{told}, {proved}"


def tasks_alone(pieces, capacity, classes):
    """The most tasks that need so much of each kind, where pieces run on any class and nobody else does: one linear program over the
    pieces on all classes."""
    places = [(k, l["id"]) for k, piece in enumerate(pieces) for l in classes if all(capacity[l["id"], r] > 0 for r in piece)]
    rows, right = [], []
    for at in {(l, r) for k, l in places for r in pieces[k]}:
        rows.append([pieces[k].get(at[1], Fraction(0)) if l == at[0] else Fraction(0) for k, l in places] + [Fraction(0)])
        right.append(capacity[at])
    for k in range(len(pieces)):
        rows.append([Fraction(-(kind == k)) for kind, _ in places] + [Fraction(1)])
        right.append(Fraction(0))
    return largest_last(rows, right)


def largest_last(rows, right):
    """The most that the last variable can be where rows times variables are at most what is on the right."""
    return hidden.largest([Fraction(0)] * (len(rows[0]) - 1) + [Fraction(1)], rows, right)[0]


def room_beside(given, users, capacity, load):
    """What is idle, and what users give back who have clearly more than they are given, alike on all their classes."""
    room = {at: capacity[at] - load[at] if capacity[at] - load[at] > ROUNDED_IDLE * capacity[at] else Fraction(0) for at in capacity}
    for user in users:
        if user["weighted"] > given(user) * (1 + CLEARLY_ABOVE):
            part = 1 - given(user) / user["weighted"]
            for k, l, tasks in user["placed"]:
                piece = user["kinds"][k][0]
                for r, needs in piece.items():
                    room[l, r] += part * tasks * needs
                for at, row in user["rows"].items():
                    room[at] += part * tasks * piece.get(row["resource"], 0) if l in row["classes"] else 0
    return room


def takes(user, room):
    """The work that a user could do of this, no more than its tasks allow wherever they run."""
    kinds, works = user["kinds"], []
    for piece, places in kinds:
        left, work = dict(room), Fraction(0)
        for l in places:
            above = [(at, piece[row["resource"]]) for at, row in user["rows"].items() if l in row["classes"] and row["resource"] in piece]
            tasks = min([left[l, r] / needs for r, needs in piece.items()] + [left[at] / needs for at, needs in above])
            for at, needs in above:
                left[at] -= tasks * needs
            work += user["rate"][l] * tasks
        works.append(work)
    work = min(works) / len(kinds)
    if "tasks" in user:
        work = min(work, (user["tasks"] - user["running"]) * min(user["rate"][l] for l in user["usable"]))
    return work


def in_doubles(instance, solution, prove=True):
    """What the doubles say; where they need not prove levels of users, these are but near what is stated."""
    whole = copy.deepcopy(instance)
    need(instance["format"] == "fairplan.instance.v1", "not an instance")
    need(solution["format"] == "fairplan.solution.v1", "not a solution")
    objective = solution["objective"]
    is_sum = is_sum_over_users(objective)
    need(is_sum or objective in ("drfh", "tsf", "drf", "drf-per-server", "bmf"), f"the objective {objective} is not known here")
    need(solution["status"] == "optimal", "the result says itself that it is not proved")
    exponent = solution.get("value_exponent")
    need(exponent is None or exponent != 0 and is_sum and objective != "pf", "the unit of the value")
    of_prices = solution.get("price_exponent")
    need(of_prices is None or of_prices < (exponent or 0) and is_sum, "the unit of prices")
    if objective in ("drf", "bmf"):
        pooled(instance, solution)
    rows = instance["limit_rows"] = limit_rows(instance)
    need(not rows or is_sum or objective in ("drfh", "tsf", "drf"), f"{objective} is not known here with limits")
    resources, classes, users = instance["resources"], instance["server_classes"], instance["users"]
    for name, ours, theirs in [("class", classes, solution["server_classes"]), ("user", users, solution["users"])]:
        need([x["id"] for x in ours] == [x["id"] for x in theirs], f"the {name} ids differ")
    capacity = {(l["id"], r): l["count"] * l["capacity"].get(r, 0) for l in classes for r in resources}
    total = {r: sum(capacity[l["id"], r] for l in classes) for r in resources}
    capacity |= {at: row["amount"] for at, row in rows.items()}
    load = dict.fromkeys(capacity, Fraction(0))
    levels = solution["certificate"].get("levels", [])

    for user, said in zip(users, solution["users"]):
        # One task is so many pieces of every kind, and of each kind as many run as tasks do. Without kinds the task is the kind.
        need(("kinds" in user) != ("demand" in user), f"user {user['id']} has a demand or kinds")
        kinds = user.get("kinds") or [{"each": 1, **{key: user[key] for key in ("demand", "eligible") if key in user}}]
        need(all(kind["each"] >= 1 for kind in kinds), f"pieces of user {user['id']}")
        pieces = [{r: kind["each"] * d for r, d in kind["demand"].items() if d > 0} for kind in kinds]
        demand = {r: sum(piece.get(r, Fraction(0)) for piece in pieces) for r in resources}
        demand = {r: d for r, d in demand.items() if d > 0}
        shares = {r: d / total[r] for r, d in demand.items()}
        rate = {l["id"]: user.get("rates", {}).get(l["id"], Fraction(1)) for l in classes}
        places = [[l["id"] for l in classes if l["id"] in kind.get("eligible", rate)
                   and all(capacity[l["id"], r] > 0 for r in piece)] for kind, piece in zip(kinds, pieces)]
        usable = places[0] if all(places) else []
        running, placed = [[Fraction(0), Fraction(0)] for _ in kinds], []
        several = "kinds" in user and (len(kinds) > 1 or kinds[0]["each"] > 1)
        named = {kind.get("id"): k for k, kind in enumerate(kinds)}
        need(len(named) == len(kinds), f"kinds of user {user['id']}")
        for put in said["placement"]:
            k = named[put.get("kind")] if several else 0
            need(several or "kind" not in put, f"user {user['id']} has no kinds")
            need(put["tasks"] >= 0 and put["class"] in places[k], f"user {user['id']}: {put}")
            placed.append((k, put["class"], put["tasks"]))
            running[k][0] += put["tasks"]
            running[k][1] += put["tasks"] * rate[put["class"]]
            for r in pieces[k]:
                load[put["class"], r] += put["tasks"] * pieces[k][r]
            for at, row in user["rows"].items():
                load[at] += put["tasks"] * pieces[k].get(row["resource"], 0) if put["class"] in row["classes"] else 0
        if objective == "drf-per-server":  # A server has whole tasks.
            usable = [l for l in usable if all(l in place for place in places)]
            by_kind = [{} for _ in kinds]
            for put in said["placement"]:
                by_kind[named[put["kind"]] if several else 0][put["class"]] = put["tasks"]
            for one in by_kind:
                need(one.keys() == by_kind[0].keys() <= set(usable), f"user {user['id']} has pieces that make no whole tasks")
                for l, here in one.items():
                    near(here, by_kind[0][l], f"pieces of user {user['id']} on {l}")
        tasks, work = (min(column) for column in zip(*running))
        for here, _ in running:
            near(here, tasks, f"tasks of one kind of user {user['id']} beside the others")
        need("tasks" not in user or all(here <= user["tasks"] for here, _ in running),
             f"user {user['id']} has more pieces than its tasks have")
        delta, weight = max(shares.values()), user.get("weight", Fraction(1))
        if objective == "tsf":
            alone = tasks_alone(pieces, capacity, classes) if several else sum(
                l["count"] * rate[l["id"]] * min(l["capacity"].get(r, 0) / d for r, d in demand.items()) for l in classes)
            weight = weight * delta * alone or weight
        most = min(sum(rate[l] * most_on(capacity, l, piece) for l in place) for piece, place in zip(pieces, places)) if is_sum else 0
        cap = delta * user["tasks"] * max([rate[l] for l in usable], default=0) / weight if "tasks" in user else None
        cap = cap if usable else Fraction(0)
        limited = "tasks" in user and len({rate[l] for l in usable}) > 1
        need("tasks" not in user or tasks <= user["tasks"], f"user {user['id']} has more tasks than there are")
        need(("level" in said) == ("levels" in solution["certificate"]), f"a level of user {user['id']} belongs where there are levels")
        need(0 <= said.get("level", 0) <= len(levels), f"user {user['id']} ends on level {said.get('level')}")
        near(said["tasks"], tasks, f"tasks of user {user['id']}")
        near(said["dominant_share"], delta * work, f"dominant share of user {user['id']}")
        need(Alone in solution or said["dominant_resource"] == next(r for r in resources if shares.get(r) == delta),
             f"dominant resource of user {user['id']}")
        user.update(needs=demand, usable=usable, kinds=list(zip(pieces, places)), rate=rate, work=work, share=delta * work, delta=delta,
                    weight=weight,
                    weighted=delta * work / weight, cap=cap, level=int(said.get("level", 0)), held_by=said["limited_by"],
                    limited=limited, running=tasks, placed=placed, most=delta * most, own=user.get("weight", Fraction(1)), named=named)
        user["rate"] = {l: rate[l] for l in usable} if is_sum else rate

    for l, r in capacity:
        need(load[l, r] <= capacity[l, r], f"class {l} is overloaded in {r}")
    for l in solution["server_classes"] if Alone not in solution else []:
        for r in resources:
            at = l["id"], r
            near(l["utilization"].get(r, 0), load[at] / capacity[at] if capacity[at] else 0, f"{r} utilization of class {l['id']}")
    for r in resources if Alone not in solution else []:
        used = sum(load[l["id"], r] for l in classes)
        near(solution["utilization"].get(r, 0), used / total[r] if total[r] else 0, f"utilization of {r}")

    sure = guaranteed_inside(whole, solution, users)
    for user in users:
        if user["id"] in sure:
            user["sure"] = sure[user["id"]]
    limits_kept(solution, users, rows, load)
    tree = standing(instance, solution, users)
    if any("group" in user for user in users) and objective in ("drf-per-server", "bmf"):
        raise Wrong(f"{objective} is not known here in groups")
    if objective in ("drf-per-server", "bmf"):
        return bottlenecks(instance, solution, users, capacity, load)
    if is_sum:
        return sum_of_utilities(solution, users, capacity, load, tree, rows)
    having = sorted(user["share"] for user in users if user["share"] > 0)
    usual = having[(len(having) - 1) // 2] if having else 0
    values = [level["value"] for level in levels]

    def measure(share):
        return min(share, MEASURED)

    if rows or any("group" in user or user.get("guarantee") or user.get("guarantees") for user in users):
        return stages(solution, users, capacity, load, tree, measure, usual, rows, prove)
    for user in users:
        k, held_by, weighted, cap, who = (user[key] for key in ("level", "held_by", "weighted", "cap", "id"))
        need(held_by in ("capacity", "tasks", "no-usable-class"), f"user {who}: {held_by}")
        need((held_by == "no-usable-class") == (not user["usable"]), f"user {who} has usable classes {user['usable']}")
        if held_by == "capacity":
            need(k < len(levels), f"user {who} is held by no level")
            # In fractions the prices of tasks say so.
            need(not prove or cap is None or weighted < cap * (1 - ALL_RUN), f"user {who} is held by capacity, and all its tasks run")
            near(values[k], weighted, f"weighted share of user {who}")
        elif held_by == "tasks":
            need(cap is not None and user["running"] >= user["tasks"] * (1 - GAP), f"user {who} has tasks left")
            need(k == len(levels) or weighted <= values[k] * (1 + GAP), f"user {who} has more than level {k}")
            need(k == 0 or weighted >= values[k - 1] * (1 - GAP), f"user {who} belongs to a level before {k}")
            user["done"] = weighted >= cap * (1 - GAP)

    bounds, worst = [], Fraction(0)
    for k, level in enumerate(levels):
        price = {(one["class"], r): p for one in level["prices"] for r, p in one["price"].items()}
        need(all(p >= 0 for p in price.values()) and price.keys() <= capacity.keys(), f"prices of level {k}")
        need(all(capacity[at] > 0 or p == 0 for at, p in price.items()), f"a price of what is not there on level {k}")
        need(k == 0 or level["value"] >= values[k - 1] * (1 - GAP), f"level {k} is below level {k - 1}")
        if not prove:
            near(level["bound"], level["value"], f"bound of level {k}")
            bounds.append(level["value"])
            continue
        left, scale, achieved, held = sum(capacity[at] * p for at, p in price.items()), Fraction(0), [], []
        moving = []
        for user in users:
            if user["held_by"] == "no-usable-class":
                continue
            frozen = user["level"] < k or user["level"] == k and user["held_by"] == "tasks"
            at_level = level["value"] * JUST_ABOVE * user["weight"] / user["delta"]
            cost, lent = line(user, price, user["work"] if frozen else at_level)
            left += lent
            if frozen:
                left -= floor(cost * user["work"])
            else:
                if user["held_by"] == "tasks" and not user["done"]:
                    own, own_lent = line(user, price, user["work"] * JUST_ABOVE)
                    counted = cost * user["weight"] / user["delta"]
                    moving.append((user, own / user["delta"], own * user["work"] - own_lent, counted, lent))
                scale += floor(cost * user["weight"] / user["delta"])
                achieved.append(user["weighted"])
                if user["level"] == k:
                    held.append((cost / user["delta"], user))
        need(held and scale > 0, f"level {k} holds nobody")
        bound, slack, room = left / scale, left - min(achieved) * scale, None
        near(scale, Fraction(1), f"scale of the prices of level {k}")
        near(level["bound"], bound, f"bound of level {k}")
        need(bound - min(achieved) <= GAP * bound, f"gap of level {k}")
        for y, user in held:
            rest = GAIN * measure(user["share"])
            done = user["cap"] is not None and user["cap"] * user["weight"] - user["share"] <= ALL * min(user["share"], ALL)
            if not done and slack > TAKEN * measure(user["share"]) * y:
                room = room if room is not None else room_beside(lambda user: level["value"], users, capacity, load)
                need(takes(user, room) * user["delta"] <= TAKEN * measure(user["share"]), f"user {user['id']} could take more on level {k}")
            need(done or y > 0 and (slack <= rest * y or rounding_only(user, price, capacity, slack)), f"user {user['id']} is frozen on level {k} but could have more")
        for user, y, paid, counted, lent in moving:
            room = slack + counted * min(achieved) - lent - paid
            user["done"] = user["done"] or y > 0 and room <= GAIN * measure(user["share"]) * y
        bounds.append(bound)
        worst = max(worst, 1 - min(achieved) / bound)

    for user in users if prove else []:
        need(user.get("done", True), f"user {user['id']} could do more with its tasks elsewhere")
    value = min(user["weighted"] for user in users)
    limits = [user["cap"] for user in users if user["cap"] is not None] if prove else [value]  # Which fractions prove.
    if bounds and not any(user["held_by"] == "tasks" and user["level"] == 0 for user in users):
        limits.append(bounds[0])
    certificate = solution["certificate"]
    for stated, computed, what in [(solution["value"], value, "value"), (certificate["primal"], value, "primal"),
                                   (certificate["dual"], min(limits), "dual")]:
        near(stated, computed, what)
    need(min(limits) - value <= GAP * min(limits), "gap of the value")
    return f"value {float(value):.12g}, {len(levels)} levels, largest gap {float(worst):.1e}"


def verdict(instance, solution):
    try:
        return f"ok {check(read(instance, Fraction), read(solution, lambda text: Fraction(float(text))))}"
    except (Wrong, ArithmeticError, AttributeError, IndexError, KeyError, OSError, TypeError, ValueError) as wrong:
        return " ".join(f"FAIL {type(wrong).__name__} {wrong}".split())


def main():
    if sys.argv[1:] == ["-"]:
        for line in sys.stdin:
            print(verdict(*line.rstrip("\n").split("\t")), flush=True)
        return
    told = verdict(*sys.argv[1:])
    print(told)
    sys.exit(not told.startswith("ok "))


if __name__ == "__main__":
    main()
