"""Distinct subtrees and sets against the same with Python's dicts, sets of functions as Python's integers."""

from __future__ import annotations

from functools import partial
from typing import Any

from benchmarks.measure import HUGE, best, recorded, row
from tests.support import synthetic
from tracevis3d.analysis.sets import distinct_sets
from tracevis3d.analysis.subtrees import Subtrees, distinct_subtrees
from tracevis3d.trace.model import Calls


def rows() -> list[dict[str, Any]]:
    """Measure; times in milliseconds."""
    distinct_sets(distinct_subtrees(synthetic.program(1000)[0]))  # compile
    result = []
    for n, runs in ((150_000, 9), (2_400_000, 7), (14_000_000, 3)):
        calls, _, _ = synthetic.program(n)
        subtrees, ours = best(runs, partial(distinct_subtrees, calls))
        (of_call, count), peer = best(1, partial(plain_classes, calls))
        assert count == len(subtrees)
        assert of_call[:1000] == subtrees.of_call[:1000].tolist()
        result.append(row(f"distinct subtrees, {n:,} calls", ours, peer, "Python dict"))
        if n == 14_000_000:
            continue
        sets, ours = best(runs, partial(distinct_sets, subtrees))
        count, peer = best(2, partial(plain_sets, subtrees))
        assert count == len(sets)
        result.append(
            row(f"distinct sets of {len(subtrees):,} subtrees, {n:,} calls", ours, peer, "Python int")
        )
    for name, calls in (
        *recorded("vt_pylint_0.9M.json.gz"),
        ("recursion 1,000,000 deep", synthetic.chain(1_000_000)),
        ("one parent of 2,400,000 leaves", synthetic.flat(2_400_001)),
    ):
        _, ours = best(5, partial(distinct_subtrees, calls))
        _, peer = best(1, partial(plain_classes, calls))
        result.append(row(f"distinct subtrees, {name}", ours, peer, "Python dict"))
    if HUGE:
        calls, _, _ = synthetic.program(100_000_000)
        _, ours = best(2, partial(distinct_subtrees, calls))
        peer = 100 / 14 * next(r["peer"] for r in result if "14,000,000" in r["name"])
        result.append(row("distinct subtrees, 100,000,000 calls", ours, peer, "Python dict, extrapolated"))
    return result


def plain_classes(calls: Calls) -> tuple[list[int], int]:
    """Number the subtrees with a dict of tuples and a stack, the way to do it in plain Python."""
    function, extent = calls.function.tolist(), calls.extent.tolist()
    numbers: dict[tuple[int, ...], int] = {}
    of_call = [0] * len(function)
    stack: list[int] = []  # starts of finished subtrees, the nearest last
    for i in range(len(function) - 1, -1, -1):
        end = i + extent[i]
        key = [function[i]]
        while stack and stack[-1] < end:
            key.append(of_call[stack.pop()])
        of_call[i] = numbers.setdefault(tuple(key), len(numbers))
        stack.append(i)
    return of_call, len(numbers)


def plain_sets(subtrees: Subtrees) -> int:
    """Count the distinct sets with arbitrarily long integers as sets of bits."""
    function, first, child = subtrees.function.tolist(), subtrees.first.tolist(), subtrees.child.tolist()
    bits: list[int] = []
    for c in range(len(function)):
        members = 1 << function[c]
        for s in set(child[first[c] : first[c + 1]]):
            members |= bits[s]
        bits.append(members)
    return len(set(bits))
