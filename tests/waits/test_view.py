"""The meaning of the amphitheatre, on its drawing."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import ROOT
from tests.waits.sync_traces import lines, trace_of
from tests.waits.view.sight import cross, crossing, hidden, paths
from tracevis3d import load
from tracevis3d.drawing.frame import Frame
from tracevis3d.drawing.primitives import Tubes, Wedges
from tracevis3d.drawing.projection import fit
from tracevis3d.errors import UsageError
from tracevis3d.features.waits.outcomes import KINDS_OF_WAITING, OUTCOMES
from tracevis3d.features.waits.view.certainty import STYLES, pieces
from tracevis3d.features.waits.view.colors import kinds
from tracevis3d.features.waits.view.found_waits import findings_of, waits_of
from tracevis3d.features.waits.view.geometry import funnels
from tracevis3d.features.waits.view.layout import SHARE, WIDTH, compose
from tracevis3d.features.waits.view.parameters import Parameters
from tracevis3d.features.waits.view.view import VIEW
from tracevis3d.progress import silent
from tracevis3d.trace.model import Flows, Strings

FRAME = Frame()
EXAMPLES = ROOT / "examples"

PROGRAM = """
main 0 1000 main
main 100 300 Queue.get wait Q 1
main 500 900 Queue.get wait Q 1
main 950 951 Queue.put release P
a 0 1000 work
a 250 260 Queue.put release Q
a 400 980 Queue.get wait P 1
b 0 1000 work
b 10 700 inner
b 850 860 Queue.put release Q
b 870 990 read io file
c 0 1000 work
"""


def draw(trace, frame=FRAME, **settings):
    return VIEW.draw([trace], Parameters(**settings), frame, silent)


def picture_of(trace, **settings):
    p = Parameters(**settings)
    return compose(trace, waits_of(trace, p.rules), p, FRAME)


def element(drawing, kind):
    return next((e for e in drawing.elements if e.kind == kind), None)


def sections(wedges: Wedges, i: int) -> np.ndarray:
    return wedges.corner[wedges.first[i] : wedges.first[i + 1]]


def ends(funnel, i):
    """Return the mouth's two ends and the tip of a funnel."""
    if isinstance(funnel, Tubes):
        low, high = funnel.first[i], funnel.first[i + 1]
        half = np.array([funnel.radius[low, 0], 0, 0])
        return funnel.point[low] - half, funnel.point[low] + half, funnel.point[high - 1]
    part = sections(funnel, i)
    return part[0, 0], part[0, 1], part[-1, 0]


def test_a_bar_is_as_wide_as_its_call_is_long():
    trace = trace_of(PROGRAM)
    calls = element(draw(trace), "call")
    assert len(calls) == len(trace.calls)
    for i, call in enumerate(calls.id.tolist()):
        part = sections(calls, i)
        assert part[0, :, 0] == pytest.approx(trace.calls.start[call] * WIDTH / 1000, abs=1e-4)
        assert part[-1, :, 0] == pytest.approx(trace.calls.end[call] * WIDTH / 1000, abs=1e-4)


@pytest.mark.parametrize("form", [{}, {"lanes": 1.0}, {"main": "none"}, {"facing": 0.0}])
def test_no_stack_is_upside_down(form):
    rows = []
    for i in range(9):
        rows += [(f"t{i}", 0, 1000, "run"), (f"t{i}", 10, 900, "inner"), (f"t{i}", 20, 800, "innermost")]
    trace = trace_of(lines(rows))
    drawing = draw(trace, starts=False, **form)
    calls, view = element(drawing, "call"), fit(drawing.camera, FRAME, SHARE)
    place = {int(call): i for i, call in enumerate(calls.id)}
    assert len(place) == 27
    for call, i in place.items():
        parent = int(trace.calls.parent[call])
        if parent >= 0:
            # Callees stand above their callers, as the reader sees them.
            own, of_caller = (
                view.pixels(sections(calls, k)[0].astype(float)).mean(axis=0)[1] for k in (i, place[parent])
            )
            assert own > of_caller + 2


def test_each_wait_has_a_funnel_from_it_to_the_release_that_ended_it():
    trace = trace_of(PROGRAM)
    picture, drawing = picture_of(trace), draw(trace, waits="thread")
    tubes, balls = element(drawing, "correspondence"), element(drawing, "release")
    waits = picture.waits
    assert sorted(tubes.id.tolist()) == sorted(waits.woke.wait.tolist())
    assert len(tubes) == len(balls) == 3
    scale = WIDTH / 1000
    thread = {str(t): i for i, t in enumerate(trace.threads.tid)}
    expected = {
        ("main", 100): (300, 250, "a"),
        ("main", 500): (900, 850, "b"),
        ("a", 400): (980, 950, "main"),
    }
    for i, wait in enumerate(tubes.id.tolist()):
        who = str(trace.threads.tid[waits.ops.thread[wait]])
        end, released, by = expected[who, int(waits.ops.start[wait])]
        left, right, tip = ends(tubes, i)
        assert left[0] == pytest.approx(waits.ops.start[wait] * scale, abs=0.03)
        assert right[0] == pytest.approx(end * scale, abs=0.03)
        assert tip[0] == pytest.approx(released * scale, abs=1e-4)
        assert balls.point[i] == pytest.approx(tip, abs=1e-4)
        row = picture.row_of[thread[by]]
        surface = picture.theatre.place(np.array([row]), np.array([released / 1000]), np.zeros(1), 0.0)[0]
        assert np.linalg.norm(tip - surface) < 2.2  # on that row, as far out as the call that releases
        # The colour is that of the thread that waits, as beside its name.
        names = element(drawing, "thread")
        assert tubes.color[i] == names.color[names.id.tolist().index(thread[who])]


