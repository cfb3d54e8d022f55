"""The overview of TraceDiff (section IV-A) as a row of bars behind each wall."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .... import units
from ....drawing.palettes import parse
from ....drawing.primitives import Axis, Boxes, Legend, LegendEntry, Lines
from ....trace import profile
from ..matching.match import Comparison
from .colors import UNMATCHED
from .difference.kinds import KINDS, ONLY, SAME, Differences
from .difference.paint import DifferencePaint
from .layout import BAR_DEEP, OVERVIEW, Layout, Wall
from .matches import unmatched_calls

if TYPE_CHECKING:
    from .parameters import Parameters

Colors = NDArray[np.float32]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: Colours of the ramp, an odd number: the middle is exactly 0.
STEPS = 65
#: Intervals of the longer trace: 10 pixels each where it is 1,600 wide.
_BARS = 160
#: A bar is of a kind of difference that takes this share of its sum.
_OF_BAR = 0.25
_THIN = 0.03
# Purple, grey, green: distinguished with any colour vision, and unlike the walls' colours. The paper's is
# red, grey, green.
_DIVERGING = parse("762a83 b78fc4 c9ccd0 8cc48a 1b7837")
_PAPER = parse("d7191c c88080 c0c0c0 80b080 1a9641")
_WINDOW = parse("e8b71a") * np.array([1, 1, 1, 0.45], np.float32)
#: Where the strip of what has no match lies: its ends as shares of the space between wall and bars.
_STRIP = (0.3, 0.85)
#: Shades of that strip.
_SHADES = 6
#: Smaller shares of an interval's time without a match are not shown.
_LEAST_ALONE = 0.004
#: Thickness of plates on the ground.
_PLATE = 0.012


def ramp(palette: str) -> Colors:
    """Return the colours from "earlier in the other trace" over "at the same time" to "later"."""
    anchors = _PAPER if palette == "paper" else _DIVERGING
    at, given = np.linspace(0, 1, STEPS), np.linspace(0, 1, len(anchors))
    return np.stack([np.interp(at, given, anchors[:, c]) for c in range(4)], axis=1).astype(np.float32)


def intervals(
    start: NDArray[np.int64], offset: Floats, similarity: Floats, window: tuple[int, int], bars: int
) -> tuple[Floats, Floats, Floats]:
    """Return for equal intervals: the sum of similarities, the mean signed offset and its spread.

    The paper's δ (Eq. 4) is a sum of absolute values, which can't distinguish earlier from later; its colours
    need the sign.

    Parameters
    ----------
    start : int64 (m,)
        Start of the calls that are matched, nanoseconds.
    offset : float64 (m,)
        How much later the matched call of the other trace starts.
    similarity : float64 (m,)
    window : (int, int)
    bars : int

    Returns
    -------
    total, mean, spread : float64 (bars,)
        The spread is the standard deviation; means are weighted by similarity; 0 where nothing starts.
    """
    bar, inside = _bar(start, window, bars)
    weight, d = similarity[inside], offset[inside]
    total = np.bincount(bar, weight, bars)
    safe = np.maximum(total, 1e-300)
    mean = np.bincount(bar, weight * d, bars) / safe
    spread = np.sqrt(np.maximum(np.bincount(bar, weight * (d - mean[bar]) ** 2, bars) / safe, 0.0))
    return np.asarray(total, np.float64), np.asarray(mean), np.asarray(spread)


def kinds_of_bars(
    start: Ints, weight: Floats, kind: NDArray[np.uint8], strength: Floats, window: tuple[int, int], bars: int
) -> tuple[NDArray[np.uint8], Floats]:
    """Return what differs in each of equal intervals: the kind that takes most of its sum, and how strongly.

    Parameters
    ----------
    start : int64 (n,)
        Of each call.
    weight : float64 (n,)
        Sum of the similarities of its matches.
    kind : uint8 (n,)
        In what it differs.
    strength : float64 (n,)
    window : (int, int)
    bars : int

    Returns
    -------
    (uint8 (bars,), float64 (bars,))
        ``SAME`` where no kind takes a quarter; strengths are means, by weight.
    """
    bar, inside = _bar(start, window, bars)
    weight, strength = weight[inside], strength[inside]
    size = len(KINDS)
    place = bar * size + kind[inside]
    of_kind = np.bincount(place, weight, bars * size).reshape(bars, size)
    strong = np.bincount(place, weight * strength, bars * size).reshape(bars, size)
    most, at = 1 + of_kind[:, 1:].argmax(axis=1), np.arange(bars)
    found = (of_kind[at, most] > 0) & (of_kind[at, most] >= _OF_BAR * of_kind.sum(axis=1))
    mean = strong[at, most] / np.maximum(of_kind[at, most], 1e-300)
    return np.where(found, most, SAME).astype(np.uint8), np.where(found, mean, 0.0)


def _bar(time: Ints, window: tuple[int, int], bars: int) -> tuple[Ints, NDArray[np.bool_]]:
    """Return the interval of each time in ``window``, and which times are."""
    share = (time - window[0]) / max(window[1] - window[0], 1)
    inside = (share >= 0) & (share <= 1)
    return np.minimum((share[inside] * bars).astype(np.int64), bars - 1), inside


def time_in_intervals(start: Ints, end: Ints, window: tuple[int, int], bars: int) -> Floats:
    """Return which share of each of equal intervals lies within the given stretches of time, which are apart.

    Parameters
    ----------
    start, end : int64 (m,)
    window : (int, int)
    bars : int

    Returns
    -------
    float64 (bars,)
    """
    span = max(window[1] - window[0], 1)
    order = np.argsort(start, kind="stable")
    low, high = (np.clip((t[order] - window[0]) / span * bars, 0.0, float(bars)) for t in (start, end))
    # The time covered up to each edge: whole stretches before it, and the part of the one that it cuts.
    edge = np.arange(bars + 1, dtype=np.float64)
    before = np.searchsorted(low, edge, side="right")
    whole = np.concatenate([[0.0], np.cumsum(high - low)])
    covered = whole[before]
    last = np.maximum(before - 1, 0)
    if len(low):
        covered -= np.where(before > 0, np.maximum(high[last] - edge, 0.0), 0.0)
    return np.clip(np.diff(covered), 0.0, 1.0)


@dataclass(frozen=True, eq=False)
class Skyline:
    """The bars behind one wall.

    Attributes
    ----------
    wall : Wall
    window : (int, int)
        Nanoseconds that the bars are about: the wall's, or the whole trace's.
    total, mean, spread : float64 (bars,)
        As :func:`intervals` returns them.
    alone : float64 (bars,)
        Share of each interval's time in calls that have no match, nor any below them: in the thread where
        that is most.
    unmatched : int64 (n,)
        These calls.
    kind, strength : uint8 (bars,), float64 (bars,), optional
        As :func:`kinds_of_bars` returns them.
    """

    wall: Wall
    window: tuple[int, int]
    total: Floats
    mean: Floats
    spread: Floats
    alone: Floats
    unmatched: Ints
    kind: NDArray[np.uint8] | None = None
    strength: Floats | None = None

    def __len__(self) -> int:
        return len(self.total)

    @property
    def bar(self) -> float:
        """Width of an interval in scene units."""
        return self.wall.width / len(self)

    @property
    def is_context(self) -> bool:
        """Whether the bars are about more than the wall shows."""
        return self.window != self.wall.window

    def x(self, time: Any) -> Any:
        """Return the x of times."""
        share = (time - self.window[0]) / max(self.window[1] - self.window[0], 1)
        return self.wall.offset + share * self.wall.width

    def bars_at(self, start: Ints) -> Ints:
        """Return the interval of each of the times that lie in the window."""
        return _bar(start, self.window, len(self))[0]


@dataclass(frozen=True, eq=False)
class CallMatches:
    """What the bars sum up, of each call of both traces.

    Attributes
    ----------
    total : (float64 (calls of A,), float64 (calls of B,))
        Sum of the similarities of the call's matches.
    later : (float64 (calls of A,), float64 (calls of B,))
        How much later the same work starts in the other trace, beyond the runs' pace; NaN: not known.
    pace : float
        How many times as long B takes.
    every : bool
        Whether all matches are summed up, and not those alone between calls that are drawn.
    """

    total: tuple[Floats, Floats]
    later: tuple[Floats, Floats]
    pace: float
    every: bool


def skylines(
    comparison: Comparison, picture: Layout, matches: CallMatches, windows: tuple[tuple[int, int], ...],
    differing: Differences | None = None,
) -> tuple[Skyline, Skyline]:  # fmt: skip
    """Sum up what matches when. The intervals depend on the windows alone, not on the picture.

    Parameters
    ----------
    comparison : Comparison
    picture : Layout
    matches : CallMatches
    windows : two of (int, int)
        What the bars are about.
    differing : Differences, optional
        How the calls differ, where bars show it.

    Returns
    -------
    (Skyline, Skyline)
    """
    spans = [max(high - low, 1) for low, high in windows]
    made = []
    for s, (wall, window) in enumerate(zip(picture.walls, windows)):
        share = spans[s] / max(spans) if picture.same_scale else 1.0
        bars = max(round(_BARS * share), 1)
        calls = wall.trace.calls
        known = ~np.isnan(matches.later[s])
        total, _, _ = intervals(calls.start, np.zeros(len(calls)), matches.total[s], window, bars)
        start, weight = calls.start[known], matches.total[s][known]
        _, mean, spread = intervals(start, matches.later[s][known], weight, window, bars)
        alone = unmatched_calls(comparison, s)
        lane = wall.lane_of[calls.thread[alone]]
        unmatched = np.zeros(bars)
        for i in range(len(wall.lanes)):
            here = alone[lane == i]
            time = time_in_intervals(calls.start[here], calls.end[here], window, bars)
            np.maximum(unmatched, time, out=unmatched)
        of_bars: Any = (None, None)
        if differing is not None:
            judged = (differing.kind[s], differing.strength[s])
            of_bars = kinds_of_bars(calls.start, matches.total[s], *judged, window, bars)
        made.append(Skyline(wall, window, total, mean, spread, unmatched, alone[lane >= 0], *of_bars))
    return made[0], made[1]


def farthest(lines: tuple[Skyline, Skyline]) -> float:
    """Return the offset that the ramp's ends represent, nanoseconds."""
    used = np.concatenate([np.abs(line.mean[line.total > 0]) for line in lines])
    return float(np.quantile(used, 0.98)) if len(used) else 0.0


