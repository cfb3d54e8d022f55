"""Why an operator can't be used just now: checked by ``poll``, shown where its button is greyed out."""

from collections.abc import Callable
from typing import Any

import bpy

from . import environment
from .state import settings
from .task import idle

#: Possible preconditions of operators.
LIBRARY, IDLE, OBJECT_MODE, VIEW, INSTALLED, OWN = (
    "library",
    "idle",
    "object mode",
    "view",
    "installed",
    "own",
)


#: What several operators need: to draw a view, to draw a view again, to read the trace of a view.
DRAW = (LIBRARY, IDLE, OBJECT_MODE, VIEW)
REBUILD = (*DRAW, INSTALLED, OWN)
TRACE = (LIBRARY, IDLE, VIEW, OWN)


def obstacle(context: bpy.types.Context, *needs: str) -> str:
    """Return one sentence on the first of ``needs`` that is missing; empty if nothing is."""
    collection = settings.active(context)
    missing: dict[str, Callable[[], str]] = {
        LIBRARY: environment.missing_library,
        IDLE: lambda: "" if idle() else "A trace is being read",
        OBJECT_MODE: lambda: "" if context.mode == "OBJECT" else "Leave edit mode first",
        VIEW: lambda: "" if collection is not None else "This scene has no view: import a trace first",
        INSTALLED: lambda: _not_installed(collection),
        OWN: lambda: _linked(collection),
    }
    return next((sentence for need in needs if (sentence := missing[need]())), "")


def _not_installed(collection: bpy.types.Collection) -> str:
    return "" if settings.parameters(collection) else "The view is not installed here"


def _linked(collection: bpy.types.Collection) -> str:
    return "" if collection.library is None else "The view is linked from another .blend: change it there"


def poll(operator: Any, context: bpy.types.Context, *needs: str) -> bool:
    """Return whether all of ``needs`` is met; else ``operator`` says what is missing."""
    if sentence := obstacle(context, *needs):
        operator.poll_message_set(sentence)
        return False
    return True
