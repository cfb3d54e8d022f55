"""The strip that shows a whole trace, against its definition."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support import synthetic
from tracevis3d.analysis.mural import HEIGHT, WIDTH, Mural, mural, unpacked
from tracevis3d.trace.model import Calls


@given(st.integers(0, 2**32), st.integers(1, 1500), st.booleans())
@settings(deadline=None, max_examples=40)
def test_every_call_is_in_its_cell(seed, n, chain) -> None:
    calls = synthetic.chain(n) if chain else synthetic.random_calls(seed, n, functions=3, threads=2)
    hidden = np.random.default_rng(seed).random(n) < 0.3
    found = mural(calls, hidden)
    deepest = max(int(calls.depth.max()), HEIGHT)
    cells = {}
    for i in range(n):
        key = int(hidden[i]), (int(calls.depth[i]) - 1) * HEIGHT // deepest, i * WIDTH // n
        cells[key] = cells.get(key, 0) + 1
    for kind, values in enumerate((found.shown, found.hidden)):
        full = {(int(row), int(column)) for row, column in zip(*np.nonzero(values), strict=True)}
        assert full == {(row, column) for k, row, column in cells if k == kind}
        for (k, row, column), count in cells.items():
            if k == kind:
                share = min(count / max(n / WIDTH, 1.0), 1.0)
                assert abs(int(values[row, column]) - 255 * share**0.5) <= 1.0
    again = unpacked(found.packed())
    assert again is not None
    assert np.array_equal(again.shown, found.shown)
    assert np.array_equal(again.hidden, found.hidden)


def test_no_calls_and_damaged_texts() -> None:
    empty = mural(Calls(), np.zeros(0, np.bool_))
    assert not empty.shown.any()
    cells = np.random.default_rng(1).integers(0, 256, (HEIGHT, WIDTH), np.uint8)
    text = Mural(cells, cells).packed()
    for damaged in ("", "no strip", text[: len(text) // 2], text[5:], "é"):
        assert unpacked(damaged) is None
