"""Exact fair allocation of clusters whose servers differ: what each user should get, and a proof of it.

>>> import fairplan as fp
>>> cluster = fp.generate.drfh_fig1()
>>> solution = fp.solve(cluster, objective="drfh")
>>> solution
<fairplan.Solution: drfh 0.714286, optimal>
>>> fp.verify(cluster, solution).holds
True
"""

from fairplan import errors, generate
from fairplan._native import version as _version
from fairplan.commands import audit, bound, compare, explain, place, report, solve, verify
from fairplan.errors import FairplanError, FairplanWarning, Infeasible, InputError, NotProved
from fairplan.instances import Instance, read
from fairplan.pictures import Picture
from fairplan.policies import Policy, Task
from fairplan.results import (
    Audit,
    Bound,
    Comparison,
    Explanation,
    Placement,
    Result,
    Solution,
    Verification,
)
from fairplan.tables import Table

__version__: str = _version()[0]

__all__ = [
    "Audit",
    "Bound",
    "Comparison",
    "Explanation",
    "FairplanError",
    "FairplanWarning",
    "Infeasible",
    "InputError",
    "Instance",
    "NotProved",
    "Picture",
    "Placement",
    "Policy",
    "Result",
    "Solution",
    "Table",
    "Task",
    "Verification",
    "__version__",
    "audit",
    "bound",
    "compare",
    "errors",
    "explain",
    "generate",
    "place",
    "read",
    "report",
    "solve",
    "verify",
]
