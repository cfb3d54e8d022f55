"""Choices of a property that are found when they are requested."""

from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any

import bpy

Items = Callable[[Any, Any], list[Any]]
#: A choice: name, title, sentence, icon, number.
Item = tuple[str, str, str, str, int]


def numbered(choices: Iterable[Any], first: int = 0) -> list[Item]:
    """Return choices with icons, for views or filters; an icon that this Blender lacks is left out.

    The one of number 0 is the default.
    """
    icons = bpy.types.UILayout.bl_rna.functions["prop"].parameters["icon"].enum_items
    return [
        (one.name, one.title, one.sentence, one.icon if one.icon in icons else "NONE", number)
        for number, one in enumerate(choices, first)
    ]


def cached(find: Items) -> Items:
    """Let the choices that ``find(self, context)`` returns live until it is asked again.

    Blender keeps no reference to texts that a callback returns, and reads them later.
    """
    found: list[Any] = []

    @wraps(find)
    def items(self: Any, context: Any) -> list[Any]:
        found[:] = find(self, context)
        return found

    return items
