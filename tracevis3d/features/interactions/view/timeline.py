"""The time axis beside the drum: its ruler, and the phases with their descriptions."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .... import units
from ....drawing.primitives import Axis, Boxes, Labels, Legend, LegendEntry, Lines, Stretch
from ....drawing.selector import Selector
from ....layout import ticks
from ..phases import characteristic, describe, letter, phase_runs
from . import thread_rows
from .layout import Drum, Floats, Layout
from .parameters import Parameters

_STRIP = 0.5
_STEP, _GAP = 0.24, 0.05
_HAIR = 0.034
#: Height of the bars of repeats, and of the gap below them.
_BAR = 0.14
#: Kinds of phases that the legend names, at most.
_NAMED = 4
#: Steps that recur in a row have a brace if they take this share of the axis.
_LEAST_BRACE = 0.1
#: Height of a brace's teeth.
_TOOTH = 0.16


def foot(picture: Layout) -> float:
    """Return how far below the drums (or to the left, where time goes down) the timeline begins."""
    s = np.linspace(0, 1, 129)
    lowest = np.inf
    for drum in picture.drums:
        across = np.array([1.0, 0, 0]) if drum.bend.time[2] else np.array([0, 0, 1.0])
        lowest = min(lowest, float((drum.bend.mantle(s, np.zeros(129)) @ across).min()))
    return lowest - 0.45


def front(drum: Drum) -> float:
    """Return how far from the reader the timeline lies: before all of the drum."""
    s = np.linspace(0, 1, 129)
    y = drum.bend.mantle(s, np.zeros(129))[:, 1]
    return float(y.min()) if drum.bend.unroll < 0.99 else -0.05


def kind_colors(picture: Layout, first: int, colors: int) -> NDArray[np.int32]:
    """Return the palette index of each kind of phase and step, int32 (kinds,).

    Those with most calls have colours of their own; of more kinds than colours the others share the last.

    Parameters
    ----------
    picture : Layout
    first : int
        Palette index of the first colour.
    colors : int
        How many there are.

    Returns
    -------
    int32 (kinds,)
    """
    calls = _calls_of_kinds(picture)
    color = np.full(len(calls), first + colors - 1, np.int32)
    own = np.sort(np.argsort(-calls, kind="stable")[: colors if len(calls) <= colors else colors - 1])
    color[own] = first + np.arange(len(own))
    return color


def _calls_of_kinds(picture: Layout) -> Floats:
    """Return the calls in phases of each kind, or in steps of kinds that no phase is of, float64 (kinds,)."""
    parts = [phases for drum in picture.drums for phases in (drum.phases, drum.steps)]
    kinds = max(part.kinds for part in parts)
    of_phases, of_steps = (
        np.sum([np.bincount(part.kind, np.diff(part.edge), kinds) for part in some], axis=0)
        for some in (parts[::2], parts[1::2])
    )
    # Any phase comes before any step.
    return np.asarray(np.where(of_phases > 0, of_phases + of_steps.sum(), of_steps), np.float64)


def legend(picture: Layout, color: NDArray[np.int32]) -> Legend | None:
    """Return the legend of the largest kinds of phases, in order of appearance; None if none are drawn.

    Parameters
    ----------
    picture : Layout
    color : int32 (kinds,)
        Palette index of each kind.

    Returns
    -------
    Legend or None
    """
    if all(len(drum.phases) < 2 or drum.bend.length <= 0 for drum in picture.drums):
        return None
    calls = _calls_of_kinds(picture)
    does = picture.phases_do()
    largest = sorted(sorted(does, key=lambda kind: -calls[kind])[:_NAMED])
    entries = tuple(
        LegendEntry(
            f"{letter(kind)}  {does[kind]}",
            int(color[kind]),
            stands_for=Selector(((int(color[kind]),) * 2,), kinds=("phase", "step")),
        )
        for kind in largest
    )
    title = f"Phases, {len(entries)} of {len(does)}" if len(entries) < len(does) else "Phases"
    return Legend(title, entries) if entries else None


def strips(
    picture: Layout, drum: Drum, kind_color: NDArray[np.int32], text: float
) -> tuple[list[Boxes], list[Labels]]:
    """Return the phases as a strip of boxes along time, the finer steps as a narrower one, with their names.

    Phases of one kind have one colour and letter.

    Parameters
    ----------
    picture : Layout
    drum : Drum
    kind_color : int32 (kinds,)
        Palette index of each kind.
    text : float
        Line height in scene units.

    Returns
    -------
    (list of Boxes, list of Labels)
    """
    if len(drum.phases) < 2 or drum.bend.length <= 0:
        return [], []
    below = foot(picture)
    boxes, labels = [], []
    for kind, phases, low, high in (
        ("phase", drum.phases, _STRIP, 0.0),
        ("step", drum.steps, _STRIP + 0.2, _STRIP + 0.05),
    ):
        edge = drum.at(phases.edge)
        if kind == "step" and len(phases) <= len(drum.phases):
            continue
        color = kind_color[phases.kind]
        position, size = _laid(drum, edge, below - low, below - high)
        size_in = np.maximum(
            size - np.where(np.arange(3) == int(np.argmax(np.abs(drum.bend.time))), 0.012, 0.0), 1e-3
        )
        time = np.clip(np.stack([edge[:-1], edge[1:]], axis=1), 0, 1)
        boxes.append(
            Boxes(kind, position.astype(np.float32), size_in.astype(np.float32), color.astype(np.int32),
                  np.arange(len(phases), dtype=np.int64), time.astype(np.float32), source=drum.source)
        )  # fmt: skip
        if kind == "phase" and not drum.bend.time[2]:
            labels.append(_phase_names(picture, drum, position, size, color, text))
    return boxes, labels


def stretches(drum: Drum, kind_color: NDArray[np.int32]) -> tuple[Stretch, ...]:
    """Return the phases as parts of the trace's time.

    Parameters
    ----------
    drum : Drum
    kind_color : int32 (kinds,)
        Palette index of each kind.

    Returns
    -------
    tuple of Stretch
    """
    edge, time = drum.phases.edge.tolist(), drum.found.time
    if len(drum.phases) < 2:
        return ()
    return tuple(
        Stretch(
            drum.source,
            int(time[low]),
            int(time[min(high, len(time) - 1)]),
            letter(kind),
            int(kind_color[kind]),
        )
        for low, high, kind in zip(edge, edge[1:], drum.phases.kind.tolist())
    )


def below_phases(picture: Layout, drum: Drum, text: float) -> float:
    """Return where the phases and their braces end, downwards (or to the left, where time goes down).

    Parameters
    ----------
    picture : Layout
    drum : Drum
    text : float
        Line height in scene units.

    Returns
    -------
    float
    """
    if len(drum.phases) < 2:
        return foot(picture) - 0.05
    return foot(picture) - _STRIP - _GAP - _STEP - 0.12 - (0.0 if drum.bend.time[2] else 1.25 * text)


def bars(picture: Layout, drum: Drum, edge: Floats, color: NDArray[np.int32]) -> Boxes | None:
    """Return bars above the phases at stretches (n, 2) of the time; None where the drum is flat.

    Parameters
    ----------
    picture : Layout
    drum : Drum
    edge : float64 (n, 2)
        Start and end, as shares of the time.
    color : int32 (n,)
        Of each bar.

    Returns
    -------
    Boxes or None
    """
    if drum.bend.length <= 0 or not len(edge):
        return None
    below = foot(picture) + _BAR
    laid = [_laid(drum, one, below, below + _BAR) for one in edge]
    position, size = (np.concatenate([each[i] for each in laid]) for i in (0, 1))
    time = np.clip(edge, 0, 1).astype(np.float32)
    return Boxes(
        "repeat", position.astype(np.float32), np.maximum(size, 1e-3).astype(np.float32), color,
        np.arange(len(edge), dtype=np.int64), time, source=drum.source,
    )  # fmt: skip


def _laid(drum: Drum, edge: Floats, low: float, high: float) -> tuple[Floats, Floats]:
    """Return corner and size of boxes between shares ``edge`` of the time, beside the drum."""
    bend, n = drum.bend, len(edge) - 1
    axis = int(np.argmax(np.abs(bend.time)))
    sign = bend.time[axis]
    a, b = (bend.origin[axis] + sign * bend.length * e for e in (edge[:-1], edge[1:]))
    position, size = np.empty((n, 3)), np.empty((n, 3))
    position[:, axis], size[:, axis] = np.minimum(a, b), np.abs(b - a)
    other = 2 if axis == 0 else 0
    position[:, other], size[:, other] = low, high - low
    position[:, 1], size[:, 1] = front(drum), 0.08
    return position, size


def _phase_names(
    picture: Layout, drum: Drum, position: Floats, size: Floats, color: NDArray[np.int32], text: float
) -> Labels:
    overall = drum.counts
    words = []
    does = picture.phases_do()
    for i in range(len(drum.phases)):
        if name := does.get(int(drum.phases.kind[i])):
            words.append(f"{letter(int(drum.phases.kind[i]))}  {name}")
            continue
        low, high = int(drum.phases.edge[i]), int(drum.phases.edge[i + 1])
        main = characteristic(drum.found, drum.found.counts(low, high), overall, 2)
        names = dict.fromkeys(describe(picture.hierarchy, drum.found, pair) for pair in main)
        words.append(f"{letter(int(drum.phases.kind[i]))}  {', '.join(names)}")
    anchor = position + size / 2
    anchor[:, 0] = position[:, 0] + 0.08
    anchor[:, 1] = position[:, 1] - 0.01
    height = np.full(len(words), min(text, 0.8 * _STRIP))
    room = np.maximum(size[:, 0] - 0.14, 0.0)
    # For a narrow one, only the letter.
    short = room < 5 * height
    words = [w.split(" ")[0] if s else w for w, s in zip(words, short.tolist(), strict=True)]
    return Labels(
        "phase", tuple(words), anchor.astype(np.float32), height.astype(np.float32), room.astype(np.float32),
        size[:, 0].astype(np.float32), -1, background=color.astype(np.int32),
    )  # fmt: skip


def recurring(
    picture: Layout, drum: Drum, color: int, text: float, hair: float = _HAIR
) -> tuple[Lines | None, Labels | None]:
    """Return a brace below rounds, and below steps that recur in a row, with how often they do.

    A brace has a tooth where each round begins.

    Parameters
    ----------
    picture : Layout
    drum : Drum
    color : int
        Index into the palette.
    text : float
        Line height in scene units.
    hair : float
        Width of its lines.

    Returns
    -------
    Lines or None, Labels or None
    """
    braces = [drum.at(rounds.edge) for rounds in drum.rounds]
    for run in phase_runs(drum.steps.kind):
        again = run.first + run.period * np.arange(run.times + 1)
        teeth = drum.at(drum.steps.edge[again])
        # Small ones are noise beside what the run is about.
        large = teeth[-1] - teeth[0] >= _LEAST_BRACE
        if large and not any(teeth[0] < other[-1] and other[0] < teeth[-1] for other in braces):
            braces.append(teeth)
    if drum.bend.time[2] or drum.bend.length <= 0 or not braces or len(drum.phases) < 2:
        return None, None
    below = foot(picture) - _STRIP - _GAP - _STEP - 0.12
    points: list[list[float]] = []
    first, words, anchors, room = [0], [], [], []
    for teeth in braces:
        position, size = _laid(drum, teeth, below, below)
        y = float(position[0, 1])
        x = np.append(position[:, 0], (position + size)[-1, 0])
        if drum.bend.time[0] < 0:
            x = np.append((position + size)[:, 0], position[-1, 0])
        x[0], x[-1] = x[0] + np.sign(x[-1] - x[0]) * 0.02, x[-1] - np.sign(x[-1] - x[0]) * 0.02
        for at in x.tolist():
            points += [[at, y, below], [at, y, below + _TOOTH], [at, y, below]]
        first.append(len(points))
        words.append(f"{len(teeth) - 1} ×")
        anchors.append([float(x[0] + x[-1]) / 2, y, below - 0.6 * text])
        room.append(abs(float(x[-1] - x[0])))
    n = len(words)
    lines = Lines(
        "recurring", np.array(points, np.float32), np.array(first, np.int64), np.full(n, hair, np.float32),
        np.full(n, color, np.int32), np.arange(n, dtype=np.int64), source=drum.source,
    )  # fmt: skip
    labels = Labels(
        "recurring", tuple(words), np.array(anchors, np.float32), np.full(n, 0.9 * text, np.float32),
        np.maximum(np.array(room, np.float32), 2 * text), np.array(room, np.float32) * 0.1, 0,
    )  # fmt: skip
    return lines, labels


def axis(picture: Layout, drum: Drum, p: Parameters, text: float) -> Axis | None:
    """Return the ruler of calls or of time; None where the drum is flat.

    Parameters
    ----------
    picture : Layout
    drum : Drum
    p : Parameters
        ``axis`` says what is counted.
    text : float
        Line height in scene units.

    Returns
    -------
    Axis or None
    """
    bend = drum.bend
    if bend.length <= 0:
        return None
    low, high = drum.low, drum.high
    if p.axis == "time":
        found = ticks.time_ticks(*drum.window, 9)
        span = max(drum.window[1] - drum.window[0], 1)
        at = [(t - drum.window[0]) / span for t in found.at]
        minor = [(t - drum.window[0]) / span for t in found.minor]
        words = found.text
        title = found.titled()
    else:
        values = ticks.rounds(0, high - low, 9)
        at = [v / max(high - low, 1) for v in values]
        minor, words = [], tuple(units.count(v) for v in values)
        title = f"{p.relation}, in order"
    along = int(np.argmax(np.abs(bend.time)))
    origin = list(bend.origin)
    depth = below_phases(picture, drum, text) - thread_rows.depth(picture, text)
    origin[2 if along == 0 else 0] = depth
    origin[1] = front(drum)
    outward = (0.0, 0.0, -1.0) if along == 0 else (-1.0, 0.0, 0.0)
    # A ruler whose direction is against x is laid from its other end.
    flip = bend.time[along] < 0 and along == 0
    if flip:
        origin[along] -= bend.length
        at, minor = [1 - t for t in at][::-1], [1 - t for t in minor][::-1]
        words = tuple(words)[::-1]
    direction = [0.0, 0.0, 0.0]
    direction[along] = abs(bend.time[along]) if flip else bend.time[along]
    return Axis(
        (origin[0], origin[1], origin[2]), (direction[0], direction[1], direction[2]), bend.length,
        tuple(t * bend.length for t in at), tuple(words), tuple(t * bend.length for t in minor), title,
        outward, text,
    )  # fmt: skip
