"""The commands of the command line: one file each, which adds its arguments to the parser and runs it.

A file of this room imports nothing heavy at its top: all of them are imported to show help.
"""

from __future__ import annotations

from importlib import import_module

from ..command_line.arguments import Subcommands

#: The modules of the commands, in the order of the help.
_OWN = (
    ".info",
    ".render",
    "..features.comparison.commands.match",
    "..features.comparison.commands.explain",
    "..features.comparison.commands.similarity",
    ".search",
    "..features.interactions.commands.phases",
    "..features.interactions.commands.patterns",
    "..features.waits.commands.waits",
    "..features.memory.commands.memory",
    ".filter",
    "..features.call_tree.commands.tree",
    "..features.call_tree.commands.nodes",
    "..features.call_tree.commands.library",
    ".bookmarks",
    ".live.replay",
    ".live.watch",
    ".live.keys",
    ".convert",
    ".record",
    ".views",
    ".formats",
    ".filters",
    ".doctor",
    ".cache",
)


def add_all(commands: Subcommands) -> None:
    """Add every command to the parser."""
    for name in _OWN:
        import_module(name, __package__).add(commands)
