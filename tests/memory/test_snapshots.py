"""What may be said where only snapshots of memory are known: programs of known truth, seldom looked at."""

from __future__ import annotations

import random
from array import array
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.memory.known_memory import STEPS, program
from tracevis3d.features.memory.blocks import find_blocks
from tracevis3d.features.memory.call_sites import Sites
from tracevis3d.features.memory.curves import site_table
from tracevis3d.features.memory.findings import find_memory, live_at
from tracevis3d.record.memory.blocks import LivingBlocks
from tracevis3d.trace.model import ALLOC, FREE, Memory

#: Nanoseconds of a step.
STEP = 12_000_000


def seen(parts, looks):
    """Run a program, look at what lives after some of its steps; return its findings and what was known."""
    known, times, rows = LivingBlocks(), [], []
    site_of = {part.name: site for site, part in enumerate(parts)}
    before = 0
    for step in range(STEPS):
        for part in parts:
            part.step(step)
        if step not in looks and step < STEPS - 1:
            continue
        kinds = Counter((site_of[part.name], len(block)) for part in parts for block in part.blocks)
        columns = array("I"), array("q"), array("q")
        for (site, size), count in kinds.items():
            for column, value in zip(columns, (site, size, count)):
                column.append(value)
        kind, address, size, site = known.take(b"".join(column.tobytes() for column in columns))
        now = (step + 1) * STEP
        for i in range(len(kind)):
            at = before + (now - before) * (i + 1) // len(kind)
            rows.append((at, address[i], size[i], kind[i], site[i]))
        times.append(now)
        before = now
    time, address, size, kind, site = (list(column) for column in zip(*rows)) if rows else [[]] * 5
    memory = Memory(
        np.array(time, np.int64), np.array(address, np.uint64), np.array(size, np.int64),
        np.array(kind, np.uint8), np.zeros(len(time), np.int32), np.full(len(time), -1),
    )  # fmt: skip
    blocks = find_blocks(memory, STEPS * STEP)
    n = len(parts)
    names = tuple(part.name for part in parts)
    sites = Sites(
        np.array(site, np.int32)[blocks.row], np.full(n, -1, np.int32), np.zeros(n, np.int32), names
    )
    moments = np.array(times, np.int64)
    every = float(np.median(np.diff(moments))) if len(moments) > 1 else 0.0
    found = find_memory(blocks, sites, site_table(blocks, sites), False, every, moments)
    return found, names, moments


def said(found, names):
    """Return kind and site of the findings about one call site."""
    return {(f.kind, names[f.site]) for f in found if f.site >= 0}


def true_of(parts):
    """Return what is true of the parts, and what may be said of them because it is true as well."""
    true = {(part.truth, part.name) for part in parts if part.truth and part.truth != "churn"}
    also = {(part.by_size, part.name) for part in parts if part.by_size}
    return true, also


@pytest.mark.parametrize("every", [1, 2, 3])
def test_frequent_snapshots_tell_what_is_true(every) -> None:
    for seed in range(300, 312):
        parts = program(seed)
        found, names, _ = seen(parts, range(0, STEPS, every))
        true, also = true_of(parts)
        assert true <= said(found, names) <= true | also
        assert all(f.how == "inferred" for f in found)


def test_rare_snapshots_accuse_nobody_falsely() -> None:
    """A saw whose teeth lie between snapshots is no leak; a leak is one from eight snapshots on."""
    grown = set()
    for seed in range(300, 324):
        draw = random.Random(seed)
        for looks in (
            *(range(first, STEPS, every) for every in (5, 7, 8, 9, 11, 13, 21) for first in (0, 3)),
            *(set(draw.sample(range(STEPS), count)) for count in (2, 4, 6, 10, 20)),
        ):
            parts = program(seed)
            found, names, moments = seen(parts, looks)
            true, also = true_of(parts)
            # Of what leaks, fewer snapshots may say that it grows.
            also |= {("growth", name) for kind, name in true if kind == "leak" and len(moments) < 8}
            assert said(found, names) <= true | also, (seed, looks)
            grown |= {(f.kind, len(moments)) for f in found if f.kind in ("leak", "growth")}
    assert {kind for kind, looks in grown if looks < 8} == {"growth"}
    assert {kind for kind, looks in grown if looks >= 8} == {"leak"}


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9), st.integers(-1, 1)), max_size=9), st.data())
@settings(deadline=None, max_examples=50)
def test_live_bytes_at_moments(rows, data) -> None:
    moments = np.array(sorted(data.draw(st.sets(st.integers(0, 19)))), np.int64)
    events = sorted(
        [(born, 1, i, ALLOC, 1 + i) for i, (born, _, _) in enumerate(rows)]
        + [(born + lived, 2, i, FREE, 0) for i, (born, lived, _) in enumerate(rows) if lived]
    )
    column = [list(values) for values in zip(*events)] or [[]] * 5
    memory = Memory(
        np.array(column[0], np.int64), np.array(column[2], np.uint64), np.array(column[4], np.int64),
        np.array(column[3], np.uint8), np.zeros(len(events), np.int32), np.full(len(events), -1),
    )  # fmt: skip
    blocks = find_blocks(memory, 20)
    of = np.array([rows[address][2] for address in blocks.address.tolist()], np.int32)
    for group, live in enumerate(live_at(blocks, of, 2, moments).tolist()):
        assert live == [
            sum(
                1 + i
                for i, (born, lived, mine) in enumerate(rows)
                if mine == group and born <= moment and (not lived or moment < born + lived)
            )
            for moment in moments.tolist()
        ]
