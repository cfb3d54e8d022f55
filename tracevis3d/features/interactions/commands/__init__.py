"""Commands about interactions."""

from __future__ import annotations

from ....command_line.command import in_modules

COMMANDS = in_modules(
    __name__,
    {
        "phases": "find the phases of a run, which of them recur, and lone calls",
        "patterns": "find recurring subtrees, loops and sequences, and repeats of a time range",
    },
)
