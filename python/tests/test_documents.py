"""Python gives the documents that the command gives, to the byte, and its defaults are those of the library."""

import inspect
import json
import pathlib
import pickle
import random

import pytest

import fairplan as fp
from fairplan import _native



def test_solve_and_everything_that_follows_gives_the_bytes_of_the_command(cluster, command, tmp_path):
    cluster.write(tmp_path / "i.json")
    for objective in ["drfh", "pf", "alpha=2", "utilitarian", "tsf"]:
        try:
            solution = fp.solve(cluster, objective=objective)
        except fp.InputError:
            continue
        expected = command("solve", "i.json", "--objective", objective, "--no-timing")
        assert solution.to_json(timing=False).encode() == expected, objective
    for form in ["exact", "sparse"]:
        expected = command("solve", "i.json", f"--{form}", "--no-timing")
        assert fp.solve(cluster, **{form: True}).to_json(timing=False).encode() == expected, form
    for policy in ["best-fit", "first-fit", "worst-fit", "dot-product", "random", "slots=9"]:
        expected = command("place", "i.json", "--policy", policy, "--seed", "7", "--servers-out")
        placed = fp.place(cluster, policy=policy, seed=7, servers_out=True)
        assert placed.to_json().encode() == expected, policy
        assert fp.verify(cluster, placed)
    assert fp.place(cluster).to_json().encode() == command("place", "i.json")
    assert fp.compare(cluster, timing=False).to_json().encode() == command("compare", "i.json", "--no-timing")
    allocated = f"allocated={cluster.resources[-1]}"
    taken = fp.compare(cluster, timing=False, objective=allocated)
    words = ("compare", "i.json", "--no-timing", "--objective", allocated)
    assert taken.to_json().encode() == command(*words)
    ours = fp.compare(cluster, timing=False, per_user=True)
    assert ours.to_json().encode() == command("compare", "i.json", "--no-timing", "--per-user")
    user = cluster.to_dict()["users"][0]["id"]
    assert fp.explain(cluster, user).to_json().encode() == command("explain", "i.json", "--user", user)
    solution.write(tmp_path / "s.json")
    verified = command("verify", "i.json", "s.json")
    assert fp.verify(cluster, solution).to_json().encode() == verified
    assert fp.verify(cluster, tmp_path / "s.json").to_json().encode() == verified


def test_exports_are_the_bytes_of_the_command(command, tmp_path):
    cluster = fp.generate.drfh_fig1()
    solution = fp.solve(cluster)
    cluster.write(tmp_path / "i.json")
    solution.write(tmp_path / "s.json")
    for target in ["kueue", "slurm"]:
        exported = fp.export(cluster, solution, target, memory_in="Gi", headroom=0.05, hard=True)
        options = ["--memory-in", "Gi", "--headroom", "0.05", "--hard"]
        expected = command("export", target, "i.json", "s.json", *options, "--quotas", "q.json")
        assert exported.configuration.encode() == expected
        assert exported.to_json() == (tmp_path / "q.json").read_text()
        assert fp.verify(cluster, exported)
        file = tmp_path / "exported"
        file.write_text(exported.configuration)
        assert fp.verify(cluster, solution, exported=file)
        assert command("verify", "i.json", "s.json", "--exported", str(file)) == (
            fp.verify(cluster, solution, exported=file).to_json().encode()
        )
        assert fp.verify(cluster, exported, exported=str(file))
        file.write_text(exported.configuration.replace("2", "3"))
        assert not fp.verify(cluster, solution, exported=file)
    with pytest.raises(fp.InputError, match="target = x"):
        fp.export(cluster, solution, "x")
    with pytest.raises(fp.InputError, match="headroom"):
        fp.export(cluster, solution, "kueue", memory_in="Gi", headroom=1)


def test_a_group_is_explained_as_the_command_does(command, tmp_path):
    users = [{"id": "a", "demand": {"cpu": 1}, "group": "g"}, {"id": "b", "demand": {"cpu": 2}}]
    servers = [{"id": "s", "count": 2, "capacity": {"cpu": 8}}]
    cluster = fp.Instance.from_dict(
        {"resources": ["cpu"], "server_classes": servers, "groups": [{"id": "g"}], "users": users}
    )
    cluster.write(tmp_path / "i.json")
    assert fp.explain(cluster, group="g").to_json().encode() == command("explain", "i.json", "--group", "g")
    with pytest.raises(fp.InputError, match="group h"):
        fp.explain(cluster, group="h")
    for wrong in [{}, {"user": "a", "group": "g"}]:
        with pytest.raises(TypeError, match="a user or a group"):
            fp.explain(cluster, **wrong)


