"""Commands that compare traces."""

from __future__ import annotations

from ....command_line.command import in_modules

COMMANDS = in_modules(
    __name__,
    {
        "match": "show what two traces have in common",
        "explain": "show how two traces differ: the most important findings, with figures",
        "similarity": "show how similar whole traces are, each to each other",
    },
)
