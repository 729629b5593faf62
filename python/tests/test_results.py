"""Results: tables, pictures, sections, pickling."""

import copy
import pickle

import numpy
import pandas
import polars
import pyarrow
import pytest

import fairplan as fp


def test_columns_are_arrays_of_numpy():
    classes = fp.solve(fp.generate.drfh_fig1()).classes
    assert classes.to_numpy("price_cpu").dtype == float and classes.to_numpy("count").tolist() == [1, 1]
    demands = fp.Demands({"A": [3, 2], "B": [1, 2]})
    quanta = fp.allocate(demands, fair_share=2, per_quantum=True).quanta
    assert quanta.to_numpy("demand").reshape(2, 2).sum() == 8
    levels = fp.solve(fp.generate.drfh_fig1(), objective="pf").users.to_numpy("level")
    assert levels.dtype == float and numpy.isnan(levels).all()


def test_the_tables_of_a_solution_agree_with_its_document_live_and_read_again(cluster):
    solution = fp.solve(cluster)
    document = solution.to_dict()
    again = pickle.loads(pickle.dumps(solution))
    for one in [solution, again]:
        assert one.value == document["value"] and one.level == document.get("level")
        assert one.status == document["status"] == "optimal"
        assert one.certificate == document["certificate"]
        assert one.users["id"] == [user["id"] for user in document["users"]]
        assert one.users["tasks"] == [user["tasks"] for user in document["users"]]
        placed = [
            (user["id"], part["class"], part["tasks"]) for user in document["users"] for part in user["placement"]
        ]
        assert list(zip(*one.placement.to_dict().values(), strict=True)) == placed
        first = document["server_classes"][0]
        resource = cluster.resources[0]
        assert one.classes[f"utilization_{resource}"][0] == first["utilization"].get(resource, 0)
        assert one.classes["count"] == [entry["count"] for entry in cluster.to_dict()["server_classes"]]
        assert one.to_json() == solution.to_json()
        assert one.instance == cluster


def test_tables_become_frames_without_loss():
    table = fp.solve(fp.generate.google(servers=50, users=20)).users
    expected = table.to_dict()
    assert pyarrow.table(table).to_pydict() == expected
    assert polars.DataFrame(table).to_dict(as_series=False) == expected
    assert isinstance(table.to_pandas(), pandas.DataFrame)
    assert table.to_pandas()["tasks"].tolist() == expected["tasks"]
    assert table.to_arrow().schema.field("tasks").type == pyarrow.float64()
    # A stream can be taken more than once.
    assert polars.DataFrame(table).equals(polars.DataFrame(table))


def test_answers_are_booleans_and_what_is_missing_is_missing():
    comparison = fp.compare(fp.generate.drfh_fig1(), policies=["best-fit", "first-fit"], timing=False)
    frame = comparison.to_pandas()
    assert frame["proved_optimal"].tolist() == [True, False]
    assert frame["seconds"].isna().all()
    assert polars.DataFrame(comparison)["proved_optimal"].dtype == polars.Boolean


def test_results_of_every_kind_are_pickled(tmp_path):
    cluster = fp.generate.drfh_fig1()
    demands = fp.generate.karma_fig2()
    results = [
        fp.place(cluster, servers_out=True),
        fp.compare(cluster),
        fp.bound(cluster),
        fp.explain(cluster, "user-1"),
        fp.audit(cluster),
        fp.verify(cluster, fp.solve(cluster)),
        fp.allocate(demands, fair_share=2),
        fp.offline(demands, fair_share=2),
        fp.plan.worth(cluster, ranges=False),
    ]
    for result in results:
        again = pickle.loads(pickle.dumps(result))
        assert type(again) is type(result) and again == result
        assert "<section" in result._repr_html_() and "<html" not in result._repr_html_()
    fp.report(results, tmp_path / "page.html", title="All")
    assert (tmp_path / "page.html").read_text().count("<h2>") == len(results)
    assert pickle.loads(pickle.dumps(demands)) == demands


