"""Instances: clusters, their users and groups."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Mapping
from typing import Any

from fairplan import _native
from fairplan.documents import as_json
from fairplan.errors import FairplanWarning
from fairplan.files import path_of
from fairplan.frames import ArrowStream
from fairplan.held import HeldServers, as_bytes
from fairplan.tables import Table

__all__ = ["Instance", "read"]


class Instance(HeldServers[_native.Instance]):
    """A cluster, its users and their groups: checked, in exact decimals, and never changed.

    Args:
        servers: a row a server class: ``id``, ``count``, and a column a resource with the capacity of one server.
        users: a row a user: ``id``, the demand of one task in the same columns, and optionally ``weight``, ``tasks``,
            ``eligible`` (a list of classes, or text between ``;``), ``rates`` (``class=rate``), ``group``.
        groups: where users are in groups: ``id``, and optionally ``weight`` and ``parent``.

    Each is a frame (of pandas with pyarrow, polars, pyarrow, or anything with ``__arrow_c_stream__``) or the path of a CSV or
    Parquet file. A double means the shortest decimal that reads back as it: 0.1 is a tenth.

    Raises:
        InputError: names frame, row (counted from 0) and column of what cannot be used.

    >>> import fairplan as fp
    >>> cluster = fp.Instance.from_dict({
    ...     "resources": ["cpu"],
    ...     "server_classes": [{"id": "small", "count": 2, "capacity": {"cpu": 4}}],
    ...     "users": [{"id": "a", "demand": {"cpu": 1}}, {"id": "b", "demand": {"cpu": 0.5}}],
    ... })
    >>> cluster
    <fairplan.Instance of 2 servers in 1 class, 2 users, cpu>
    """

    def __init__(
        self,
        servers: ArrowStream | str | os.PathLike[str],
        users: ArrowStream | str | os.PathLike[str],
        groups: ArrowStream | str | os.PathLike[str] | None = None,
    ) -> None:
        self._native = _native.Instance(servers, users, groups)

    @classmethod
    def from_json(cls, text: str | bytes, name: str = "the instance") -> Instance:
        """The instance in a ``fairplan.instance.v1``; errors call it ``name``."""
        return cls._of(_native.Instance.from_json(as_bytes(text), name))

    @classmethod
    def from_dict(cls, instance: Mapping[str, Any], name: str = "the instance") -> Instance:
        """The instance in a dictionary laid out like a ``fairplan.instance.v1``, whose ``format`` may be left out."""
        if not isinstance(instance, Mapping):
            raise TypeError(f"{name}: {type(instance).__name__} is no dictionary")
        return cls.from_json(as_json(name, {"format": "fairplan.instance.v1", **instance}), name)

    def to_json(self) -> str:
        """The canonical ``fairplan.instance.v1``, which every reading of the same instance gives."""
        return self._native.to_json().decode()

    def to_dict(self) -> dict[str, Any]:
        """The same as a dictionary."""
        document: dict[str, Any] = json.loads(self.to_json())
        return document

    def write(self, path: str | os.PathLike[str]) -> None:
        """Writes the canonical JSON to a file, ``.json`` or ``.json.gz``, whole or not at all."""
        self._native.write(path)

    def write_tables(
        self,
        servers: str | os.PathLike[str],
        users: str | os.PathLike[str],
        groups: str | os.PathLike[str] | None = None,
    ) -> None:
        """Writes tables of servers, users and groups that can be read back exactly: ``.csv``, ``.csv.gz``, ``.parquet`` or ``.arrow``.
        All are replaced, or none.

        Raises:
            InputError: tables have no room for something, such as kinds of tasks or quotas; write JSON.
        """
        self._native.write_tables(servers, users, groups)

    def without(self, *parts: str) -> Instance:
        """The same without what users and groups are given: ``guarantees``, ``limits``, ``reserves``, or several of these."""
        return Instance._of(self._native.without(list(parts)))

    @property
    def servers(self) -> Table:
        """A row a server class: ``id``, ``count``, and the capacity of one server, a column a resource, as doubles.

        >>> import fairplan as fp
        >>> fp.generate.drfh_fig1().servers.to_dict()
        {'id': ['high-memory', 'high-cpu'], 'count': [1, 1], 'cpu': [2.0, 12.0], 'memory': [12.0, 2.0]}
        """
        return Table(self._native.servers())

    @property
    def users(self) -> Table:
        """A row a user: ``id``, the demand of one task, a column a resource, as doubles, and what else some user has (``weight``,
        ``tasks``, ``eligible``, ``rates``, ``group``).

        A :class:`FairplanWarning` says if the users have quotas or rules that no column has: an instance that is made of the table lacks them.

        Raises:
            InputError: users have several kinds of tasks; see :meth:`to_dict`.
        """
        users, beyond = Table(self._native.users()), self._native.beyond_tables()
        if beyond is not None:
            warnings.warn(f"users: the table has no column for {beyond}; see to_dict()", FairplanWarning, stacklevel=2)
        return users

    @property
    def groups(self) -> Table:
        """A row a group: ``id``, ``weight``, ``parent``; no rows without groups."""
        return Table(self._native.groups())

    @property
    def user_count(self) -> int:
        """How many users there are."""
        return self._native.user_count

    @property
    def server_count(self) -> int:
        """How many servers all classes have together."""
        return self._native.server_count

    @property
    def sha256(self) -> str:
        """The SHA-256 of the canonical JSON, by which results name the instance."""
        return self._native.sha256()

    @property
    def warnings(self) -> list[str]:
        """What deserves a second look, such as a server that no task fits."""
        return self._native.warnings()

    def __reduce__(self) -> tuple[Any, ...]:
        return Instance.from_json, (self.to_json(), self.name or "the instance")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Instance) and self.sha256 == other.sha256

    def __hash__(self) -> int:
        return hash(self.sha256)

    def __repr__(self) -> str:
        native = self._native
        counts = f"{_counted(native.server_count, 'server')} in {_counted(native.class_count, 'class')}"
        counts += f", {_counted(native.user_count, 'user')}"
        if native.group_count:
            counts += f", {_counted(native.group_count, 'group')}"
        return f"<fairplan.Instance of {counts}, {' '.join(self.resources)}>"


def _counted(count: int, what: str) -> str:
    many = what + ("es" if what.endswith("s") else "s")
    return f"{count:,} {what if count == 1 else many}"


def read(path: str | os.PathLike[str]) -> Instance:
    """Reads a ``fairplan.instance.v1``, gzipped or not.

    Raises:
        InputError: names file, place and value of what cannot be used.

    >>> import fairplan as fp
    >>> fp.read("/missing.json")
    Traceback (most recent call last):
        ...
    fairplan.errors.InputError: /missing.json: No such file or directory (os error 2)
    """
    return Instance._of(_native.Instance.read(path_of("path", path)))