def test_who_waits_longest_is_pointed_out_at_that_wait():
    trace = trace_of(PROGRAM)
    picture, drawing = picture_of(trace), draw(trace)
    ops = picture.waits.ops
    texts = [(callout.text, callout.detail) for callout in drawing.callouts]
    assert texts == [
        ("a waits 580 ns for main", "P, in 1 wait"),
        ("main waits 400 ns for b", "Q, in 1 wait"),
        ("main waits 200 ns for a", "Q, in 1 wait"),
    ]
    assert [callout.text for callout in drawing.callouts] == [
        entry.text.split(" (")[0] for entry in drawing.legends[-1].entries
    ]
    for callout, entry in zip(drawing.callouts, drawing.legends[-1].entries):
        (wait,) = entry.selector.ids
        assert callout.calls == ((0, int(ops.call[wait])),)
        middle = (ops.start[wait] + ops.end[wait]) / 2 / 1000
        assert callout.point[0] == pytest.approx(middle * WIDTH, abs=0.03)


def test_every_release_is_the_papers_choice():
    trace = trace_of("""
    a 0 100 Queue.get wait Q 1
    b 10 11 Queue.put release Q
    c 50 51 Queue.put release Q
    """)
    assert len(element(draw(trace), "correspondence")) == 1
    assert len(element(draw(trace, releases="every"), "correspondence")) == 2


def test_wait_markers_mark_the_wait_on_the_releasing_row_with_a_shaded_start():
    trace = trace_of(PROGRAM)
    picture, drawing = picture_of(trace), draw(trace)
    slabs, starts = element(drawing, "wait marker"), element(drawing, "wait start")
    assert slabs.look == "ghost"
    assert len(slabs) == len(starts) == 3
    ops = picture.waits.ops
    for i, wait in enumerate(slabs.id.tolist()):
        part = sections(slabs, i)
        assert part[0, :, 0] == pytest.approx(ops.start[wait] * WIDTH / 1000, abs=1e-4)
        assert part[-1, :, 0] == pytest.approx(ops.end[wait] * WIDTH / 1000, abs=1e-4)
        row = int(picture.row_of[picture.waits.woken_by[wait]])
        levels = picture.theatre.place(
            np.array([row, row]), np.zeros(2), np.array([0.0, float(picture.reach(np.array([row]))[0])]), 0.0
        )
        # It reaches beyond the row on both sides.
        assert np.linalg.norm(part[0, 1, 1:] - part[0, 0, 1:]) > np.linalg.norm(levels[1, 1:] - levels[0, 1:])
    assert element(draw(trace, markers="none"), "wait marker") is None


def test_markers_of_several_threads_on_one_row_are_nested():
    rows = [
        ("r", 0, 100, "run"),
        ("r", 90, 91, "Queue.put", "release", "X"),
        ("r", 92, 93, "Queue.put", "release", "Y"),
    ]
    rows += [("a", 10, 95, "Queue.get", "wait", "X", 1), ("b", 20, 95, "Queue.get", "wait", "Y", 1)]
    slabs = element(draw(trace_of(lines(rows))), "wait marker")
    size = [np.linalg.norm(sections(slabs, i)[0, 1] - sections(slabs, i)[0, 0]) for i in range(2)]
    assert abs(size[0] - size[1]) > 0.01
    depth = [sections(slabs, i)[0, :, 1].mean() for i in range(2)]
    assert (depth[0] > depth[1]) == (size[0] > size[1])


def test_a_release_out_of_the_window_has_no_ball_and_a_wait_out_of_it_no_funnel():
    trace = trace_of(PROGRAM)
    drawing = draw(trace, windows="b = 0ns..800ns")
    assert len(element(drawing, "correspondence")) == 2
    hidden = element(drawing, "correspondence out of sight")
    assert hidden.look == "ghost"
    assert len(element(drawing, "release")) == 2
    picture = picture_of(trace, windows="b = 0ns..800ns")
    _, _, tip = ends(hidden, 0)
    assert tip[0] == pytest.approx(WIDTH, abs=1e-4)  # held at the edge of b's window
    assert picture.high[picture.row_of[[str(t) for t in trace.threads.tid].index("b")]] == 800
    early = draw(trace, start="0ns", end="450ns")
    # main's second wait begins later; a's is cut at the window's end and its release is out of sight
    assert len(element(early, "correspondence")) == 1
    assert len(element(early, "correspondence out of sight")) == 1
    # a marker whose start lies before the window has no shaded start
    late = draw(trace, start="600ns")
    assert len(element(late, "wait marker")) == 2
    assert element(late, "wait start") is None


def test_short_waits_are_merged_for_the_chosen_threads_alone():
    rows = [("r", 0, 1_000_000, "run"), ("a", 0, 1_000_000, "run")]
    for i in range(40):
        rows.append(("a", 1000 + 20 * i, 1010 + 20 * i, "Queue.get", "wait", "Q", 1))
        rows.append(("r", 1005 + 20 * i, 1006 + 20 * i, "Queue.put", "release", "Q"))
    trace = trace_of(lines(rows))
    drawing = draw(trace, main="a", resolution=2.0)
    merged = element(drawing, "aggregated")
    assert element(drawing, "correspondence") is None
    assert len(merged) == funnels.STRIPS  # one cluster, one releasing thread
    part = merged.corner.reshape(funnels.STRIPS, funnels.SAMPLES, 4, 3)
    scale = WIDTH / 1e6
    assert part[0, 0, 0, 0] == pytest.approx(1000 * scale, abs=1e-4)
    assert part[-1, 0, 1, 0] == pytest.approx((1010 + 20 * 39) * scale, abs=1e-4)
    assert part[0, -1, 0, 0] == pytest.approx(1005 * scale, abs=1e-4)
    assert part[-1, -1, 1, 0] == pytest.approx((1005 + 20 * 39) * scale, abs=1e-4)
    assert element(draw(trace, main="a", aggregates="none"), "aggregated") is None
    assert drawing.counts["correspondences_merged"] == 40


def test_clusters_are_a_bar_for_each_level_paler_with_each():
    rows = [("a", 0, 1_000_000, "run")]
    for i in range(30):
        rows += [("a", 10_000 + 30 * i, 10_020 + 30 * i, "f"), ("a", 10_001 + 30 * i, 10_010 + 30 * i, "g")]
    drawing = draw(trace_of(lines(rows)))
    bars = element(drawing, "cluster")
    assert len(bars) == 2
    alpha = drawing.palette[bars.color, 3]
    assert alpha[1] < alpha[0] < 1
    assert np.allclose(bars.corner[0, 0, 0], bars.corner[2, 0, 0])


