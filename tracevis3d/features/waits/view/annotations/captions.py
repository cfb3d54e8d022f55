"""The texts around the rows: names of threads, their objects, names of functions, the ruler."""

from __future__ import annotations

import math
import re

import numpy as np
from numpy.typing import NDArray

from ..... import units
from .....drawing.primitives import Axis, Labels, Marks, Vector, Wedges
from .....layout import ticks
from .....trace.names import lane_title
from ...outcomes import KINDS_OF_WAITING, SLEEPS
from ...running import longest_quiet
from ..calls import THICK
from ..colors import CallColors
from ..correspondences import Shown
from ..layout import Layout
from .tags import called, spoken

Floats = NDArray[np.float64]
Indices = NDArray[np.int32]

#: Number of rows from which on names are shorter, and their maximum length.
_MANY, _SHORTER = 10, 30
#: What tells the threads of a group apart: numbers, and the id behind a name that several have.
_NUMBERS = re.compile(r" \(\d+\)$|[-_ #]*\d+")
_BRACKETS = re.compile(r" \([^()]*\S(?= \(\d+\)$)")
#: Approximate width of a character, as a share of the line height.
_LETTER = 0.52
#: Least height of functions' names in a picture of one finding, as a share of its other texts.
_NEARLY_TEXT = 0.75
#: How far right of the rows' ends and of what stands before them texts begin, where funnels bulge.
_BEYOND = 0.5
#: How wide texts beside the rows are at most, as a share of the rows.
_BESIDE = 0.36
_SLEEP = KINDS_OF_WAITING.index("sleep")


def thread_names(picture: Layout, color: Indices) -> tuple[list[Labels], Marks]:
    """Return the rows' names, and a sphere in the colour of each thread beside it.

    Parameters
    ----------
    picture : Layout
    color : int32 (rows,)
        Of each row's thread.

    Returns
    -------
    (list of Labels, Marks)
    """
    n = len(picture.rows)
    names = _titles(picture)
    row = np.arange(n)
    theatre, paper = picture.theatre, picture.parameters.paper
    ids = np.array([r.thread for r in picture.rows], np.int64)
    size = np.clip(0.8 * picture.height, 0.05, 0.16)
    reach = picture.reach(row) if n else np.empty(0)
    beside = theatre.place(row, np.zeros(n), reach / 2, 0.0)
    at, anchor = beside - np.array([0.2, 0.0, 0.0]), beside - np.array([0.36, 0.0, 0.0])
    bent = theatre.sector[:, 1] > theatre.sector[:, 0]
    middle = (theatre.sector[:, 0] + theatre.sector[:, 1]) / 2
    if paper > 0:
        # Outside the semicircle, in the middle of each row's section.
        around = np.stack([np.cos(middle), np.full(n, -0.02), np.sin(middle)], axis=1)
        centre = np.array([theatre.centre[0], 0.0, theatre.centre[1]])
        outer = theatre.zero + theatre.level * float(picture.extent(row)[bent].max(initial=0.0)) + 0.22
        blend = paper * bent[:, None]
        at = (1 - blend) * at + blend * (centre + outer * around)
        anchor = (1 - blend) * anchor + blend * (centre + (outer + 0.2) * around)
    marks = Marks("thread", "sphere", at.astype(np.float32), size.astype(np.float32), color, ids)
    rank = 1e9 + picture.height
    if paper < 0.5:
        return [_texts(picture, "thread", names, anchor, 1, rank)], marks
    cosine = np.cos(middle)
    groups = []
    for align, which in (
        (1, ~bent | (cosine < -0.25)), (0, bent & (np.abs(cosine) <= 0.25)), (-1, bent & (cosine > 0.25)),
    ):  # fmt: skip
        if which.any():
            chosen = [name for name, yes in zip(names, which.tolist()) if yes]
            groups.append(_texts(picture, "thread", chosen, anchor[which], align, rank[which]))
    return groups, marks


def _titles(picture: Layout) -> list[str]:
    """Return what stands beside the rows: their threads, or of several threads what they have in common."""
    titles = []
    for row in picture.rows:
        title, many = _title(picture, row.thread), len(row.threads)
        if row.rest:
            title = f"{many:,} other threads"
        elif many > 1:
            # The process keeps its number.
            process, between, name = title.rpartition(" · ")
            title = f"{process}{between}{_NUMBERS.sub('', name) or name} × {many:,}"
        titles.append(title)
    return titles


def _title(picture: Layout, thread: int) -> str:
    """Return a thread's title; if there are many, without what is in brackets behind its name."""
    if len(picture.rows) <= _MANY and _letters(picture) >= len(whole := lane_title(picture.trace, thread)):
        return whole
    return _BRACKETS.sub("", lane_title(picture.trace, thread, _SHORTER))


