"""The Compact Trace Format: the distinct subtrees of a trace as text (SEAT, Fig. 28).

Three sections: ``#Labels`` (label, number), ``#Nodes`` (node, label's number) and ``#Edges`` (from, to, how
often in a row). A node without an edge that leads to it is the root call of a thread. What the thesis's
form can't say, several roots in a thread and roots that are called elsewhere too, is written as a fourth
section, ``#Threads`` (thread, node, how often in a row). The format has no times.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..analysis.compact import compact, expand
from ..analysis.subtrees import Subtrees
from ..errors import InputError, Unreadable
from ..kernels.formats.scan import numbers as s
from ..kernels.tree.compact import count_calls, order_nodes
from ..progress import Progress, part
from ..trace.events import BEGIN, END
from ..trace.model import Source
from ..trace.recording import Recording
from . import names, registry
from .text import count, read_text, utf8
from .writing import one_line, output

if TYPE_CHECKING:
    from ..analysis.compact import CompactTrace
    from ..trace.model import Calls, Trace
    from ..trace.problems import Problems

#: Maximum number of calls that a file may unfold to.
MOST_CALLS = 200_000_000

_SECTION = re.compile(rb"^#(Labels|Nodes|Edges|Threads)\b[^\n]*(?:\n|\Z)", re.MULTILINE)
_HEADS = {
    "Labels": "#Labels (Label, Label_ID)",
    "Nodes": "#Nodes (Node_ID, Label_ID)",
    "Edges": "#Edges (Node_ID, Node_ID, [Edge_Label])",
    "Threads": "#Threads (Thread_ID, Node_ID, [Edge_Label])",
}


def sniff(head: bytes, name: str) -> float:
    """See :attr:`~.registry.Format.sniff`.

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
    return registry.SURE if text.startswith(b"#Labels") else registry.NO


def read(path: Path, progress: Progress) -> Trace:
    """Read a compact trace and unfold it; times count enter and exit events, one nanosecond each.

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
        If a section is missing, a node calls itself by a cycle, or the trace unfolds to more than
        :data:`MOST_CALLS` calls.
    """
    recording = Recording()
    graph = _Graph(path, read_text(path, recording.problems, part(progress, 0, 0.3)).data, recording)
    progress(0.5, "unfolding calls")
    time = 0
    for thread, roots, often in graph.threads():
        calls = graph.unfold(roots, often)
        n = len(calls)
        number = recording.thread(0, thread)
        function, kind = np.empty(2 * n, np.int32), np.empty(2 * n, np.uint8)
        function[calls.start], function[calls.end] = calls.function, calls.function
        kind[calls.start], kind[calls.end] = BEGIN, END
        recording.add_events(
            thread=np.full(2 * n, number, np.int32), kind=kind, function=function, time=np.arange(2 * n)
        )
        time = max(time, 2 * n)
    recording.problems.add("no times", "the whole file", 1)
    trace = recording.finish(Source(), names.split)
    progress(1, "building calls")
    return trace


