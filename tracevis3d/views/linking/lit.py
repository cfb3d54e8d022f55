"""Linking: what is highlighted with an element that is pointed at or selected, in all views of its traces.

Elements say what they show: their calls, and the things of their links (:mod:`...drawing.links`). What is
pointed at asks for its things; the elements of any view that show one of them answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ...drawing.links import SHARED, Ints, Link, Relation, Role, weaker
from ...trace.model import Trace

#: No more of a function's elements are highlighted, the widest first: more can't be distinguished.
MOST = 20_000
#: A rounding of single precision that the length of a cluster may be off by, as a factor.
_ROUNDED = 1.0001
#: Maximum number of calls for which clusters and related elements are searched.
_MOST_SOUGHT, _MOST_RELATED = 1000, 64

TraceOf = Callable[[str], Trace | None]
ClassesOf = Callable[[Trace], NDArray[np.int32] | None]


def _none() -> Ints:
    return np.empty(0, np.int64)


class Mesh(Protocol):
    """The elements of a part of a drawing; see :class:`...scene.window.element_metadata.PickableMesh`."""

    kind: str
    word: str
    source: int
    id: Ints
    calls: dict[int, Ints]
    window: tuple[int, int] | None
    time: NDArray[np.float32]
    size: NDArray[np.float32]

    @property
    def is_boxes(self) -> bool:
        """Whether the elements are boxes."""
        ...

    @property
    def links(self) -> Sequence[Link]:
        """What the elements show beside their calls."""
        ...

    def fact(self, name: str) -> NDArray[Any]:
        """Return a fact of all elements' calls; empty where they represent none."""
        ...


@dataclass(frozen=True)
class Shown:
    """A part of a view.

    Attributes
    ----------
    name : str
        Of its object.
    keys : sequence of str
        The keys of the view's traces.
    mesh : Mesh
        What its elements represent.
    view : str
        The view's name.
    relations : sequence of Relation
        Those of the view's drawing.
    """

    name: str
    keys: Sequence[str]
    mesh: Mesh
    view: str = ""
    relations: Sequence[Relation] = ()

    def calls(self) -> list[tuple[int, str, Ints]]:
        """Return number and key of each trace, and the call of it that each element represents."""
        known = self.mesh.calls.items()
        return [(source, self.keys[source], own) for source, own in known if source < len(self.keys)]

    def home(self, sort: str, source: int) -> str:
        """Return the owner of things of a sort: a trace's key, or else the view.

        Parameters
        ----------
        sort : str
        source : int
            Which of the view's traces they are of.

        Returns
        -------
        str
        """
        if sort not in SHARED:
            return f"{self.view}\n{source}"
        return self.keys[source] if 0 <= source < len(self.keys) else ""


@dataclass(frozen=True, eq=False)
class Asked:
    """The things that the element under the mouse shows.

    Attributes
    ----------
    sort, home : str
        As :meth:`Shown.home` says.
    thing : int64 (n,) or (n, 2)
        Things, or ranges of them.
    role : {"same", "related", "matched"}
        What they are to what is pointed at.
    """

    sort: str
    home: str
    thing: Ints
    role: Role = "same"


def asked_by(shown: Shown, element: int) -> list[Asked]:
    """Return the things that an element shows beside its calls.

    Parameters
    ----------
    shown : Shown
        The part that it belongs to.
    element : int
        Its place among the part's elements.

    Returns
    -------
    list of Asked
    """
    found = [
        Asked(link.sort, shown.home(link.sort, link.source), link.of(element), link.role)
        for link in shown.mesh.links
        if link.asks
    ]
    return [each for each in found if len(each.thing)]


@dataclass
class Lit:
    """Elements of one object to be highlighted, by their relation to the element under the mouse.

    Attributes
    ----------
    same : int64 (n,)
        They represent the very call.
    related : int64 (n,)
        Other calls of its function, or of its class, or with the same subtree.
    matched : int64 (n,)
        Its matches, and the calls of other traces that these lead to.
    """

    same: Ints = field(default_factory=_none)
    related: Ints = field(default_factory=_none)
    matched: Ints = field(default_factory=_none)

    def __bool__(self) -> bool:
        return bool(len(self.same) or len(self.related) or len(self.matched))

    def add(self, role: Role, elements: Ints, what: set[str]) -> None:
        """Add elements to those of a role.

        Parameters
        ----------
        role : {"same", "related", "matched"}
        elements : int64 (n,)
        what : set of str
            Counterparts are added only if it has ``MATCH``.
        """
        if len(elements) and (role != "matched" or "MATCH" in what):
            setattr(self, role, np.union1d(getattr(self, role), elements))

    def settled(self, mesh: Mesh) -> Lit:
        """Return the same with each element in one role, and no more of them than can be distinguished."""
        matched = np.setdiff1d(self.matched, self.same)
        related = np.setdiff1d(self.related, np.union1d(self.same, matched))
        return Lit(self.same, _widest(mesh, related), _widest(mesh, matched))