def _letters(picture: Layout) -> int:
    """Return how long a text beside the rows may be: longer ones would leave too little room for the rows."""
    return int(_BESIDE * picture.theatre.width / (_LETTER * picture.text))


def _texts(picture: Layout, kind: str, text: list[str], anchor: Floats, align: int, rank: Floats) -> Labels:
    n = len(text)
    return Labels(
        kind, tuple(text), anchor.astype(np.float32), np.full(n, picture.text, np.float32),
        np.full(n, np.inf, np.float32), rank.astype(np.float32), align,  # type: ignore[arg-type]
    )  # fmt: skip


def summaries(picture: Layout) -> list[Labels]:
    """Return how long each thread waits, and mostly for whom: right of its row, on paper below its name."""
    waits, ops, threads = picture.waits, picture.waits.ops, picture.trace.threads
    own = waits.own
    text: list[str] = []
    row_of: list[int] = []
    for i, row in enumerate(picture.rows):
        mine = own[np.isin(ops.thread[own], row.threads)]
        # As much of them as lies in the row's window.
        waited = np.minimum(ops.end[mine], row.window[1]) - np.maximum(ops.start[mine], row.window[0])
        waited = np.maximum(waited, 0)
        total = int(waited.sum())
        if not total:
            continue
        by = waits.woken_by[mine]
        last = (by >= 0) & ~ops.asks[mine]
        each = np.bincount(by[last], waited[last], len(threads)).astype(np.float64)
        # A delayed thread waits for those that held the object meanwhile, not for the one that released it
        # last.
        whole = mine[ops.asks[mine] & (waited == ops.lasted[mine])]
        held = np.isin(waits.causes.wait, whole)
        each += np.bincount(waits.causes.thread[held], waits.causes.ns[held], len(threads))
        asleep = int(waited[ops.state[mine] == _SLEEP].sum()) >= SLEEPS * total
        does = "sleep" if asleep else "wait"
        words = f"{does}{'s' * (len(row.threads) == 1)} {units.duration(total)}"
        many = len(picture.rows) > _MANY or len(row.threads) > 1
        if each.max(initial=0) > 0:
            best = int(each.argmax())
            who = called(picture, best, row.thread)
            most = round(float(each[best]))
            part = ", most" if many else f", {units.duration(most)}"
            whom = f"{part} for {who}" if most < 0.985 * total else f" for {who}"
            # Of a large type only how long there is room for.
            words += whom if len(words + whom) <= _letters(picture) else ""
        text.append(words)
        row_of.append(i)
    if not len(own):
        text, row_of = _lives(picture)
    if not text:
        return []
    titles = _titles(picture)
    at = np.array(row_of, np.int64)
    rank = 5e8 + picture.height[at]
    if picture.parameters.paper >= 0.5:
        names, _ = thread_names(picture, np.zeros(len(picture.rows), np.int32))
        lines = {
            title: (group.align, anchor) for group in names for title, anchor in zip(group.text, group.anchor)
        }
        groups: list[Labels] = []
        for align in (-1, 0, 1):
            side = [i for i, r in enumerate(row_of) if lines[titles[r]][0] == align]
            if side:
                place = np.array([lines[titles[row_of[i]]][1] for i in side], np.float64)
                place[:, 2] -= 1.15 * picture.text
                groups.append(
                    _texts(picture, "sum of waits", [text[i] for i in side], place, align, rank[side])
                )
        return groups
    place = picture.theatre.place(at, np.ones(len(at)), picture.reach(at) / 2, 0.0)
    # Right of all that stands before the row, as the camera sees it.
    x, y, _ = picture.camera.direction
    core = float(picture.theatre.core(np.ones(1))[0, 1])
    before = float(place[:, 1].max(initial=core)) if x > 0 else float(place[:, 1].min(initial=core))
    place[:, 0] += _BEYOND + np.maximum((place[:, 1] - before) * x / y, 0.0)
    return [_texts(picture, "sum of waits", text, place, -1, rank)]


def _lives(picture: Layout) -> tuple[list[str], list[int]]:
    """Return when threads run, if no waits are known, and their rows."""
    calls, threads = picture.trace.calls, picture.trace.threads
    quiet, is_sampled = longest_quiet(picture.waits), bool(len(picture.trace.samples))
    text, row_of = [], []
    for i, row in enumerate(picture.rows):
        first, count = int(threads.first[row.thread]), int(threads.count[row.thread])
        if not count or len(row.threads) > 1:
            continue
        begin, end = int(calls.start[first]), int(calls.end[first : first + count].max())
        lasts = int(quiet.end[row.thread] - quiet.start[row.thread])
        said = f"{units.duration(begin) if begin else 0} to {units.duration(end)}"
        # What is not sampled may have been called.
        text.append(said if is_sampled else f"{said}, calls nothing for {units.duration(lasts)}")
        row_of.append(i)
    return text, row_of


