"""A policy of one's own: the same placement as ours by the same rule, and answers that cannot be."""

import pathlib
import sys

import numpy
import pytest

import fairplan as fp


def first(task, free):
    room = (free >= task.demand).all(axis=1)
    if task.eligible is not None:
        room &= task.eligible
    server = int(room.argmax())
    return server if room[server] else None


@pytest.mark.parametrize("servers", [3, 40])
def test_first_fit_of_ones_own_places_as_ours(servers):
    # Amounts that doubles hold exactly, so that the function sees what fits.
    dice = numpy.random.default_rng(servers)
    classes = [
        {"id": f"c{i}", "count": servers, "capacity": {"cpu": int(dice.integers(4, 40)), "memory": int(dice.integers(4, 40))}}
        for i in range(3)
    ]
    users = [
        {"id": f"u{i}", "demand": {"cpu": int(dice.integers(1, 8)) / 4, "memory": int(dice.integers(1, 8)) / 4}}
        | ({"eligible": ["c1"]} if i % 3 == 0 else {})
        for i in range(9)
    ]
    cluster = fp.Instance.from_dict({"resources": ["cpu", "memory"], "server_classes": classes, "users": users})
    ours = fp.place(cluster, policy="first-fit", servers_out=True)
    mine = fp.place(cluster, policy=first, servers_out=True)
    assert mine.policy == "first"
    assert mine.servers == ours.servers and mine.users == ours.users
    assert fp.verify(cluster, mine)


def test_placements_made_elsewhere_are_judged_beside_policies(tmp_path):
    cluster = fp.generate.drfh_fig1()
    placed = fp.place(cluster, policy="first-fit", servers_out=True)
    path = tmp_path / "ours.json"
    other = fp.place(cluster, policy="slots=10", servers_out=True)
    path.write_text(other.to_json())
    comparison = fp.compare(cluster, policies=["best-fit"], placements=[placed, path], timing=False)
    rows = dict(zip(comparison.policies["name"], comparison.policies["value"], strict=True))
    assert len(rows) == 3 and list(rows.values())[1:] == [placed.value, other.value]
    path.write_text(placed.to_json())
    with pytest.raises(fp.InputError, match="same"):
        fp.compare(cluster, policies=["best-fit"], placements=[placed, path])
    servers, users = [{"id": "a", "count": 1, "capacity": {"cpu": 1}}], [{"id": "u", "demand": {"cpu": 1}}]
    other = fp.Instance.from_dict({"resources": ["cpu"], "server_classes": servers, "users": users})
    with pytest.raises(fp.InputError, match="placement 1"):
        fp.compare(other, policies=["best-fit"], placements=[placed])


def test_a_policy_of_ones_own_stands_beside_ours_in_its_place():
    comparison = fp.compare(fp.generate.drfh_fig1(), policies=["best-fit", first, "first-fit"], timing=False)
    assert comparison.policies["name"] == ["best-fit", "first", "first-fit"]
    values = comparison.policies["value"]
    assert values[1] == values[2]


def test_a_comparison_says_what_each_user_has_where_asked():
    cluster = fp.generate.drfh_fig4()
    comparison = fp.compare(cluster, policies=["best-fit", first], timing=False, per_user=True)
    placed = {name: fp.place(cluster, policy=policy).users for name, policy in [("best-fit", "best-fit"), ("first", first)]}
    expected = [(name, *row) for name, users in placed.items() for row in zip(users["id"], users["dominant_share"], users["tasks"], strict=True)]
    assert comparison.users.column_names == ["policy", "user", "dominant_share", "tasks"]
    assert list(zip(*comparison.users.to_dict().values(), strict=True)) == expected
    assert len(fp.compare(cluster, policies=["best-fit"]).users) == 0


def test_free_is_what_is_left_and_cannot_be_written():
    cluster = fp.generate.drfh_fig1()
    seen = []

    def look(task, free):
        seen.append((task.user, free.copy()))
        with pytest.raises(ValueError):
            free[0, 0] = 1
        return None if len(seen) > 2 else first(task, free)

    fp.place(cluster, policy=look)
    assert seen[0][0] == "user-1"
    assert numpy.array_equal(seen[0][1], [[2, 12], [12, 2]])
    assert numpy.allclose(seen[1][1], [[1.8, 11], [12, 2]])


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (7, "there is no server 7; they are 0 to 1"),
        (-1, "there is no server below 0; say None if none will do"),
        (True, "a truth value is no server; say None if none will do"),
        ("one", "'str' object cannot be interpreted as an integer"),
        (0, "does not fit server 0: too little cpu is free"),
    ],
)
def test_an_answer_that_cannot_be_names_policy_task_and_server(answer, told):
    def wrong(task, free):
        return answer

    with pytest.raises(fp.InputError) as refused:
        fp.place(fp.generate.drfh_fig1(), policy=wrong)
    assert "policy wrong" in str(refused.value) and told in str(refused.value), refused.value


def test_what_a_policy_raises_is_the_cause():
    def broken(task, free):
        raise KeyError("oops")

    with pytest.raises(fp.InputError, match="policy broken: a task of user-1: KeyError: 'oops'") as refused:
        fp.compare(fp.generate.drfh_fig1(), policies=["best-fit", broken])
    assert isinstance(refused.value.__cause__, KeyError)


