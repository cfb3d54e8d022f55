"""Bars of rounds and of their stages, the histogram at the end, and the texts around."""

from __future__ import annotations

import numpy as np

from .... import units
from ....drawing.builder import DrawingBuilder
from ....drawing.palettes import BASE, GRID, OTHER, PALETTES, parse
from ....drawing.primitives import Axis, Callout, Legend, LegendEntry, Marks, Meaning
from ....drawing.shorthand import boxes, lines
from ....layout.scales import Scale
from ....layout.ticks import rounds as round_values
from ....layout.ticks import time_ticks
from ....trace.names import lane_title
from ....views.time_window import WIDTH
from ..findings import Finding
from ..rounds import Floats, Ints, joined
from .layout import GAP, HISTOGRAM, PLATE, Layout

_HAIR = 0.012
_BINS = 24
#: Bars of rounds, quiet, and of a second run.
_ROUND = parse("c3cad4 8d99ab")
#: Distance by which stages stand out of their bar.
_OUT = 0.02
#: Share of a bar's height that its stages leave free at the foot, so that bars on each other stay distinct.
_RIM = 0.14
#: Stages with less than this share of the rounds' time have no colour of their own.
_LEAST = 0.005


class Stages:
    """The colours of stages: those with most time in all runs have one.

    Parameters
    ----------
    drawing : DrawingBuilder
        That the colours are added to.
    picture : Layout
    """

    def __init__(self, drawing: DrawingBuilder, picture: Layout) -> None:
        time: dict[str, float] = {}
        for run in picture.runs:
            lasted = (run.stage_end - run.stage_start).astype(np.float64)
            for name, sum_ in zip(run.names, np.bincount(run.stage, lasted, len(run.names)), strict=True):
                time[name] = time.get(name, 0.0) + float(sum_)
        kinds = PALETTES[picture.parameters.palette].kinds
        self._whole = sum(float(run.duration.sum()) for run in picture.runs)
        seen = [name for name in time if time[name] >= _LEAST * self._whole]
        names = sorted(seen, key=lambda name: -time[name])[: min(picture.parameters.entries, len(kinds))]
        first, self._other = drawing.color(kinds), drawing.color(OTHER)
        self._color = {name: first + i for i, name in enumerate(names)}
        self._time, self._rounds = time, drawing.color(_ROUND)

    def of(self, names: tuple[str, ...]) -> Ints:
        """Return the palette index of each stage."""
        return np.array([self._color.get(name, self._other) for name in names], np.int64)

    def round(self, run: int) -> int:
        """Return the palette index of a run's bars."""
        return self._rounds + run

    def legend(self, picture: Layout) -> Legend:
        """Return what the colours mean, with their shares of all rounds' time."""
        entries = [
            LegendEntry(f"{name}  {units.percentage(self._time[name] / max(self._whole, 1.0))}", color)
            for name, color in self._color.items()
        ]
        if len(self._time) > len(self._color):
            entries.append(LegendEntry(f"{len(self._time) - len(self._color):,} other", self._other))
        if len(picture.runs) > 1:
            entries += [
                LegendEntry(f"{word} run", self.round(i)) for i, word in enumerate(("first", "second"))
            ]
        else:
            entries.append(LegendEntry("itself", self.round(0)))
        return Legend("Stages", tuple(entries))


def bars(drawing: DrawingBuilder, picture: Layout, run: int, colors: Stages) -> None:
    """Add the bars of a run's rounds: one step higher each, further out the longer they take.

    Parameters
    ----------
    drawing : DrawingBuilder
    picture : Layout
    run : int
    colors : Stages
    """
    rounds, (low_time, high_time) = picture.runs[run], picture.windows[run]
    n = len(rounds)
    left, right = picture.x(run, rounds.start), picture.x(run, rounds.end)
    out = picture.out(rounds.duration)
    number = np.arange(n)
    low = np.stack([left, picture.back(run) - out, picture.z(run, number)], axis=1)
    size = np.stack([np.maximum(right - left, 1e-4), out, np.full(n, picture.bar)], axis=1)
    time = np.stack([left, right], axis=1).astype(np.float32) / WIDTH
    kind = "round" if run == 0 else "round of the second run"
    window = (int(low_time), int(high_time))
    drawing.add(boxes(kind, low, size, colors.round(run), source=run, time=time, window=window))
    median = float(np.median(rounds.duration))
    titles = tuple(lane_title(picture.traces[run], t) for t in range(len(picture.traces[run].threads))) or (
        "",
    )
    drawing.meaning[kind] = Meaning(
        calls=((run, rounds.call),) if (rounds.call >= 0).any() else (),
        texts=(
            ("round", tuple(f"{i + 1:,} of {n:,}" for i in range(n)), number),
            ("thread", titles, np.clip(rounds.thread, 0, len(titles) - 1)),
            (
                "times the median",
                tuple(f"{d / max(median, 1.0):.3g}" for d in rounds.duration.tolist()),
                number,
            ),
        ),
        values=(("lasts (ns)", rounds.duration),),
    )


