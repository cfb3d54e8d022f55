"""The most similar calls in the other trace, and the group of matches of each call."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..matching.similarity import similarity
from .evidence import Evidence

#: Similarities this little below the best count as equal to it, as when the view compare chooses matches.
_NEARLY = 0.1

Floats = NDArray[np.float64]


def most_alike(evidence: Evidence, trace: int, calls: list[int]) -> list[dict[str, Any] | None]:
    """Return for each call of a trace the call of the other one that is most like it.

    Of the calls that are nearly as similar as the best, those of the same function, and of these the longest.

    Parameters
    ----------
    evidence : Evidence
    trace : int
        0 for A, 1 for B: that of ``calls``.
    calls : list of int
        Their indices.

    Returns
    -------
    list of dict or None
        ``call``, ``similarity``, ``function``, ``path``, ``start_ns``, ``time_ns``; None without a match.
    """
    found: list[dict[str, Any] | None] = []
    if not calls:
        return found
    compared = evidence.comparison.similarity
    unit_of_class = (compared.unit_b, compared.unit_a)[trace]
    other = 1 - trace
    columns = evidence.comparison.traces[other].calls
    of_call = unit_of_class[evidence.comparison.sides[other].subtrees.of_call]
    functions = evidence.paths.function[other]
    for wanted, share in zip(calls, _shares(evidence, trace, calls)):
        if not share.any():
            found.append(None)
            continue
        candidates = np.flatnonzero(((share > 0) & (share >= share.max() - _NEARLY))[of_call])
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
    """Return for each call its similarity with every unit of the other trace; 0 where that is not a match."""
    comparison = evidence.comparison
    threshold, known = comparison.settings.tau, comparison.similarity
    if trace == 1:
        # The measure answers for one call of its first trace: B is the first of the two here.
        known = similarity(comparison.settings.measure, comparison.sides[1], comparison.sides[0])
    units = known.unit_a[comparison.sides[trace].subtrees.of_call[calls]]
    rows = [known.row(unit) for unit in units.tolist()]
    return [np.where(row.above(threshold), row.share(), 0.0) for row in rows]


def groups_of(evidence: Evidence, pairs: list[tuple[int, int]]) -> list[tuple[int, int] | None]:
    """Return the root calls (G_A, G_B) of the group of matches that each pair of calls is in.

    Parameters
    ----------
    evidence : Evidence
    pairs : list of (int, int)
        Of a call of A and one of B.

    Returns
    -------
    list of (int, int) or None
        None: they are in no group.
    """
    if not pairs:
        return []
    comparison = evidence.comparison
    a, b = (np.array(side, np.int64) for side in zip(*pairs))
    roots = comparison.roots_of(a, b)
    return [(int(x), int(y)) if pair >= 0 else None for pair, x, y in zip(roots.pair, roots.a, roots.b)]
