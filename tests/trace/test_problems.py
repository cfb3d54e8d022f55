"""What pictures say of a trace's problems."""

from __future__ import annotations

import pytest

from tracevis3d.trace.problems import Problems


@pytest.mark.parametrize(
    ("count", "said"),
    [
        (1, "1 record was repaired or left out: malformed"),
        (2, "2 records were repaired or left out: malformed"),
    ],
)
def test_a_note_counts_records(count, said) -> None:
    problems = Problems()
    problems.add("malformed", "line 1", count)
    problems.add("out of order", "line 2", 5)
    assert problems.note() == said