def test_what_there_is_beside_a_document_is_pickled_and_copied_with_it(tmp_path):
    cluster = fp.generate.drfh_fig1()
    (tmp_path / "catalog.csv").write_text("id,price\nhigh-cpu,3\nhigh-memory,2\n")
    trace = fp.generate.trace_random(servers=10, users=2, jobs=10, seed=1)
    deployed = tmp_path / "deployed.yaml"
    solution = fp.solve(cluster)
    deployed.write_text(fp.export(cluster, solution, "kueue", memory_in="Gi").configuration)
    export = fp.export(cluster, solution, "kueue", memory_in="Gi", headroom=0.2, current=deployed)
    bought = fp.plan.buy(cluster, catalog=tmp_path / "catalog.csv", tasks={"user-1": 14}, whole=True)
    results = [
        (fp.simulate(trace, policies=["best-fit"], series=True, jobs=True), ["series", "jobs"]),
        (fp.allocate(fp.generate.karma_fig2(), fair_share=2, per_quantum=True), ["quanta"]),
        (export, ["changes", "lost", "configuration"]),
        (bought, ["cluster", "placement"]),
    ]
    for result, names in results:
        for again in [pickle.loads(pickle.dumps(result)), copy.deepcopy(result)]:
            for name in names:
                assert getattr(again, name) is not None and getattr(again, name) == getattr(result, name), name
    users = solution.users
    assert pickle.loads(pickle.dumps(users)) == users
    assert pickle.loads(pickle.dumps(fp.place(cluster).table)) == fp.place(cluster).table
    assert len(pickle.loads(pickle.dumps(solution.groups))) == 0


def test_every_result_has_a_chart_and_what_has_no_sizes_to_compare_has_its_sentences():
    cluster = fp.generate.drfh_fig1()
    solution, placed = fp.solve(cluster), fp.place(cluster, servers_out=True)
    exported = fp.export(cluster, solution, "kueue", memory_in="Gi")
    same = fp.plan.diff(cluster, cluster)
    drawn = {
        "by the rule of kueue": exported.plot(2),
        "what the configuration makes sure of": exported.plot(),
        "of whom nobody has more or less": same.plot(),
        "as a part of what is published": fp.reproduce("drfh-fig3").plot(),
        "by verdict": fp.reproduce("drfh-fig3", summary=True).plot(),
        "Cost of the steps: 0": fp.plan.move(cluster, start=placed, level=1).plot(),
    }
    for text, picture in drawn.items():
        assert picture.svg.startswith("<svg") and text in picture.svg, text
    with pytest.raises(fp.InputError, match="has no chart 2; there are: 1 Steps to a better placement"):
        fp.plan.move(cluster, start=placed, level=1).plot(2)


def test_charts_are_svg_and_what_has_none_says_so():
    solution = fp.solve(fp.generate.drfh_fig4())
    picture = solution.plot()
    assert picture.svg.startswith("<svg") and picture._repr_svg_() == picture.svg
    with pytest.raises(fp.InputError, match="has no chart 99"):
        solution.plot(99)


def test_results_are_written_by_the_ending_of_the_name(tmp_path):
    comparison = fp.compare(fp.generate.drfh_fig4(), policies=["best-fit"], timing=False)
    for ending in ["json", "csv", "parquet", "arrow", "html"]:
        comparison.write(tmp_path / f"c.{ending}")
    assert (tmp_path / "c.json").read_text() == comparison.to_json()
    assert polars.read_parquet(tmp_path / "c.parquet").equals(polars.DataFrame(comparison))
    assert polars.read_csv(tmp_path / "c.csv")["name"].to_list() == ["best-fit"]
    with pytest.raises(fp.InputError, match="not written as"):
        comparison.write(tmp_path / "c.png")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["c.arrow", "c.csv", "c.html", "c.json", "c.parquet"]


def test_numbers_of_a_solution_are_arrays_at_once():
    solution = fp.solve(fp.generate.google(servers=40, users=10))
    shares = solution.users.to_arrow()["dominant_share"].to_numpy()
    assert isinstance(shares, numpy.ndarray) and shares.min() > 0


