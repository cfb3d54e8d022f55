"""How far the calls of each module stand out of their wall, where a comparison is pulled apart by modules."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .....analysis.measures import self_time_by_function
from .....trace.model import Trace
from .....views.calls.parts import named_containers

Floats = NDArray[np.float64]

#: Modules with a step of their own; all others share the last one.
MOST = 8


def module_steps(traces: Sequence[Trace], apart: float) -> list[Floats]:
    """Return how far calls of each function stand out: the more self time a module has, the less.

    Parameters
    ----------
    traces : sequence of Trace
        A module has the same step in all of them: that of its name.
    apart : float
        The last step, in scene units.

    Returns
    -------
    list of float64 (functions,)
        One for each trace.
    """
    if apart <= 0:
        return [np.zeros(len(trace.functions)) for trace in traces]
    names: list[list[str]] = []
    total: dict[str, float] = {}
    for trace in traces:
        container, name = named_containers(trace, False)
        known = {int(c): name(int(c)) for c in np.unique(container) if c >= 0}
        names.append([known.get(c, "") for c in container.tolist()])
        for module, own in zip(names[-1], self_time_by_function(trace).tolist()):
            total[module] = total.get(module, 0.0) + own
    order = sorted((module for module in total if module), key=lambda module: (-total[module], module))
    last = min(len(order), MOST)
    step = {module: min(rank, last) for rank, module in enumerate(order)}
    return [
        apart / max(last, 1) * np.array([step.get(module, last) for module in own], np.float64)
        for own in names
    ]
