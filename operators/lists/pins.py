"""Pins in a view for calls that were found: where each is drawn, by itself or in a cluster."""

from collections.abc import Sequence
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ..state import settings
from ..views import arrange

#: The part that the pins are, and their colour: one that no palette of ours has.
PART = "pins"
_COLOR = (0.93, 0.0, 0.45, 1.0)
#: Width of a pin as a share of the view's, and of the pin of the current call.
_SIZE, _CURRENT = 0.007, 0.013


def stick(collection: bpy.types.Collection, hits: Sequence[tuple[int, Any]], current: int) -> None:
    """Stick a pin into ``collection`` for each of ``hits``, in place of those that are there.

    Parameters
    ----------
    collection : bpy.types.Collection
    hits : sequence of (int, hit)
        Which of the view's traces, and the call: its number, start, thread and depth.
    current : int
        The call whose pin is bigger.
    """
    from ...tracevis3d.drawing.primitives import Marks
    from ...tracevis3d.scene import parts, placement, styles
    from ...tracevis3d.scene.geometry import marks
    from ...tracevis3d.scene.styles import Light

    for shown in [o for o in collection.objects if o.get(parts.PART) == PART]:
        placement.remove(shown)
    at = places(collection, hits)
    drawn = np.isfinite(at[:, 0]) if len(at) else np.zeros(0, np.bool_)
    if not drawn.any():
        return
    stored = settings.of(collection)
    width = max(stored.high[0] - stored.low[0], 1e-3)
    n = int(drawn.sum())
    calls = np.array([hit.call for _, hit in hits], np.int64)[drawn]
    element = Marks(
        "result",
        "pin",
        at[drawn].astype(np.float32),
        (np.where(calls == current, _CURRENT, _SIZE) * width).astype(np.float32),
        np.zeros(n, np.int32),
        calls,
        look="glow",
    )
    light = Light(np.array([0.0, -1.0, 0.0]), np.array([-0.4, -0.7, 0.6]))
    palette = np.array([_COLOR], np.float32)
    shown = marks.show(element, palette, styles.named(stored.style), light, f"{collection.name} {PART}")
    shown[parts.PART] = PART
    collection.objects.link(shown)
    shown.delta_location = stored.place


def places(collection: bpy.types.Collection, hits: Sequence[tuple[int, Any]]) -> NDArray[np.float64]:
    """Return where calls are drawn, float64 (n, 3), in the view's own coordinates; NaN: nowhere.

    The point is on the box that stands for the call, on the side that is looked at, at the call's start.
    """
    found = np.full((len(hits), 3), np.nan)
    if not hits:
        return found
    boxes = [held for held in _boxes(collection) if len(held)]
    above = arrange.facing(collection) == 2
    for i, (source, hit) in enumerate(hits):
        for held in boxes:
            if source in held.calls and (element := _standing_for(held, source, hit)) is not None:
                found[i] = _point(held, element, int(hit.start), above)
                break
    return found


def _boxes(collection: bpy.types.Collection) -> list[Any]:
    """Return what the view's objects show, single calls before clusters."""
    from ...tracevis3d.scene.window import element_metadata as held

    found = [held.held(shown) for shown in collection.objects]
    shown = [each for each in found if each is not None and each.is_boxes and each.stands]
    return sorted(shown, key=lambda each: each.kind != "call")


def _standing_for(held: Any, source: int, hit: Any) -> int | None:
    """Return the element that stands for the call; None if none of these does."""
    same = np.flatnonzero(held.calls[source] == hit.call)
    if len(same):
        return int(same[0])
    if held.kind == "call" or held.window is None or not len(held.time):
        return None
    low, high = held.window
    at = (int(hit.start) - low) / max(high - low, 1)
    depth, thread = held.fact("depth"), held.fact("thread")
    if len(depth) != len(held) or len(thread) != len(held):
        return None
    # A cluster stands for its members and for what is below them: the deepest one that reaches there.
    fits = (held.time[:, 0] <= at) & (at <= held.time[:, 1]) & (thread == hit.thread) & (depth <= hit.depth)
    which = np.flatnonzero(fits)
    return int(which[np.argmax(depth[which])]) if len(which) else None


def _point(held: Any, element: int, start: int, above: bool) -> NDArray[np.float64]:
    low, size = held.low[element].astype(np.float64), held.size[element].astype(np.float64)
    share = 0.5
    if held.window is not None and len(held.time):
        first, last = held.window
        begin, end = held.time[element].astype(np.float64)
        if end > begin:
            share = min(max(((start - first) / max(last - first, 1) - begin) / (end - begin), 0.0), 1.0)
    if above:
        return low + size * (share, 0.5, 1.0)
    return low + size * (share, 0.0, 0.6)