def test_wrong_names_say_what_would_do():
    cluster = fp.generate.drfh_fig1()
    with pytest.raises(fp.InputError, match="did you mean drf"):
        fp.solve(cluster, objective="drf2")
    with pytest.raises(fp.InputError, match="unknown backend"):
        fp.solve(cluster, backend="x")
    with pytest.raises(fp.InputError, match="did you mean best-fit"):
        fp.place(cluster, policy="bestfit")
    with pytest.raises(fp.InputError, match="twice"):
        fp.compare(cluster, policies=["best-fit", "best-fit"])
    with pytest.raises(fp.InputError, match="time_limit"):
        fp.solve(cluster, time_limit=0)
    with pytest.raises(fp.InputError, match="no user of this id"):
        fp.explain(cluster, "user-9")
    with pytest.raises(fp.InputError, match="without"):
        fp.verify(cluster, fp.place(cluster))


def test_a_purchase_that_cannot_be_is_infeasible_with_what_stands_against_it(tmp_path):
    cluster = fp.generate.drfh_fig1()
    (tmp_path / "catalog.csv").write_text("id,price\nhigh-cpu,3\nhigh-memory,2\n")
    with pytest.raises(fp.Infeasible) as refused:
        fp.plan.buy(cluster, catalog=tmp_path / "catalog.csv", share=0.9, budget=0.5)
    assert refused.value.found["reachable"] is False
    plan = fp.plan.buy(cluster, catalog=tmp_path / "catalog.csv", share=0.9)
    assert plan.cluster.server_count > cluster.server_count


def test_another_instances_result_does_not_hold():
    one, other = fp.generate.drfh_fig1(), fp.generate.drfh_fig4()
    verification = fp.verify(other, fp.solve(one))
    assert not verification.holds and not verification


def test_users_are_the_same_in_every_frame_whatever_their_names_are_long():
    names = ["a", "exactly 12 é", "a name that is longer than twelve letters", "ü"]
    users = polars.DataFrame({"id": names, "cpu": [0.5, 1.0, -0.0, 2.0], "memory": [1, 0, 2, 3]})
    servers = polars.DataFrame({"id": ["s"], "count": [7], "cpu": [4.0], "memory": [9.0]})
    solution = fp.solve(fp.Instance(servers, users))
    again = fp.Solution.from_json(solution.to_json(), solution.instance)
    frame = solution.users.to_polars()
    assert frame["id"].to_list() == names
    for other in (polars.DataFrame(solution.users), polars.from_arrow(solution.users.to_arrow()), again.users.to_polars()):
        assert frame.equals(other) and frame.schema == other.schema
    assert frame.to_dict(as_series=False) == solution.users.to_dict()
    assert solution.users.to_arrow().schema.field("id").type == pyarrow.string()
    assert fp.solve(fp.Instance.from_dict(solution.instance.to_dict())).to_json(timing=False) == solution.to_json(timing=False)


def test_verdicts_are_yes_or_no_in_every_table(tmp_path):
    cluster = fp.generate.drfh_fig1()
    verification = fp.verify(cluster, fp.solve(cluster))
    assert verification.table.to_arrow().schema.field("holds").type == pyarrow.bool_()
    assert verification.table.to_polars()["holds"].all()
    verification.write(tmp_path / "verdicts.parquet")
    assert polars.read_parquet(tmp_path / "verdicts.parquet").schema["holds"] == polars.Boolean


def test_nothing_is_written_under_a_foreign_ending(tmp_path):
    with pytest.raises(fp.InputError, match="nothing is written as .xlsx; name a .json, "):
        fp.solve(fp.generate.drfh_fig1()).write(tmp_path / "s.xlsx")
    assert not list(tmp_path.iterdir())


def test_members_and_columns_are_looped_over_and_another_kind_of_result_is_refused(tmp_path):
    cluster = fp.generate.drfh_fig1()
    placed = fp.place(cluster)
    assert "value" in placed and "nothing" not in placed and list(placed)[0] == "format"
    assert "tasks" in placed.table and list(placed.table) == placed.table.column_names
    with pytest.raises(fp.InputError, match=r"fairplan\.placement\.v1: is no Comparison, which is a fairplan\.comparison\.v1"):
        fp.Comparison.from_json(placed.to_json())
    with pytest.raises(fp.InputError, match=r"missing\.json: No such file or directory"):
        fp.verify(cluster, tmp_path / "missing.json")
    fp.report(placed, tmp_path / "page.html")
    assert (tmp_path / "page.html").exists()
    with pytest.raises(TypeError, match="results: name at least one"):
        fp.report([], tmp_path / "page.html")
