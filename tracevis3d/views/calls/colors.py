"""The colour of a call, and its legend."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ... import units
from ...analysis.measures import self_time_by_function, self_time_of
from ...analysis.subtrees import subtrees_of
from ...drawing.palettes import OTHER, Palette, cycle
from ...drawing.primitives import Legend, LegendEntry
from ...layout.scales import Scale
from ...trace import profile
from ...trace.cached_results import cached_with_trace
from ...trace.model import CONTAINER_KINDS, Trace
from ...trace.names import label_of_call
from .parts import named_containers

Colors = NDArray[np.float32]
Indices = NDArray[np.int32]

#: Values of a parameter ``color``.
COLORS = {
    "auto": "by module where modules are recorded, else by function",
    "module": "by module (or file, or category)",
    "package": "by outermost package",
    "function": "by function",
    "thread": "by thread",
    "self": "by self time, on a ramp",
    "subtree": "the repeated subtrees that take the most time, each as a whole",
    "none": "all alike",
}
_RAMP = 128


@dataclass(frozen=True, eq=False)
class Coloring:
    """Colours of calls.

    Attributes
    ----------
    palette : float32 (k, 4)
    of : callable
        ``of(calls) -> int32``: palette indices of calls (int64 indices into ``Trace.calls``).
    legend : Legend or None
    scale : Scale or None
        Of a ramp: where a value lies on the whole palette.
    """

    palette: Colors
    of: Callable[[NDArray[np.int64]], Indices]
    legend: Legend | None
    scale: Scale | None = None


def coloring(
    trace: Trace,
    by: str,
    palette: Palette,
    entries: int,
    threads: NDArray[np.int64],
    drawn: NDArray[np.int64] | None = None,
) -> Coloring:
    """Return how calls are coloured.

    Parameters
    ----------
    trace : Trace
    by : str
        A key of :data:`COLORS`.
    palette : Palette
    entries : int
        The most colours of kinds; those with less self time are grey and ``other`` in the legend.
    threads : int64 (k,)
        The lanes that are drawn, in order: neighbours never get the same colour.
    drawn : int64 (k,), optional
        The calls in the picture, where they are few: the legend names no kind that none of them is of.

    Returns
    -------
    Coloring
        With the colours, the function that picks among them for call ids, and the legend. It depends on the
        whole trace alone: a module has the same colour in all views, windows and cuts.
    """
    entries = min(entries, len(palette.kinds))
    if by == "none":
        one = np.stack([palette.kinds[0]])
        return Coloring(one, lambda ids: np.zeros(len(ids), np.int32), None)
    if by == "thread":
        return _by_thread(trace, palette, threads)
    if by == "self":
        return _by_self(trace, palette)
    if by == "subtree":
        return _by_subtree(trace, palette, entries)
    if by == "auto":
        by = "module" if _has_modules(trace) else "function"
    if by == "function":
        kind_of_function = np.arange(len(trace.functions), dtype=np.int64)
        names: Callable[[int], str] = trace.functions.label.__getitem__
    else:
        kind_of_function, names = named_containers(trace, by == "package")
    return _by_kind(trace, by, kind_of_function, names, palette, entries, drawn)


def _has_modules(trace: Trace) -> bool:
    """Return whether at least two modules have a share of the self time that is worth a colour."""
    kind, _ = named_containers(trace, False)
    own = self_time_by_function(trace)
    known = np.bincount(kind[kind >= 0], own[kind >= 0])
    return bool(np.count_nonzero(known > 0.02 * own.sum()) >= 2)


def _by_kind(
    trace: Trace,
    by: str,
    kind: NDArray[np.int64],
    names: Callable[[int], str],
    palette: Palette,
    entries: int,
    drawn: NDArray[np.int64] | None,
) -> Coloring:
    """Colour the kinds of functions with most self time; ``kind`` (functions,) is -1 for none."""
    has = kind >= 0
    kinds = int(kind.max(initial=-1)) + 1
    own = np.bincount(kind[has], self_time_by_function(trace)[has], kinds)
    order = np.argsort(-own, kind="stable")[:entries]
    order = order[own[order] > 0]
    color_of_kind = np.full(kinds + 1, len(order), np.int32)  # the last place is for kind -1
    color_of_kind[order] = np.arange(len(order))
    table = color_of_kind[kind]
    total = max(float(self_time_by_function(trace).sum()), 1.0)
    there = np.arange(len(order))
    if drawn is not None:
        there = there[np.isin(there, table[trace.calls.function[drawn]])]
    lines = [
        LegendEntry(f"{names(int(order[i]))}  {units.percentage(own[order[i]] / total)}", i)
        for i in there.tolist()
    ]
    rest = int(np.count_nonzero(own > 0)) - len(there)
    if rest > 0 or not has.all() or not lines:
        other = (total - float(own[order[there]].sum())) / total
        lines.append(
            LegendEntry(
                f"{f'{rest:,} other' if rest > 0 else 'other'}  {units.percentage(other)}", len(order)
            )
        )
    title = by.capitalize()
    if by == "module" and len(order):
        inside = trace.containers.kind[order]
        title = CONTAINER_KINDS[int(np.bincount(inside).argmax())].capitalize()
    title += f", self {profile.length_word(trace)}"
    colors = np.vstack([palette.kinds[: len(order)], OTHER[None]])
    functions = trace.calls.function
    return Coloring(colors, lambda ids: table[functions[ids]], Legend(title, tuple(lines)))


def _by_thread(trace: Trace, palette: Palette, threads: NDArray[np.int64]) -> Coloring:
    table = np.zeros(len(trace.threads), np.int32)
    table[threads] = cycle(len(threads), len(palette.kinds))
    calls = trace.calls
    lines = [LegendEntry(trace.threads.title(int(t)), int(table[t])) for t in threads[: len(palette.kinds)]]
    more = len(threads) - len(lines)
    title = "Thread" if more <= 0 else f"Thread (colours repeat for {more:,} more)"
    return Coloring(palette.kinds, lambda ids: table[calls.thread[ids]], Legend(title, tuple(lines)))


def _by_self(trace: Trace, palette: Palette) -> Coloring:
    # In what lengths are: the least is one of it, such as a sample.
    self_time, per_ns = self_time_of(trace), profile.length_per_ns(trace)
    scale = Scale.over("log", np.array([1.0, max(float(self_time.max(initial=0)) * per_ns, 10.0)]))
    at, texts = scale.ticks(partial(profile.weighed, profile.length_kind(trace) or "time (ns)"), 5)
    legend = Legend(f"Self {profile.length_word(trace)}", ramp=(0, _RAMP - 1), ramp_tick=at, ramp_text=texts)

    def of(ids: NDArray[np.int64]) -> Indices:
        return np.asarray(np.rint(scale.place(self_time[ids] * per_ns) * (_RAMP - 1)), np.int32)

    return Coloring(palette.ramp(_RAMP), of, legend, scale)


def _by_subtree(trace: Trace, palette: Palette, entries: int) -> Coloring:
    call, pick = top_repeats(trace, entries)
    lines = []
    occurrences = np.bincount(pick[pick >= 0], minlength=len(call)) // np.maximum(trace.calls.extent[call], 1)
    for i, c in enumerate(call):
        label = label_of_call(trace, c)
        size = int(trace.calls.extent[c])
        lines.append(LegendEntry(f"{label}  × {occurrences[i]:,} ({units.counted(size, 'call')})", i))
    lines.append(LegendEntry("everything else", len(call)))

    def of(ids: NDArray[np.int64]) -> Indices:
        found = pick[ids]
        return np.where(found < 0, np.int32(len(call)), found)

    colors = np.vstack([palette.kinds[: len(call)], OTHER[None]])
    return Coloring(colors, of, Legend("Repeated subtrees", tuple(lines)))


@cached_with_trace()
def top_repeats(trace: Trace, most: int) -> tuple[NDArray[np.int64], Indices]:
    """Find the distinct subtrees that occur more than once and together take most time, none within another.

    Each next one is chosen among the calls that no earlier one covers, by the sum of the durations of its
    calls there.

    Parameters
    ----------
    trace : Trace
    most : int
        How many are wanted.

    Returns
    -------
    call : int64 (k,)
        A call of each, ``k <= most``.
    pick : int32 (n,)
        Which of them each call lies in; -1: none.
    """
    calls = trace.calls
    subtrees = subtrees_of(trace)
    of_call = subtrees.of_call
    pick = np.full(len(calls), -1, np.int32)
    length = (calls.end - calls.start).astype(np.float64)
    repeated = subtrees.occurrences > 1
    length[~repeated[of_call]] = 0.0
    chosen: list[int] = []
    for i in range(most):
        time = np.bincount(of_call, length, len(subtrees))
        best = int(time.argmax()) if len(time) else 0
        if not len(time) or time[best] <= 0:
            break
        roots = np.flatnonzero((of_call == best) & (pick < 0))
        step = np.zeros(len(calls) + 1, np.int32)
        step[roots] += 1
        step[roots + calls.extent[roots]] -= 1
        inside = np.cumsum(step[:-1]) > 0
        pick[inside] = i
        length[inside] = 0.0
        chosen.append(int(roots[0]))
    return np.array(chosen, np.int64), pick
