"""What explains a drawing: stored in a text, and back."""

import base64
import json
import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.walked_traces import walked_trace
from tracevis3d import api
from tracevis3d.drawing import explanations as module
from tracevis3d.drawing.explanations import Explanations, explanations_of, packed, unpacked
from tracevis3d.drawing.primitives import Axis, Callout, Labels, Legend, LegendEntry, Stretch
from tracevis3d.drawing.selector import Selector

PLACES = st.tuples(*[st.floats(-1e6, 1e6, width=32)] * 3)


def labels(n, kind="function", rank=None, room=np.inf):
    """Return ``n`` labels along x."""
    anchor = np.column_stack([np.arange(n), np.zeros(n), np.zeros(n)]).astype(np.float32)
    return Labels(
        kind, tuple(f"name {i}" for i in range(n)), anchor, np.full(n, 0.3, np.float32),
        np.full(n, room, np.float32), np.arange(n, dtype=np.float32) if rank is None else rank,
    )  # fmt: skip


def same(one: Explanations, other: Explanations) -> bool:
    return packed(one) == packed(other)


@given(st.text(max_size=30), st.lists(st.text(max_size=20), max_size=4), PLACES, st.integers(0, 6))
def test_what_is_packed_comes_back(title, facts, point, n):
    stands_for = Selector(((0, 1), (4, 5)), ("call",), (7,))
    entries = LegendEntry("one", 1, stands_for=stands_for), LegendEntry("two", 0, "ghost")
    given = Explanations(
        title, tuple(facts), (Legend("of", entries, (0, 1), (0.0, 1.0), ("a", "b")),),
        np.array([[0, 0, 0, 1], [1, 0.5, 0.25, 1]], np.float32),
        (Axis(point, (1.0, 0.0, 0.0), 4.0, (0.0, 4.0), ("0", "4"), (2.0,), "time", window=(3, 2**62)),),
        (labels(n),) if n else (),
        (Callout("slower", "by 3 ms", point, 2.0, 1, ((0, 3),), ((1, 5, 2**60),)),),
        point, (1.0, 2.0, 3.0), (Stretch(1, 0, 2**62, "A", 1),),
    )  # fmt: skip
    found = unpacked(packed(given))
    assert found is not None
    assert (found.title, found.facts, found.legends, found.axes, found.callouts, found.stretches) == (
        given.title, given.facts, given.legends, given.axes, given.callouts, given.stretches,
    )  # fmt: skip
    assert same(found, given)
    for one, other in zip(found.names, given.names, strict=True):
        assert one.text == other.text
        assert np.array_equal(one.anchor, other.anchor)
        assert np.array_equal(one.room, other.room)


@given(st.text(max_size=200))
def test_what_is_none_is_refused(text):
    assert unpacked(text) is None
    assert module.unpacked_names(text) == ()


@pytest.mark.parametrize(
    "spoil",
    [
        lambda words: words.pop("names"),
        lambda words: words["names"][0]["height"].pop(),
        lambda words: words["names"][0].update(align=7),
        lambda words: words["names"][0].update(background=[1]),
        lambda words: words["legends"][0]["entries"][0].__setitem__(1, 99),
        lambda words: words["legends"][0]["entries"][0].__setitem__(3, {"colors": 1}),
        lambda words: words["axes"][0]["text"].pop(),
        lambda words: words.update(box=[[1, 2], [3, 4, 5]]),
        lambda words: words.update(palette=[1, 2, 3]),
    ],
)
def test_what_does_not_fit_together_is_refused(spoil):
    legend = Legend("of", (LegendEntry("one", 0),))
    axis = Axis((0, 0, 0), (1, 0, 0), 1.0, (0.0,), ("0",))
    given = Explanations(
        "t", (), (legend,), np.ones((2, 4), np.float32), (axis,), (labels(3),), (), (0, 0, 0), (1, 1, 1)
    )
    words = json.loads(zlib.decompress(base64.b85decode(packed(given))))
    spoil(words)
    assert unpacked(base64.b85encode(zlib.compress(json.dumps(words).encode())).decode()) is None


def test_a_bomb_is_refused(monkeypatch):
    monkeypatch.setattr(module, "_MOST_BYTES", 1000)
    assert unpacked(base64.b85encode(zlib.compress(b" " * 100_000)).decode()) is None


def test_only_the_highest_names_are_kept():
    many, few = labels(30), labels(3, rank=np.array([100, 1, 0], np.float32))
    kept = module.highest((many, few), most=10)
    ranks = np.sort(np.concatenate([group.rank for group in kept]))
    assert ranks.tolist() == [*range(21, 30), 100]
    assert kept[0].text == tuple(f"name {i}" for i in range(21, 30))


def test_a_drawing_of_a_real_trace():
    drawing = api.icicle(walked_trace(3)).drawing()
    found = unpacked(packed(explanations_of(drawing)))
    assert found is not None
    assert found.title == drawing.title
    assert found.axes[0].window is not None
    assert sum(map(len, found.names)) == sum(map(len, drawing.labels))
