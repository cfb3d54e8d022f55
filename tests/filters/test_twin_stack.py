"""Stacks of filters against a plain twin: what each did, what is left of a trace, and what a list shows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.analysis.test_compact import plain_key
from tests.support.walked_traces import walked_trace
from tracevis3d.errors import InputError, UsageError
from tracevis3d.filters.facts import Facts
from tracevis3d.filters.listed import listed
from tracevis3d.filters.reduce import reduced
from tracevis3d.filters.stack import (
    EFFECTS,
    HIDDEN,
    WHOLE,
    Applied,
    added,
    apply,
    as_text,
    parse,
    summary,
    without,
)
from tracevis3d.trace.model import Flows, Sync

EFFECT = st.sampled_from(sorted(EFFECTS))
ONE = st.tuples(
    st.sampled_from(["name", "depth", "patterns", "none"]), EFFECT, st.sampled_from(["subtree", "call"]),
    st.sampled_from([True, True, True, False]), st.integers(-20, 20),
)  # fmt: skip


@st.composite
def stacks(draw, one=ONE):
    """Draw a trace with arrows and waits of its calls, and a stack of filters on it."""
    trace = walked_trace(
        draw(st.integers(0, 2**32)), steps=draw(st.integers(1, 60)), threads=2, functions=4, longest=6,
        allocations=draw(st.sampled_from([0, 5])),
    )  # fmt: skip
    n = len(trace)
    ends = st.lists(st.integers(-1, n - 1), min_size=4, max_size=4)
    columns = [np.array(draw(ends), np.int64) for _ in range(3)]
    none, time = np.zeros(4, np.int32), np.zeros(4, np.int64)
    trace = replace(
        trace,
        flows=Flows(columns[0], columns[1], none, none, time, time, none),
        sync=Sync(call=columns[2], kind=np.zeros(4, np.uint8)),
    )
    values = {
        "name": {"pattern": "f1"},
        "depth": {"below": 2},
        "patterns": {"size": 1},
        "none": {"pattern": "-"},
    }
    return trace, [
        Applied(
            "name" if name == "none" else name,
            values[name],
            effect,
            what,
            within if 0 <= within < n else WHOLE,
            on,
        )
        for name, effect, what, on, within in draw(st.lists(one, max_size=4))
    ]


def marked(trace, applied):
    """Return the calls that a filter of :func:`stacks` marks, whatever its scope."""
    calls, n = trace.calls, len(trace)
    if applied.name == "name":
        pattern = applied.values["pattern"]
        return {i for i in range(n) if pattern in trace.functions.label[calls.function[i]]}
    if applied.name == "depth":
        return {i for i in range(n) if calls.depth[i] > 2}
    if applied.name == "alike":
        like = plain_key(calls, applied.values["call"], "exact", 3)
        return {i for i in range(n) if plain_key(calls, i, "exact", 3) == like}
    keys = [plain_key(calls, i, "exact", 3) for i in range(n)]
    return {i for i in range(n) if keys[i] in keys[:i]}


def plain(trace, stack):
    """Return the state of each call, which are marked themselves, and what each filter did."""
    calls, n = trace.calls, len(trace)
    state, by, own, result = ["shown"] * n, [-1] * n, [False] * n, []
    used = [applied for applied in stack if applied.on]
    for number, applied in enumerate(used):
        scope = range(n)
        if applied.within >= 0:
            scope = range(applied.within, applied.within + int(calls.extent[applied.within]))
        here = sorted(marked(trace, applied) & set(scope))
        result.append((len(here), len({plain_key(calls, i, "exact", 3) for i in here})))
        for i in here:
            reach = int(calls.extent[i]) if applied.what == "subtree" else 1
            for j in range(i, i + reach):
                if by[j] != number:  # what a filter settles, it settles anew
                    own[j] = own[j] and applied.effect == "hide"
                state[j], by[j] = applied.effect, number
        for i in here:
            own[i] = applied.effect == "hide"
    settled = [by.count(number) for number in range(len(used))]
    return state, own, [(*counts, n) for counts, n in zip(result, settled, strict=True)]


@given(stacks())
@settings(max_examples=150, deadline=None)
def test_each_filter_tells_what_it_did(drawn):
    trace, stack = drawn
    state, own, result = plain(trace, stack)
    filtered = apply(stack, Facts(trace))
    names = {0: "shown", **{number: name for name, number in EFFECTS.items()}}
    assert [names[s] for s in filtered.state.tolist()] == state
    assert [bool(flag) for flag in filtered.own] == own
    assert [(t.marked, t.nodes, t.settled) for t in filtered.effects] == result
    used = [applied for applied in stack if applied.on]
    assert [(t.name, t.effect, t.within) for t in filtered.effects] == [
        (a.name, a.effect, a.within) for a in used
    ]
    said = summary(stack, filtered)
    counts = [state.count(name) for name in ("shown", "hide", "fade", "sink")]
    assert [said[word] for word in ("shown", "hidden", "faded", "sunk")] == counts
    assert said["calls"] == len(state)
    for row, applied, (count, nodes, settled) in zip(said["filters"], used, result, strict=True):
        hint = row.pop("hint", "")
        assert hint.startswith(f"{applied.as_text()} marks no call") if count == 0 else not hint
        assert row == {
            "filter": applied.as_text(),
            "name": applied.name,
            "effect": applied.effect,
            "what": applied.what,
            "within": applied.within if applied.within >= 0 else None,
            "marked_calls": count,
            "marked_subtrees": nodes,
            "settled_calls": settled,
        }


@given(stacks())
@settings(max_examples=100, deadline=None)
def test_what_is_left_of_a_trace(drawn):
    trace, stack = drawn
    state, _, _ = plain(trace, stack)
    filtered = apply(stack, Facts(trace))
    calls, kept = trace.calls, [i for i, s in enumerate(state) if s != "hide"]
    if not kept:
        if state:
            with pytest.raises(InputError, match="the filters hide every call"):
                reduced(trace, filtered)
        return
    left = reduced(trace, filtered)

    def caller(i):
        while i >= 0 and state[i] == "hide":
            i = int(calls.parent[i])
        return kept.index(i) if i >= 0 else -1

    assert left.calls.parent.tolist() == [caller(int(calls.parent[i])) for i in kept]
    for name in ("function", "start", "end", "thread"):
        assert getattr(left.calls, name).tolist() == [int(getattr(calls, name)[i]) for i in kept]
    assert left.calls.extent.tolist() == [sum(i <= j < i + int(calls.extent[i]) for j in kept) for i in kept]
    for t in range(len(trace.threads)):
        mine = [k for k, i in enumerate(kept) if calls.thread[i] == t]
        assert int(left.threads.count[t]) == len(mine)
        assert not mine or int(left.threads.first[t]) == mine[0]
    for one, other in (
        (left.sync.call, trace.sync.call), (left.memory.call, trace.memory.call),
        (left.flows.source, trace.flows.source), (left.flows.target, trace.flows.target),
    ):  # fmt: skip
        assert one.tolist() == [caller(i) for i in other.tolist()]


def test_a_trace_of_which_nothing_is_left_is_refused_and_one_without_calls_is_not():
    trace = walked_trace(2, steps=9, threads=1)
    every = [Applied("name", {"pattern": "f"})]
    with pytest.raises(InputError, match="the filters hide every call: remove one, or let it hide less"):
        reduced(trace, apply(every, Facts(trace)))
    none = walked_trace(2, steps=0, threads=1)
    assert len(reduced(none, apply(every, Facts(none)))) == 0


@st.composite
def hiding(draw):
    """Draw a trace, and a stack that hides subtrees, mostly everywhere, and shows some calls again."""
    trace = walked_trace(draw(st.integers(0, 2**32)), steps=draw(st.integers(5, 60)), threads=2, functions=4)
    n = len(trace)
    stack = []
    first, hides, last = draw(st.booleans()), draw(st.integers(1, 2)), draw(st.booleans())
    for effect, what in (
        [("fade", "call")] * first + [("hide", "subtree")] * hides + [("fade", "call")] * last
    ):
        name = draw(st.sampled_from(["name", "name", "alike", "depth"]))
        values = {
            "name": {"pattern": f"f{draw(st.integers(0, 3))}"},
            "alike": {"call": draw(st.integers(0, n - 1))},
            "depth": {"below": 2},
        }
        within = draw(st.sampled_from([WHOLE, WHOLE, WHOLE, draw(st.integers(0, n - 1))]))
        stack.append(Applied(name, values[name], effect, what, within))
    return trace, stack


@given(st.one_of(stacks(), hiding(), hiding()), st.booleans())
@settings(max_examples=250, deadline=None)
def test_a_list_needs_a_graph_of_its_own_only_where_single_calls_matter(drawn, whole):
    trace, stack = drawn
    state, own, _ = plain(trace, stack)
    facts, n = Facts(trace), len(trace)
    filtered = apply(stack, facts)
    found = listed(stack, facts, filtered, True) if whole else listed(stack, facts, filtered)
    hidden = [s == "hide" for s in state]
    for low in range(0, n + 1, 3):
        assert found.hidden(low, n) == sum(hidden[low:])
        assert found.hidden(0, low) == sum(hidden[:low])
    used = [applied for applied in stack if applied.on]
    first = next((i for i, applied in enumerate(used) if applied.effect == "hide"), len(used))
    simple = all(
        applied.effect == "hide"
        and applied.within < 0
        and applied.what == "subtree"
        and applied.name in ("name", "alike")
        for applied in used[first:]
    )
    if not any(hidden):
        assert found.graph is facts.graph
        assert (found.marked, found.hidden_before, found.calls, found.places) == (None,) * 4
    elif simple:
        assert found.graph is facts.graph
        of_call = facts.graph.subtrees.of_call
        names = set().union(*(marked(trace, applied) for applied in used[first:]))
        assert found.marked[of_call].tolist() == [i in names for i in range(n)]
        assert found.calls is found.places is None
    else:
        calls = trace.calls
        # Left out are hidden calls above what is not.
        out = [not whole and hidden[i] and not all(hidden[i : i + int(calls.extent[i])]) for i in range(n)]
        kept = [i for i in range(n) if not out[i]]

        def above(i):
            i = int(calls.parent[i])
            while i >= 0 and out[i]:
                i = int(calls.parent[i])
            return i

        flags = [hidden[i] and (own[i] or above(i) < 0 or not hidden[above(i)]) for i in kept]
        graph = found.graph
        assert found.marked[graph.subtrees.of_call].tolist() == flags
        assert graph.subtrees.function[graph.subtrees.of_call].tolist() == [
            int(calls.function[i]) for i in kept
        ]
        roots = [int(calls.thread[i]) for i in kept if above(i) < 0]
        assert np.diff(graph.root_first).tolist() == [roots.count(t) for t in range(len(trace.threads))]
        if any(out):
            assert found.calls.tolist() == kept
            places = []
            for i in range(n):
                while i >= 0 and out[i]:
                    i = int(calls.parent[i])
                places.append(kept.index(i) if i >= 0 else -1)
            assert found.places.tolist() == places
        else:
            assert found.calls is found.places is None


# -- texts -----------------------------------------------------------------------------------------------

VALUES = st.text(st.sampled_from('ab;,"()\\ \n=!'), max_size=6)


WORDS = st.tuples(
    VALUES, EFFECT, st.sampled_from(["subtree", "call"]), st.integers(-1, 9), st.booleans(), st.booleans()
)


@given(st.lists(WORDS, max_size=4))
@settings(max_examples=100, deadline=None)
def test_a_stack_is_read_as_it_is_written(drawn):
    stack = [
        Applied(
            "name",
            {"pattern": value, "case": "yes"} if more else {"pattern": value},
            effect,
            what,
            within,
            on,
        )
        for value, effect, what, within, on, more in drawn
    ]
    assert parse(as_text(stack)) == stack
    assert parse(" ;; ".join(applied.as_text() for applied in stack) + ";") == stack


def test_what_is_usual_is_not_written():
    assert Applied("depth").as_text() == "depth"
    assert Applied("depth", {"below": 3}, on=False).as_text() == "!depth(below=3)"
    assert Applied("name", {"full": True, "case": False}).as_text() == "name(full=yes, case=no)"
    assert Applied("name", {"pattern": "a b"}, "fade", "call", 0).as_text() == (
        "name(pattern=a b, effect=fade, what=call, within=0)"
    )
    for text in ("", "a,b", "a;b", 'a"b', "(a", "a)", "a\\b", " a", "a "):
        written = text.replace("\\", "\\\\").replace('"', '\\"')
        assert Applied("name", {"pattern": text}).as_text() == f'name(pattern="{written}")'
    assert parse(" ; ;") == []
    assert parse("! depth ( below = 3 , effect = fade )") == [
        Applied("depth", {"below": "3"}, "fade", on=False)
    ]


@given(st.lists(WORDS, max_size=4), WORDS)
@settings(max_examples=60, deadline=None)
def test_a_filter_more_or_less(drawn, one):
    stack = [Applied("name", {"pattern": row[0]}, row[1], row[2]) for row in drawn]
    text, wanted = as_text(stack), Applied("name", {"pattern": one[0]}, one[1], one[2])
    more = added(text, "name", pattern=one[0], effect=one[1], what=one[2])
    assert parse(more) == (stack if wanted in stack else [*stack, wanted])
    assert added(text, "depth", below="3") == "; ".join(filter(None, [text, "depth(below=3)"]))
    assert parse(without(more, "name", pattern=one[0])) == [
        each for each in stack if each.values["pattern"] != one[0]
    ]
    assert without(more, "depth", pattern=one[0]) == more


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "depth(below=1) x",
            "the filter 'depth(below=1) x' can't be read: name(parameter=value, ...) is expected",
        ),
        ("depth( 3)", "the filter 'depth( 3)' can't be read from '3' on"),
        ("depth(below=2, 3)", "the filter 'depth(below=2, 3)' can't be read from '3' on"),
        ("depth(effect=burn)", "depth: effect=burn: one of hide, fade, sink is expected"),
        ("depth(what=all)", "depth: what=all: one of subtree, call is expected"),
        ("depth(within=all)", "depth: within=all: the number of a call is expected"),
        ("depth(below=0)", "depth: below=0: 1 is the minimum"),
        ("deepth", "there is no filter 'deepth'"),
    ],
)
def test_what_is_off_is_reported(text, words):
    with pytest.raises(UsageError) as result:
        parse(text)
    assert str(result.value).startswith(words)


def test_bounds_of_a_stack():
    trace = walked_trace(1, steps=9, threads=1)
    facts, n = Facts(trace), len(trace)
    apply([Applied("depth")] * 250, facts)
    with pytest.raises(UsageError, match="the stack has 251 filters: at most 250 are possible"):
        apply([Applied("depth")] * 251, facts)
    apply([Applied("depth")] * 250 + [Applied("depth", on=False)], facts)
    apply([Applied("depth", within=n - 1)], facts)
    for within in (n, -2):
        with pytest.raises(UsageError, match=f"depth: within={within}: there is no such call"):
            apply([Applied("depth", within=within)], facts)
    assert apply([Applied("name", {"pattern": "f"}, within=0)], facts).count(HIDDEN) == trace.calls.extent[0]
