"""Begins and ends of threads' turns, held against lists."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tracevis3d.kernels.formats.lay.turns import find_bounds, find_who_runs, pair_turns


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 2), st.booleans()), max_size=14))
def test_a_begin_belongs_to_the_end_that_comes_next_in_its_group(rows):
    group, begins = np.array(rows, np.int64).reshape(-1, 2).T
    end = np.full(len(rows), -1, np.int64)
    pair_turns(np.ascontiguousarray(group), begins.astype(bool), np.full(3, -1, np.int64), end)
    for row, (one, begin) in enumerate(rows):
        next_one = next((k for k in range(row + 1, len(rows)) if rows[k][0] == one), None)
        is_pair = begin and next_one is not None and not rows[next_one][1]
        assert end[row] == (next_one if is_pair else -1)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(-1, 2), st.integers(0, 4)), max_size=14))
def test_the_first_and_last_rows_of_groups_are_those_of_sorting(rows):
    group, place = np.array(rows, np.int64).reshape(-1, 2).T.copy()
    first, last = np.full((2, 3), -1, np.int64)
    find_bounds(group, place, first, last)
    for one in range(3):
        mine = sorted((k for k in range(len(rows)) if group[k] == one), key=lambda k: place[k])
        assert (first[one], last[one]) == ((mine[0], mine[-1]) if mine else (-1, -1))


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.booleans(), *[st.integers(-1, 2)] * 5, st.integers(0, 1)), max_size=14))
def test_who_runs_is_whom_the_last_switch_of_the_processor_began(rows):
    is_switch, comes, other, leaves, name, runs, cpu = np.array(rows, np.int64).reshape(-1, 7).T.copy()
    other = other + 1
    said = [column.copy() for column in (leaves, name, runs)]
    find_who_runs(is_switch.astype(bool), cpu, comes, other, *said, *np.full((2, 2), -1, np.int64))
    for row in range(len(rows)):
        last = max((k for k in range(row) if is_switch[k] and cpu[k] == cpu[row]), default=-1)
        running = comes[last] if last >= 0 else -1
        knows = is_switch[row] and leaves[row] < 0
        assert said[0][row] == (max(running, 0) if knows else leaves[row])
        assert said[1][row] == (other[last] if knows and last >= 0 else name[row])
        known = max(running, 0) if is_switch[row] else running
        assert said[2][row] == (known if runs[row] < 0 else runs[row])
