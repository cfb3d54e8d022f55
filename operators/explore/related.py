"""Related elements in the views of a scene: read from their meshes, and from the selection."""

from typing import Any

import bpy

from ...tracevis3d.scene.window.related import Shown, lit, showing_selected
from ...tracevis3d.trace.selection import Ints
from ..state import selection, sources, trace_state
from .background import background


def _shown(present: list[tuple[Any, Any, Any]]) -> list[Any]:
    keys = {view.name: trace_state.keys_of(view) for view, _, _ in present}
    return [Shown(shown.name, keys[view.name], holds) for view, shown, holds in present]


def of(present: list[tuple[Any, Any, Any]], calls: dict[str, Ints], what: set[str]) -> dict[str, Any]:
    """Return object name -> elements to light up; see :func:`~tracevis3d.scene.window.related.lit`.

    ``present`` comes from :func:`.pointer.shown_in`.
    """
    return lit(_shown(present), calls, what, sources.loaded, background.subtree_classes)


def of_selection(present: list[tuple[Any, Any, Any]]) -> dict[str, Ints]:
    """Return object name -> elements of the selection, of all views of each trace."""
    shown = _shown(present)
    selected = {key: selection.selected(key).calls for one in shown for key in one.keys}
    return showing_selected(shown, selected, sources.loaded)


def kinds_of(context: bpy.types.Context) -> set[str]:
    """Return which related elements are lit up, as the person has chosen."""
    return set(context.window_manager.tracevis3d_kin)