def quiet_names(picture: Layout, colors: CallColors) -> list[Labels]:
    """Return, if no waits are known, how long each thread calls nothing, in which it may have waited.

    Parameters
    ----------
    picture : Layout
    colors : CallColors
        Of calls.

    Returns
    -------
    list of Labels
    """
    if len(picture.waits.own) or picture.parameters.paper > 0 or len(picture.trace.samples):
        return []
    quiet, groups = longest_quiet(picture.waits), []
    for r, row in enumerate(picture.rows):
        t = row.thread
        if len(row.threads) > 1:
            continue
        low, high = (
            float(np.clip(picture.share(np.array([r]), time[t : t + 1])[0], 0.0, 1.0))
            for time in (quiet.start, quiet.end)
        )
        height = min(0.62 * float(picture.height[r]), picture.text)
        text = f"calls nothing for {units.duration(int(quiet.end[t] - quiet.start[t]))}"
        width = (high - low) * picture.theatre.width
        if quiet.call[t] < 0 or width < len(text) * _LETTER * height:
            continue
        level = int(picture.trace.calls.depth[quiet.call[t]])
        # Outside the call, where there is space.
        out = picture.out(np.array([level])) + 0.85 * height / float(picture.theatre.stretch[r])
        anchor = picture.theatre.place(np.array([r]), np.array([(low + high) / 2]), out, THICK)
        one = np.ones(1, np.float32)
        groups.append(
            Labels("quiet", (text,), anchor.astype(np.float32), height * one, width * one,
                   1e6 * width * one, 0, up=_up(picture, r))
        )  # fmt: skip
    return groups


def wait_names(picture: Layout, which: Shown, colors: CallColors) -> list[Labels]:
    """Return, on each wait that is wide enough, for whom it is and how long.

    Parameters
    ----------
    picture : Layout
    which : Shown
        The waits that are drawn.
    colors : CallColors
        Of calls.

    Returns
    -------
    list of Labels
    """
    if picture.parameters.paper > 0:
        return []
    ops = picture.waits.ops
    groups = []
    for r in np.unique(which.row).tolist():
        mine = np.flatnonzero(which.row == r)
        height = min(0.62 * float(picture.height[r]), picture.text)
        if height * picture.pixels_per_unit < picture.least_text:
            continue
        width = (which.high - which.low)[mine] * picture.theatre.width
        mine = mine[width > 4 * height]
        if not len(mine):
            continue
        text = []
        for i in mine.tolist():
            *_, long, lasted = spoken(picture, which, i)
            wide = (which.high - which.low)[i] * picture.theatre.width
            text.append(long if len(long) * _LETTER * height < wide else lasted)
        middle = (which.low + which.high)[mine] / 2
        width = (which.high - which.low)[mine] * picture.theatre.width
        # On the call that waits, or the one above it where its name takes the room: funnels hide more inward.
        call = np.append(ops.call, -1)[which.wait[mine]]
        level = np.where(call >= 0, np.append(picture.trace.calls.depth, 0)[call], 0).astype(np.int64)
        named = np.array([len(label) for label in picture.trace.functions.label] or [0])
        name = np.where(call >= 0, named[np.append(picture.trace.calls.function, 0)[call]], 0)
        letters = name + 0.5 * np.array([len(words) for words in text])
        below = np.maximum(level - 1 - (letters * _LETTER * height > width / 2), 0)
        half = 0.55 * height / float(picture.theatre.stretch[r])
        room = np.maximum(picture.out(level) - half, picture.out(level) / 2)
        out = np.minimum((picture.out(below) + picture.out(below + 1)) / 2, room)
        anchor = picture.theatre.place(np.full(len(mine), r), middle, out, THICK + 0.02)
        groups.append(
            Labels(
                "wait", tuple(text), anchor.astype(np.float32), np.full(len(mine), height, np.float32),
                (0.96 * width).astype(np.float32), (1e6 * width).astype(np.float32), 0, up=_up(picture, r),
                background=np.where(call >= 0, colors.of(np.maximum(call, 0)), colors.first).astype(np.int32),
            )
        )  # fmt: skip
    return groups


def _up(picture: Layout, row: int) -> Vector:
    """Return the direction in which texts on a row's surface stand."""
    angle = float(picture.theatre.angle[row])
    up = 1.0 if math.sin(angle) >= 0 else -1.0
    return (0.0, up * math.cos(angle), up * math.sin(angle))


