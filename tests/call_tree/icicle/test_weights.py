"""Profiles without times: their icicles are measured in what the profile weighs, not in time."""

import copy
from dataclasses import replace

import numpy as np
import pytest

import tracevis3d as tv
from tests.conftest import ROOT
from tests.support.walked_traces import walked_trace
from tracevis3d.layout.scales import Scale
from tracevis3d.layout.ticks import byte_steps
from tracevis3d.trace.profile import length_kind, totals, untimed_kind
from tracevis3d.units import byte_size, count
from tracevis3d.views.calls.ruler_ticks import ruler_ticks

DATA = ROOT / "tests" / "data"


@pytest.mark.parametrize(
    ("file", "kind", "title", "last", "about"),
    [
        (
            "perfetto/heap.pftrace.gz",
            "heap (bytes)",
            "heap",
            "448 KiB",
            "heap.pftrace: 497 KiB heap on 1 thread",
        ),
        (
            "profiles/go_heap.pprof",
            "inuse_space (bytes)",
            "inuse_space",
            "3 MiB",
            "go_heap.pprof: 3.19 MiB",
        ),
        (
            "profiles/small.callgrind.gz",
            "Ir",
            "instructions",
            "1,000,000",
            "small.callgrind: 1,105,435 instructions on 1 thread",
        ),
        (
            "../../examples/pyspy_pylint.collapsed.txt.gz",
            "samples",
            "samples",
            "450",
            "pyspy_pylint.collapsed: ",
        ),
        ("profiles/words.prof", "time (ns)", "time (ms)", "300", "words.prof: 324 ms on 1 thread"),
        ("profiles/node20.cpuprofile.gz", "", "time (ms)", "", ""),
    ],
)
def test_the_ruler_and_the_notes_are_in_what_is_weighed(file, kind, title, last, about) -> None:
    trace = tv.load(DATA / file, cache=False)
    assert untimed_kind(trace) == kind
    drawing = tv.icicle(trace).drawing()
    axis = drawing.axes[0]
    assert axis.title == title
    assert (axis.window is None) == (kind not in ("", "time (ns)"))
    assert axis.text[-1] == last or not last
    if axis.window is None:
        # A sample may be laid out as a microsecond.
        total, values = totals(trace)[kind], {"448 KiB": 448 << 10, "3 MiB": 3 << 20}
        value = values.get(last) or float(last.replace(",", ""))
        assert axis.tick[-1] / axis.length * total == pytest.approx(value, rel=0.02)
    assert drawing.notes[0].startswith(about)
    assert (" in " in drawing.notes[0]) == (not kind)


def test_what_is_merged_is_narrower_than_a_weight() -> None:
    for file, least in (
        ("perfetto/heap.pftrace.gz", " B ("),
        ("profiles/small.callgrind.gz", " instructions ("),
    ):
        note = next(n for n in tv.icicle(tv.load(DATA / file, cache=False)).drawing().notes if "merged" in n)
        assert least in note


def test_both_walls_and_a_fan_are_measured_in_what_is_weighed() -> None:
    def said(file, many):
        trace = tv.load(DATA / file, cache=False)
        drawing = tv.compare(*many * [trace]).drawing()
        names = [text for group in drawing.labels if group.kind == "trace" for text in group.text]
        return drawing.axes[0], names

    axis, names = said("perfetto/heap.pftrace.gz", 2)
    assert axis.text[-1] == "448 KiB"
    assert axis.window is None
    assert names[0] == "heap.pftrace   497 KiB heap   (by weight)"
    axis, names = said("profiles/words.prof", 2)
    assert axis.text[-1] == "300"
    assert names[0] == "words.prof   324 ms   (time in ms)"
    axis, names = said("profiles/small.callgrind.gz", 3)
    assert axis.title == "instructions from the start of each"
    assert "1,105,435 instructions" in names


def test_events_that_were_counted_are_no_times() -> None:
    trace = walked_trace(3, threads=1)
    assert (length_kind(trace), ruler_ticks(trace, (0, 10_000), 6)[1]) == ("", "time")
    problems = copy.deepcopy(trace.problems)
    problems.add("no times", "the whole file")
    counted = replace(trace, problems=problems)
    found, what = ruler_ticks(counted, (0, 10_000), 6)
    assert (length_kind(counted), what, found.unit) == ("events", "events", "")
    assert found.text == ("0", "2,000", "4,000", "6,000", "8,000", "10,000")
    drawing = tv.icicle(counted).drawing()
    assert drawing.axes[0].title == "events"
    assert " in " not in drawing.notes[0]
    both = tv.compare(counted, counted).drawing()
    assert any(text.endswith("calls   (events)") for group in both.labels for text in group.text)


def test_steps_of_bytes_are_round() -> None:
    assert byte_steps(0, 10 << 20, 5) == [k * (2 << 20) for k in range(6)]
    assert byte_steps(100, 1000, 4) == [256.0, 512.0, 768.0]
    assert byte_steps(0, 3, 8) == [0.0, 1.0, 2.0, 3.0]


@pytest.mark.parametrize(
    ("file", "first", "last", "thick"),
    [
        ("perfetto/heap.pftrace.gz", "2 B", "8 KiB", "64 KiB"),
        ("../../examples/pyspy_pylint.collapsed.txt.gz", "1", "50", "50"),
        ("profiles/words.prof", "10 µs", "100 ms", "100 ms"),
    ],
)
def test_ramps_and_thickness_begin_with_one_of_what_is_weighed(file, first, last, thick) -> None:
    drawing = tv.icicle(tv.load(DATA / file, cache=False), color="self", measure="self").drawing()
    legend = next(legend for legend in drawing.legends if legend.ramp)
    assert (legend.ramp_text[0], legend.ramp_text[-1]) == (first, last)
    texts = [text for axis in drawing.axes for text in axis.text] + [
        text for labels in drawing.labels for text in labels.text
    ]
    assert thick in texts
    assert not {"0.5", "12.5"} & set(texts)


@pytest.mark.parametrize("kind", ["linear", "sqrt", "log"])
def test_ticks_of_bytes_are_powers_of_two(kind) -> None:
    scale = Scale.over(kind, np.array([300.0, 5e6]))
    _, texts = scale.ticks(byte_size, 6)
    assert {text.partition(" ")[0] for text in texts} <= {"0", *(str(1 << k) for k in range(10)), "3"}
    assert not {"0.977", "97.7"} & {text.partition(" ")[0] for text in scale.ticks(count, 6)[1]}
