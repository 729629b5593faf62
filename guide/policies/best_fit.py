"""Best-Fit: the server with room whose free amounts are most like the task's demand (fairplan.policy.v1)."""
import json
import sys
from decimal import Decimal


def digits(amount):  # behind the point
    return max(0, -Decimal(amount).normalize().as_tuple().exponent)


def whole(amounts):  # in the smallest unit of each resource: exact, and quick to compare
    return [int(Decimal(amount).scaleb(unit)) for amount, unit in zip(amounts, units)]


cluster = json.loads(sys.stdin.readline())
servers = cluster["servers"]
kinds = {(user["id"], kind.get("id") if "kinds" in user else None): kind  # a user without kinds has one, its task itself
         for user in cluster["users"] for kind in user.get("kinds", [user])}
rows = [server["capacity"] for server in servers] + [kind["demand"] for kind in kinds.values()]
units = [max(map(digits, column)) for column in zip(*rows)]
free = [whole(server["capacity"]) for server in servers]
numbers = {server["id"]: i for i, server in enumerate(servers)}
demands = {name: whole(kind["demand"]) for name, kind in kinds.items()}
allowed = {name: [i for i, server in enumerate(servers) if server["class"] in kind.get("eligible", [server["class"]])]
           for name, kind in kinds.items()}

for line in sys.stdin:
    asked = json.loads(line)
    name = asked["user"], asked.get("kind")
    demand, best = demands[name], None
    if asked["type"] == "end":  # of a gang, or of a task of several kinds, another part had no room
        i = numbers[asked["server"]]
        free[i] = [left + need for need, left in zip(demand, free[i])]
        continue
    first = next(r for r, amount in enumerate(demand) if amount)
    for i in allowed[name]:
        if "classes" in asked and servers[i]["class"] not in asked["classes"]:
            continue
        if all(need <= left for need, left in zip(demand, free[i])):
            one = free[i][first]
            unlike = sum(abs(need * one - left * demand[first]) for need, left in zip(demand, free[i]))
            if best is None or unlike * best[1] < best[0] * one:
                best = unlike, one, i
    if best:
        free[best[2]] = [left - need for need, left in zip(demand, free[best[2]])]
    print(json.dumps({"server": servers[best[2]]["id"] if best else None}), flush=True)
