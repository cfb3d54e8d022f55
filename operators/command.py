"""``blender --background --command tracevis3d …``: the words of the command line, inside Blender."""

from typing import Any

import bpy

from ..tracevis3d import cli

#: Of the commands in Blender, which takes them away by these alone.
_handles: list[Any] = []


def run(arguments: list[str]) -> int:
    """Run one command; returns the exit code."""
    return cli.main(arguments, prog="blender --command tracevis3d")


def register() -> None:
    """Let Blender find the command."""
    _handles.append(bpy.utils.register_cli_command("tracevis3d", run))


def unregister() -> None:
    """Take the command away."""
    while _handles:
        bpy.utils.unregister_cli_command(_handles.pop())
