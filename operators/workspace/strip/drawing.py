"""The drawing of the strip."""

from typing import Any

import blf
import bpy
import gpu
from gpu_extras.batch import batch_for_shader

from ....tracevis3d.analysis.time_mural import unpacked
from ....tracevis3d.features.call_tree.strip import cells_in, quads
from ....tracevis3d.views.time_strip import grip, ruler, spread
from ... import areas
from ...explore.shapes import columns, rectangle, triangle, write
from ...views import overview
from . import content, stored
from .content import Row, state

_GROUND = (0.105, 0.112, 0.125, 1.0)
_LANE = (0.15, 0.16, 0.18, 1.0)
_BUSY = (0.42, 0.68, 0.94)
_INK, _QUIET, _FAINT = (0.93, 0.94, 0.96, 1.0), (0.66, 0.69, 0.73, 1.0), (1.0, 1.0, 1.0, 0.10)
_SHADE = (*_GROUND[:3], 0.66)
_FRAME, _GRIPPED = (1.0, 0.76, 0.28, 1.0), (1.0, 0.9, 0.6, 1.0)
_SELECTED, _HOVERED, _RESULT = (0.93, 0.55, 0.80, 1.0), (0.95, 0.42, 0.05, 1.0), (0.98, 0.85, 0.25, 1.0)
_RANGE, _MARK = (0.93, 0.55, 0.80, 0.30), (0.20, 0.62, 0.90, 0.38)
#: Of colour over what is selected or pointed at: light is mixed, so that on the dark ground little is much.
_BREATH = 0.02
_FINDING, _CURRENT = (0.84, 0.37, 0.0, 1.0), (1.0, 0.55, 0.15, 1.0)
#: In pixels at scale 1: type, width of a frame's grips, side of a finding's sign, distance of ticks' texts.
_TYPE, _GRIP, _SIGN, _TICK = 12.0, 5.0, 15.0, 96.0
#: Height of a part of the time, such as a phase, which has a name where it is wide enough.
_STRETCH = 13.0
HINT = "Drag: frame what is shown    Wheel: zoom    Shift-drag: select    Double-click: all"

#: The murals that were drawn last: drawing can't make them anew for each frame.
_batches: dict[str, Any] = {}
#: Last positions of the marks of findings, in the region's pixels, and their numbers.
signs: list[tuple[tuple[float, float, float, float], int]] = []


def _batch(text: str) -> Any:
    if text not in _batches:
        cells = unpacked(text)
        if cells is None:
            return None
        while len(_batches) > 7:
            del _batches[next(iter(_batches))]
        corners, colors, triangles = quads(cells_in(cells, _LANE[:3], _BUSY), _LANE[:3])
        shader = gpu.shader.from_builtin("FLAT_COLOR")
        _batches[text] = batch_for_shader(
            shader, "TRIS", {"pos": corners, "color": colors}, indices=triangles
        )
    return _batches[text]


def _draw() -> None:
    context = bpy.context
    if areas.kind_of(context.area) != areas.STRIP:
        return
    region, scale = context.region, context.preferences.system.ui_scale
    rectangle(0.0, 0.0, region.width, region.height, _GROUND)
    view, rows = content.rows_in(context, region)
    size = _TYPE * scale
    if view is None or not rows:
        write("Import a trace to see its time here.", 12 * scale, region.height / 2, size, _QUIET)
        return
    for i, row in enumerate(rows):
        _draw_lane(row, scale)
        if len(rows) > 1:
            middle = (row.lane.low + row.lane.high) / 2 - 0.36 * size
            write("AB"[i] if i < 2 else str(i + 1), row.lane.left - 16 * scale, middle, size, _QUIET)
    _draw_ruler(rows, region, scale)
    for row in rows:
        _draw_stretches(view, row, scale)
        _draw_on(context.scene, row, scale)
    for row in rows:
        _draw_window(row, scale, rows)
    _draw_findings(view, rows, scale)
    _draw_title(context, view, rows, scale)


def _draw_lane(row: Row, scale: float) -> None:
    lane = row.lane
    rectangle(lane.left, lane.low, lane.right, lane.high, _LANE)
    batch = _batch(stored.mural_of(row.key))
    if batch is None:
        return
    with gpu.matrix.push_pop():
        # Roots are at the bottom, as in the views.
        gpu.matrix.translate((lane.left, lane.low, 0.0))
        gpu.matrix.scale((lane.right - lane.left, lane.high - lane.low, 1.0))
        batch.draw(gpu.shader.from_builtin("FLAT_COLOR"))


