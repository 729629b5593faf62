"""Of users who are worth less than the gap of a sum its bound says nothing. Whether they have what they would have in it is looked for by linear
programs of small moves, in numbers of sixty digits: see `could_have_more`."""
from decimal import Decimal
from fractions import Fraction

# A party may have more or less in these steps; who is worth so much of the most is judged, who is worth so much is weighed against these, and whoever is
# worth so many times as much has no less than it has.
STEPS = [Decimal(end) for end in ("1e-6", "1e-5", "1e-4", "1e-3", "0.02", "0.1", "0.5", "0.9")]
JUDGED, ALIKE, WEIGHED = Decimal("1e-2"), Decimal("1e-8"), Decimal("1e25")
# What is used up but for the first part is full, and so are tasks but for the second; the third part of what the fourth is worth to the least of those
# judged is left open.
NO_ROOM, LEFT, OPEN, OWN = Fraction(1, 10**10), Fraction(1, 100), Decimal("0.1"), Decimal("0.01")
ROUNDING = Fraction(1, 10**12)
NOTHING = Decimal("1e-35")
# More kinds on classes than this take too long here.
PAIRS = 80


def decimal(x):
    return Decimal(x.numerator) / Decimal(x.denominator) if isinstance(x, Fraction) else Decimal(x)


def largest(gains, rows, room, nothing=0):
    """The largest sum of gains of variables that are no less than nothing, where the rows have so much room, and how much each of them is, in
    whatever numbers. By the largest gain, and by Bland's rule where that leads nowhere."""
    rows, room, gains, value, stuck = [list(row) for row in rows], list(room), list(gains), 0, 0
    free, basic = list(range(len(gains))), list(range(len(gains), len(gains) + len(rows)))
    while True:
        better = [j for j, gain in enumerate(gains) if gain > nothing]
        if not better:
            return value, {j: room[i] for i, j in enumerate(basic)}
        enters = min(better, key=lambda j: free[j]) if stuck > 30 else max(better, key=lambda j: gains[j])
        over = [i for i, row in enumerate(rows) if row[enters] > nothing]
        leaves = min(over, key=lambda i: (room[i] / rows[i][enters], basic[i]))
        pivot = rows[leaves][enters]
        rows[leaves][enters] = 1
        rows[leaves], room[leaves] = [entry / pivot for entry in rows[leaves]], room[leaves] / pivot
        stuck = 0 if room[leaves] > nothing else stuck + 1
        for i, row in enumerate(rows):
            if i != leaves and row[enters]:
                factor, row[enters] = row[enters], 0
                rows[i] = [entry - factor * taken for entry, taken in zip(row, rows[leaves])]
                room[i] = max(room[i] - factor * room[leaves], 0)
        factor, gains[enters] = gains[enters], 0
        gains = [gain - factor * taken for gain, taken in zip(gains, rows[leaves])]
        value += factor * room[leaves]
        free[enters], basic[leaves] = basic[leaves], free[enters]


def slope(alpha, start, end):
    """What a part of what somebody has is worth between having so much more and so much, in units of the margin."""
    worth = lambda more: (1 + more).ln() if alpha == 1 else ((1 + more) ** (1 - alpha) - 1) / (1 - alpha)
    return (worth(end) - worth(start)) / (end - start)


