"""Profiles without times: their icicles are measured in what the profile weighs, not in time."""

import pytest

import tracevis3d as tv
from tests.conftest import ROOT
from tracevis3d.layout.ticks import byte_steps
from tracevis3d.trace.profile import untimed_kind

DATA = ROOT / "tests" / "data"


@pytest.mark.parametrize(
    ("file", "kind", "title", "last", "about"),
    [
        (
            "perfetto/heap.pftrace.gz",
            "heap (bytes)",
            "heap",
            "450 KiB",
            "heap.pftrace: 497 KiB heap on 1 thread",
        ),
        (
            "profiles/go_heap.pprof",
            "inuse_space (bytes)",
            "inuse_space",
            "2.93 MiB",
            "go_heap.pprof: 3.19 MiB",
        ),
        ("profiles/small.callgrind.gz", "Ir", "Ir", "1,000,000", "small.callgrind: 1,105,435 Ir on 1 thread"),
        ("profiles/words.prof", "time (ns)", "time (ms)", "300", "words.prof: 324 ms time on 1 thread"),
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
    assert drawing.notes[0].startswith(about)
    assert (" in " in drawing.notes[0]) == (not kind)


def test_what_is_merged_is_narrower_than_a_weight() -> None:
    for file, least in (("perfetto/heap.pftrace.gz", " B ("), ("profiles/small.callgrind.gz", " Ir (")):
        note = next(n for n in tv.icicle(tv.load(DATA / file, cache=False)).drawing().notes if "merged" in n)
        assert least in note


def test_steps_of_bytes_are_round() -> None:
    assert byte_steps(0, 10 << 20, 5) == [k * (2 << 20) for k in range(6)]
    assert byte_steps(100, 1000, 4) == [500.0, 1000.0]
    assert byte_steps(0, 3, 8) == [0.0, 1.0, 2.0, 3.0]
