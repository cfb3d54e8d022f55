"""The strip that shows a whole trace, against its definition."""

import base64
import math
import zlib

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
                assert values[row, column] == math.ceil(255 * math.sqrt(share))
    again = unpacked(found.packed())
    assert again is not None
    assert np.array_equal(again.shown, found.shown)
    assert np.array_equal(again.hidden, found.hidden)


def test_no_calls_and_damaged_texts() -> None:
    with np.errstate(all="raise"):
        empty = mural(Calls(), np.zeros(0, np.bool_))
    assert not empty.shown.any()
    cells = np.random.default_rng(1).integers(0, 256, (HEIGHT, WIDTH), np.uint8)
    text = Mural(cells, cells).packed()
    for damaged in ("", "no strip", text[: len(text) // 2], text[5:], "é"):
        assert unpacked(damaged) is None


def test_strips_in_saved_files_are_read() -> None:
    assert (HEIGHT, WIDTH) == (24, 384)  # a saved strip is that large

    def stored(size: int) -> str:
        return base64.b85encode(zlib.compress(bytes(size))).decode()

    assert unpacked(stored(2 * 24 * 384)) is not None
    for other in (2 * 24 * 384 - 1, 2 * 24 * 384 + 1, 1 << 24):
        assert unpacked(stored(other)) is None
