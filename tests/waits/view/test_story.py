"""A picture of one finding: what is in it, what is loud, what is pointed out."""

from __future__ import annotations

import numpy as np
import pytest

from tests.waits.sync_traces import lines, trace_of
from tracevis3d.drawing.frame import Frame
from tracevis3d.features.waits.view.detail import LevelOfDetail
from tracevis3d.features.waits.view.found_waits import findings_of, waits_of
from tracevis3d.features.waits.view.parameters import Parameters
from tracevis3d.features.waits.view.skyline import QUEUE
from tracevis3d.features.waits.view.view import VIEW
from tracevis3d.progress import silent


def draw(trace, **settings):
    return VIEW.draw([trace], Parameters(**settings), Frame(), silent)


def number_of(trace, kind, about=""):
    """Return the number of the first finding of a kind, about a thread or an object."""
    found = findings_of(waits_of(trace, ""), "")
    names = trace.threads.name
    return 1 + next(
        i for i, one in enumerate(found)
        if one.kind == kind and about in ("", names[one.threads[0]], *one.objects)
    )  # fmt: skip


def names_of(trace, drawing):
    (spheres,) = (e for e in drawing.elements if e.kind == "thread")
    return [trace.threads.name[t] for t in spheres.id.tolist()]


def two_queues():
    """Return a trace in which one thread holds L for long and another M for less, and workers get jobs."""
    rows = []
    for lock, until in (("L", 500), ("M", 200)):
        rows += [(f"h{lock}", 0, 1000, "load"), (f"h{lock}", 5, 5, "Lock.acquire", "wait", lock, 0)]
        rows.append((f"h{lock}", until, until, "Lock.release", "release", lock))
        for i in range(3):
            at = until + 1 + 50 * i
            rows.append((f"w{lock}{i}", 0, 1000, "take"))
            rows.append((f"w{lock}{i}", 10, at, "Lock.acquire", "wait", lock, 1))
            rows.append((f"w{lock}{i}", at + 49, at + 49, "Lock.release", "release", lock))
    rows += [("giver", 0, 1000, "give"), ("giver", 10, 700, "Lock.acquire", "wait", "L", 1)]
    rows += [("giver", 701, 701, "Lock.release", "release", "L")]
    for i in range(3):
        rows += [(f"i{i}", 0, 1000, "serve"), (f"i{i}", 2, 980 + i, "Queue.get", "wait", "Q", 1)]
        rows.append(("giver", 980 + i, 980 + i, "Queue.put", "release", "Q"))
    return trace_of(lines(rows))


def loud(drawing, kind):
    """Return the ids of elements with a strong colour."""
    return {
        id for e in drawing.elements if e.kind == kind
        for id, color in zip(e.id.tolist(), drawing.palette[e.color, :3]) if np.ptp(color) > 0.6
    }  # fmt: skip


@pytest.mark.parametrize(("lock", "other"), [("L", "M"), ("M", "L")])
def test_of_contention_only_what_a_finding_is_about_is_loud(lock, other) -> None:
    trace = two_queues()
    ops = waits_of(trace, "").ops
    number = number_of(trace, "convoy", lock)
    drawing = draw(trace, finding=number, threads="all", start="0", end="1us")
    waits = loud(drawing, "correspondence")
    assert {name for row in waits for name in ops.of(row)} == {lock}
    assert {name for row in loud(draw(trace), "correspondence") for name in ops.of(row)} == {"L", "M"}
    calls = loud(drawing, "call")
    mine = ops.call[[row for row in range(len(ops)) if ops.blocked[row] and lock in ops.of(row)]].tolist()
    others = ops.call[[row for row in range(len(ops)) if ops.blocked[row] and other in ops.of(row)]].tolist()
    assert set(mine) <= calls
    assert not calls.intersection(others)
    entries = [entry.text for legend in drawing.legends for entry in legend.entries]
    assert "other contention" in entries


def test_a_thread_that_is_idle_is_shown_with_those_that_end_its_waits() -> None:
    trace = two_queues()
    drawing = draw(trace, finding=number_of(trace, "mostly idle", "i1"))
    assert sorted(names_of(trace, drawing)) == ["giver", "i1"]
    assert not loud(drawing, "correspondence")
    (callout,) = drawing.callouts
    assert (callout.text, callout.detail) == ("i1 waits 979 ns for Q", "its longest wait (in serve)")


