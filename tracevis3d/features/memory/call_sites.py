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
#: Of Python's own, only these: parts of the function around, and no frames of their own from 3.12 on.
_COMPREHENSION = re.compile(r"<(?:genexpr|listcomp|setcomp|dictcomp)>$")
_PYTHON = re.compile(r"\.pyw?\b")
#: Maximum depth of such functions.
_DEEPEST = 32
#: Functions that load modules or register classes: what they keep is the program itself.
_IMPORTS = re.compile(r"<frozen (?:importlib|zipimport|abc)\b|\b_bootstrap(?:_external)?\b")


def is_import(name: str) -> bool:
    """Return whether a function loads modules, as Python's import does, by its name and file."""
    return _IMPORTS.search(name) is not None


def passes_on(label: str, file: str = "") -> bool:
    """Return whether a function only passes an allocation on, by its name and that of its file.

    Parameters
    ----------
    label : str
    file : str
        Or a name that contains it; empty: unknown.

    Returns
    -------
    bool

    Examples
    --------
    >>> passes_on("xmalloc"), passes_on("allocate", "pool.py"), passes_on("Pool.<listcomp>", "pool.py")
    (True, False, True)
    """
    if _COMPREHENSION.search(label):
        return True
    return _PASSES_ON.search(label) is not None and not _PYTHON.search(file)


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
    files = [trace.files[f] if f >= 0 else "" for f in trace.functions.file.tolist()]
    passes = np.array([passes_on(*one) for one in zip(trace.functions.label, files, strict=True)], np.bool_)
    memory = trace.memory
    # Of each frame, each function, and of nothing known: function and line; of each block, which of these.
    stacks, functions = trace.stacks, trace.functions
    function = np.concatenate([stacks.function, np.arange(len(functions)), [-1]]).astype(np.int64)
    line = np.concatenate([stacks.line, functions.line, [0]]).astype(np.int64)
    which = np.full(len(blocks), len(function) - 1, np.int32)
    if len(memory.stack):
        outward = _outward(stacks.function, stacks.parent, passes)
        site = np.append(outward, len(function) - 1).astype(np.int32)
        for part in blocks.parts():
            which[part] = site[memory.stack[blocks.row[part]]]
    rest = np.flatnonzero(which == len(function) - 1)
    if len(rest):
        call = np.asarray(memory.call[blocks.row[rest]])
        rest, at = rest[call >= 0], call[call >= 0]
        for _ in range(_DEEPEST):
            above = trace.calls.parent[at]
            on = passes[trace.calls.function[at]] & (above >= 0)
            if not on.any():
                break
            at = np.where(on, above, at)
        which[rest] = len(stacks) + trace.calls.function[at]
    count = blocks.sums(which, len(function), lambda part: None)
    bytes_of = blocks.sums(which, len(function), lambda part: blocks.size[part])
    used = np.flatnonzero(count)
    distinct, number = np.unique((function[used] + 1) << 32 | line[used], return_inverse=True)
    number = number.reshape(-1)
    order = np.argsort(-np.bincount(number, bytes_of[used], len(distinct)), kind="stable")
    rank = np.empty(len(order), np.int32)
    rank[order] = np.arange(len(order))
    rank_of = np.zeros(len(function), np.int32)
    rank_of[used] = rank[number]
    np.take(rank_of, which, out=which, mode="clip")
    named = ((distinct >> 32) - 1).astype(np.int32)[order]
    lines = (distinct & 0xFFFFFFFF).astype(np.int32)[order]
    names = tuple(call_site(trace, f, at) for f, at in zip(named.tolist(), lines.tolist(), strict=True))
    return Sites(which, named, lines, names)


def _outward(function: NDArray[np.int32], parent: NDArray[np.int32], passes: NDArray[np.bool_]) -> Ints:
    """Return for each frame the frame of its call site."""
    at = np.arange(len(function))
    for _ in range(_DEEPEST):
        on = passes[function[at]] & (parent[at] >= 0)
        if not on.any():
            break
        at = np.where(on, parent[at], at)
    return at