def overview(
    lines: tuple[Skyline, Skyline],
    picture: Layout,
    paint: Any,
    p: Parameters,
    matches: CallMatches,
    differing: DifferencePaint | None = None,
) -> tuple[list[Boxes | Lines], tuple[Legend, ...], list[str], tuple[Axis, ...]]:
    """Return the elements behind both walls, their legend, notes, and the scales of the bars.

    Parameters
    ----------
    lines : (Skyline, Skyline)
    picture : Layout
    paint : Paint
    p : Parameters
    matches : CallMatches
        What the bars sum up.
    differing : DifferencePaint, optional
        Colours of differences, which the bars have, too.

    Returns
    -------
    (list of Boxes or Lines, tuple of Legend, list of str, tuple of Axis)
    """
    made: list[Boxes | Lines] = []
    highest = max(float(line.total.max(initial=0)) for line in lines)
    far = farthest(lines)
    # Call paths that lie side by side have no order, and no offsets.
    is_timed = not profile.untimed_kind(picture.walls[0].trace)
    widest = max(float(line.spread.max(initial=0)) for line in lines) if is_timed else 0.0
    first = paint.add(ramp(p.palette)) if differing is None else -1
    alone = -1
    if differing is None:
        shade = UNMATCHED * np.array([[1, 1, 1, a] for a in np.linspace(0.2, 1.0, _SHADES)], np.float32)
        alone = paint.add(shade)
    window = -1
    for line in lines:
        if highest > 0:
            if differing is None or line.kind is None or line.strength is None:
                color = _signed(line, far, first)
            else:
                color = differing.of(line.kind, line.strength, tubes=True)
            made.append(_bars(line, picture, highest, widest, color))
        if differing is None:
            shades = alone + np.minimum((line.alone * _SHADES).astype(np.int32), _SHADES - 1)
        else:
            shades = differing.of(np.full(len(line), ONLY, np.uint8), line.alone)
        made.append(_strip(line, picture, shades))
        if line.is_context:
            window = paint.add(_WINDOW) if window < 0 else window
            made += _window(line, picture, window)
    text = units.duration(far)
    legends = []
    if highest > 0 and differing is None:
        legends.append(
            Legend(
                "Bars: matched calls of the other trace start",
                ramp=(first, first + STEPS - 1),
                ramp_tick=(0.0, 0.5, 1.0),
                ramp_text=(f"{text} earlier", "together", f"{text} later")
                if far > 0
                else ("", "together", ""),
            )
        )
    entries = []
    if differing is None and any((line.alone > _LEAST_ALONE).any() for line in lines):
        entries.append(LegendEntry("time without any match, by its share", alone + _SHADES - 1))
    if window >= 0:
        entries.append(LegendEntry("what the walls show of the whole trace", window))
    legends = [
        replace(x, entries=tuple(entries)) for x in legends or [Legend("Overview")] if legends or entries
    ]
    notes = []
    if highest > 0:
        said = f"bars: sum of the similarities of {'all' if matches.every else 'the drawn'} matches"
        if is_timed:
            said += (
                f"; thickness: spread of their offsets, corrected for B's pace ({matches.pace:.2f}), up to "
                f"{profile.length_text(picture.walls[0].trace, widest)}"
            )
        notes.append(said)
    return made, tuple(legends), notes, _scales(lines, picture, highest)


