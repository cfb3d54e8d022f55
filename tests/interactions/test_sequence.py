"""The Massive Sequence View's image: equations 2 and 3, and no call is lost among a million."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tracevis3d.features.interactions.view.sequence import (
    contributions,
    even_rows,
    frequencies,
    sequence_image,
    timed_rows,
    visibility,
)

RAMP = np.stack([np.arange(256), 255 - np.arange(256), np.full(256, 7), np.full(256, 255)], 1).astype(
    np.uint8
)


def plain_counts(pair, window):
    """Count each call's pair in the window around it, moved inwards at the ends."""
    n, found = len(pair), []
    size = min(window, n)
    for i in range(n):
        low = min(max(i - size // 2, 0), n - size)
        found.append(int(np.count_nonzero(pair[low : low + size] == pair[i])))
    return found


def plain_image(pair, weight, edge, span, columns):
    """Return cover and ramp place of each pixel by equation 3, call by call."""
    rows = len(edge) - 1
    cover, place = np.zeros((rows, columns)), np.zeros((rows, columns))
    for r in range(rows):
        shares = [max(0.0, min(edge[r + 1], i + 1) - max(edge[r], i)) for i in range(len(pair))]
        whole = sum(f * w for f, w in zip(shares, weight, strict=True))
        for p, f, w in zip(pair, shares, weight, strict=True):
            if f <= 0:
                continue
            a, b = span[p]
            low = int(min(a, b))
            high = min(max(int(np.ceil(max(a, b))), low + 1), columns)
            for x in range(low, high):
                cover[r, x] += f * w / whole
                place[r, x] += f * w / whole * ((x + 0.5 - a) / (b - a) if a != b else 0.5)
    return cover, np.clip(np.divide(place, cover, out=np.zeros_like(place), where=cover > 1e-9), 0, 1)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 4), max_size=40), st.integers(1, 30))
def test_counts_are_those_of_the_plain_twin(pair, window):
    pair = np.array(pair, np.int32)
    assert frequencies(pair, 5, window).tolist() == plain_counts(pair, window)


@settings(max_examples=80, deadline=None)
@given(
    st.lists(st.integers(0, 4), min_size=1, max_size=30),
    st.lists(st.tuples(st.integers(0, 11), st.integers(0, 12)), min_size=5, max_size=5),
    st.integers(1, 40),
    st.sampled_from([-5.0, -1.0, 0.0, 2.0]),
)
def test_the_image_is_equation_3(pair, ends, rows, power):
    pair = np.array(pair, np.int32)
    span = np.array(ends, np.float64)
    columns = 12
    count = frequencies(pair, 5)
    weight = contributions(power, calls=len(pair))
    edge = even_rows(0, len(pair), rows)
    image = sequence_image(pair, count, weight, edge, span, columns, RAMP)
    cover, place = plain_image(pair, weight[count], edge, span, columns)
    assert np.abs(image[..., 3] / 255 - cover).max() < 0.003
    shown = cover > 1e-3
    assert np.abs(image[..., 0].astype(float) - place * 255)[shown].max(initial=0) < 1.01


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.integers(0, 4), min_size=1, max_size=20),
    st.lists(st.tuples(st.floats(0, 12), st.floats(0, 12)), min_size=5, max_size=5),
    st.integers(0, 1000),
)
def test_colours_are_averaged_and_ends_cover_a_part_of_their_column(pair, ends, seed):
    """Equation 3 averages the calls' colours, on any ramp; not the places on it."""
    rng = np.random.default_rng(seed)
    ramp = rng.integers(0, 256, (5, 4)).astype(np.uint8)
    pair, span, columns = np.array(pair, np.int32), np.array(ends, np.float64), 12
    count, weight = frequencies(pair, 5), contributions(-1.0, calls=len(pair))
    image = sequence_image(pair, count, weight, even_rows(0, len(pair), 1), span, columns, ramp)
    mixed = np.zeros((columns, 4))
    whole = weight[count].sum()
    for p, w in zip(pair.tolist(), weight[count].tolist()):
        a, b = span[p]
        low, high = min(a, b), max(a, b)
        first = min(int(low), columns - 1)
        for x in range(first, min(max(int(np.ceil(high)), first + 1), columns)):
            part = 1.0 if high - low < 1 else min(high, x + 1) - max(low, x)
            t = min(max((x + 0.5 - a) / (b - a), 0), 1) if a != b else 0.5
            color = [np.interp(t * 4, range(5), ramp[:, c]) for c in range(3)]
            mixed[x] += np.array([*color, 1.0]) * w / whole * part
    shown = mixed[:, 3] > 1e-3
    np.testing.assert_allclose(image[0, :, 3] / 255, mixed[:, 3], atol=0.003)
    wanted = mixed[shown, :3] / mixed[shown, 3:]
    np.testing.assert_allclose(image[0, shown, :3], wanted, atol=1.01)