def _widest(mesh: Mesh, elements: Ints) -> Ints:
    if len(elements) <= MOST:
        return elements
    if mesh.word in ("Tubes", "Lines") or not len(mesh.size):
        return elements[:MOST]
    return np.asarray(elements[np.argpartition(-mesh.size[elements, 0], MOST)[:MOST]])


def lit(
    present: Sequence[Shown],
    calls: Mapping[str, Ints],
    what: set[str],
    trace_of: TraceOf,
    classes_of: ClassesOf,
    asked: Sequence[Asked] = (),
) -> dict[str, Lit]:
    """Return object name -> elements to be highlighted.

    Parameters
    ----------
    present : sequence of Shown
    calls : mapping
        Key of a trace -> the calls that are pointed at, int64 (n,).
    what : set of str
        ``FUNCTION``: calls of the same function; ``CLASS``: of the same class or module; ``ALIKE``: whose
        subtrees are the same; ``MATCH``: matches, and other counterparts.
    trace_of : callable
        ``trace_of(key)``: the trace, None if it is not in memory.
    classes_of : callable
        ``classes_of(trace)``: the class of identical subtrees of each call, int32 (n,); None if it is not
        known yet.
    asked : sequence of Asked
        The other things that are pointed at; see :func:`asked_by`.

    Returns
    -------
    dict of str to Lit
    """
    partners = _partners(present, calls) if "MATCH" in what else {}
    wanted = [*asked, *_of_calls(present, calls, partners, what, trace_of)]
    if "MATCH" not in what:
        wanted = [each for each in wanted if each.role != "matched"]
    wanted += _reached(present, wanted, what)
    found = {}
    for shown in present:
        if one := _lit(shown, calls, partners, what, wanted, trace_of, classes_of):
            found[shown.name] = one
    return found


def _of_calls(
    present: Sequence[Shown],
    calls: Mapping[str, Ints],
    partners: Mapping[str, Ints],
    what: set[str],
    trace_of: TraceOf,
) -> Iterator[Asked]:
    """Yield the things of the calls that are pointed at: their functions, and their starts."""
    for key, which in calls.items():
        trace = trace_of(key)
        if not len(which) or len(which) > _MOST_RELATED:
            continue
        if "FUNCTION" in what:
            functions = _functions(trace, present, key, which)
            if len(functions):
                yield Asked("function", key, functions, "related")
        if trace is not None:
            yield Asked("start", key, trace.calls.start[which[which < len(trace.calls)]], "same")
    for key, which in partners.items():
        trace = trace_of(key)
        if trace is not None:
            yield Asked("start", key, trace.calls.start[which[which < len(trace.calls)]], "matched")


def _reached(present: Sequence[Shown], asked: Sequence[Asked], what: set[str]) -> list[Asked]:
    """Return the things that are reached by the drawings' relations."""
    found, seen = [], set()
    for shown in present:
        if shown.view in seen:
            continue
        seen.add(shown.view)
        for relation in shown.relations:
            homes = [shown.home(*each) for each in zip(relation.sorts, relation.sources, strict=True)]
            for each in asked:
                for side in (0, 1):
                    if (each.sort, each.home) != (relation.sorts[side], homes[side]):
                        continue
                    role = weaker(each.role, relation.role)
                    if role == "matched" and "MATCH" not in what:
                        continue
                    things = relation.reached(side, each.thing)
                    if len(things):
                        found.append(Asked(relation.sorts[1 - side], homes[1 - side], things, role))
    return found


