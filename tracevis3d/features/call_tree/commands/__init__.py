"""Commands about the call tree."""

from __future__ import annotations

from ....command_line.command import in_modules

COMMANDS = in_modules(
    __name__,
    {
        "tree": "list rows of the call tree, from any row or call on",
        "nodes": "list the functions of a trace with their occurrences",
        "library": "promote patterns and utilities, and find them in other traces",
    },
)
