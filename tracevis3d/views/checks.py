"""The rules for a view, so that the command line, Python and Blender can all offer it."""

from __future__ import annotations

import keyword
import re

from ..command_line.command import Command
from ..errors import UsageError
from ..parameters import declared
from .view import View

#: Names that the settings of a view have in Blender beside its parameters' groups, and what every group has.
SETTINGS = frozenset(
    ("view", "style", "filters", "engine", "output", "seconds", "place", "low", "high", "sources", "facts",
     "tables", "stale")
)  # fmt: skip
#: Names that every group of Blender's properties has.
GROUP = frozenset(("name", "id_data", "rna_type", "bl_rna"))
#: Allowed names of commands.
_WORD = re.compile(r"[a-z][a-z0-9-]*")
#: Maximum of Blender's integers.
_INT_LIMIT = 2**31 - 1


def check(view: View, name: str) -> None:
    """Check a plug-in's view.

    Parameters
    ----------
    view : View
        As the plug-in declares it.
    name : str
        The word by which the plug-in offers it.

    Raises
    ------
    UsageError
        If its name, one of its parameters or one of its commands can't be offered.
    """
    if not name.isidentifier() or keyword.iskeyword(name) or name.startswith("_"):
        raise UsageError(f"the name {name!r} is not a valid name of a Python function")
    if name in SETTINGS | GROUP:
        raise UsageError(f"the name {name!r} is reserved for a setting that every view has")
    least, most = view.traces
    if not 1 <= least <= most:
        raise UsageError(f"it takes {least} to {most} traces")
    for parameter in declared(view.parameters):
        if parameter.name in GROUP or keyword.iskeyword(parameter.name) or parameter.name.startswith("_"):
            raise UsageError(f"the parameter {parameter.name!r} is named like a fixed setting")
        if isinstance(parameter.default, int) and not isinstance(parameter.default, bool):
            bounds = (parameter.low, parameter.high, parameter.default)
            if any(abs(bound) > _INT_LIMIT for bound in bounds if bound is not None):
                raise UsageError(
                    f"the parameter {parameter.name!r} has a bound beyond {_INT_LIMIT:,}, where Blender's "
                    "whole numbers end"
                )
        parameter.read(parameter.default)
    for command in view.commands:
        if not isinstance(command, Command):
            raise UsageError(f"its command {command!r} is not a Command but a {type(command).__name__}")
        if not _WORD.fullmatch(command.name):
            raise UsageError(
                f"the command {command.name!r} is not a word of small letters, digits and hyphens"
            )