def test_bounds_audits_and_plans_give_the_bytes_of_the_command(command, tmp_path):
    cluster = fp.generate.drfh_fig1()
    cluster.write(tmp_path / "i.json")
    (tmp_path / "catalog.csv").write_text("id,price\nhigh-cpu,3\nhigh-memory,2\n")
    (tmp_path / "series.csv").write_text("quantum,all\n1,10\n2,11\n3,13\n")
    catalog, series = tmp_path / "catalog.csv", tmp_path / "series.csv"
    fp.generate.drfh_fig4(users=[1, 2]).write(tmp_path / "j.json")
    now = fp.place(cluster, policy="first-fit", servers_out=True)
    now.write(tmp_path / "now.json")
    fp.place(cluster, servers_out=True).write(tmp_path / "then.json")
    for ours, words in [
        (fp.bound(cluster), "bound i.json"),
        (fp.bound(cluster, objective="pf"), "bound i.json --objective pf"),
        (fp.bound(cluster, objective="allocated=memory"), "bound i.json --objective allocated=memory"),
        (fp.plan.worth(cluster), "plan worth i.json"),
        (fp.plan.lose(cluster), "plan lose i.json"),
        (fp.plan.lose(cluster, servers=1), "plan lose i.json --servers-lost 1"),
        (fp.plan.lose(cluster, whole=True, policy="random", seed=7), "plan lose i.json --whole --policy random --seed 7"),
        (fp.plan.buy(cluster, catalog=catalog, share=0.9), "plan buy i.json --catalog catalog.csv --share 0.9"),
        (
            fp.plan.buy(cluster, catalog=catalog, tasks={"user-1": 14}, whole=True),
            "plan buy i.json --catalog catalog.csv --tasks user-1=14 --whole",
        ),
        (fp.plan.growth(cluster, series=series, share=0.1, by="all"), "plan growth i.json --series series.csv --share 0.1 --by all"),
        (fp.plan.move(cluster, start=now, level=1.0), "plan move i.json --from now.json --level 1"),
        (
            fp.plan.move(cluster, start=now, to=tmp_path / "then.json", costs={"user-1": 2}),
            "plan move i.json --from now.json --to then.json --cost user-1=2",
        ),
        (fp.plan.diff(cluster, fp.read(tmp_path / "j.json")), "plan diff i.json j.json"),
    ]:
        assert ours.to_json().encode() == command(*words.split()), words


def test_plans_of_labels_overheads_and_stages_give_the_bytes_of_the_command(command, tmp_path):
    command("generate", "kubernetes-nodes", "-o", "nodes.json")
    command("generate", "kubernetes-pods", "-o", "pods.json")
    words = "import kubernetes --nodes nodes.json --pods pods.json --placement-out now.json -o named.json"
    command(*words.split())
    nodes, host = tmp_path / "nodes.json", "kubernetes.io/hostname"
    named = fp.read(tmp_path / "named.json")
    expected = command("plan", "lose", "named.json", "--label", host, "--nodes", "nodes.json")
    assert fp.plan.lose(named, label=host, nodes=nodes).to_json().encode() == expected
    assert fp.plan.lose(named, label=[host], nodes=[nodes]).to_json().encode() == expected
    with pytest.raises(fp.InputError, match="no node has it"):
        fp.plan.lose(named, label="nothing", nodes=nodes)
    with pytest.raises(TypeError, match="stated together"):
        fp.plan.lose(named, label=host)
    cluster = fp.generate.drfh_fig1()
    cluster.write(tmp_path / "i.json")
    catalog, series = tmp_path / "catalog.csv", tmp_path / "series.csv"
    catalog.write_text("id,price,commitment_price,commitment_periods,cpu,memory\nnew,3,2,12,8,8\n")
    series.write_text("quantum,all\n1,10\n2,11\n3,13\n4,20\n")
    ours = fp.plan.buy(cluster, catalog=catalog, share=0.9, overhead={"cpu": 0.5, "memory": 1})
    words = "plan buy i.json --catalog catalog.csv --share 0.9 --overhead cpu=0.5,memory=1"
    assert ours.to_json().encode() == command(*words.split())
    assert ours["purchase"]["servers"][0]["reserved"]["break_even"] == 8.0
    assert fp.verify(cluster, ours)
    with pytest.raises(fp.InputError, match="overhead = gpu: is no resource"):
        fp.plan.buy(cluster, catalog=catalog, share=0.9, overhead={"gpu": 1})
    ours = fp.plan.growth(cluster, series=series, share=0.6, catalog=catalog, stages=2, periods_per_quantum=3)
    words = "plan growth i.json --series series.csv --share 0.6 --catalog catalog.csv --stages 2 --periods-per-quantum 3"
    assert ours.to_json().encode() == command(*words.split(), status=1)
    assert len(ours["purchases"]) == 2 and fp.verify(cluster, ours)
    with pytest.raises(fp.InputError, match="stages = 0"):
        fp.plan.growth(cluster, series=series, share=0.6, catalog=catalog, stages=0)


