"""Distinct subtrees: against a twin of Python dicts, with colliding hashes, in the worst shapes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tracevis3d as tv
from tests.support import synthetic
from tracevis3d.analysis.subtrees import Subtrees, distinct_subtrees
from tracevis3d.trace.model import Calls

#: No bits: all hashes collide. A few: some do.
WEAK = (0, 1 << 40, 0x3, 0x7_0000_0003)


def plain_classes(calls: Calls) -> list[int]:
    """Number the subtrees with a dict, from the last call to the first."""
    numbers: dict[tuple[int, tuple[int, ...]], int] = {}
    of_call = [0] * len(calls)
    for i in reversed(range(len(calls))):
        children = []
        j = i + 1
        while j < i + calls.extent[i]:
            children.append(of_call[j])
            j += calls.extent[j]
        key = (int(calls.function[i]), tuple(children))
        of_call[i] = numbers.setdefault(key, len(numbers))
    return of_call


def check(calls: Calls, found: Subtrees) -> None:
    """Hold ``found`` together with the twin and with what its columns promise."""
    of_call = plain_classes(calls)
    assert found.of_call.tolist() == of_call
    assert len(found) == len(set(of_call))
    assert found.occurrences.tolist() == np.bincount(of_call, minlength=len(found)).tolist()
    for c in range(len(found)):
        call = int(found.call[c])
        assert call == of_call.index(c)
        assert found.function[c] == calls.function[call]
        assert found.extent[c] == calls.extent[call]
        children = found.child[found.first[c] : found.first[c + 1]]
        assert (children < c).all()
        below = range(call + 1, call + int(calls.extent[call]))
        assert children.tolist() == [of_call[j] for j in below if calls.parent[j] == call]
    assert len(found.child) == found.first[-1] if len(found) else len(found.child) == 0


@given(st.integers(0, 2**32), st.integers(0, 120), st.integers(1, 4), st.sampled_from((None, *WEAK)))
@settings(deadline=None, max_examples=150)
def test_same_as_twin(seed: int, n: int, functions: int, mask: int | None) -> None:
    calls = synthetic.random_calls(seed, n, functions=functions, threads=3)
    found = distinct_subtrees(calls) if mask is None else distinct_subtrees(calls, hash_mask=mask)
    check(calls, found)


def test_program_like_trace_outgrows_the_first_buffers() -> None:
    calls, _, _ = synthetic.program(300_000, threads=2, fresh=0.5)
    found = distinct_subtrees(calls)
    assert found.of_call.tolist() == plain_classes(calls)
    assert len(found) > 1 << 14


def test_collisions_do_not_change_the_result() -> None:
    calls, _, _ = synthetic.program(20_000, fresh=0.3)
    whole = distinct_subtrees(calls)
    weak = distinct_subtrees(calls, hash_mask=0xFF)
    assert np.array_equal(whole.of_call, weak.of_call)
    assert np.array_equal(whole.child, weak.child)


def test_chain_a_million_deep() -> None:
    calls = synthetic.chain(1_000_000, functions=1)
    found = distinct_subtrees(calls)
    assert len(found) == 1_000_000
    assert np.array_equal(found.of_call, np.arange(1_000_000)[::-1])


def test_one_parent_of_a_million_leaves() -> None:
    calls = synthetic.flat(1_000_001, functions=7)
    found = distinct_subtrees(calls)
    assert len(found) == 8
    assert len(found.child) == 1_000_000
    assert found.occurrences.sum() == 1_000_001


def test_no_calls() -> None:
    found = distinct_subtrees(Calls())
    assert len(found) == 0
    assert found.first.tolist() == [0]


def test_threads_share_classes() -> None:
    one = synthetic.from_depths(
        np.array([1, 2, 2, 1, 2, 2]), np.array([0, 1, 1, 0, 1, 1]), np.ones(6), np.ones(6), np.array([0, 1])
    )
    found = distinct_subtrees(one)
    assert found.of_call.tolist() == [1, 0, 0, 1, 0, 0]
    assert found.call.tolist() == [1, 0]
    assert found.occurrences.tolist() == [4, 2]
    assert found.extent.tolist() == [1, 3]


@pytest.mark.parametrize("name", ["vt_markdown_repeat1.json.gz", "weka_J48_weather.tsv.gz"])
def test_recorded_program(recorded, name: str) -> None:
    calls = tv.load(recorded / name, cache=False).calls
    found = distinct_subtrees(calls)
    assert found.of_call.tolist() == plain_classes(calls)
    assert len(found) < len(calls) / 10


def test_same_run_twice_has_the_same_subtrees(recorded) -> None:
    first, second = (
        distinct_subtrees(tv.load(recorded / f"vt_markdown_repeat{k}.json.gz", cache=False).calls)
        for k in (1, 2)
    )
    assert len(first) == len(second)
    assert np.array_equal(np.sort(first.occurrences), np.sort(second.occurrences))
