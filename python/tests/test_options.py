"""Every command has its function, and every option of it is a parameter of the same name and default, or stands here."""

import inspect
import re

import pytest

import fairplan as fp

EVERYWHERE = {"servers", "users", "groups", "format", "output", "quiet", "threads", "help", "version"}
"""Where an instance comes from and where a result goes: an Instance, and Result.write."""

POLICIES = {"policy-command": "a PolicyCommand among the policies", "policy-timeout": "of a PolicyCommand"}
DEMANDS = {"members": "of Demands", "round": "of Demands"}
START = {"from": "start"}

FUNCTIONS = {
    "solve": (fp.solve, {"no-timing": "Solution.to_json(timing=False)", "placement-out": "Solution.placement"}),
    "place": (fp.place, POLICIES),
    "bound": (fp.bound, {}),
    "compare": (fp.compare, POLICIES | {"no-timing": "timing", "placement": "placements", "bound-out": "bound"}),
    "audit": (fp.audit, {"all": "one objective a call"}),
    "entitlements": (fp.entitlements, {}),
    "explain": (fp.explain, {}),
    "plan buy": (fp.plan.buy, {"cluster-out": "Plan.cluster", "placement-out": "Plan.placement"}),
    "plan worth": (fp.plan.worth, {"no-ranges": "ranges"}),
    "plan lose": (
        fp.plan.lose,
        {"servers-lost": "servers", "policy-command": "of the command alone", "policy-timeout": "of the command alone"},
    ),
    "plan diff": (fp.plan.diff, {}),
    "plan growth": (fp.plan.growth, {}),
    "plan move": (
        fp.plan.move,
        START | {"unplaced": "neither to nor level", "keep-server": "keep_servers", "cost": "costs"},
    ),
    "allocate": (fp.allocate, DEMANDS),
    "offline": (fp.offline, DEMANDS),
    "flows": (fp.flows, {}),
    "simulate": (fp.simulate, POLICIES | {"policy": "policies"}),
    "verify": (fp.verify, {"instance": "of verify_offline", "members": "of Demands"}),
    "export": (fp.export, {"quotas": "the Export itself"}),
    "report": (fp.report, {"plot": "Result.plot", "chart": "Result.plot"}),
    "reproduce": (fp.reproduce, {"sweep": "sweep", "plots": "Result.plot", "bounds": "of the command alone"}),
    "schema": (fp.schema, {}),
    "import kubernetes": (fp.import_kubernetes, {}),
    "import kubernetes-queues": (fp.import_kubernetes_queues, {}),
    "import kueue": (fp.import_kueue, {}),
    "import slurm": (fp.import_slurm, {}),
    "import yarn": (fp.import_yarn, {}),
    "import google-2011": (fp.import_google_2011, {}),
    "import google-2011-trace": (fp.import_google_2011_trace, {}),
    "import alibaba-gpu2023": (fp.import_alibaba_gpu2023, {}),
    "import alibaba-gpu2023-trace": (fp.import_alibaba_gpu2023_trace, {}),
    "import azure-v1": (fp.import_azure_v1, START),
    "import azure-v1-trace": (fp.import_azure_v1_trace, {}),
    "import philly-trace": (fp.import_philly_trace, {}),
    "import swf-trace": (fp.import_swf_trace, {}),
    "import snowset": (fp.import_snowset, START),
    "import helios": (fp.import_helios, {"fair-shares-to": "the second of what comes back"}),
    "import shaved-ice": (fp.import_shaved_ice, {}),
    "generate google": (fp.generate.google, {}),
    "generate drfh-fig1": (fp.generate.drfh_fig1, {}),
    "generate drfh-fig4": (fp.generate.drfh_fig4, {}),
    "generate population": (fp.generate.population, {}),
    "generate karma-fig2": (fp.generate.karma_fig2, {}),
    "generate demands": (fp.generate.demands, {}),
    "generate mrf-fig1": (fp.generate.mrf_fig1, {}),
    "generate mrf-fig2": (fp.generate.mrf_fig2, {}),
    "generate trace-drfh-fig4": (fp.generate.trace_drfh_fig4, {}),
    "generate trace-random": (fp.generate.trace_random, {}),
    "generate kubernetes-nodes": (fp.generate.kubernetes_nodes, {}),
    "generate kubernetes-pods": (fp.generate.kubernetes_pods, {}),
}

METHODS = {
    "convert": "Instance.write, .write_tables and .without, Trace.write",
    "sweep": "fp.sweep",
    "completions": "of a shell",
    "manual": "of the command",
    "help": "help()",
}


def subcommands(text: str) -> list[str]:
    listed = text.split("Commands:\n")[1].split("\nOptions:")[0]
    return re.findall(r"^  ([a-z0-9-]+)\b", listed, re.MULTILINE)


def test_every_command_has_its_function(command):
    known = set()
    for name in subcommands(command("--help").decode()):
        if name in METHODS:
            continue
        below = subcommands(command("help", name).decode()) if name in ("plan", "import", "generate") else []
        known.update([f"{name} {one}" for one in below if one != "help"] or [name])
    assert known == set(FUNCTIONS)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_option_is_a_parameter_of_the_same_name_and_default(name, command):
    function, elsewhere = FUNCTIONS[name]
    told = command(*name.split(), "--help").decode()
    parameters = inspect.signature(function).parameters
    # Text below the options may begin with one.
    listed = told.split("\nOptions:")[1]
    blocks = re.split(r"^ {2,6}(?:-[a-z], )?--(?=[a-z])", listed, flags=re.MULTILINE)[1:]
    options = {re.match("[a-z0-9-]+", block).group(): block for block in blocks}
    assert options.keys() >= elsewhere.keys(), "stands here and is no option any more"
    for option, block in options.items():
        # Servers and users are drawn by some, and tables of an instance to others.
        is_common = option in EVERYWHERE and option.replace("-", "_") not in parameters
        if is_common or option in elsewhere:
            continue
        ours = parameters[option.replace("-", "_")].default
        stated = re.search(r"\[default: ([^\]]*)\]", re.sub(r"\s+", " ", block))
        if stated is None:
            assert ours in (None, False, (), inspect.Parameter.empty), f"{option}: {ours!r}"
        else:
            theirs = stated.group(1).strip("\"")
            ours = ",".join(map(str, ours)) if isinstance(ours, tuple) else str(ours)
            assert ours == theirs or float(ours) == float(theirs), f"{option}: {ours} here, {theirs} there"