def test_a_thread_that_mostly_waits_is_shown_with_all_that_held_what_it_waits_for() -> None:
    rows = [("h", 0, 1000, "load"), ("h", 5, 5, "Lock.acquire", "wait", "L", 0)]
    rows += [("h", 700, 700, "Lock.release", "release", "L"), ("m", 0, 1000, "run")]
    for name, got, released in (("v", 701, 950), ("w", 951, 955)):
        rows += [(name, 0, 1000, "take"), (name, 10, got, "Lock.acquire", "wait", "L", 1)]
        rows += [(name, released, released, "Lock.release", "release", "L")]
    trace = trace_of(lines(rows))
    drawing = draw(trace, finding=number_of(trace, "mostly idle", "w"))
    assert sorted(names_of(trace, drawing)) == ["h", "v", "w"]


def test_a_farmer_is_shown_with_its_workers_alone() -> None:
    trace = two_queues()
    drawing = draw(trace, finding=number_of(trace, "farmer and workers"))
    assert sorted(names_of(trace, drawing)) == ["giver", "i0", "i1", "i2"]
    assert "of all waiting for work or a signal" in drawing.title


def test_a_call_that_takes_long_is_pointed_out_by_itself() -> None:
    rows = [("a", 10 * i, 10 * i + 1, "visit") for i in range(30)] + [("a", 400, 900, "visit")]
    rows += [("w", 0, 1000, "run"), ("w", 10, 800, "Lock.acquire", "wait", "L", 1)]
    trace = trace_of(lines([*rows, ("h", 0, 1000, "run"), ("h", 799, 799, "Lock.release", "release", "L")]))
    drawing = draw(trace, finding=number_of(trace, "outlier"))
    assert names_of(trace, drawing) == ["a"]
    (callout,) = drawing.callouts
    assert callout.text == "visit takes 500 ns"
    assert callout.detail == "three quarters of its 31 calls take less than 2 ns"
    assert callout.spans == ((0, 400, 900),)
    assert callout.calls == ((0, int(np.flatnonzero(trace.calls.start == 400)[0])),)
    # It alone is dark; the others of its function are lit, and some of them are seen.
    (legend,) = (one for one in drawing.legends if one.title == "Calls")
    colors = {entry.text: entry.color for entry in legend.entries}
    (blocks,) = (e for e in drawing.elements if e.kind == "call")
    dark = blocks.color == colors["this call of visit"]
    assert trace.calls.start[blocks.id[dark]].tolist() == [400]
    shown = [e for e in drawing.elements if e.kind in ("call", "cluster")]
    assert len({int(c) for e in shown for c in e.color}) > 1
    # A colour that is asked for stays.
    asked = draw(trace, finding=number_of(trace, "outlier"), color="function").legends
    assert "this call of visit" not in [entry.text for one in asked for entry in one.entries]


@pytest.mark.parametrize(("holds", "all_of_them"), [((60, 60, 60), True), ((300, 60, 60), False)])
def test_holds_of_which_none_is_the_cause_are_shown_together(holds, all_of_them) -> None:
    rows, at = [("keeper", 0, 1000, "keep"), ("other", 0, 1000, "want")], 10
    for lasts in holds:
        rows += [("keeper", at, at, "Lock.acquire", "wait", "L", 0)]
        rows += [("keeper", at + 1, at + lasts - 1, "time.sleep", "wait", "-", 1)]
        rows += [("keeper", at + lasts, at + lasts, "Lock.release", "release", "L")]
        rows += [("other", at + 1, at + lasts, "Lock.acquire", "wait", "L", 1)]
        rows += [("other", at + lasts + 5, at + lasts + 5, "Lock.release", "release", "L")]
        at += lasts + 20
    trace = trace_of(lines(rows))
    number = number_of(trace, "held over sleep")
    drawing = draw(trace, finding=number)
    callout, waits = drawing.callouts[0], waits_of(trace, "")
    mine = np.flatnonzero(waits.held.thread == trace.threads.name.index("keeper"))
    delay = waits.hold_delay[mine]
    if all_of_them:
        assert callout.text == f"keeper holds L 3 times, {sum(holds)} ns in all"
        assert callout.detail.startswith(f"{delay.sum()} ns of others' time")
    else:
        assert callout.text == "keeper holds L for 300 ns"
        assert callout.detail.startswith(f"{delay.max()} ns of others' time")
    # What the callout is about is dark on the queue, too.
    strip = next(e for e in drawing.elements if e.kind == QUEUE)
    bar = next(e for e in drawing.elements if e.kind == "hold")
    dark = (drawing.palette[strip.color] == drawing.palette[bar.color[0]]).all(axis=1)
    assert {*strip.id[dark].tolist()} == {*(mine if all_of_them else mine[:1]).tolist()}