def _place(line: Skyline, picture: Layout, which: Ints, low: float, length: Floats, thick: Floats) -> Any:
    """Return ``low`` and ``size`` of boxes on intervals, from ``low`` beyond the roots outwards."""
    wall, bar = line.wall, line.bar
    y0, y1, z0, z1 = wall.fold.outward(low, length, thick)
    corner = np.stack([wall.offset + which * bar + 0.08 * bar, y0, z0], axis=1)
    size = np.stack([np.full(len(which), 0.84 * bar), y1 - y0, z1 - z0], axis=1)
    return corner.astype(np.float32), size.astype(np.float32)


def _signed(line: Skyline, far: float, first: int) -> NDArray[np.int32]:
    """Return the colour of each interval: whether its matches start earlier or later in the other trace."""
    place = 0.5 + 0.5 * np.clip(line.mean / far if far > 0 else 0 * line.mean, -1, 1)
    return np.asarray(first + np.rint(place * (STEPS - 1)), np.int32)


def _bars(line: Skyline, picture: Layout, highest: float, widest: float, color: NDArray[np.int32]) -> Boxes:
    which = np.flatnonzero(line.total > 0)
    length = OVERVIEW * line.total[which] / highest
    thick = _THIN + (BAR_DEEP - _THIN) * (line.spread[which] / widest if widest > 0 else np.zeros(len(which)))
    low, size = _place(line, picture, which, picture.behind, length, thick)
    return Boxes("interval", low, size, color[which], which.astype(np.int64), source=line.wall.source)


