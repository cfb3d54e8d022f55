"""Related elements in the views of a scene: read from their meshes, and from the selection."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import bpy

from ...tracevis3d.scene.window.stored_links import relations_of
from ...tracevis3d.trace.selection import Ints, whole_numbers
from ...tracevis3d.views.linking import lit as linking
from ...tracevis3d.views.linking.lit import Asked, Lit, Shown, lit, showing_selected, union
from ..state import selection, sources, trace_state
from .background import background

NOTHING = whole_numbers(())


def joined(one: Ints | None, other: Ints) -> Ints:
    """Return the elements of both, each once."""
    return other if one is None else union(one, other)


def _shown(present: list[tuple[Any, Any, Any]]) -> list[Shown]:
    about = {view.name: (trace_state.keys_of(view), relations_of(view)) for view, _, _ in present}
    return [
        Shown(shown.name, about[view.name][0], pickable, view.name, about[view.name][1])
        for view, shown, pickable in present
    ]


def of(
    present: list[tuple[Any, Any, Any]], calls: dict[str, Ints], what: set[str], asked: Sequence[Asked] = ()
) -> dict[str, Lit]:
    """Return object name -> elements to light up; see :func:`~tracevis3d.views.linking.lit.lit`.

    ``present`` comes from :func:`.pointer.shown_in`.
    """
    return lit(_shown(present), calls, what, sources.loaded, background.subtree_classes, asked)


@dataclass(frozen=True, eq=False)
class Pointed:
    """What an element shows beside its calls.

    Attributes
    ----------
    shown : str
        The name of its object.
    element : int
        Its place among those that the object shows.
    asked : list of Asked
    revision : int
        Another one for each.
    stamp : tuple
        Of what the object showed then.
    """

    shown: str
    element: int
    asked: list[Asked]
    revision: int
    stamp: Any

    def within(self, pickable: Any) -> Ints:
        """Return the element among those that its object shows now, int64 (1,); none if these are others."""
        return whole_numbers(self.element) if pickable.stamp == self.stamp else NOTHING


_revisions = itertools.count(1)


def pointed_at(hit: Any) -> Pointed:
    """Return what an element shows that was hit."""
    view = bpy.data.collections[hit.view]
    shown = Shown(hit.shown, trace_state.keys_of(view), hit.pickable, view.name)
    asked = linking.asked_by(shown, hit.element)
    return Pointed(hit.shown, hit.element, asked, next(_revisions), hit.pickable.stamp)


def of_selection(present: list[tuple[Any, Any, Any]]) -> dict[str, Ints]:
    """Return object name -> elements of the selection, of all views of each trace."""
    shown = _shown(present)
    selected = {key: selection.selected(key).calls for one in shown for key in one.keys}
    return showing_selected(shown, selected, sources.loaded)


def kinds_of(context: bpy.types.Context) -> set[str]:
    """Return which related elements are lit up, as the person has chosen."""
    return set(context.window_manager.tracevis3d_related)
