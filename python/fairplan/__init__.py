"""Exact fair allocation of clusters whose servers differ: what each user should get, and a proof of it.

>>> import fairplan as fp
>>> cluster = fp.generate.drfh_fig1()
>>> solution = fp.solve(cluster, objective="drfh")
>>> solution
<fairplan.Solution: drfh 0.714286, optimal>
>>> fp.verify(cluster, solution).holds
True
"""

from fairplan import errors, generate, plan
from fairplan._native import version as _version
from fairplan.commands import audit, bound, compare, explain, place, report, solve, verify
from fairplan.demands import Demands, allocate, offline, verify_offline
from fairplan.errors import FairplanError, FairplanWarning, Infeasible, InputError, NotProved
from fairplan.exports import export
from fairplan.imports import import_kubernetes, import_kueue, import_slurm, import_yarn
from fairplan.instances import Instance, read
from fairplan.mechanisms import History, Mechanism
from fairplan.pictures import Picture
from fairplan.policies import Policy, Task
from fairplan.results import (
    Allocation,
    Audit,
    Bound,
    Comparison,
    Difference,
    Explanation,
    Export,
    Flows,
    Growth,
    Losses,
    Moves,
    Offline,
    Placement,
    Plan,
    Result,
    Simulation,
    Solution,
    Verification,
    Worth,
)
from fairplan.runs import flows, simulate
from fairplan.sweeps import Sweep, sweep
from fairplan.tables import Table

__version__: str = _version()[0]

__all__ = [
    "Allocation",
    "Audit",
    "Bound",
    "Comparison",
    "Demands",
    "Difference",
    "Explanation",
    "Export",
    "FairplanError",
    "FairplanWarning",
    "Flows",
    "Growth",
    "History",
    "Infeasible",
    "InputError",
    "Instance",
    "Losses",
    "Mechanism",
    "Moves",
    "NotProved",
    "Offline",
    "Picture",
    "Placement",
    "Plan",
    "Policy",
    "Result",
    "Simulation",
    "Solution",
    "Sweep",
    "Table",
    "Task",
    "Verification",
    "Worth",
    "__version__",
    "allocate",
    "audit",
    "bound",
    "compare",
    "errors",
    "explain",
    "export",
    "flows",
    "generate",
    "import_kubernetes",
    "import_kueue",
    "import_slurm",
    "import_yarn",
    "offline",
    "place",
    "plan",
    "read",
    "report",
    "simulate",
    "solve",
    "sweep",
    "verify",
    "verify_offline",
]
