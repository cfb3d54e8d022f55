"""Where blocks were allocated: the call site, as a person would name it."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...trace.model import Trace
from ...trace.names import call_site
from .blocks import Blocks

Ints = NDArray[np.int64]

#: Functions that only pass an allocation on: the call site is their caller.
_PASSES_ON = re.compile(
    r"alloc|^operator new|^(?:g_)?new0?$|^str[n]?dup$|^<?PyMem_|^PyObject_M|^PyDataMem_|^PyArray_New",
    re.IGNORECASE,
)
#: Maximum depth of such functions.
_DEEPEST = 32


def passes_on(label: str) -> bool:
    """Return whether a function only passes an allocation on, by its name."""
    return _PASSES_ON.search(label) is not None


@dataclass(frozen=True, eq=False)
class Sites:
    """The call sites, those that allocate most bytes first.

    Attributes
    ----------
    of_block : int32 (blocks,)
        Index of each block's site.
    function : int32 (sites,)
        Index into ``Trace.functions``; -1: nothing is known.
    line : int32 (sites,)
        0 if unknown.
    name : tuple of str (sites)
    """

    of_block: NDArray[np.int32]
    function: NDArray[np.int32]
    line: NDArray[np.int32]
    name: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.name)


def find_sites(trace: Trace, blocks: Blocks) -> Sites:
    """Return the call site of each block: the innermost function, with its line, that is no allocator.

    It is taken from the stack that was recorded with the allocation, else from the call around it.

    Parameters
    ----------
    trace : Trace
    blocks : Blocks
        Those of the trace.

    Returns
    -------
    Sites
    """
    passes = np.array([passes_on(label) for label in trace.functions.label], np.bool_)
    memory = trace.memory
    n = len(blocks)
    function, line = np.full(n, -1, np.int32), np.zeros(n, np.int32)
    if len(memory.stack):
        frame = memory.stack[blocks.row]
        site = _outward(trace.stacks.function, trace.stacks.parent, passes)
        known = frame >= 0
        at = site[frame[known]]
        function[known], line[known] = trace.stacks.function[at], trace.stacks.line[at]
    call = np.asarray(memory.call[blocks.row])
    rest = np.flatnonzero((function < 0) & (call >= 0))
    if len(rest):
        at = call[rest]
        for _ in range(_DEEPEST):
            above = trace.calls.parent[at]
            on = passes[trace.calls.function[at]] & (above >= 0)
            if not on.any():
                break
            at = np.where(on, above, at)
        function[rest] = trace.calls.function[at]
        line[rest] = trace.functions.line[function[rest]]
    key = (function.astype(np.int64) + 1) << 32 | line
    distinct, back = np.unique(key, return_inverse=True)
    back = back.reshape(-1)
    bytes_ = np.bincount(back, blocks.size, len(distinct))
    order = np.argsort(-bytes_, kind="stable")
    rank = np.empty(len(order), np.int32)
    rank[order] = np.arange(len(order))
    functions = ((distinct >> 32) - 1).astype(np.int32)[order]
    lines = (distinct & 0xFFFFFFFF).astype(np.int32)[order]
    names = tuple(call_site(trace, f, at) for f, at in zip(functions.tolist(), lines.tolist(), strict=True))
    return Sites(rank[back], functions, lines, names)


def _outward(function: NDArray[np.int32], parent: NDArray[np.int32], passes: NDArray[np.bool_]) -> Ints:
    """Return for each frame the frame of its call site."""
    at = np.arange(len(function))
    for _ in range(_DEEPEST):
        on = passes[function[at]] & (parent[at] >= 0)
        if not on.any():
            break
        at = np.where(on, parent[at], at)
    return at
