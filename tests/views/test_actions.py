"""Actions on elements: from a state of real traces to what is to change, without Blender."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import ROOT
from tracevis3d import api
from tracevis3d.drawing.picked import PickedElement
from tracevis3d.errors import UsageError
from tracevis3d.features.interactions.view.pointing import DrumPlaces
from tracevis3d.features.memory.view.layout import sizes
from tracevis3d.filters.stack import as_text, parse
from tracevis3d.parameters import read
from tracevis3d.trace.names import words_of
from tracevis3d.units import read_time
from tracevis3d.views import filtering, registry
from tracevis3d.views.actions import Action, Change, State
from tracevis3d.views.time_window import bounded, whole

EXAMPLES = ROOT / "examples"
VIEWS = [registry.find(name) for name in registry.names()]


@pytest.fixture(scope="module")
def traces():
    return tuple(api.load(EXAMPLES / f"vt_markdown_repeat{i}.json.gz") for i in (1, 2))


@pytest.fixture(scope="module")
def threads():
    return api.load(EXAMPLES / "sync_pillow_8w.json.gz")


def state(name, *traces, **about):
    view = registry.find(name)
    return State(view, traces, vars(view.parameters()), **about)


def run(name, given):
    (action,) = [one for one in registry.actions_of(given.view) if one.name == name]
    change = action.run(given)
    assert isinstance(change, Change)
    # What it says can be drawn: parameters are read, and filters parsed, as the command line does.
    read(given.view.parameters, {**given.parameters, **change.parameters})
    if change.filters:
        assert as_text(parse(change.filters)) == change.filters
    return change


@pytest.mark.parametrize("view", VIEWS, ids=registry.names())
def test_actions_are_declared_in_full(view):
    actions = registry.actions_of(view)
    assert len({action.name for action in actions}) == len(actions)
    for action in actions:
        assert isinstance(action, Action)
        assert action.name.isidentifier()
        assert action.label.istitle() or " " in action.label
        assert action.sentence[0].isupper()
        assert not action.sentence.endswith(".")
        assert action.triggers
        names = [choice.name for choice in action.choices]
        assert len(set(names)) == len(names)
        # One operator serves all views: it has the choices of each.
        for other in VIEWS:
            for same in registry.actions_of(other):
                if same.name == action.name:
                    assert [choice.name for choice in same.choices] == names
    assert [action.group for action in actions] == sorted(action.group for action in actions)


def test_what_another_view_offers_gives_way_to_a_views_own():
    def action(name):
        return next(a for a in registry.actions_of(registry.find(name)) if a.name == "compare_from_here")

    assert action("icicle") is action("memory")
    assert action("icicle").asks_for_trace
    assert not action("compare").asks_for_trace


def test_zooming_to_a_subtree_shows_its_time_depth_and_thread(traces, threads):
    trace = traces[0]
    for call in (0, 17, len(trace.calls) - 1):
        change = run("zoom_to_subtree", state("icicle", trace, call=call))
        start, end = (read_time(name, change.parameters[name]) for name in ("start", "end"))
        assert start <= trace.calls.start[call]
        assert end >= trace.calls.end[call]
        assert end - start == max(trace.calls.end[call] - trace.calls.start[call], 20)
        assert change.parameters["first_depth"] == trace.calls.depth[call]
    call = int(np.flatnonzero(threads.calls.thread == 3)[0])
    wanted = run("zoom_to_subtree", state("icicle", threads, call=call)).parameters
    drawing = api.icicle(threads, **wanted).drawing()
    drawn = np.concatenate([part.id for part in drawing.elements if part.kind in ("call", "cluster")])
    assert set(threads.calls.thread[drawn]) == {3}
    # In a comparison only its own trace's window changes; a cone tree without time says so.
    assert set(run("zoom_to_subtree", state("compare", *traces, source=1, call=5)).parameters) == {
        "start_b",
        "end_b",
    }


def test_a_view_without_times_refuses_to_zoom_in_time(traces):
    bare = replace(registry.find("icicle"), parameters=_Bare)
    with pytest.raises(UsageError, match="no time window"):
        run("zoom_to_subtree", State(bare, traces[:1], {}, call=3))


class _Bare:
    __dataclass_fields__: dict = {}  # noqa: RUF012


def test_showing_everything_takes_back_all_that_zooming_and_hiding_do(traces):
    first = state("icicle", traces[0], call=40)
    zoomed = run("zoom_to_subtree", first)
    hidden = run("hide", replace(first, choice="MODULE"))
    after = replace(first, parameters={**first.parameters, **zoomed.parameters}, filters=hidden.filters)
    change = run("show_all", after)
    assert change.filters == ""
    assert {**after.parameters, **change.parameters} == first.parameters


def _left(trace, filters):
    """Return which calls a stack leaves."""
    return filtering.states(trace, filters) == 0


@pytest.mark.parametrize("what", ["FUNCTION", "SUBTREE", "MODULE", "THREAD"])
def test_hiding_and_showing_only_mark_what_they_say(threads, what):
    trace, calls = threads, threads.calls
    call = int(np.flatnonzero((calls.thread == 2) & (calls.extent > 3))[1])
    modules = [words_of(trace, function).module for function in range(len(trace.functions))]
    same = {
        "FUNCTION": calls.function == calls.function[call],
        "SUBTREE": (np.arange(len(calls)) >= call) & (np.arange(len(calls)) < call + calls.extent[call]),
        "MODULE": np.array([modules[calls.function[call]] in module for module in modules])[calls.function],
        "THREAD": calls.thread == calls.thread[call],
    }[what]
    given = state("icicle", trace, call=call, choice=what)
    hidden = run("hide", given)
    assert not np.any(_left(trace, hidden.filters) & same)
    assert np.array_equal(_left(trace, hidden.filters), ~same)
    shown = run("show_only", given)
    left = _left(trace, shown.filters)
    assert np.all(left[same])
    # Callers on the way to it may stay.
    above = np.flatnonzero(left & ~same).tolist()
    assert all(other < call < other + calls.extent[other] for other in above)
    # Once more is not twice, and what is hidden already stays hidden.
    assert run("hide", replace(given, filters=hidden.filters)).filters == hidden.filters
    both = run("hide", replace(given, filters="name(pattern=x)"))
    assert both.filters.startswith("name(pattern=x)")


def test_a_function_is_marked_as_a_utility_once(traces):
    trace = traces[0]
    label = trace.functions.label
    first = run("mark_utility", state("icicle", trace, call=30))
    (stack,) = parse(first.filters)
    assert stack.values["also"] == label[trace.calls.function[30]]
    assert (
        run("mark_utility", state("icicle", trace, call=30, filters=first.filters)).filters == first.filters
    )
    other = int(np.flatnonzero(trace.calls.function != trace.calls.function[30])[5])
    more = run("mark_utility", state("icicle", trace, call=other, filters=first.filters))
    (stack,) = parse(more.filters)
    assert stack.values["also"].split(",") == [
        label[trace.calls.function[30]],
        label[trace.calls.function[other]],
    ]


def test_selecting_a_function_selects_all_its_calls(traces):
    trace = traces[0]
    change = run("select_function", state("cone", trace, call=12))
    assert change.selected.tolist() == [
        call for call, function in enumerate(trace.calls.function) if function == trace.calls.function[12]
    ]
    assert change.message.startswith(f"{len(change.selected):,} call")


def test_similar_calls_have_the_same_functions_or_nearly_so(traces):
    trace, call = traces[0], 60
    calls = trace.calls

    def functions(of):
        return set(calls.function[of : of + calls.extent[of]].tolist())

    change = run("find_similar", state("icicle", trace, call=call))
    found = set(change.selected.tolist())
    assert call in found
    wanted = functions(call)
    for other in np.random.default_rng(1).choice(len(calls), 300, replace=False).tolist():
        theirs = functions(other)
        share = len(wanted & theirs) / len(wanted | theirs)
        assert (other in found) == (share >= 0.8), (other, share)


def test_comparing_from_here(traces):
    one, other = traces
    with pytest.raises(UsageError, match="Import the trace to compare with first"):
        run("compare_from_here", state("icicle", one, call=9))
    figure = run("compare_from_here", state("icicle", one, call=9, other=other)).figure
    assert (figure.view, figure.traces) == ("compare", (one, other))
    assert api.view(figure.view, *figure.traces, **figure.parameters).parameters.focus == "A:9"
    here = run("compare_from_here", state("compare", one, other, source=1, call=4))
    assert here.figure is None
    assert here.parameters["focus"] == "B:4"
    assert set(here.parameters) == {"focus", "start_b", "end_b"}
    there = run("compare_from_here", state("compare", one, other, call=4))
    assert (there.parameters["moment"], there.parameters["start_b"]) == ("matches", "")
    fan = run("compare_from_here", state("compare", one, other, one, source=2, call=4))
    assert fan.parameters["focus"] == one.functions.label[one.calls.function[4]].replace(">", "*")


def element(kind="call", **about):
    return PickedElement(kind, **about)


def triggered(trigger, given):
    """Return what the first of a view's actions with a trigger that applies does."""
    for action in registry.actions_of(given.view):
        if trigger in action.triggers and action.applies(given):
            return action, action.run(given)
    return None, None


