"""What belongs together: the elements to light up when one of them is pointed at, in all views of a scene."""

from dataclasses import dataclass, field
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ..state import selection, sources, trace_state
from . import background

Ints = NDArray[np.int64]

#: No more of a function's elements are lit, the widest first: more can't be told apart.
MOST = 20_000


@dataclass
class Lit:
    """Elements of one object to light up, by what they are to what is pointed at.

    Attributes
    ----------
    same : int64 (n,)
        They stand for the very call.
    kin : int64 (n,)
        Other calls of its function.
    matched : int64 (n,)
        Its matches, and the calls of other traces that these lead to.
    """

    same: Ints = field(default_factory=lambda: np.empty(0, np.int64))
    kin: Ints = field(default_factory=lambda: np.empty(0, np.int64))
    matched: Ints = field(default_factory=lambda: np.empty(0, np.int64))


def of(present: list[tuple[Any, Any, Any]], calls: dict[str, Ints], what: set[str]) -> dict[str, Lit]:
    """Return object name -> elements to light up.

    Parameters
    ----------
    present : list of (collection, object, Held)
        From :func:`.pointer.shown_in`.
    calls : dict
        Key of a trace -> the calls that are pointed at, int64 (n,).
    what : set of str
        ``FUNCTION``: calls of the same function; ``CLASS``: of the same class or module; ``ALIKE``: whose
        subtrees are the same; ``MATCH``: matches.
    """
    keys = {view.name: trace_state.keys_of(view) for view, _, _ in present}
    partners = _partners(present, keys, calls) if "MATCH" in what else {}
    lit: dict[str, Lit] = {}
    for view, shown, holds in present:
        if not holds.stands:
            continue
        found = Lit()
        for source, own in holds.calls.items():
            key = keys[view.name][source] if source < len(keys[view.name]) else ""
            wanted = calls.get(key)
            if wanted is not None and len(wanted):
                found.same = np.union1d(found.same, showing(holds, own, wanted, key))
                if source == holds.source or not holds.is_boxes:
                    found.kin = np.union1d(found.kin, _kin(holds, own, wanted, key, what))
            other = partners.get(key)
            if other is not None and len(other) and holds.is_boxes:
                found.matched = np.union1d(found.matched, showing(holds, own, other, key))
        if not holds.is_boxes:
            # A tube is of kin to nothing: it is a match, or it isn't.
            found.matched, found.same, found.kin = found.same, np.empty(0, np.int64), np.empty(0, np.int64)
            if "MATCH" not in what:
                found.matched = np.empty(0, np.int64)
        found.matched = np.setdiff1d(found.matched, found.same)
        found.kin = np.setdiff1d(found.kin, np.union1d(found.same, found.matched))
        if len(found.kin) > MOST:
            wide = holds.size[found.kin, 0] if holds.is_boxes else np.arange(len(found.kin))
            found.kin = found.kin[np.argpartition(-wide, MOST)[:MOST]]
        if len(found.same) or len(found.kin) or len(found.matched):
            lit[shown.name] = found
    return lit


def showing(holds: Any, own: Ints, calls: Ints, key: str) -> Ints:
    """Return the elements that stand for ``calls``: for the call itself, or the cluster that it is in."""
    found = elements_of(own, calls)
    if holds.kind != "cluster" or holds.window is None or not len(holds.time):
        return found
    trace = sources.loaded(key)
    depth, thread = holds.fact("depth"), holds.fact("thread")
    if trace is None or not len(depth) or len(calls) > 1000:
        return found
    inside = []
    low, high = holds.window
    for call in calls.tolist():
        if not 0 <= call < len(trace.calls):
            continue
        c = trace.calls
        share = (float(c.start[call] + c.end[call]) / 2 - low) / max(high - low, 1)
        hit = np.flatnonzero(
            (holds.time[:, 0] <= share)
            & (share <= holds.time[:, 1])
            & (thread == c.thread[call])
            & (depth <= c.depth[call])
        )
        # Of clusters above each other the deepest one that is not below the call; long calls are in none.
        short = (
            c.end[call] - c.start[call] <= (holds.time[hit, 1] - holds.time[hit, 0]) * (high - low) * 1.0001
        )
        hit = hit[short]
        if len(hit):
            inside.append(int(hit[np.argmax(depth[hit])]))
    return np.union1d(found, np.array(inside, np.int64))