class _Graph:
    """The checked content of a file."""

    def __init__(self, path: Path, text: memoryview | bytes, recording: Recording) -> None:
        self.path, self.problems = path, recording.problems
        data = np.frombuffer(text, np.uint8)
        found = _sections(path, bytes(text))
        label_ids, label_texts = _labels(path, bytes(text), found["Labels"], self.problems)
        nodes = self._rows(data, found["Nodes"], "Nodes")[0]
        edges, lines = self._rows(data, found["Edges"], "Edges")
        roots = self._rows(data, found["Threads"], "Threads")[0] if "Threads" in found else None
        if not len(nodes):
            raise Unreadable(f"{path}: no node is listed after the line '#Nodes': there is nothing to show")

        ids, kept = np.unique(nodes[:, 0], return_index=True)
        self.problems.add("listed twice", f"node {_repeated(nodes[:, 0])}", len(nodes) - len(ids))
        labelled = _find(label_ids, nodes[kept, 1])
        self.problems.add("no name", f"node {_first(ids, labelled < 0)}", int((labelled < 0).sum()))
        # The last one, which -1 finds, is that of nodes without a label.
        self.function = recording.functions([*label_texts, "(unnamed)"])[labelled]

        source, target = _find(ids, edges[:, 0]), _find(ids, edges[:, 1])
        known = (source >= 0) & (target >= 0) & (edges[:, 2] > 0)
        self.problems.add("unknown", f"line {_first(lines, ~known)}", int((~known).sum()))
        order = np.argsort(source[known], kind="stable")
        self.child = target[known][order].astype(np.int32)
        self.count = edges[known, 2][order]
        lines = lines[known][order]
        m = len(ids)
        self.first = np.zeros(m + 1, np.int64)
        np.cumsum(np.bincount(source[known], minlength=m), out=self.first[1:])
        self.order = np.empty(m, np.int32)
        cycle = order_nodes(
            self.first, self.child, np.zeros(m, np.uint8), np.empty(m, np.int32), np.empty(m, np.int64),
            self.order,
        )  # fmt: skip
        if cycle >= 0:
            raise Unreadable(
                f"{path}: line {lines[cycle]:,}: the edge to node {ids[self.child[cycle]]} closes a cycle: a "
                "subtree can't contain itself"
            )
        self._nodes: Subtrees | None = None
        self.extent = np.empty(m, np.int64)
        count_calls(self.order, self.first, self.child, self.count, np.int64(MOST_CALLS), self.extent)
        self._choose_roots(ids, roots)

    def threads(self) -> list[tuple[int, NDArray[np.int32], NDArray[np.int64]]]:
        """Return each thread's number, root nodes, and how often each is called in a row."""
        found = []
        for thread in dict.fromkeys(self.root_thread.tolist()):
            mine = self.root_thread == thread
            found.append((thread, self.root[mine].astype(np.int32), self.root_count[mine]))
        return found

    def unfold(self, roots: NDArray[np.int32], often: NDArray[np.int64]) -> Calls:
        """Return the calls of a thread, their times counting events."""
        none = np.empty(0, np.int64)
        if self._nodes is None:
            calls = np.zeros(len(self.count) + 1, np.int64)
            np.cumsum(self.count, out=calls[1:])
            self._nodes = Subtrees(
                none.astype(np.int32), self.function, calls[self.first],
                np.repeat(self.child, self.count), none, none, self.extent,
            )  # fmt: skip
        return expand(self._nodes, np.repeat(roots, often))

    def _rows(
        self, data: NDArray[np.uint8], place: tuple[int, int, int], section: str
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        start, stop, line = place
        room = count(data[start:stop], b"\n") + 1
        rows, lines = np.empty((room, 3), np.int64), np.empty(room, np.int64)
        state = np.zeros(s.STATE_SIZE, np.int64)
        state[s.LINE] = line
        s.scan_rows(data, start, stop, 2, state, rows, lines)
        self.problems.add(
            "malformed",
            f"line {state[s.FIRST_MALFORMED]:,}, section {section}",
            int(state[s.MALFORMED]),
        )
        return rows[: state[s.ROWS]], lines[: state[s.ROWS]]

    def _choose_roots(self, ids: NDArray[np.int64], rows: NDArray[np.int64] | None) -> None:
        if rows is None:
            called = np.bincount(self.child, minlength=len(ids)) > 0
            self.root = np.flatnonzero(~called)
            self.root_thread = np.arange(len(self.root))
            self.root_count = np.ones(len(self.root), np.int64)
        else:
            root = _find(ids, rows[:, 1])
            known = (root >= 0) & (rows[:, 2] > 0)
            self.problems.add("unknown", f"node {_first(rows[:, 1], ~known)}", int((~known).sum()))
            self.root, self.root_thread, self.root_count = root[known], rows[known, 0], rows[known, 2]
        if not len(self.root):
            raise Unreadable(f"{self.path}: no thread has a root call: there is nothing to show")
        calls = float((self.extent[self.root].astype(np.float64) * self.root_count).sum())
        if calls >= MOST_CALLS:
            raise InputError(
                f"{self.path}: the graph unfolds to more than {MOST_CALLS:,} calls: that is more than "
                "memory can hold: take a part of the trace"
            )


def _sections(path: Path, text: bytes) -> dict[str, tuple[int, int, int]]:
    """Return for each section where its rows start and stop, and the number of its first line."""
    found: dict[str, tuple[int, int, int]] = {}
    heads = list(_SECTION.finditer(text))
    for k, head in enumerate(heads):
        stop = heads[k + 1].start() if k + 1 < len(heads) else len(text)
        line = text.count(b"\n", 0, head.end()) + 1
        found.setdefault(head[1].decode(), (head.end(), stop, line))
    for name in ("Labels", "Nodes", "Edges"):
        if name not in found:
            raise Unreadable(
                f"{path}: the section '#{name}' is missing: the file is truncated, or not a compact trace"
            )
    return found


def _labels(
    path: Path, text: bytes, place: tuple[int, int, int], problems: Problems
) -> tuple[NDArray[np.int64], list[str]]:
    """Return the labels' numbers in ascending order, with their texts."""
    start, stop, line = place
    table: dict[int, str] = {}
    for row in text[start:stop].split(b"\n"):
        if row.strip():
            name, _, number = row.decode("utf-8", "replace").rpartition(",")
            number = number.strip()
            if name.strip() and number.isdecimal() and len(number) < 19:
                table.setdefault(int(number), name.strip())
            else:
                problems.add("malformed", f"line {line:,}, section Labels")
        line += 1
    ids = sorted(table)
    return np.array(ids, np.int64), [table[i] for i in ids]


def _find(ids: NDArray[np.int64], wanted: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return where each of ``wanted`` is in the ascending ``ids``; -1 where it isn't."""
    if not len(ids):
        return np.full(len(wanted), -1)
    at = np.minimum(np.searchsorted(ids, wanted), len(ids) - 1)
    return np.where(ids[at] == wanted, at, -1)


def _first(values: NDArray[np.int64], where: NDArray[np.bool_]) -> int:
    return int(values[np.argmax(where)]) if where.any() else 0


def _repeated(values: NDArray[np.int64]) -> int:
    ordered = np.sort(values)
    return _first(ordered[1:], ordered[1:] == ordered[:-1])


def write(trace: Trace, path: Path, progress: Progress) -> None:
    """Write the distinct subtrees; the fourth section only where the thesis's form would lose something.

    Parameters
    ----------
    trace : Trace
    path : Path
        The file.
    progress : Progress
    """
    progress(0.0, "finding subtrees")
    graph = compact(trace.calls, trace.threads)
    edges, subtrees = graph.edges, graph.subtrees
    used = np.unique(subtrees.function)
    progress(0.6, "writing")
    with output(path) as file:
        file.write(_HEADS["Labels"].encode() + b"\n")
        for number in used.tolist():
            file.write(f"{one_line(trace.functions.name[number])},{number}\n".encode("utf-8", "replace"))
        file.write(_HEADS["Nodes"].encode() + b"\n")
        file.write(_rows_of(np.arange(len(graph)), subtrees.function))
        file.write(_HEADS["Edges"].encode() + b"\n")
        file.write(_rows_of(edges.source, edges.child, edges.count))
        if not _has_distinct_roots(graph):
            file.write(_HEADS["Threads"].encode() + b"\n")
            thread = np.repeat(np.arange(len(graph.root_first) - 1), np.diff(graph.root_first))
            file.write(_rows_of(thread, graph.roots, np.ones(len(graph.roots), np.int64)))
    progress(1.0, "writing")


def _has_distinct_roots(graph: CompactTrace) -> bool:
    """Whether each thread has one root that nothing calls, in the order of the nodes."""
    called = np.bincount(graph.subtrees.child, minlength=len(graph)) > 0
    return bool(
        (np.diff(graph.root_first) == 1).all() and np.array_equal(graph.roots, np.flatnonzero(~called))
    )


def _rows_of(*columns: NDArray[np.integer]) -> bytes:  # type: ignore[type-arg]
    pattern = b",".join([b"%d"] * len(columns)) + b"\n"
    return b"".join(map(pattern.__mod__, zip(*(column.tolist() for column in columns), strict=True)))


FORMAT = registry.Format(
    name="compact",
    title="compact trace (SEAT)",
    suffixes=(".ctf",),
    sniff=sniff,
    read=read,
    write=write,
    programs="SEAT's distinct subtrees as text",
    recipe=("tracevis3d library run.json.gz",),
    loses="times of calls and names of threads",
)
