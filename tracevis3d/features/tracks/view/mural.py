"""The information mural: all calls at once, each moment a column, each depth a row (Jerding and Stasko 1995).

However long the trace is, every call darkens its cell: nothing is merged or left out. Opened, cells stand out
by the same share, so that what is busy is near.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from .... import units
from ....analysis.time_mural import longest_calls, occupancy
from ....drawing.builder import DrawingBuilder
from ....drawing.palettes import PALETTES, Colors, parse
from ....drawing.primitives import Axis, Camera, Legend, Marks, Meaning
from ....drawing.shorthand import boxes, texts
from ....errors import not_recorded
from ....layout import ticks
from ....trace.model import Trace
from ....views.time_window import WIDTH
from ..series import Floats, Ints
from .axes import time_axis
from .layout import SHARE, Layout, direction

NOTE = "the darker, the more of it calls of that depth take, on a square-root scale; none is left out"
#: Rows at most: of deeper stacks several depths share one.
_ROWS = 48
#: How far the darkest cells stand out, and thickness of the wall and of the palest ones, in scene units.
_OUT, _PLATE = 0.4, 0.02
#: The wall where no call is.
_EMPTY: Colors = parse("dde0e4")[0]
#: Colours of the ramp from a single short call to the busiest cell, and how many of them are used: light ones
#: would look like none.
_STEPS, _DARKEST, _LIGHTEST = 64, 0.0, 0.82
#: Share of a call's darkness that the shortest call has.
_FAINT = 0.12


@dataclass(frozen=True, eq=False)
class Mural:
    """The cells of a mural.

    Attributes
    ----------
    window : (int, int)
        Nanoseconds.
    share : float64 (rows, columns)
        0 where no call is, 1 in the busiest cell; the first row is that of root calls.
    busy : float64 (rows, columns)
        How many calls there are at a time, on average.
    call : int64 (rows, columns)
        The call that takes the most of each cell; -1: none.
    deepest : int
        The depth of the last row.
    """

    window: tuple[int, int]
    share: Floats
    busy: Floats
    call: Ints
    deepest: int


def mural_of(trace: Trace, window: tuple[int, int], columns: int) -> Mural:
    """Return the mural of a trace.

    Parameters
    ----------
    trace : Trace
    window : (int, int)
        Nanoseconds.
    columns : int

    Returns
    -------
    Mural

    Raises
    ------
    InputError
        If the trace has no calls.
    """
    calls = trace.calls
    if not len(calls):
        raise not_recorded(trace.source.path, "calls")
    low, high = window
    deepest = int(calls.depth.max())
    rows = min(deepest, _ROWS)
    busy = occupancy(calls, low, high, columns, rows)
    most = float(busy.max(initial=0.0))
    share = np.sqrt(busy / most if most > 0 else busy)
    # Sums over millions of calls end near 0, not at it.
    share[share < 1e-4] = 0.0
    # What is shorter than can be seen is seen all the same.
    column = (np.asarray(calls.start, np.float64) - low) * columns / max(high - low, 1)
    inside = (column >= 0) & (column < columns)
    row = (np.asarray(calls.depth, np.int64) - 1) * rows // max(deepest, rows)
    at = row[inside], column[inside].astype(np.int64)
    share[at] = np.maximum(share[at], _FAINT)
    return Mural(window, share, busy, longest_calls(calls, low, high, columns, rows), deepest)


def add(
    drawing: DrawingBuilder, found: Mural, palette: str, box: tuple[float, float, float], out: float
) -> int:
    """Add the cells of a mural to a drawing, from the first depth below to the deepest above.

    Neighbours of one depth that look alike and are of one call are one box.

    Parameters
    ----------
    drawing : DrawingBuilder
        The ramp's colours are added to it.
    found : Mural
    palette : str
    box : (float, float, float)
        The y where it stands, and from which z to which.
    out : float
        How far the busiest cell stands out towards the camera.

    Returns
    -------
    int
        Palette index of the ramp's first colour.
    """
    y, low, high = box
    rows, columns = found.share.shape
    first_color = drawing.color(ramp(palette))
    step = np.where(found.share > 0, np.rint(found.share * (_STEPS - 1)), -1).astype(np.int64)
    new = np.ones((rows, columns), np.bool_)
    new[:, 1:] = (step[:, 1:] != step[:, :-1]) | (found.call[:, 1:] != found.call[:, :-1])
    run = np.flatnonzero(new)
    length = np.diff(np.append(run, rows * columns))
    busy = np.add.reduceat(found.busy.ravel(), run) / length
    seen = step.ravel()[run] >= 0
    run, length, busy = run[seen], length[seen], busy[seen]
    row, left = run // columns, run % columns
    wide, tall = WIDTH / columns, (high - low) / rows
    x, z = left * wide, low + row * tall
    deep = _PLATE + out * step.ravel()[run] / (_STEPS - 1)
    n = len(run)
    drawing.add(
        boxes("mural back", [(0.0, y, low)], [(WIDTH, _PLATE, high - low)], drawing.color(_EMPTY)),
        boxes(
            "mural", np.stack([x, y - deep, z], axis=1),
            np.stack([length * wide, deep, np.full(n, tall)], axis=1), first_color + step.ravel()[run],
            time=np.stack([left, left + length], axis=1).astype(np.float32) / columns, window=found.window,
        ),
    )  # fmt: skip
    deepest = max(found.deepest, rows)
    least = -(-np.arange(rows) * deepest // rows) + 1
    most = -(-np.arange(1, rows + 1) * deepest // rows)
    titles = [
        f"Depth {a:,}" if a == b else f"Depths {a:,} to {b:,}" for a, b in zip(least, most, strict=True)
    ]
    drawing.meaning["mural"] = Meaning(
        calls=((0, found.call.ravel()[run]),),
        texts=(
            ("track", titles, row),
            ("mean", [_at_a_time(units.count(float(f"{v:.3g}"))) for v in busy.tolist()], np.arange(n)),
        ),
    )
    return first_color


def _at_a_time(many: str) -> str:
    return f"{many} call{'' if many == '1' else 's'} at a time"


def ramp(palette: str) -> Colors:
    """Return the colours from a single short call to the busiest cell, float32 (k, 4)."""
    whole = PALETTES[palette].ramp(256)
    first, last = round(_LIGHTEST * 255), round(_DARKEST * 255)
    return np.asarray(whole[np.linspace(first, last, _STEPS).round().astype(np.int64)], np.float32)


def draw(drawing: DrawingBuilder, picture: Layout, mark: int) -> tuple[Camera, str]:
    """Draw the mural as a view.

    Parameters
    ----------
    drawing : DrawingBuilder
        What it is added to.
    picture : Layout
    mark : int
        Palette index of the mark at the deepest call.

    Returns
    -------
    (Camera, str)
        And what is to be seen, in a sentence.

    Raises
    ------
    InputError
        If the trace has no calls.
    """
    p, u = picture.parameters, picture.open
    found = mural_of(picture.trace, picture.window, len(picture.edges) - 1)
    tall = (WIDTH + 3) * picture.frame.height * SHARE[1] / (picture.frame.width * SHARE[0])
    tall = max(0.82 * tall - 4 * picture.text, 6 * picture.text)
    out = _OUT * p.recede * u
    first = add(drawing, found, p.palette, (0.0, 0.0, tall), out)
    drawing.explain(
        Legend("Share of the time", ramp=(first, first + _STEPS - 1), ramp_tick=(0.0, 1.0),
               ramp_text=("a short call", "most"))
    )  # fmt: skip
    drawing.measure(time_axis(picture, -out), _depths(picture, found, tall, out))
    said, deepest = _sentence(picture, found)
    if p.findings and deepest is not None:
        at = [(float(picture.x(float(deepest))), -_FAINT * out, tall)]
        height = 0.9 * picture.text
        drawing.add(
            Marks("finding", "cone", np.array([(*at[0][:2], tall + 0.4 * height)], np.float32),
                  np.array([0.8 * height], np.float32), np.array([mark], np.int32), np.zeros(1, np.int64))
        )  # fmt: skip
        side: Literal[-1, 1] = -1 if at[0][0] < 0.85 * WIDTH else 1
        above = [(at[0][0] - side * height, at[0][1], tall + 0.5 * height)]
        drawing.write(texts("finding", [f"deepest: {found.deepest}"], above, height, rank=1e9, align=side))
    top = tall + 3.0 * picture.text
    return Camera(
        direction=direction(p, p.turn, p.tilt),
        low=(-2.5 * picture.text, -out - 0.1, -2.0 * picture.text),
        high=(WIDTH + 0.3, 0.1, top),
        projection="orthographic" if p.opening == 0 else "perspective",
        lens=100.0,
    ), said


def _depths(picture: Layout, found: Mural, tall: float, out: float) -> Axis:
    """Return the ruler of depths, at the left end."""
    at = [d for d in ticks.rounds(1, found.deepest, 6) if 1 <= d == round(d)]
    at = sorted({1.0, float(found.deepest), *map(float, at)})
    places = [(d - 0.5) / found.deepest * tall for d in at]
    kept = ticks.thin(at, places, 1.2 * picture.text)
    return Axis(
        (-0.05, -out, 0.0), (0.0, 0.0, 1.0), tall, tuple(places[i] for i in kept),
        tuple(units.count(round(at[i])) for i in kept), title="depth", outward=(-1.0, 0.0, 0.0),
        height=0.85 * picture.text,
    )  # fmt: skip


def _sentence(picture: Layout, found: Mural) -> tuple[str, int | None]:
    """Return how deep calls are, how long nothing runs, and when the stack is deepest, in nanoseconds."""
    calls, (low, high) = picture.trace.calls, picture.window
    inside = (calls.end > low) & (calls.start < high)
    if not inside.any():
        return "No call is in this window", None
    which = np.flatnonzero(inside)
    deepest = which[int(np.argmax(calls.depth[which]))]
    idle = float((found.share == 0).all(axis=0).mean())
    title = (
        f"Calls are up to {int(calls.depth[deepest]):,} deep, at {units.duration(int(calls.start[deepest]))}"
    )
    if idle >= 0.05:
        title += f"; for {units.percentage(idle)} of the time there is none"
    return title, int(np.clip(calls.start[deepest], low, high))
