"""A filter: calls of a function that calls itself directly."""

from dataclasses import dataclass

import numpy as np

from tracevis3d.filters.registry import Filter, Marked
from tracevis3d.parameters import parameter


@dataclass(frozen=True)
class Parameters:
    """What can be set: the command line, the panel and the docs are made from this."""

    least: int = parameter(
        2, "How deep the recursion must be at least, the first call included", low=2, high=10_000
    )


def mark(facts, parameters):
    """Mark the ``least``-th call, and later ones, of each chain of calls of one function."""
    calls = facts.trace.calls
    itself = np.zeros(len(calls), bool)
    inner = calls.parent >= 0
    itself[inner] = calls.function[inner] == calls.function[calls.parent[inner]]
    # A call's depth in its chain is that of its caller and one more: as many rounds as the chain is deep.
    depth = np.ones(len(calls), np.int64)
    for _ in range(parameters.least - 1):
        depth[itself] = np.minimum(depth[calls.parent[itself]] + 1, parameters.least)
    return Marked("call", depth >= parameters.least)


FILTER = Filter(
    name="recursion",
    title="Recursion",
    sentence="Calls of functions that call themselves",
    category="any",
    parameters=Parameters,
    mark=mark,
    icon="LOOP_FORWARDS",
)
