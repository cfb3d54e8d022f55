"""The colours: of calls by what they do with their time, of correspondences by the waiting thread."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ....drawing.palettes import PALETTES, Colors, Paint, cycle, parse
from ....drawing.primitives import Legend, LegendEntry
from ....drawing.selector import Selector
from ....views.calls.colors import coloring
from ..findings.finding import Finding
from ..rules import STATES
from ..waits import IO, WAIT, Waits
from .layout import Layout

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Indices = NDArray[np.int32]

# Sand, a quiet green, and Okabe and Ito's blue and vermilion: distinguished with any colour vision.
# Contention alone is loud.
_COMPUTING, _WAITING, _IO, _CONTENDED = parse("d3c7ae a3bfb2 0072b2 d55e00")
#: What threads that share a row do: contention, computing, I/O, other waits.
DOING = np.stack([_CONTENDED, _COMPUTING, _IO, _WAITING])
#: Of waits by :data:`..outcomes.KINDS_OF_WAITING`, with what a legend calls them.
_STATES = (
    ("contention: for what another holds", "d55e00"),
    ("idle: for work", "b9c6c4"),
    ("for a signal or result", "8fa3b5"),
    ("asleep", "cfc8d8"),
    ("timed out", "d9cf9c"),
    ("other contention", "d6bfae"),
)
_CONTENTION = STATES.index("contention")
#: What the legend of calls says of contention.
_HELD_UP = "contention: another holds it"
_BROWN, _GREEN, _RED = parse("c69c6d 1f9d3a d62728")
_STEPS = 7
#: Clusters get paler level by level, in so many steps.
_PALE = (0.72, 0.6, 0.5, 0.42, 0.36)
_START = 0.38
_GRAY = parse("9aa0a6")[0]
#: Of a picture about one call.
_ELSE, _LIT = parse("e4e4e8 1d1d22")
_SAME, _SHARING = parse("d62728 8c5a2b")


@dataclass(frozen=True, eq=False)
class CallColors:
    """Palette indices of calls and of clusters.

    Attributes
    ----------
    of : callable
        ``of(calls) -> int32``.
    pale : int32 (len(_PALE), colours)
        For each colour of calls its paler shades, level by level.
    dark : int32 (colours,)
        For each colour of calls that of its start.
    first : int
        The palette index of the first colour of calls.
    legends : tuple of Legend
        What the colours mean.
    doing : int32 (4,) or None
        Those of :data:`DOING`; None where colours of calls say something else.
    """

    of: Callable[[Ints], Indices]
    pale: Indices
    dark: Indices
    first: int
    legends: tuple[Legend, ...]
    doing: Indices | None = None

    def clusters(self, calls: Ints, level: Ints) -> Indices:
        """Return the colours of a cluster's bars: that of its longest call, paler with each level.

        Parameters
        ----------
        calls : int64 (n,)
            The clusters' longest calls.
        level : int64 (n,)
            From the cluster's top, from 0.

        Returns
        -------
        int32 (n,)
        """
        step = np.clip(level, 0, len(_PALE) - 1)
        return np.asarray(self.pale[step, self.of(calls) - self.first], np.int32)

    def starts(self, calls: Ints) -> Indices:
        """Return the colours of calls' start shading."""
        return np.asarray(self.dark[self.of(calls) - self.first], np.int32)


