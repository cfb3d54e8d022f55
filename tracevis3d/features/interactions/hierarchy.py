"""The elements of a trace and the hierarchy they lie in: packages, folders, or processes and threads.

An element is a function, a class or a module, by the level that is chosen; what contains it are the
hierarchy's inner nodes (ExtraVis, section 3.1).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ...trace.model import CONTAINER_KINDS, Trace

Level = Literal["function", "class", "module"]
By = Literal["packages", "folders", "threads"]
Path = tuple[str, ...]
Int32s = NDArray[np.int32]

LEVELS: tuple[Level, ...] = ("function", "class", "module")
#: Minimum and maximum number of elements for an automatic level.
_FEWEST, _MOST = 8, 150
_NO_MODULE, _NO_FILE = "(no module)", "(no file)"
_JOINTS = ".:/$\\"


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """A tree whose leaves are the elements.

    Attributes
    ----------
    name : tuple of str (n,)
        For people, without what the parent says.
    path : tuple of tuple of str (n,)
        The names from the root on: what identifies nodes of two traces with each other.
    parent : int32 (n,)
        -1 for the root, which is node 0. In pre-order: the subtree of a node is a slice.
    extent : int32 (n,)
        Nodes in the subtree, the node itself included.
    element : int32 (n,)
        Number of the element for a leaf, ascending; -1 for an inner node.
    node : int32 (elements,)
        The leaf of each element.
    merged : int32 (elements,)
        How many elements each one represents: more than 1 where those that are called least are taken
        together.
    level : str
    by : str
        What the containers are.
    """

    name: tuple[str, ...]
    path: tuple[Path, ...]
    parent: Int32s
    extent: Int32s
    element: Int32s
    node: Int32s
    merged: Int32s
    level: Level
    by: By = "packages"

    def __len__(self) -> int:
        return len(self.name)

    @property
    def elements(self) -> int:
        """The number of elements."""
        return len(self.node)

    @property
    def kind(self) -> str:
        """The noun for the elements, in the plural."""
        what = {"function": "functions", "class": "classes", "module": "modules"}[self.level]
        if self.by == "folders" and self.level != "function":
            return "files"
        return f"{what} in threads" if self.by == "threads" else what

    @cached_property
    def distinct(self) -> tuple[str, ...]:
        """Names of all nodes for people, with that of the container where others have the same."""
        common: dict[str, int] = {}
        for i in self.node.tolist():
            common[self.name[i]] = common.get(self.name[i], 0) + 1
        return tuple(
            self._within(i) if self.element[i] >= 0 and common[name] > 1 else name
            for i, name in enumerate(self.name)
        )

    def _within(self, node: int) -> str:
        path = [name for name in self.path[node] if name]
        if len(path) < 2:
            return self.name[node]
        if self.by == "threads":
            return f"{self.name[node]} in {path[-2]}"
        return f"{path[-2]}{'/' if self.by == 'folders' else '.'}{self.name[node]}"

    def depth(self) -> Int32s:
        """Return how far below the root each node is, int32 (n,)."""
        depth = np.zeros(len(self), np.int32)
        for i in range(1, len(self)):
            depth[i] = depth[self.parent[i]] + 1
        return depth

    def first_element(self) -> tuple[Int32s, Int32s]:
        """Return the first element below each node and the one after its last, int32 (n,)."""
        leaves = np.concatenate([[0], np.cumsum(self.element >= 0)]).astype(np.int32)
        at = np.arange(len(self))
        return leaves[at], leaves[at + self.extent]

    def title(self, node: int) -> str:
        """Return the name of a node with that of its container, for a list."""
        path = [name for name in self.path[node] if name]
        return " / ".join(path[-2:]) if path else "(program)"


@dataclass(frozen=True, eq=False)
class Elements:
    """A hierarchy and which element each call belongs to.

    Attributes
    ----------
    hierarchy : Hierarchy
    of_call : callable
        From calls (int64 indices) to elements, int32.
    """

    hierarchy: Hierarchy
    of_call: Callable[[NDArray[np.int64]], Int32s]


def element_hierarchy(
    trace: Trace, level: Level | Literal["auto"] = "auto", by: By | Literal["auto"] = "auto", most: int = 600
) -> Elements:
    """Find the elements of ``trace`` and their hierarchy.

    Parameters
    ----------
    trace : Trace
    level : {"auto", "function", "class", "module"}
        ``auto``: classes, modules if there are more than 150 classes, functions if there are fewer than 8
        modules.
    by : {"auto", "packages", "folders", "threads"}
        What contains them: packages and modules, the folders of the source files, or processes and threads.
        ``auto``: packages if functions have any, else folders, else nothing but the root.
    most : int
        Elements at most: those that are called least are merged, container by container.

    Returns
    -------
    Elements
    """
    return shared_hierarchy((trace,), level, by, most)[0]


def shared_hierarchy(
    traces: Sequence[Trace],
    level: Level | Literal["auto"] = "auto",
    by: By | Literal["auto"] = "auto",
    most: int = 600,
) -> tuple[Elements, ...]:
    """Find the elements of several traces in one hierarchy: those at the same path are the same.

    Level and containers are chosen for the first trace.

    Parameters
    ----------
    traces : sequence of Trace
        One or more.
    level, by, most : Level or {'auto'}
        See :func:`element_hierarchy`.

    Returns
    -------
    tuple of Elements
        One for each trace.
    """
    functions = traces[0].functions
    if by == "auto":
        known = (functions.container >= 0).any() or not (functions.file >= 0).any()
        by = "packages" if known else "folders"
    if level == "auto":
        level = _fitting_level(traces[0], by)
    if level == "class" and not any(_has_classes(trace) for trace in traces):
        level = "module"
    things = [_things(trace, level, by) for trace in traces]
    paths = [path for found, _, _ in things for path in found]
    hierarchy, of_thing = build(paths, np.concatenate([times for _, times, _ in things]), level, most, by)
    result, base = [], 0
    for found, _, of_call in things:
        result.append(Elements(hierarchy, _looked_up(of_thing[base : base + len(found)], of_call)))
        base += len(found)
    return tuple(result)


def _looked_up(
    table: Int32s, of_call: Callable[[NDArray[np.int64]], NDArray[np.integer[Any]]]
) -> Callable[[NDArray[np.int64]], Int32s]:
    return lambda ids: table[of_call(ids)]


def _things(
    trace: Trace, level: Level, by: By
) -> tuple[list[Path], NDArray[np.int64], Callable[[NDArray[np.int64]], NDArray[np.integer[Any]]]]:
    """Return the paths of what becomes elements, how often each is called, and which of them a call is of."""
    paths = _function_paths(trace, level, "packages" if by == "threads" else by)
    function = trace.calls.function
    if by == "threads":
        return _by_thread(trace, paths)
    calls = np.bincount(function, minlength=len(paths)).astype(np.int64)
    return paths, calls, lambda ids: function[ids]


def _fitting_level(trace: Trace, by: By) -> Level:
    counts = {
        level: len(set(_function_paths(trace, level, "packages" if by == "threads" else by)))
        for level in LEVELS
    }
    if _FEWEST <= counts["class"] <= _MOST:
        return "class"
    return "module" if counts["module"] >= _FEWEST else "function"


def _has_classes(trace: Trace) -> bool:
    kinds = trace.containers.kind[trace.functions.container[trace.functions.container >= 0]]
    return bool((kinds == CONTAINER_KINDS.index("class")).any())


def _function_paths(trace: Trace, level: Level, by: By) -> list[Path]:
    """Return the path of the element of each function."""
    functions = trace.functions
    inside = _file_paths(trace) if by == "folders" else _container_paths(trace, level)
    if level == "function":
        return [
            (*path, _relative(label, path[-1] if path else ""))
            for path, label in zip(inside, functions.label, strict=True)
        ]
    outside = (_NO_FILE if by == "folders" else _NO_MODULE,)
    return [path or outside for path in inside]


def _container_paths(trace: Trace, level: Level) -> list[Path]:
    containers = trace.containers
    class_kind = CONTAINER_KINDS.index("class")
    full = list(containers.name)
    paths: list[Path] = []
    for c in range(len(containers)):  # parents come before their children
        parent = int(containers.parent[c])
        above = paths[parent] if parent >= 0 else ()
        if level == "module" and containers.kind[c] == class_kind and above:
            paths.append(above)
        else:
            paths.append((*above, _relative(full[c], full[parent] if parent >= 0 else "")))
    return [paths[c] if c >= 0 else () for c in trace.functions.container.tolist()]


def _file_paths(trace: Trace) -> list[Path]:
    files = [
        tuple(part for part in name.replace("\\", "/").split("/") if part not in ("", "."))
        for name in trace.files
    ]
    return [files[f] if f >= 0 else () for f in trace.functions.file.tolist()]


def _relative(name: str, outer: str) -> str:
    """Return ``name`` without what its container's name says already."""
    if outer and name.startswith(outer) and name[len(outer) : len(outer) + 1] in tuple(_JOINTS):
        return name[len(outer) :].lstrip(_JOINTS) or name
    return name or "(unnamed)"