@pytest.mark.parametrize("rows", [2, 3, 10, 11, 12, 21])
def test_no_two_neighbours_have_one_colour_wherever_they_are_moved(rows):
    names = [f"t{i}" for i in range(rows)]
    trace = trace_of(lines((name, 0, 10, "run") for name in names))
    for order in ("recorded", ",".join(names[::-1]), ",".join(names[1::2])):
        color = element(draw(trace, order=order, threads="all", waits="thread"), "thread").color.tolist()
        assert len(color) == rows
        assert all(a != b for a, b in zip(color, [*color[1:], color[0]]))


def test_colours_of_calls_say_what_they_do():
    # printed: red only where the I/O is more than twice the waiting; the default: what takes more time
    waited, moved = np.array([0.0, 0.4, 0.2, 0.3, 0.0]), np.array([0.0, 0.3, 0.3, 0.7, 0.5])
    kind, strength = kinds(waited, moved, printed=True)
    assert kind.tolist() == [0, 1, 1, 2, 2]
    assert strength.tolist() == [1.0, 0.4, 0.2, 0.7, 0.5]
    assert kinds(waited, moved, printed=False)[0].tolist() == [0, 1, 2, 2, 2]


def test_a_call_is_coloured_more_strongly_the_more_of_it_waits():
    trace = trace_of("""
    a 0 1000 half
    a 0 500 Queue.get wait Q 1
    a 1000 2000 none
    a 2000 3000 Queue.get wait Q 1
    b 400 401 Queue.put release Q
    """)
    drawing = draw(trace, threads="a,b")
    calls = element(drawing, "call")
    color = {trace.functions.name[trace.calls.function[c]] + str(trace.calls.start[c]): drawing.palette[i]
             for c, i in zip(calls.id.tolist(), calls.color.tolist())}  # fmt: skip
    none, half, whole = color["none1000"], color["half0"], color["Queue.get2000"]
    assert np.allclose(whole, drawing.palette[calls.color[calls.id.tolist().index(0 if False else 3)]])
    assert 0.3 < np.linalg.norm(half - none) / np.linalg.norm(whole - none) < 0.8


def test_objects_that_one_thread_alone_waits_for_are_grey():
    rows = [("r", 0, 1000, "run"), ("r", 90, 91, "Queue.put", "release", "shared"),
            ("r", 290, 291, "Queue.put", "release", "own")]  # fmt: skip
    rows += [("a", 10, 95, "Queue.get", "wait", "shared", 1), ("a", 200, 295, "Queue.get", "wait", "own", 1)]
    rows += [("b", 20, 96, "Queue.get", "wait", "shared", 1), ("r", 93, 94, "Queue.put", "release", "shared")]
    trace = trace_of(lines(rows))
    drawing = draw(trace, waits="object")
    tubes = element(drawing, "correspondence")
    ops = picture_of(trace).waits.ops
    color = {
        ops.of(w)[0] + str(ops.thread[w]): int(c) for w, c in zip(tubes.id.tolist(), tubes.color.tolist())
    }
    grey = drawing.palette[color["own1"]]
    assert np.ptp(grey[:3]) < 0.06
    assert color["shared1"] == color["shared2"] != color["own1"]
    assert element(drawing, "object").id.tolist() == [ops.objects.index("shared")]
    # its queue: two threads wait at once
    assert len(element(drawing, "queue")) == 3
    red = draw(trace, waits="object", object="own")
    tubes = element(red, "correspondence")
    reddish = [red.palette[c][0] - red.palette[c][2] > 0.5 for c in tubes.color.tolist()]
    assert reddish == [ops.of(w) == ["own"] for w in tubes.id.tolist()]
    with pytest.raises(UsageError, match="no thread waits"):
        draw(trace, waits="object", object="nothing")


def test_funnels_pass_their_objects_lane():
    rows = [("r", 0, 1000, "run")] + [("r", at, at + 1, "Queue.put", "release", "Q") for at in (500, 510)]
    rows += [(t, 100, 600, "Queue.get", "wait", "Q", 1) for t in "ab"]
    drawing = draw(trace_of(lines(rows)), waits="object")
    lane = element(drawing, "object").point[0, 1:]
    tubes = element(drawing, "correspondence")
    for i in range(2):
        path = tubes.point[tubes.first[i] : tubes.first[i + 1]]
        assert np.linalg.norm(path[:, 1:] - lane, axis=1).min() < 0.25


def test_threads_are_chosen_hidden_ordered_and_pulled_out():
    trace = trace_of(PROGRAM)

    def rows(**settings):
        return [str(trace.threads.tid[r.thread]) for r in picture_of(trace, **settings).rows]

    assert set(rows(threads="all")) == {"main", "a", "b", "c"}
    assert "c" not in rows(hide="c")
    assert rows(order="c,b", main="none", threads="all") == ["c", "b", "main", "a"]
    assert rows(main="b")[0] == "b"
    assert rows(order="name", main="none", threads="all") == ["a", "b", "c", "main"]
    with pytest.raises(UsageError, match="no thread is called"):
        rows(hide="nobody")
    with pytest.raises(UsageError, match="are expected"):
        rows(windows="b 1..2")


def test_a_thread_may_have_a_window_of_its_own():
    """SyncTrace's threads are panned and zoomed one by one (section IV-C)."""
    trace = trace_of(PROGRAM)
    together, apart = (draw(trace, threads="all", windows=w) for w in ("", "b=0ns..500ns"))
    calls = [element(drawing, "call") for drawing in (together, apart)]
    for drawn, stretch in zip(calls, (1, 2), strict=True):
        for i, call in enumerate(drawn.id.tolist()):
            own = stretch if trace.threads.tid[trace.calls.thread[call]] == "b" else 1
            part = sections(drawn, i)
            start, end = (int(t[call]) * own for t in (trace.calls.start, trace.calls.end))
            assert part[0, :, 0] == pytest.approx(start * WIDTH / 1000, abs=1e-4)
            assert part[-1, :, 0] == pytest.approx(min(end, 1000) * WIDTH / 1000, abs=1e-4)
    # b's calls at 850 and 870 are out of its window; the others' are all there.
    assert len(calls[0]) - len(calls[1]) == 2
    assert calls[0].window == (0, 1000)
    assert calls[1].window is None  # there is no time that all have in common
    assert any("b=0ns..500ns" in note for note in apart.notes)


