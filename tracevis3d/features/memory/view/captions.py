"""The texts: rulers, names of call sites, and findings."""

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
from .layout import DEPTH, PLATE, WIDTH, Layout
from .terrain import Heights, Pieces
from .wall import on_wall

Floats = NDArray[np.float64]

#: Names stand in so many rows.
_ROWS = 6
#: Narrower districts, as shares of the width, are not named.
_LEAST_DISTRICT = 0.006
_CHARACTER = 0.52
#: Findings that have a callout.
_CALLED_OUT = 3


def byte_axis(picture: Layout) -> Axis:
    """Return the ruler along the front edge: bytes, or addresses."""
    p, made = picture.parameters, picture.arrangement
    low, high = picture.span
    at: list[float]
    if p.order == "address":
        order, blocks = made.pyramid.order, picture.use.blocks
        starts = [made.pyramid.low[i] for i in made.regions.tolist()]
        address = [int(blocks.address[order[i]]) for i in made.regions.tolist()]
        inside = [i for i, a in enumerate(starts) if low <= a <= high]
        room = [float(picture.x(starts[i])) for i in inside]
        kept = [inside[i] for i in ticks.thin(room, room, 5.5 * picture.text)]
        at, texts = [starts[i] for i in kept], [f"0x{address[i]:x}" for i in kept]
        title = f"Address; unused stretches are cut short ({units.byte_size(made.total)} shown)"
    elif p.width == "bytes":
        at = _byte_steps(low, high)
        texts = [units.byte_size(value) for value in at]
        title = "Bytes allocated, side by side"
    else:
        at, texts = [], []
        words = "square roots" if p.width == "sqrt" else "logarithms"
        title = f"Blocks, side by side: widths are {words} of bytes, not bytes"
    return Axis(
        (0.0, -0.05, 0.0), (1.0, 0.0, 0.0), WIDTH, tuple(float(picture.x(a)) for a in at), tuple(texts),
        title=title, outward=(0.0, -1.0, 0.0), height=picture.text,
    )  # fmt: skip


def _byte_steps(low: float, high: float, most: int = 8) -> list[float]:
    """Return multiples of a round number of bytes (1, 2, 5, 10 ... 500 of a power of 1024)."""
    least = (high - low) / most
    unit = 1024.0 ** max(math.floor(math.log(max(least, 1.0), 1024)), 0)
    factor = next((f for f in (1, 2, 5, 10, 20, 50, 100, 200, 500) if f * unit >= least), 1024)
    step = factor * unit
    return [k * step for k in range(math.ceil(low / step), math.floor(high / step) + 1)]


def time_axis(picture: Layout) -> Axis:
    """Return the ruler along time, at the right edge."""
    low, high = picture.window
    if picture.use.has_times:
        found = ticks.time_ticks(low, high, 8)
        title = f"Time ({found.unit})" + (f" after {found.offset}" if found.offset else "")
        at, texts = found.at, found.text
    else:
        at = tuple(ticks.rounds(low, high, 8))
        texts, title = tuple(units.count(a) for a in at), "Records, in order (no times are recorded)"
    return Axis(
        (WIDTH + 0.05, 0.0, 0.0), (0.0, 1.0, 0.0), DEPTH,
        tuple(float(picture.y(round(a))) for a in at), texts,
        title=title, outward=(1.0, 0.0, 0.0), height=picture.text,
        window=(high, low) if picture.use.has_times else None,
    )  # fmt: skip


def height_axis(picture: Layout, scale: Heights, beside: float = 0.0) -> Axis | None:
    """Return the ruler of heights, so far beside the far corner; None for the flat picture.

    Parameters
    ----------
    picture : Layout
    scale : Heights
        Of heights.
    beside : float
        Scene units.

    Returns
    -------
    Axis or None
    """
    if picture.reach < 0.3:
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
    title = {"size": "Bytes alive", "access": "Touches", "age": "Idle for"}[p.height]
    if p.height == "age" and not len(picture.use.blocks.access):
        title = "Age"
    high = picture.reach * scale.of(np.array(at)) + PLATE
    return Axis(
        (WIDTH + beside, DEPTH, 0.0), (0.0, 0.0, 1.0), picture.reach, tuple(high.tolist()),
        tuple(map(write, at)),
        title=title, outward=(1.0, 0.0, 0.0), height=picture.text,
    )  # fmt: skip