def elements_of(own: Ints, calls: Ints) -> Ints:
    """Return which of ``own`` are among ``calls``."""
    if len(calls) <= 4:
        hits = [np.flatnonzero(own == call) for call in calls.tolist()]
        return np.unique(np.concatenate(hits)) if hits else np.empty(0, np.int64)
    return np.flatnonzero(np.isin(own, calls))


def _kin(holds: Any, own: Ints, calls: Ints, key: str, what: set[str]) -> Ints:
    """Return the elements whose calls are of kin to ``calls``."""
    function = holds.fact("function")
    if not len(function) or len(calls) > 64:
        return np.empty(0, np.int64)
    trace = sources.loaded(key)
    of_calls = _functions(trace, own, function, calls)
    found = np.zeros(len(own), np.bool_)
    if "FUNCTION" in what:
        found |= np.isin(function, of_calls)
    if trace is not None and "CLASS" in what:
        container = trace.functions.container
        wanted = np.setdiff1d(container[of_calls], [-1])
        found |= np.isin(container[np.clip(function, 0, len(container) - 1)], wanted)
    label = background.subtree_classes(trace) if trace is not None and "ALIKE" in what else None
    if label is not None:
        known = np.clip(own, 0, len(label) - 1)
        found |= np.isin(label[known], label[calls[(calls >= 0) & (calls < len(label))]]) & (own >= 0)
    return np.flatnonzero(found)


def _functions(trace: Any, own: Ints, function: NDArray[np.int32], calls: Ints) -> NDArray[np.int32]:
    """Return the functions of ``calls``: from the trace, or from an element that stands for one."""
    if trace is not None:
        known = calls[(calls >= 0) & (calls < len(trace.calls))]
        return np.unique(trace.calls.function[known])
    return np.unique(function[elements_of(own, calls)])


def _partners(
    present: list[tuple[Any, Any, Any]], keys: dict[str, list[str]], calls: dict[str, Ints]
) -> dict[str, Ints]:
    """Return key of a trace -> its calls that are matched with one of ``calls`` in other traces."""
    found: dict[str, list[Ints]] = {}
    for view, _, holds in present:
        if holds.is_boxes or len(holds.calls) < 2:
            continue
        for source, own in holds.calls.items():
            key = keys[view.name][source] if source < len(keys[view.name]) else ""
            wanted = calls.get(key)
            if wanted is None or not len(wanted):
                continue
            which = elements_of(own, wanted)
            for other, theirs in holds.calls.items():
                if other != source and other < len(keys[view.name]):
                    found.setdefault(keys[view.name][other], []).append(theirs[which])
    return {key: np.setdiff1d(np.concatenate(parts), [-1]) for key, parts in found.items()}


def of_selection(present: list[tuple[Any, Any, Any]]) -> dict[str, Ints]:
    """Return object name -> elements that stand for what is selected, of all views of each trace."""
    chosen: dict[str, selection.Selection] = {}
    lit: dict[str, Ints] = {}
    for view, shown, holds in present:
        keys = trace_state.keys_of(view)
        for source, own in holds.calls.items():
            if source >= len(keys):
                continue
            key = keys[source]
            if key not in chosen:
                chosen[key] = selection.selected(key)
            if len(chosen[key]):
                found = showing(holds, own, chosen[key].calls, key)
                if len(found):
                    lit[shown.name] = np.union1d(lit.get(shown.name, np.empty(0, np.int64)), found)
    return lit


def kinds_of(context: bpy.types.Context) -> set[str]:
    """Return which kin is lit up, as the person has chosen."""
    return set(context.window_manager.tracevis3d_kin)
