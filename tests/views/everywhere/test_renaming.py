"""Rules that rename functions, in every view."""

from __future__ import annotations

import re
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import ROOT
from tests.support import walked_traces
from tracevis3d import api
from tracevis3d.drawing.frame import Frame
from tracevis3d.errors import UsageError
from tracevis3d.parameters import declared
from tracevis3d.views import registry
from tracevis3d.views.everywhere.renaming import renamed


@pytest.fixture(scope="module")
def trace():
    return api.load(ROOT / "examples" / "vt_markdown_repeat1.json.gz")


def test_every_view_has_rules_for_names() -> None:
    for name in registry.names():
        assert "rewrite" in {p.name for p in declared(registry.find(name).parameters)}, name


def test_functions_that_then_have_one_name_are_one(trace) -> None:
    rules = '[["^InlineProcessor\\\\..*", "inline"]]'
    found = renamed(trace, rules)
    before = np.array([*trace.functions.label])[trace.calls.function]
    after = np.array([*found.functions.label])[found.calls.function]
    assert (after == [re.sub("^InlineProcessor\\..*", "inline", each) for each in before]).all()
    mine = np.unique(found.calls.function[after == "inline"])
    places = set(zip(found.functions.container[mine].tolist(), found.functions.file[mine].tolist()))
    assert len(places) == len(mine) < len(np.unique(trace.calls.function[after == "inline"]))
    # All else is as it was.
    assert (found.calls.function[after == before] == trace.calls.function[after == before]).all()


@pytest.mark.parametrize("name", ["icicle", "cone", "tracks", "ramp", "source"])
def test_pictures_have_the_new_names(trace, name) -> None:
    rules = '[["[A-Z][A-Za-z]*Processor", "Worker"]]'
    drawing = api.view(name, trace, rewrite=rules).drawing(Frame(960, 540))
    texts = [text for group in drawing.labels for text in group.text] + [drawing.title]
    texts += [entry.text for legend in drawing.legends for entry in legend.entries]
    assert not any(re.search("[A-Z][A-Za-z]*Processor\\.", text) for text in texts)
    plain = api.view(name, trace).drawing(Frame(960, 540))
    assert plain.counts.get("calls") == drawing.counts.get("calls")


def test_rules_that_cannot_be_used_are_told(trace) -> None:
    for rules in ('[["(", ""]]', "nothing", '[["a"]]', '{"a": "b"}'):
        with pytest.raises(UsageError):
            api.view("icicle", trace, rewrite=rules).drawing()


@given(st.integers(0, 2**32), st.sampled_from(list(product("abc01", "xy"))))
@settings(deadline=None, max_examples=10)
def test_no_rule_changes_what_is_called_when(seed, rule) -> None:
    trace = walked_traces.walked_trace(seed, steps=30, threads=2, functions=5)
    pattern, replacement = rule
    found = renamed(trace, f'[["{pattern}", "{replacement}"]]')
    for column in ("parent", "depth", "start", "end", "extent", "thread"):
        assert (getattr(found.calls, column) == getattr(trace.calls, column)).all()
    labels = [*found.functions.label]
    expected = [re.sub(pattern, replacement, each) for each in trace.functions.label]
    assert [labels[f] for f in found.calls.function] == [expected[f] for f in trace.calls.function]
