"""The commands of the command line: one file each, which adds its words to the parser and does its work.

A file of this room imports nothing heavy at its top: all of them are imported to show help.
"""

from __future__ import annotations

from importlib import import_module

from .parts import Subcommands

#: In the order of the help.
_OWN = (
    "info",
    "render",
    "match",
    "explain",
    "similarity",
    "search",
    "phases",
    "patterns",
    "waits",
    "memory",
    "filter",
    "tree",
    "nodes",
    "library",
    "bookmarks",
    "replay",
    "watch",
    "live",
    "convert",
    "record",
    "views",
    "formats",
    "filters",
    "doctor",
    "cache",
)


def add_all(commands: Subcommands) -> None:
    """Add every command to the parser."""
    for name in _OWN:
        import_module(f".{name}", __package__).add(commands)