def test_a_double_click_shows_the_time_of_a_call_and_of_its_match(traces):
    one, other = traces
    calls = one.calls
    given = state("compare", one, other, call=9, element=element(calls={0: 9}), matched={1: 30, 0: 5})
    _, change = triggered("double click", given)
    assert set(change.windows) == {0, 1}
    for source, call in ((0, 9), (1, 30)):
        low, high = change.windows[source]
        trace = traces[source]
        assert low <= trace.calls.start[call]
        assert high >= trace.calls.end[call]
        assert high - low <= 1.09 * (trace.calls.end[call] - trace.calls.start[call]) + 20
    cluster = element("cluster", calls={0: 9}, time=(0.25, 0.5), window=(0, int(calls.end.max())))
    _, change = triggered("double click", state("icicle", one, call=9, element=cluster))
    low, high = change.windows[0]
    begin, end = cluster.span
    assert low == round(begin - 0.04 * (end - begin))
    assert high == round(end + 0.04 * (end - begin))
    # Where there is no call and no time the 3D view goes there instead.
    assert triggered("double click", state("icicle", one, element=element("grid"))) == (None, None)


def test_cones_turn_at_a_click_and_open_at_a_double_click(traces):
    one = traces[0]
    given = state("cone", one, call=7, element=element(calls={0: 7}))
    action, change = triggered("click", given)
    assert (action.name, change.parameters) == ("turn_to", {"facing": "7"})
    for share in (0.0, 0.5, 1.0):
        on_the_way = {**given.parameters, **change.between(share)}
        assert on_the_way["facing"] == f"~7~{share:.4f}"
        assert on_the_way["labels"] == 0
        api.cone(one, **on_the_way).drawing()
    there = replace(given, parameters={**given.parameters, "facing": "7"})
    assert not triggered("click", there)[1].parameters
    again = replace(there, call=30)
    assert triggered("click", again)[1].between(0.25)["facing"] == "7~30~0.2500"
    _, change = triggered("double click", given)
    assert change.parameters == {"facing": "7", "focus": "7"}
    ball = replace(given, parameters={**given.parameters, "layout": "hyperbolic"})
    assert triggered("click", ball) == (None, None)
    assert triggered("double click", ball)[0].name == "open_around"
    bubble = replace(given, parameters={**given.parameters, "layout": "bubble"})
    assert triggered("double click", bubble) == (None, None)


