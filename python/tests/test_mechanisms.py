"""A mechanism of one's own: the same slices as ours by the same rule, and answers that cannot be."""

import numpy
import pandas
import pytest

import fairplan as fp

DEMANDS = fp.generate.karma_fig2()


def max_min(demands, history):
    """Slice by slice to whoever has least, the first among equals."""
    slices = numpy.zeros_like(demands)
    for _ in range(min(history.capacity, demands.sum())):
        slices[numpy.where(slices < demands, slices, numpy.iinfo("int64").max).argmin()] += 1
    return slices


def least_attained(demands, history):
    got = history.slices.sum(axis=0)
    slices = numpy.zeros_like(demands)
    for _ in range(min(history.capacity, demands.sum())):
        slices[numpy.where(slices < demands, got + slices, numpy.iinfo("int64").max).argmin()] += 1
    return slices


@pytest.mark.parametrize(("mine", "ours"), [(max_min, "max-min"), (least_attained, "las")])
def test_the_same_rule_divides_as_ours(mine, ours):
    demands = fp.generate.demands(users=12, quanta=60, seed=3)
    expected = fp.allocate(demands, mechanism=ours, fair_share=7, per_quantum=True)
    found = fp.allocate(demands, mechanism=mine, fair_share=7, per_quantum=True)
    assert found["mechanism"] == mine.__name__
    assert found["quanta"] == expected["quanta"] and found["users"] == expected["users"]
    assert found.metrics == expected.metrics
    assert found.quanta.column_names == ["quantum", "user", "demand", "allocated", "credits"]
    assert found.quanta["allocated"] == [slices for quantum in found["quanta"] for slices in quantum["allocated"]]


def test_what_a_mechanism_knows_is_what_was_and_cannot_be_written():
    seen = []

    def look(demands, history):
        with pytest.raises(ValueError):
            demands[0] = 1
        with pytest.raises(ValueError):
            history.slices[:] = 1
        assert history.users == ["A", "B", "C"] and history.capacity == 6
        assert history.fair_shares.tolist() == [2, 2, 2] and history.members.tolist() == [True] * 3
        seen.append((history.quantum, demands.tolist(), history.demands.tolist(), history.slices.tolist()))
        return max_min(demands, history)

    result = fp.allocate(DEMANDS, mechanism=look, fair_share=2, per_quantum=True)
    allocated = [quantum["allocated"] for quantum in result["quanta"]]
    demanded = [demands for _, demands, _, _ in seen]
    for position, (quantum, _, demands, slices) in enumerate(seen):
        assert quantum == position
        assert demands == demanded[:position] and slices == allocated[:position]


def test_slices_beyond_demand_are_for_who_says_so():
    def fair_share(demands, history):
        return [2.0, 2, numpy.int32(2)]

    with pytest.raises(fp.InputError, match=r"mechanism fair_share: quantum \d+: \w gets 2: it demands \d"):
        fp.allocate(DEMANDS, mechanism=fair_share, fair_share=2)
    fair_share.beyond_demand = True
    found = fp.allocate(DEMANDS, mechanism=fair_share, fair_share=2)
    assert found.users["allocated"] == fp.allocate(DEMANDS, mechanism="strict", fair_share=2).users["allocated"]


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ([0, -1, 0], "quantum 0: B gets -1: must be >= 0"),
        ([0, 0.5, 0], "quantum 0: TypeError: B gets 0.5: is no whole number of slices"),
        ([True, 0, 0], "quantum 0: TypeError: A gets True: is no whole number of slices"),
        (["1", 0, 0], "quantum 0: TypeError: A gets '1': is no whole number of slices"),
        ([float("nan"), 0, 0], "quantum 0: TypeError: A gets nan: is no whole number of slices"),
        ([0, 0], "quantum 0: 2 numbers for 3 users"),
        ([0, 0, 0, 0], "quantum 0: 4 numbers for 3 users"),
        ([0, 100, 0], "quantum 0: B gets 100: it demands 2"),
        (None, "quantum 0: TypeError: 'NoneType' object is not iterable"),
    ],
)
def test_an_answer_that_cannot_be_names_mechanism_quantum_and_user(answer, told):
    with pytest.raises(fp.InputError) as refused:
        fp.allocate(DEMANDS, mechanism=lambda demands, history: answer, fair_share=2)
    assert str(refused.value).startswith("mechanism <lambda>: ") and told in str(refused.value), refused.value


def test_more_than_there_is_is_refused_at_the_user_with_whom_it_ends():
    with pytest.raises(fp.InputError, match="quantum 3: C gets 4: together with those before it 8 of 6 slices"):
        fp.allocate(DEMANDS, mechanism=lambda demands, history: demands, fair_share=2)


def test_what_a_mechanism_raises_is_the_cause_and_it_is_not_asked_again():
    times = []

    def broken(demands, history):
        times.append(history.quantum)
        raise KeyError("oops")

    with pytest.raises(fp.InputError, match="mechanism broken: quantum 0") as refused:
        fp.allocate(DEMANDS, mechanism=broken, fair_share=2)
    assert isinstance(refused.value.__cause__, KeyError) and times == [0]


def test_names_of_ours_and_tasks_over_instances_are_refused():
    def karma(demands, history):
        return demands

    with pytest.raises(fp.InputError, match="mechanism = karma: is the name of one of ours"):
        fp.allocate(DEMANDS, mechanism=karma, fair_share=2)
    with pytest.raises(TypeError, match="neither a name nor a function"):
        fp.allocate(DEMANDS, mechanism=3, fair_share=2)
    with pytest.raises(fp.InputError, match="a function divides slices"):
        fp.allocate({"user-1": [1], "user-2": [1]}, mechanism=max_min, instance=fp.generate.drfh_fig1())


def test_who_is_no_member_gets_nothing(tmp_path):
    members = tmp_path / "members.csv"
    members.write_text("user,first,last\nB,2,3\n")
    frame = pandas.DataFrame({"quantum": [1, 2, 3], "A": [1, 1, 1], "B": [0, 1, 1]})
    demands = fp.Demands(frame, members=str(members))
    seen = []

    def greedy(demands, history):
        seen.append(history.members.tolist())
        return [1 if member else 0 for member in history.members]

    greedy.beyond_demand = True
    fp.allocate(demands, mechanism=greedy, capacity=3)
    assert seen[0] == [True, False]

    def all_the_same(demands, history):
        return [1, 1]

    all_the_same.beyond_demand = True
    with pytest.raises(fp.InputError, match="quantum 1: B gets 1: is no member in this quantum"):
        fp.allocate(demands, mechanism=all_the_same, capacity=3)


def test_demands_of_unequal_length_are_named():
    with pytest.raises(fp.InputError, match="demands: b = 1 quanta: a has 2") as refused:
        fp.allocate({"a": [1, 2], "b": [1]}, fair_share=1)
    assert (refused.value.file, refused.value.path) == ("demands", "b")
    assert fp.Demands({"a": numpy.array([1, 2])}) == fp.Demands({"a": [1, 2]})
