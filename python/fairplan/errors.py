"""What is raised when there is no answer, or none that is proved."""

from __future__ import annotations

from typing import Any

__all__ = ["FairplanError", "FairplanWarning", "Infeasible", "InputError", "NotProved"]


class FairplanError(Exception):
    """There is no answer. The text is one line that names file, place, value and what to do.

    Attributes:
        file: the file or frame, if one is at fault (``"users"``).
        path: the place in it (``"row 3, column cpu"``, ``"users[3].demand.cpu"``).
        value: the offending value, as text.
        found: the result that there is all the same, such as an allocation that is valid but not proved; else ``None``.
    """

    def __init__(
        self,
        message: str = "",
        file: str | None = None,
        path: str | None = None,
        value: str | None = None,
        found: Any = None,
    ) -> None:
        super().__init__(message, file, path, value, found)
        self.file = file
        self.path = path
        self.value = value
        self.found = found

    def __str__(self) -> str:
        return str(self.args[0])

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.args[0], self.file, self.path, self.value, self.found)


class InputError(FairplanError, ValueError):
    """What is asked for, or what it is asked of, cannot be used."""


class NotProved(FairplanError):
    """What was found is not proved to be the best, or time was over before; ``found`` has what there is."""


class Infeasible(FairplanError):
    """Nothing that is allowed reaches what is asked for; ``found`` has the result that says why."""


class FairplanWarning(UserWarning):
    """Something is left out of a result, or an instance deserves a second look."""
