"""Clicks on callouts: the 3D view flies to what they are about, and the calls that show it are selected."""

import math
from collections.abc import Callable
from typing import Any

import bpy

from ...tracevis3d.drawing.explanations import Explanations
from ...tracevis3d.drawing.primitives import Callout
from ...tracevis3d.layout.sight.affine import Box, box_about, box_around
from ..explore import acts, pointer, related
from ..explore import overlay as explore
from ..explore.motion import zoom
from ..state import selection, settings, trace_state

#: A callout about no call shows this share of the data's extent around its point.
_AROUND = 0.15

#: Lists of findings, asked first whether they have what a callout is about, and go there then: called with
#: the context, the view's collection and the callout.
lists: list[Callable[[Any, Any, Callout], bool]] = []


def go(context: bpy.types.Context, area: Any, collection: Any, explained: Explanations, number: int) -> None:
    """Go to what one of a view's callouts is about."""
    callout = explained.callouts[number]
    if any(goes(context, collection, callout) for goes in lists):
        acts.push(context, "Callout")
        return
    keys = trace_state.keys_of(collection)
    for source, key in enumerate(keys):
        selection.select(key, [call for of, call in callout.calls if of == source])
    explore.announce(callout.text, callout.detail, keys)
    box = _box_of(collection) if callout.calls else None
    if box is None:
        reach = _AROUND / 2 * math.dist(explained.low, explained.high)
        box = box_about(callout.point, reach, settings.of(collection).place)
    zoom.fly_to_box(area, box, above=explore.banner_height())
    acts.push(context, "Callout")


def _box_of(collection: bpy.types.Collection) -> Box | None:
    """Return the box around what a view shows of the selection."""
    present = [entry for entry in pointer.shown_in(bpy.context.scene) if entry[0] == collection]
    lit = related.of_selection([entry for entry in present if entry[2].has_description])
    return box_around(
        [
            pointer.box_of(shown, pickable, lit[shown.name])
            for _, shown, pickable in present
            if shown.name in lit
        ]
    )