def test_demands_give_the_bytes_of_the_command(command, tmp_path):
    demands = fp.generate.demands(users=12, quanta=40, mean=4, seed=2)
    (tmp_path / "d.json").write_text(demands.to_json())
    for mechanism in ["karma", "max-min", "strict", "las"]:
        expected = command("allocate", "d.json", "--mechanism", mechanism, "--fair-share", "4", "--per-quantum")
        ours = fp.allocate(demands, mechanism=mechanism, fair_share=4, per_quantum=True)
        assert ours.to_json().encode() == expected, mechanism
    expected = command("offline", "d.json", "--capacity", "48", "--against", "karma,max-min", "--per-quantum")
    ours = fp.offline(demands, capacity=48, against=["karma", "max-min"], per_quantum=True)
    assert ours.to_json().encode() == expected
    assert fp.verify_offline(demands, ours)
    instance = fp.generate.drfh_fig1()
    instance.write(tmp_path / "i.json")
    tasks = fp.Demands({"user-1": [20, 5, 9], "user-2": [3, 20, 20]})
    (tmp_path / "t.json").write_text(tasks.to_json())
    for mechanism in ["drfh", "karma"]:
        expected = command("allocate", "t.json", "--instance", "i.json", "--mechanism", mechanism)
        ours = fp.allocate(tasks, instance=instance, mechanism=mechanism)
        assert ours.to_json().encode() == expected, mechanism
        assert len(ours.table) == 2


def test_what_happens_over_time_gives_the_bytes_of_the_command(command, tmp_path):
    (tmp_path / "t.jsonl").write_bytes(command("generate", "trace-drfh-fig4"))
    (tmp_path / "m.json").write_bytes(command("generate", "mrf-fig1"))
    trace, traffic = tmp_path / "t.jsonl", tmp_path / "m.json"
    assert fp.simulate(trace).to_json().encode() == command("simulate", "t.jsonl")
    ours = fp.simulate(trace, policies=["exact"], horizon=500, over_commit=1.5)
    words = "simulate t.jsonl --policy exact --horizon 500 --over-commit 1.5"
    assert ours.to_json().encode() == command(*words.split())
    assert ours.series is None and ours.jobs is None
    ours = fp.flows(traffic, level="flow", loads=[0.3, 0.5], replications=3, arrivals=200, seed=4)
    words = "flows m.json --level flow --loads 0.3,0.5 --replications 3 --arrivals 200 --seed 4"
    assert ours.to_json().encode() == command(*words.split())
    with pytest.raises(fp.InputError, match="window means nothing"):
        fp.flows(traffic, window=3)