@pytest.mark.parametrize(("ends", "whole"), [(1000, True), (2000, False)])
def test_a_finding_of_nearly_all_of_the_trace_is_shown_with_all_of_it(ends, whole) -> None:
    rows = [("keeper", 0, ends, "keep"), ("keeper", 10, 10, "Lock.acquire", "wait", "L", 0)]
    rows += [("keeper", 900, 900, "Lock.release", "release", "L")]
    for i in range(3):
        rows += [(f"w{i}", 0, ends, "run"), (f"w{i}", 20 + i, 900 + i, "Lock.acquire", "wait", "L", 1)]
        rows += [(f"w{i}", 901 + i, 901 + i, "Lock.release", "release", "L")]
    trace = trace_of(lines(rows))
    drawing = draw(trace, finding=number_of(trace, "convoy"))
    # An overview is of a trace of which a part is shown.
    assert any(e.kind == "overview" for e in drawing.elements) != whole


@pytest.mark.parametrize(("before", "shown"), [(100, True), (400, True), (401, False)])
def test_the_signal_that_came_too_early_is_in_the_picture_if_it_is_near(before, shown) -> None:
    at = 1000
    rows = [("giver", 0, 2000, "run"), ("giver", at - before, at - before, "Event.set", "release", "E")]
    rows += [("waiter", 0, 2000, "run"), ("waiter", at, at + 200, "Event.wait (timed out)", "wait", "E", 1)]
    trace = trace_of(lines(rows))
    number = number_of(trace, "given up")
    finding = findings_of(waits_of(trace, ""), "")[number - 1]
    assert finding.start == (at - before if shown else at)
    assert trace.threads.name[waits_of(trace, "").ops.thread[finding.signal]] == "giver"
    first, *others = draw(trace, finding=number).callouts
    assert first.detail.startswith("in vain, and gives up")
    said = [(callout.text, callout.detail) for callout in others]
    assert said == [("giver signals E", "nobody waits for it yet")] * shown


@pytest.mark.parametrize("finding", [0, 1, 2])
def test_what_is_seen_from_near_stands_where_the_picture_has_it(finding) -> None:
    trace = two_queues()
    drawn = draw(trace, finding=finding)
    closer = LevelOfDetail([trace], Parameters(finding=finding), Frame())
    (pane,) = closer.panes
    near = closer.look(0, pane.window, pane.pixels_per_unit)
    before, after = (next(e for e in parts if e.kind == "call") for parts in (drawn.elements, near.parts))
    place = {int(i): k for k, i in enumerate(after.id)}
    assert set(before.id.tolist()) <= set(place)
    for k, i in enumerate(before.id.tolist()):
        new, old = (e.corner[e.first[j] : e.first[j + 1]] for e, j in ((after, place[i]), (before, k)))
        assert np.allclose(new, old, atol=1e-5)
        assert np.allclose(near.palette[after.color[place[i]]], drawn.palette[before.color[k]])


def bars_of(trace, drawing):
    """Return (thread, start, end) of the dark bars, in nanoseconds of a trace of 1000, and their lanes."""
    bars = next(e for e in drawing.elements if e.kind == "hold")
    ops, (low, high) = waits_of(trace, "").ops, drawing.axes[0].window
    wide = max(float(e.corner[..., 0].max()) for e in drawing.elements if e.kind == "row")
    found = []
    for i in range(len(bars)):
        corner = bars.corner[bars.first[i] : bars.first[i + 1]]
        x = corner[..., 0] / wide * (high - low) + low
        name = trace.threads.name[ops.thread[bars.id[i]]]
        found.append((name, round(float(x.min()), -1), round(float(x.max()), -1), corner[0]))
    return found


def test_who_comes_last_has_a_dark_bar_while_others_wait_for_it() -> None:
    rows = [(thread, 0, 1000, "run") for thread in "abc"]
    for at in (100, 500):
        for thread, late in (("a", 200), ("b", 0), ("c", 50)):
            rows.append((thread, at + late, at + late, "Barrier.arrive", "release", "B"))
            end = at + 200 + 7 * (late < 200)
            rows.append((thread, at + late, end, "Barrier.wait", "wait", "B", int(late < 200)))
    trace = trace_of(lines(rows))
    drawing = draw(trace, finding=number_of(trace, "comes last"))
    assert [bar[:3] for bar in bars_of(trace, drawing)] == [("a", 100, 300), ("a", 500, 700)]
    assert (drawing.callouts[0].text, drawing.callouts[0].detail) == (
        "a comes last", "2 threads waited up to 200 ns for it"
    )  # fmt: skip
    assert "bar below: others wait for it to come" in [e.text for of in drawing.legends for e in of.entries]