def test_calls_begin_darker_so_that_repetition_is_seen():
    """SyncTrace's start shading (section IV-B2)."""
    trace = trace_of(PROGRAM)
    shaded, plain = draw(trace), draw(trace, starts=False)
    assert element(plain, "start") is None
    starts, calls = element(shaded, "start"), element(shaded, "call")
    place = {call: i for i, call in enumerate(calls.id.tolist())}
    assert len(starts) > 5
    for i, call in enumerate(starts.id.tolist()):
        own, whole = sections(starts, i), sections(calls, place[call])
        assert own[0, 0, 0] == pytest.approx(whole[0, 0, 0], abs=1e-5)
        assert own[-1, 0, 0] - own[0, 0, 0] <= 0.31 * (whole[-1, 0, 0] - whole[0, 0, 0])
        dark, light = (shaded.palette[e.color[k], :3] for e, k in ((starts, i), (calls, place[call])))
        assert dark.sum() < 0.8 * light.sum()
    # What is too narrow for it has none.
    narrow = {c for c in calls.id.tolist() if trace.calls.end[c] - trace.calls.start[c] <= 1}
    assert narrow
    assert not narrow & set(starts.id.tolist())


def test_focused_threads_are_higher_and_folded_levels_lower():
    trace = trace_of(PROGRAM)
    plain, focused = picture_of(trace, main="none"), picture_of(trace, main="none", focus="b", widen=4.0)
    b = plain.row_of[[str(t) for t in trace.threads.tid].index("b")]
    others = np.arange(4) != b
    assert focused.height[b] > plain.height[b]
    assert (focused.height[others] <= plain.height[others] + 1e-9).all()
    folded = picture_of(trace, fold=1.0)
    assert focused.theatre.stretch[b] > 1.5 * plain.theatre.stretch[b]
    assert folded.edge[1] < 0.2 * picture_of(trace).edge[1]


def test_an_overview_shows_the_whole_trace_and_frames_the_window():
    trace = trace_of(PROGRAM)
    assert element(draw(trace), "overview") is None  # all is in sight
    settings = {"start": "200ns", "end": "700ns", "main": "main", "focus": "b"}
    picture, drawing = picture_of(trace, **settings), draw(trace, **settings)
    shown = [str(trace.threads.tid[picture.rows[one.row].thread]) for one in picture.overviews]
    assert shown == ["main", "b"]
    bars = [e for e in drawing.elements if e.kind == "overview"]
    for one, bar in zip(picture.overviews, bars, strict=True):
        thread = picture.rows[one.row].thread
        mine = np.flatnonzero(trace.calls.thread == thread)
        assert sorted(bar.id.tolist()) == mine.tolist()  # also those out of the window
        for i, call in enumerate(bar.id.tolist()):
            part = sections(bar, i)
            assert part[0, 0, 0] == pytest.approx(trace.calls.start[call] * WIDTH / 1000, abs=1e-4)
            assert part[-1, 0, 0] == pytest.approx(trace.calls.end[call] * WIDTH / 1000, abs=1e-4)
        assert one.low > picture.reach(np.array([one.row]))[0]
    lines_ = element(drawing, "overview window")
    assert len(lines_) == 6  # a frame and two lines to the row's ends, twice
    for k in (0, 3):
        frame = lines_.point[lines_.first[k] : lines_.first[k + 1], 0]
        assert (frame.min(), frame.max()) == pytest.approx((0.2 * WIDTH, 0.7 * WIDTH), abs=1e-4)
        ends_ = [float(lines_.point[lines_.first[k + i + 1] - 1, 0]) for i in (1, 2)]
        assert ends_ == pytest.approx([0.0, WIDTH], abs=1e-4)
    assert element(draw(trace, overview="none", **settings), "overview") is None
    assert element(draw(trace, overview="always"), "overview") is not None


def test_the_rail_follows_the_critical_path():
    trace = trace_of(PROGRAM)
    drawing = draw(trace, path=True, path_end="a", path_at="1us")
    rail = element(drawing, "critical path")
    path = picture_of(trace).waits.path([str(t) for t in trace.threads.tid].index("a"), 1000)
    assert len(rail) == len(path)
    x = [(rail.point[a][0], rail.point[b - 1][0]) for a, b in zip(rail.first, rail.first[1:])]
    assert [low for low, _ in x] == pytest.approx([s * WIDTH / 1000 for s in path.start], abs=1e-3)
    assert [high for _, high in x] == pytest.approx([e * WIDTH / 1000 for e in path.end], abs=1e-3)
    assert element(draw(trace), "critical path") is None


