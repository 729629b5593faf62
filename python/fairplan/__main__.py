"""The command: ``python -m fairplan …``, and what the script ``fairplan`` calls."""

from __future__ import annotations

import os
import signal
import sys

from fairplan import _native

__all__ = ["main"]


def main() -> int:
    """Makes the process the command, with the arguments that it was given; its exit status."""
    # Signals do what they do to any command, and not what Python makes of them.
    for number in (signal.SIGINT, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    # A file that is opened must not become standard input or output where that is closed.
    for standard in range(3):
        try:
            os.fstat(standard)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    return _native.command(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
