"""What fuzzing found once is read without a traceback from then on (see tests/fuzz/run.py)."""

from __future__ import annotations

import random

import pytest

from tests.fuzz.readers import FINDS
from tests.fuzz.run import subjects

FOUND = sorted(path for path in FINDS.glob("*_*") if path.is_file())


@pytest.mark.parametrize("path", FOUND, ids=lambda path: path.name)
def test_finds_are_read_or_refused(path):
    subjects()[path.name.rpartition("_")[0]].try_one(path)


def test_there_are_finds():
    assert FOUND


@pytest.mark.parametrize("name", ["tv3", "feed", "recorder"])
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