def function_names(
    picture: Layout, color: Indices, most: int, seen: tuple[float, float] = (0.0, 1.0)
) -> list[Labels]:
    """Return functions' names on the calls that have room for them between two shares of the window.

    Parameters
    ----------
    picture : Layout
    color : int32 (calls,)
        Of the calls of all rows, in order.
    most : int
        How many names.
    seen : (float, float)
        Shares of the window, 0 to 1.

    Returns
    -------
    list of Labels
    """
    if picture.parameters.paper > 0 or not most:
        return []
    calls, labels = picture.trace.calls, picture.trace.functions.label
    groups = []
    # In a picture of one finding names are little smaller than its other texts, or left out.
    least = _NEARLY_TEXT * picture.text if picture.parameters.finding else 0.0
    least = max(least * picture.pixels_per_unit, picture.least_text)
    start = 0
    for r, cut in enumerate(picture.cuts):
        ids = cut.calls
        mine = color[start : start + len(ids)]
        start += len(ids)
        inner, outer, begin, end = picture.bars(r)
        height = np.minimum(0.78 * (outer - inner) * picture.theatre.stretch[r], picture.text)
        row = np.full(len(ids), r)
        low, high = np.clip(begin, *seen), np.clip(end, *seen)
        width = (high - low) * picture.theatre.width
        fits = np.flatnonzero((height * picture.pixels_per_unit >= least) & (width > 2.5 * height))
        if not len(fits):
            continue
        fits = fits[np.argsort(-width[fits], kind="stable")[:most]]
        inset = np.minimum(0.35 * height[fits], 0.06)
        share = low[fits] + inset / picture.theatre.width
        anchor = picture.theatre.place(row[fits], share, (inner + outer)[fits] / 2, THICK + 0.008)
        groups.append(
            Labels(
                "function", tuple(labels[f] for f in calls.function[ids[fits]].tolist()),
                anchor.astype(np.float32), height[fits].astype(np.float32),
                (width[fits] - 2 * inset).astype(np.float32), width[fits].astype(np.float32), -1,
                up=_up(picture, r), background=mine[fits].astype(np.int32),
            )
        )  # fmt: skip
    return groups


def time_axis(picture: Layout, bars: Wedges | None = None) -> Axis | None:
    """Return the ruler of time: below all rows, or above the main thread on paper; None between them.

    Parameters
    ----------
    picture : Layout
    bars : Wedges, optional
        What lies below rows: the ruler is below these, too.

    Returns
    -------
    Axis or None
    """
    n, paper = len(picture.rows), picture.parameters.paper
    if not n or 0.0 < paper < 1.0:
        return None
    theatre = picture.theatre
    if paper == 1.0:
        if not picture.main:
            return None
        top = theatre.main_foot + theatre.main_level * float(picture.extent(np.zeros(1, np.int64))[0])
        row, origin, out = 0, (0.0, 0.0, top + 0.1), (0.0, 0.0, 1.0)
    else:
        row = 1 if picture.main and n > 1 else 0
        rows = np.arange(n)
        ends = [theatre.place(rows, np.zeros(n), picture.extent(rows) * k, 0.0) for k in (0.0, 1.0)]
        below = bars.corner.reshape(-1, 3).astype(np.float64) if bars is not None else np.empty((0, 3))
        points = np.concatenate([*ends, below])
        lowest = points[int(points[:, 2].argmin())]
        origin, out = (0.0, float(lowest[1]), float(lowest[2]) - 0.1), (0.0, 0.0, -1.0)
    low, high = int(picture.low[row]), int(picture.high[row])
    found = ticks.time_ticks(low, high, 11)
    scale = theatre.width / (high - low)
    return Axis(
        origin=origin, direction=(1.0, 0.0, 0.0), length=theatre.width,
        tick=tuple((t - low) * scale for t in found.at), text=found.text,
        minor=tuple((t - low) * scale for t in found.minor),
        title=found.titled(),
        outward=out, height=picture.text, window=(low, high),
    )  # fmt: skip


def object_names(picture: Layout, objects: list[int], anchor: Floats) -> Labels | None:
    """Return the names of the objects at the left ends of their lanes.

    Parameters
    ----------
    picture : Layout
    objects : list of int
        Those that have lanes.
    anchor : float64 (objects, 2)
        y and z of each lane.

    Returns
    -------
    Labels or None
    """
    if picture.parameters.paper > 0 or not objects:
        return None
    at = np.column_stack([np.full(len(objects), -0.1), anchor])
    names = [picture.waits.ops.objects[o] for o in objects]
    return _texts(picture, "object", names, at, 1, 4e8 - np.arange(len(objects)))
