"""Call paths of a profile that only says which function calls which, and what that weighs.

The weight of a call is shared among the callers of its caller in the ratio of what they weigh, as gprof does
(Graham, Kessler, McKusick: gprof, a call graph execution profiler, section 4). Own weights stay exact.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ...trace.recording import Recording
from .samples import FrameTree, lay_weights

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
    callees: dict[int, list[tuple[int, float]]] = {}
    came: dict[int, float] = {}
    for (caller, callee), weight in edges.items():
        if weight > 0 and caller != callee:
            callees.setdefault(caller, []).append((callee, weight))
            came[callee] = came.get(callee, 0.0) + weight
    whole = {
        function: max(own.get(function, 0.0), 0.0) + sum(weight for _, weight in callees.get(function, ()))
        for function in dict.fromkeys([*own, *callees, *came])
    }
    least = _SMALLEST * sum(max(weight, 0.0) for weight in own.values())
    tree = FrameTree(recording)
    stacks: list[int] = []
    weights: list[float] = []
    # Weight without a caller starts at the root.
    starts = {function: total - min(came.get(function, 0.0), total) for function, total in whole.items()}
    if not any(starts.values()) and whole:
        heaviest = max(whole, key=lambda function: whole[function])
        starts = {heaviest: whole[heaviest]}
    waiting: list[tuple[int, int, float, int, frozenset[int]]] = []
    waiting += [(one, -1, weight, 1, frozenset()) for one, weight in starts.items() if weight > least]
    while waiting:
        function, caller, weight, depth, path = waiting.pop()
        frame = tree.frame(function, caller)
        share = weight / whole[function] if whole[function] > 0 else 0.0
        rest = weight
        inside = path | {function}
        for callee, part in callees.get(function, ()):
            part *= min(share, 1.0)
            is_shown = part > least and depth < _DEEPEST and len(stacks) < _MOST
            if is_shown and callee not in inside:
                waiting.append((callee, frame, part, depth + 1, inside))
                rest -= part
        if rest > 0:
            stacks.append(frame)
            weights.append(rest)
    if stacks:
        recording.problems.add("no paths", "the whole file")
        lay_weights(
            recording, tree.columns(), np.full(len(stacks), thread), stacks, scale * np.array(weights)
        )
