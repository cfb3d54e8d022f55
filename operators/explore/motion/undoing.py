"""Objects made without a step of undo are removed before Blender undoes or redoes.

Blender keeps what its step says is unchanged in memory as it is: a collection that meanwhile links objects of
which no step knows would keep pointing at them when they are freed. So there must be none by then.
"""

import bpy

from ....tracevis3d.scene.window import detail_objects
from ... import handlers, signals
from ...state import settings
from . import transition, window_time


def leave_all() -> None:
    """Let all views show their picture's own boxes."""
    for view in bpy.data.collections:
        if settings.is_view(view) and view.library is None:
            detail_objects.leave(view)


def push(context: bpy.types.Context, message: str) -> None:
    """Make a step of undo, where no operator that ends now makes it."""
    if bpy.ops.ed.undo_push.poll():
        bpy.ops.ed.undo_push(message=message)


def _before() -> None:
    # A view on its way arrives, which is a step that can be undone.
    window_time.finish()
    transition.finish()
    leave_all()


# Steps that were made while detail was shown bring it back, perhaps beside what it stood in for.
_CONNECTIONS = ((handlers.before_undo, _before), (handlers.after_undo, leave_all))


def register() -> None:
    """Follow undo and redo."""
    signals.connect(_CONNECTIONS)


def unregister() -> None:
    """Undo :func:`register`."""
    signals.disconnect(_CONNECTIONS)