def color_calls(
    picture: Layout, paint: Paint, about: NDArray[np.bool_], finding: Finding | None = None
) -> CallColors:
    """Choose the colours of calls, by the parameter ``color``.

    Parameters
    ----------
    picture : Layout
    paint : Paint
        It gets the colours.
    about : bool (operations,)
        The waits that the picture is about: contention of others is not loud.
    finding : Finding or None, optional
        The one that the picture is about; a call that it is about alone is lit.

    Returns
    -------
    CallColors
    """
    p = picture.parameters
    by = p.color
    if by == "auto" and len(picture.waits.ops):
        by = "activity"
    if by == "activity" and p.finding and finding is not None and finding.kind == "outlier":
        colors, of, legends, by = *_by_function(picture.waits, finding.call), "function"
    elif by in ("activity", "printed"):
        colors, of, legends = _by_time(picture.waits, about, printed=by == "printed")
    else:
        rows = np.array([row.thread for row in picture.rows], np.int64)
        found = coloring(picture.trace, by, PALETTES[p.palette], len(PALETTES[p.palette].kinds), rows)
        colors, of = found.palette, found.of
        legends = (found.legend,) if found.legend is not None and by != "thread" else ()
    first = paint.add(colors)
    pale = np.empty((len(_PALE), len(colors)), np.int32)
    for i, share in enumerate(_PALE):
        lighter = colors.copy()
        lighter[:, 3] = share
        pale[i] = paint.add(lighter) + np.arange(len(colors))
    darker = colors.copy()
    darker[:, :3] *= 1.0 - _START
    dark = (paint.add(darker) + np.arange(len(colors))).astype(np.int32)
    legends = tuple(_with_shades(_moved(legend, first), first, [*pale, dark]) for legend in legends)
    doing = first + _STEPS * np.array([3, 0, 2, 1], np.int32) if by == "activity" else None
    return CallColors(lambda calls: (of(calls) + first).astype(np.int32), pale, dark, first, legends, doing)


def _moved(legend: Legend, by: int) -> Legend:
    ramp = (legend.ramp[0] + by, legend.ramp[1] + by) if legend.ramp else None
    entries = tuple(replace(e, color=e.color + by, stands_for=e.selector.moved(by)) for e in legend.entries)
    return Legend(legend.title, entries, ramp, legend.ramp_tick, legend.ramp_text)


def _with_shades(legend: Legend, first: int, shades: list[Indices]) -> Legend:
    """Return a legend whose entries also represent the paler and darker shades of their colours."""
    entries = []
    for e in legend.entries:
        colors = e.selector.colors
        more = [(int(s[a - first]), int(s[b - first])) for s in shades for a, b in colors]
        entries.append(replace(e, stands_for=replace(e.selector, colors=(*colors, *more))))
    return replace(legend, entries=tuple(entries))


def shares(waits: Waits, calls: Ints, times: tuple[Ints, Ints]) -> tuple[Floats, Floats]:
    """Return which shares of their durations calls wait and do I/O: dur^w / dur and dur^o / dur.

    Parameters
    ----------
    waits : Waits
    calls : int64 (n,)
        Their indices.
    times : (int64 (calls,), int64 (calls,))
        Nanoseconds that each call waits, and does I/O.

    Returns
    -------
    (float64 (n,), float64 (n,))
        0 to 1.
    """
    all_ = waits.trace.calls
    time = np.maximum(all_.end[calls] - all_.start[calls], 1)
    return times[0][calls] / time, times[1][calls] / time


def kinds(waited: Floats, transferred: Floats, printed: bool) -> tuple[Indices, Floats]:
    """Return what each call's colour means (0: computing, 1: waiting, 2: I/O), and its strength, 0 to 1.

    Printed (SyncTrace, section IV-B3): computing where there is neither waiting nor I/O, else I/O where the
    waiting is less than half of it, else waiting. The default: what takes most of the time; waiting and I/O
    of less than half of it still tint the call by their share.

    Parameters
    ----------
    waited : float64 (n,)
        Share of a call's time in which it waits.
    transferred : float64 (n,)
        Share in which it does I/O.
    printed : bool
        By the paper's rule.

    Returns
    -------
    (int32 (n,), float64 (n,))
    """
    if printed:
        kind = np.where(waited + transferred <= 0, 0, np.where(waited < 0.5 * transferred, 2, 1))
    else:
        kind = np.where(np.maximum(waited, transferred) < 0.01, 0, np.where(transferred > waited, 2, 1))
    strength = np.where(kind == 1, waited, np.where(kind == 2, transferred, 1.0))
    return kind.astype(np.int32), np.clip(strength, 0.0, 1.0)