def test_the_papers_row_of_sixteen_calls():
    """15 calls from B to D and one from A to C on one line (figures 10 and 11)."""
    pair = np.zeros(16, np.int32)
    pair[6] = 1
    span = np.array([[10.0, 40.0], [0.0, 30.0]])  # A, B, C, D are ten columns each
    edge = even_rows(0, 16, 1)
    linear, exact = contributions(0.0, 16), contributions(-1.0, 16)
    count = frequencies(pair, 2, 16)
    assert sorted(set((count / 16).tolist())) == [1 / 16, 15 / 16]
    assert visibility(pair, count, linear, edge, 1)[0] == pytest.approx(0.0625)
    assert visibility(pair, count, exact, edge, 1)[0] == pytest.approx(0.5)
    # And in the image: the first ten columns are covered by the outlier alone.
    for weight, share in ((linear, 0.0625), (exact, 0.5)):
        image = sequence_image(pair, count, weight, edge, span, 40, RAMP)
        assert image[0, :10, 3] / 255 == pytest.approx(share, abs=0.003)
        assert image[0, 35, 3] / 255 == pytest.approx(1 - share, abs=0.003)
    # With the window of 25 all 16 calls are in it, too.
    assert visibility(pair, frequencies(pair, 2), contributions(-1.0, calls=16), edge, 1)[0] == pytest.approx(
        0.5
    )


def test_power_0_is_linear_antialiasing_and_5_calls_fall_on_3_lines_by_their_share():
    pair = np.arange(5, dtype=np.int32)
    span = np.stack([np.arange(5.0), np.arange(5.0) + 1], 1)
    image = sequence_image(pair, frequencies(pair, 5), contributions(0.0), even_rows(0, 5, 3), span, 5, RAMP)
    # Figure 9: a line holds 5/3 calls.
    assert image[..., 3] / 255 == pytest.approx(
        np.array([[0.6, 0.4, 0, 0, 0], [0, 0.2, 0.6, 0.2, 0], [0, 0, 0, 0.4, 0.6]]), abs=0.003
    )


def test_one_call_among_a_million_can_be_seen():
    pair = np.zeros(1_000_000, np.int32)
    pair[1::2] = 1
    pair[654_321] = 2
    span = np.array([[0.0, 60.0], [30.0, 60.0], [80.0, 100.0]])
    edge, count = even_rows(0, len(pair), 1080), frequencies(pair, 3)
    row = 654_321 * 1080 // 1_000_000
    shown = []
    for power in (0.0, -1.0, -5.0):
        image = sequence_image(pair, count, contributions(power), edge, span, 100, RAMP)
        alone = image[:, 90, 3] / 255
        assert np.flatnonzero(alone).tolist() in ([row], [])
        shown.append(float(alone[row]))
    # W = f^p makes it a thousand times plainer.
    assert shown[0] < 0.005
    assert shown[0] < shown[1] < shown[2]
    assert shown[2] > 0.99


def test_bars_of_one_colour_have_it_from_end_to_end():
    pair = np.array([0, 1, 0, 1], np.int32)
    span = np.array([[10.0, 40.0], [90.0, 60.0]])
    tone = np.array([0.0, 1.0])
    count, edge = frequencies(pair, 2), even_rows(0, 4, 4)
    image = sequence_image(pair, count, contributions(0.0), edge, span, 100, RAMP, tone=tone)
    assert (image[0, 10:40] == RAMP[0]).all()
    assert (image[1, 60:90] == RAMP[-1]).all()
    along = sequence_image(pair, count, contributions(0.0), edge, span, 100, RAMP, tone=np.full(2, -1.0))
    assert (along == sequence_image(pair, count, contributions(0.0), edge, span, 100, RAMP)).all()
    assert len(np.unique(along[0, 10:40], axis=0)) > 3


def test_rows_of_equal_time_hold_all_calls():
    time = np.sort(np.random.default_rng(0).integers(0, 10_000, 500))
    edge = timed_rows(time, int(time[0]), int(time[-1]), 33)
    assert edge[0] == 0
    assert edge[-1] == 500
    assert np.all(np.diff(edge) >= 0)
