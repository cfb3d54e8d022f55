"""Names of call sites above the flat picture: flags whose texts meet nothing."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tracevis3d.features.memory.view.names import flag_rows

FLAGS = st.lists(
    st.tuples(st.integers(0, 60), st.integers(1, 25)), max_size=9, unique_by=lambda flag: flag[0]
)


@given(FLAGS)
def test_flags_meet_neither_poles_nor_texts_and_stand_as_low_as_they_can(flags) -> None:
    flags = sorted(flags)
    foot = np.array([float(x) for x, _ in flags])
    until = np.array([float(x + wide) for x, wide in flags])
    rows = flag_rows(foot, until)
    for i in range(len(flags)):
        met = [rows[j] for j in range(i + 1, len(flags)) if foot[i] <= foot[j] <= until[i]]
        # Poles to the right end below the text, and texts that begin there lie below it, too.
        assert all(row < rows[i] for row in met)
        assert rows[i] == 0 or rows[i] - 1 in met
