"""Best-Fit: the server with room whose free amounts are most like the task's demand (fairplan.policy.v1)."""
import json
import sys
from decimal import Decimal


def digits(amount):  # behind the point
    return max(0, -Decimal(amount).normalize().as_tuple().exponent)


def whole(amounts):  # in the smallest unit of each resource: exact, and quick to compare
    return [int(Decimal(amount).scaleb(unit)) for amount, unit in zip(amounts, units)]


cluster = json.loads(sys.stdin.readline())
servers, users = cluster["servers"], cluster["users"]
rows = [server["capacity"] for server in servers] + [user["demand"] for user in users]
units = [max(map(digits, column)) for column in zip(*rows)]
free = [whole(server["capacity"]) for server in servers]
demands = {user["id"]: whole(user["demand"]) for user in users}
allowed = {user["id"]: [i for i, server in enumerate(servers) if server["class"] in user.get("eligible", [server["class"]])]
           for user in users}

for line in sys.stdin:
    user = json.loads(line)["user"]
    demand, best = demands[user], None
    first = next(r for r, amount in enumerate(demand) if amount)
    for i in allowed[user]:
        if all(need <= left for need, left in zip(demand, free[i])):
            one = free[i][first]
            unlike = sum(abs(need * one - left * demand[first]) for need, left in zip(demand, free[i]))
            if best is None or unlike * best[1] < best[0] * one:
                best = unlike, one, i
    if best:
        free[best[2]] = [left - need for need, left in zip(demand, free[best[2]])]
    print(json.dumps({"server": servers[best[2]]["id"] if best else None}), flush=True)
