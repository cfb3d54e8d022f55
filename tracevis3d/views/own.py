"""The library's own views and their commands, as a table that is read without importing a view."""

from __future__ import annotations

from importlib import import_module
from typing import NamedTuple

from ..command_line.command import Command


class Own(NamedTuple):
    """Where a view of this package is."""

    #: The module that defines ``VIEW``.
    module: str
    #: The package that defines ``COMMANDS``, the view's :attr:`.view.View.commands`; empty: it has none.
    commands: str = ""
    #: Whether its live form has alarms: to watch a feed only these are imported.
    alarms: bool = False


OWN = {
    "icicle": Own("..features.call_tree.icicle.view", "..features.call_tree.commands"),
    "threads": Own("..features.waits.view.view", "..features.waits.commands", alarms=True),
    "compare": Own("..features.comparison.compare", "..features.comparison.commands"),
    "cone": Own("..features.call_tree.cone.view", "..features.call_tree.commands"),
    "interactions": Own("..features.interactions.view.view", "..features.interactions.commands"),
    "memory": Own("..features.memory.view.view", "..features.memory.commands", alarms=True),
    "matrix": Own("..features.matrix.view.view"),
    "ramp": Own("..features.ramp.view.view"),
    "city": Own("..features.city.view.view"),
    "source": Own("..features.source.view.view"),
    "tracks": Own("..features.tracks.view.view"),
}


def commands() -> list[Command]:
    """Return the commands of our own views, each once; no view is imported."""
    packages = dict.fromkeys(own.commands for own in OWN.values() if own.commands)
    return [command for package in packages for command in import_module(package, __package__).COMMANDS]