def test_what_a_simulation_tells_over_time_are_the_tables_of_the_command(command, tmp_path):
    import polars

    trace = tmp_path / "t.jsonl"
    trace.write_bytes(command("generate", "trace-drfh-fig4"))
    for options, words in [
        ({}, ""),
        ({"sample": 50}, "--sample 50"),
        ({"optimum": 100}, "--optimum 100"),
        ({"sample": 20, "optimum": 200.5}, "--sample 20 --optimum 200.5"),
    ]:
        ours = fp.simulate(trace, policies=["best-fit", "pf"], series=True, jobs=True, horizon=1500, **options)
        line = "simulate t.jsonl --policy best-fit,pf --series s.parquet --jobs j.parquet --horizon 1500"
        assert ours.to_json().encode() == command(*line.split(), *words.split()), words
        for table, file in [(ours.series, "s.parquet"), (ours.jobs, "j.parquet")]:
            assert polars.DataFrame(table).equals(polars.read_parquet(tmp_path / file)), (file, words)
    # What is stopped has what it has told so far.
    with pytest.raises(fp.NotProved) as stopped:
        fp.simulate(trace, series=True, jobs=True, time_limit=1e-6)
    assert stopped.value.found["partial"] and len(stopped.value.found.jobs) == 0
    for wrong, told in [
        ({"sample": 1}, "series=True"),
        ({"optimum": 1}, "series=True"),
        ({"remaining": 1}, "placement"),
        ({"instance": fp.generate.drfh_fig1()}, "stated together"),
        ({"placement": "p.json"}, "stated together"),
    ]:
        with pytest.raises(TypeError, match=told):
            fp.simulate(trace, **wrong)
    with pytest.raises(fp.InputError, match="sample = -1"):
        fp.simulate(trace, series=True, sample=-1)


def test_a_simulation_that_begins_with_a_placement_gives_the_bytes_of_the_command(command, tmp_path):
    cluster = fp.generate.drfh_fig1()
    cluster.write(tmp_path / "i.json")
    placed = fp.place(cluster, servers_out=True)
    placed.write(tmp_path / "p.json")
    instance = cluster.to_dict()
    header = {"format": "fairplan.trace.v1"} | {name: instance[name] for name in ["resources", "server_classes"]}
    job = {"time": 10, "event": "tasks_submitted", "user": "u", "job": "j", "duration": 5, "count": 3}
    job["demand"] = {"cpu": 1, "memory": 1}
    trace = tmp_path / "t.jsonl"
    trace.write_text(json.dumps(header) + "\n" + json.dumps(job) + "\n")
    for given in [placed, tmp_path / "p.json"]:
        ours = fp.simulate(trace, policies=["best-fit"], placement=given, instance=cluster, remaining=30)
        words = "simulate t.jsonl --policy best-fit --placement p.json --instance i.json --remaining 30"
        assert ours.to_json().encode() == command(*words.split())
    ours = fp.simulate(trace, policies=["best-fit"], placement=placed, instance=tmp_path / "i.json")
    words = "simulate t.jsonl --policy best-fit --placement p.json --instance i.json"
    assert ours.to_json().encode() == command(*words.split())
    with pytest.raises(fp.InputError, match="servers"):
        fp.simulate(trace, placement=fp.place(cluster), instance=cluster)


def test_rules_publications_and_schemas_give_the_bytes_of_the_command(command, tmp_path):
    cluster = fp.generate.drfh_fig1()
    cluster.write(tmp_path / "i.json")
    assert fp.entitlements(cluster).to_json().encode() == command("entitlements", "i.json")
    quotas = cluster.to_dict()
    for user, cpu in zip(quotas["users"], [2, 1], strict=True):
        user["guarantee"] = {"cpu": cpu}
    promised = fp.Instance.from_dict(quotas)
    promised.write(tmp_path / "q.json")
    ours = fp.entitlements(cluster, quotas=promised)
    assert ours.to_json().encode() == command("entitlements", "i.json", "--quotas", "q.json")
    assert len(ours.table) == 2
    with pytest.raises(fp.InputError, match="guarantees nothing"):
        fp.entitlements(cluster, quotas=cluster)
    assert fp.reproduce("drfh-fig3").to_json().encode() == command("reproduce", "drfh-fig3")
    with pytest.raises(fp.InputError, match="drfh-fig3"):
        fp.reproduce("drfh-fig33")
    assert fp.schema("moves") == json.loads(command("schema", "moves"))
    assert fp.schema() == json.loads(command("schema"))
    with pytest.raises(fp.InputError, match="unknown format x"):
        fp.schema("x")