def test_on_paper_the_drawing_is_the_papers_figure():
    """Every bar, ribbon and ball is where a plain computation of the semicircle puts it."""
    trace = trace_of(PROGRAM)
    drawing, picture = draw(trace, paper=1.0), picture_of(trace, paper=1.0)
    made, p = picture.theatre, Parameters()
    zero = p.zero * WIDTH / 2
    n = len(picture.rows) - 1
    deepest = float(picture.edge[max(row.levels for row in picture.rows[1:])])
    level = (WIDTH / 2 - zero) / deepest

    def plain(row, share, out):
        if row == 0:
            return 16 * share, made.main_foot + made.main_level * out
        angle = math.pi + math.pi * (row - 1 + share) / n
        return 8 + (zero + level * out) * math.cos(angle), (zero + level * out) * math.sin(angle)

    calls = element(drawing, "call")
    for i, call in enumerate(calls.id.tolist()):
        row = int(picture.row_of[trace.calls.thread[call]])
        depth = int(trace.calls.depth[call])
        inner, outer = picture.edge[depth - 1], picture.edge[depth]
        outer = outer - 0.07 * (outer - inner)
        part = sections(calls, i)
        for section, time in ((part[0], trace.calls.start[call]), (part[-1], trace.calls.end[call])):
            for k, out in ((0, inner), (1, outer)):
                assert section[k, [0, 2]] == pytest.approx(plain(row, time / 1000, out), abs=1e-4)
    ribbons = element(drawing, "correspondence")
    ops = picture.waits.ops
    for i, wait in enumerate(ribbons.id.tolist()):
        row = int(picture.row_of[ops.thread[wait]])
        part = sections(ribbons, i)
        assert part[0, 0, [0, 2]] == pytest.approx(plain(row, ops.start[wait] / 1000, 0.0), abs=1e-4)
        assert part[0, 1, [0, 2]] == pytest.approx(plain(row, ops.end[wait] / 1000, 0.0), abs=1e-4)
        # Halfway each side is drawn towards the centre: a quarter from either end, half from the centre.
        t = funnels.steps()[16]
        side = np.array(plain(row, ops.start[wait] / 1000, 0.0))
        tip = part[-1, 0, [0, 2]]
        curve = (1 - t) ** 2 * side + 2 * t * (1 - t) * np.array([8.0, 0.0]) + t**2 * tip
        assert part[16, 0, [0, 2]] == pytest.approx(curve, abs=1e-4)
    for point, wait in zip(element(drawing, "release").point, element(drawing, "release").id.tolist()):
        row = int(picture.row_of[picture.waits.woken_by[wait]])
        share = picture.waits.woken_at[wait] / 1000
        inner = np.array(plain(row, share, 0.0))
        outer = np.array(plain(row, share, float(picture.edge[-1])))
        along = outer - inner
        across = point[[0, 2]] - inner
        assert abs(along[0] * across[1] - along[1] * across[0]) < 1e-3  # on the moment's radius
    assert drawing.camera.projection == "orthographic"
    assert drawing.camera.direction == pytest.approx((0.0, -1.0, 0.0), abs=1e-9)


def test_a_trace_without_waits_says_so():
    drawing = draw(trace_of("a 0 100 run\nb 0 50 run"))
    assert drawing.title == "a calls nothing for 100 ns in run: it waits or computes (no waits recorded)"
    assert any("rules" in note for note in drawing.notes)
    assert element(drawing, "correspondence") is None
    # What can be shown all the same: how long each thread runs, and calls nothing.
    texts = [text for group in drawing.labels for text in group.text]
    assert "0 to 100 ns, calls nothing for 100 ns" in texts
    assert any("within a call, up to 2" in text for text in texts)


def test_names_of_waits_stand_before_everything_on_plates_that_dont_overlap():
    drawing = draw(trace_of(PROGRAM))
    plates = element(drawing, "wait plate")
    (names,) = [group for group in drawing.labels if group.kind == "wait"]
    assert len(plates) == len(names) > 0
    # The longest wait names thread, time and object.
    assert "580 ns for main · P" in names.text
    view = fit(drawing.camera, FRAME, SHARE)
    others = [e for e in drawing.elements if isinstance(e, Tubes | Wedges) and e.kind != "wait plate"]
    points = np.concatenate([(e.corner if isinstance(e, Wedges) else e.point).reshape(-1, 3) for e in others])
    nearest = ((points - view.eye) @ view.forward).min()
    corner = plates.corner.reshape(len(plates), -1, 3)
    assert ((corner - view.eye) @ view.forward).max() < nearest + 0.02
    boxes = [view.pixels(c) for c in corner]
    for i, a in enumerate(boxes):
        for b in boxes[:i]:
            assert (a.min(0) > b.max(0)).any() or (b.min(0) > a.max(0)).any()
    # Without them names stand on the rows.
    assert element(draw(trace_of(PROGRAM), tags=False), "wait plate") is None


def test_the_skyline_is_as_high_as_threads_run():
    trace = trace_of(
        "a 0 1000 run\nb 0 500 run\nb 100 300 Event.wait wait E 1\na 299 299 Event.set release E"
    )
    picture, drawing = picture_of(trace), draw(trace)
    built = element(drawing, "threads that run")
    assert any("up to 2" in text for group in drawing.labels for text in group.text)
    low, high = picture.skyline
    seen = set()
    for i in range(len(built)):
        part = sections(built, i)
        time = part[:, 0, 0] / WIDTH * 1000
        if any(time[0] < edge < time[-1] for edge in (100, 300, 500)):
            continue
        tall = np.linalg.norm(part[0, 1:].max(axis=0) - part[0].min(axis=0)) / picture.theatre.stretch[0]
        many = 1 if 100 <= time.mean() <= 300 or time.mean() > 500 else 2
        assert tall == pytest.approx(many / 2 * (high - low), rel=0.15)
        seen.add(many)
    assert seen == {1, 2}
    assert element(draw(trace, running=False), "threads that run") is None


def test_waits_for_several_objects_have_a_sign_and_all_differs_from_any():
    text = """
    a 0 1000 run
    a 100 900 futures.wait-all wait x,y 1
    b 0 1000 run
    b 50 600 futures.wait-any wait x,y 1
    c 0 1000 run
    c 500 500 Future.set_result release x
    c 800 800 Future.set_result release y
    """
    drawing = draw(trace_of(text))
    signs = {e.shape: e for e in drawing.elements if e.kind == "wait for several"}
    assert set(signs) == {"cone", "diamond"}
    result = {title: (words, column) for title, words, column in drawing.meaning["correspondence"].texts}
    words, column = result["of several objects"]
    assert {shape: words[column[e.id[0]]] for shape, e in signs.items()} == {"cone": "any", "diamond": "all"}
    assert any("all of 2" in text for group in drawing.labels for text in group.text)


def test_what_is_pointed_at_says_who_waits_for_whom_and_what_a_call_does_with_its_time():
    more = "b 15 20 Lock.acquire wait L 0\nc 25 60 Lock.acquire wait L 1\nb 50 50 Lock.release release L"
    drawing = draw(trace_of(f"{PROGRAM}{more}"))
    result = {title: (words, column) for title, words, column in drawing.meaning["correspondence"].texts}

    def said(title, row):
        words, column = result[title]
        return words[column[row]] if column[row] >= 0 else None

    rows = range(len(result["operation"][1]))
    locks = [i for i in rows if said("operation", i) == "Lock.acquire" and "c" in said("waiting thread", i)]
    (row,) = locks
    assert said("for", row) == "L"
    assert said("released by", row) == said("held by", row) == result["waiting thread"][0][2]
    assert said("in", row) == "work"
    rows = dict(drawing.meaning["row"].values)
    assert rows["waits (ns)"].tolist() == [600, 580, 0, 35]
    assert rows["ended waits (ns)"][0] == 580
    spent = dict(drawing.meaning["call"].values)
    assert np.nanmax(spent["waits (ns)"]) == 600  # main, in two of its calls
    assert np.nanmax(spent["reads or writes (ns)"]) == 120


