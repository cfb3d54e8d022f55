"""Actions on elements: from a state of real traces to what is to change, without Blender."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.conftest import ROOT
from tracevis3d import api
from tracevis3d.errors import UsageError
from tracevis3d.filters.stack import as_text, parse
from tracevis3d.parameters import read
from tracevis3d.trace.names import words_of
from tracevis3d.units import read_time
from tracevis3d.views import filtering, registry
from tracevis3d.views.actions import Action, Change, State

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
    with pytest.raises(UsageError, match="no window of time"):
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
    with pytest.raises(UsageError, match="Read the trace to compare with first"):
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
