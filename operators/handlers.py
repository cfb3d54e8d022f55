"""Blender's application handlers, added and removed as a table."""

from collections.abc import Callable, Sequence
from typing import Any

import bpy

#: Name of one of Blender's lists of handlers, and what is put on it.
Table = Sequence[tuple[str, Callable[..., Any]]]


def after_loading(do: Callable[[], None]) -> Table:
    """Return a table with a handler that does this when another file was loaded."""

    @bpy.app.handlers.persistent
    def loaded(_file: object = None, _unused: object = None) -> None:
        do()

    return (("load_post", loaded),)


def add(table: Table) -> None:
    """Put each handler on its list."""
    for name, handler in table:
        getattr(bpy.app.handlers, name).append(handler)


def remove(table: Table) -> None:
    """Take the handlers off again, the last one first."""
    for name, handler in reversed(table):
        getattr(bpy.app.handlers, name).remove(handler)