def test_one_thread_and_none():
    assert len(element(draw(trace_of("a 0 100 run")), "thread")) == 1
    empty = draw(trace_of(""))
    assert empty.counts["threads"] == 0


@pytest.mark.parametrize("form", [{}, {"paper": 1.0}, {"lanes": 1.0}, {"paper": 0.4, "lanes": 0.5}])
@pytest.mark.parametrize(
    "name", ["sync_downloader_8w.json.gz", "chromium_docs_page.json.gz", "weka_parallel_9t.tsv.gz"]
)
def test_recorded_programs_in_every_form(recorded, name, form):
    trace = load(recorded / name)
    drawing = draw(trace, **form)
    for made in drawing.elements:
        points = made.corner if isinstance(made, Wedges) else made.point
        assert np.isfinite(points).all()
        assert (made.color >= 0).all()
        assert (made.color < len(drawing.palette)).all()
    if name != "weka_parallel_9t.tsv.gz":
        assert drawing.counts["correspondences"] > 15


def test_all_75_threads_of_a_browser_have_a_row(recorded):
    trace = load(recorded / "chromium_docs_page.json.gz")
    assert draw(trace, threads="all").counts["threads"] >= 75  # and those that only send arrows
    assert draw(trace, threads="busiest 13").counts["threads"] == 13


def staged_trace():
    """Return a trace in which one thread holds a lock for long, three queue, and two wait for work."""
    rows = [("h", 0, 1000, "load"), ("h", 5, 5, "Lock.acquire", "wait", "L", 0)]
    rows.append(("h", 305, 305, "Lock.release", "release", "L"))
    for i in range(3):
        at = 306 + 50 * i
        rows += [(f"w{i}", 0, 1000, "take"), (f"w{i}", 10, at, "Lock.acquire", "wait", "L", 1)]
        rows.append((f"w{i}", at + 49, at + 49, "Lock.release", "release", "L"))
    rows += [("giver", 0, 1000, "give"), ("giver", 900, 900, "Queue.put", "release", "Q")]
    rows.append(("giver", 901, 901, "Queue.put", "release", "Q"))
    for i in range(2):
        rows += [(f"i{i}", 0, 1000, "serve"), (f"i{i}", 2, 902 + i, "Queue.get", "wait", "Q", 1)]
    return trace_of(lines(rows))


def test_the_picture_begins_with_the_first_finding():
    trace = staged_trace()
    drawing = draw(trace)
    assert drawing.title == "h holds L for 300 ns while up to 3 threads queue for it"
    threads = element(drawing, "thread")
    assert trace.threads.name[threads.id[0]] == "h"  # who is to blame stands in front
    bars = element(drawing, "hold")
    held = bars.id.tolist()
    ops = picture_of(trace).waits.ops
    assert {trace.threads.name[ops.thread[row]] for row in held} == {"h", "w0", "w1"}
    i = held.index(next(row for row in held if trace.threads.name[ops.thread[row]] == "h"))
    x = bars.corner[2 * i : 2 * i + 2, :, 0] if len(bars.corner) != len(held) else bars.corner[i, :, 0]
    assert x.min() == pytest.approx(5 * WIDTH / 1000, abs=0.03)
    assert x.max() == pytest.approx(305 * WIDTH / 1000, abs=0.03)
    callouts = drawing.callouts
    assert callouts[0].text == "h holds L for 300 ns"
    ((source, start, end),) = callouts[0].spans
    assert (source, end - start) == (0, 300)
    assert len(callouts) == 2
    assert callouts[1].detail == "held by h 295 ns, w0 49 ns, w1 49 ns"


def test_contention_is_the_one_loud_colour():
    trace = staged_trace()
    drawing = draw(trace)
    state = picture_of(trace).waits.outcomes.state
    spread = {}
    for tubes in (e for e in drawing.elements if e.kind == "correspondence"):
        for wait, color in zip(tubes.id.tolist(), tubes.color.tolist()):
            spread.setdefault(KINDS_OF_WAITING[state[wait]], set()).add(
                float(np.ptp(drawing.palette[color, :3]))
            )
    assert set(spread) == {"contention", "idle"}
    assert min(spread["contention"]) > 0.6 > 0.2 > max(spread["idle"])
    rows = element(drawing, "thread")
    assert len(set(rows.color.tolist())) == 1  # threads share no hue with waits


def test_a_finding_is_drawn_alone_with_its_threads_and_its_time():
    trace = staged_trace()
    found = findings_of(picture_of(trace).waits, "")
    assert found[0].kind == "convoy"
    drawing = draw(trace, finding=1)
    threads = element(drawing, "thread").id.tolist()
    assert {trace.threads.name[t] for t in threads} == {"h", "w0", "w1", "w2"}
    low, high = drawing.axes[0].window
    assert 0 <= low <= found[0].start < found[0].end <= high < 500
    with pytest.raises(UsageError, match="findings"):
        draw(trace, finding=1000)
    with pytest.raises(UsageError, match="no thread waits"):
        draw(trace_of("a 0 10 run"), finding=1)


def test_names_in_a_picture_of_a_finding_are_nearly_as_large_as_its_other_texts():
    def smallest(trace, finding):
        labels = draw(trace, finding=finding).labels
        text = max(float(g.height.max()) for g in labels if g.kind == "thread")
        return min((float(g.height.min()) / text for g in labels if g.kind == "function"), default=1.0)

    trace = load(EXAMPLES / "sync_pillow_8w.json.gz")
    assert smallest(trace, 0) < 0.6
    assert smallest(trace, 3) >= 0.75
    few = "a 0 1000 run\na 0 900 load\nb 0 1000 run\nb 100 900 Lock.acquire wait L 1\n"
    few += "a 10 10 Lock.acquire wait L 0\na 899 899 Lock.release release L"
    assert 0.75 <= smallest(trace_of(few), 1) <= 1


