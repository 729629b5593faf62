"""Instances from frames, dictionaries and files, and what is refused of them."""

import copy
import decimal
import math
import pickle

import numpy
import pandas
import polars
import pyarrow
import pytest

import fairplan as fp

SERVERS = {"id": ["a", "b"], "count": [1, 2], "cpu": [4.0, 8.5], "memory": [1.5, 2.0]}
USERS = {"id": ["x", "y", "z"], "cpu": [0.1, 1.0, 1.0], "memory": [0.1, 0.2, 0.3]}
FRAMES = [pandas.DataFrame, polars.DataFrame, pyarrow.table]


@pytest.mark.parametrize("frame", FRAMES)
def test_every_kind_of_frame_gives_the_same_instance_with_exact_decimals(frame):
    users = USERS | {"tasks": [None, 3, None], "eligible": [["a"], ["a", "b"], ["b"]]}
    cluster = fp.Instance(frame(SERVERS), frame(users))
    document = cluster.to_dict()
    assert document["users"][0] == {"id": "x", "demand": {"cpu": 0.1, "memory": 0.1}, "eligible": ["a"]}
    assert document["users"][1]["tasks"] == 3
    wanted = {
        "resources": ["cpu", "memory"],
        "server_classes": [
            {"id": "a", "count": 1, "capacity": {"cpu": 4, "memory": 1.5}},
            {"id": "b", "count": 2, "capacity": {"cpu": 8.5, "memory": 2}},
        ],
        "users": [
            {"id": "x", "demand": {"cpu": 0.1, "memory": 0.1}, "eligible": ["a"]},
            {"id": "y", "demand": {"cpu": 1, "memory": 0.2}, "tasks": 3, "eligible": ["a", "b"]},
            {"id": "z", "demand": {"cpu": 1, "memory": 0.3}, "eligible": ["b"]},
        ],
    }
    assert cluster == fp.Instance.from_dict(wanted)


def test_categories_integers_and_the_index_of_pandas_are_taken_as_they_are_meant():
    users = pandas.DataFrame(USERS | {"cpu": numpy.array([1, 2, 3], dtype="int16")})
    users["id"] = users["id"].astype("category")
    plain = fp.Instance(pandas.DataFrame(SERVERS), users)
    users.index = [7, 8, 9]
    assert fp.Instance(pandas.DataFrame(SERVERS), users) == plain
    assert [user["id"] for user in plain.to_dict()["users"]] == ["x", "y", "z"]


def test_groups_come_as_a_third_frame():
    groups = polars.DataFrame({"id": ["g", "h"], "weight": [2, 1], "parent": [None, "g"]})
    users = polars.DataFrame(USERS | {"group": ["g", "h", None]})
    solution = fp.solve(fp.Instance(polars.DataFrame(SERVERS), users, groups))
    assert solution.groups["id"] == ["g", "h"]
    assert solution.groups["parent"] == [None, "g"]


@pytest.mark.parametrize(
    ("users", "file", "path", "value"),
    [
        (USERS | {"cpu": [0.1, math.nan, 1]}, "users", "row 1, column cpu", {"NaN", None}),
        (USERS | {"cpu": [0.1, -2.0, 1]}, "users", "row 1, column cpu", {"-2"}),
        (USERS | {"cpu": [0.1, math.inf, 1]}, "users", "row 1, column cpu", {"inf"}),
        (USERS | {"cpu": [True, False, True]}, "users", "columns, column cpu", {None}),
        (USERS | {"gpu": [1, 1, 1]}, "users", "columns, column gpu", {None}),
        (USERS | {"id": ["x", "y", "x"]}, "users", "row 2, column id", {"x"}),
        (USERS | {"eligible": ["a", "c", "b"]}, "users", "row 1, column eligible", {"c"}),
        (USERS | {"tasks": [1.0, 2.5, 1.0]}, "users", "row 1, column tasks", {"2.5"}),
        ({"cpu": [1.0], "memory": [1.0]}, "users", "columns, column id", {None}),
    ],
)
@pytest.mark.parametrize("frame", FRAMES)
def test_bad_frames_are_refused_with_frame_row_and_column(frame, users, file, path, value):
    with pytest.raises(fp.InputError) as refused:
        fp.Instance(frame(SERVERS), frame(users))
    error = refused.value
    assert (error.file, error.path) == (file, path), error
    assert error.value in value
    assert str(error).startswith(f"{file}: {path}")


