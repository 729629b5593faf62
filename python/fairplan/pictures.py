"""Charts."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["Picture"]


class Picture:
    """A chart, which notebooks show; ``svg`` is its text."""

    def __init__(self, svg: str) -> None:
        self.svg = svg

    def _repr_svg_(self) -> str:
        return self.svg

    def write(self, path: str | os.PathLike[str]) -> None:
        """Writes the SVG to a file."""
        Path(path).write_text(self.svg, encoding="utf-8")

    def __repr__(self) -> str:
        return f"<fairplan.Picture of {len(self.svg):,} letters of SVG>"
