"""What counts as a frame."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

__all__ = ["ArrowStream"]


@runtime_checkable
class ArrowStream(Protocol):
    """Anything that hands its columns over as an Arrow stream: frames of pandas, polars, pyarrow, and others."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