@pytest.mark.parametrize("objective", ["drfh", "pf", "alpha=2", "utilitarian", "tsf", "bmf", "drf", "drf-per-server"])
def test_audits_are_the_bytes_of_the_command_for_every_objective(objective, command, tmp_path):
    cluster = fp.generate.drfh_fig1()
    cluster.write(tmp_path / "i.json")
    try:
        audit = fp.audit(cluster, objective=objective, seed=3, users_searched=2)
    except fp.InputError as refused:
        words = ["audit", "i.json", "--objective", objective]
        command(*words, status=2)
        assert "cannot" in str(refused) or "has" in str(refused)
        return
    words = ["audit", "i.json", "--objective", objective, "--seed", "3", "--users-searched", "2"]
    assert audit.to_json().encode() == command(*words, status=0 if audit.holds else 1)


def test_two_solutions_differ_as_the_command_says(command, tmp_path):
    first, second = (fp.solve(fp.generate.drfh_fig4(), objective=objective) for objective in ["drfh", "pf"])
    first.write(tmp_path / "a.json")
    second.write(tmp_path / "b.json")
    assert fp.plan.diff(first, second).to_json().encode() == command("plan", "diff", "a.json", "b.json")
    with pytest.raises(TypeError, match="two instances or two solutions"):
        fp.plan.diff(first, fp.generate.drfh_fig4())


def test_what_an_export_changes_is_told_as_tables(command, tmp_path):
    cluster = fp.generate.drfh_fig1()
    solution = fp.solve(cluster)
    cluster.write(tmp_path / "i.json")
    solution.write(tmp_path / "s.json")
    exported = fp.export(cluster, solution, "kueue", memory_in="Gi")
    assert exported.changes is None and exported.lost is None
    deployed = tmp_path / "deployed.yaml"
    deployed.write_text(exported.configuration)
    same = fp.export(cluster, solution, "kueue", memory_in="Gi", current=deployed)
    assert len(same.changes) == 0 and len(same.lost) == 0
    changed = fp.export(cluster, solution, "kueue", memory_in="Gi", headroom=0.3, current=[deployed])
    words = "export kueue i.json s.json --memory-in Gi --headroom 0.3 --current deployed.yaml"
    lines = command(*words.split(), status=1).decode().splitlines()
    assert len(changed.changes) == len(lines) > 0
    for queue, what, line in zip(changed.changes["queue"], changed.changes["what"], lines, strict=True):
        assert line.startswith(f"{queue}: {what} ")


DATA = pathlib.Path(__file__).resolve().parents[2] / "imports" / "data"


def of_data(text):
    """The words of a command with the files of the data folder."""
    return [str(DATA / word[1:]) if word.startswith("@") else word for word in text.split()]


CLUSTERS = {
    "kubernetes --nodes @kubernetes/nodes.json --pods @kubernetes/pods.yaml --quotas @kubernetes/quotas.yaml": lambda: fp.import_kubernetes(
        nodes=DATA / "kubernetes/nodes.json", pods=DATA / "kubernetes/pods.yaml", quotas=DATA / "kubernetes/quotas.yaml"
    ),
    "kubernetes-queues --nodes @kubernetes/nodes.json --queues @kubernetes/kai.yaml": lambda: fp.import_kubernetes_queues(
        nodes=DATA / "kubernetes/nodes.json", queues=DATA / "kubernetes/kai.yaml"
    ),
    "slurm --nodes @slurm/nodes.json --jobs @slurm/jobs.json --user account": lambda: fp.import_slurm(
        nodes=DATA / "slurm/nodes.json", jobs=[DATA / "slurm/jobs.json"], user="account"
    ),
    "yarn --nodes @yarn/nodes.json --queues @yarn/fair-scheduler.xml": lambda: fp.import_yarn(
        nodes=DATA / "yarn/nodes.json", queues=DATA / "yarn/fair-scheduler.xml"
    ),
    "yarn --nodes @yarn/nodes.json --queues @yarn/capacity-scheduler.xml": lambda: fp.import_yarn(
        nodes=DATA / "yarn/nodes.json", queues=DATA / "yarn/capacity-scheduler.xml"
    ),
    "kueue @kueue/queues.yaml": lambda: fp.import_kueue(DATA / "kueue/queues.yaml"),
    "kueue @kueue/fleet.yaml --user local-queue --weights quota": lambda: fp.import_kueue(
        DATA / "kueue/fleet.yaml", user="local-queue", weights="quota"
    ),
    "google-2011 --machine-events @google2011_slice/machine_events.csv --task-events @google2011_slice/task_events-00000.csv --group shape": lambda: (
        fp.import_google_2011(
            machine_events=DATA / "google2011_slice/machine_events.csv",
            task_events=DATA / "google2011_slice/task_events-00000.csv",
            group="shape",
        )
    ),
}


