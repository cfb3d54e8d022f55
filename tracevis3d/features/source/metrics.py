"""What is known of lines of source: self time, calls, waits, allocations, and what a profile weighs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ... import units
from ...analysis.measures import calls_by_function, self_time_by_function
from ...errors import UsageError
from ...trace.model import ALLOC, WAIT, Trace
from ...trace.profile import bare_kind, weighed

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

#: Values of the parameters ``height`` and ``color``.
METRICS = {
    "auto": "of a profile what it weighs, else the self time, the bytes or the waits; colour: a second one",
    "time": "self time of the functions that begin there",
    "calls": "calls of the functions that begin there",
    "waits": "time that the line waits; where it isn't recorded, the function around the wait",
    "bytes": "bytes that the line allocates",
    "blocks": "how many blocks the line allocates",
    "coverage": "that it ran: the line of a sample, or the one where a called function begins",
    "weight": "what a profile weighs (samples, time, instructions, cache misses), of the line that ran",
}
#: What ``auto`` tries, in this order.
_HEIGHTS = ("weight", "time", "bytes", "waits")
_COLORS = ("weight", "calls", "blocks", "waits", "time")


@dataclass(frozen=True, eq=False)
class Items:
    """What a metric adds up, one row for each thing that is counted.

    Attributes
    ----------
    title : str
        What is counted, such as ``self time``.
    write : callable
        Writes a value with its unit.
    function : int64 (n,)
        -1: unknown.
    line : int64 (n,)
        0: unknown.
    weight : float64 (n,)
    """

    title: str
    write: Callable[[float], str]
    function: Ints
    line: Ints
    weight: Floats


def _first_lines(trace: Trace, function: Ints) -> Ints:
    """Return the lines where functions begin; 0 where that is unknown."""
    if not len(trace.functions):
        return np.zeros(len(function), np.int64)
    return np.where(function >= 0, trace.functions.line[np.maximum(function, 0)], 0).astype(np.int64)


def _of_functions(trace: Trace, title: str, write: Callable[[float], str], weight: Floats) -> Items:
    function = np.flatnonzero(weight)
    return Items(title, write, function, _first_lines(trace, function), weight[function])


def _of_stacks(trace: Trace, title: str, write: Callable[[float], str], stack: Ints, weight: Floats) -> Items:
    """Return what stacks weigh, each at the line that its innermost frame was at."""
    known = stack >= 0
    function = np.full(len(stack), -1, np.int64)
    line = np.zeros(len(stack), np.int64)
    function[known] = trace.stacks.function[stack[known]]
    line[known] = trace.stacks.line[stack[known]]
    return Items(title, write, function, np.where(line > 0, line, _first_lines(trace, function)), weight)


def _time(trace: Trace, _: int) -> Items:
    return _of_functions(trace, "self time", units.duration, self_time_by_function(trace))


def _calls(trace: Trace, _: int) -> Items:
    return _of_functions(trace, "calls", units.count, calls_by_function(trace).astype(np.float64))


def _waits(trace: Trace, _: int) -> Items:
    """Return waits, at the lines of the functions that call what waits; else where functions around begin."""
    sync, calls = trace.sync, trace.calls
    rows = np.flatnonzero((sync.kind == WAIT) & (sync.contended != 0) & (sync.call >= 0))
    line = sync.line[rows].astype(np.int64) if len(sync.line) else np.zeros(len(rows), np.int64)
    call = np.where(line > 0, calls.parent[sync.call[rows]], sync.call[rows])
    function = np.full(len(rows), -1, np.int64)
    function[call >= 0] = calls.function[call[call >= 0]]
    line = np.where(line > 0, line, _first_lines(trace, function))
    # Built-in functions, such as those of locks, are in no file.
    while len(lost := np.flatnonzero((line == 0) & (call >= 0))):
        call[lost] = calls.parent[call[lost]]
        function[lost] = np.where(call[lost] >= 0, calls.function[call[lost]], -1)
        line[lost] = _first_lines(trace, function[lost])
    return Items("waiting", units.duration, function, line, (sync.end - sync.start)[rows].astype(np.float64))


def _allocations(trace: Trace, title: str, write: Callable[[float], str], counts: bool) -> Items:
    memory = trace.memory
    rows = np.flatnonzero(memory.kind == ALLOC)
    weight = np.ones(len(rows)) if counts else memory.size[rows].astype(np.float64)
    if len(memory.stack):
        return _of_stacks(trace, title, write, memory.stack[rows].astype(np.int64), weight)
    call = memory.call[rows]
    function = np.full(len(rows), -1, np.int64)
    function[call >= 0] = trace.calls.function[call[call >= 0]]
    return Items(title, write, function, _first_lines(trace, function), weight)


def _bytes(trace: Trace, _: int) -> Items:
    return _allocations(trace, "bytes allocated", units.byte_size, counts=False)


def _blocks(trace: Trace, _: int) -> Items:
    return _allocations(trace, "blocks allocated", units.count, counts=True)


def _weight(trace: Trace, kind: int) -> Items:
    samples = trace.samples
    if not len(samples.stack):
        none = np.empty(0, np.int64)
        return Items("weight", units.count, none, none, np.empty(0))
    name = samples.kinds[kind]
    rows = np.flatnonzero(samples.kind == kind)
    stack, weight = samples.stack[rows].astype(np.int64), samples.weight[rows].astype(np.float64)
    return _of_stacks(trace, bare_kind(name), lambda value: weighed(name, value), stack, weight)


def _coverage(trace: Trace, _: int) -> Items:
    """Return each line that ran once: those of samples, and where called functions begin."""
    called = np.flatnonzero(calls_by_function(trace))
    function, line = called.astype(np.int64), _first_lines(trace, called)
    if len(stacks := trace.stacks) and len(trace.samples.stack):
        inner = np.unique(trace.samples.stack[trace.samples.stack >= 0]).astype(np.int64)
        # Whatever calls something runs, too.
        ran = np.zeros(len(stacks), np.bool_)
        ran[inner] = True
        while len(inner):
            inner = np.unique(stacks.parent[inner].astype(np.int64))
            inner = inner[inner >= 0]
            inner = inner[~ran[inner]]
            ran[inner] = True
        at = np.flatnonzero(ran)
        own = stacks.function[at].astype(np.int64)
        where = np.where(stacks.line[at] > 0, stacks.line[at], _first_lines(trace, own)).astype(np.int64)
        function, line = np.concatenate([function, own]), np.concatenate([line, where])
    file = _files(trace)[1][function]
    # Of functions that begin at one line the line counts once.
    _, first = np.unique(np.stack([file, line]), axis=1, return_index=True)
    title = "lines that ran" if len(trace.samples.stack) else "beginnings of functions that ran"
    return Items(title, units.count, function[first], line[first], np.ones(len(first)))


_OF = {
    "coverage": _coverage,
    "time": _time, "calls": _calls, "waits": _waits, "bytes": _bytes, "blocks": _blocks, "weight": _weight,
}  # fmt: skip


def chosen(trace: Trace, height: str, color: str, weighs: str) -> tuple[Items, Items]:
    """Return what height and colour show.

    Parameters
    ----------
    trace : Trace
    height, color : str
        Keys of :data:`METRICS`.
    weighs : str
        What of a profile they show: one or two names of what it weighs, separated by a comma.

    Returns
    -------
    (Items, Items)
        ``auto`` is replaced by the first that has something at a known line; it may have nothing.

    Raises
    ------
    UsageError
        If the profile weighs nothing of such a name.
    """
    first, second = _kinds(trace, weighs)
    of_height = _first_of(trace, (height,) if height != "auto" else _HEIGHTS, first)
    # The same colour everywhere would say nothing.
    others = [name for name in _COLORS if name != "calls" or not len(trace.samples)]
    tried = (color,) if color != "auto" else others
    if color == "auto" and second == first:
        tried = [name for name in tried if name != "weight"]
    of_color = _first_of(trace, tried, second)
    if color == "auto" and (not _known(of_color) or of_color.title == of_height.title):
        of_color = of_height
    return of_height, of_color


def _first_of(trace: Trace, names: tuple[str, ...] | list[str], kind: int) -> Items:
    for name in names:
        items = _OF[name](trace, kind)
        if _known(items):
            return items
    return _OF[names[0]](trace, kind)


def _known(items: Items) -> bool:
    return bool(items.weight[(items.line > 0) & (items.function >= 0)].any())


def _kinds(trace: Trace, weighs: str) -> tuple[int, int]:
    """Return which kinds of weights height and colour show."""
    kinds = [*trace.samples.kinds]
    words = [word.strip() for word in weighs.split(",") if word.strip()]
    found = []
    for word in words[:2]:
        named = [i for i, kind in enumerate(kinds) if word in (kind, bare_kind(kind))]
        if not named:
            what = ", ".join(map(bare_kind, kinds)) or "nothing: it is no profile"
            raise UsageError(f"weighs={weighs}: this trace has no {word}; it weighs {what}")
        found.append(named[0])
    first = found[0] if found else 0
    return first, found[1] if len(found) > 1 else (first if found or len(kinds) < 2 else 1)


@dataclass(frozen=True, eq=False)
class Lines:
    """Lines of source about which something is known, ordered by file and line.

    Attributes
    ----------
    files : tuple of str
        As recorded; a class or module where no file is.
    file : int64 (n,)
        Index into ``files``.
    line : int64 (n,)
        From 1.
    function : int64 (n,)
        The one with the largest share of the line's height.
    call : int64 (n,)
        The longest call of that function; -1: none.
    height, color : Items
        What they show.
    value, other : float64 (n,)
        The sums of height and colour.
    unplaced : float
        The share of the height at no known line.
    """

    files: tuple[str, ...]
    file: Ints
    line: Ints
    function: Ints
    call: Ints
    height: Items
    color: Items
    value: Floats
    other: Floats
    unplaced: float

    def __len__(self) -> int:
        return len(self.line)

    @property
    def differ(self) -> bool:
        """Whether some line has more than another, of those that have anything."""
        value = self.value[self.value > 0]
        return len(value) < 2 or bool(np.ptp(value) > 0)


def lines_of(trace: Trace, height: Items, color: Items) -> Lines:
    """Sum two metrics up by line.

    Parameters
    ----------
    trace : Trace
    height, color : Items

    Returns
    -------
    Lines
    """
    names, place = _files(trace)
    keys, placed = [], []
    for items in (height, color):
        file = np.full(len(items.function), -1, np.int64)
        file[items.function >= 0] = place[items.function[items.function >= 0]]
        known = np.flatnonzero((file >= 0) & (items.line > 0))
        placed.append(known)
        keys.append(file[known] << 32 | items.line[known])
    every, which = np.unique(np.concatenate(keys), return_inverse=True)
    of_height, of_color = which[: len(keys[0])], which[len(keys[0]) :]
    n = len(every)
    function = np.empty(n, np.int64)
    for items, known, of in ((color, placed[1], of_color), (height, placed[0], of_height)):
        # Of several at one line the heaviest is written last.
        order = np.argsort(items.weight[known], kind="stable")
        function[of[order]] = items.function[known[order]]
    call = longest_calls(trace)[function] if n else np.empty(0, np.int64)
    used, file = np.unique(every >> 32, return_inverse=True)
    total = float(height.weight.sum())
    value = _sums(of_height, height.weight[placed[0]], n)
    return Lines(
        tuple(names[i] for i in used.tolist()), file.astype(np.int64), every & 0xFFFFFFFF, function, call,
        height, color, value, _sums(of_color, color.weight[placed[1]], n),
        1.0 - float(value.sum()) / total if total > 0 else 0.0,
    )  # fmt: skip


def _sums(of: Ints, weight: Floats, n: int) -> Floats:
    return np.bincount(of, weight, n).astype(np.float64)


def _files(trace: Trace) -> tuple[list[str], Ints]:
    """Return names of files, and the file of each function; a class stands for its unknown file."""
    functions, n = trace.functions, len(trace.functions)
    file = functions.file.astype(np.int64) if len(functions.file) else np.full(n, -1, np.int64)
    container = functions.container.astype(np.int64) if len(functions.container) else np.full(n, -1, np.int64)
    instead = np.where(container >= 0, container + len(trace.files), -1)
    return [*trace.files, *trace.containers.name], np.where(file >= 0, file, instead)


def longest_calls(trace: Trace) -> Ints:
    """Return the longest call of each function, int64 (functions,); -1: none."""
    calls = trace.calls
    order = np.argsort(calls.end - calls.start, kind="stable")
    found = np.full(len(trace.functions), -1, np.int64)
    found[calls.function[order]] = order
    return found