def _lit(
    shown: Shown,
    calls: Mapping[str, Ints],
    partners: Mapping[str, Ints],
    what: set[str],
    asked: Sequence[Asked],
    trace_of: TraceOf,
    classes_of: ClassesOf,
) -> Lit:
    mesh, found = shown.mesh, Lit()
    joins = mesh.word in ("Tubes", "Lines")
    for source, key, own in shown.calls():
        trace, wanted, other = trace_of(key), calls.get(key, _none()), partners.get(key, _none())
        if len(wanted):
            # A tube is related to nothing: it is a match, or it isn't.
            found.add("matched" if joins else "same", showing(mesh, own, wanted, trace), what)
            if not joins and source == mesh.source:
                classes = classes_of(trace) if trace is not None and "ALIKE" in what else None
                found.add("related", _related(mesh, own, wanted, trace, what, classes), what)
        if len(other) and not joins:
            found.add("matched", showing(mesh, own, other, trace), what)
        for each in asked:
            if each.sort == "call" and each.home == key:
                role: Role = "matched" if joins else each.role
                found.add(role, showing(mesh, own, each.thing, trace), what)
    for each in asked:
        for link in _links_of(shown, each.sort):
            if link.answers and shown.home(link.sort, link.source) == each.home and len(link):
                found.add(weaker(each.role, link.role), np.flatnonzero(link.sharing(each.thing)), what)
    return found.settled(mesh)


def _links_of(shown: Shown, sort: str) -> list[Link]:
    """Return the links of a sort of a part's elements, those that follow from their calls included."""
    mesh = shown.mesh
    made = [link for link in mesh.links if link.sort == sort]
    if mesh.word in ("Tubes", "Lines") or mesh.source not in mesh.calls:
        return made
    if sort in ("function", "thread") and len(mesh.fact(sort)):
        made.append(Link(sort, mesh.fact(sort), role="related", asks=False, source=mesh.source))
    if sort == "start" and mesh.window is not None and len(mesh.time) == len(mesh.id):
        low, high = mesh.window
        start = np.rint(low + mesh.time[:, 0].astype(np.float64) * (high - low)).astype(np.int64)
        made.append(Link(sort, start, role="related", asks=False, source=mesh.source))
    return made


def showing(mesh: Mesh, own: Ints, calls: Ints, trace: Trace | None) -> Ints:
    """Return the elements that represent ``calls``: for the call itself, or the cluster that it is in.

    Parameters
    ----------
    mesh : PickableMesh
    own : int64 (n,)
        The call that each element represents.
    calls : int64 (m,)
    trace : Trace or None
        Without it no clusters are found.

    Returns
    -------
    int64 (k,)
        Ascending.
    """
    found = elements_of(own, calls)
    if mesh.kind != "cluster" or mesh.window is None or not len(mesh.time):
        return found
    depth = mesh.fact("depth")
    if trace is None or not len(depth) or len(calls) > _MOST_SOUGHT:
        return found
    known = [call for call in calls.tolist() if 0 <= call < len(trace.calls)]
    inside = [element for call in known if (element := _cluster_of(mesh, trace, call)) is not None]
    return np.union1d(found, np.array(inside, np.int64))


def _cluster_of(mesh: Mesh, trace: Trace, call: int) -> int | None:
    assert mesh.window is not None
    (low, high), c = mesh.window, trace.calls
    depth, thread = mesh.fact("depth"), mesh.fact("thread")
    share = (float(c.start[call] + c.end[call]) / 2 - low) / max(high - low, 1)
    reaches = (mesh.time[:, 0] <= share) & (share <= mesh.time[:, 1])
    hit = np.flatnonzero(reaches & (thread == c.thread[call]) & (depth <= c.depth[call]))
    # Of nested clusters, the deepest one that is not below the call; long calls are in none.
    lasts = (mesh.time[hit, 1] - mesh.time[hit, 0]) * (high - low) * _ROUNDED
    hit = hit[c.end[call] - c.start[call] <= lasts]
    return int(hit[np.argmax(depth[hit])]) if len(hit) else None


def union(one: Ints, other: Ints) -> Ints:
    """Return the elements of both, each once, ascending.

    Parameters
    ----------
    one, other : int64 (n,)

    Returns
    -------
    int64 (k,)
    """
    return np.union1d(one, other)


def elements_of(own: Ints, calls: Ints) -> Ints:
    """Return which of ``own`` are among ``calls``.

    Parameters
    ----------
    own : int64 (n,)
        The call of each element.
    calls : int64 (m,)

    Returns
    -------
    int64 (k,)
        Ascending.
    """
    if len(calls) <= 4:
        hits = [np.flatnonzero(own == call) for call in calls.tolist()]
        return np.unique(np.concatenate(hits)) if hits else _none()
    return np.flatnonzero(np.isin(own, calls))


