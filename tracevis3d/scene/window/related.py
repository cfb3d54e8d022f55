"""Related elements: those to highlight when one of them is pointed at, in all views of a scene."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ...trace.model import Trace
from .element_metadata import PickableMesh

Ints = NDArray[np.int64]

#: No more of a function's elements are lit, the widest first: more can't be told apart.
MOST = 20_000
#: A rounding of single precision that the length of a cluster may be off by, as a factor.
_ROUNDED = 1.0001
#: Of more calls clusters are not sought, nor related elements.
_MOST_SOUGHT, _MOST_RELATED = 1000, 64

TraceOf = Callable[[str], Trace | None]
ClassesOf = Callable[[Trace], NDArray[np.int32] | None]


def _none() -> Ints:
    return np.empty(0, np.int64)


@dataclass(frozen=True)
class Shown:
    """An object of a view.

    Attributes
    ----------
    name : str
    keys : sequence of str
        The keys of the view's traces.
    mesh : PickableMesh
        What its elements represent.
    """

    name: str
    keys: Sequence[str]
    mesh: PickableMesh

    def calls(self) -> list[tuple[int, str, Ints]]:
        """Return number and key of each trace, and the call of it that each element represents."""
        known = self.mesh.calls.items()
        return [(source, self.keys[source], own) for source, own in known if source < len(self.keys)]


@dataclass
class Lit:
    """Elements of one object to light up, by what they are to what is pointed at.

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


def lit(
    present: Sequence[Shown],
    calls: Mapping[str, Ints],
    what: set[str],
    trace_of: TraceOf,
    classes_of: ClassesOf,
) -> dict[str, Lit]:
    """Return object name -> elements to light up.

    Parameters
    ----------
    present : sequence of Shown
    calls : mapping
        Key of a trace -> the calls that are pointed at, int64 (n,).
    what : set of str
        ``FUNCTION``: calls of the same function; ``CLASS``: of the same class or module; ``ALIKE``: whose
        subtrees are the same; ``MATCH``: matches.
    trace_of : callable
        ``trace_of(key)``: the trace, None if it is not in memory.
    classes_of : callable
        ``classes_of(trace)``: the class of identical subtrees of each call, int32 (n,); None if it is not
        known yet.
    """
    partners = _partners(present, calls) if "MATCH" in what else {}
    found = {}
    for shown in present:
        if shown.mesh.stands and (one := _lit(shown, calls, partners, what, trace_of, classes_of)):
            found[shown.name] = one
    return found


def _lit(
    shown: Shown,
    calls: Mapping[str, Ints],
    partners: Mapping[str, Ints],
    what: set[str],
    trace_of: TraceOf,
    classes_of: ClassesOf,
) -> Lit:
    mesh, found = shown.mesh, Lit()
    for source, key, own in shown.calls():
        trace, wanted, other = trace_of(key), calls.get(key, _none()), partners.get(key, _none())
        if len(wanted):
            found.same = np.union1d(found.same, showing(mesh, own, wanted, trace))
            if source == mesh.source or not mesh.is_boxes:
                classes = classes_of(trace) if trace is not None and "ALIKE" in what else None
                related = _related(mesh, own, wanted, trace, what, classes)
                found.related = np.union1d(found.related, related)
        if len(other) and mesh.is_boxes:
            found.matched = np.union1d(found.matched, showing(mesh, own, other, trace))
    if not mesh.is_boxes:
        # A tube is related to nothing: it is a match, or it isn't.
        return Lit(matched=found.same if "MATCH" in what else _none())
    found.matched = np.setdiff1d(found.matched, found.same)
    found.related = np.setdiff1d(found.related, np.union1d(found.same, found.matched))
    if len(found.related) > MOST:
        wide = mesh.size[found.related, 0]
        found.related = found.related[np.argpartition(-wide, MOST)[:MOST]]
    return found


def showing(mesh: PickableMesh, own: Ints, calls: Ints, trace: Trace | None) -> Ints:
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