@pytest.mark.filterwarnings("ignore::fairplan.FairplanWarning")
@pytest.mark.parametrize("words", CLUSTERS)
def test_imports_give_the_instances_of_the_command(words, command):
    assert CLUSTERS[words]().to_json().encode() == command("import", *of_data(words))


PRESENT = {
    "kubernetes --nodes @kubernetes/captured/nodes.json --pods @kubernetes/captured/pods.json": lambda: fp.import_kubernetes(
        nodes=DATA / "kubernetes/captured/nodes.json", pods=DATA / "kubernetes/captured/pods.json", placement_out=True
    ),
    "slurm --nodes @slurm/nodes.json --jobs @slurm/jobs.json": lambda: fp.import_slurm(
        nodes=DATA / "slurm/nodes.json", jobs=DATA / "slurm/jobs.json", placement_out=True
    ),
    "google-2011 --machine-events @google2011_slice/machine_events.csv --task-events @google2011_slice/task_events-00000.csv": lambda: (
        fp.import_google_2011(
            machine_events=DATA / "google2011_slice/machine_events.csv",
            task_events=DATA / "google2011_slice/task_events-00000.csv",
            placement_out=True,
        )
    ),
}


@pytest.mark.filterwarnings("ignore::fairplan.FairplanWarning")
@pytest.mark.parametrize("words", PRESENT)
def test_what_runs_where_comes_with_the_cluster(words, command, tmp_path):
    cluster, now = PRESENT[words]()
    assert cluster.to_json().encode() == command("import", *of_data(words), "--placement-out", "now.json")
    assert now.to_json() == (tmp_path / "now.json").read_text()


def test_imports_tell_what_is_read_and_warn_of_what_is_left_out():
    told = []
    nodes, jobs = DATA / "slurm/nodes.json", DATA / "slurm/jobs.json"
    with pytest.warns(fp.FairplanWarning, match="1 node left out: down") as warned:
        fp.import_slurm(nodes=nodes, jobs=jobs, progress=told.append)
    assert all(warning.filename == __file__ for warning in warned)
    assert any("nodes" in line for line in told)


LOG = """; MaxNodes: 4
; MaxProcs: 8
1 0 5 100 2 -1 -1 2 -1 -1 1 3 -1 -1 -1 -1 -1 -1
2 30 0 50 1 -1 -1 1 -1 -1 1 4 -1 -1 -1 -1 -1 -1
"""


def test_traces_are_those_of_the_command(command, tmp_path):
    (tmp_path / "log.swf").write_text(LOG)
    (tmp_path / "jobs.csv").write_text("timestamp,duration,num_gpus,cluster\n2017-10-09 07:01:55,60,12,a\n2017-10-09 07:02:00,30,1,b\n")
    tasks = "@google2011_slice/task_events-00000.csv"
    pairs = [
        (fp.import_swf_trace(tmp_path / "log.swf"), "import swf-trace log.swf"),
        (fp.import_swf_trace(tmp_path / "log.swf", servers=2, processors=3), "import swf-trace log.swf --servers 2 --processors 3"),
        (fp.import_swf_trace(tmp_path / "log.swf", gangs=True), "import swf-trace log.swf --gangs"),
        (fp.import_philly_trace(tmp_path / "jobs.csv", servers=3, gpus=4), "import philly-trace jobs.csv --servers 3 --gpus 4"),
        (
            fp.import_google_2011_trace(task_events=of_data(tasks), servers=5, seed=2),
            f"import google-2011-trace --task-events {tasks} --servers 5 --seed 2",
        ),
        (fp.generate.trace_drfh_fig4(), "generate trace-drfh-fig4"),
        (
            fp.generate.trace_random(servers=9, users=3, jobs=20, seconds=100, outages=2, seed=5),
            "generate trace-random --servers 9 --users 3 --jobs 20 --seconds 100 --outages 2 --seed 5",
        ),
    ]
    for trace, words in pairs:
        lines = command(*of_data(words))
        assert trace.to_json_lines().encode() == lines, words
        assert fp.Trace.from_json_lines(lines) == trace == pickle.loads(pickle.dumps(trace))
        assert trace.name in repr(trace)
    trace.write(tmp_path / "t.parquet")
    assert fp.Trace(tmp_path / "t.parquet") == trace and trace.resources == ["cpu", "memory"]
    ours = fp.simulate(trace, policies=["first-fit"], dedicated=True)
    command(*pairs[-1][1].split(), "-o", "t.jsonl")
    assert ours.to_json().encode() == command("simulate", "t.jsonl", "--policy", "first-fit", "--dedicated")
    assert fp.simulate(tmp_path / "t.jsonl", policies=["first-fit"], dedicated=True) == ours
    for wrong, told in [
        (lambda: fp.Trace("/missing.jsonl"), "/missing.jsonl: No such file"),
        (lambda: trace.write(tmp_path / "t.csv"), "a trace is written as .jsonl, .jsonl.gz or .parquet"),
        (lambda: fp.import_philly_trace(tmp_path / "jobs.csv", servers=3, gpus=0), "gpus = 0: must be at least 1"),
        (lambda: fp.import_swf_trace(tmp_path / "jobs.csv"), "jobs.csv: line 1"),
    ]:
        with pytest.raises(fp.InputError, match=told):
            wrong()
    with pytest.raises(TypeError, match="machine_events"):
        fp.import_google_2011_trace(task_events=of_data(tasks))


