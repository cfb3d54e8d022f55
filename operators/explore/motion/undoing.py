"""What was made without a step of undo goes before Blender undoes or redoes.

Blender keeps what its step says is unchanged in memory as it is: a collection that meanwhile links objects of
which no step knows would keep pointing at them when they are freed. So there must be none by then.
"""

import bpy

from ... import handlers
from ...state import settings
from . import turning, window_time


def leave_all() -> None:
    """Let all views show their picture's own boxes."""
    from ....tracevis3d.scene.window import detail_objects

    for view in bpy.data.collections:
        if settings.is_view(view) and view.library is None:
            detail_objects.leave(view)


@bpy.app.handlers.persistent
def _before(_scene: object = None, _unused: object = None) -> None:
    # A view on its way arrives, which is a step that can be undone.
    window_time.finish()
    turning.finish()
    leave_all()


@bpy.app.handlers.persistent
def _after(_scene: object = None, _unused: object = None) -> None:
    # Steps that were made while detail was shown bring it back, perhaps beside what it stood in for.
    leave_all()


_HANDLERS = (
    ("undo_pre", _before),
    ("redo_pre", _before),
    ("undo_post", _after),
    ("redo_post", _after),
)


def register() -> None:
    """Add the handlers."""
    handlers.add(_HANDLERS)


def unregister() -> None:
    """Remove the handlers."""
    handlers.remove(_HANDLERS)
