"""What a call of one trace is most like in the other, and in which group of matches calls are."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .findings_evidence import Evidence

#: Similarities so much below the best count as equal to it, as where the view compare chooses matches.
_NEARLY = 0.1
#: Units of A that are asked for the best match of calls of B; there are a few thousand in large programs.
_MOST_ASKED = 20_000

Floats = NDArray[np.float64]


def most_alike(evidence: Evidence, trace: int, calls: list[int]) -> list[dict[str, Any] | None]:
    """Return for each call of a trace the call of the other one that is most like it.

    Of the calls that are nearly as similar as the best, those of the same function, and of these the longest.

    Returns
    -------
    list of dict or None
        ``call``, ``similarity``, ``function``, ``path``, ``start_ns``, ``time_ns``; None without a match.
    """
    found: list[dict[str, Any] | None] = []
    similarity = evidence.comparison.similarity
    unit_of_class = (similarity.unit_b, similarity.unit_a)[trace]
    other = 1 - trace
    columns = evidence.comparison.traces[other].calls
    of_call = unit_of_class[evidence.comparison.sides[other].subtrees.of_call]
    functions = evidence.paths.function[other]
    for wanted, share in zip(calls, _shares(evidence, trace, calls)):
        best = float(share.max(initial=0.0))
        if not best > 0:
            found.append(None)
            continue
        candidates = np.flatnonzero((share >= max(best - _NEARLY, 1e-12))[of_call])
        own = evidence.paths.of_call[trace][wanted]
        same = candidates[
            functions[evidence.paths.of_call[other][candidates]] == evidence.paths.function[trace, own]
        ]
        candidates = same if len(same) else candidates
        call = int(candidates[np.argmax(columns.end[candidates] - columns.start[candidates])])
        node = int(evidence.paths.of_call[other][call])
        found.append(
            {
                "call": call,
                "similarity": float(share[of_call[call]]),
                "function": evidence.label(node, other),
                "path": list(evidence.way(node)),
                "start_ns": int(columns.start[call]),
                "time_ns": int(columns.end[call] - columns.start[call]),
            }
        )
    return found


def _shares(evidence: Evidence, trace: int, calls: list[int]) -> list[Floats]:
    """Return for each call its similarity with every unit of the other trace; 0 where that is no match."""
    comparison = evidence.comparison
    threshold, similarity = comparison.settings.tau, comparison.similarity
    if trace == 0:
        rows = [comparison.row(call) for call in calls]
        return [np.where(row.above(threshold), row.share(), 0.0) for row in rows]
    units = comparison.unit_of_b(np.array(calls, np.int64))
    shares = np.zeros((len(calls), len(similarity.calls_a)))
    if len(calls):
        for unit in range(min(len(similarity.calls_a), _MOST_ASKED)):
            row = similarity.row(unit)
            shares[:, unit] = np.where(row.above(threshold)[units], row.share()[units], 0.0)
    return list(shares)


def groups_of(evidence: Evidence, pairs: list[tuple[int, int]]) -> list[tuple[int, int] | None]:
    """Return the root calls (G_A, G_B) of the group of matches that each pair of calls is in."""
    if not pairs:
        return []
    comparison = evidence.comparison
    a, b = (np.array(side, np.int64) for side in zip(*pairs))
    roots = comparison.groups.roots_of(comparison.traces[0].calls, comparison.traces[1].calls, a, b)
    return [(int(x), int(y)) if pair >= 0 else None for pair, x, y in zip(roots.pair, roots.a, roots.b)]