def test_demands_of_other_systems_are_those_of_the_command(command, tmp_path):
    for name, quota in [("a", 4), ("b", 2)]:
        rows = [f"2020-04-01 00:0{minute}:00,{quota},{minute},1" for minute in range(4)]
        text = "\n".join(["time,total_gpu_num,running_gpu_num,pending_gpu_num", *rows]) + "\n"
        (tmp_path / f"{name}.cluster_sequence_vc.csv").write_text(text)
    files = [f"{name}.cluster_sequence_vc.csv" for name in "ab"]
    demands, quotas = fp.import_helios([tmp_path / file for file in files], every=2)
    expected = command("import", "helios", *files, "--every", "2", "--fair-shares-to", "shares.csv")
    assert demands.to_json().encode() == expected and quotas == {"a": 4, "b": 2}
    by_name = fp.allocate(demands, fair_shares=quotas)
    assert fp.allocate(demands, fair_shares=tmp_path / "shares.csv") == by_name
    (tmp_path / "hours.csv").write_text("USAGE_HOUR,REGION_NUM,INSTANCE_TYPE,NORM_USAGE\n2021-02-01 00:00:00.000,1,A,500\n")
    ice = fp.import_shaved_ice(tmp_path / "hours.csv")
    assert ice.to_json().encode() == command("import", "shaved-ice", "hours.csv")
    with pytest.raises(fp.InputError, match="every = 0"):
        fp.import_helios(tmp_path / files[0], every=0)


def test_tables_of_an_instance_are_those_it_is_read_from(command, tmp_path):
    cluster = fp.Instance.from_dict(
        {
            "resources": ["cpu", "memory"],
            "server_classes": [
                {"id": "a", "count": 2, "capacity": {"cpu": 4.5, "memory": 8}},
                {"id": "b", "count": 1, "capacity": {"cpu": 2, "memory": 2}},
            ],
            "groups": [{"id": "g", "weight": 2}, {"id": "h", "parent": "g"}],
            "users": [
                {"id": "x", "demand": {"cpu": 0.1, "memory": 1}, "group": "h", "weight": 3, "eligible": ["a"]},
                {"id": "y", "demand": {"cpu": 1}, "group": "g", "tasks": 7, "rates": {"b": 0.5}},
            ],
        }
    )
    assert fp.Instance(cluster.servers, cluster.users, cluster.groups) == cluster
    assert cluster.users["tasks"] == [None, 7] and cluster.groups["parent"] == [None, "g"]
    cluster.write(tmp_path / "i.json")
    for ending in ["csv", "parquet", "arrow", "csv.gz"]:
        names = [f"{name}.{ending}" for name in ["servers", "users", "groups"]]
        cluster.write_tables(*(tmp_path / name for name in names))
        ours = [(tmp_path / name).read_bytes() for name in names]
        options = [word for pair in zip(["--to-servers", "--to-users", "--to-groups"], names, strict=True) for word in pair]
        command("convert", "i.json", *options)
        assert ours == [(tmp_path / name).read_bytes() for name in names]
    with pytest.raises(fp.InputError, match="the users are in groups"):
        cluster.write_tables(tmp_path / "s.csv", tmp_path / "u.csv")
    with pytest.raises(fp.InputError, match="a table is written as"):
        cluster.write_tables(tmp_path / "s.xlsx", tmp_path / "u.csv")
    limited = cluster.to_dict()
    limited["users"][0]["limit"] = {"cpu": 1}
    fp.Instance.from_dict(limited).write(tmp_path / "limited.json")
    without = fp.read(tmp_path / "limited.json").without("limits")
    assert without == cluster and without.to_json().encode() == command("convert", "limited.json", "--without", "limits")
    with pytest.raises(fp.InputError, match="without = taxes: choose guarantees, limits or reserves"):
        cluster.without("taxes")


