"""Texts of a comparison: functions' names on the walls, the traces' names beside them, rulers of time."""

from __future__ import annotations

import math

import numpy as np

from ...drawing.words import Axis, Boxes, Labels
from ...layout import ticks
from ..icicle.composition import WIDTH
from .composition import OVERVIEW, OVERVIEW_GAP, Composition, Wall

#: Beyond this angle a wall's names stand on its front instead of its steps.
_STEEP = math.radians(45.0)


def names(picture: Composition, wall: Wall, boxes: Boxes, most: int) -> Labels:
    """Return functions' names on the widest boxes: on the steps, or on the front that the camera sees."""
    rise, side = wall.fold.rise, wall.fold.side
    steep = rise > _STEEP
    if steep:
        room = boxes.size[:, 2].astype(np.float64)
        seen = picture.pixels_per_unit * math.sqrt(max(1.0 - picture.seen**2, 0.0))
    else:
        # What rises before a step of A hides part of it.
        edge = np.diff(wall.lanes.edge)
        usual = float(np.median(edge)) if len(edge) else 0.1
        hidden = usual * math.sin(rise) * 0.8 if side > 0 else wall.plate * math.sin(rise)
        room = np.maximum(boxes.size[:, 1] - hidden - wall.plate * math.sin(rise), 0.0).astype(np.float64)
        seen = picture.pixels_per_unit * picture.seen
    height = np.minimum(0.8 * room, picture.text)
    fits = (height * seen >= 0.8 * picture.least_text) & (boxes.size[:, 0] >= 2.5 * height)
    which = np.flatnonzero(fits)
    which = which[np.argsort(-boxes.size[which, 0], kind="stable")][:most]
    height = height[which]
    low, size = boxes.low[which].astype(np.float64), boxes.size[which].astype(np.float64)
    inset = np.minimum(0.35 * height, 0.06)
    anchor = np.empty((len(which), 3), np.float32)
    anchor[:, 0] = low[:, 0] + inset
    if steep:
        anchor[:, 1] = low[:, 1] - 0.004
        anchor[:, 2] = low[:, 2] + size[:, 2] / 2
    else:
        back = low[:, 1] + size[:, 1]
        anchor[:, 1] = back - room[which] / 2 if side > 0 else low[:, 1] + room[which] / 2
        anchor[:, 2] = low[:, 2] + size[:, 2] + 0.004
    functions = wall.trace.functions
    function = wall.trace.calls.function[boxes.id[which]]
    label = {f: functions.label[f] for f in np.unique(function).tolist()}
    return Labels(
        "function",
        tuple(label[f] for f in function.tolist()),
        anchor,
        height.astype(np.float32),
        (size[:, 0] - 2 * inset).astype(np.float32),
        boxes.size[which, 0].copy(),
        align=-1,
        up=(0.0, 0.0, 1.0) if steep else (0.0, 1.0, 0.0),
        background=boxes.color[which],
    )


def title(wall: Wall) -> str:
    """Return the file's name without suffixes."""
    name = wall.trace.source.path.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1]
    for suffix in (".gz", ".zst", ".json", ".tv3"):
        name = name.removesuffix(suffix)
    return name or f"trace {'AB'[wall.source]}"


def _ruler_y(wall: Wall, has_overview: bool) -> float:
    """Return where the ruler of time lies, beyond the overview."""
    length = np.array([OVERVIEW if has_overview else 0.0])
    y0, y1, _, _ = wall.fold.outward(OVERVIEW_GAP, length, np.array([0.06]))
    return float(y1[0]) + 0.05 if wall.fold.side > 0 else float(y0[0]) - 0.05


def trace_names(picture: Composition, has_overview: bool) -> Labels:
    """Return which trace each wall shows and what its ruler tells, at the left end of the ruler."""
    anchor, text = np.zeros((2, 3), np.float32), []
    for s, wall in enumerate(picture.walls):
        y = _ruler_y(wall, has_overview) + wall.fold.side * 2.75 * picture.text
        anchor[s] = (wall.offset, y, 0.0)
        found = _ticks(wall)
        unit = f"time in {found.unit}" + (f" from {found.offset}" if found.offset else "")
        text.append(f"{'AB'[s]}   {title(wall)}   ({unit})")
    return Labels(
        "trace",
        tuple(text),
        anchor,
        np.full(2, 1.15 * picture.text, np.float32),
        np.full(2, np.inf, np.float32),
        np.full(2, 1e9, np.float32),
        align=-1,
        up=(0.0, 1.0, 0.0),
    )


def _ticks(wall: Wall) -> ticks.Ticks:
    return ticks.time_ticks(*wall.window, max(2, round(11 * wall.width / WIDTH)))


def rulers(picture: Composition, has_overview: bool) -> tuple[Axis, ...]:
    """Return the rulers of time along the outer edges of both walls."""
    made = []
    for wall in picture.walls:
        start = wall.window[0]
        found = _ticks(wall)
        y = _ruler_y(wall, has_overview)
        made.append(
            Axis(
                origin=(wall.offset, y, 0.0),
                direction=(1.0, 0.0, 0.0),
                length=wall.width,
                tick=tuple((t - start) * wall.per_ns for t in found.at),
                text=found.text,
                minor=tuple((t - start) * wall.per_ns for t in found.minor),
                outward=(0.0, float(wall.fold.side), 0.0),
                height=picture.text,
            )
        )
    return tuple(made)
