"""What the compiled half holds for Python, and what a question is asked of: it never changes."""

from __future__ import annotations

from typing import Generic, Protocol, Self, TypeVar

__all__ = ["Held", "HeldServers", "as_bytes"]


class _Servers(Protocol):
    @property
    def name(self) -> str: ...
    @property
    def resources(self) -> list[str]: ...


Native = TypeVar("Native")
Servers = TypeVar("Servers", bound=_Servers)


class Held(Generic[Native]):
    """Something of the compiled half."""

    _native: Native

    @classmethod
    def _of(cls, native: Native) -> Self:
        held = cls.__new__(cls)
        held._native = native
        return held


class HeldServers(Held[Servers]):
    """The same of servers with resources: a cluster, or one over time."""

    @property
    def name(self) -> str:
        """What it is called; empty if it has no name."""
        return self._native.name

    @property
    def resources(self) -> list[str]:
        """The resources, in their order."""
        return self._native.resources


def as_bytes(text: str | bytes) -> bytes:
    """A text as it is written to a file."""
    return text.encode() if isinstance(text, str) else text