def test_a_finding_about_a_holder_shows_who_waits_for_it():
    rows = [
        ("h", 0, 1000, "load"),
        ("h", 5, 5, "Lock.acquire", "wait", "L", 0),
        ("h", 10, 300, "read", "io", "-"),
    ]
    rows.append(("h", 305, 305, "Lock.release", "release", "L"))
    rows += [("w", 0, 1000, "take"), ("w", 10, 306, "Lock.acquire", "wait", "L", 1)]
    trace = trace_of(lines([*rows, ("other", 0, 1000, "run")]))
    found = findings_of(picture_of(trace).waits, "")
    number = [finding.kind for finding in found].index("held over I/O") + 1
    assert trace.threads.name[found[number - 1].threads[0]] == "h"
    threads = element(draw(trace, finding=number), "thread").id.tolist()
    assert [trace.threads.name[t] for t in threads] == ["h", "w"]


def test_a_wait_in_vain_has_a_funnel_that_leads_nowhere():
    trace = trace_of("vain 0 1000 run\nvain 100 1000 Event.wait wait E 1\nmain 0 900 main")
    drawing = draw(trace)
    (funnel,) = (e for e in drawing.elements if e.kind == "wait in vain")
    assert not any(e.kind == "release" for e in drawing.elements)
    assert funnel.id.tolist() == picture_of(trace).waits.own.tolist()
    # It ends in the core, at the end of the wait, on no row.
    assert funnel.point[-1, 0] == pytest.approx(WIDTH, abs=0.01)
    entries = [entry for legend in drawing.legends for entry in legend.entries]
    assert any("nobody ends the wait" in entry.text for entry in entries)
    (callout,) = drawing.callouts
    assert (callout.text, callout.detail) == ("vain waits 900 ns for E", "in vain: nobody ends it (in run)")
    assert not any(e.kind == "wait in vain" for e in draw(trace, paper=1.0).elements)


def test_texts_of_a_finding_are_16_pixels_high():
    trace = staged_trace()
    frame = Frame()
    for number, least in ((1, 16.0), (0, 10.0)):
        drawing = draw(trace, finding=number)
        pixels = picture_of(trace, finding=number).pixels_per_unit
        (plates,) = (group for group in drawing.labels if group.kind == "wait")
        view = fit(drawing.camera, frame, SHARE)
        up = np.array(plates.up) * plates.height[:, None]
        high = np.linalg.norm(view.pixels(plates.anchor + up) - view.pixels(plates.anchor), axis=1)
        assert high.min() >= least
        names = next(group for group in drawing.labels if group.kind == "thread")
        assert float(names.height.min()) * pixels >= least


def test_waits_that_nobody_ended_lead_to_who_holds_what_they_are_for():
    rows = []
    for i in range(3):
        rows += [(f"t{i}", 0, 1000, "run"), (f"t{i}", 2, 2, "Lock.acquire", "wait", f"L{i}", 0)]
        rows.append((f"t{i}", 10 + i, 1000, "Lock.acquire", "wait", f"L{(i + 1) % 3}", 1))
    trace = trace_of(lines(rows))
    drawing = draw(trace)
    assert drawing.title == "Deadlock: t0, t1 and t2 wait for each other forever"
    tubes = element(drawing, "correspondence")
    assert len(tubes) == 3
    assert element(drawing, "release") is None  # nobody released anything


def test_a_line_under_each_wait_says_how_it_is_known():
    trace = trace_of(
        """
        a 0 1000 run
        a 10 11 Lock.acquire wait L 0
        a 400 401 Lock.release release L
        b 0 1000 run
        b 100 401 Lock.acquire wait L 1
        b 500 700 Queue.get~(timed~out) wait Q 1
        """
    )
    drawing = draw(trace)
    under = element(drawing, "wait line")
    picture = picture_of(trace)
    ops, outcomes = picture.waits.ops, picture.waits.outcomes
    parts = {wait: int((under.id == wait).sum()) for wait in set(under.id.tolist())}
    timed_out = next(w for w in parts if OUTCOMES[outcomes.outcome[w]] == "timed out")
    assert {ops.names[ops.name[w]] for w in parts} == {"Lock.acquire", "Queue.get (timed out)"}
    assert parts.pop(timed_out) > 5
    assert set(parts.values()) == {1}
    # Each lies within its wait's time.
    for i, wait in enumerate(under.id.tolist()):
        x = sections(under, i)[:, :, 0]
        low, high = (t / 1000 * WIDTH for t in (int(ops.start[wait]), int(ops.end[wait])))
        assert low - 1e-4 <= x.min() < x.max() <= high + 1e-4
    told = [
        entry for legend in drawing.legends for entry in legend.entries if "wait line" in entry.selector.kinds
    ]
    assert [entry.text for entry in told] == [STYLES[0][0], STYLES[2][0]]
    assert told[1].selector.ids == (timed_out,)
    # Where all is recorded there is none: what is usual is quiet.
    assert element(draw(staged_trace()), "wait line") is None


@given(
    st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1), st.integers(0, 2)), max_size=6),
    st.floats(1, 50),
)
def test_pieces_of_lines(given_, width):
    low, high, style = ([row[k] for row in given_] for k in range(3))
    owner, begin, end = pieces(np.array(low), np.array(high), np.array(style, np.int64), width)
    wanted = []
    for i, (a, b, s) in enumerate(given_):
        _, fill, gap = STYLES[s]
        step, at = max((fill + gap) / width, (b - a) / 40), a
        share = fill / (fill + gap) if s else 1.0
        while at < b - 1e-12:
            if s == 0:
                wanted.append((i, a, b))
                break
            wanted.append((i, at, min(at + step * share, b)))
            at += step
    # The last piece may be nothing but a rounding.
    mine = [one for one in zip(owner.tolist(), begin.tolist(), end.tolist()) if one[2] - one[1] > 1e-9]
    wanted = [one for one in wanted if one[2] - one[1] > 1e-9]
    assert [one[0] for one in mine] == [one[0] for one in wanted]
    assert np.array(mine) == pytest.approx(np.array(wanted), abs=1e-7)


