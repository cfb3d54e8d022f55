"""Call paths of a profile that only says which function calls which, and what that weighs.

The weight of a call is shared among the callers of its caller in the ratio of what they weigh, as gprof does
(Graham, Kessler, McKusick: gprof, a call graph execution profiler, section 4). Own weights stay exact.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from ...trace.recording import Recording
from ..distinct import numbered
from .samples import FrameTree, lay_weights

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

#: A smaller share of the total weight is added to the caller's own weight.
_SMALLEST = 1e-4
_DEEPEST, _MOST = 500, 200_000


def lay_call_graph(
    recording: Recording,
    thread: int,
    own: Mapping[int, float],
    edges: Mapping[tuple[int, int], float],
    scale: float = 1,
) -> None:
    """Lay out the calls of a call graph, the heaviest first; calls that close a circle are their caller's.

    Parameters
    ----------
    recording : Recording
    thread : int
        Its index.
    own : mapping of int to float
        What each function weighs without what it calls; functions are indices of the recording.
    edges : mapping of (int, int) to float
        What the calls of a function by another weigh, with all that they call.
    scale : float
        Nanoseconds that one unit is laid out as.
    """
    rows = np.array([*own], np.int64), np.array([*own.values()], np.float64)
    pairs = np.array([*edges], np.int64).reshape(-1, 2).T
    lay_columns(recording, thread, rows, (*pairs, np.array([*edges.values()], np.float64)), scale)


def lay_columns(
    recording: Recording,
    thread: int,
    own: tuple[Ints, Floats],
    edges: tuple[Ints, Ints, Floats],
    scale: float = 1,
) -> None:
    """Lay out the calls of a call graph that is given as columns: see :func:`lay_call_graph`.

    Parameters
    ----------
    recording : Recording
    thread : int
        Its index.
    own : int64 (n,), float64 (n,)
        Functions, and what each weighs without what it calls.
    edges : int64 (m,), int64 (m,), float64 (m,)
        Callers, callees, and what calls between them weigh; several of two functions are added up.
    scale : float
        Nanoseconds that one unit is laid out as.
    """
    caller, callee, weight = edges
    functions, number = numbered(np.concatenate((own[0], caller, callee)))
    n, n_own = len(functions), len(own[0])
    alone = np.maximum(np.bincount(number[:n_own], own[1], n), 0)
    of_caller, of_callee = np.split(number[n_own:].astype(np.int64), 2)
    pairs, which = numbered(of_caller << 32 | of_callee)
    weight = np.bincount(which, weight, len(pairs)).astype(np.float64)
    of_caller, of_callee = pairs >> 32, pairs & 0xFFFFFFFF
    counts = np.flatnonzero((weight > 0) & (of_caller != of_callee))
    of_caller, of_callee, weight = of_caller[counts], of_callee[counts], weight[counts]
    came = np.bincount(of_callee, weight, n)
    total = alone + np.bincount(of_caller, weight, n)
    least = _SMALLEST * alone.sum()
    # What no share of can be shown is not looked at.
    callees: dict[int, list[tuple[int, float]]] = {}
    large = np.flatnonzero(weight > least)
    for one, other, much in zip(of_caller[large].tolist(), of_callee[large].tolist(), weight[large].tolist()):
        callees.setdefault(one, []).append((other, much))
    whole = total.tolist()
    tree = FrameTree(recording)
    stacks: list[int] = []
    weights: list[float] = []
    # Weight without a caller starts at the root.
    starts = total - np.minimum(came, total)
    if not starts.any() and n:
        starts[np.argmax(total)] = total.max()
    waiting: list[tuple[int, int, float, int, frozenset[int]]] = []
    waiting += [
        (one, -1, float(starts[one]), 1, frozenset()) for one in np.flatnonzero(starts > least).tolist()
    ]
    while waiting:
        function, below, much, depth, path = waiting.pop()
        frame = tree.frame(int(functions[function]), below)
        share = much / whole[function] if whole[function] > 0 else 0.0
        rest = much
        inside = path | {function}
        for other, part in callees.get(function, ()):
            part *= min(share, 1.0)
            is_shown = part > least and depth < _DEEPEST and len(stacks) < _MOST
            if is_shown and other not in inside:
                waiting.append((other, frame, part, depth + 1, inside))
                rest -= part
        if rest > 0:
            stacks.append(frame)
            weights.append(rest)
    if stacks:
        recording.problems.add("no paths", "the whole file")
        lay_weights(
            recording, tree.columns(), np.full(len(stacks), thread), stacks, scale * np.array(weights)
        )
