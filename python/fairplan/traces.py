"""Traces: jobs and servers over time, to be simulated."""

from __future__ import annotations

import os
from typing import Any

from fairplan import _native
from fairplan.files import path_of
from fairplan.held import HeldServers, as_bytes

__all__ = ["Trace"]


class Trace(HeldServers[_native.Trace]):
    """Jobs, their tasks, and servers that come and go: a ``fairplan.trace.v1``, never changed.

    Args:
        path: the file, as JSON Lines, gzipped or not, or Parquet. It is streamed each time that the trace is run.

    Raises:
        InputError: names file, line and value of what cannot be used.

    >>> import fairplan as fp
    >>> trace = fp.generate.trace_random(servers=20, users=3, jobs=30, seed=1)
    >>> trace
    <fairplan.Trace: 30 random jobs of 3 users on 20 servers, seed 1>
    >>> fp.simulate(trace, policies=["best-fit"]).table["policy"]
    ['best-fit']
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._native = _native.Trace(path_of("trace", path))

    @classmethod
    def from_json_lines(cls, lines: str | bytes, name: str = "the trace") -> Trace:
        """The trace in JSON Lines; errors call it ``name``."""
        return cls._of(_native.Trace.from_json_lines(as_bytes(lines), name))

    def to_json_lines(self) -> str:
        """The canonical JSON Lines, which every reading of the same trace gives."""
        return self._native.to_json_lines().decode()

    def write(self, path: str | os.PathLike[str]) -> None:
        """Writes the trace to a file, whole or not at all: ``.jsonl``, ``.jsonl.gz`` or ``.parquet``."""
        self._native.write(path)

    def __reduce__(self) -> tuple[Any, ...]:
        return Trace.from_json_lines, (self.to_json_lines(),)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Trace) and self.to_json_lines() == other.to_json_lines()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<fairplan.Trace: {self.name or ' '.join(self.resources)}>"