def test_seen_straight_plates_stand_on_their_rows_and_sums_in_a_column():
    trace, frame = trace_of(PROGRAM), Frame(straight=True)
    drawing = draw(trace, frame)
    p = Parameters()
    picture = compose(trace, waits_of(trace, p.rules), p, frame)
    assert drawing.camera.projection == "orthographic"
    assert drawing.camera.direction == (0.0, -1.0, 0.0)
    plates, ops = element(drawing, "wait plate"), picture.waits.ops
    assert len(plates)
    for i, wait in enumerate(plates.id.tolist()):
        row = picture.row_of[ops.thread[[wait]]]
        time = (int(ops.start[wait]) + int(ops.end[wait])) / 2000
        on = picture.theatre.place(row, np.array([time]), picture.reach(row) / 2, 0.0)[0]
        middle = sections(plates, i).reshape(-1, 3).mean(axis=0)
        assert middle[[0, 2]] == pytest.approx(on[[0, 2]], abs=1e-3)
    (sums,) = [group for group in drawing.labels if group.kind == "sum of waits"]
    assert np.ptp(sums.anchor[:, 0]) < 1e-3


def test_contention_is_told_once():
    drawing = draw(staged_trace())
    told = [e for legend in drawing.legends for e in legend.entries if "contention" in e.text]
    assert len(told) == 1
    # The entry is about calls and funnels.
    calls, tubes = element(drawing, "call"), element(drawing, "correspondence")
    assert told[0].selector.of("call", calls.color, calls.id).any()
    assert told[0].selector.of("correspondence", tubes.color, tubes.id).any()


@pytest.mark.parametrize(("form", "most"), [({}, 0.06), ({"lanes": 1.0}, 0.025)])
def test_few_funnels_cross(form, most):
    frame = Frame(1280, 720)
    drawing = draw(load(EXAMPLES / "sync_pillow_8w.json.gz"), frame, **form)
    assert len(paths(drawing, frame)) > 100
    assert crossing(drawing, frame) <= most


@pytest.mark.parametrize(("file", "most"), [("sync_pillow_8w", 0.2), ("chromium_docs_page", 0.04)])
def test_funnels_cover_little_of_the_rows(file, most):
    frame = Frame(1280, 720)
    trace = load(EXAMPLES / f"{file}.json.gz")
    drawing, picture = draw(trace, frame), compose(trace, waits_of(trace, ""), Parameters(), frame)
    assert 0 < hidden(drawing, picture, frame) <= most


def test_paths_that_cross():
    a, b = np.array([[0.0, 0.0], [2.0, 2.0]]), np.array([[0.0, 2.0], [1.0, 1.5], [2.0, 0.0]])
    assert cross(a, b)
    assert not cross(a, b + np.array([0.0, 3.0]))
    assert not cross(a, b + np.array([5.0, 0.0]))


def test_threads_that_have_nothing_to_do_have_a_line_in_place_of_a_funnel():
    """Tasks are posted to a thread that is idle between them: nobody is delayed, nothing pointed out."""
    trace = trace_of("boss 0 1000 main\nworker 0 100 task\nworker 600 700 task")
    calls = trace.calls
    by, task = (int(np.flatnonzero(calls.end == end)[0]) for end in (1000, 700))
    one = np.ones(1, np.int64)
    threads = (calls.thread[[by]], calls.thread[[task]])
    name = np.zeros(1, np.int32)
    flows = Flows(by * one, task * one, *threads, 590 * one, 600 * one, name, Strings.of(["PostTask"]))
    trace = replace(trace, flows=flows)
    drawing = draw(trace)
    funnel = element(drawing, "correspondence")
    (left, right, _), wide = ends(funnel, 0), WIDTH / 1000
    assert right[0] == pytest.approx(600 * wide, abs=0.02)
    assert right[0] - left[0] < 0.1 < 500 * wide
    assert drawing.callouts == ()
    assert element(drawing, "wait plate") is None
    assert drawing.title == "boss runs most, 1 µs; 100 % of all waiting is for work"
    assert drawing.notes[0] == "trace: 2 threads, 1 µs, 1 wait of 500 ns in all"
    assert any("thin line" in entry.text for legend in drawing.legends for entry in legend.entries)
    assert not any("funnel" in entry.text for legend in drawing.legends for entry in legend.entries)


def test_on_paper_names_stand_along_the_bars_and_curves_go_on_to_their_balls():
    trace = load(str(EXAMPLES / "sync_pillow_8w.json.gz"), cache=False)
    drawing = draw(trace, Frame(straight=True), paper=1.0)
    names = [group for group in drawing.labels if group.kind == "function"]
    assert sum(map(len, names)) > 20
    picture = compose(trace, waits_of(trace, ""), Parameters(paper=1.0), Frame(straight=True))
    centre = np.array([picture.theatre.centre[0], 0.0, picture.theatre.centre[1]])
    bent = 0
    for group in names:
        right, up = np.array(group.right), np.array(group.up)
        assert right[0] >= -1e-3  # none stands on its head
        assert right @ up == pytest.approx(0.0, abs=1e-6)
        assert np.linalg.norm(right) == pytest.approx(1.0, abs=2e-3)
        if abs(right[2]) < 1e-6 and (group.anchor[:, 2] > centre[2]).all():
            continue  # the main thread, which is straight
        outward = group.anchor - centre
        outward[:, 1] = 0.0
        along = np.abs(outward @ right) / np.linalg.norm(outward, axis=1)
        assert (along < 0.01).all()
        bent += len(group)
    assert bent > 10
    stems = next(e for e in reversed(drawing.elements) if e.kind == "correspondence")
    balls = element(drawing, "release")
    assert stems.id.tolist() == balls.id.tolist()
    for i, ball in enumerate(balls.point):
        part = sections(stems, i)
        flat = part.reshape(-1, 3)[:, [0, 2]]
        assert np.linalg.norm(flat - ball[[0, 2]], axis=1).min() < 0.03
