"""Several drawings in one scene: where each is placed, which one is active, and an overview of all.

A drawing's objects keep their own coordinates; where the drawing stands is their ``delta_location``, which
animation leaves alone.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ..drawing.frame import Frame
from ..drawing.primitives import Camera
from ..layout.lettering import clean, set_texts, shorten
from . import camera
from .build import discard
from .digest import digest
from .parts import MADE_FROM, PART
from .styles import Style
from .text import shapes
from .text.glyphs import typeface

Floats = NDArray[np.float64]
#: Part that shows a drawing's name above it.
SIGN = "sign"
#: Lights and grounds, of which a scene needs only one.
_GROUND = ("key light", "wall")
_OVERVIEW = "TraceVis3D overview"
#: Gap between two drawings, and line height of a sign, as shares of a drawing's width.
_GAP, _SIGN = 0.12, 0.045


def put(collection: Any, place: Sequence[float]) -> None:
    """Let a drawing stand somewhere.

    Parameters
    ----------
    collection : bpy.types.Collection
    place : (float, float, float)
    """
    for shown in collection.objects:
        if shown.parent is None and tuple(shown.delta_location) != tuple(place):
            shown.delta_location = place


def free_place(
    low: Floats, high: Floats, taken: Sequence[tuple[Floats, Floats]], direction: int = 0
) -> tuple[float, float, float]:
    """Return where a drawing may stand so that it overlaps none.

    Parameters
    ----------
    low, high : float64 (3,)
        The drawing's own box.
    taken : sequence of (low, high)
        Boxes of those that stand already, where they stand.
    direction : {0, 1, 2}
        To their right, behind them, or above them.

    Returns
    -------
    (float, float, float)
    """
    place = np.zeros(3)
    if taken:
        lows, highs = (np.array(ends, np.float64) for ends in zip(*taken, strict=True))
        gap = _GAP * max(float((highs - lows)[:, direction].max()), float((high - low)[direction]), 1e-3)
        place[direction] = highs[:, direction].max() + gap - low[direction]
    return float(place[0]), float(place[1]), float(place[2])


def make_room(
    before: tuple[Floats, Floats], now: tuple[Floats, Floats], others: Sequence[tuple[Floats, Floats]],
    direction: int = 0,
) -> tuple[float, list[float]]:  # fmt: skip
    """Return how far drawings move in a direction, after one of them has grown, so that it reaches into none.

    Parameters
    ----------
    before, now : (float64 (3,), float64 (3,))
        Its box where it stands.
    others : sequence of (low, high)
        Those of the others.
    direction : {0, 1, 2}
        To the right, to the back, or upwards.

    Returns
    -------
    float
        How far it moves itself.
    list of float
        How far each of the others moves. All stay where it reaches into none, or did so before: then somebody
        has placed them.

    Examples
    --------
    >>> import numpy as np
    >>> box = lambda low, high: (np.array([low, 0.0, 0.0]), np.array([high, 1.0, 1.0]))
    >>> make_room(box(0, 4), box(-1, 9), [box(5, 8), box(-9, -2)])
    (1.0, [6.0, 0.0])
    """

    def meet(a: tuple[Floats, Floats], b: tuple[Floats, Floats]) -> bool:
        return bool(((np.asarray(a[0]) < b[1]) & (np.asarray(b[0]) < a[1])).all())

    none = 0.0, [0.0] * len(others)
    if not any(meet(now, other) for other in others) or any(meet(before, other) for other in others):
        return none
    own = max(float(before[0][direction] - now[0][direction]), 0.0)
    more = max(float(now[1][direction] - before[1][direction]), 0.0) + own
    return own, [more if other[0][direction] >= before[1][direction] else 0.0 for other in others]


def room_for_sign(low: Floats, high: Floats, facing: int) -> Floats:
    """Return the highest coordinates of a drawing's box with the sign above it.

    Parameters
    ----------
    low, high : float64 (3,)
    facing : {1, 2}
        The axis across the visible side; 2 for what is seen from above.

    Returns
    -------
    float64 (3,)
    """
    with_sign = high.copy()
    with_sign[1 if facing == 2 else 2] += 2.0 * _SIGN * float(high[0] - low[0])
    return with_sign


def box(
    low: Sequence[float], high: Sequence[float], facing: int, place: Sequence[float] = (0.0, 0.0, 0.0)
) -> tuple[Floats, Floats]:
    """Return the box of a drawing with its sign, where it stands.

    Parameters
    ----------
    low, high : (float, float, float)
        In the drawing's own coordinates.
    facing : {1, 2}
        The axis across the visible side; 2 for what is seen from above.
    place : (float, float, float)

    Returns
    -------
    low, high : float64 (3,)
    """
    lowest, highest = np.array(low, np.float64), np.array(high, np.float64)
    at = np.array(place, np.float64)
    return lowest + at, room_for_sign(lowest, highest, facing) + at


def sign(
    collection: Any, text: str, low: Sequence[float], high: Sequence[float], style: Style, facing: int
) -> None:
    """Write a drawing's name above it, in its own coordinates, unless it is there.

    Parameters
    ----------
    collection : bpy.types.Collection
        Of the drawing.
    text : str
    low, high : (float, float, float)
        The drawing's box.
    style : Style
    facing : {1, 2}
        The axis across the visible side; 2 for what is seen from above.
    """
    lowest, highest = np.array(low, np.float64), np.array(high, np.float64)
    key = digest(text, lowest, highest, style, facing)
    before = next((shown for shown in collection.objects if shown.get(PART) == SIGN), None)
    if before is not None and before.get(MADE_FROM) == key:
        return
    if before is not None:
        remove(before)
    width = float(highest[0] - lowest[0])
    face = typeface()
    height = _SIGN * width
    size = height * face.size_per_line
    words = shorten(clean(text), width / size, face) or "…"
    up = np.array([0.0, 1.0, 0.0] if facing == 2 else [0.0, 0.0, 1.0])
    # Behind the drawing, so that it covers nothing.
    start = np.array([lowest[0], highest[1], highest[2]]) + 0.5 * height * up
    right = np.array([1.0, 0.0, 0.0])
    setting = set_texts([words], start[None], right[None], up[None], np.array([size]), face)
    ink = np.array([[*style.ink, 1.0]], np.float32)
    shown = shapes.texts(f"{collection.name} {SIGN}", setting, ink, style)
    shown[PART], shown[MADE_FROM] = SIGN, key
    collection.objects.link(shown)


def remove(shown: Any) -> None:
    """Remove an object with its data."""
    discard([shown])


def attend(collections: Sequence[Any], active: Any, overview: bool) -> None:
    """Choose what pictures show: one drawing alone, with its frame, or all of them.

    In the 3D view all drawings stay visible. Only one lights the scene.

    Parameters
    ----------
    collections : sequence of bpy.types.Collection
    active : bpy.types.Collection
    overview : bool
        Show all of them.
    """
    several = len(collections) > 1
    for collection in collections:
        mine = collection == active
        for shown in collection.objects:
            part = shown.get(PART)
            if shown.parent is not None and shown.parent.type == "CAMERA":
                hidden = unseen = not mine or overview
            elif part == "wall":
                # It would cut through what stands farther back.
                hidden, unseen = not mine or several, not mine or overview
            elif part in _GROUND:
                hidden = unseen = not mine
            elif part == SIGN:
                # The active drawing's title is in its frame.
                hidden, unseen = not several or (mine and not overview), not overview
            else:
                hidden, unseen = False, not mine and not overview
            if shown.hide_viewport != hidden:
                shown.hide_viewport = hidden
            if shown.hide_render != unseen:
                shown.hide_render = unseen


def overview_camera(scene: Any, like: Any, boxes: Sequence[tuple[Floats, Floats]], frame: Frame) -> Any:
    """Return a camera that sees several drawings.

    Parameters
    ----------
    scene : bpy.types.Scene
    like : bpy.types.Object
        A camera; the new one looks from the same side.
    boxes : sequence of (float64 (3,), float64 (3,))
        Of the drawings, as :func:`box` returns them.
    frame : Frame

    Returns
    -------
    bpy.types.Object
    """
    rotation = np.array(like.matrix_world.to_3x3())
    words = Camera(
        direction=tuple(rotation[:, 2].tolist()),
        low=(0.0, 0.0, 0.0),
        high=(0.0, 0.0, 0.0),
        up=tuple(rotation[:, 1].tolist()),
        projection="perspective" if like.data.type == "PERSP" else "orthographic",
        lens=like.data.lens,
    )
    corners = [corner for low, high in boxes for corner in itertools.product(*zip(low, high, strict=True))]
    margin = 0.03 * frame.width
    region = (margin, margin, frame.width - margin, frame.height - margin)
    view = camera.fit(words, frame, region, np.array(corners, np.float64))
    before = next((o for o in scene.collection.objects if o.get(PART) == "overview"), None)
    eye = camera.place(view, _OVERVIEW, before)
    if before is None:
        eye[PART] = "overview"
        scene.collection.objects.link(eye)
    return eye


def drop_overview(scene: Any) -> None:
    """Remove the overview's camera."""
    for shown in [o for o in scene.collection.objects if o.get(PART) == "overview"]:
        data = shown.data
        bpy.data.objects.remove(shown)
        bpy.data.cameras.remove(data)
