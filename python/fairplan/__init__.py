"""Exact fair allocation of clusters whose servers differ: what each user should get, and a proof of it.

>>> import fairplan as fp
>>> cluster = fp.generate.drfh_fig1()
>>> solution = fp.solve(cluster, objective="drfh")
>>> solution
<fairplan.Solution: drfh 0.714286, optimal>
>>> fp.verify(cluster, solution).holds
True
"""

# What each module offers is said in its `__all__`, and nowhere again.
from fairplan import errors as errors
from fairplan import generate as generate
from fairplan import plan as plan
from fairplan._native import version as _version
from fairplan.commands import *
from fairplan.demands import *
from fairplan.errors import *
from fairplan.exports import *
from fairplan.imports import *
from fairplan.instances import *
from fairplan.mechanisms import *
from fairplan.pictures import *
from fairplan.policies import *
from fairplan.results import *
from fairplan.runs import *
from fairplan.sweeps import *
from fairplan.tables import *
from fairplan.traces import *

__version__: str = _version()[0]
