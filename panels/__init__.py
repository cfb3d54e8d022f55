"""The panels of the extension: the tab TraceVis in the 3D view's sidebar."""

import bpy

from . import (
    bookmarks,
    differences,
    explore,
    immersion,
    lists,
    live,
    render,
    rows,
    search,
    selection,
    trace,
    tree,
    view,
)

_CLASSES = (
    *trace.CLASSES,
    # What one does daily.
    *differences.CLASSES,
    *explore.CLASSES,
    *selection.CLASSES,
    *search.CLASSES,
    *view.CLASSES,
    # What one does at times: folded.
    *rows.CLASSES,
    lists.CLASSES[0],
    *tree.CLASSES,
    *lists.CLASSES[1:],
    *bookmarks.CLASSES,
    *immersion.CLASSES,
    *live.CLASSES,
    *render.CLASSES,
)


def register() -> None:
    """Register the panels, in the order in which they stand."""
    for panel in _CLASSES:
        bpy.utils.register_class(panel)


def unregister() -> None:
    """Remove the panels."""
    for panel in reversed(_CLASSES):
        # Blender has removed some already when it ends with the file of another session open.
        if getattr(panel, "is_registered", False):
            bpy.utils.unregister_class(panel)