def stages(
    drawing: DrawingBuilder, picture: Layout, run: int, colors: Stages, least: Floats | None = None
) -> None:
    """Add the stages of a run's rounds.

    Parameters
    ----------
    drawing : DrawingBuilder
    picture : Layout
    run : int
    colors : Stages
    least : float64 (m,) or None
        Nanoseconds below which gaps and stages are not shown, for each stage; None: those of the picture.
    """
    rounds, (low_time, high_time) = picture.runs[run], picture.windows[run]
    m = len(rounds.of)
    if not m:
        return
    if least is None:
        least = np.full(m, resolution_ns(picture, picture.pixels_per_unit))
    of_name = colors.of(rounds.names)
    first, stop = joined(rounds, of_name[rounds.stage], least)
    start, end = rounds.stage_start[first], np.maximum.reduceat(rounds.stage_end, first)
    wide = (end - start >= least[first]) & (end > low_time) & (start < high_time)
    first, stop, start, end = first[wide], stop[wide], start[wide], end[wide]
    if not len(first):
        return
    left, right, of = picture.x(run, start), picture.x(run, end), rounds.of[first]
    out = picture.out(rounds.duration)[of] + _OUT
    # A stage covers its bar in front and on top; it is a hair shorter, so that no faces coincide.
    hair = np.minimum(_OUT, right - left) / 20
    low = np.stack([left + hair, picture.back(run) - out, picture.z(run, of) + _RIM * picture.bar], axis=1)
    size = np.stack(
        [right - left - 2 * hair, out - hair, np.full(len(of), (1 - _RIM) * picture.bar + _OUT)], axis=1
    )
    time = np.stack([left, right], axis=1).astype(np.float32) / WIDTH
    kind = "stage" if run == 0 else "stage of the second run"
    color = of_name[rounds.stage[first]]
    window = (int(low_time), int(high_time))
    drawing.add(boxes(kind, low, size, color, source=run, time=time, window=window))
    every = np.arange(len(first))
    call = rounds.stage_call[first]
    drawing.meaning[kind] = Meaning(
        calls=((run, call),) if (call >= 0).any() else (),
        texts=(
            ("stage", rounds.names, rounds.stage[first]),
            ("round", tuple(f"{i + 1:,}" for i in of.tolist()), every),
        ),
        values=(
            ("calls", (stop - first).astype(np.float64)),
            ("lasts (ns)", (end - start).astype(np.float64)),
        ),
    )


def resolution_ns(picture: Layout, pixels_per_unit: float) -> float:
    """Return below which nanoseconds nothing is shown.

    Parameters
    ----------
    picture : Layout
    pixels_per_unit : float
        Pixels of a scene unit.

    Returns
    -------
    float
    """
    low, high = picture.windows[0]
    return picture.parameters.resolution * (high - low) / (WIDTH * max(pixels_per_unit, 1e-9))


def floor(drawing: DrawingBuilder, picture: Layout) -> Axis:
    """Add the ground and the wall behind, with a line for each tick of time; return the ruler of time.

    Parameters
    ----------
    drawing : DrawingBuilder
    picture : Layout

    Returns
    -------
    Axis
    """
    base, hair = drawing.color(BASE), drawing.color(GRID)
    back, front = picture.back(len(picture.runs) - 1) + 0.05, -picture.reach - PLATE
    low, size = [(0.0, front, -0.04)], [(WIDTH, back - front, 0.03)]
    drawing.add(boxes("floor", low, size, base))
    start, end = picture.windows[0]
    # Two runs have their own origins: times count from the first round.
    origin = start if len(picture.runs) > 1 else 0
    found = time_ticks(start - origin, end - origin, 11)
    at = tuple((t + origin - start) / (end - start) * WIDTH for t in found.at)
    title = found.titled()
    if origin or len(picture.runs) > 1:
        title += ", since the first round"
    points = [((x, back, -0.02), (x, back, picture.high)) for x in at]
    if points:
        drawing.add(lines("grid", points, _HAIR, hair))
    return Axis(
        (0.0, front, -0.04), (1.0, 0.0, 0.0), WIDTH, at, found.text,
        minor=tuple((t + origin - start) / (end - start) * WIDTH for t in found.minor), title=title,
        outward=(0.0, 0.0, -1.0), height=picture.text, window=(start, end) if not origin else None,
    )  # fmt: skip