@given(
    st.floats(0, 0.9), st.floats(0.01, 1), st.floats(-2, 20), st.sampled_from([1.5, 1 / 1.5, 40.0]),
    st.floats(0, 1),
)  # fmt: skip
def test_the_wheel_zooms_along_bytes_about_the_mouse(left, wide, x, factor, share):
    wide = min(wide, 1 - left)
    view = registry.find("memory")
    values = {**vars(view.parameters()), "left": left, "right": left + wide}
    given = State(view, (), values, point=(x, 0.0, 0.0), amount=factor)
    action, change = triggered("wheel", given)
    assert action.name == "zoom_in_bytes"
    low, high = change.parameters["left"], change.parameters["right"]
    assert -1e-12 <= low < high <= 1 + 1e-12
    assert high - low == pytest.approx(min(max(wide / factor, 1e-6), 1.0), abs=1e-9)
    at = min(max(x / sizes(1.0)[0], 0.0), 1.0)
    if low > 1e-9 and high < 1 - 1e-9:
        assert low + at * (high - low) == pytest.approx(left + at * wide, abs=1e-6)
    if change.between is not None:
        first, last, some = change.between(0.0), change.between(1.0), change.between(share)
        assert (first["left"], first["right"]) == pytest.approx((left, left + wide), abs=1e-6)
        assert (last["left"], last["right"]) == pytest.approx((low, high), abs=1e-6)
        widths = sorted((wide, high - low))
        assert widths[0] - 1e-9 <= some["right"] - some["left"] <= widths[1] + 1e-9


