"""Turning about what is under the mouse: by Blender's *Auto Depth*, for one turn at a time."""

import bpy

_changed: list[bool] = []


def about_the_mouse(context: bpy.types.Context) -> None:
    """Let the turn that begins with this event be about what lies under the mouse.

    Blender reads its preferences when a turn begins: :func:`settle` makes them what they were.
    """
    preferences = context.preferences
    if not preferences.inputs.use_mouse_depth_navigate:
        _changed.append(preferences.is_dirty)
        preferences.inputs.use_mouse_depth_navigate = True


def settle(context: bpy.types.Context) -> None:
    """Make the preferences what they were."""
    if _changed:
        dirty = _changed.pop()
        _changed.clear()
        context.preferences.inputs.use_mouse_depth_navigate = False
        context.preferences.is_dirty = dirty
