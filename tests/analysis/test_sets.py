"""Distinct sets of functions: against a twin of Python sets, with colliding hashes, in the worst shapes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tracevis3d as tv
from tests.support import synthetic
from tracevis3d.analysis.sets import Sets, distinct_sets
from tracevis3d.analysis.subtrees import Subtrees, distinct_subtrees
from tracevis3d.errors import InputError
from tracevis3d.trace.model import Calls


def plain_sets(subtrees: Subtrees) -> list[frozenset[int]]:
    """Return the set of functions of each class."""
    sets: list[frozenset[int]] = []
    for c in range(len(subtrees)):
        members = {int(subtrees.function[c])}
        for child in subtrees.child[subtrees.first[c] : subtrees.first[c + 1]].tolist():
            members |= sets[child]
        sets.append(frozenset(members))
    return sets


def check(subtrees: Subtrees, found: Sets) -> None:
    """Hold ``found`` together with the twin and with what its columns promise."""
    expected = plain_sets(subtrees)
    assert len(found) == len(set(expected))
    members = [found.members(s).tolist() for s in range(len(found))]
    assert [len(m) for m in members] == found.size.tolist()
    assert [members[s] for s in found.of_class.tolist()] == [sorted(e) for e in expected]
    assert (found.base < np.arange(len(found))).all()
    assert (np.diff(found.first) > 0).all()


@given(
    st.integers(0, 2**32),
    st.integers(0, 150),
    st.integers(1, 40),
    st.sampled_from((None, 0, 1, 0x8000_0000_0001)),
)
@settings(deadline=None, max_examples=150)
def test_same_as_twin(seed: int, n: int, functions: int, mask: int | None) -> None:
    subtrees = distinct_subtrees(synthetic.random_calls(seed, n, functions=functions, threads=2))
    check(subtrees, distinct_sets(subtrees) if mask is None else distinct_sets(subtrees, hash_mask=mask))


@pytest.mark.parametrize("functions", [60, 5000])
def test_program_like_trace_outgrows_the_first_buffers(functions: int) -> None:
    subtrees = distinct_subtrees(synthetic.program(200_000, functions=functions, levels=10, fresh=0.5)[0])
    found = distinct_sets(subtrees)
    expected = plain_sets(subtrees)
    numbers: dict[frozenset[int], int] = {}
    assert found.of_class.tolist() == [numbers.setdefault(e, len(numbers)) for e in expected]
    assert found.size.tolist() == [len(e) for e in numbers]
    for s in range(0, len(found), 97):
        assert found.members(s).tolist() == sorted(expected[found.of_class.tolist().index(s)])


def test_as_many_functions_as_calls() -> None:
    n = 300_000
    deep = distinct_sets(distinct_subtrees(synthetic.chain(n, functions=n)))
    assert len(deep) == n
    assert deep.size.tolist() == list(range(1, n + 1))
    assert len(deep.added) == n
    wide = distinct_sets(distinct_subtrees(synthetic.flat(n, functions=n)))
    assert len(wide) == n
    assert wide.size[-1] == n
    assert np.array_equal(wide.members(n - 1), np.arange(n))


def test_too_many_members_are_one_sentence() -> None:
    subtrees = distinct_subtrees(synthetic.program(50_000)[0])
    with pytest.raises(InputError, match="distinct subtrees of this trace reach too many"):
        distinct_sets(subtrees, budget=10_000)


def test_no_calls() -> None:
    assert len(distinct_sets(distinct_subtrees(Calls()))) == 0


def test_recorded_program(recorded) -> None:
    subtrees = distinct_subtrees(tv.load(recorded / "vt_rst2html_docutils0.20.json.gz", cache=False).calls)
    found = distinct_sets(subtrees)
    assert len(found) == len(set(plain_sets(subtrees)))
    assert found.size.max() <= subtrees.function.max() + 1
