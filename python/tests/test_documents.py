"""Python gives the documents that the command gives, to the byte, and its defaults are those of the library."""

import inspect
import json
import pathlib
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
        (fp.plan.worth(cluster), "plan worth i.json"),
        (fp.plan.lose(cluster), "plan lose i.json"),
        (fp.plan.lose(cluster, servers=1), "plan lose i.json --servers-lost 1"),
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


def test_imports_give_the_instances_of_the_command(command, tmp_path):
    data = pathlib.Path(__file__).resolve().parents[2] / "imports" / "data"
    told = []
    nodes, pods = data / "kubernetes/nodes.json", data / "kubernetes/pods.yaml"
    ours = fp.import_kubernetes(nodes=nodes, pods=pods, progress=told.append)
    expected = command("import", "kubernetes", "--nodes", str(nodes), "--pods", str(pods))
    assert ours.to_json().encode() == expected
    assert any("nodes" in line for line in told)
    nodes, jobs = data / "slurm/nodes.json", data / "slurm/jobs.json"
    ours = fp.import_slurm(nodes=nodes, jobs=[jobs], user="account")
    expected = command("import", "slurm", "--nodes", str(nodes), "--jobs", str(jobs), "--user", "account")
    assert ours.to_json().encode() == expected


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
    words = ["--servers", "servers.csv", "--users", "users.csv", "--no-timing"]
    assert fp.solve(cluster).to_json(timing=False).encode() == command("solve", *words)
    assert fp.compare(cluster, timing=False).to_json().encode() == command("compare", *words)


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
