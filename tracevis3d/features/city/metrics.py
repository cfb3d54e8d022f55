"""The parts of a program with their measures, and the calls between them."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ... import units
from ...analysis.measures import self_time_of
from ...errors import not_recorded
from ...trace import profile
from ...trace.model import ALLOC, CONTAINER_KINDS, WAIT, Trace

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

#: In names of paths and libraries, such as ``libc.so.6``, points separate no packages.
_NO_PACKAGES = re.compile(r"/|\.\d|\.(?:so|dll|dylib|exe)$")
#: Measures of a part.
METRICS = {
    "self": "its self time",
    "calls": "calls of its functions",
    "functions": "how many of its functions are called",
    "callers": "how many other parts call it",
    "callees": "how many other parts it calls",
    "waits": "time that its calls wait",
    "bytes": "bytes allocated in its calls, as far as they are recorded with a call",
    "age": "when it is called first",
    "none": "nothing: all are alike",
}
#: Those that add up over time.
ADDITIVE = ("self", "calls", "waits", "bytes")
#: Kinds of buildings.
KINDS = {
    "auto": "classes where several are recorded, else functions",
    "class": "classes, and modules for functions outside of classes",
    "module": "modules (or files, or categories)",
    "function": "functions, in districts of the class or module that they are in",
    "file": "source files, in districts of their folders",
}


@dataclass(frozen=True, eq=False)
class Parts:
    """The parts of a program that are called.

    Attributes
    ----------
    what : str
        What they are, in the singular.
    path : tuple of tuple of str
        Of each: the districts that it lies in, outermost first, and its own name.
    of_function : int64 (functions,)
        -1: not called.
    """

    what: str
    path: tuple[tuple[str, ...], ...]
    of_function: Ints

    def name(self, part: int) -> str:
        """Return the full name of a part."""
        return ".".join(self.path[part])


def parts_of(trace: Trace, kind: str) -> Parts:
    """Return the parts of a trace.

    Parameters
    ----------
    trace : Trace
    kind : str
        A key of :data:`KINDS`.

    Returns
    -------
    Parts

    Raises
    ------
    InputError
        If there are no calls.
    """
    if not len(trace.calls):
        raise not_recorded(trace.source.path, "calls")
    called = np.unique(trace.calls.function).tolist()
    if kind == "auto":
        containers = {int(trace.functions.container[f]) for f in called}
        kind = "class" if len(containers - {-1}) >= 3 else "function"
    path_of = {"file": _file_path, "function": _function_path}.get(kind)
    chains: dict[int, tuple[str, ...]] = {}
    number: dict[tuple[str, ...], int] = {}
    of_function = np.full(len(trace.functions), -1, np.int64)
    for function in called:
        path = path_of(trace, function, chains) if path_of else _container_path(trace, function, kind, chains)
        of_function[function] = number.setdefault(path, len(number))
    return Parts(kind, tuple(number), of_function)


def _chain(trace: Trace, container: int, chains: dict[int, tuple[str, ...]]) -> tuple[str, ...]:
    """Return the names around and of a container; names that repeat their container's are cut."""
    if container < 0:
        return ()
    if container not in chains:
        parent = int(trace.containers.parent[container])
        outer, name = _chain(trace, parent, chains), trace.containers.name[container]
        inside = ".".join(outer)
        kind = CONTAINER_KINDS[int(trace.containers.kind[container])]
        # A file's name begins as its package's by chance: main.go of main.
        own = name.removeprefix(f"{inside}.") if inside and kind != "file" else name
        splits = kind in ("package", "module")
        is_whole = not splits or _NO_PACKAGES.search(own)
        words = (own or "(unnamed)",) if is_whole else tuple(filter(None, own.split(".")))
        # Some formats record a module in a package of its own name.
        chains[container] = outer if splits and outer and words == outer[-1:] else outer + words
    return chains[container]


def _container_path(
    trace: Trace, function: int, kind: str, chains: dict[int, tuple[str, ...]]
) -> tuple[str, ...]:
    container = int(trace.functions.container[function])
    if kind == "module":
        is_class = CONTAINER_KINDS.index("class")
        while container >= 0 and trace.containers.kind[container] == is_class:
            parent = int(trace.containers.parent[container])
            if parent < 0:
                break
            container = parent
    return _chain(trace, container, chains) or (f"(no {kind})",)


def _function_path(trace: Trace, function: int, chains: dict[int, tuple[str, ...]]) -> tuple[str, ...]:
    label = trace.functions.label[function]
    return (*_chain(trace, int(trace.functions.container[function]), chains), label or "(unnamed)")


def _file_path(trace: Trace, function: int, _: dict[int, tuple[str, ...]]) -> tuple[str, ...]:
    file = int(trace.functions.file[function]) if len(trace.functions.file) else -1
    if file < 0:
        return ("(no file)",)
    return tuple(filter(None, trace.files[file].replace("\\", "/").split("/"))) or ("(no file)",)


def measured(trace: Trace, parts: Parts, metric: str) -> Floats:
    """Return a measure of each part.

    Parameters
    ----------
    trace : Trace
    parts : Parts
    metric : str
        A key of :data:`METRICS`.

    Returns
    -------
    float64 (parts,)
    """
    calls, n = trace.calls, len(parts.path)
    of_call = parts.of_function[calls.function]
    if metric == "functions":
        return np.bincount(parts.of_function[parts.of_function >= 0], minlength=n).astype(np.float64)
    if metric in ("callers", "callees"):
        source, target, _ = links(trace, parts)
        return np.bincount(target if metric == "callers" else source, minlength=n).astype(np.float64)
    if metric == "age":
        first = np.full(n, np.iinfo(np.int64).max)
        np.minimum.at(first, of_call, calls.start)
        return first.astype(np.float64)
    if metric == "none":
        return np.ones(n)
    which, weight, _ = items(trace, metric)
    return np.bincount(of_call[which], weight, n).astype(np.float64)


