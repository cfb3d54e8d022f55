"""V8's profiles: ``.cpuprofile`` (``node --cpu-prof``, Chromium's panels), ``.heapprofile``.

Source: https://chromedevtools.github.io/devtools-protocol/v8/Profiler/#type-Profile and .../HeapProfiler/
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...kernels.formats.lay.samples import take_in_turn
from ...progress import Progress
from .. import registry
from ..distinct import distinct
from ..text import utf8
from .documents import (
    add_function,
    fields_of,
    items_of,
    numbers_of,
    read_profile,
    text_of,
    whole_of,
    with_columns,
)
from .samples import FrameTree, add_timed, add_weighed

if TYPE_CHECKING:
    from ...trace.model import Trace
    from ...trace.recording import Recording

_CPU = re.compile(rb'"callFrame"\s*:\s*\{')
_ROOT, _IDLE, _COLLECTOR = "(root)", "(idle)", "(garbage collector)"
_NS = 1000
#: Long lists of whole numbers.
_LISTS = ("samples", "timeDeltas", "timestamps")


def sniff(head: bytes, name: str) -> float:
    """Say how sure it is that JSON is a profile of V8's.

    Parameters
    ----------
    head : bytes
        The first bytes, unpacked.
    name : str
        The file's, in lower case.

    Returns
    -------
    float
        How sure it is, 0 to 1.
    """
    text = bytes(utf8(head)).lstrip()
    if not text.startswith(b"{") or b'"traceEvents"' in text:
        return registry.NO
    if re.match(rb'\{\s*"(?:nodes|head)"\s*:', text) and (_CPU.search(text) or b'"functionName"' in text):
        return registry.SURE
    if _CPU.search(text) and any(key in text for key in (b'"timeDeltas"', b'"selfSize"', b'"hitCount"')):
        return registry.LIKELY
    return registry.NO


def read(path: Path, progress: Progress) -> Trace:
    """Read a profile of V8's.

    A sample lasts until the next. Idle samples are gaps; the garbage collector runs inside of what it
    interrupts. Lines that V8 counts are kept with the samples of their function.

    Parameters
    ----------
    path : Path
        The file.
    progress : Progress

    Returns
    -------
    Trace

    Raises
    ------
    InputError
        If it is not JSON or holds no samples.
    """
    return read_profile(path, _take, "V8 profile", progress, lambda text: with_columns(text, _LISTS))


def _take(value: Any, recording: Recording) -> None:
    profile = fields_of(value)
    nodes = list(_nodes(profile))
    if not nodes:
        raise ValueError("it has no nodes")
    thread = recording.thread(0, "main")
    if any("selfSize" in node for node, _ in nodes):
        _take_heap(nodes, thread, recording)
        return
    times, ids = sample_times(profile)
    samples = ProfileNodes(recording)
    for node, parent in nodes:
        samples.add(node, parent)
    samples.lay(thread, ids, times, _NS * numbers_of([profile.get("endTime")])[0])


def _nodes(profile: dict[str, Any]) -> Iterator[tuple[dict[str, Any], Any]]:
    """Yield each node with its parent's id: from the list, or (heap profiles, before 2016) from a tree."""
    rows = [fields_of(node) for node in items_of(profile.get("nodes"))]
    if rows:
        parents: dict[Any, Any] = {}
        for node in rows:
            if "children" in node:
                number = node.get("id")
                for child in items_of(node["children"]):
                    if isinstance(child, int):
                        parents.setdefault(child, number)
        for node in rows:
            parent = node["parent"] if "parent" in node else parents.get(whole_of(node.get("id"), -1))
            yield node, parent
        return
    waiting: list[tuple[dict[str, Any], Any]] = [(fields_of(profile.get("head")), None)]
    while waiting:
        node, parent = waiting.pop()
        if node:
            yield node, parent
            waiting += [(fields_of(child), node.get("id")) for child in items_of(node.get("children"))]