def test_turns_of_the_wheel_add_up_while_the_view_is_on_its_way():
    view = registry.find("memory")
    values = {**vars(view.parameters()), "left": 0.2, "right": 0.9}
    goal = {**values, "left": 0.3, "right": 0.5}
    _, change = triggered("wheel", State(view, (), values, goal=goal, point=(0.0, 0, 0), amount=2.0))
    assert (change.parameters["left"], change.parameters["right"]) == pytest.approx((0.3, 0.4))
    assert change.between(0.0)["left"] == pytest.approx(0.2)


def test_home_shows_all_bytes_of_a_memory_that_was_zoomed():
    view = registry.find("memory")
    usual = vars(view.parameters())
    assert triggered("home", State(view, (), usual)) == (None, None)
    _, change = triggered("home", State(view, (), {**usual, "left": 0.5, "right": 0.6}))
    assert change.parameters == {"left": 0.0, "right": 1.0}
    assert triggered("wheel", state("icicle")) == (None, None)


def test_dragging_selects_time_but_on_a_drum_and_its_slab_it_sets_the_window(traces):
    one, other = traces
    span = (1_000_000, 2_000_000)
    action, change = triggered("drag", state("icicle", one, span=span))
    assert (change.span, dict(change.windows), action.drag) == (span, {}, None)
    _, change = triggered("drag", state("interactions", one, span=span))
    assert (change.span, change.windows) == (None, {0: span})
    _, change = triggered("drag", state("interactions", one, span=span, extend=True))
    assert change.span == span
    slab = state("compare", one, other, source=1, span=span, element=element("window"))
    action, change = triggered("drag", slab)
    assert change.windows == {1: span}
    assert action.drag((2, 4), (0, 10), 3, 5) == (4, 6)
    _, change = triggered("drag", state("compare", one, other, span=span, element=element()))
    assert change.span == span
    # What needs a trace says so where it is not in memory; selecting needs none.
    assert triggered("drag", state("icicle", span=span))[1].span == span
    with pytest.raises(UsageError, match="not in memory"):
        triggered("drag", state("interactions", span=span))


def test_a_double_click_on_a_drum_shows_what_is_around(traces):
    one = traces[0]
    first, last = whole(one)
    _, change = triggered(
        "double click", state("interactions", one, element=element("chord", calls={0: 3}), share=0.5)
    )
    low, high = change.windows[0]
    assert first < low < high < last
    phase = element("phase", time=(0.25, 0.5), window=(first, last))
    _, change = triggered("double click", state("interactions", one, element=phase, share=0.9))
    where = DrumPlaces((one,), registry.find("interactions").parameters())
    assert change.windows[0] == bounded(one, where.time_at(0, 0.25), where.time_at(0, 0.5))
    # What stands at an end of the drum has no time: a call of it is gone to as anywhere.
    sector = element("sector", calls={0: 3})
    assert (
        triggered("double click", state("interactions", one, element=sector, share=0.5))[0].name
        == "zoom_in_time"
    )


def test_a_place_on_the_mantle_is_described(traces):
    one = traces[0]
    axis = registry.find("interactions").time_axis
    parameters = registry.find("interactions").parameters()
    assert not axis.is_solid(vars(parameters))
    assert axis.is_solid({**vars(parameters), "mantle": "whole"})
    clock = axis.clock((one,), parameters)
    low, high = clock.window(0)
    for share in (0.0, 0.3, 1.0):
        assert low <= clock.time_at(0, share) <= high
        assert clock.share_at(0, clock.time_at(0, share)) == pytest.approx(share, abs=0.01)
    said = [clock.describe(0, share, around / 40) for share in (0.2, 0.6) for around in range(40)]
    spots = [clock.spot(0, share, around / 40) for share in (0.2, 0.6) for around in range(40)]
    for description, spot in zip(said, spots):
        assert description.title == (spot.pairs[0][0] if spot.pairs else "No call here")
        assert ("element" in dict(description.rows)) == bool(spot.sector)
    assert any(spot.pairs for spot in spots)


