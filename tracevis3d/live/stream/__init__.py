"""Live views: what flows through them, computed from what a feed has brought; nothing here knows Blender."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...errors import UsageError

if TYPE_CHECKING:
    from ..growing import GrowingTrace
    from .live_view import LiveView

#: Names of the live views, with a few words on each.
VIEWS = {
    "icicle": "The calls of each thread, one upon the other",
    "threads": "Who computes, waits, reads or writes, and who lets whom go on",
    "memory": "Places of memory, higher the longer nobody has touched them",
    "interactions": "Which module calls which, as chords of a drum",
}

_MODULES = {
    "icicle": "...features.call_tree.icicle.live_view",
    "threads": "...features.waits.live_view",
    "memory": "...features.memory.live.live_view",
    "interactions": "...features.interactions.live_view",
}


def make_live_view(view: str, growing: GrowingTrace, window_ns: int) -> LiveView:
    """Return the live view of that name.

    Raises
    ------
    UsageError
        If there is none.
    """
    from importlib import import_module

    if view not in VIEWS:
        raise UsageError(f"{view}: no live view: there are {', '.join(VIEWS)}")
    made: LiveView = getattr(import_module(_MODULES[view], __package__), view.capitalize())(
        growing, window_ns
    )
    return made