def moves(parties, most, alpha, users, capacity, load):
    """The linear program of what may run elsewhere, and the steps by which parties have more and less: whose, which way, the variable,
    its gain. A party has a worth and members: a user, the work that it needs of it for what the party has, and which part of that is guaranteed."""
    room = {at: Decimal(0) if load[at] >= capacity[at] * (1 - NO_ROOM) else decimal(capacity[at] - load[at]) for at in capacity}
    columns, steps = [], []
    for p, party in enumerate(parties):
        ratio, held = party["log_worth"] - most, []
        alike = ratio >= ALIKE.ln()
        # Whoever is worth far less keeps what it is guaranteed, and so much that it would count with less.
        kept = Fraction(min(Decimal(1), ((ratio - ALIKE.ln()) / (alpha - 1)).exp())) if alpha > 1 else Fraction(0)
        for i, needs, sure in party["members"]:
            must = Fraction(1) if alike else max(sure, kept)
            user = users[i]
            for k, (piece, places) in enumerate(user["kinds"]):
                here = dict.fromkeys(places, Fraction(0))
                for kind, l, tasks in user["placed"]:
                    if kind == k:
                        here[l] += tasks
                if must:
                    work = sum(tasks * user["rate"].get(l, 1) for l, tasks in here.items())
                    beyond = work / needs - must
                    room["work", i, k] = decimal(beyond) if beyond > ROUNDING else Decimal(0)
                    held.append(("work", i, k))
                if "tasks" in user:
                    left = user["tasks"] - sum(here.values())
                    room["tasks", i, k] = decimal(left) if left > LEFT * user["tasks"] else Decimal(0)
                for l, tasks in here.items():
                    takes = {(l, r): decimal(d) for r, d in piece.items()}
                    takes |= {at: decimal(piece[row["resource"]]) for at, row in user["rows"].items()
                              if row["resource"] in piece and l in row["classes"]}
                    if must:
                        takes["work", i, k] = -decimal(user["rate"].get(l, 1) / needs)
                    if "tasks" in user:
                        takes["tasks", i, k] = Decimal(1)
                    columns.append(takes)
                    if tasks:
                        room["no less", i, k, l] = decimal(tasks)
                        columns.append({at: -much for at, much in takes.items()} | {("no less", i, k, l): Decimal(1)})
        if held and alike and ratio <= WEIGHED.ln():
            free = max(1 - decimal(max(sure for *_, sure in party["members"])), Decimal(0))
            for sign in [1, -1]:
                ends = [Decimal(0)] + [end if sign > 0 else min(end, free) for end in STEPS]
                for start, end in zip(ends, ends[1:]):
                    # What costs too much would not be done.
                    gain = slope(alpha, sign * start, sign * end) * ratio.exp() if start < end else WEIGHED
                    if gain < WEIGHED:
                        steps.append((p, sign, len(columns), sign * gain))
                        room["step", p, sign, end] = end - start
                        columns.append({at: Decimal(sign) for at in held} | {("step", p, sign, end): Decimal(1)})
    position = {at: i for i, at in enumerate(room)}
    columns = [{position[at]: much for at, much in column.items() if at in position} for column in columns]
    # Numbers near one: rows in parts of their largest entry.
    size = [max([abs(column[i]) for column in columns if i in column], default=Decimal(1)) for i in range(len(room))]
    columns = [{i: much / size[i] for i, much in column.items()} for column in columns]
    return columns, [much / size[i] for i, much in enumerate(room.values())], steps


def could_have_more(parties, hidden, alpha, users, capacity, load):
    """Who of the hidden ones could have more: where whoever is worth about as much in the sum may have a little more or less, whoever is worth
    more a little less, and whoever is worth far less may lose what it has, and all may have it elsewhere. At an optimum of a sum that
    makes nothing better. `None` where nobody could."""
    left = sorted(hidden, key=lambda p: -parties[p]["log_worth"])
    while left:
        most = parties[left[0]]["log_worth"]
        judged = [p for p in left if parties[p]["log_worth"] > most + JUDGED.ln()]
        left = left[len(judged):]
        columns, room, steps = moves(parties, most, alpha, users, capacity, load)
        gains = [Decimal(0)] * len(columns)
        for _, _, j, gain in steps:
            gains[j] = gain
        rows = [[column.get(i, Decimal(0)) for column in columns] for i in range(len(room))]
        value, found = largest(gains, rows, room, NOTHING)
        if value > OPEN * JUDGED * OWN * slope(alpha, Decimal(0), OWN):
            for p in judged:
                if sum(sign * found.get(j, 0) for whose, sign, j, _ in steps if whose == p) > OWN:
                    return parties[p]["name"]
    return None
