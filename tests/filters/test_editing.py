"""Stacks of filters as a person edits them, without Blender."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.filters.test_filters import JAVA
from tracevis3d.errors import UsageError
from tracevis3d.filters import registry
from tracevis3d.filters.editing import changed, effects, from_texts, one_of, put, texts_of
from tracevis3d.filters.facts import Facts
from tracevis3d.filters.stack import WHOLE, Applied, added, apply, as_text, parse, without

STACK = parse("name(pattern=log); !utilities(least=0.5); depth(below=2, effect=fade)")


def names(stack):
    return [("" if one.on else "!") + one.name for one in stack]


def test_one_filter_is_switched_moved_or_removed():
    assert names(changed(STACK, 0, "SWITCH")) == ["!name", "!utilities", "depth"]
    assert names(changed(STACK, 1, "SWITCH")) == ["name", "utilities", "depth"]
    assert names(changed(STACK, 0, "DOWN")) == ["!utilities", "name", "depth"]
    assert names(changed(STACK, 2, "UP")) == ["name", "depth", "!utilities"]
    assert names(changed(STACK, 1, "REMOVE")) == ["name", "depth"]
    assert changed(STACK, 7, "CLEAR") == []


@pytest.mark.parametrize(("index", "do"), [(0, "UP"), (2, "DOWN")])
def test_the_first_and_the_last_filter_stay_where_they_are_moved_out(index, do):
    assert changed(STACK, index, do) == STACK


@pytest.mark.parametrize("index", [-1, 3])
def test_a_place_that_the_stack_lacks_is_refused(index):
    with pytest.raises(UsageError, match=f"The stack has 3 filters: there is no {index + 1}$"):
        one_of(STACK, index)
    with pytest.raises(UsageError, match="The stack has 3 filters"):
        changed(STACK, index, "REMOVE")


@given(st.integers(0, 2), st.sampled_from(["SWITCH", "UP", "DOWN", "REMOVE"]))
def test_a_change_leaves_all_other_filters_as_they_are(index, do):
    before = [one for i, one in enumerate(STACK) if i != index]
    after = changed(STACK, index, do)
    assert [one for one in after if one in before] == before


def test_a_filter_that_is_changed_stays_off():
    wanted = Applied("accessors", {}, "fade", "call")
    assert names(put(STACK, 1, wanted)) == ["name", "!accessors", "depth"]
    assert names(put(STACK, 0, wanted)) == ["accessors", "!utilities", "depth"]
    assert names(put(STACK, -1, wanted)) == ["name", "!utilities", "depth", "accessors"]


def test_a_new_filter_stands_before_those_that_have_to_come_later(monkeypatch):
    find, wishes = (
        registry.find,
        {"accessors": {"before": ("depth", "utilities")}, "depth": {"after": ("time",)}},
    )
    monkeypatch.setattr(registry, "find", lambda name: replace(find(name), **wishes.get(name, {})))

    def put_in(name):
        return names(put(STACK, -1, Applied(name, {}, "hide", "call")))

    assert put_in("accessors") == ["name", "accessors", "!utilities", "depth"]
    assert put_in("time") == ["name", "!utilities", "time", "depth"]
    assert put_in("thread") == ["name", "!utilities", "depth", "thread"]
    assert names(put([], -1, Applied("accessors", {}, "hide", "call"))) == ["accessors"]


def test_values_that_are_the_defaults_are_left_out():
    applied = Applied("name", {"pattern": "log", "case": "yes"}, "fade", "call", 7)
    texts = texts_of(applied)
    assert texts["pattern"] == "log"
    assert texts["case"] == "yes"
    assert texts["full"] == "no"
    assert from_texts("name", texts, "fade", "call", 7) == applied
    texts["case"] = "no"
    assert from_texts("name", texts, "hide", "subtree") == Applied("name", {"pattern": "log"}, within=WHOLE)


def test_adding_twice_is_adding_once_and_taking_out_forgets_the_effect():
    once = added("", "name", pattern="log", effect="fade", what="call")
    assert parse(once) == [Applied("name", {"pattern": "log"}, "fade", "call")]
    assert added(once, "name", pattern="log", effect="fade", what="call") == once
    assert without(added(once, "name", pattern="log"), "name", pattern="log") == ""
    assert without(once, "name", pattern="other") == once


def test_the_words_on_a_filter_count_over_all_traces():
    stack = parse("!utilities; name(pattern=log)")
    result = apply(stack, Facts(JAVA))
    (one,) = result.effects
    assert effects(stack, [result]) == [f"hides {one.settled:,} calls: {one.nodes:,} distinct subtrees"]
    assert effects(stack, [result, result])[0].startswith(f"hides {2 * one.settled:,} calls")
    assert effects(stack, []) == ["not in these traces"]
    assert as_text(stack) == "!utilities; name(pattern=log)"