def test_a_column_of_polars_without_a_type_is_named():
    users = polars.DataFrame(USERS | {"tasks": [None, None, None]})
    with pytest.raises(fp.InputError, match="users: column tasks: has no type, as all its cells are missing"):
        fp.Instance(polars.DataFrame(SERVERS), users)
    assert fp.Instance(pandas.DataFrame(SERVERS), pandas.DataFrame(USERS | {"tasks": [None, None, None]}))


@pytest.mark.parametrize(
    ("cells", "told"),
    [
        ([0.1, "q", 1], "users: row 1, column cpu = q: is a text, where the others are numbers"),
        (["1", "2", 0.5], "users: row 2, column cpu = 0.5: is a number, where the others are texts"),
        ([0.1, [1], 1], r"users: row 1, column cpu = \[1\]: is neither a number nor a text"),
        ([1, 1, 1j], r"users: row 0, column cpu = \(1\+0j\): is neither a number nor a text"),
        ([None, 2, numpy.zeros(2)], "users: row 2, column cpu = .*: is neither"),
    ],
)
def test_a_column_of_objects_that_pandas_cannot_hand_over_is_refused_with_its_row(cells, told):
    with pytest.raises(fp.InputError, match=told) as refused:
        fp.Instance(pandas.DataFrame(SERVERS), pandas.DataFrame(USERS | {"cpu": cells}))
    assert refused.value.file == "users" and refused.value.path.endswith("column cpu")
    assert refused.value.__cause__ is not None


@pytest.mark.parametrize(
    ("frame", "path", "told"),
    [
        (pandas.DataFrame(USERS | {"cpu": pandas.period_range("2026", periods=3, freq="D")}), "columns, column cpu", "pandas.period"),
        (pandas.DataFrame(USERS | {"cpu": pandas.arrays.SparseArray([1.0, 2, 3])}), "columns, column cpu", "Sparse"),
        (polars.DataFrame(USERS).with_columns(cpu=polars.lit(1, polars.Int128)), "columns, column cpu", "i128"),
        (pandas.DataFrame([["x", 1, 2, 3]], columns=["id", "cpu", "cpu", "memory"]), "columns, column cpu", "duplicate"),
        (polars.DataFrame(USERS).with_columns(gpu=1), "row 0, column gpu", "no server has any gpu"),
    ],
)
def test_columns_that_cannot_be_numbers_or_servers_cannot_have_are_named(frame, path, told):
    servers = polars.DataFrame(SERVERS)
    with pytest.raises(fp.InputError, match=told) as refused:
        fp.Instance(servers.with_columns(gpu=0) if "gpu" in frame else servers, frame)
    assert (refused.value.file, refused.value.path) == ("users", path), refused.value


def test_servers_that_are_all_counted_as_none_are_refused_by_their_column():
    with pytest.raises(fp.InputError, match="^servers: columns, column count: the cluster has no servers$"):
        fp.Instance(polars.DataFrame(SERVERS).with_columns(count=0), polars.DataFrame(USERS))


def test_what_is_no_table_is_a_type_error():
    with pytest.raises(TypeError, match=r"users: LazyFrame is no table; .* its collect\(\)"):
        fp.Instance(polars.DataFrame(SERVERS), polars.LazyFrame(USERS))
    with pytest.raises(TypeError, match="instance: DataFrame is none; make one by fairplan.Instance"):
        fp.solve(polars.DataFrame(USERS))
    with pytest.raises(TypeError, match="users: list is no table"):
        fp.Instance(polars.DataFrame(SERVERS), [1])


def test_bad_dictionaries_and_files_name_place_and_value(tmp_path):
    cluster = fp.generate.drfh_fig1().to_dict()
    cluster["users"][1]["demand"]["cpu"] = -2
    with pytest.raises(fp.InputError) as refused:
        fp.Instance.from_dict(cluster, name="mine")
    assert (refused.value.file, refused.value.path, refused.value.value) == ("mine", "users[1].demand.cpu", "-2")
    with pytest.raises(ValueError, match="/missing.json: No such file"):
        fp.read("/missing.json")
    (tmp_path / "empty.json").write_bytes(b"")
    with pytest.raises(fp.InputError, match="the file is empty"):
        fp.read(tmp_path / "empty.json")


def test_instances_are_pickled_copied_and_compared(cluster):
    for again in [pickle.loads(pickle.dumps(cluster)), copy.deepcopy(cluster), copy.copy(cluster)]:
        assert again == cluster and hash(again) == hash(cluster)
        assert again.to_json() == cluster.to_json()


def test_instances_are_written_whole_or_not_at_all(tmp_path):
    cluster = fp.generate.drfh_fig1()
    cluster.write(tmp_path / "i.json")
    assert fp.read(tmp_path / "i.json") == cluster
    with pytest.raises(fp.FairplanError, match="No such file"):
        cluster.write(tmp_path / "no" / "i.json")


