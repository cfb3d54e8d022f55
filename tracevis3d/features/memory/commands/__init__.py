"""Commands about memory."""

from __future__ import annotations

from ....command_line.command import in_modules

COMMANDS = in_modules(
    __name__,
    {
        "memory": "show what lives in memory, where it is allocated, and what leaks",
    },
)