def steps_ruler(picture: Layout) -> Axis:
    """Return the ruler of rounds, at the left end."""
    many = max(len(one) for one in picture.runs)
    at = [v for v in round_values(1, many, 8) if v >= 1 and v == round(v)] or [1.0]
    places = tuple((v - 0.5) * picture.step for v in at)
    return Axis(
        (-0.06, 0.0, 0.0), (0.0, 0.0, 1.0), picture.high, places, tuple(units.count(v) for v in at),
        title="round", outward=(-1.0, 0.0, 0.0), height=picture.text,
    )  # fmt: skip


def histogram(drawing: DrawingBuilder, picture: Layout, colors: Stages) -> Axis | None:
    """Add how many rounds last how long, as bars to the right at the end; return the ruler of durations.

    Parameters
    ----------
    drawing : DrawingBuilder
    picture : Layout
    colors : Stages

    Returns
    -------
    Axis or None
    """
    every = np.concatenate([run.duration for run in picture.runs])
    scale = Scale.over("log", np.maximum(every, 1.0))
    bins = min(_BINS, max(int(picture.high / (0.5 * picture.text)), 4))
    counts = [
        np.bincount(np.minimum((scale.place(run.duration) * bins).astype(np.int64), bins - 1), minlength=bins)
        for run in picture.runs
    ]
    most = max(int(one.max()) for one in counts)
    thick = picture.high / bins
    base = WIDTH + GAP
    for run, many in enumerate(counts):
        seen = np.flatnonzero(many)
        share = 0.9 / len(counts)
        low = np.stack(
            [
                np.full(len(seen), base),
                np.full(len(seen), picture.back(run) - PLATE),
                (seen + share * run) * thick,
            ],
            axis=1,
        )
        size = np.stack(
            [HISTOGRAM * many[seen] / most, np.full(len(seen), PLATE), np.full(len(seen), share * thick)],
            axis=1,
        )
        kind = "durations" if run == 0 else "durations of the second run"
        drawing.add(boxes(kind, low, size, colors.round(run), source=run))
        drawing.meaning[kind] = Meaning(values=(("rounds", many[seen].astype(np.float64)),))
    at, said = scale.ticks(units.duration, 5, apart=1.3 * picture.text / max(picture.high, 1e-6))
    return Axis(
        (base - 0.04, 0.0, 0.0), (0.0, 0.0, 1.0), picture.high, tuple(a * picture.high for a in at), said,
        outward=(-1.0, 0.0, 0.0), height=0.85 * picture.text,
    )  # fmt: skip


def marks(drawing: DrawingBuilder, picture: Layout, found: tuple[Finding, ...], mark: int) -> None:
    """Mark findings at their rounds.

    Parameters
    ----------
    drawing : DrawingBuilder
    picture : Layout
    found : tuple of Finding
        Of the last run.
    mark : int
        Palette index.
    """
    shown = [one for one in found if one.round >= 0]
    if not shown:
        return
    run = len(picture.runs) - 1
    rounds = picture.runs[run]
    which = np.array([one.round for one in shown])
    is_stall = np.array([one.short.startswith("stall") for one in shown])
    time = np.where(is_stall, rounds.start[which], rounds.end[which])
    out = picture.out(rounds.duration)[which]
    point = np.stack(
        [picture.x(run, time), picture.back(run) - out, picture.z(run, which) + picture.bar], axis=1
    )
    n, height = len(shown), picture.text
    size = np.full(n, 0.8 * height, np.float32)
    drawing.add(
        Marks("finding", "cone", point.astype(np.float32), size, np.full(n, mark, np.int32), np.arange(n))
    )
    for i, one in enumerate(shown):
        x, y, z = point[i].tolist()
        lasts = units.duration(int(rounds.duration[which[i]])) if one.short.startswith("round ") else ""
        drawing.point_out(Callout(one.short, lasts, (x, y, z + 0.5 * height), float(n - i), mark))
    drawing.meaning["finding"] = Meaning(
        texts=(("finding", tuple(one.sentence for one in shown), np.arange(n)),)
    )
