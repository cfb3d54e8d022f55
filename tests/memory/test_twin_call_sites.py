"""The call sites of blocks against a plain twin: the innermost function that does more than pass on."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.plain_match import small_trace
from tracevis3d.features.memory.blocks import find_blocks
from tracevis3d.features.memory.call_sites import find_sites, passes_on
from tracevis3d.features.memory.summary import MemoryUse, memory_facts
from tracevis3d.trace.model import ALLOC, FREE, Memory, Stacks, Strings
from tracevis3d.trace.names import call_site

PASS = ("malloc", "operator new[]", "g_new0", "xalloc", "strdup", "PyMem_Malloc")
OWN = ("main", "renew", "new_node", "parse")
NAMES = [*PASS, *OWN]
#: What is called so in Python passes nothing on.
FILES = ["pool.py", "pool.c"]


@pytest.mark.parametrize(
    "name", [*PASS, "realloc", "New", "new0", "strndup", "<PyMem_Raw>", "PyArray_NewCopy"]
)
def test_what_passes_on(name) -> None:
    assert passes_on(name)


def test_a_comprehension_is_a_part_of_the_function_around_it() -> None:
    for kind in ("genexpr", "listcomp", "setcomp", "dictcomp"):
        assert passes_on(f"Pool.<{kind}>", "pool.py")
    assert not passes_on("allocate", "pool.py")


@pytest.mark.parametrize("name", [*OWN, "news", "mystrdup", "xPyMem_Free", "the operator new"])
def test_what_does_not_pass_on(name) -> None:
    assert not passes_on(name)


@st.composite
def programs(draw):
    """Return a trace of which blocks have a stack, or a call around them, or neither."""
    n = draw(st.integers(0, 40))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    depths = [1]
    for _ in range(n):
        depths.append(int(rng.integers(1, depths[-1] + 2)))
    # Deep towers of what only passes on are rare, and cut off.
    deep = draw(st.booleans())
    few = len(PASS) if deep else len(NAMES)
    if deep:
        depths = list(range(1, draw(st.integers(30, 40)) + 1))
    functions = rng.integers(0, few, len(depths))
    trace = small_trace(depths, functions.tolist(), [1] * len(depths), NAMES)
    frames = draw(st.integers(0, 40))
    parent = (
        np.arange(-1, frames - 1) if deep else rng.integers(-1, np.arange(frames)) if frames else np.empty(0)
    )
    stacks = Stacks(
        rng.integers(0, few, frames).astype(np.int32), np.asarray(parent, np.int32),
        rng.integers(0, 4, frames).astype(np.int32),
    )  # fmt: skip
    rows = draw(st.integers(0, 30))
    kind = rng.choice([ALLOC, ALLOC, FREE], rows).astype(np.uint8)
    memory = Memory(
        np.arange(rows), rng.integers(0, 9, rows).astype(np.uint64),
        np.where(kind == ALLOC, rng.integers(0, 4, rows), 0), kind, np.zeros(rows, np.int32),
        rng.integers(-1, len(trace.calls), rows),
        rng.integers(-1, frames, rows).astype(np.int32) if draw(st.booleans()) else np.empty(0, np.int32),
    )  # fmt: skip
    lines = np.arange(len(trace.functions), dtype=np.int32) % 3
    file = rng.integers(-1, len(FILES), len(trace.functions)).astype(np.int32)
    described = replace(trace.functions, line=lines, file=file)
    return replace(trace, memory=memory, stacks=stacks, functions=described, files=Strings.of(FILES))


@given(programs())
@settings(deadline=None, max_examples=150)
def test_sites_are_those_of_the_plain_twin(trace) -> None:
    blocks = find_blocks(trace.memory, 100)
    found = find_sites(trace, blocks)
    passing = [
        label in PASS and (file < 0 or FILES[file] != "pool.py")
        for label, file in zip(trace.functions.label, trace.functions.file.tolist(), strict=True)
    ]
    site_of, bytes_ = [], {}
    for row, size in zip(blocks.row.tolist(), blocks.size.tolist()):
        frame = int(trace.memory.stack[row]) if len(trace.memory.stack) else -1
        at, column = (frame, trace.stacks) if frame >= 0 else (int(trace.memory.call[row]), trace.calls)
        for _ in range(32):
            above = int(column.parent[at]) if at >= 0 else -1
            if above >= 0 and passing[column.function[at]]:
                at = above
        function = int(column.function[at]) if at >= 0 else -1
        line = int(trace.stacks.line[at] if frame >= 0 else trace.functions.line[function]) if at >= 0 else 0
        site_of.append((function, line))
        bytes_[function, line] = bytes_.get((function, line), 0) + size
    order = sorted(bytes_, key=lambda site: (-bytes_[site], site))
    assert list(zip(found.function.tolist(), found.line.tolist())) == order
    assert [order[i] for i in found.of_block.tolist()] == site_of
    assert list(found.name) == [call_site(trace, *site) for site in order]
    if not len(blocks):
        return
    # What is told of all is the sum over call sites, or their mean.
    facts = memory_facts(MemoryUse(replace(trace, span_ns=100)), 99)
    for name in ("blocks", "allocated_bytes", "kept_blocks", "kept_bytes"):
        assert facts[name] == sum(site[name] for site in facts["sites"])
    row, freed = blocks.row, np.where(blocks.free_row < 0, len(trace.memory), blocks.free_row)
    live = [int(blocks.size[(row <= at) & (at < freed)].sum()) for at in range(len(trace.memory))]
    assert facts["peak_bytes"] == max(live)
    assert facts["peak_ns"] == (trace.memory.time[live.index(max(live))] if max(live) else 0)
    assert facts["mean_lifetime_ns"] == pytest.approx((blocks.until - blocks.born).mean())