@pytest.mark.filterwarnings("ignore::fairplan.FairplanWarning")
@pytest.mark.parametrize("seed", range(12))
def test_random_instances_from_frames_give_the_documents_of_the_same_tables(seed, command, tmp_path):
    import polars

    dice = random.Random(seed)
    classes, users = dice.randint(1, 5), dice.randint(1, 12)
    resources = ["cpu", "memory", "disk"][: dice.randint(1, 3)]

    def amount():
        return dice.randint(1, 400) / 100

    servers = polars.DataFrame(
        {"id": [f"c{i}" for i in range(classes)], "count": [dice.randint(1, 4) for _ in range(classes)]}
        | {name: [amount() * 5 for _ in range(classes)] for name in resources}
    )
    table = {"id": [f"u{i}" for i in range(users)]}
    table |= {name: [amount() for _ in range(users)] for name in resources}
    if dice.random() < 0.5:
        table["weight"] = [amount() for _ in range(users)]
    if dice.random() < 0.5:
        table["tasks"] = [dice.randint(1, 30), *(dice.choice([None, 7]) for _ in range(users - 1))]
    if dice.random() < 0.5:
        some = [f"c{i}" for i in range(classes)]
        table["eligible"] = [dice.sample(some, dice.randint(1, classes)) for _ in range(users)]
    users = polars.DataFrame(table)
    servers.write_csv(tmp_path / "servers.csv")
    flat = users
    if "eligible" in table:
        flat = users.with_columns(polars.col("eligible").list.join(";"))
    flat.write_csv(tmp_path / "users.csv")
    cluster = fp.Instance(servers, users)
    assert cluster == fp.Instance(tmp_path / "servers.csv", tmp_path / "users.csv")
    tables = ["--servers", "servers.csv", "--users", "users.csv"]
    assert fp.solve(cluster).to_json(timing=False).encode() == command("solve", *tables, "--no-timing")
    assert fp.compare(cluster, timing=False).to_json().encode() == command("compare", *tables, "--no-timing")
    user = cluster.users["id"][-1]
    audit = fp.audit(cluster, users_searched=3)
    now = fp.place(cluster, policy="worst-fit", servers_out=True)
    now.write(tmp_path / "now.json")
    fp.place(cluster, servers_out=True).write(tmp_path / "then.json")
    moves = fp.plan.move(cluster, start=now, to=tmp_path / "then.json")
    for ours, words, is_yes in [
        (fp.explain(cluster, user), f"explain --user {user}", True),
        (audit, "audit --users-searched 3", audit.holds),
        (fp.entitlements(cluster), "entitlements", True),
        (fp.plan.worth(cluster, ranges=False), "plan worth --no-ranges", True),
        (fp.plan.lose(cluster), "plan lose", True),
        (moves, "plan move --from now.json --to then.json", moves["target"]["reached"]),
    ]:
        assert ours.to_json().encode() == command(*words.split(), *tables, status=0 if is_yes else 1), words


def test_the_defaults_are_those_of_the_library():
    for name, defaults in _native.defaults().items():
        function = fp
        for part in name.split("."):
            function = getattr(function, part)
        parameters = inspect.signature(function).parameters
        for option, default in defaults.items():
            # The command calls them so, and takes them one by one.
            ours = parameters[{"objectives": "objective"}.get(option, option)].default
            ours = list(ours) if isinstance(ours, tuple) else ours
            assert ours == default, f"{name}: {option}"