def site_names(picture: Layout, hair: int) -> tuple[Lines, Labels] | None:
    """Return the names of call sites behind their districts, and lines to them; those with most bytes win.

    Parameters
    ----------
    picture : Layout
    hair : int
        The lines' colour, as index into the palette.

    Returns
    -------
    (Lines, Labels) or None
        None: there are no districts, or no names are wanted.
    """
    made, p = picture.arrangement, picture.parameters
    if not len(made.site_first) or not p.labels:
        return None
    low = np.append(made.pyramid.low, made.total)[made.site_first]
    left, right = np.maximum(low[:-1], picture.span[0]), np.minimum(low[1:], picture.span[1])
    seen = np.flatnonzero(right - left > 0)
    middle = picture.x((left + right)[seen] / 2)
    height = 0.92 * picture.text
    chosen: list[int] = []
    taken: list[float] = []
    shown = picture.span[1] - picture.span[0]
    for i in np.argsort(-(right - left)[seen], kind="stable").tolist():
        if len(chosen) >= p.labels or (right - left)[seen[i]] < _LEAST_DISTRICT * shown:
            break
        if all(abs(middle[i] - other) >= 1.7 * height for other in taken):
            chosen.append(i)
            taken.append(float(middle[i]))
    if not chosen:
        return None
    # A staircase that rises to the left: no line from a name to its district crosses a name.
    rows: list[tuple[float, int, int]] = []
    for i in sorted(chosen, key=lambda i: -float(middle[i])):
        wide = height * (_CHARACTER * len(picture.use.sites.name[seen[i]]) + 1)
        row = 1 + max((r for x, r, _ in rows if x < float(middle[i]) + wide), default=-1)
        if row < _ROWS:
            rows.append((float(middle[i]), row, int(seen[i])))
    n = len(rows)
    stand, lie = picture.fold
    # Level in the picture, so that names in turned pictures need no more room than others.
    turn = math.radians(p.opening * p.turn)
    rise = np.array([0.35 + 1.35 * height * row for _, row, _ in rows])
    foot = np.array([(x, DEPTH + 0.05, 0.0) for x, _, _ in rows])
    top = foot + rise[:, None] * np.array([0.0, lie, stand])
    leaders = Lines(
        "call site", np.stack([foot, top], axis=1).reshape(-1, 3).astype(np.float32), 2 * np.arange(n + 1),
        np.full(n, 0.015, np.float32), np.full(n, hair, np.int32), np.arange(n),
    )  # fmt: skip
    anchor = top + np.array([0.3 * height, -0.02 * stand, 0.02 * lie])
    return leaders, Labels(
        "call site", tuple(picture.use.sites.name[site] for _, _, site in rows), anchor.astype(np.float32),
        np.full(n, height, np.float32), np.full(n, np.inf, np.float32), np.full(n, 3.0, np.float32), align=-1,
        right=(math.cos(turn), math.sin(turn), 0.0), up=(0.0, lie, stand),
    )  # fmt: skip


def overhang(labels: Labels) -> float:
    """Return how far names of call sites reach beyond the terrain's right edge, in scene units, about."""
    ends = [
        float(at[0]) + _CHARACTER * len(text) * float(height) * labels.right[0]
        for text, at, height in zip(labels.text, labels.anchor, labels.height, strict=True)
    ]
    return max(max(ends, default=0.0) - WIDTH, 0.0)


