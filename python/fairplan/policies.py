"""A placement policy of one's own."""

from __future__ import annotations

import array
from collections.abc import Callable, Collection, Iterable
from typing import Any

__all__ = ["Policy", "PolicyCommand", "Task"]

Policy = Callable[["Task", Any], "int | Collection[int] | None"]
"""Chooses the server for one more task: ``(task, free) -> server``, or ``None`` if it shall have no more.

A policy may decide many tasks in one call: it answers with several servers, the first for this task, the others for the next tasks of
the same user in their order. It is asked again when they are used up, or as soon as one of them has no room any more. One call of
a policy in numpy takes tens of microseconds, so this is how it decides more than some ten thousand tasks a second.

``free`` is an array of servers times resources: what each server has free now. Servers are numbered class by class, in the
instance's order. It changes under the policy's eyes; what is written into it means nothing. An answer where the task does not fit
is an ``InputError`` that names task, server and resource. Without numpy, ``free`` is a two-dimensional ``memoryview``.

Of users with kinds a policy is asked for each piece of a task, of the kind that is furthest behind. Where one finds no server, those of
the same task that have one are taken back, and ``free`` shows their room again.

In ``simulate`` tasks end too and servers come and go, so ``free`` has more rows later. Tasks that ask for the same are one user there,
called ``shape-1``, ``shape-2`` and so on in the order in which they first come; all may run on all servers.
"""


class PolicyCommand:
    """A policy in another process, in any language, which speaks ``fairplan.policy.v1`` on its standard input and output.

    Args:
        command: the command line, cut at blanks as a shell does; results call the policy so.
        timeout: it is given up when it takes longer than so many seconds for an answer.

    >>> import fairplan as fp
    >>> fp.place(fp.generate.drfh_fig1(), policy=fp.PolicyCommand("false"))
    Traceback (most recent call last):
        ...
    fairplan.errors.FairplanError: policy false: ended (exit status: 1) before it answered for task 1, of user user-1
    """

    def __init__(self, command: str, *, timeout: float = 60) -> None:
        self.command = command
        self.timeout = timeout

    def _named(self) -> tuple[str, float]:
        return self.command, float(self.timeout)

    def __repr__(self) -> str:
        return f"PolicyCommand({self.command!r}, timeout={self.timeout!r})"


def asked(
    what: str, given: str | PolicyCommand | Policy
) -> str | tuple[str, float] | tuple[str, Callable[..., Any]]:
    """A policy as the compiled half takes it."""
    return given._named() if isinstance(given, PolicyCommand) else named(what, given, "(task, free) -> server")


def all_asked(given: Iterable[str | PolicyCommand | Policy]) -> list[str | tuple[str, float] | tuple[str, Callable[..., Any]]]:
    """The policies that an option of this name was given, at least one."""
    policies = each_asked(given)
    if not policies:
        raise TypeError("policies: name at least one")
    return policies


def each_asked(given: Iterable[str | PolicyCommand | Policy]) -> list[str | tuple[str, float] | tuple[str, Callable[..., Any]]]:
    """The same where there may be none."""
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise TypeError(f"policies: {type(given).__name__} is no list of names and functions")
    return [asked("policies", policy) for policy in given]


def named(what: str, given: str | Callable[..., Any], form: str) -> str | tuple[str, Callable[..., Any]]:
    """A name as it is, a function with what results call it."""
    if isinstance(given, str):
        return given
    if not callable(given):
        raise TypeError(f"{what}: {type(given).__name__} is neither a name nor a function {form}")
    return getattr(given, "__name__", type(given).__name__), given


class Task:
    """The task to be placed: whose it is, what it needs, and where it may run."""

    __slots__ = ("demand", "eligible", "kind", "user")

    def __init__(
        self,
        user: str,
        demand: list[float],
        allowed: list[tuple[int, int]] | None,
        servers: int,
        kind: str | None = None,
    ) -> None:
        self.user = user
        """The user's id."""
        self.kind = kind
        """Which of the user's kinds of tasks; ``None`` if it has none."""
        self.demand: Any = _array(demand)
        """What one task, or one piece of the kind, needs of each resource, in the instance's order."""
        self.eligible: Any = None
        """Of each server whether the task may run there; ``None`` if it may run on all."""
        if allowed is not None:
            flags = [False] * servers
            for start, end in allowed:
                flags[start:end] = [True] * (end - start)
            self.eligible = _array(flags)


def _array(values: list[Any]) -> Any:
    try:
        import numpy
    except ImportError:
        return tuple(values)
    return numpy.array(values)


def free_capacities(servers: int, resources: int) -> tuple[Any, Any]:
    """Room for what each server has free, which fairplan fills, and what a policy sees of it."""
    try:
        import numpy
    except ImportError:
        plain = memoryview(array.array("d", bytes(8 * servers * resources)))
        return plain, plain.toreadonly().cast("B").cast("d", (servers, resources))
    memory = numpy.zeros((servers, resources))
    view = memory.view()
    view.flags.writeable = False
    return memory, view
