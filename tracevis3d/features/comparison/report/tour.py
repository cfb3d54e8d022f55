"""A tour from a match to those that explain it: the matches below it, and theirs (TraceDiff, IV-C)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ....errors import UsageError
from ....trace.names import label_of_call
from ....units import duration
from ..findings.evidence import Range
from ..view.focus import focused
from ..view.matches import Chosen, group
from .explained import Explained
from .staging import Target, below, shares

if TYPE_CHECKING:
    from .staging import Stage

Ints = NDArray[np.int64]

#: Maximum depth of a tour, and number of matches shown per level.
_LEVELS, _PARTS = 8, 5
#: A tour ends at matches that explain less than this share of their root's time.
_LEAST = 0.01


def steps(story: Explained, stage: Stage, text: str) -> list[Target]:
    """Return the viewpoints of a tour: a match, then those that explain it, along the most important one.

    Parameters
    ----------
    story : Explained
    stage : Stage
    text : str
        A call path, or the number of a group in the legend.

    Returns
    -------
    list of Target

    Raises
    ------
    UsageError
        If it names no match that is drawn.
    """
    match = _root(story, stage, text.strip())
    targets: list[Target] = []
    for level in range(1, _LEVELS + 1):
        parts = explaining(story, stage, match)
        a, b = int(stage.a[match]), int(stage.b[match])
        also = np.flatnonzero(((stage.a == a) | (stage.b == b)) & (np.arange(len(stage.a)) != match))
        shown = np.zeros(len(stage.a), np.bool_)
        shown[[match, *parts, *also.tolist()]] = True
        targets.append(
            Target(
                f"{level}. {_name(story, 0, a)}",
                _caption(story, stage, match, parts, len(also)),
                shown,
                (np.array([a]), np.array([b])),
                shares(story, (_span(story, 0, a), _span(story, 1, b))),
                below(story, 0, a, stage.a) & below(story, 1, b, stage.b),
            )
        )
        if not parts:
            break
        match = parts[0]
    return targets


def _root(story: Explained, stage: Stage, text: str) -> int:
    """Return the drawn match that the tour begins with."""
    if not len(stage.a):
        raise UsageError(f"--walk {text}: no two calls that are drawn match")
    weight = _weight(story, stage)
    if text.isdigit():
        chosen = Chosen(stage.a, stage.b, stage.similarity, weight, 0)
        grouping = group(story.comparison, chosen, True)
        if not 1 <= int(text) <= grouping.trunk:
            raise UsageError(f"--walk {text}: the groups are numbered 1 to {grouping.trunk:,}")
        inside = grouping.of == int(text) - 1
    else:
        flags = [focused(trace, text, "AB"[s]) for s, trace in enumerate(story.traces)]
        if not any(flag.any() for flag in flags):
            raise UsageError(f"--walk {text}: no function in either trace has this name")
        inside = np.ones(len(stage.a), np.bool_)
        for flag, ids in zip(flags, (stage.a, stage.b)):
            if flag.any():
                inside &= flag[ids]
        if not inside.any():
            raise UsageError(f"--walk {text}: no match that is drawn lies within it")
    # The outermost match: the one whose calls are at the lowest depth; of these the most important.
    a, b = (trace.calls.depth.astype(np.int64) for trace in story.traces)
    depth = a[stage.a] + b[stage.b]
    rank = np.lexsort((-weight, depth))
    return int(rank[inside[rank]][0])


def _weight(story: Explained, stage: Stage) -> NDArray[np.float64]:
    lasted = [t.calls.end[ids] - t.calls.start[ids] for t, ids in zip(story.traces, (stage.a, stage.b))]
    return np.asarray(stage.similarity * np.minimum(*lasted), np.float64)


def explaining(story: Explained, stage: Stage, match: int) -> list[int]:
    """Return the outermost drawn matches strictly below both calls of ``match``, the most important first.

    Parameters
    ----------
    story : Explained
    stage : Stage
        The drawing with its matches.
    match : int
        Its index among those that are drawn.

    Returns
    -------
    list of int
    """
    a, b = int(stage.a[match]), int(stage.b[match])
    inside = below(story, 0, a, stage.a) & below(story, 1, b, stage.b) & (stage.a != a) & (stage.b != b)
    weight = _weight(story, stage)
    calls = [trace.calls for trace in story.traces]
    least = _LEAST * min(int(c.end[i] - c.start[i]) for c, i in zip(calls, (a, b)))
    inside &= weight >= least
    rank = np.flatnonzero(inside)
    depth = calls[0].depth[stage.a[rank]] + calls[1].depth[stage.b[rank]]
    rank = rank[np.lexsort((-weight[rank], depth))]
    found: list[int] = []
    covered = np.zeros(len(stage.a), np.bool_)
    for i in rank.tolist():
        if not covered[i] and len(found) < 4 * _PARTS:
            found.append(i)
            covered |= below(story, 0, int(stage.a[i]), stage.a) & below(story, 1, int(stage.b[i]), stage.b)
    found.sort(key=lambda i: -float(weight[i]))
    return found[:_PARTS]


def _span(story: Explained, trace: int, call: int) -> Range:
    calls = story.traces[trace].calls
    return int(calls.start[call]), int(calls.end[call])


def _name(story: Explained, trace: int, call: int) -> str:
    own = story.traces[trace]
    return label_of_call(own, call)


def _pair(story: Explained, stage: Stage, match: int) -> str:
    a, b = int(stage.a[match]), int(stage.b[match])
    names = _name(story, 0, a), _name(story, 1, b)
    lasts = [duration(int(t.calls.end[c] - t.calls.start[c])) for t, c in zip(story.traces, (a, b))]
    what = names[0] if names[0] == names[1] else f"{names[0]} = {names[1]}"
    return f"{what} ({float(stage.similarity[match]):.2f}; {lasts[0]} and {lasts[1]})"


def _caption(story: Explained, stage: Stage, match: int, parts: list[int], also: int) -> str:
    text = _pair(story, stage, match)
    if parts:
        text += " is explained by " + ", ".join(_pair(story, stage, i) for i in parts)
    else:
        text += " is explained by no other match that is drawn"
    if also:
        text += f". {also:,} other match{'es' if also > 1 else ''} of the two calls are shown, too"
    return text + "."
