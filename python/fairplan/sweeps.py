"""Many runs of one command as one table, here or on the workers of Dask, Ray or any executor."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairplan.documents import as_json
from fairplan.errors import FairplanError, InputError

if TYPE_CHECKING:
    import pandas  # type: ignore[import-untyped, import-not-found, unused-ignore]
    import polars  # type: ignore[import-untyped, import-not-found, unused-ignore]
    import pyarrow  # type: ignore[import-untyped, import-not-found, unused-ignore]

__all__ = ["Sweep", "sweep"]

INPUT = 2
"""The exit status of the command for what cannot be used."""


class Sweep:
    """The table of a sweep: a row a task, a column a parameter, then what the results say.

    Attributes:
        path: the table, as Parquet.
        tasks: how many tasks there are.
    """

    def __init__(self, path: Path, tasks: int) -> None:
        self.path = path
        self.tasks = tasks

    def __repr__(self) -> str:
        return f"<fairplan.Sweep: {self.tasks} tasks, {self.path}>"

    def to_arrow(self) -> pyarrow.Table:
        """The table as a ``pyarrow.Table``."""
        import pyarrow.parquet  # type: ignore[import-untyped, import-not-found, unused-ignore]

        return pyarrow.parquet.read_table(self.path)

    def to_pandas(self) -> pandas.DataFrame:
        """The table as a ``pandas.DataFrame``."""
        import pandas

        return pandas.read_parquet(self.path)

    def to_polars(self) -> polars.DataFrame:
        """The table as a ``polars.DataFrame``."""
        import polars

        return polars.read_parquet(self.path)


def sweep(
    spec: Mapping[str, Any] | str | os.PathLike[str],
    directory: str | os.PathLike[str],
    client: Any = None,
    *,
    chunk: int | None = None,
    each: str | None = None,
    threads: int | None = None,
) -> Sweep:
    """Runs a command many times with changing options, and puts all results into one table.

    What is in ``directory`` is not computed again: after an interruption, or when workers died, the same call goes on where the last
    one ended.

    Args:
        spec: the specification, as ``fairplan sweep plan`` reads it: a mapping, or the path of a YAML or JSON file.
        directory: where the list of tasks (``sweep.jsonl``), the results (``results/``) and the table (``all.parquet``) lie. All
            workers must see it, and the inputs, under the same paths.
        client: who runs the tasks: ``None`` for all cores of this machine; a ``dask.distributed.Client``; the module ``ray``; or any
            executor with ``submit``.
        chunk: tasks that a worker runs at once; some hundreds of chunks if it is not said.
        each: a list in the results, such as ``"policies"``, each element of which is a row.
        threads: threads of this machine, or of a worker (there one if it is not said).

    Raises:
        InputError: a specification, an option or an input that cannot be used.
        FairplanError: tasks that failed; the text names the first.

    >>> import os, tempfile
    >>> import fairplan as fp
    >>> folder = tempfile.mkdtemp()
    >>> cluster = os.path.join(folder, "cluster.json")
    >>> fp.generate.drfh_fig1().write(cluster)
    >>> spec = {"command": "solve", "arguments": [cluster], "parameters": {"objective": ["drfh", "pf", "utilitarian"]}}
    >>> fp.sweep(spec, os.path.join(folder, "sweep")).tasks
    3
    """
    folder = Path(directory).absolute()
    folder.mkdir(parents=True, exist_ok=True)
    tasks, results, table = folder / "sweep.jsonl", folder / "results", folder / "all.parquet"
    _plan(spec, tasks)
    with tasks.open(encoding="utf-8") as lines:
        count = int(json.loads(next(lines))["tasks"])
    limit = [] if threads is None else ["--threads", str(threads)]
    if client is None:
        _command("sweep", "run", str(tasks), "--all", "-o", str(results), *limit)
    else:
        size = chunk or max(1, count // 400)
        call = [str(tasks), "--chunk", str(size), "-o", str(results), *(limit or ["--threads", "1"])]
        told = _command("sweep", "missing", str(tasks), str(results), "--chunk", str(size), "--lines")
        _by(client, call, told.split(), os.getcwd())
    more = [] if each is None else ["--each", each]
    _command("sweep", "collect", str(tasks), str(results), "-o", str(table), *more)
    return Sweep(table, count)


def _plan(spec: Mapping[str, Any] | str | os.PathLike[str], tasks: Path) -> None:
    if not isinstance(spec, Mapping):
        _command("sweep", "plan", os.fspath(spec), "-o", str(tasks))
        return
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        written = Path(folder) / "spec.json"
        written.write_bytes(as_json("spec", dict(spec)))
        _command("sweep", "plan", str(written), "-o", str(tasks))


def _by(client: Any, call: list[str], chunks: list[str], folder: str) -> None:
    """Has every chunk run by the client's workers, and waits for all. Who loses a worker runs its chunks elsewhere."""
    if hasattr(client, "remote") and hasattr(client, "get"):  # The module ray.
        remote = client.remote(run_chunk)
        client.get([remote.options(max_retries=3).remote(call, chunk, folder) for chunk in chunks])
        return
    # The same chunk may have to run again, so Dask must not take its last answer for this one.
    pure = {"pure": False} if hasattr(client, "scheduler_info") else {}
    waiting = [client.submit(run_chunk, call, chunk, folder, **pure) for chunk in chunks]
    for future in waiting:
        future.result()


def run_chunk(call: list[str], chunk: str, folder: str) -> None:
    """Runs one chunk of tasks where a worker is; results are on the disk when it returns."""
    _command("sweep", "run", *call, "--index", chunk, folder=folder)


def _command(*words: str, folder: str | None = None) -> str:
    # It takes a tenth of the time of `import fairplan`.
    import subprocess

    # A file beside which this runs may be called like one of Python's modules.
    command = [sys.executable, "-P", "-m", "fairplan"]
    run = subprocess.run([*command, *words], capture_output=True, text=True, cwd=folder, check=False)
    if run.returncode == 0:
        return run.stdout
    told = "; ".join(run.stderr.strip().removeprefix("error: ").splitlines())
    raise (InputError if run.returncode == INPUT else FairplanError)(told)