def _strip(line: Skyline, picture: Layout, color: NDArray[np.int32]) -> Boxes:
    """Return the strip between wall and bars: the redder, the more of the time has no match."""
    which = np.flatnonzero(line.alone > _LEAST_ALONE)
    low, high = (share * picture.space for share in _STRIP)
    base = picture.behind - picture.space
    length = np.full(len(which), high - low)
    corner, size = _place(line, picture, which, base + low, length, np.full(len(which), _PLATE))
    return Boxes("unmatched", corner, size, color[which], which, source=line.wall.source)


def _window(line: Skyline, picture: Layout, color: int) -> list[Boxes | Lines]:
    """Return the slab under the bars of what the wall shows, and lines from it to the wall's ends."""
    wall = line.wall
    left, right = (float(line.x(t)) for t in wall.window)
    y0, y1, z0, z1 = wall.fold.plate(picture.behind, OVERVIEW, _PLATE, _PLATE)
    low = np.array([[left, y0, z0]], np.float32)
    size = np.array([[right - left, y1 - y0, z1 - z0]], np.float32)
    one = np.full(1, color, np.int32)
    length = max(line.window[1] - line.window[0], 1)
    share = [[(t - line.window[0]) / length for t in wall.window]]
    # Dragging needs its place in time.
    slab = Boxes(
        "window", low, size, one, np.zeros(1, np.int64), np.array(share, np.float32), source=wall.source,
        window=line.window,
    )  # fmt: skip
    path, stops = [], [0]
    for x, end in ((left, wall.offset), (right, wall.offset + wall.width)):
        far, near = (wall.fold.stage(picture.behind + reach) for reach in (OVERVIEW, 0.0))
        path += [(x, *far), (x, *near), (end, *wall.fold.edge)]
        stops.append(len(path))
    width = np.full(2, 2.0 / picture.pixels_per_unit, np.float32)
    lines = Lines(
        "window edge", np.array(path, np.float32), np.array(stops, np.int64), width,
        np.full(2, color, np.int32), np.zeros(2, np.int64), source=wall.source,
    )  # fmt: skip
    return [slab, lines]


def _scales(lines: tuple[Skyline, Skyline], picture: Layout, highest: float) -> tuple[Axis, ...]:
    """Return a scale of the bars' lengths at the left end of each row."""
    if not highest > 0:
        return ()
    made = []
    for line in lines:
        fold, wall = line.wall.fold, line.wall
        made.append(
            Axis(
                origin=(wall.offset - 0.12, *fold.stage(picture.behind)),
                direction=fold.bars,
                length=OVERVIEW,
                tick=(0.0, OVERVIEW),
                text=("0", _large(highest)),
                outward=(-1.0, 0.0, 0.0),
                height=0.9 * picture.text,
                grid=wall.width + 0.12,
            )
        )
    return tuple(made)


def _large(value: float) -> str:
    """Write a number with two digits, from a thousand on with k, M or G."""
    for unit, size in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if value >= size:
            return f"{float(f'{value / size:.2g}'):g} {unit}"
    return f"{value:,.0f}" if value >= 10 else f"{value:.2g}"
