"""The texts: rulers and findings."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from .... import units
from ....drawing.primitives import Axis, Callout, Labels, Legend, LegendEntry, Lines, Marks
from ....drawing.selector import Selector
from ....layout import ticks
from ..findings import MemoryFinding
from ..summary import MemoryUse
from .arrangement import PACKED
from .layout import PLATE, Layout
from .story import chosen, story
from .terrain import Heights, Pieces
from .wall import FOUND, FOUND_STEP, MOST_FOUND, on_wall

Floats = NDArray[np.float64]

#: Lower terrains have no ruler of heights.
_LEAST_REACH = 0.3
#: Maximum number of callouts.
_CALLED_OUT = 3


def byte_axis(picture: Layout) -> Axis:
    """Return the ruler along the front edge: bytes, or addresses."""
    p, made = picture.parameters, picture.arrangement
    low, high = picture.span
    at: list[float]
    if p.order == "address":
        order, blocks = made.pyramid.order, picture.use.blocks
        starts = [made.pyramid.low[i] for i in made.regions.tolist()]
        address = blocks.row_address[blocks.row[order[made.regions]]].tolist()
        inside = [i for i, a in enumerate(starts) if low <= a <= high]
        room = [float(picture.x(starts[i])) for i in inside]
        kept = [inside[i] for i in ticks.thin(room, room, 5.5 * picture.text)]
        at, texts = [starts[i] for i in kept], [f"0x{address[i]:x}" for i in kept]
        title = f"Address; unused stretches are cut short ({units.byte_size(made.total)} shown)"
    elif p.width == "bytes":
        # What is packed is counted from the far end, where it begins.
        from_end = made.total if p.order in PACKED else None
        if from_end is None:
            at = ticks.byte_steps(low, high)
            texts = [units.byte_size(value) for value in at]
            title = "Bytes allocated, side by side"
        else:
            steps = ticks.byte_steps(from_end - high, from_end - low)
            at, texts = [from_end - value for value in steps], [units.byte_size(value) for value in steps]
            title = "Bytes, packed"
    else:
        at, texts = [], []
        words = "square roots" if p.width == "sqrt" else "logarithms"
        title = f"Blocks, side by side: widths are {words} of bytes, not bytes"
    if picture.across and picture.reach >= _LEAST_REACH:
        # The corner at the front belongs to the ruler of heights.
        taken = picture.reach / math.tan(math.radians(p.tilt)) + 0.5 * picture.text
        texts = [text if picture.x(a) > taken else "" for a, text in zip(at, texts, strict=True)]
    deep = picture.deep if picture.across else 0.0
    outward = 1.0 if picture.across else -1.0
    return Axis(
        (0.0, deep + 0.05 * outward, 0.0), (1.0, 0.0, 0.0), picture.wide,
        tuple(float(picture.x(a)) for a in at), tuple(texts),
        title=title, outward=(0.0, outward, 0.0), height=picture.text,
    )  # fmt: skip


def time_axis(picture: Layout) -> Axis:
    """Return the ruler along time, at the near edge."""
    low, high = picture.window
    if picture.use.has_times:
        found = ticks.time_ticks(low, high, 8)
        title = f"Time ({found.unit})" + (f" after {found.offset}" if found.offset else "")
        at, texts = found.at, found.text
    else:
        at = tuple(ticks.rounds(low, high, 8))
        texts, title = tuple(units.count(a) for a in at), "Records, in order"
    return Axis(
        (-0.05, 0.0, 0.0), (0.0, 1.0, 0.0), picture.deep,
        tuple(float(picture.y(round(a))) for a in at), texts,
        title=title, outward=(-1.0, 0.0, 0.0), height=picture.text,
        window=(high, low) if picture.use.has_times else None,
    )  # fmt: skip


def height_axis(picture: Layout, scale: Heights) -> Axis | None:
    """Return the ruler of heights, at the near corner where time begins; None for the flat picture.

    Parameters
    ----------
    picture : Layout
    scale : Heights
        Of heights.

    Returns
    -------
    Axis or None
    """
    if picture.reach < _LEAST_REACH:
        return None
    p = picture.parameters
    if scale.kind == "log":
        at = ticks.decades(1.0, max(scale.most, 1.0), 5)
    elif scale.kind == "sqrt":
        # Round steps of bytes lie evenly in bytes; of these those that stand apart.
        steps = [scale.most / 4, scale.most]
        at = [float(f"{v:.1g}") for v in steps if float(f"{v:.1g}") <= scale.most]
    elif picture.use.has_times:
        at = list(ticks.time_ticks(0, int(scale.most), 5).at)
    else:
        at = ticks.rounds(0.0, scale.most, 5)
    write = {
        "size": units.byte_size,
        "access": units.count,
        "age": units.duration if picture.use.has_times else units.count,
    }[p.height]
    title = {"size": "Live bytes", "access": "Touches", "age": "Idle for"}[p.height]
    if p.height == "age" and not len(picture.use.blocks.access):
        title = "Age"
    high = picture.reach * scale.of(np.array(at)) + PLATE
    return Axis(
        (0.0, picture.deep, 0.0), (0.0, 0.0, 1.0), picture.reach, tuple(high.tolist()),
        tuple(map(write, at)),
        title=title, outward=(0.0, 1.0, 0.0), height=picture.text,
    )  # fmt: skip


def findings(
    picture: Layout, cut: Pieces, color: int
) -> tuple[list[Marks | Lines], list[Labels], Legend | None, list[Callout]]:
    """Mark the findings: at the block that shows one best, or along the curve on the wall.

    The first ones are said in callouts, too.

    Parameters
    ----------
    picture : Layout
    cut : Pieces
        The pieces that are drawn.
    color : int
        Index into the palette.

    Returns
    -------
    list of Marks or Lines, list of Labels, Legend or None, list of Callout
    """
    use = picture.use
    about = story(use, picture.parameters)
    shown = [about] if about is not None else chosen(use.findings, picture.parameters.findings)
    entries: list[LegendEntry] = []
    callouts: list[Callout] = []
    points, numbers, bars, bar_numbers = [], [], [], []
    for finding in shown:
        number, at = len(entries) + 1, None
        sign = "" if about is not None else f"{number}  "
        if finding.site >= 0 or finding.kind == "cohort":
            at = _place(picture, cut, finding)
            if at is not None:
                points.append(at)
                numbers.append(str(number))
        times = np.array([finding.start_ns, finding.end_ns])
        there = times[1] >= picture.window[0] and times[0] <= picture.window[1]
        if picture.parameters.curves and there and number <= MOST_FOUND:
            y = picture.y(times) + np.array([0.03, -0.03])
            up = FOUND + FOUND_STEP * (MOST_FOUND - number)
            bars.append(on_wall(picture, y, np.full(2, up), 0.06))
            bar_numbers.append(str(number))
            if at is None:
                x, y_, z = bars[-1].mean(axis=0).tolist()
                at = (x, y_, z)
        if at is None:
            continue
        head, detail = _words(finding, use)
        if number <= _CALLED_OUT:
            span = (0, finding.start_ns, finding.end_ns)
            callouts.append(Callout(f"{sign}{head}", detail, at, len(shown) - number, color, spans=(span,),
                                    inferred=finding.how == "inferred"))  # fmt: skip
        stands_for = Selector(kinds=("finding",), ids=(number,))
        entries.append(LegendEntry(f"{sign}{head}: {detail}", color, stands_for=stands_for))
    made: list[Marks | Lines] = []
    labels: list[Labels] = []
    text = 1.15 * picture.text
    if points:
        point = np.array(points, np.float32)
        n = len(point)
        made.append(
            Marks("finding", "pin", point, np.full(n, 0.16, np.float32), np.full(n, color, np.int32),
                  np.array(numbers, np.int64))
        )  # fmt: skip
        above = point + np.array([0, 0, 0.3 + 0.55 * text], np.float32)
        if picture.parameters.opening < 0.5:
            above = point + np.array([0, 0.2 + 0.5 * text, 0.35], np.float32)
        labels.append(_numbers(picture, numbers, above, text))
    if bars:
        n = len(bars)
        made.append(
            Lines("finding", np.concatenate(bars).astype(np.float32), 2 * np.arange(n + 1),
                  np.full(n, 0.07, np.float32), np.full(n, color, np.int32),
                  np.array(bar_numbers, np.int64))
        )  # fmt: skip
        anchor = np.array([bar[0] for bar in bars]) + np.array([0.0, 0.35 * text, 0.0])
        labels.append(_numbers(picture, bar_numbers, anchor.astype(np.float32), text))
    if about is not None:
        # The only finding needs neither number nor legend.
        return made, [], None, callouts
    return made, labels, Legend("Found", tuple(entries)) if entries else None, callouts


def _place(picture: Layout, cut: Pieces, finding: MemoryFinding) -> tuple[float, float, float] | None:
    """Return the top of the piece that shows a finding best: the highest end, or the widest of churn."""
    items, use = picture.items, picture.use
    order = picture.arrangement.pyramid.order
    if finding.site >= 0:
        first = use.sites.of_block[order[items.first]] == finding.site
        mine = first[cut.item]
    else:
        mine = np.ones(len(cut.item), np.bool_)
    if finding.kind in ("leak", "growth", "forgotten"):
        mine &= cut.end >= min(finding.end_ns, picture.window[1])
    elif finding.kind == "cohort":
        grid = use.blocks.end // 64 + 1
        mine &= (np.abs(cut.start - finding.start_ns) <= 2 * grid) & (
            np.abs(cut.end - finding.end_ns) <= 2 * grid
        )
    which = np.flatnonzero(mine)
    if not len(which):
        return None
    wide = (items.high - items.low)[cut.item[which]]
    tall = np.maximum(cut.high[which], cut.low[which])
    best = int(which[np.argmax(wide if finding.kind in ("churn", "cohort") else tall + 1e-9 * wide)])
    i = int(cut.item[best])
    x = float(picture.x((items.low[i] + items.high[i]) / 2))
    return x, float(picture.y(int(cut.end[best]))), float(PLATE + picture.reach * cut.high[best])


def _numbers(picture: Layout, texts: list[str], anchor: NDArray[np.float32], text: float) -> Labels:
    n = len(texts)
    return Labels(
        "finding", tuple(texts), anchor, np.full(n, text, np.float32), np.full(n, np.inf, np.float32),
        np.full(n, 20.0, np.float32), right=picture.level, up=picture.upward,
    )  # fmt: skip


def _words(finding: MemoryFinding, use: MemoryUse) -> tuple[str, str]:
    """Return what was found in a few words, and how much of it."""
    size = units.byte_size(finding.bytes)
    site = use.sites.name[finding.site] if finding.site >= 0 else "all"
    site = site if len(site) <= 34 else site[:33] + "…"
    d = finding.details
    looked = f"{size} at {d['snapshots']} snapshots" if "snapshots" in d else f"{size}, more and more"
    return {
        "leak": (f"leak? {site}", f"{size}, growing"),
        "growth": (f"grows: {site}", looked),
        "forgotten": (f"forgotten? {site}", size),
        "saw-tooth": (f"saw-tooth {site}", f"{d.get('times')} × {size}"),
        "churn": (f"churn {site}", f"{d.get('blocks', 0):,} blocks, {size}"),
        "fragmentation": ("holes", f"{size}, {units.percentage(d.get('share', 0))}"),
        "imports": ("imported modules", size),
        "cohort": ("same lifetime", f"{d.get('blocks', 0):,} blocks, {size}"),
    }[finding.kind]