def test_what_is_neither_a_name_nor_a_function_is_a_type_error():
    with pytest.raises(TypeError, match="neither a name nor a function"):
        fp.place(fp.generate.drfh_fig1(), policy=3)
    with pytest.raises(TypeError, match="list of names and functions"):
        fp.simulate("t.jsonl", policies=first)


def in_bulk(at_once):
    """First-Fit that decides so many tasks of a user at once."""

    def rule(task, free):
        rule.calls += 1
        server = first(task, free)
        return None if server is None else numpy.full(at_once, server)

    rule.calls = 0
    return rule


def test_several_servers_in_an_answer_decide_several_tasks():
    classes = [{"id": "c", "count": 5, "capacity": {"cpu": 64, "memory": 64}}]
    users = [{"id": f"u{i}", "demand": {"cpu": 1 + i, "memory": 2}} for i in range(3)]
    cluster = fp.Instance.from_dict({"resources": ["cpu", "memory"], "server_classes": classes, "users": users})
    ours = fp.place(cluster, policy="first-fit", servers_out=True)
    calls = []
    for at_once in [1, 2, 16]:
        rule = in_bulk(at_once)
        # What is named ahead is the first server as long as it has room, and then the rule is asked again.
        assert fp.place(cluster, policy=rule, servers_out=True).servers == ours.servers
        calls.append(rule.calls)
    assert calls[0] == sum(ours.users["tasks"]) + len(ours.users)
    assert calls[1] < 0.7 * calls[0] and calls[2] < 0.5 * calls[0]


@pytest.mark.parametrize("answer", [[0, 99], numpy.array([0, 99]), (0, 99)])
def test_a_server_named_ahead_that_is_not_there_is_refused(answer):
    with pytest.raises(fp.InputError, match="there is no server 99; they are 0 to 1"):
        fp.place(fp.generate.drfh_fig1(), policy=lambda task, free: answer)


def test_no_server_in_an_answer_is_none():
    assert fp.place(fp.generate.drfh_fig1(), policy=lambda task, free: []).users["tasks"] == [0, 0]


@pytest.fixture
def trace(command, tmp_path):
    words = "generate trace-random --servers 20 --users 4 --jobs 60 --seed 3 -o t.jsonl"
    command(*words.split())
    return tmp_path / "t.jsonl"


def test_a_policy_of_ones_own_simulates_as_ours_by_the_same_rule(trace):
    simulated = fp.simulate(trace, policies=[first, "first-fit", in_bulk(4)])
    mine, ours, bulk = simulated["policies"]
    assert mine["policy"] == "first"
    for other in [mine, bulk]:
        for member in ["utilization", "completion_time", "tasks", "users"]:
            if other is mine or member == "tasks":
                assert other[member] == ours[member], member


def test_what_goes_wrong_in_a_simulation_names_the_policy(trace):
    for answer, told in [(10**6, "there is no server 1000000; they are 0 to 19"), (0, "does not fit server 0: too little")]:
        with pytest.raises(fp.InputError, match=told) as refused:
            fp.simulate(trace, policies=["best-fit", lambda task, free, answer=answer: answer])
        assert str(refused.value).startswith("policy <lambda>: a task of shape-")

    def broken(task, free):
        assert task.user.startswith("shape-") and task.eligible is None
        raise KeyError("oops")

    with pytest.raises(fp.InputError, match="policy broken: a task of shape-1: KeyError: 'oops'") as refused:
        fp.simulate(trace, policies=[broken])
    assert isinstance(refused.value.__cause__, KeyError)
    with pytest.raises(fp.InputError, match="leave out dedicated"):
        fp.simulate(trace, policies=[first], dedicated=True)
    with pytest.raises(fp.InputError, match="twice"):
        fp.simulate(trace, policies=[first, first])


def test_a_policy_in_another_process_stands_beside_functions(trace):
    program = pathlib.Path(__file__).resolve().parents[2] / "guide/policies/best_fit.py"
    mine = fp.PolicyCommand(f"{sys.executable} {program}", timeout=30)
    cluster = fp.generate.drfh_fig4()
    ours = fp.place(cluster, servers_out=True)
    assert fp.place(cluster, policy=mine, servers_out=True).servers == ours.servers
    compared = fp.compare(cluster, policies=["best-fit", mine], timing=False).policies
    assert compared["name"][1] == mine.command and len(set(compared["value"])) == 1
    with pytest.raises(fp.InputError, match="timeout = 0"):
        fp.place(cluster, policy=fp.PolicyCommand("true", timeout=0))
    with pytest.raises(fp.InputError, match="leave out --dedicated|leave out dedicated"):
        fp.simulate(trace, policies=[mine], dedicated=True)


def test_ctrl_c_in_a_policy_stays_one_and_lists_of_policies_are_lists():
    cluster = fp.generate.drfh_fig1()

    def interrupted(task, free):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fp.place(cluster, policy=interrupted)
    with pytest.raises(TypeError, match="policies: str is no list of names and functions"):
        fp.compare(cluster, policies="best-fit")
    with pytest.raises(TypeError, match="policies: name at least one"):
        fp.compare(cluster, policies=[])