def _by_time(
    waits: Waits, about: NDArray[np.bool_], printed: bool
) -> tuple[Colors, Callable[[Ints], Indices], tuple[Legend, ...]]:
    """Return colours by what calls do with their time."""
    base, *others = (_BROWN, _GREEN, _RED) if printed else (_COMPUTING, _WAITING, _IO, _CONTENDED)
    step = (np.arange(1, _STEPS + 1) / _STEPS)[:, None].astype(np.float32)
    colors = np.vstack([base[None], *(base + step * (other - base) for other in others)])
    times = (waits.time_in(WAIT), waits.time_in(IO))
    contended = np.zeros(0, np.int64) if printed else waits.time_in(WAIT, waits.ops.asks & about)

    def of(calls: Ints) -> Indices:
        kind, strength = kinds(*shares(waits, calls, times), printed)
        if not printed:
            # Most of its waiting is contention.
            kind = np.where((kind == 1) & (2 * contended[calls] >= times[0][calls]), 3, kind)
        place = np.clip(np.ceil(strength * _STEPS).astype(np.int32) - 1, 0, _STEPS - 1)
        return np.where(kind == 0, 0, 1 + (kind - 1) * _STEPS + place).astype(np.int32)

    entries = [LegendEntry("computes" if not printed else "neither waits nor transfers", 0)]
    if len(contended) and contended.max() > 0:
        held_up = Selector(((2 * _STEPS + 1, 3 * _STEPS),))
        entries.append(LegendEntry(_HELD_UP, 3 * _STEPS, stands_for=held_up))
    if len(times[0]) and times[0].max() > 0:
        half = (_STEPS + 1) // 2
        entries += [
            LegendEntry("waits half its time", half, stands_for=Selector(((1, half),))),
            LegendEntry(
                "waits" if printed else "other waits, or sleep",
                _STEPS,
                stands_for=Selector(((half + 1, _STEPS),)),
            ),
        ]
    if len(times[1]) and times[1].max() > 0:
        transfers = Selector(((_STEPS + 1, 2 * _STEPS),))
        entries.append(LegendEntry("reads or writes (I/O)", 2 * _STEPS, stands_for=transfers))
    return colors.astype(np.float32), of, (Legend("Calls", tuple(entries)),)


def _by_function(waits: Waits, call: int) -> tuple[Colors, Callable[[Ints], Indices], tuple[Legend, ...]]:
    """Return colours that tell one call from the others of its function, and these from all else."""
    functions, calls = waits.trace.functions, waits.trace.calls
    name = functions.label[calls.function[call]]

    def of(which: Ints) -> Indices:
        same = calls.function[which] == calls.function[call]
        return np.where(which == call, 2, same).astype(np.int32)

    texts = "other calls", f"other calls of {name}", f"this call of {name}"
    entries = tuple(LegendEntry(text, i) for i, text in reversed([*enumerate(texts)]))
    return np.stack([_ELSE, _COMPUTING, _LIT]), of, (Legend("Calls", entries),)


def thread_colors(picture: Layout, paint: Paint) -> Indices:
    """Return a palette index for each row: no two neighbours are alike, nor the last and the first.

    Where waits are coloured by what they are for, threads are grey: they share no colour with them.

    Parameters
    ----------
    picture : Layout
    paint : Paint
        It gets the colours.

    Returns
    -------
    int32 (rows,)
    """
    if picture.parameters.waits == "state":
        return np.full(len(picture.rows), paint.add(_GRAY[None]), np.int32)
    palette = PALETTES[picture.parameters.palette].kinds
    first = paint.add(palette)
    return (first + cycle(len(picture.rows), len(palette))).astype(np.int32)


def state_colors(
    picture: Layout, paint: Paint, rows: Ints, about: NDArray[np.bool_]
) -> tuple[Indices, Legend]:
    """Return the colours of waits (rows of the operations) by what they wait for, and their legend.

    Parameters
    ----------
    picture : Layout
    paint : Paint
        It gets the colours.
    rows : int64 (n,)
        Waits, as rows of the operations.
    about : bool (operations,)
        As :func:`color_calls` takes it.

    Returns
    -------
    (int32 (n,), Legend)
    """
    state = picture.waits.outcomes.state[rows]
    state = np.where((state == _CONTENTION) & ~about[rows], len(_STATES) - 1, state)
    first = paint.add(np.vstack([parse(color) for _, color in _STATES]))
    entries = tuple(
        LegendEntry(
            text,
            first + i,
            stands_for=Selector(kinds=("correspondence",), ids=tuple(rows[state == i].tolist())),
        )
        for i, (text, _) in enumerate(_STATES)
        if (state == i).any()
    )
    return (first + state).astype(np.int32), Legend("Waits", tuple(entries))


