"""``python -m tracevis3d``, and the program ``tracevis3d``."""

import os
import sys
from typing import NoReturn

from . import interrupts


def _program() -> int:
    from .cli import main  # once interrupts are handled: importing takes a while

    started = os.path.basename(sys.argv[0])
    return main(prog="python -m tracevis3d" if started == "__main__.py" else "tracevis3d")


def program() -> NoReturn:
    """Run the command line and end the process with its exit code."""
    interrupts.run(_program)


if __name__ == "__main__":
    program()
