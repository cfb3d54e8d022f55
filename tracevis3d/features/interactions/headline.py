"""The title of the drum: the most important fact about one run, or about two.

Said is what the run does repeatedly (:mod:`.rounds`), or else its longest phase, and which elements
receive most calls; of two runs, what only one of them does, or does more often.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...trace.model import Trace
from ...trace.names import label_of_call
from ...units import percentage
from .hierarchy import Hierarchy
from .interactions import Interactions
from .phase_names import names_of_kinds
from .phases import Phases, enclosing_call
from .rounds import Rounds

Ints = NDArray[np.int64]

#: Rounds and phases that cover less of the calls are not what a run is about.
_PART = 0.4
#: Elements are named if they receive this share of the calls: one of them, or two together.
_ONE, _TWO = 0.5, 0.4
#: Rounds that are so much alike do nearly the same.
_NEARLY = 0.9
#: What is in each of this many equal parts of a run is there all the time.
_PARTS = 10
#: Two runs make the same calls if they differ in less of them.
_SAME = 1e-4


@dataclass(frozen=True)
class Headline:
    """A title, and how sure it is.

    Attributes
    ----------
    text : str
        One plain sentence without a final period.
    certainty : str
        What it rests on, in numbers; empty where it is counted and not found.
    same : str
        What stays the same all the time; empty: the title says it, or, of two runs, the legend.
    """

    text: str
    certainty: str = ""
    same: str = ""


def of_run(
    trace: Trace, hierarchy: Hierarchy, found: Interactions, stretch: tuple[int, int], phases: Phases,
    rounds: Sequence[Rounds], relation: str = "calls",
) -> Headline:  # fmt: skip
    """Return the title of one run.

    Parameters
    ----------
    trace : Trace
    hierarchy : Hierarchy
    found : Interactions
        Of the trace, between elements of the hierarchy.
    stretch : (int, int)
        The window, among the interactions.
    phases : Phases
        Of the window.
    rounds : sequence of Rounds
        Of the window.
    relation : str
        What the interactions are called.

    Returns
    -------
    Headline
    """
    low, high = stretch
    traffic = _traffic(hierarchy, found, found.counts(low, high), relation)
    largest = max(rounds, key=lambda r: int(r.edge[-1] - r.edge[0]), default=None)
    if largest is not None and largest.edge[-1] - largest.edge[0] >= _PART * (high - low):
        inside = enclosing_call(trace, found, int(largest.edge[0]), int(largest.edge[-1]))
        who = label_of_call(trace, inside) if inside >= 0 else "<run>"
        # Such as <module> or <init>: a name that tells nothing of what is done.
        who = "The run" if who.rpartition(".")[2].startswith("<") else who
        what = "nearly the same" if largest.likeness >= _NEARLY else "much the same"
        size = np.diff(largest.edge)
        sure = (
            f"the {largest.times} rounds are {percentage(largest.likeness)} alike, {int(size.min()):,} to "
            f"{int(size.max()):,} {relation} each"
        )
        return Headline(_joined(f"{who} does {what} {largest.times} times", traffic), sure)
    of_kind = np.bincount(phases.kind, np.diff(phases.edge), phases.kinds)
    most = int(np.argmax(of_kind)) if len(of_kind) else -1
    name = names_of_kinds(trace, found, phases)[most] if len(phases) > 1 else ""
    if name and of_kind[most] >= _PART * (high - low):
        sure = f"{len(phases)} phases explain {percentage(phases.explained)} of what varies"
        part = percentage(float(of_kind[most]) / (high - low))
        text = f"The main phase, {name}, has {part} of the {relation}"
        return Headline(_joined(text, traffic), sure, throughout(hierarchy, found, stretch, relation))
    same = throughout(hierarchy, found, stretch, relation)
    threads = len(np.unique(trace.calls.thread[found.call[low:high]]))
    if traffic and threads > 1:
        return Headline(_joined(f"{threads} threads make {high - low:,} {relation}", traffic), "", same)
    if traffic:
        return Headline(traffic, "", same)
    elements = int(hierarchy.merged.sum())
    return Headline(f"{high - low:,} {relation} between {elements:,} {hierarchy.kind}", "", same)


def throughout(
    hierarchy: Hierarchy, found: Interactions, stretch: tuple[int, int], relation: str = "calls"
) -> str:
    """Return a note of the share of interactions of pairs that occur all the time: in each tenth of the run.

    Parameters
    ----------
    hierarchy : Hierarchy
    found : Interactions
    stretch : (int, int)
        The window, among the interactions.
    relation : str
        What the interactions are called.

    Returns
    -------
    str
        Empty if there are fewer than ten.
    """
    low, high = stretch
    n = high - low
    if n < _PARTS:
        return ""
    pair = found.pair[low:high].astype(np.int64)
    part = np.arange(n) * _PARTS // n
    known = np.bincount(np.unique(part * found.pairs + pair) % found.pairs, minlength=found.pairs)
    counts = np.where(known == _PARTS, found.counts(low, high), 0)
    if not counts.any():
        return f"no two {hierarchy.kind} call each other all the time"
    most = int(np.argmax(counts))
    a, b = (hierarchy.distinct[int(hierarchy.node[e[most]])] for e in (found.caller, found.callee))
    share = percentage(float(counts.sum()) / n)
    return f"the same all the time: {share} of the {relation}, most of them {a} → {b}"


def _joined(first: str, second: str) -> str:
    return f"{first}; {second}" if second else first


def _traffic(hierarchy: Hierarchy, found: Interactions, counts: Ints, relation: str) -> str:
    """Return which element or two receive most calls; empty if no two do."""
    received = np.bincount(found.callee, counts, found.elements)
    whole = float(received.sum())
    if whole <= 0:
        return ""
    most = np.argsort(-received, kind="stable")[:2]
    names = [hierarchy.distinct[int(node)] for node in hierarchy.node[most]]
    one, two = (float(received[some].sum()) / whole for some in (most[:1], most))
    if one >= _ONE:
        return f"{percentage(one)} of the {relation} go to {names[0]}"
    return f"{percentage(two)} of the {relation} go to {' and '.join(names)}" if two >= _TWO else ""


def of_pair(
    hierarchy: Hierarchy, found: Sequence[Interactions], counts: Sequence[Ints], relation: str = "calls"
) -> Headline:
    """Return the title of two runs: an element that only one has, or who calls whom more often.

    Parameters
    ----------
    hierarchy : Hierarchy
        Of both.
    found : sequence of Interactions
        Of A and of B; their elements are numbered alike.
    counts : sequence of int64 (pairs,)
        Calls of each pair in A's window, and in B's.
    relation : str
        What the interactions are called.

    Returns
    -------
    Headline
    """
    code, times = joint_counts(found, counts)
    change = np.abs(times[1] - times[0])
    whole = int(times.sum())
    if int(change.sum()) <= _SAME * whole:
        return Headline(f"A and B make the same {relation} between {hierarchy.kind}")
    active = [f.activity(c) for f, c in zip(found, counts, strict=True)]
    names = hierarchy.distinct
    alone = np.where((active[0] > 0) != (active[1] > 0), active[0] + active[1], 0.0)
    element, pair = int(np.argmax(alone)), int(np.argmax(change))
    share = percentage(float(change.sum()) / whole)
    sure = f"{share} of the {relation} of both have no counterpart in the other"
    if alone[element] >= 0.5 * change[pair]:
        s = int(active[1][element] > 0)
        name = names[int(hierarchy.node[element])]
        text = f"Only {'AB'[s]} uses {name}: {int(alone[element]):,} {relation}"
        return Headline(text, sure)
    a, b = (int(hierarchy.node[e]) for e in divmod(int(code[pair]), found[0].elements))
    who = f"{names[a]} calls itself" if a == b else f"{names[a]} calls {names[b]}"
    if relation == "flows":
        who = f"Flows within {names[a]}" if a == b else f"Flows from {names[a]} to {names[b]}"
    many = [
        f"{int(n):,} times in {side}" if n else f"never in {side}" for n, side in zip(times[:, pair], "AB")
    ]
    return Headline(f"{who} {many[0]}, {many[1]}", sure)


def joint_counts(found: Sequence[Interactions], counts: Sequence[Ints]) -> tuple[Ints, Ints]:
    """Return the pairs of elements of several runs, and how often each run has them.

    Parameters
    ----------
    found : sequence of Interactions
        Their elements are numbered alike.
    counts : sequence of int64 (pairs,)
        Of each run.

    Returns
    -------
    int64 (k,), int64 (runs, k)
        Caller times the number of elements plus callee, ascending; calls.
    """
    each = [f.caller.astype(np.int64) * f.elements + f.callee for f in found]
    code = np.unique(np.concatenate(each))
    times = np.zeros((len(each), len(code)), np.int64)
    for row, mine, count in zip(times, each, counts, strict=True):
        row[np.searchsorted(code, mine)] = count
    return code, times