def test_a_frame_without_rows_and_a_series_are_refused_by_their_name():
    servers = polars.DataFrame({"id": ["a"], "count": [1], "cpu": [1.0]})
    with pytest.raises(fp.InputError, match="^users: there are no users$"):
        fp.Instance(servers, polars.DataFrame({"id": [], "cpu": []}, schema={"id": str, "cpu": float}))
    with pytest.raises(fp.InputError, match="^servers: Series gives no columns: "):
        fp.Instance(polars.Series([1]), servers)


@pytest.mark.parametrize("ending", ["csv", "parquet", "xlsx", "json.bz2"])
def test_an_instance_is_written_as_json_and_nothing_else(tmp_path, ending):
    path = tmp_path / f"cluster.{ending}"
    with pytest.raises(fp.InputError, match=r"an instance is written as \.json or \.json\.gz"):
        fp.generate.drfh_fig1().write(path)
    assert not path.exists()
    fp.generate.drfh_fig1().write(tmp_path / "cluster.json.gz")
    assert fp.read(tmp_path / "cluster.json.gz") == fp.generate.drfh_fig1()


def test_two_frames_are_solved_in_one_call():
    servers, users = polars.DataFrame(SERVERS), polars.DataFrame(USERS)
    of_both = fp.solve(fp.Instance(servers, users)).to_json(timing=False)
    assert fp.solve(servers, users).to_json(timing=False) == of_both
    with pytest.raises(TypeError, match="the instance has users of its own"):
        fp.solve(fp.generate.drfh_fig1(), users)
    with pytest.raises(TypeError, match=r"instance: DataFrame is none; make one by fairplan\.Instance"):
        fp.solve(servers)


def test_a_catalog_may_be_a_frame():
    cluster = fp.generate.drfh_fig1()
    catalog = polars.DataFrame({"id": ["high-cpu", "high-memory"], "price": [3, 2], "limit": [None, 9]})
    bought = fp.plan.buy(cluster, catalog=catalog, share=0.9)
    assert bought.cluster.server_count > cluster.server_count
    with pytest.raises(fp.InputError, match="catalog: .*price"):
        fp.plan.buy(cluster, catalog=catalog.drop("price"), share=0.9)
    with pytest.raises(TypeError, match="catalog: dict is no table"):
        fp.plan.buy(cluster, catalog={}, share=0.9)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"time_limit": "5"}, "time_limit: str is no number of seconds"),
        ({"progress": 3}, "progress: int cannot be called"),
        ({"seed": -1}, "seed"),
        ({"users_searched": -2}, "users_searched"),
    ],
)
def test_options_of_the_wrong_type_are_named(options, message):
    with pytest.raises(TypeError, match=message):
        fp.audit(fp.generate.drfh_fig1(), **options)


def test_an_empty_count_and_missing_groups_are_told():
    with pytest.raises(fp.InputError, match="row 1, column count: is missing"):
        fp.Instance(polars.DataFrame(SERVERS | {"count": [1, None]}), polars.DataFrame(USERS))
    users = polars.DataFrame(USERS | {"group": ["g", None, None]})
    with pytest.raises(fp.InputError, match="users are in groups: give the table of groups too"):
        fp.Instance(polars.DataFrame(SERVERS), users)


def test_dictionaries_may_have_numbers_of_numpy_and_decimals_and_what_is_none_is_named():
    def cluster(cpu, count=1):
        classes = [{"id": "s", "count": count, "capacity": {"cpu": cpu}}]
        users = [{"id": "a", "demand": {"cpu": 1}}]
        return fp.Instance.from_dict({"resources": ["cpu"], "server_classes": classes, "users": users}, name="mine")

    assert cluster(decimal.Decimal("1.5"), numpy.int64(1)) == cluster(1.5) == cluster(numpy.float64(1.5))
    for cpu, told in [(math.nan, "must be a finite number"), (1j, "complex is none of what a document has")]:
        with pytest.raises(fp.InputError, match=told) as refused:
            cluster(cpu)
        assert (refused.value.file, refused.value.path) == ("mine", "server_classes[0].capacity.cpu")
    with pytest.raises(fp.InputError, match="has more digits than a double"):
        cluster(decimal.Decimal("1.00000000000000000001"))
    with pytest.raises(TypeError, match="mine: list is no dictionary"):
        fp.Instance.from_dict([1], name="mine")
    with pytest.raises(TypeError, match="path: int is no path"):
        fp.read(3)
