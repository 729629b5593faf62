"""Makes google2011_tasks_t0.csv: what the users of the Google 2011 cluster asked for at trace time 0.

    python3 google2011_tasks_t0.py PATH/task_events/part-00000-of-00500.csv.gz > google2011_tasks_t0.csv

Reads the rows of time 0 only. A task's request is that of its SUBMIT row; where that is empty, that of its
SCHEDULE row. A task with a SCHEDULE row runs, one without waits. Tasks that ask for neither CPU nor memory are
left out and counted on standard error. Users are numbered in the order in which they appear.
"""

import csv
import gzip
import sys
from decimal import Decimal

SUBMIT, SCHEDULE = "0", "1"
requests, running, user_of = {}, set(), {}
users = {}

with gzip.open(sys.argv[1], "rt", newline="") as part:
    for row in csv.reader(part):
        time, task, event, user, request = row[0], (row[2], row[3]), row[5], row[6], (row[9], row[10])
        if time != "0":
            break
        assert event in (SUBMIT, SCHEDULE), row
        user_of[task] = users.setdefault(user, len(users))
        if "" in requests.get(task, ("",)):
            requests[task] = request
        if event == SCHEDULE:
            running.add(task)

counts, empty = {}, 0
for task, request in requests.items():
    cpu, memory = map(Decimal, request)
    if cpu == 0 and memory == 0:
        empty += 1
        continue
    count = counts.setdefault((user_of[task], cpu, memory), [0, 0])
    count[task not in running] += 1

print("user,cpu,memory,running,waiting")
for (user, cpu, memory), (runs, waits) in sorted(counts.items()):
    print(f"{user},{cpu.normalize():f},{memory.normalize():f},{runs},{waits}")
print(f"{len(requests)} tasks, {empty} without CPU and memory left out", file=sys.stderr)