def test_in_different_orders_each_lock_has_its_lane_of_bars() -> None:
    rows = [("main", 0, 1000, "run")]
    for thread, first, second, at in (("a", "L", "M", 100), ("b", "M", "L", 600)):
        rows += [(thread, at - 50, at + 350, "work")]
        rows += [(thread, at, at, "Lock.acquire", "wait", first, 0)]
        rows += [(thread, at + 100, at + 100, "Lock.acquire", "wait", second, 0)]
        rows += [(thread, at + 300, at + 300, "Lock.release", "release", of) for of in (second, first)]
    trace = trace_of(lines(rows))
    drawing = draw(trace, finding=number_of(trace, "lock order"))
    bars = sorted(bars_of(trace, drawing), key=lambda bar: bar[:3])
    assert [bar[:3] for bar in bars] == [
        ("a", 100, 400), ("a", 200, 400), ("b", 600, 900), ("b", 700, 900)
    ]  # fmt: skip
    # The ruler is below them.
    assert drawing.axes[0].origin[2] < min(float(corner[:, 2].min()) for *_, corner in bars) - 0.05
    # The lock that a takes first is the one that b takes second: their bars are as far below the rows.
    depth = [float(np.linalg.norm(corner.max(axis=0) - bars[0][3].max(axis=0))) for *_, corner in bars[:2]]
    assert depth[1] > depth[0]
    said = [(callout.text, callout.detail) for callout in drawing.callouts]
    assert said == [("a takes L, then M", "in work"), ("b takes M, then L", "in work")]


def test_a_wait_in_vain_leads_to_who_holds_its_object_where_that_is_shown() -> None:
    rows = [("h", 0, 100, "load"), ("h", 5, 5, "Lock.acquire", "wait", "L", 0)]
    rows += [("h", 1, 1, "Lock.acquire", "wait", "L", 0), ("h", 2, 2, "Lock.release", "release", "L")]
    rows += [("w", 0, 1000, "take"), ("w", 10, 1000, "Lock.acquire", "wait", "L", 2), ("m", 0, 1000, "run")]
    trace = trace_of(lines(rows))
    number = number_of(trace, "never released")
    drawing = draw(trace, finding=number)
    assert names_of(trace, drawing)[:2] in (["w", "h"], ["h", "w"])
    assert "wait in vain" not in {e.kind for e in drawing.elements if len(e)}
    assert drawing.title == "w waits for L for 990 ns: h holds it"
    alone = draw(trace, finding=number, threads="w")
    assert "wait in vain" in {e.kind for e in alone.elements if len(e)}


@pytest.mark.parametrize("points", [0.0, 18.75])
def test_texts_beside_rows_leave_the_most_room_to_the_rows(points) -> None:
    rows = [("giver of all the work that there is", 0, 1000, "give")]
    for name in ("a", "b"):
        rows += [(name, 0, 1000, "serve"), (name, 2, 900, "Queue.get", "wait", "Q", 1)]
        rows.append((rows[0][0], 900, 900, "Queue.put", "release", "Q"))
    frame = Frame(1600, 900, points=points)
    drawing = VIEW.draw([trace_of(lines(rows))], Parameters(), frame, silent)
    wide = max(float(e.corner[..., 0].max()) for e in drawing.elements if e.kind == "row")
    beside = [group for group in drawing.labels if group.kind in ("sum of waits", "thread")]
    assert len(beside) == 2
    for group in beside:
        longest = max(map(len, group.text))
        assert longest * 0.52 * float(group.height[0]) <= 0.36 * wide
    sums = next(group.text for group in beside if group.kind == "sum of waits")
    assert ("giver" in sums[0]) == (points == 0), sums


def test_who_holds_something_to_the_end_has_a_dark_bar_though_nobody_waits_for_it() -> None:
    rows = [("a", 0, 1000, "run"), ("a", 10, 10, "Lock.acquire", "wait", "L", 0)]
    rows += [("a", 50, 50, "Lock.release", "release", "L"), ("a", 200, 200, "Lock.acquire", "wait", "L", 0)]
    rows += [("a", 900, 1000, "time.sleep", "wait", "-", 1), ("b", 0, 900, "run")]
    rows += [("b", 300, 800, "time.sleep", "wait", "-", 1)]
    trace = trace_of(lines(rows))
    drawing = draw(trace, finding=number_of(trace, "held to the end"), start="0", end="1us")
    assert [bar[:3] for bar in bars_of(trace, drawing)] == [("a", 200, 1000)]
    (callout,) = drawing.callouts
    assert (callout.text, callout.detail) == ("a holds L for 800 ns", "nobody waits for it (in run)")
    assert "bar below: holds it to the end" in [e.text for of in drawing.legends for e in of.entries]