def _draw_ruler(rows: list[Row], region: Any, scale: float) -> None:
    """Draw round times below the lanes: of the trace, or since each of several has begun."""
    size, low = 0.95 * _TYPE * scale, rows[-1].lane.low
    longest = max((row.lane for row in rows), key=lambda lane: lane.right - lane.left)
    begin = longest.whole[0] if len(rows) == 1 else 0
    base = longest.whole[0] - begin
    wide = longest.right - longest.left
    timed = all(row.timed for row in rows)
    ticks = ruler(begin, longest.whole[1] - base, max(int(wide / (_TICK * scale)), 2), timed)
    blf.size(0, size)
    end = longest.right
    unit = f"{ticks.unit} from {ticks.offset}" if ticks.offset else ticks.unit
    unit_left = end - blf.dimensions(0, unit)[0]
    write(unit, unit_left, low - 1.35 * size, size, _QUIET)
    for value, text in zip(ticks.at, ticks.text, strict=True):
        x = longest.x_of(value + base)
        rectangle(round(x), low - 3 * scale, round(x) + 1, rows[0].lane.high, _FAINT)
        half = blf.dimensions(0, text)[0] / 2
        left = min(max(x - half, 4 * scale), region.width - 2 * half)
        if left + 2 * half < unit_left - size:
            write(text, left, low - 1.35 * size, size, _QUIET)


def _draw_stretches(view: bpy.types.Collection, row: Row, scale: float) -> None:
    """Draw the parts of a trace's time, such as phases, at the top of its lane."""
    size, high = 11.0 * scale, row.lane.high
    low = high - _STRETCH * scale
    for left, right, text, color in content.stretches(view, row):
        rectangle(left, low, max(right - scale, left + scale), high, color)
        blf.size(0, size)
        wide = blf.dimensions(0, text)[0]
        if right - left > wide + 4 * scale:
            dark = 0.2126 * color[0] + 0.7152 * color[1] + 0.0722 * color[2] < 0.5
            ink = _INK if dark else _GROUND
            write(text, (left + right - wide) / 2, low + 0.2 * size, size, ink)


def _draw_on(scene: bpy.types.Scene, row: Row, scale: float) -> None:
    """Draw what is marked, selected, found and pointed at."""
    lane = row.lane
    least, edge = 2 * scale, 4 * scale
    columns(content.marked(row), lane.low, lane.high, _MARK, least)
    chosen = content.selected_range(row)
    if chosen is not None:
        ends = lane.x_of(chosen[0]), lane.x_of(chosen[1])
        columns([ends], lane.low, lane.high, _RANGE, least)
    results, current = content.found(scene, row)
    columns(results, lane.high - 0.3 * (lane.high - lane.low), lane.high, _RESULT, least)
    # Long calls must not hide what is behind: their time is a line, and a breath of colour.
    for spans, color, low in (
        (content.selected(row), _SELECTED, lane.high - edge),
        (content.hovered(row), _HOVERED, lane.high - edge),
    ):
        columns(spans, lane.low, lane.high, (*color[:3], _BREATH), least)
        columns(spans, low, low + edge, color, least)
    if current is not None:
        rectangle(current - scale, lane.low, current + scale, lane.high, _RESULT)


def _draw_window(row: Row, scale: float, rows: list[Row]) -> None:
    """Shade what the view doesn't show, and frame what it does."""
    lane = row.lane
    if row.window is None:
        return
    a, b = lane.x_of(row.window[0]), lane.x_of(row.window[1])
    rectangle(lane.left, lane.low, a, lane.high, _SHADE)
    rectangle(b, lane.low, lane.right, lane.high, _SHADE)
    part = ""
    if state.area and lane.low <= state.at[1] <= lane.high:
        part = grip((a, b), state.at[0], 2 * _GRIP * scale)
    edge, wide = 1.5 * scale, _GRIP * scale
    for low, high in ((lane.low - edge, lane.low), (lane.high, lane.high + edge)):
        rectangle(a - edge, low, b + edge, high, _FRAME)
    for x, name in ((a - edge, "low"), (b, "high")):
        rectangle(x, lane.low, x + edge, lane.high, _FRAME)
        middle, tall = (lane.low + lane.high) / 2, min(0.3 * (lane.high - lane.low), 12 * scale)
        held = part == name
        grown = wide * (1.25 if held else 0.8)
        color = _GRIPPED if held else _FRAME
        rectangle(x + edge / 2 - grown / 2, middle - tall, x + edge / 2 + grown / 2, middle + tall, color)


