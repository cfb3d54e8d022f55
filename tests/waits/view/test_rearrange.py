"""Rows rearranged by hand, by the view's actions, and what pointing at the paper's picture says."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from tests.waits.sync_traces import lines, trace_of
from tracevis3d.drawing.frame import Frame
from tracevis3d.drawing.picked import PickedElement
from tracevis3d.errors import UsageError
from tracevis3d.features.waits.view.parameters import Parameters
from tracevis3d.features.waits.view.rows.rearrange import ROW_ACTIONS
from tracevis3d.features.waits.view.view import VIEW
from tracevis3d.progress import silent
from tracevis3d.views.actions import State

ACTION = {action.name: action for action in ROW_ACTIONS}
PROGRAM = """
a 0 1000 work
a 100 400 Lock.acquire wait L 1
b 0 1000 work
b 390 395 Lock.release release L
c 0 1000 work
d 0 1000 work
"""


def draw(trace, **settings):
    return VIEW.draw([trace], Parameters(**settings), Frame(), silent)


def element(drawing, kind):
    return next(e for e in drawing.elements if e.kind == kind)


def state(trace, element, **about):
    changed = about.pop("changed", {})
    return State(VIEW, (trace,), {**vars(Parameters()), **changed}, element=element, **about)


def order_of(trace, **settings):
    """Return the names of the rows' threads, from the top."""
    return [trace.threads.name[t] for t in element(draw(trace, **settings), "thread").id.tolist()]


def sphere(trace, name):
    return PickedElement("thread", id=trace.threads.name.index(name))


@pytest.mark.parametrize(("one", "other"), [("a", "c"), ("c", "b"), ("d", "b")])
def test_a_thread_that_is_dropped_on_another_takes_its_place(one, other):
    trace = trace_of(PROGRAM)
    before = order_of(trace, order="name", main="b")
    given = state(
        trace, sphere(trace, one), target=sphere(trace, other), changed={"order": "name", "main": "b"}
    )
    swap = ACTION["swap_threads"]
    assert swap.applies(given)
    change = swap.run(given)
    after = order_of(trace, **{"order": "name", "main": "b", **change.parameters})
    swapped = {one: other, other: one}
    assert after == [swapped.get(name, name) for name in before]
    assert change.message == f"{one} and {other} are swapped"


def test_rows_that_a_finding_has_staged_are_swapped_as_they_are_shown():
    rows = [
        ("hub", 0, 1000, "run"),
        ("holder", 0, 1000, "run"),
        ("holder", 10, 10, "Lock.acquire", "wait", "L", 0),
    ]
    rows.append(("holder", 310, 310, "Lock.release", "release", "L"))
    for i in range(4):
        name, got = f"worker{i}", 310 + 50 * i
        rows += [(name, 0, 1000, "run"), (name, 20 + i, got, "Lock.acquire", "wait", "L", 1)]
        rows.append((name, got + 50, got + 50, "Lock.release", "release", "L"))
        rows.append((name, got + 60, 990, "Queue.get", "wait", "Q", 1))
        rows.append(("hub", 980 + i, 981 + i, "Queue.put", "release", "Q"))
    trace = trace_of(lines(rows))
    before = order_of(trace)
    assert before[0] == "holder"
    one, other = before[2], before[4]
    change = ACTION["swap_threads"].run(state(trace, sphere(trace, one), target=sphere(trace, other)))
    swapped = {one: other, other: one}
    assert order_of(trace, **change.parameters) == [swapped.get(name, name) for name in before]


def test_it_may_be_dropped_on_a_call_of_the_other_row():
    trace = trace_of(PROGRAM)
    call = int(np.flatnonzero(trace.calls.thread == trace.threads.name.index("d"))[0])
    onto = PickedElement("call", id=call, calls={0: call})
    given = state(trace, sphere(trace, "c"), target=onto, changed={"order": "name", "main": "none"})
    change = ACTION["swap_threads"].run(given)
    assert order_of(trace, main="none", **change.parameters) == ["a", "b", "d", "c"]


@pytest.mark.parametrize(
    "target", [None, PickedElement("correspondence", id=0), PickedElement("thread", id=0)]
)
def test_what_is_dropped_elsewhere_changes_nothing(target):
    trace = trace_of(PROGRAM)
    with pytest.raises(UsageError, match="row"):
        ACTION["swap_threads"].run(state(trace, PickedElement("thread", id=0), target=target))


def test_a_double_click_makes_a_thread_the_main_one_and_takes_it_back():
    trace = trace_of(PROGRAM)
    action = ACTION["make_main_thread"]
    change = action.run(state(trace, sphere(trace, "d")))
    assert order_of(trace, **change.parameters)[0] == "d"
    again = action.run(state(trace, sphere(trace, "d"), changed=dict(change.parameters)))
    assert again.parameters == {"main": "auto"}