def _related(
    mesh: Mesh,
    own: Ints,
    calls: Ints,
    trace: Trace | None,
    what: set[str],
    classes: NDArray[np.int32] | None,
) -> Ints:
    """Return the elements whose calls are related to ``calls``."""
    function = mesh.fact("function")
    if trace is None or not len(function) or len(calls) > _MOST_RELATED:
        return _none()
    found = np.zeros(len(own), np.bool_)
    if "CLASS" in what:
        of_calls = np.unique(trace.calls.function[calls[(calls >= 0) & (calls < len(trace.calls))]])
        container = trace.functions.container
        wanted = np.setdiff1d(container[of_calls], [-1])
        found |= np.isin(container[np.clip(function, 0, len(container) - 1)], wanted)
    if classes is not None:
        known = np.clip(own, 0, len(classes) - 1)
        wanted = classes[calls[(calls >= 0) & (calls < len(classes))]]
        found |= np.isin(classes[known], wanted) & (own >= 0)
    return np.flatnonzero(found)


def _functions(trace: Trace | None, present: Sequence[Shown], key: str, calls: Ints) -> Ints:
    """Return the functions of ``calls``: from the trace, or from elements that represent one."""
    if trace is not None:
        known = calls[(calls >= 0) & (calls < len(trace.calls))]
        return np.asarray(np.unique(trace.calls.function[known]), np.int64)
    found = [_none()]
    for shown in present:
        function = shown.mesh.fact("function")
        for source, its_key, own in shown.calls():
            if its_key == key and source == shown.mesh.source and len(function):
                found.append(function[elements_of(own, calls)].astype(np.int64))
    return np.unique(np.concatenate(found))


def _partners(present: Sequence[Shown], calls: Mapping[str, Ints]) -> dict[str, Ints]:
    """Return key of a trace -> its calls that are matched with one of ``calls`` in other traces."""
    found: dict[str, list[Ints]] = {}
    for shown in present:
        if shown.mesh.word not in ("Tubes", "Lines") or len(shown.mesh.calls) < 2:
            continue
        for source, key, own in shown.calls():
            wanted = calls.get(key)
            if wanted is None or not len(wanted):
                continue
            which = elements_of(own, wanted)
            for other, its_key, theirs in shown.calls():
                if other != source:
                    found.setdefault(its_key, []).append(theirs[which])
    return {key: np.setdiff1d(np.concatenate(parts), [-1]) for key, parts in found.items()}


def showing_selected(
    present: Sequence[Shown], selected: Mapping[str, Ints], trace_of: TraceOf
) -> dict[str, Ints]:
    """Return object name -> elements of the selection, of all views of each trace.

    Parameters
    ----------
    present : sequence of Shown
    selected : mapping
        Key of a trace -> its selected calls, int64 (n,).
    trace_of : callable
        As for :func:`lit`.

    Returns
    -------
    dict of str to int64 (k,)
    """
    found: dict[str, Ints] = {}
    for shown in present:
        for _, key, own in shown.calls():
            calls = selected.get(key, _none())
            here = showing(shown.mesh, own, calls, trace_of(key)) if len(calls) else calls
            if len(here):
                found[shown.name] = np.union1d(found.get(shown.name, _none()), here)
    return found


def best_matches(meshes: Sequence[Mesh], calls: Mapping[int, int]) -> dict[int, int]:
    """Return the best drawn match of an element: trace of the view -> call.

    Parameters
    ----------
    meshes : sequence of PickableMesh
        Of one view.
    calls : mapping
        Trace of the view -> the call of it that the element represents.

    Returns
    -------
    dict of int to int
    """
    found: dict[int, int] = {}
    for mesh in meshes:
        if mesh.word not in ("Tubes", "Lines") or len(mesh.calls) < 2:
            continue
        for source, call in calls.items():
            which = np.flatnonzero(mesh.calls.get(source, _none()) == call)
            if len(which):
                # The most important ones come first.
                best = which[np.argmin(mesh.id[which])]
                for other, theirs in mesh.calls.items():
                    if other != source and theirs[best] >= 0:
                        found.setdefault(other, int(theirs[best]))
    return found
