"""Commands about waits."""

from __future__ import annotations

from ....command_line.command import in_modules

COMMANDS = in_modules(
    __name__,
    {
        "waits": "show who waits for whom, for what and for how long",
    },
)