def test_the_splitter_gives_the_main_thread_more_room_and_the_others_less():
    trace = trace_of(PROGRAM)

    def heights(drawing):
        corner = element(drawing, "row").corner[..., 2]
        first = element(drawing, "row").first
        parts = [corner[a:b] for a, b in pairwise(first.tolist())]
        tall = [float(part.max() - part.min()) for part in parts]
        return tall[0], max(tall[1:])

    before = draw(trace, paper=1.0)
    split = element(before, "splitter")
    middle = split.corner[..., 2].mean()
    values = tuple((title, float(of[0])) for title, of in before.meaning["splitter"].values)
    held = PickedElement("splitter", id=0, point=(8.0, 0.0, middle), values=values)
    action = ACTION["move_splitter"]
    given = state(trace, held, point=(8.0, 0.0, middle - 2.0), changed={"paper": 1.0})
    assert action.applies(given)
    change = action.run(given)
    after = draw(trace, paper=1.0, **change.parameters)
    (main, others), (main_after, others_after) = heights(before), heights(after)
    # It lies two units lower, as seen from the upper edge: all that the main thread gains.
    assert main_after - main == pytest.approx(2.0, rel=0.02)
    assert others_after < others
    assert element(after, "splitter").corner[..., 2].mean() == pytest.approx(middle - 2.0, rel=0.02)
    # Nothing lies on the other side of it.
    line = element(after, "splitter").corner[..., 2]
    assert element(after, "row").corner[: element(after, "row").first[1], :, 2].min() > line.max()
    assert element(after, "row").corner[element(after, "row").first[1] :, :, 2].max() < line.min()
    # Only the paper has one, and only where there is something to divide.
    assert all(e.kind != "splitter" for e in draw(trace).elements)
    assert all(e.kind != "splitter" for e in draw(trace, paper=1.0, main="none").elements)


def test_the_splitter_stays_in_the_picture():
    trace = trace_of(PROGRAM)
    held = PickedElement("splitter", id=0, values=(("share of the height", 0.2), ("height", 10.0)))
    ends = [ACTION["move_splitter"].run(state(trace, held, point=(0.0, 0.0, z))) for z in (99.0, -99.0)]
    assert [change.parameters["split"] for change in ends] == [0.05, 0.8]


def test_merged_waits_say_how_many_they_are_and_light_up_with_each_of_them():
    rows = [("r", 0, 1_000_000, "run"), ("a", 0, 1_000_000, "run")]
    for i in range(40):
        rows.append(("a", 1000 + 20 * i, 1010 + 20 * i, "Queue.get", "wait", "Q", 1))
        rows.append(("r", 1005 + 20 * i, 1006 + 20 * i, "Queue.put", "release", "Q"))
    for i in range(7):
        rows.append(("a", 800_000 + 20 * i, 800_010 + 20 * i, "Queue.get", "wait", "PQ"[i % 2], 1))
        rows.append(("r", 800_005 + 20 * i, 800_006 + 20 * i, "Queue.put", "release", "PQ"[i % 2]))
    drawing = draw(trace_of(lines(rows)), main="a", resolution=2.0)
    merged, meaning = element(drawing, "aggregated"), drawing.meaning["aggregated"]
    assert sorted(set(merged.id.tolist())) == [0, 1]
    assert {title: of.tolist() for title, of in meaning.values} == {
        "waits": [40, 7],
        "waited (ns)": [400, 70],
        "longest (ns)": [10, 10],
    }
    texts = {title: [words[i] for i in of.tolist()] for title, words, of in meaning.texts}
    assert texts == {
        "waiting thread": [texts["waiting thread"][0]] * 2,
        "released by": [texts["released by"][0]] * 2,
        "for": ["Q", "several objects"],
    }
    assert len({texts["waiting thread"][0], texts["released by"][0]}) == 2
    (link,) = (one for one in meaning.links if one.sort == "wait")
    assert [len(link.of(i)) for i in (0, 1)] == [40, 7]


def test_pointing_at_a_wait_asks_for_all_that_are_for_its_object():
    trace = trace_of(PROGRAM + "c 500 600 Lock.acquire wait L 1\nb 590 595 Lock.release release L\n")
    drawing = draw(trace, paper=1.0)
    links = drawing.meaning["correspondence"].links
    of_object = next(link for link in links if link.sort == "object")
    funnels = element(drawing, "correspondence")
    assert len({tuple(of_object.of(i).tolist()) for i in funnels.id.tolist()}) == 1
    assert of_object.asks
    assert of_object.role == "related"
