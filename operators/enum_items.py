"""Choices of a property that are found when they are requested."""

from collections.abc import Callable
from functools import wraps
from typing import Any

Items = Callable[[Any, Any], list[Any]]


def kept(find: Items) -> Items:
    """Let the choices that ``find(self, context)`` returns live until it is asked again.

    Blender keeps no reference to texts that a callback returns, and reads them later.
    """
    found: list[Any] = []

    @wraps(find)
    def items(self: Any, context: Any) -> list[Any]:
        found[:] = find(self, context)
        return found

    return items
