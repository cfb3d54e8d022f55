"""What fuzzing found once is read without a traceback from then on (see tests/fuzz/run.py)."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fuzz.readers import FINDS
from tests.fuzz.run import MOST_LONGER, Tried, subjects, turns

FOUND = sorted(path for path in FINDS.glob("*_*") if path.is_file())


@pytest.mark.parametrize("path", FOUND, ids=lambda path: path.name)
def test_finds_are_read_or_refused(path):
    subjects()[path.name.rpartition("_")[0]].try_one(path)


def test_there_are_finds():
    assert FOUND


@pytest.mark.parametrize("name", ["tv3", "feed", "recorder", "documents"])
def test_each_kind_of_subject_is_damaged_and_tried(tmp_path, name):
    subject, pick = subjects()[name], random.Random(1)
    start = subject.seeds()
    tried = set()
    # A change may give what was there, or what was tried.
    for _ in range(12):
        if len(tried - {data for _, data in start}) >= 3:
            break
        suffix, data = pick.choice(start)
        changed = subject.changed(data, start, pick)
        path = tmp_path / f"input{suffix}"
        path.write_bytes(changed)
        subject.try_one(path)
        tried.add(changed)
    assert len(tried - {data for _, data in start}) >= 3


@given(st.lists(st.floats(1e-4, 10.0), min_size=1, max_size=8), st.floats(1.0, 1e4))
def test_what_takes_longer_has_longer_turns(per_input, seconds):
    tried = [Tried(inputs=100, seconds=100 * one) for one in per_input]
    shares = turns(seconds, tried)
    assert sum(shares) == pytest.approx(seconds)
    assert max(shares) <= MOST_LONGER * min(shares) * 1.0001
    ordered = [share for _, share in sorted(zip(per_input, shares, strict=True))]
    assert ordered == sorted(ordered)
    # Before anything has been tried, all are alike.
    assert len({*turns(seconds, [Tried(), Tried()])}) == 1
