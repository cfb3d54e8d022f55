"""Blender's application handlers, added and removed as a table."""

from collections.abc import Callable, Sequence
from typing import Any

import bpy

#: Name of one of Blender's lists of handlers, and what is put on it.
Table = Sequence[tuple[str, Callable[..., Any]]]


def add(table: Table) -> None:
    """Put each handler on its list."""
    for name, handler in table:
        getattr(bpy.app.handlers, name).append(handler)


def remove(table: Table) -> None:
    """Take the handlers off again, the last one first."""
    for name, handler in reversed(table):
        getattr(bpy.app.handlers, name).remove(handler)
