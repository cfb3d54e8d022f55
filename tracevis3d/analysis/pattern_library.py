"""The pattern library: patterns and utilities of one trace that are found in others (SEAT, 4.5.5).

A library is a JSON file. A pattern is stored as the graph of its subtree, with the functions' names; so it is
found wherever functions of the same names call each other so, by any criterion of likeness.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..atomic import write_text
from ..errors import InputError, UsageError
from ..machine.bounds import check_regular
from ..trace.model import Trace
from .compact import CompactTrace
from .criteria import CRITERIA, alike
from .subtrees import Subtrees

#: Maximum number of nodes of a stored pattern; larger subtrees are not recognisable as patterns.
MOST_NODES = 10_000
#: Maximum number of patterns and utilities of a library, and of bytes of its file.
MOST_ENTRIES, MOST_BYTES = 10_000, 100_000_000
_FORMAT = "tracevis3d-library-1"
#: What to do with a file that is none, and with an entry that makes no sense.
_MAKE = "'tracevis3d library' with the name of a new file begins one"
_AGAIN = "remove it, and promote it again with 'tracevis3d library'"


@dataclass(frozen=True)
class Pattern:
    """A subtree to be recognised.

    Attributes
    ----------
    name : str
        What a person calls it.
    criterion : str
        When two subtrees are alike (:data:`.criteria.CRITERIA`).
    depth : int
        For the criterion ``depth``.
    functions : tuple of str
        Short names, indexed by ``node``.
    node : tuple of int
        Function of each node, callees before their callers; the last one is the pattern's root.
    edges : tuple of (from, to, times in a row)
        In the order of the calls.
    """

    name: str
    criterion: str
    functions: tuple[str, ...]
    node: tuple[int, ...]
    edges: tuple[tuple[int, int, int], ...]
    depth: int = 3


@dataclass(frozen=True)
class Library:
    """A promoted entry.

    Attributes
    ----------
    patterns : tuple of Pattern
    utilities : tuple of str
        Short names of functions.
    """

    patterns: tuple[Pattern, ...] = ()
    utilities: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Found:
    """Where a pattern of a library occurs.

    Attributes
    ----------
    pattern : Pattern
    nodes : int64 (k,)
        The distinct subtrees that are similar.
    calls : int
        How many calls are of them.
    """

    pattern: Pattern
    nodes: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    calls: int = 0


def promote(trace: Trace, graph: CompactTrace, call: int, name: str, criterion: str = "exact") -> Pattern:
    """Make a pattern of the subtree of a call.

    Parameters
    ----------
    trace : Trace
    graph : CompactTrace
        Its compact trace.
    call : int
        Its index.
    name : str
        Empty: the name of the called function.
    criterion : str
        A key of :data:`~.criteria.CRITERIA`: when other subtrees count as the same.

    Returns
    -------
    Pattern

    Raises
    ------
    UsageError
        If there is no such call or criterion, or its subtree has too many distinct parts.
    """
    if not 0 <= call < len(trace.calls):
        raise UsageError(f"there is no call {call:,}: they go from 0 to {len(trace.calls) - 1:,}")
    if criterion not in CRITERIA:
        raise UsageError(f"there is no criterion {criterion!r}: choose one of {', '.join(CRITERIA)}")
    subtrees, edges = graph.subtrees, graph.edges
    root = int(subtrees.of_call[call])
    wanted, todo = {root}, [root]
    while todo:
        node = todo.pop()
        for child in edges.child[edges.first[node] : edges.first[node + 1]].tolist():
            if child not in wanted:
                wanted.add(child)
                todo.append(child)
        if len(wanted) > MOST_NODES:
            raise UsageError(
                f"the subtree of call {call:,} has more than {MOST_NODES:,} different parts: choose another"
            )
    order = sorted(wanted)  # callees have the lower numbers
    place = {node: i for i, node in enumerate(order)}
    labels = [trace.functions.label[subtrees.function[node]] for node in order]
    functions = list(dict.fromkeys(labels))
    return Pattern(
        name or labels[-1],
        criterion,
        tuple(functions),
        tuple(functions.index(label) for label in labels),
        tuple(
            (place[node], place[int(edges.child[e])], int(edges.count[e]))
            for node in order
            for e in range(int(edges.first[node]), int(edges.first[node + 1]))
        ),
    )


def with_pattern(known: Library, pattern: Pattern) -> Library:
    """Return a library with one more pattern, which replaces one of the same name.

    Parameters
    ----------
    known : Library
        It stays as it is.
    pattern : Pattern
        The one that is added, behind the others.

    Returns
    -------
    Library
    """
    kept = (other for other in known.patterns if other.name != pattern.name)
    return replace(known, patterns=(*kept, pattern))


def with_utilities(known: Library, names: Sequence[str]) -> Library:
    """Return a library with more utilities.

    Parameters
    ----------
    known : Library
        It stays as it is.
    names : sequence of str
        Of functions; those that it has already are not added twice.

    Returns
    -------
    Library
    """
    return replace(known, utilities=tuple(dict.fromkeys((*known.utilities, *names))))


def without(known: Library, names: Sequence[str]) -> Library:
    """Return a library without the patterns and utilities of these names.

    Parameters
    ----------
    known : Library
        It stays as it is.
    names : sequence of str
        Of patterns or utilities.

    Returns
    -------
    Library

    Raises
    ------
    UsageError
        If there is none of a name.
    """
    gone = {*names}
    if missing := gone - {p.name for p in known.patterns} - {*known.utilities}:
        raise UsageError(f"the library has no pattern or utility {min(missing)!r}")
    return Library(
        tuple(p for p in known.patterns if p.name not in gone),
        tuple(name for name in known.utilities if name not in gone),
    )


def find(patterns: Sequence[Pattern], trace: Trace, graph: CompactTrace) -> list[Found]:
    """Find each pattern in a trace, in time linear in the graph for each criterion that occurs.

    Parameters
    ----------
    patterns : sequence of Pattern
        Of a library.
    trace : Trace
    graph : CompactTrace
        Its compact trace.

    Returns
    -------
    list of Found
        One for each pattern, in order; empty ones where it does not occur.
    """
    found = [Found(pattern) for pattern in patterns]
    for criterion, depth in dict.fromkeys((p.criterion, p.depth) for p in patterns):
        these = [i for i, p in enumerate(patterns) if (p.criterion, p.depth) == (criterion, depth)]
        joined, roots = _joined(graph, trace.functions.label, [patterns[i] for i in these])
        if joined is None:
            continue
        kinds = alike(joined, criterion, depth, distinct=False).of_class
        own = kinds[: len(graph)]
        for i, root in zip(these, roots, strict=True):
            if root >= 0:
                nodes = np.flatnonzero(own == kinds[root])
                found[i] = Found(patterns[i], nodes, int(graph.subtrees.occurrences[nodes].sum()))
    return found


def _joined(
    graph: CompactTrace, labels: Sequence[str], patterns: Sequence[Pattern]
) -> tuple[CompactTrace | None, list[int]]:
    """Return the graph with the patterns' nodes behind its own, and the place of each pattern's root.

    -1 for a pattern with a function that the trace doesn't have: it can't occur.
    """
    number: dict[str, int] = {}
    same = np.array([number.setdefault(label, i) for i, label in enumerate(labels)], np.int32)
    subtrees = graph.subtrees
    # Functions with one short name count as one: patterns store no more than the name.
    function, child = [same[subtrees.function]], [subtrees.child]
    first, roots, at = [subtrees.first], [], len(subtrees)
    for pattern in patterns:
        if any(name not in number for name in pattern.functions):
            roots.append(-1)
            continue
        n = len(pattern.node)
        below: list[list[int]] = [[] for _ in range(n)]
        for source, target, times in pattern.edges:
            below[source] += [at + target] * times
        function.append(np.array([number[pattern.functions[f]] for f in pattern.node], np.int32))
        child.append(np.array([c for row in below for c in row], np.int32))
        first.append(first[-1][-1] + np.cumsum([len(row) for row in below], dtype=np.int64))
        roots.append(at + n - 1)
        at += n
    if at == len(subtrees):
        return None, roots
    none = np.zeros(at, np.int64)
    joined = Subtrees(
        np.empty(0, np.int32), np.concatenate(function), np.concatenate(first), np.concatenate(child),
        none, none, none,
    )  # fmt: skip
    return CompactTrace(joined, np.empty(0, np.int32), np.zeros(1, np.int64)), roots


def load(path: str | os.PathLike[str]) -> Library:
    """Read a library; one that isn't there is empty.

    Parameters
    ----------
    path : path
        A JSON file as :func:`save` writes it.

    Returns
    -------
    Library

    Raises
    ------
    InputError
        If the file is not a library, or an entry makes no sense; the sentence names it.
    """
    path = Path(path)
    if not path.exists():
        return Library()
    check_regular(path)
    if path.stat().st_size > MOST_BYTES:
        raise InputError(
            f"{path}: is larger than {MOST_BYTES:,} bytes: this is not a pattern library: {_MAKE}"
        )
    try:
        said = json.loads(path.read_text("utf-8"))
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"{path}: not valid JSON ({error}): a pattern library is expected: {_MAKE}"
        ) from None
    if not isinstance(said, dict) or said.get("format") != _FORMAT:
        raise InputError(
            f'{path}: the field "format" is not "{_FORMAT}": this is not a pattern library: {_MAKE}'
        )
    patterns, utilities = said.get("patterns", []), said.get("utilities", [])
    if not isinstance(patterns, list) or not isinstance(utilities, list):
        raise InputError(f'{path}: the fields "patterns" and "utilities" must be lists: {_MAKE}')
    if len(patterns) + len(utilities) > MOST_ENTRIES:
        raise InputError(
            f"{path}: has more than {MOST_ENTRIES:,} entries: remove some, or begin another library"
        )
    if not all(isinstance(name, str) for name in utilities):
        raise InputError(f'{path}: the field "utilities" must contain names: {_MAKE}')
    return Library(
        tuple(_pattern(f"{path}: pattern {i + 1}", entry) for i, entry in enumerate(patterns)),
        tuple(dict.fromkeys(utilities)),
    )


def _pattern(place: str, said: Any) -> Pattern:
    try:
        pattern = Pattern(
            str(said["name"]),
            str(said["criterion"]),
            tuple(str(name) for name in said["functions"]),
            tuple(int(f) for f in said["node"]),
            tuple((int(a), int(b), int(times)) for a, b, times in said["edges"]),
            int(said.get("depth", 3)),
        )
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise InputError(f"{place}: can't be read ({type(error).__name__}: {error}): {_AGAIN}") from None
    n = len(pattern.node)
    if not 0 < n <= MOST_NODES or pattern.criterion not in CRITERIA or pattern.depth < 1:
        raise InputError(f"{place}: its criterion, depth or number of nodes is invalid: {_AGAIN}")
    if any(not 0 <= f < len(pattern.functions) for f in pattern.node):
        raise InputError(f'{place}: the field "node" names a function that isn\'t listed: {_AGAIN}')
    if any(not 0 <= b < a < n or times < 1 for a, b, times in pattern.edges):
        raise InputError(f'{place}: the field "edges" must lead from later nodes to earlier ones: {_AGAIN}')
    if sum(times for _, _, times in pattern.edges) > 100 * MOST_NODES:
        raise InputError(f'{place}: the field "edges" repeats too often: {_AGAIN}')
    return pattern


def save(library: Library, path: str | os.PathLike[str]) -> None:
    """Write a library in one step.

    Parameters
    ----------
    library : Library
    path : path
        The file; its folders are made if they are missing.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    said = {
        "format": _FORMAT,
        "patterns": [
            {
                "name": p.name, "criterion": p.criterion, "depth": p.depth, "functions": p.functions,
                "node": p.node, "edges": p.edges,
            }
            for p in library.patterns
        ],
        "utilities": library.utilities,
    }  # fmt: skip
    write_text(path, json.dumps(said, ensure_ascii=False, indent=1) + "\n")