def said_once(calls: tuple[Legend, ...], waits: Legend) -> tuple[Legend, ...]:
    """Return the legends of calls and waits without the contention that both have: one entry is about both.

    Parameters
    ----------
    calls : tuple of Legend
    waits : Legend
        As :func:`state_colors` returns it.

    Returns
    -------
    tuple of Legend
    """
    loud = next((e for e in waits.entries if e.text == _STATES[_CONTENTION][0]), None)
    of_calls = [e for legend in calls for e in legend.entries if e.text == _HELD_UP]
    if loud is None or not of_calls:
        return (*calls, waits)
    # In the waits' colour: nothing else has it.
    both = replace(
        of_calls[0],
        stands_for=Selector(colors=(*of_calls[0].selector.colors, (loud.color, loud.color))),
    )
    acting = (replace(c, entries=tuple(both if e is of_calls[0] else e for e in c.entries)) for c in calls)
    return (*acting, replace(waits, entries=tuple(e for e in waits.entries if e is not loud)))


def object_colors(
    picture: Layout, paint: Paint, rows: Ints, highlighted: str
) -> tuple[Indices, list[int], tuple[Legend, ...]]:
    """Return the colours of waits (rows of the operations) by their objects, and the objects that have one.

    Objects that several threads wait for get colours, those that are waited for longest first; the others
    are grey. With ``highlighted`` (an object's name): red for waits for just that object, brown where it is
    one of several, grey else.

    Parameters
    ----------
    picture : Layout
    paint : Paint
        It gets the colours.
    rows : int64 (n,)
        Waits, as rows of the operations.
    highlighted : str
        Empty: none.

    Returns
    -------
    (int32 (n,), list of int, tuple of Legend)
    """
    ops, palette = picture.waits.ops, PALETTES[picture.parameters.palette].kinds
    gray = paint.add(_GRAY[None])
    some = np.diff(ops.first)[rows] > 0
    object = np.where(some, np.append(ops.object, 0)[ops.first[rows]], -1)
    blocked, of = ops.per_object(np.flatnonzero(ops.blocked))
    pairs = np.unique(np.stack([of.astype(np.int64), ops.thread[blocked]]), axis=1)
    waiting = np.bincount(pairs[0], minlength=len(ops.objects))
    if highlighted:
        same, sharing = paint.add(_SAME[None]), paint.add(_SHARING[None])
        names = [ops.of(row) for row in rows.tolist()]
        color = [same if n == [highlighted] else sharing if highlighted in n else gray for n in names]
        entries = (
            LegendEntry(f"waits for {highlighted}", same),
            LegendEntry("waits for it and others", sharing),
            LegendEntry("waits for something else", gray),
        )
        shown = [i for i, name in enumerate(ops.objects) if name == highlighted]
        return np.array(color, np.int32), shown, (Legend("Waits", entries),)
    waited = np.bincount(of, ops.lasted[blocked], len(ops.objects)) * (waiting >= 2)
    chosen = [o for o in np.argsort(-waited, kind="stable")[: len(palette)].tolist() if waited[o] > 0]
    first = paint.add(palette)
    table = np.full(len(ops.objects) + 1, gray, np.int32)
    table[chosen] = first + np.arange(len(chosen))
    lines = [
        LegendEntry(f"{ops.objects[o]} ({int(waiting[o])} threads)", first + i) for i, o in enumerate(chosen)
    ]
    lines.append(LegendEntry("others, mostly of one thread", gray))
    return table[object], chosen, (Legend("Object waited for", tuple(lines)),)