def test_who_gets_something_again_and_again_holds_it_so_many_times() -> None:
    rows = [("greedy", 0, 1000, "take"), ("poor", 0, 1000, "want")]
    for i in range(40):
        at = 20 + 20 * i
        rows.append(("greedy", at, at, "Semaphore.acquire", "wait", "S", 0))
        rows.append(("greedy", at + 15, at + 15, "Semaphore.release", "release", "S"))
    rows.append(("poor", 25, 821, "Semaphore.acquire", "wait", "S", 1))
    rows.append(("poor", 830, 830, "Semaphore.release", "release", "S"))
    trace = trace_of(lines(rows))
    waits = waits_of(trace, "")
    callout, *_ = draw(trace, finding=number_of(trace, "starvation")).callouts
    greedy = waits.held.thread == trace.threads.name.index("greedy")
    delay = int(waits.hold_delay[greedy].sum())
    # It holds it for 15 ns each time, during all but 5 of each 20 ns of the other's wait.
    assert 590 <= delay <= 796
    assert callout.text == "greedy holds S 40 times, 600 ns in all"
    assert callout.detail == f"{delay} ns of others' time (in take)"


def test_who_leads_in_turn_is_not_said_to_cost_others_time() -> None:
    rows = [("giver", 0, 1300, "give")]
    for i, name in enumerate("abc" * 4):
        at = 100 * i
        rows += [(name, 0, 1300, "work")] * (i < 3)
        rows += [(name, max(at - 200, 1), at + 5, "Lock.acquire", "wait", "L", int(i > 0))]
        rows += [(name, at + 6, at + 96, "Queue.get", "wait", "Q", 1)]
        rows += [("giver", at + 95, at + 95, "Queue.put", "release", "Q")]
        rows += [(name, at + 97, at + 97, "Lock.release", "release", "L")]
    trace = trace_of(lines(rows))
    callout, *_ = draw(trace, finding=number_of(trace, "leader and followers")).callouts
    assert callout.detail == "it waits for work, and others do so in turn (in work)"


def test_a_thread_that_mostly_waits_for_what_others_hold_does_so_loudly_in_its_own_picture() -> None:
    rows = [("h", 0, 1000, "load"), ("h", 5, 5, "Lock.acquire", "wait", "L", 0)]
    rows += [("h", 960, 960, "Lock.release", "release", "L"), ("w", 0, 1000, "take")]
    rows += [("w", 10, 961, "Lock.acquire", "wait", "L", 1), ("w", 980, 980, "Lock.release", "release", "L")]
    trace = trace_of(lines(rows))
    drawing = draw(trace, finding=number_of(trace, "mostly idle", "w"))
    ops = waits_of(trace, "").ops
    assert {trace.threads.name[ops.thread[row]] for row in loud(drawing, "correspondence")} == {"w"}
    assert len(loud(drawing, "call"))


def test_while_a_holder_does_something_its_whole_hold_is_shown() -> None:
    rows = [("h", 0, 1000, "load"), ("h", 100, 100, "Lock.acquire", "wait", "L", 0)]
    rows += [("h", 300, 700, "time.sleep", "wait", "-", 1), ("h", 800, 800, "Lock.release", "release", "L")]
    rows += [("w", 0, 1000, "take"), ("w", 110, 801, "Lock.acquire", "wait", "L", 1)]
    rows += [("w", 802, 802, "Lock.release", "release", "L")]
    trace = trace_of(lines(rows))
    number = number_of(trace, "held over sleep")
    finding = findings_of(waits_of(trace, ""), "")[number - 1]
    assert (finding.start, finding.end) == (300, 700)
    low, high = draw(trace, finding=number).axes[0].window
    assert 0 <= low < 100
    assert 800 < high < 1000


@pytest.mark.parametrize(
    ("slept", "text"), [(900, "sleeps 1 µs"), (899, "waits 1 µs")], ids=["nine tenths", "less"]
)
def test_beside_a_row_stands_whether_its_thread_sleeps(slept, text) -> None:
    rows = [("a", 0, 2000, "run"), ("a", 100, 100 + slept, "time.sleep", "wait", "-", 1)]
    rows += [("a", 1100, 2100 - slept, "Event.wait", "wait", "E", 1), ("b", 0, 2000, "run")]
    rows += [("b", 500, 600, "time.sleep", "wait", "-", 1)]
    (sums,) = (group for group in draw(trace_of(lines(rows))).labels if group.kind == "sum of waits")
    assert sums.text[0] == text
