"""Links and relations, against plain loops over what each element shows."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tracevis3d.drawing.links import Link, Relation, joined, lists, weaker

things = st.lists(st.integers(0, 9), max_size=6)
some = st.lists(things, max_size=8)
ranges = st.lists(
    st.tuples(st.integers(0, 30), st.integers(0, 9)).map(lambda r: (r[0], r[0] + r[1])), max_size=6
)


def of_lists(shown):
    first = np.cumsum([0, *map(len, shown)])
    return Link("x", np.array([t for each in shown for t in each], np.int64), first=first)


@given(some, things)
def test_elements_that_share_a_thing(shown, asked):
    got = of_lists(shown).sharing(np.array(asked, np.int64)).tolist()
    assert got == [bool(set(each) & set(asked)) for each in shown]


@given(st.lists(st.integers(-1, 9), max_size=9), things)
def test_elements_that_show_one_thing_or_none(shown, asked):
    link = Link("x", np.array(shown, np.int64))
    assert link.sharing(np.array(asked, np.int64)).tolist() == [t in asked for t in shown]
    assert [link.of(i).tolist() for i in range(len(link))] == [[t] if t >= 0 else [] for t in shown]


@given(ranges, ranges, st.lists(st.integers(0, 40), max_size=6))
def test_ranges(shown, asked, moments):
    low, high = (np.array([r[i] for r in shown], np.int64) for i in (0, 1))
    link = Link("start", low, stop=high)
    # A range without any length holds nothing.
    full = [(a, b) for a, b in asked if b > a]
    got = link.sharing(np.array(full, np.int64).reshape(-1, 2))
    wanted = [any(a < d and c < b for c, d in full) if a < b else None for a, b in shown]
    assert all(w is None or g == w for g, w in zip(got.tolist(), wanted, strict=True))
    at = link.sharing(np.array(moments, np.int64)).tolist()
    assert at == [any(a <= t < b for t in moments) for a, b in shown]
    points = Link("start", np.array(moments, np.int64))
    inside = points.sharing(np.array(asked, np.int64).reshape(-1, 2)).tolist()
    assert inside == [any(a <= t < b for a, b in asked) for t in moments]


@given(some, st.lists(st.integers(-2, 9), max_size=9))
def test_some_of_the_elements(shown, ids):
    taken = of_lists(shown).taken(np.array(ids, np.int64))
    assert len(taken) == len(ids)
    got = [taken.of(i).tolist() for i in range(len(ids))]
    assert got == [shown[i] if 0 <= i < len(shown) else [] for i in ids]
    one = Link("x", np.arange(len(shown)) + 3).taken(np.array(ids, np.int64))
    assert one.thing.tolist() == [i + 3 if 0 <= i < len(shown) else -1 for i in ids]


@given(st.lists(some, min_size=1, max_size=3))
def test_links_one_after_another(parts):
    link = joined([of_lists(shown) for shown in parts])
    assert [link.of(i).tolist() for i in range(len(link))] == [each for shown in parts for each in shown]


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 9)), max_size=12))
def test_lists_of_pairs(pairs):
    first, thing = lists([a for a, _ in pairs], [b for _, b in pairs], 5)
    got = [thing[first[i] : first[i + 1]].tolist() for i in range(5)]
    assert got == [sorted({b for a, b in pairs if a == i}) for i in range(5)]


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=12), things)
def test_relations_lead_both_ways(pairs, asked):
    relation = Relation(("x", "y"), (0, 0), np.array(pairs, np.int64).reshape(-1, 2))
    which = np.array(asked, np.int64)
    assert relation.reached(0, which).tolist() == sorted({b for a, b in pairs if a in asked})
    assert relation.reached(1, which).tolist() == sorted({a for a, b in pairs if b in asked})


def test_chains_of_roles():
    roles = ("same", "related", "matched")
    assert {(a, b): weaker(a, b) for a in roles for b in roles} == {
        ("same", "same"): "same", ("same", "related"): "related", ("same", "matched"): "matched",
        ("related", "same"): "related", ("related", "related"): "related", ("related", "matched"): "related",
        ("matched", "same"): "matched", ("matched", "related"): "related", ("matched", "matched"): "related",
    }  # fmt: skip
