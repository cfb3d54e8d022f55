"""``python -m tracevis3d``."""

from . import interrupts


def _program() -> int:
    from .cli import main  # once interrupts are handled: importing takes a while

    return main(prog="python -m tracevis3d")


interrupts.run(_program)