def _cluster_of(mesh: PickableMesh, trace: Trace, call: int) -> int | None:
    assert mesh.window is not None
    (low, high), c = mesh.window, trace.calls
    depth, thread = mesh.fact("depth"), mesh.fact("thread")
    share = (float(c.start[call] + c.end[call]) / 2 - low) / max(high - low, 1)
    reaches = (mesh.time[:, 0] <= share) & (share <= mesh.time[:, 1])
    hit = np.flatnonzero(reaches & (thread == c.thread[call]) & (depth <= c.depth[call]))
    # Of clusters above each other the deepest one that is not below the call; long calls are in none.
    lasts = (mesh.time[hit, 1] - mesh.time[hit, 0]) * (high - low) * _ROUNDED
    hit = hit[c.end[call] - c.start[call] <= lasts]
    return int(hit[np.argmax(depth[hit])]) if len(hit) else None


def elements_of(own: Ints, calls: Ints) -> Ints:
    """Return which of ``own`` are among ``calls``, int64 (k,), ascending."""
    if len(calls) <= 4:
        hits = [np.flatnonzero(own == call) for call in calls.tolist()]
        return np.unique(np.concatenate(hits)) if hits else _none()
    return np.flatnonzero(np.isin(own, calls))


def _related(
    mesh: PickableMesh,
    own: Ints,
    calls: Ints,
    trace: Trace | None,
    what: set[str],
    classes: NDArray[np.int32] | None,
) -> Ints:
    """Return the elements whose calls are related to ``calls``."""
    function = mesh.fact("function")
    if not len(function) or len(calls) > _MOST_RELATED:
        return _none()
    of_calls = _functions(trace, own, function, calls)
    found = np.zeros(len(own), np.bool_)
    if "FUNCTION" in what:
        found |= np.isin(function, of_calls)
    if trace is not None and "CLASS" in what:
        container = trace.functions.container
        wanted = np.setdiff1d(container[of_calls], [-1])
        found |= np.isin(container[np.clip(function, 0, len(container) - 1)], wanted)
    if classes is not None:
        known = np.clip(own, 0, len(classes) - 1)
        wanted = classes[calls[(calls >= 0) & (calls < len(classes))]]
        found |= np.isin(classes[known], wanted) & (own >= 0)
    return np.flatnonzero(found)


def _functions(trace: Trace | None, own: Ints, function: NDArray[np.int32], calls: Ints) -> NDArray[np.int32]:
    """Return the functions of ``calls``: from the trace, or from an element that represents one."""
    if trace is not None:
        known = calls[(calls >= 0) & (calls < len(trace.calls))]
        return np.unique(np.asarray(trace.calls.function[known], np.int32))
    return np.unique(np.asarray(function[elements_of(own, calls)], np.int32))


def _partners(present: Sequence[Shown], calls: Mapping[str, Ints]) -> dict[str, Ints]:
    """Return key of a trace -> its calls that are matched with one of ``calls`` in other traces."""
    found: dict[str, list[Ints]] = {}
    for shown in present:
        if shown.mesh.is_boxes or len(shown.mesh.calls) < 2:
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
    """
    found: dict[str, Ints] = {}
    for shown in present:
        for _, key, own in shown.calls():
            calls = selected.get(key, _none())
            here = showing(shown.mesh, own, calls, trace_of(key)) if len(calls) else calls
            if len(here):
                found[shown.name] = np.union1d(found.get(shown.name, _none()), here)
    return found


def best_matches(meshes: Sequence[PickableMesh], calls: Mapping[int, int]) -> dict[int, int]:
    """Return the best drawn match of an element: trace of the view -> call.

    Parameters
    ----------
    meshes : sequence of PickableMesh
        Of one view.
    calls : mapping
        Trace of the view -> the call of it that the element represents.
    """
    found: dict[int, int] = {}
    for mesh in meshes:
        if mesh.is_boxes or len(mesh.calls) < 2:
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
