"""Who wants to know what becomes of views: files put functions on these lists when they are registered.

What changes a view need not know of all that tells about it then. Selections have a list of their own.
"""

from collections.abc import Callable, Sequence
from typing import Any

#: One of these lists, or another of functions that are called, and what is put on it.
Table = Sequence[tuple[list[Any], Callable[..., None]]]

#: A view was drawn anew: scene, collection, traces, drawing.
on_show: list[Callable[[Any, Any, list[Any], Any], None]] = []
#: A person has changed a view's parameters, style, filters or length: its collection.
on_change: list[Callable[[Any], None]] = []
#: A person has chosen another active view, moved one, or turned to all of them.
on_move: list[Callable[[], None]] = []
#: A view was given another filter stack: its collection.
on_filter: list[Callable[[Any], None]] = []
#: A part of a view's trace was pointed at in the strip: collection, call.
on_point: list[Callable[[Any, int], None]] = []


def listen(table: Table) -> None:
    """Put each function on its list."""
    for told, function in table:
        told.append(function)


def leave(table: Table) -> None:
    """Take the functions off again, the last one first, those that are still there."""
    for told, function in reversed(table):
        if function in told:
            told.remove(function)