def items(trace: Trace, metric: str) -> tuple[Ints, Floats, Ints]:
    """Return the items that an additive measure sums up: calls, their values, and their times.

    Parameters
    ----------
    trace : Trace
    metric : str
        One of :data:`ADDITIVE`.

    Returns
    -------
    (int64 (n,), float64 (n,), int64 (n,))
    """
    calls, sync, memory = trace.calls, trace.sync, trace.memory
    every = np.arange(len(calls), dtype=np.int64)
    if metric == "self":
        is_timed = len(trace.samples) and trace.samples.are_timed
        own = profile.own_weights(trace) if is_timed else self_time_of(trace).astype(np.float64)
        return every, own, calls.start
    if metric == "calls":
        return every, np.ones(len(calls)), calls.start
    if metric == "waits":
        rows = np.flatnonzero((sync.kind == WAIT) & (sync.contended != 0) & (sync.call >= 0))
        return sync.call[rows], (sync.end - sync.start)[rows].astype(np.float64), sync.start[rows]
    rows = np.flatnonzero((memory.kind == ALLOC) & (memory.call >= 0))
    return memory.call[rows], memory.size[rows].astype(np.float64), memory.time[rows]


def floors(trace: Trace, parts: Parts, metric: str, window: tuple[int, int], many: int) -> Floats:
    """Return an additive measure of each part in slices of time, float64 (parts, slices).

    Parameters
    ----------
    trace : Trace
    parts : Parts
    metric : str
        One of :data:`ADDITIVE`.
    window : (int, int)
        Nanoseconds; the end lies behind the start.
    many : int
        How many slices.

    Returns
    -------
    float64 (parts, slices)
        What begins in each.
    """
    which, weight, time = items(trace, metric)
    low, high = window
    slot = np.clip((time - low) * many // (high - low), 0, many - 1)
    of = parts.of_function[trace.calls.function[which]]
    return np.bincount(of * many + slot, weight, len(parts.path) * many).reshape(-1, many).astype(np.float64)


def links(trace: Trace, parts: Parts, window: tuple[int, int] | None = None) -> tuple[Ints, Ints, Ints]:
    """Return which part calls which other, and how often.

    Parameters
    ----------
    trace : Trace
    parts : Parts
    window : (int, int), optional
        Nanoseconds: only calls that begin in it.

    Returns
    -------
    (int64 (n,), int64 (n,), int64 (n,))
        Callers, callees and numbers of calls; each pair once.
    """
    calls, n = trace.calls, len(parts.path)
    counts = calls.parent >= 0
    if window is not None:
        counts &= (calls.start >= window[0]) & (calls.start < window[1])
    inner = np.flatnonzero(counts)
    source = parts.of_function[calls.function[calls.parent[inner]]]
    target = parts.of_function[calls.function[inner]]
    other = source != target
    pair, many = np.unique(source[other] * n + target[other], return_counts=True)
    return pair // n, pair % n, many.astype(np.int64)


def longest_calls(trace: Trace, parts: Parts) -> Ints:
    """Return the call of each part with the most self time.

    Parameters
    ----------
    trace : Trace
    parts : Parts

    Returns
    -------
    int64 (parts,)
    """
    own = self_time_of(trace)
    order = np.argsort(own, kind="stable")
    found = np.full(len(parts.path), -1, np.int64)
    found[parts.of_function[trace.calls.function[order]]] = order
    return found


def writer(metric: str, trace: Trace | None = None) -> Callable[[float], str]:
    """Return how values of a measure are written.

    Parameters
    ----------
    metric : str
        A key of :data:`METRICS`.
    trace : Trace, optional
        What is measured: self times of a profile without times are weights.

    Returns
    -------
    callable
    """
    if metric == "self" and trace is not None and len(trace.samples):
        if trace.samples.are_timed:
            return partial(profile.weighed, trace.samples.kinds[0])
        return partial(profile.length_text, trace)
    if metric in ("self", "waits", "age"):
        return units.duration
    return units.byte_size if metric == "bytes" else units.count


def name_of(metric: str, trace: Trace) -> str:
    """Return the name of a measure in pictures of a trace.

    Parameters
    ----------
    metric : str
        A key of :data:`METRICS`.
    trace : Trace

    Returns
    -------
    str
        Such as ``self time``; of a profile what it weighs, such as ``samples``.
    """
    kind = profile.bare_kind(next(iter(profile.totals(trace)), "")) if metric == "self" else ""
    if kind not in ("", "time"):
        return kind
    if profile.below_word(profile.untimed_kind(trace)) == "keeps":
        return NAMES[metric].replace("call", "keep").replace("functions", "classes")
    return NAMES[metric]


#: Names of measures in pictures.
NAMES = {
    "self": "self time",
    "calls": "calls",
    "functions": "functions",
    "callers": "parts that call it",
    "callees": "parts that it calls",
    "waits": "waiting",
    "bytes": "bytes allocated",
    "age": "first called at",
    "none": "nothing",
}