def longest(labels: Labels) -> float:
    """Return the width of the longest text in scene units, about."""
    return max(
        (_CHARACTER * len(text) * float(h) for text, h in zip(labels.text, labels.height, strict=True)),
        default=0.0,
    )


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
    shown = _chosen(picture.use.findings, picture.parameters.findings)
    items, use = picture.items, picture.use
    entries: list[LegendEntry] = []
    callouts: list[Callout] = []
    points, numbers, braces, brace_numbers = [], [], [], []
    for finding in shown:
        number = len(entries) + 1
        if finding.site >= 0 and len(items):
            place = _place(picture, cut, finding)
            if place is None:
                continue
            points.append(place)
            numbers.append(str(number))
            at = np.array(place)
        elif picture.parameters.curves and finding.kind in ("saw-tooth", "fragmentation"):
            times = np.array([finding.start_ns, finding.end_ns])
            if times[1] < picture.window[0] or times[0] > picture.window[1]:
                continue
            y = picture.y(times)
            braces.append(on_wall(picture, y + np.array([0.03, -0.03]), np.full(2, 0.49), 0.03))
            brace_numbers.append(str(number))
            at = braces[-1].mean(axis=0)
        elif finding.kind == "cohort" and len(items):
            place = _place(picture, cut, finding)
            if place is None:
                continue
            points.append(place)
            numbers.append(str(number))
            at = np.array(place)
        else:
            continue
        head, detail = _words(finding, use)
        if number <= _CALLED_OUT:
            x, y, z = at.tolist()
            span = (0, finding.start_ns, finding.end_ns)
            callouts.append(
                Callout(
                    f"{number}  {head}", detail, (x, y, z), len(shown) - number, color, spans=(span,)
                )
            )  # fmt: skip
        stands_for = Selector(kinds=("finding",), ids=(number,))
        entries.append(LegendEntry(f"{number}  {head}: {detail}", color, stands_for=stands_for))
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
    if braces:
        n = len(braces)
        made.append(
            Lines("finding", np.concatenate(braces).astype(np.float32), 2 * np.arange(n + 1),
                  np.full(n, 0.06, np.float32), np.full(n, color, np.int32),
                  np.array(brace_numbers, np.int64))
        )  # fmt: skip
        anchor = np.array([b.mean(axis=0) for b in braces])
        anchor += 0.6 * text * np.array([-picture.fold[1], 0, picture.fold[0]])
        labels.append(_numbers(picture, brace_numbers, anchor.astype(np.float32), text))
    return made, labels, Legend("Found", tuple(entries)) if entries else None, callouts


def _chosen(found: tuple[MemoryFinding, ...], most: int) -> list[MemoryFinding]:
    """Return the first of each kind in turn: no kind takes all the room."""
    by_kind: dict[str, list[MemoryFinding]] = {}
    for finding in found:
        by_kind.setdefault(finding.kind, []).append(finding)
    chosen: list[MemoryFinding] = []
    for turn in range(max((len(of) for of in by_kind.values()), default=0)):
        chosen += [of[turn] for of in by_kind.values() if turn < len(of)]
    return chosen[:most]


def _place(picture: Layout, cut: Pieces, finding: MemoryFinding) -> tuple[float, float, float] | None:
    """Return the top of the piece that shows a finding best: the highest end, or the widest of churn."""
    items, use = picture.items, picture.use
    order = picture.arrangement.pyramid.order
    if finding.site >= 0:
        first = use.sites.of_block[order[items.first]] == finding.site
        mine = first[cut.item]
    else:
        mine = np.ones(len(cut.item), np.bool_)
    if finding.kind in ("leak", "forgotten"):
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
    stand, lie = picture.fold
    return Labels(
        "finding", tuple(texts), anchor, np.full(n, text, np.float32), np.full(n, np.inf, np.float32),
        np.full(n, 20.0, np.float32), right=(1.0, 0.0, 0.0), up=(0.0, lie, stand),
    )  # fmt: skip


def _words(finding: MemoryFinding, use: MemoryUse) -> tuple[str, str]:
    """Return what was found in a few words, and how much of it."""
    size = units.byte_size(finding.bytes)
    site = use.sites.name[finding.site] if finding.site >= 0 else "all"
    site = site if len(site) <= 34 else site[:33] + "…"
    d = finding.details
    return {
        "leak": (f"leak? {site}", f"{size}, growing"),
        "forgotten": (f"forgotten? {site}", size),
        "saw-tooth": (f"saw-tooth {site}", f"{d.get('times')} × {size}"),
        "churn": (f"churn {site}", f"{d.get('blocks', 0):,} blocks, {size}"),
        "fragmentation": ("holes", f"{size}, {units.percentage(d.get('share', 0))}"),
        "cohort": ("alive together", f"{d.get('blocks', 0):,} blocks, {size}"),
    }[finding.kind]
