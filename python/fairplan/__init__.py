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
from fairplan.commands import (
    audit,
    bound,
    compare,
    entitlements,
    explain,
    place,
    report,
    reproduce,
    schema,
    solve,
    verify,
)
from fairplan.demands import Demands, allocate, offline, verify_offline
from fairplan.errors import FairplanError, FairplanWarning, Infeasible, InputError, NotProved
from fairplan.exports import export
from fairplan.imports import (
    import_alibaba_gpu2023,
    import_alibaba_gpu2023_trace,
    import_azure_v1,
    import_azure_v1_trace,
    import_google_2011,
    import_google_2011_trace,
    import_helios,
    import_kubernetes,
    import_kubernetes_queues,
    import_kueue,
    import_philly_trace,
    import_shaved_ice,
    import_slurm,
    import_snowset,
    import_swf_trace,
    import_yarn,
)
from fairplan.instances import Instance, read
from fairplan.mechanisms import History, Mechanism
from fairplan.pictures import Picture
from fairplan.policies import Policy, PolicyCommand, Task
from fairplan.results import (
    Allocation,
    Audit,
    Bound,
    Comparison,
    Difference,
    Entitlements,
    Explanation,
    Export,
    Flows,
    Growth,
    Losses,
    Moves,
    Offline,
    Placement,
    Plan,
    Reproduction,
    Result,
    Simulation,
    Solution,
    Verification,
    Worth,
)
from fairplan.runs import flows, simulate
from fairplan.sweeps import Sweep, sweep
from fairplan.tables import Table
from fairplan.traces import Trace

__version__: str = _version()[0]

__all__ = [
    "Allocation",
    "Audit",
    "Bound",
    "Comparison",
    "Demands",
    "Difference",
    "Entitlements",
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
    "PolicyCommand",
    "Reproduction",
    "Result",
    "Simulation",
    "Solution",
    "Sweep",
    "Table",
    "Task",
    "Trace",
    "Verification",
    "Worth",
    "__version__",
    "allocate",
    "audit",
    "bound",
    "compare",
    "entitlements",
    "errors",
    "explain",
    "export",
    "flows",
    "generate",
    "import_alibaba_gpu2023",
    "import_alibaba_gpu2023_trace",
    "import_azure_v1",
    "import_azure_v1_trace",
    "import_google_2011",
    "import_google_2011_trace",
    "import_helios",
    "import_kubernetes",
    "import_kubernetes_queues",
    "import_kueue",
    "import_philly_trace",
    "import_shaved_ice",
    "import_slurm",
    "import_snowset",
    "import_swf_trace",
    "import_yarn",
    "offline",
    "place",
    "plan",
    "read",
    "report",
    "reproduce",
    "schema",
    "simulate",
    "solve",
    "sweep",
    "verify",
    "verify_offline",
]