def _by_thread(
    trace: Trace, paths: Sequence[Path]
) -> tuple[list[Path], NDArray[np.int64], Callable[[NDArray[np.int64]], NDArray[np.integer[Any]]]]:
    """Put the elements of each thread into that thread, and threads into their processes."""
    threads, calls = trace.threads, trace.calls
    first: dict[Path, int] = {}
    same = np.array([first.setdefault(path, len(first)) for path in paths], np.int64)
    names = [path[-1] for path in first]
    count = len(names)
    code = calls.thread.astype(np.int64) * count + (same[calls.function] if len(calls) else 0)
    times = np.bincount(code, minlength=len(threads) * count)
    used = np.flatnonzero(times)
    thread_paths = [
        (f"{threads.process_name[t] or 'process'} {threads.process[t]}", threads.title(t))
        for t in range(len(threads))
    ]
    number = np.zeros(len(times), np.int64)
    number[used] = np.arange(len(used))
    found = [(*thread_paths[c // count], names[c % count]) for c in used.tolist()]
    return found, times[used], lambda ids: number[code[ids]]


class _Node:
    """A node of the tree that is being built."""

    __slots__ = ("calls", "children", "members", "name", "path")

    def __init__(self, name: str, path: Path) -> None:
        self.name, self.path = name, path
        self.children: dict[str, _Node] = {}
        self.members: list[int] = []
        self.calls = 0


def build(
    paths: Sequence[Path],
    calls: NDArray[np.integer[Any]],
    level: Level = "class",
    most: int = 600,
    by: By = "packages",
) -> tuple[Hierarchy, Int32s]:
    """Make a hierarchy of things that lie at ``paths``; things at one path are one element.

    Parameters
    ----------
    paths : sequence of tuple of str
    calls : int (things,)
        How often each is called.
    level : str
    most : int
    by : str

    Returns
    -------
    Hierarchy
        In order of first appearance. Containers that hold nothing but another one are joined with it.
    int32 (things,)
        Element of each thing.
    """
    root = _Node("", ())
    for i, path in enumerate(paths):
        node = root
        for name in path:
            if name not in node.children:
                node.children[name] = _Node(name, (*node.path, name))
            node = node.children[name]
        node.members.append(i)
        node.calls += int(calls[i])
    leaves = _leaves(root)
    if len(leaves) > most:
        _merge(root, leaves, most)
    order: list[tuple[_Node, int]] = []
    _number(root, order, "/" if by == "folders" else ".")
    n = len(order)
    parent = np.array([p for _, p in order], np.int32)
    extent = np.ones(n, np.int32)
    for i in range(n - 1, 0, -1):
        extent[parent[i]] += extent[i]
    is_leaf = np.array([not node.children and node is not root for node, _ in order], np.bool_)
    if n == 1:
        is_leaf[:] = False
    element = np.where(is_leaf, np.cumsum(is_leaf) - 1, -1).astype(np.int32)
    of_thing = np.full(len(paths), -1, np.int32)
    merged = []
    for (node, _), e in zip(order, element.tolist(), strict=True):
        if e >= 0:
            of_thing[node.members] = e
            merged.append(len({paths[i] for i in node.members}))
    hierarchy = Hierarchy(
        tuple(node.name for node, _ in order),
        tuple(node.path for node, _ in order),
        parent,
        extent,
        element,
        np.flatnonzero(is_leaf).astype(np.int32),
        np.array(merged, np.int32),
        level,
        by,
    )
    return hierarchy, of_thing


def _leaves(root: _Node) -> list[_Node]:
    """Return the elements; one that contains others gets a leaf of its own below it."""
    found: list[_Node] = []
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node.children and node.members and node is not root:
            own = _Node(node.name, (*node.path, ""))
            own.members, own.calls, node.members = node.members, node.calls, []
            node.children = {"": own, **node.children}
        if not node.children and node is not root:
            found.append(node)
        waiting.extend(node.children.values())
    return found


def _merge(root: _Node, leaves: list[_Node], most: int) -> None:
    """Merge the elements that are called least, container by container, until ``most`` are left."""
    parents: dict[int, _Node] = {}
    waiting = [root]
    while waiting:
        node = waiting.pop()
        for child in node.children.values():
            parents[id(child)] = node
        waiting.extend(node.children.values())
    kept = sorted(leaves, key=lambda leaf: -leaf.calls)[: max(most * 3 // 4, 1)]
    keep = {id(leaf) for leaf in kept}
    for leaf in kept:
        node = leaf
        while id(node) in parents and id(parents[id(node)]) not in keep:
            node = parents[id(node)]
            keep.add(id(node))
    keep.add(id(root))
    rest: dict[int, _Node] = {}
    for leaf in leaves:
        if id(leaf) in keep:
            continue
        node = leaf
        while id(node) not in keep:
            node = parents[id(node)]
        if id(node) not in rest:
            rest[id(node)] = _Node("(others)", (*node.path, "(others)"))
        others = rest[id(node)]
        others.members += leaf.members
        others.calls += leaf.calls
    waiting = [root]
    while waiting:
        node = waiting.pop()
        node.children = {name: child for name, child in node.children.items() if id(child) in keep}
        waiting.extend(node.children.values())
        if id(node) in rest:
            node.children["(others)"] = rest[id(node)]


def _number(root: _Node, order: list[tuple[_Node, int]], between: str) -> None:
    """List nodes with the places of their parents, in pre-order; lone inner children join their parents."""
    stack: list[tuple[_Node, int]] = [(root, -1)]
    while stack:
        node, parent = stack.pop()
        while len(node.children) == 1:
            (only,) = node.children.values()
            if not only.children:
                break
            joint = " / " if " " in node.name + only.name else between
            name = f"{node.name}{joint}{only.name}" if node.name else only.name
            joined = _Node(name, only.path)
            joined.children = only.children
            node = joined
        place = len(order)
        order.append((node, parent))
        stack.extend((child, place) for child in reversed(node.children.values()))


def reordered(hierarchy: Hierarchy, rank: Iterable[float]) -> tuple[Hierarchy, Int32s]:
    """Return the hierarchy with the children of each node sorted by ``rank`` (n,), and old -> new element.

    Parameters
    ----------
    hierarchy : Hierarchy
        It stays as it is.
    rank : float (n,)
        Of each node; equal ones keep their order.

    Returns
    -------
    (Hierarchy, int32 (elements,))
    """
    n = len(hierarchy)
    value = np.asarray(list(rank), np.float64)
    children: list[list[int]] = [[] for _ in range(n)]
    for i in range(1, n):
        children[int(hierarchy.parent[i])].append(i)
    order: list[int] = []
    stack = [0]
    while stack:
        node = stack.pop()
        order.append(node)
        stack.extend(sorted(children[node], key=lambda c: value[c], reverse=True))
    old = np.array(order, np.int64)
    place = np.empty(n, np.int32)
    place[old] = np.arange(n, dtype=np.int32)
    parent = hierarchy.parent[old]
    was = hierarchy.element[old]
    is_leaf = was >= 0
    element = np.where(is_leaf, np.cumsum(is_leaf) - 1, -1).astype(np.int32)
    new_of_old = np.empty(hierarchy.elements, np.int32)
    new_of_old[was[is_leaf]] = element[is_leaf]
    return (
        Hierarchy(
            tuple(hierarchy.name[i] for i in order),
            tuple(hierarchy.path[i] for i in order),
            np.where(parent >= 0, place[parent], -1).astype(np.int32),
            hierarchy.extent[old],
            element,
            np.flatnonzero(is_leaf).astype(np.int32),
            hierarchy.merged[was[is_leaf]],
            hierarchy.level,
            hierarchy.by,
        ),
        new_of_old,
    )
