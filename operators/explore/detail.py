"""Detail follows the eye."""

import bpy


def look(context: bpy.types.Context) -> None:
    """Look whether a 3D view has come to rest."""


def register() -> None:
    """Nothing yet."""


def unregister() -> None:
    """Nothing yet."""