def test_a_call_and_its_match_are_aligned(traces):
    figure = api.Figure("compare", traces)
    matches = dict(figure.drawing().meaning["tube"].calls)
    for i in (0, 3):
        a, b = int(matches[0][i]), int(matches[1][i])
        for source, call, other in ((0, a, b), (1, b, a)):
            about = {"source": source, "call": call, "matched": {1 - source: other}}
            change = run("align_here", state("compare", *traces, **about))
            assert change.parameters == {"align": f"A:{a}=B:{b}"}
    # The walls then show both at one place.
    wanted = {"align": f"A:{a}=B:{b}"}
    drawing = api.Figure("compare", traces, wanted).drawing()
    left = {}
    for element in drawing.elements:
        if element.kind == "call":
            (at,) = np.flatnonzero(element.id == (a, b)[element.source])
            left[element.source] = float(element.low[at, 0])
    assert left[0] == pytest.approx(left[1], abs=1e-4)
    # Again: as it was.
    aligned = state("compare", *traces, source=0, call=a, matched={1: b})
    again = replace(aligned, parameters={**aligned.parameters, **wanted})
    assert run("align_here", again).parameters == {"align": ""}


def test_without_a_drawn_match_the_most_similar_call_is_aligned(traces):
    # Both are the same program: the most similar call to a root is the other one's root.
    change = run("align_here", state("compare", *traces, source=0, call=0))
    assert change.parameters == {"align": "A:0=B:0"}
    with pytest.raises(UsageError, match="Only two traces"):
        run("align_here", state("compare", *traces, traces[0], source=0, call=0))


def test_calls_that_are_not_there_can_not_be_aligned(traces):
    with pytest.raises(UsageError, match="align=A:99999999=B:0"):
        api.Figure("compare", traces, {"align": "A:99999999=B:0"}).drawing()


@pytest.mark.parametrize(
    ("view", "way", "wanted"),
    [
        ("icicle", "thread", {"recede": 3.0}),
        ("icicle", "level", {"gap": 0.6, "taper": 0.0}),
        ("icicle", "module", {"apart": 6.0}),
        ("threads", "thread", {"spacing": 1.6, "pull": 2.0}),
        ("cone", "level", {"steepness": 2.0}),
        ("compare", "level", {"taper": 0.0, "gap": 3.4}),
        ("compare", "module", {"apart": 2.4}),
    ],
)
def test_a_view_is_pulled_apart_on_a_way_and_put_together_again(traces, threads, view, way, wanted):
    given = state(view, *(traces if view == "compare" else (threads,)), choice=way)
    change = run("pull_apart", given)
    assert change.parameters == wanted
    for share in (0.0, 0.3, 1.0):
        for name, value in change.between(share).items():
            begin = given.parameters[name]
            assert value == pytest.approx(begin + share * (wanted[name] - begin))
    apart = replace(given, parameters={**given.parameters, **wanted}, choice="together")
    back = {**apart.parameters, **run("pull_apart", apart).parameters}
    assert back == given.parameters


def test_a_comparison_of_several_threads_is_pulled_apart_by_them(threads):
    given = state("compare", threads, threads, choice="thread")
    with pytest.raises(UsageError, match="shows one thread"):
        run("pull_apart", given)
    change = run("pull_apart", replace(given, parameters={**given.parameters, "threads": "all"}))
    assert change.parameters == {"spacing": 6.0}


def test_what_cannot_be_pulled_apart_is_said_in_a_sentence(traces, threads):
    with pytest.raises(UsageError, match="Modules of this view"):
        run("pull_apart", state("threads", threads, choice="module"))
    with pytest.raises(UsageError, match="one thread"):
        run("pull_apart", state("icicle", traces[0], choice="thread"))
