"""Demands and results keep all that belongs to them, and what cannot be used is told by its name and value."""

import copy
import json
import pickle
import re

import pytest

import fairplan as fp


def in_file(path, text: str) -> str:
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_demands_keep_who_joins_and_leaves_when_they_are_pickled_or_copied(tmp_path):
    table = in_file(tmp_path / "demands.csv", "quantum,A,B\n1,20,0\n2,20,4\n3,5,20\n")
    members = in_file(tmp_path / "members.csv", "user,first,last\nA,1,3\nB,2,3\n")
    demands = fp.Demands(table, members=members)
    allocated = fp.allocate(demands, capacity=10).users["allocated"]
    for again in (pickle.loads(pickle.dumps(demands)), copy.deepcopy(demands), copy.copy(demands)):
        assert again == demands
        assert fp.allocate(again, capacity=10).users["allocated"] == allocated
    assert fp.Demands(table) != demands


def test_demands_whose_file_names_an_instance_are_tasks_over_it(tmp_path):
    fp.generate.drfh_fig1().write(tmp_path / "fig1.json")
    document = {"format": "fairplan.demands.v1", "users": ["user-1", "user-2"], "instance": "fig1.json", "demands": [[20, 4], [5, 20]]}
    path = in_file(tmp_path / "tasks.json", json.dumps(document))
    over = fp.allocate({"user-1": [20, 5], "user-2": [4, 20]}, instance=fp.read(tmp_path / "fig1.json"))
    for demands in (fp.Demands(path), pickle.loads(pickle.dumps(fp.Demands(path)))):
        assert fp.allocate(demands).users.to_dict() == over.users.to_dict()
        with pytest.raises(fp.InputError, match="names an instance, so that its demands are tasks: state no slices"):
            fp.allocate(demands, capacity=40)
    assert json.loads(fp.Demands(path).to_json())["instance"] == str(tmp_path / "fig1.json")


def test_errors_with_what_was_found_come_back_from_other_processes(tmp_path):
    catalog = in_file(tmp_path / "catalog.csv", "id,price,cpu,memory,limit\nx,10,0.1,0.1,1\n")
    with pytest.raises(fp.Infeasible) as raised:
        fp.plan.buy(fp.generate.drfh_fig4(), catalog=catalog, share=0.9)
    again = pickle.loads(pickle.dumps(raised.value))
    assert (type(again), str(again), again.found) == (fp.Infeasible, str(raised.value), raised.value.found)


def test_a_solution_is_read_with_its_own_instance_only():
    solution = fp.solve(fp.generate.drfh_fig1())
    with pytest.raises(fp.InputError, match="is of another instance"):
        fp.Solution.from_json(solution.to_json(), fp.generate.drfh_fig4())


def test_a_table_of_users_tells_what_it_has_no_column_for():
    users = [{"id": "u", "demand": {"cpu": 1}, "limit": {"cpu": 3}}]
    classes = [{"id": "a", "count": 1, "capacity": {"cpu": 10}}]
    limited = fp.Instance.from_dict({"resources": ["cpu"], "server_classes": classes, "users": users})
    with pytest.warns(fp.FairplanWarning, match="no column for guarantees, limits and reserves"):
        assert limited.users["id"] == ["u"]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"fair_share": 2.5}, "fair_share = 2.5: "),
        ({"fair_share": -1}, "fair_share = -1 is out of range"),
        ({"fair_shares": {"A": 2.0, "B": 1}}, "2.0 of A: is no whole number of slices"),
        ({"fair_shares": {"A": 2, "B": 1, "C": 7}}, "fair_shares = C: the series has no user with this id"),
        ({"fair_share": 2, "alpha": float("nan")}, "alpha = nan: "),
        ({"fair_share": 2, "initial_credits": -1}, "initial_credits = -1 is out of range"),
    ],
)
def test_options_that_cannot_be_used_are_told_by_name_and_value(options, told):
    with pytest.raises(fp.InputError, match=re.escape(told)):
        fp.allocate({"A": [3, 2], "B": [1, 4]}, **options)


def test_what_users_report_may_name_them_in_any_order():
    truth = {"A": [3, 2], "B": [1, 4]}
    same = fp.allocate(truth, capacity=4, reported={"B": [1, 4], "A": [3, 2]})
    assert same.users.to_dict() == fp.allocate(truth, capacity=4, reported=truth).users.to_dict()
    with pytest.raises(fp.InputError, match="reported: the users are not those"):
        fp.allocate(truth, capacity=4, reported={"A": [3, 2], "C": [1, 4]})


def test_an_optimum_keeps_every_quantum_if_it_is_asked_to_and_one_mechanism_is_a_list_of_one():
    demands = {"A": [3, 2], "B": [1, 4]}
    optimum = fp.offline(demands, capacity=4, per_quantum=True, against="karma")
    assert optimum.quanta is not None and len(optimum.quanta["user"]) == 4
    assert [one["mechanism"] for one in optimum["against"]] == ["karma"]
    assert fp.offline(demands, capacity=4).quanta is None


def test_short_numbers_of_numpy_are_the_decimals_that_they_read_back_as():
    np = pytest.importorskip("numpy")
    for kind in (np.float16, np.float32, np.float64):
        classes = [{"id": "a", "count": 1, "capacity": {"cpu": 1}}]
        document = {"resources": ["cpu"], "server_classes": classes, "users": [{"id": "u", "demand": {"cpu": kind(0.1)}}]}
        assert fp.place(fp.Instance.from_dict(document)).users["tasks"] == [10]
