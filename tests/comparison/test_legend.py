"""Each colour that is drawn is in a legend, and each entry of a legend is drawn."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from tests.support.walked_traces import walked_trace
from tracevis3d.drawing.frame import Frame
from tracevis3d.drawing.palettes import BASE, PALETTES
from tracevis3d.drawing.primitives import Boxes, Drawing
from tracevis3d.features.comparison.compare import VIEW
from tracevis3d.features.comparison.view.parameters import Parameters
from tracevis3d.parameters import read
from tracevis3d.progress import silent

FRAME = Frame(960, 540)
#: Words with a line or a frame to what they are about say themselves what it is.
SAID_OTHERWISE = {"lead", "trace", "callout", "tag"}
#: Numbers on the matrix, and words above it, say what its colours and frames are.
MATRIX = {"similarity", "joined"}
#: What says itself how often it repeats has no entry where the legend is about differences.
QUIET = {"repetition", "tag"}
LOOKS = {
    "color": st.sampled_from(["groups", "permutation", "position", "difference"]),
    "walls": st.sampled_from(["similarity", "group", "none", "difference"]),
    "plates": st.sampled_from(["unmatched", "coverage"]),
    "palette": st.sampled_from(sorted(PALETTES)),
    "opening": st.sampled_from([0.0, 30.0, 90.0, 140.0, 180.0]),
    "resolution": st.sampled_from([0.05, 1.0, 10.0]),
    "tau": st.sampled_from([0.0, 0.3, 0.8]),
    "fade": st.booleans(),
    "overview": st.booleans(),
    "tubes": st.sampled_from([0, 5, 400]),
    "lines": st.sampled_from([0, 3000]),
}


def hues(drawing: Drawing, colors: np.ndarray) -> set[bytes]:
    """Return colours without their opacity: paleness has entries of its own."""
    return {np.round(c, 4).tobytes() for c in drawing.palette[np.unique(colors), :3]}


def legend_colors(drawing: Drawing) -> set[bytes]:
    found: set[bytes] = set()
    for legend in drawing.legends:
        found |= hues(drawing, np.array([e.color for e in legend.entries], np.int64))
        if legend.ramp:
            found |= hues(drawing, np.arange(legend.ramp[0], legend.ramp[1] + 1))
    return found


def check(drawing: Drawing, said_otherwise: set[str] = SAID_OTHERWISE) -> None:
    drawn: dict[str, set[bytes]] = {}
    looks: set[tuple[bytes, str]] = set()
    for element in drawing.elements:
        drawn.setdefault(element.kind, set()).update(hues(drawing, element.color))
        looks |= {(hue, element.look) for hue in hues(drawing, element.color)}
    known = legend_colors(drawing)
    for kind, found in drawn.items():
        own = {np.round(BASE[:3], 4).astype(np.float32).tobytes()} if kind == "similarity" else set()
        assert kind in said_otherwise or found <= known | own, kind
    every = set().union(*drawn.values())
    shown_looks = {look for _, look in looks}
    for legend in drawing.legends:
        for entry in legend.entries:
            (hue,) = hues(drawing, np.array([entry.color]))
            if entry.look == "cluster":
                assert entry.look in shown_looks, entry
            else:
                assert hue in every, entry
        if legend.ramp:
            assert hues(drawing, np.arange(legend.ramp[0], legend.ramp[1] + 1)) & every, legend.title
    # And what only a look shows has its entry, or its note.
    entries = [e for legend in drawing.legends for e in legend.entries]
    assert ("cluster" in shown_looks) == any(e.look == "cluster" for e in entries)
    assert ("gloss" in shown_looks) == any("brightest" in note for note in drawing.notes)


@given(st.integers(0, 10_000), st.fixed_dictionaries(LOOKS), st.booleans(), st.booleans())
@settings(max_examples=25, deadline=None, phases=[Phase.generate])
def test_legends_of_two_traces_say_what_is_drawn(seed, looks, focus, mark):
    traces = [walked_trace(seed + k, threads=1, steps=120) for k in (0, 1)]
    name = traces[0].functions.label[int(traces[0].calls.function[len(traces[0].calls) // 2])]
    drawing = VIEW.draw(
        traces,
        read(Parameters, {**looks, "focus": name if focus else "", "mark": name if mark else ""}),
        FRAME,
        silent,
    )
    about = looks["walls"] == "difference" and looks["palette"] != "paper"
    check(drawing, SAID_OTHERWISE | QUIET if about else SAID_OTHERWISE)


@given(st.integers(0, 10_000), st.integers(3, 5), st.fixed_dictionaries(LOOKS), st.booleans())
@settings(max_examples=12, deadline=None, phases=[Phase.generate])
def test_legends_of_a_fan_say_what_is_drawn(seed, n, looks, focus):
    traces = [walked_trace(seed + k, threads=1, steps=80) for k in range(n)]
    name = traces[0].functions.label[int(traces[0].calls.function[len(traces[0].calls) // 2])]
    drawing = VIEW.draw(traces, read(Parameters, {**looks, "focus": name if focus else ""}), FRAME, silent)
    check(drawing, SAID_OTHERWISE | MATRIX)


def test_a_window_and_its_context_are_reported():
    traces = [walked_trace(k, threads=1, steps=200) for k in (3, 4)]
    end = int(traces[0].calls.end.max())
    drawing = VIEW.draw(traces, read(Parameters, {"end_a": f"{end // 2}ns"}), FRAME, silent)
    assert any(isinstance(e, Boxes) and e.kind == "window" for e in drawing.elements)
    check(drawing)


@pytest.mark.parametrize(
    ("words", "change"),
    [
        ("raised tubes", {"lift": 0.0}),
        ("thicker boxes", {"plates": "unmatched"}),
        ("names of A stand above", {"opening": 140.0}),
    ],
)
def test_what_shapes_say_is_reported_where_they_say_it(words, change):
    traces = [walked_trace(k, threads=1, steps=200) for k in (7, 12)]
    asked = {"tau": 0.1, "resolution": 0.05, "plates": "coverage", "opening": 30.0, "lift": 0.5}
    with_, without = (
        " ".join(VIEW.draw(traces, read(Parameters, {**asked, **more}), FRAME, silent).notes)
        for more in ({}, change)
    )
    assert words in with_
    assert words not in without


def test_groups_of_one_name_are_told_apart_by_the_first_call_that_others_do_not_make():
    from tests.comparison.test_findings import leaf, traced
    from tracevis3d.features.comparison.matching.match import compare
    from tracevis3d.features.comparison.view.colors import group_names

    hooks = [("hook", 10, [leaf("log"), leaf(what)]) for what in ("collect", "run")]
    trace = traced(("main", 5, [*hooks, leaf("sleep"), ("hook", 10, [leaf("log")])]))
    comparison = compare(trace, trace, cache=False)
    calls = [i for i, f in enumerate(trace.calls.function) if trace.functions.label[f] in ("hook", "sleep")]
    names = group_names(comparison, [(i, i) for i in calls])
    said = [name.rsplit("  ", 1)[0] for name in names]
    assert said[:3] == ["hook › collect", "hook › run", "sleep"]
    assert said[3].startswith("hook › at ")
