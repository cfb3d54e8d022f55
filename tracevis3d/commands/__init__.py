"""The commands that belong to no view: one file each, which declares its arguments and runs it.

Those of views are declared with the views. A command's file is imported when the command is used.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TypeVar

from ..command_line.command import Command, in_modules
from ..errors import TraceVisError, UsageError
from ..views import own

T = TypeVar("T", argparse.ArgumentParser, argparse.Namespace)

#: Commands that work on traces.
_TRACES = {
    "info": "show what is in a trace",
    "render": "draw a view of one or more traces into a file",
    "pictures.panels": "draw several views as the panels of one figure",
    "pictures.film": "make a film of several shots from a story",
    "batch": "run many commands from a file, on all cores or on many machines",
    "pictures.again": "make a picture again from the recipe stored in it",
    "search": "find functions by their names, and their calls in time",
    "query": "ask traces in SQL",
    "filter": "hide calls by filters, and write the rest",
    "convert": "write a trace in another format, chosen by OUT's suffix",
    "bookmarks": "list the bookmarks of a .blend that the extension saved",
    "record": "run a Python program and record its calls, waits and I/O",
    "live.replay": "publish a recorded trace as a live feed",
    "live.watch": "record a live feed into a file, or render it at intervals",
    "live.live": "make keys for live feeds between machines",
}
#: Commands that list what is available.
_PROGRAM = {
    "views": "list the views, or the parameters of one",
    "formats": "list the formats that can be read and written",
    "filters": "list the filters, or the parameters of one",
    "doctor": "show what this machine can do, and what to install",
    "cache": "show the cache of loaded traces, or clear it",
}


def all_commands() -> dict[str, Command]:
    """Return our own commands by name, in the order of the help; none is imported."""
    traces, program = (in_modules(__name__, sentences) for sentences in (_TRACES, _PROGRAM))
    return {command.name: command for command in (*traces, *own.commands(), *program)}


def plugin_commands() -> dict[str, Command]:
    """Return the commands of plug-ins' views by name; all of these views are imported.

    A view that can't be loaded adds none. Of two commands of one name, the first applies.

    Returns
    -------
    dict of str to Command
    """
    found: dict[str, Command] = {}
    for _, command in _of_plugins():
        found.setdefault(command.name, command)
    return found


def left_out() -> list[str]:
    """Return a sentence for each command of a plug-in that is not reached, because of another of its name."""
    taken = set(all_commands())
    sentences = []
    for view, command in _of_plugins():
        if command.name in taken:
            sentences.append(
                f"the command {command.name!r} of the view {view!r} is left out: the name is already in use"
            )
        taken.add(command.name)
    return sentences


def _of_plugins() -> Iterator[tuple[str, Command]]:
    from ..views import registry

    for view in registry.others():
        try:
            declared = registry.find(view).commands
        except UsageError:
            continue
        for command in declared:
            yield (
                view,
                replace(
                    command,
                    add=_guarded(command.add, command, view),
                    run=_guarded(command.run, command, view),
                ),
            )


def _guarded(call: Callable[[T], None], command: Command, view: str) -> Callable[[T], None]:
    """Return a function of a plug-in that fails in one sentence."""

    def guarded(args: T) -> None:
        try:
            call(args)
        except (TraceVisError, OSError, MemoryError):
            raise
        except Exception as error:
            reason = " ".join(str(error).split()) or type(error).__name__
            raise UsageError(f"the command {command.name!r} of the view {view!r} failed: {reason}") from error

    return guarded