def _draw_findings(view: bpy.types.Collection, rows: list[Row], scale: float) -> None:
    """Draw a numbered sign above each finding of the first trace, or where it lies in others."""
    side = _SIGN * scale
    signs.clear()
    for row in rows:
        found = content.findings(view, row)
        lane = row.lane
        for left, right, number in found:
            color = _CURRENT if number == view.tracevis3d_difference else _FINDING
            rectangle(left, lane.low, max(right, left + 2 * scale), lane.low + 3 * scale, color)
        if row is not rows[0]:
            continue
        middles = [(left + right) / 2 for left, right, _ in found]
        order = sorted(range(len(found)), key=middles.__getitem__)
        places = spread(
            [middles[i] for i in order], side + scale, lane.left + side / 2, lane.right - side / 2
        )
        for i, x in zip(order, places, strict=True):
            signs.append(((x - side / 2, lane.high, x + side / 2, lane.high + side + 4 * scale), found[i][2]))
            _draw_sign(x, lane.high + 2 * scale, found[i][2], view.tracevis3d_difference, side)


def _draw_sign(x: float, low: float, number: int, current: int, side: float) -> None:
    color = _CURRENT if number == current else _FINDING
    tip = 0.25 * side
    rectangle(x - side / 2, low + tip, x + side / 2, low + side, color)
    triangle((x - tip, low + tip), (x, low), (x + tip, low + tip), color)
    text, size = str(number + 1), 0.72 * side
    blf.size(0, size)
    write(text, x - blf.dimensions(0, text)[0] / 2, low + tip + 0.14 * side, size, (1.0, 1.0, 1.0, 1.0))


def _draw_title(
    context: bpy.types.Context, view: bpy.types.Collection, rows: list[Row], scale: float
) -> None:
    """Write what the strip shows, and at the right what the mouse is at, or what it can do."""
    region, size = context.region, _TYPE * scale
    base = region.height - 1.35 * size
    left, right = 12 * scale, region.width - 26 * scale
    if len(rows) == 1:
        title = f"{rows[0].name}    {overview.of(view).headline}"
    else:
        title = "      ".join(f"{'AB'[i] if i < 2 else i + 1}  {row.name}" for i, row in enumerate(rows))
    blf.size(0, size)
    at = right
    for words, color in ((_shown(rows), _FRAME), (_pointed(rows, scale), _INK)):
        if words:
            at -= blf.dimensions(0, words)[0]
            write(words, at, base, size, color)
            at -= 2 * size
    while title and left + blf.dimensions(0, title)[0] > at:
        title = title.rpartition(" ")[0]
    write(title, left, base, size, _INK)
    rest = left + blf.dimensions(0, title)[0] + 2 * size
    if rest + blf.dimensions(0, HINT)[0] < at:
        write(HINT, rest, base, size, _QUIET)


def _shown(rows: list[Row]) -> str:
    """Say what part of the first trace the view shows, if it is not the whole."""
    for row in rows:
        if row.window is not None and row.window != row.lane.whole:
            low, high = row.window
            return f"shown: {row.said(high - low)} from {row.said(low)}"
    return ""


def _pointed(rows: list[Row], scale: float) -> str:
    """Draw a line at the mouse, and return the time there."""
    if not state.area:
        return ""
    x, y = state.at
    for row in rows:
        lane = row.lane
        if lane.low <= y <= lane.high and lane.left <= x <= lane.right:
            rectangle(round(x), lane.low, round(x) + max(round(scale), 1), lane.high, (1.0, 1.0, 1.0, 0.8))
            return row.said(lane.time_at(x), 5)
    return ""


_handles: list[Any] = []


def register() -> None:
    """Draw in our editor."""
    if not bpy.app.background:
        add = bpy.types.SpaceNodeEditor.draw_handler_add
        _handles.append(add(_draw, (), "WINDOW", "POST_PIXEL"))


def unregister() -> None:
    """Undo :func:`register`."""
    while _handles:
        bpy.types.SpaceNodeEditor.draw_handler_remove(_handles.pop(), "WINDOW")
    _batches.clear()
    signs.clear()