def sample_times(profile: dict[str, Any]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return when samples were taken (nanoseconds) and the ids of their nodes; NaN for what is none.

    Parameters
    ----------
    profile : dict
        With ``samples`` and ``timeDeltas`` or ``timestamps``.

    Returns
    -------
    times, ids : float64 (n,)

    Raises
    ------
    ValueError
        If there are none.
    """
    ids = numbers_of(profile.get("samples"))
    if "timestamps" in profile:
        times = numbers_of(profile["timestamps"])
    else:
        steps = numbers_of(profile.get("timeDeltas"))
        steps = steps if np.isfinite(steps).all() else np.nan_to_num(steps)
        times = np.nan_to_num(numbers_of([profile.get("startTime")]))[0] + np.cumsum(steps)
    if not len(ids):
        raise ValueError("it has no samples")
    if not len(times):
        raise ValueError("its samples have no times")
    count = min(len(ids), len(times))
    return _NS * times[:count], ids[:count]


class ProfileNodes:
    """The tree of a CPU profile's nodes, and its samples.

    Parameters
    ----------
    recording : Recording
        Gets functions, frames, samples and calls.
    """

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self._tree = FrameTree(recording)
        #: Id of a node -> its frame (-1: none), and its frames for each counted line.
        self._frame: dict[int, int] = {}
        self._lines: dict[int, list[int]] = {}
        self._special: dict[int, str] = {}
        self._waiting: dict[int, list[tuple[int, dict[str, Any]]]] = {}
        self._known: set[int] = set()
        #: Name, file, line and column -> function: nodes are many, functions few.
        self._functions: dict[tuple[Any, ...], int] = {}

    def add(self, node: dict[str, Any], parent: Any) -> None:
        """Add a node; one whose parent comes later waits for it.

        Parameters
        ----------
        node : dict
            As the profile has it.
        parent : object
            The id of its parent; None for a root.
        """
        number = whole_of(node.get("id"), -1)
        if number in self._known:
            self._recording.problems.add("listed twice", f"node {number}")
            return
        if number < 0:
            self._recording.problems.add("malformed", "a node without an id")
            return
        self._known.add(number)
        above = whole_of(parent, -1)
        if above >= 0 and above not in self._frame:
            self._waiting.setdefault(above, []).append((number, node))
            return
        caller = self._frame.get(above, -1)
        if not self._waiting:
            self._place(number, node, caller)
            return
        ready = [(number, node, caller)]
        while ready:
            number, node, caller = ready.pop()
            frame = self._place(number, node, caller)
            ready += [(child, said, frame) for child, said in self._waiting.pop(number, ())]

    def _place(self, number: int, node: dict[str, Any], caller: int) -> int:
        said = fields_of(node.get("callFrame")) or node
        name = text_of(said.get("functionName"), "(anonymous)")
        if caller < 0 and name in (_ROOT, _IDLE):
            self._frame[number] = -1
            return -1
        function = self._function(name, said)
        if name == _COLLECTOR:
            self._special[number] = name
        frame = self._frame[number] = self._tree.frame(function, caller)
        if "positionTicks" in node:
            lines: list[int] = []
            for ticks in items_of(node["positionTicks"]):
                at, count = whole_of(fields_of(ticks).get("line")), whole_of(fields_of(ticks).get("ticks"))
                if 0 < at < 1 << 31 and 0 < count < 1 << 24:
                    lines += [self._tree.frame(function, caller, at)] * count
            if lines:
                self._lines[number] = lines
        return frame

    def _function(self, name: str, said: dict[str, Any]) -> int:
        url, line, column = said.get("url"), said.get("lineNumber", -1), said.get("columnNumber", -1)
        if type(line) is int and type(column) is int and type(url) is str:
            key = name, url, line, column
            if key not in self._functions:
                self._functions[key] = self._new_function(name, url, line, column)
            return self._functions[key]
        return self._new_function(name, text_of(url), line, column)

    def _new_function(self, name: str, url: str, line: Any, column: Any) -> int:
        line, column = whole_of(line, -1) + 1, whole_of(column, -1) + 1
        return add_function(self._recording, name, url, line, column)

    def lay(
        self, thread: int, ids: NDArray[np.float64], times: NDArray[np.float64], end: float = np.nan
    ) -> None:
        """Add the samples and the calls that they make.

        Parameters
        ----------
        thread : int
            Its index.
        ids : float64 (n,)
            Of the samples' nodes.
        times : float64 (n,)
            Nanoseconds.
        end : float
            When the profile was stopped; NaN if unknown.
        """
        time, stack = self.rows(ids, times)
        if not len(time):
            return
        stop = None
        if np.isfinite(end) and abs(end) < 1 << 62:
            stop = np.append(time[1:], max(int(time[-1]), round(end)))
        add_timed(self._recording, self._tree.columns(), np.full(len(time), thread), stack, time, end=stop)

    def rows(
        self, ids: NDArray[np.float64], times: NDArray[np.float64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the times of the samples in their order, and the innermost frame of each.

        Parameters
        ----------
        ids : float64 (n,)
            Of the samples' nodes.
        times : float64 (n,)
            Nanoseconds.

        Returns
        -------
        time : int64 (k,)
            Of the samples that can be read.
        stack : int64 (k,)
        """
        problems = self._recording.problems
        waiting = sum(map(len, self._waiting.values()))
        if waiting:
            problems.add("unknown", f"the parent of node {next(iter(self._waiting))}", waiting)
        good = np.isfinite(times) & (np.abs(times) < 1 << 62)
        problems.add("bad time", f"sample {int(np.argmin(good)) + 1:,}", int((~good).sum()))
        whole = np.isfinite(ids) & (np.abs(ids) < 1 << 53) & (ids == np.floor(ids))
        number = (ids if whole.all() else np.where(whole, ids, -1)).astype(np.int64)
        numbers, which = distinct(number)
        is_named = np.array([n in self._frame for n in numbers.tolist()], np.bool_)
        if not is_named.all():
            named = is_named[which]
            problems.add("unknown", f"sample {int(np.argmin(named)) + 1:,}: its node", int((~named).sum()))
            good &= named
        if not (good.all() and (times[1:] >= times[:-1]).all()):
            order = np.flatnonzero(good)[np.argsort(times[good], kind="stable")]
            times, number = times[order], number[order]
        time: NDArray[np.int64] = np.rint(times).astype(np.int64)
        return time, self._stacks(number)

    def columns(self) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
        """Return function, parent and line of each frame."""
        return self._tree.columns()

    def sizes(self, nodes: Iterable[dict[str, Any]]) -> tuple[list[int], list[int]]:
        """Return the frames of a heap profile's nodes that hold something, and how many bytes."""
        rows = [(self._frame.get(whole_of(n.get("id"), -1), -1), whole_of(n.get("selfSize"))) for n in nodes]
        held = [(frame, size) for frame, size in rows if frame >= 0 and size > 0]
        return [frame for frame, _ in held], [size for _, size in held]

    def _stacks(self, ids: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the innermost frame of each sample; each counted line as often as it was."""
        keys, of = distinct(ids)
        numbers = keys.tolist()
        frame = np.array([self._frame[number] for number in numbers], np.int64)
        lists = [
            self._lines[number] if number in self._lines and number not in self._special else [plain]
            for number, plain in zip(numbers, frame.tolist(), strict=True)
        ]
        first = np.cumsum([0, *map(len, lists)])
        found = np.empty(len(of), np.int64)
        items = np.array([one for row in lists for one in row], np.int64)
        take_in_turn(of, first, np.zeros(len(lists), np.int64), items, found)
        is_special = np.array([number in self._special for number in numbers], np.bool_)
        if is_special.any():
            special = is_special[of]
            rows = np.flatnonzero(special)
            # The collector runs inside the function that it interrupts.
            last = np.maximum.accumulate(np.where(special, -1, np.arange(len(ids))))[rows]
            before = np.where(last >= 0, frame[of[last]], -1)
            width = int(before.max()) + 2
            pairs, which = distinct(of[rows] * width + before + 1)
            frames = [
                self._tree.frame(
                    self._recording.function(self._special[numbers[pair // width]]), pair % width - 1
                )
                for pair in pairs.tolist()
            ]
            found[rows] = np.array(frames, np.int64)[which]
        return found


def _take_heap(nodes: list[tuple[dict[str, Any], Any]], thread: int, recording: Recording) -> None:
    """Add a sampled heap: what each call path holds, in bytes."""
    samples = ProfileNodes(recording)
    for node, parent in nodes:
        samples.add(node, parent)
    stacks, sizes = samples.sizes(node for node, _ in nodes)
    recording.problems.add("no time unit", "the whole file is bytes", len(sizes))
    add_weighed(recording, samples.columns(), np.full(len(sizes), thread), stacks, {"held (bytes)": sizes})


FORMAT = registry.Format(
    name="v8",
    title="V8 profile",
    suffixes=(".cpuprofile", ".heapprofile"),
    sniff=sniff,
    read=read,
    programs="Node.js, Deno, Chromium's panels *Performance* and *Memory*",
    recipe=(
        "node --cpu-prof --cpu-prof-name=run.cpuprofile script.js",
        "node --heap-prof --heap-prof-name=run.heapprofile script.js",
        "# Chromium: panel Performance or Memory, Save profile",
    ),
    left_out="reasons for deoptimisation, and single objects of a sampled heap",
)
