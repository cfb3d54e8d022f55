"""Selectors: which elements a legend's entry stands for."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.walked_traces import walked_trace
from tracevis3d import api
from tracevis3d.drawing.primitives import LegendEntry
from tracevis3d.drawing.selector import Selector

SMALL = st.integers(0, 6)
SELECTORS = st.builds(
    Selector,
    st.lists(st.tuples(SMALL, SMALL), max_size=2).map(tuple),
    st.lists(st.sampled_from(["call", "cluster"]), max_size=2).map(tuple),
    st.lists(SMALL, max_size=3).map(tuple),
)


@given(SELECTORS, st.sampled_from(["call", "tube"]), st.lists(st.tuples(SMALL, SMALL), max_size=8))
def test_a_plain_twin(selector, kind, elements):
    color = np.array([c for c, _ in elements], np.int32)
    ids = np.array([i for _, i in elements], np.int64)
    wanted = [
        (not selector.kinds or kind in selector.kinds)
        and (not selector.colors or any(a <= c <= b for a, b in selector.colors))
        and (not selector.ids or i in selector.ids)
        for c, i in elements
    ]
    assert selector.of(kind, color, ids).tolist() == wanted


def test_an_entry_stands_for_what_has_its_colour():
    assert LegendEntry("two", 2).selector == Selector(colors=((2, 2),))
    one = Selector(kinds=("call",))
    assert LegendEntry("calls", 2, stands_for=one).selector == one
    assert one.moved(3) == one
    assert Selector(colors=((1, 4),)).moved(3) == Selector(colors=((4, 7),))


@pytest.mark.parametrize("view", ["icicle", "threads"])
def test_each_call_is_of_one_entry(view):
    drawing = getattr(api, view)(walked_trace(5)).drawing()
    for element in drawing.elements:
        if element.kind in ("call", "cluster"):
            found = np.zeros(len(element), int)
            for entry in drawing.legends[0].entries:
                if not entry.selector.kinds:
                    found += entry.selector.of(element.kind, element.color, element.id)
            assert (found == 1).all(), (view, element.kind)
