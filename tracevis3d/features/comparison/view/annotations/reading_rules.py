"""Notable places of the overview, in words (the reading rules of TraceDiff, section IV-A)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ..... import units
from .....drawing.primitives import Labels, Lines
from .....trace import profile
from ..difference.kinds import MOVED
from ..layout import OVERVIEW, Layout
from ..overview import Skyline, farthest

#: Kinds of annotations: nothing matches, much matches at the same time, much matches at another time.
Kind = Literal["no match", "in place", "moved"]

#: A bar's matches are in place if their mean offset is less than this share of the farthest, moved if more.
_IN_PLACE, _MOVED = 0.1, 0.3
#: And it is at least this share of the run.
_APART = 0.1
#: Bars that are annotated are at least this high, as a share of the highest.
_HIGH = 0.25
#: A stretch without matches is reported if it takes this share of the wall's time.
_ALONE = 2e-4
#: Approximate width of a character, in line heights.
_WIDE = 0.47
_LONGEST = 30
#: Thickness at a bar's tip where a line begins.
_TIP = 0.03


@dataclass(frozen=True)
class Annotation:
    """A place of the overview and its caption.

    Attributes
    ----------
    source : int
        0 for A, 1 for B.
    kind : str
    start, end : int
        The interval, nanoseconds.
    text : str
    weight : float
        For the order: how much there is to see, as a share of the most in its kind.
    """

    source: int
    kind: Kind
    start: int
    end: int
    text: str
    weight: float


def annotate(
    lines: tuple[Skyline, Skyline], most: int, kinds: tuple[Kind, ...] | None = None
) -> list[Annotation]:
    """Return the most important bars of each kind of both walls, at most ``most`` of a kind and wall.

    Parameters
    ----------
    lines : (Skyline, Skyline)
        The overviews of A and B.
    most : int
        How many.
    kinds : tuple of str, optional
        Those that are returned; None: all.

    Returns
    -------
    list of Annotation
    """
    highest = max(float(line.total.max(initial=0)) for line in lines)
    far = farthest(lines)
    found: list[Annotation] = []
    for s, line in enumerate(lines):
        found += _unmatched(line, s, most)
        if not highest > 0 or profile.untimed_kind(line.wall.trace):
            continue
        high = line.total / highest
        away = np.abs(line.mean) / far if far > 0 else np.zeros(len(line))
        apart = np.abs(line.mean) / max(line.window[1] - line.window[0], 1)
        # Where kinds of differences are known, what a stall has put off has not moved.
        moved = np.bool_(True) if line.kind is None else line.kind == MOVED
        for kind, score in (
            ("in place", np.where((high >= _HIGH) & (away <= _IN_PLACE), high, 0.0)),
            (
                "moved",
                np.where((high >= _HIGH) & (away >= _MOVED) & (apart >= _APART) & moved, high * away, 0.0),
            ),
        ):
            for bar in _peaks(score, most):
                offset = float(line.mean[bar])
                text = f"{units.duration(abs(offset), 2)} {'later' if offset > 0 else 'earlier'}"
                start, end = _interval(line, bar)
                words = "in place" if kind == "in place" else text
                found.append(Annotation(s, kind, start, end, words, float(score[bar])))  # type: ignore[arg-type]
    return [note for note in found if kinds is None or note.kind in kinds]


def _interval(line: Skyline, bar: int) -> tuple[int, int]:
    low, high = line.window
    return tuple(low + (high - low) * (bar + i) // len(line) for i in (0, 1))  # type: ignore[return-value]


def _peaks(score: NDArray[np.float64], most: int) -> list[int]:
    """Return the highest of ``score``, without the neighbours of those already taken."""
    left = score.copy()
    apart = max(len(score) // 12, 1)
    found: list[int] = []
    while len(found) < most and left.max(initial=0.0) > 0:
        best = int(np.argmax(left))
        found.append(best)
        left[max(best - apart, 0) : best + apart + 1] = 0.0
    return found


def _unmatched(line: Skyline, s: int, most: int) -> list[Annotation]:
    """Annotate the functions whose calls take most of the time without any match, where they take most."""
    trace = line.wall.trace
    calls, functions = trace.calls, trace.functions
    kind = next(iter(profile.totals(trace)), profile.length_kind(trace))
    ids = line.unmatched
    inside = (calls.start[ids] >= line.window[0]) & (calls.start[ids] < line.window[1])
    ids = ids[inside]
    lasted = (calls.end - calls.start)[ids].astype(np.float64)
    time = np.bincount(calls.function[ids], lasted, len(functions))
    span = max(line.window[1] - line.window[0], 1)
    found = []
    for function in np.argsort(-time, kind="stable")[:most].tolist():
        if time[function] < _ALONE * span:
            break
        own = ids[calls.function[ids] == function]
        bar = int(np.argmax(np.bincount(line.bars_at(calls.start[own]), (calls.end - calls.start)[own])))
        many = f"{len(own):,} × " if len(own) > 1 and not len(trace.samples) else ""
        weight = time[function]
        if len(trace.samples):
            weight = round(float(profile.whole_weights(trace)[own].sum()))
        lasts = profile.amount_of(kind, weight) if kind else units.duration(weight, 2)
        name = functions.label[function]
        name = name if len(name) <= _LONGEST else name[: _LONGEST - 1] + "…"
        text = f"no match: {many}{name} {lasts}"
        found.append(Annotation(s, "no match", *_interval(line, bar), text, 1.0 + time[function] / span))
    return found


def _raised(at: tuple[float, float]) -> tuple[float, float]:
    return at[0], at[1] + 0.02


def signs(
    notes: list[Annotation], lines: tuple[Skyline, Skyline], picture: Layout, ink: int
) -> tuple[list[Labels], list[Lines]]:
    """Return the annotations' texts beyond the bars, and lines from the bars to them.

    Where texts would overlap the weightier one stays.

    Parameters
    ----------
    notes : list of Annotation
    lines : (Skyline, Skyline)
    picture : Layout
    ink : int
        Palette index of the lines.

    Returns
    -------
    (list of Labels, list of Lines)
    """
    labels, leads = [], []
    height = 0.85 * picture.text
    for line in lines:
        wall, fold = line.wall, line.wall.fold
        low, high = wall.offset, wall.offset + wall.width
        taken: list[tuple[float, float]] = []
        kept: list[tuple[Annotation, float, float]] = []
        for note in sorted((n for n in notes if n.source == wall.source), key=lambda n: -n.weight):
            half = 0.5 * _WIDE * height * len(note.text)
            x = float(line.x((note.start + note.end) / 2))
            middle = min(max(x, low + half), max(high - half, low + half))
            if all(middle + half < a or middle - half > b for a, b in taken):
                taken.append((middle - half - height, middle + half + height))
                kept.append((note, x, middle))
        if not kept:
            continue
        # Bars hide what lies behind their tops.
        end = picture.behind + OVERVIEW + (picture.lean if fold.side > 0 else 0.0)
        y, z = fold.stage(end + 0.75 * picture.text)
        anchor = np.array([(middle, y, z) for _, _, middle in kept], np.float32)
        n = len(kept)
        labels.append(
            Labels(
                "annotation", tuple(note.text for note, _, _ in kept), anchor, np.full(n, height, np.float32),
                np.full(n, np.inf, np.float32), np.array([1e6 + k[0].weight for k in kept], np.float32),
                up=fold.stage_up,
            )
        )  # fmt: skip
        path, stops = [], [0]
        for note, x, middle in kept:
            bar = int(line.bars_at(np.array([(note.start + note.end) // 2]))[0])
            tops = max(float(other.total.max(initial=0)) for other in lines)
            length = OVERVIEW * float(line.total[bar]) / tops if tops > 0 else 0.0
            y0, y1, z0, z1 = fold.outward(picture.behind, np.array([length]), np.array([_TIP]))
            tip = float(y1[0] if fold.side > 0 else y0[0]), float(z0[0] if fold.off[2] < 0 else z1[0])
            foot = fold.stage(end + 0.75 * picture.text - 0.55 * height)
            path += [(x, *tip), (x, *_raised(fold.stage(end))), (middle, *_raised(foot))]
            stops.append(len(path))
        leads.append(
            Lines(
                "lead", np.array(path, np.float32), np.array(stops, np.int64),
                np.full(n, 1.3 / picture.pixels_per_unit, np.float32), np.full(n, ink, np.int32),
                np.arange(n, dtype=np.int64), source=wall.source,
            )
        )  # fmt: skip
    return labels, leads
