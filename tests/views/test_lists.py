"""Lists beside views: their rows, what their buttons change, and what is found, without Blender."""

from __future__ import annotations

import numpy as np
import pytest

from tests.conftest import ROOT
from tracevis3d import api
from tracevis3d.drawing.frame import Frame
from tracevis3d.parameters import declared, read
from tracevis3d.progress import silent
from tracevis3d.views import registry
from tracevis3d.views.lists import ListRow

EXAMPLES = ROOT / "examples"
LISTS = [(view, one) for view in registry.loadable() for one in view.lists]


@pytest.mark.parametrize(("view", "one"), LISTS, ids=[f"{view.name}-{one.name}" for view, one in LISTS])
def test_lists_are_declared_in_full(view, one):
    assert one.name.isidentifier()
    assert one.title
    names = [choice.name for choice in one.choices]
    assert len(set(names)) == len(names)
    known = {p.name for p in declared(view.parameters)}
    values = vars(view.parameters())
    for row in (ListRow("1:2", "x", 0), ListRow("1:3", "y", -1)):
        look = one.look(row, values)
        for do, icon in (*look.before, *look.after):
            assert do in names
            assert icon.isupper()
            assert set(one.change(row, do, [row], values)) <= known


@pytest.fixture(scope="module")
def threads():
    """Return the view of threads, its list, and a trace of eight workers."""
    view = registry.find("threads")
    return view, view.lists[0], api.load(EXAMPLES / "sync_pillow_8w.json.gz")


def drawn(view, one, trace, values):
    drawing = view.draw((trace,), read(view.parameters, values), Frame(), silent)
    return one.rows((trace,), drawing, values)


def test_threads_that_are_shown_come_first_and_buttons_do_what_they_say(threads):
    view, one, trace = threads
    values = vars(view.parameters())
    rows = drawn(view, one, trace, values)
    shown = [row for row in rows if row.place >= 0]
    assert [row.place for row in shown] == list(range(len(shown)))
    assert rows[: len(shown)] == shown
    assert {row.key for row in rows} == {
        f"{p}:{t}" for p, t, n in zip(trace.threads.process, trace.threads.tid, trace.threads.count) if n
    }

    def after(row, do, now=values, every=rows):
        changed = {**now, **one.change(row, do, every, now)}
        return changed, drawn(view, one, trace, changed)

    third = shown[3]
    _, found = after(third, "MAIN")
    assert found[0].key == third.key
    hidden, found = after(third, "HIDE")
    assert next(row for row in found if row.key == third.key).place < 0
    assert not one.look(third, hidden).active
    assert [do for do, _ in one.look(third, hidden).after] == ["SHOW"]
    again, _ = after(third, "SHOW", hidden)
    assert again["hide"] == values["hide"]
    _, found = after(third, "UP")
    assert [row.key for row in found][2:4] == [third.key, shown[2].key]
    _, found = after(third, "DOWN")
    assert [row.key for row in found][3:5] == [shown[4].key, third.key]
    focused, _ = after(third, "FOCUS")
    assert focused["focus"] == third.key
    assert ("FOCUS", "ZOOM_OUT") in one.look(third, focused).after
    unfocused, _ = after(third, "FOCUS", focused)
    assert unfocused["focus"] == ""


@pytest.fixture(scope="module")
def compared():
    """Return the view that compares, its list of findings, and two recordings that differ."""
    traces = tuple(api.load(EXAMPLES / f"vt_sphinxtext_{name}.json.gz") for name in "EF")
    view = registry.comparing(2)
    return view, view.findings, traces, view.findings.find(traces, vars(view.parameters()), silent)


def test_differences_are_those_that_are_explained(compared):
    _, listed, traces, found = compared
    story = api.explain(*traces, top=20)
    assert [one.sentence for one in found] == story.sentences
    assert len(found) >= 2
    for i, one in enumerate(found):
        assert one.wanted == story.settings(i)
        assert len(one.calls) == len(one.spans) == listed.traces
        for trace, calls, span in zip(traces, one.calls, one.spans):
            assert all(0 <= call < len(trace.calls) for call in calls)
            assert span is None or 0 <= span[0] <= span[1]
        assert one.share.endswith("%")


def test_a_difference_is_drawn_alone_and_taken_back(compared):
    view, listed, _, found = compared
    usual = vars(view.parameters())
    each = [one.wanted for one in found]
    values = usual
    for one in found[:3]:
        values = listed.drawn(one.wanted, each, values)
        # What matches is no matter of one difference.
        wanted = {name: value for name, value in one.wanted.items() if name not in ("tau", "identity")}
        expected = vars(read(view.parameters, wanted))
        assert {name: values[name] for name in wanted} == {name: expected[name] for name in wanted}
    assert listed.drawn(None, each, values) == usual


def test_a_tour_has_a_viewpoint_for_each_finding(compared):
    view, listed, traces, found = compared
    made = listed.tour(traces, vars(view.parameters()), Frame(320, 180), 2, "", silent)
    assert len(made.viewpoints) >= 2
    assert sum(map(len, made.drawing.elements)) > 0
    # One of all, and one for each finding.
    looks = [stop.camera for stop in made.viewpoints if stop.camera is not None]
    assert len(looks) >= min(2, len(found))
    assert np.isfinite([look.low for look in looks]).all()


@pytest.mark.parametrize(
    ("name", "file", "setting"),
    [("threads", "sync_pillow_8w.json.gz", {"rules": ""}), ("memory", None, {})],
)
def test_a_finding_of_the_list_is_drawn_alone_and_back(name, file, setting, tmp_path):
    view = registry.find(name)
    one = next(one for one in view.lists if one.name == "finding")
    trace = api.load(EXAMPLES / file) if file else api.load(leaking(tmp_path))
    facts = api.waits(trace) if name == "threads" else api.memory_facts(trace)
    values = vars(view.parameters())
    rows = drawn(view, one, trace, values)
    assert [row.title for row in rows] == [f"{f['kind']}: {f['sentence']}" for f in facts["findings"]][:100]
    assert len(rows) > 1
    alone = {**values, **one.change(rows[1], "SHOW", rows, values)}
    assert alone["finding"] == 2
    assert drawn(view, one, trace, alone) == rows
    assert one.look(rows[1], alone).text == rows[1].title
    assert not one.look(rows[0], alone).text
    assert {**alone, **one.change(rows[1], "SHOW", rows, alone)} == values
    assert one.change(rows[0], "SHOW", rows, alone) == {"finding": 1}


def leaking(folder):
    """Return a recording of memray in which 40 blocks are kept, and one that is made at the start."""
    rows = ["0\t1\t0x100000\t60000\tMALLOC\t2"]
    rows += [f"{i}\t1\t{4096 * i + 65536:#x}\t{1340 + i}\tMALLOC\t1" for i in range(1, 41)]
    head = "# total_allocations 41 peak_memory 140000\n# seq\ttid\taddress\tsize\tallocator\tstack_id\n"
    (folder / "a.records.tsv").write_text(head + "\n".join(rows) + "\n")
    (folder / "a.stacks.tsv").write_text(
        "1\tgrow (/made/up.py:7);main (/made/up.py:1)\n2\tread (/made/up.py:3);main (/made/up.py:1)\n"
    )
    return folder / "a.records.tsv"
