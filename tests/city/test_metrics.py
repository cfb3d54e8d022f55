"""Measures of parts, and maps of them, against slow twins."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.support.walked_traces import split, walked_trace
from tests.waits.sync_traces import trace_of as sync_trace
from tracevis3d.analysis.measures import self_time_of
from tracevis3d.features.city.metrics import floors, links, longest_calls, measured, parts_of
from tracevis3d.features.city.treemap import city_of, lay_out, squarified
from tracevis3d.trace.events import COMPLETE
from tracevis3d.trace.model import ALLOC, CONTAINER_KINDS, FREE, Source
from tracevis3d.trace.recording import Recording
from tracevis3d.trace.strings import Strings

SIZES = st.lists(st.floats(0.01, 100.0), min_size=1, max_size=25)


def overlap(one, other):
    """Return the area that two rectangles share."""
    sides = [min(one[i] + one[i + 2], other[i] + other[i + 2]) - max(one[i], other[i]) for i in (0, 1)]
    return max(sides[0], 0.0) * max(sides[1], 0.0)


@given(SIZES, st.floats(0.5, 9.0), st.floats(0.5, 9.0))
def test_a_treemap_fills_its_rectangle_in_proportion(sizes, wide, deep):
    found = squarified(sizes, (1.0, 2.0, wide, deep))
    whole = wide * deep
    for size, (x, y, w, d) in zip(sizes, found):
        assert w * d == pytest.approx(whole * size / sum(sizes), rel=1e-6)
        assert x >= 1.0 - 1e-9
        assert y >= 2.0 - 1e-9
        assert x + w <= 1.0 + wide + 1e-6
        assert y + d <= 2.0 + deep + 1e-6
    for i, one in enumerate(found):
        assert all(overlap(one, other) < 1e-6 * whole for other in found[:i])


@given(st.lists(st.floats(-4, 4), min_size=1, max_size=30), st.sampled_from([0.0, 1e-9, 3.0]))
def test_a_treemap_stays_in_its_rectangle_however_narrow(powers, wide):
    for x, y, w, d in squarified([10**power for power in powers], (1.0, 2.0, wide, 4.0)):
        assert 0 <= w <= 1.01 * wide
        assert 0 <= d <= 1.01 * 4.0
        assert 1.0 <= x <= 1.0 + 1.01 * wide
        assert 2.0 <= y <= 2.0 + 1.01 * 4.0


def plain_rows(sizes, wide, deep):
    """Return the rectangles that sizes, the largest first, get row by row along the shorter side."""
    scale, left, found = wide * deep / sum(sizes), list(sizes), []

    def row_of(some):
        thick = sum(some) * scale / min(wide, deep)
        return [(thick, size * scale / thick) for size in some]

    def worst(some):
        return max(max(a / b, b / a) for a, b in row_of(some))

    while left:
        many = 1
        while many < len(left) and worst(left[: many + 1]) <= worst(left[:many]):
            many += 1
        row, left = row_of(left[:many]), left[many:]
        found += row
        if wide >= deep:
            wide -= row[0][0]
        else:
            deep -= row[0][0]
    return found


@given(SIZES, st.floats(0.5, 9.0), st.floats(0.5, 9.0))
def test_a_treemap_takes_the_rows_of_the_plain_twin(sizes, wide, deep):
    # No two are alike, nor are the sides, so that nothing hangs on how a number is rounded.
    sizes = sorted((size * (1 + 0.0137 * i) + 1e-3 * i for i, size in enumerate(sizes)), reverse=True)
    wide += 0.01234
    found = [sorted(one[2:]) for one in squarified(sizes, (0.0, 0.0, wide, deep))]
    expected = [sorted(one) for one in plain_rows(sizes, wide, deep)]
    assert np.allclose(found, expected, rtol=1e-6)


@given(
    st.lists(
        st.tuples(st.sampled_from("ab"), st.sampled_from("cd"), st.integers(0, 9)), min_size=1, unique=True
    )
)
def test_buildings_stand_in_their_districts_in_proportion(names):
    paths = [(a, c, str(n)) for a, c, n in names]
    areas = [1.0 + i for i in range(len(paths))]
    city = city_of(paths, areas)
    placed = lay_out(city, areas, (0.0, 0.0, 10.0, 6.0))
    for area, (_, _, wide, deep) in zip(areas, placed):
        assert wide * deep == pytest.approx(60.0 * area / sum(areas))
    waiting, seen = [city], []
    while waiting:
        one = waiting.pop()
        waiting += one.districts.values()
        seen += one.buildings
        inside = [*(placed[i] for i in one.buildings), *(d.place for d in one.districts.values())]
        for place in inside:
            assert overlap(place, one.place) == pytest.approx(place[2] * place[3], rel=1e-6)
        assert all(".".join(paths[i]).startswith(one.name) for i in one.buildings)
    assert sorted(seen) == list(range(len(paths)))


def test_squares_are_preferred_to_strips():
    found = squarified([1.0] * 16, (0.0, 0.0, 4.0, 4.0))
    assert all((w, d) == (pytest.approx(1.0), pytest.approx(1.0)) for _, _, w, d in found)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 200))
def test_measures_are_those_of_the_calls(seed):
    trace = walked_trace(seed, steps=40, longest=20, allocations=30)
    memory = trace.memory
    # Of some allocations, and of the first call's, it is known where they were.
    call = np.where(np.arange(30) % 3, np.arange(30) % 7, -1)
    kind = np.where(np.arange(30) % 5, ALLOC, FREE).astype(np.uint8)
    trace = replace(trace, memory=replace(memory, call=call, kind=kind))
    calls, parts = trace.calls, parts_of(trace, "module")
    own, name = self_time_of(trace), [parts.name(int(p)) for p in parts.of_function[calls.function]]
    time, many, called, heaviest = Counter(), Counter(), defaultdict(set), {}
    pairs, first, size = Counter(), {}, Counter()
    for row in range(30):
        if kind[row] == ALLOC and call[row] >= 0:
            size[name[call[row]]] += int(memory.size[row])
    for call in range(len(calls)):
        time[name[call]] += int(own[call])
        many[name[call]] += 1
        called[name[call]].add(int(calls.function[call]))
        heaviest[name[call]] = max(heaviest.get(name[call], -1), int(own[call]))
        first[name[call]] = min(first.get(name[call], 10**18), int(calls.start[call]))
        parent = int(calls.parent[call])
        if parent >= 0 and name[parent] != name[call]:
            pairs[name[parent], name[call]] += 1
    for part in range(len(parts.path)):
        one = parts.name(part)
        assert measured(trace, parts, "self")[part] == time[one]
        assert measured(trace, parts, "calls")[part] == many[one]
        assert measured(trace, parts, "functions")[part] == len(called[one])
        assert measured(trace, parts, "callers")[part] == sum(b == one for _, b in pairs)
        assert measured(trace, parts, "callees")[part] == sum(a == one for a, _ in pairs)
        assert measured(trace, parts, "age")[part] == first[one]
        assert measured(trace, parts, "bytes")[part] == size[one]
        assert measured(trace, parts, "none")[part] == 1
        assert own[longest_calls(trace, parts)[part]] == heaviest[one]
    found = {
        (parts.name(int(a)), parts.name(int(b))): int(n) for a, b, n in zip(*links(trace, parts), strict=True)
    }
    assert found == pairs


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 200), st.integers(1, 7), st.sampled_from(["self", "calls", "bytes"]))
def test_floors_add_up_to_the_measure(seed, many, metric):
    trace = walked_trace(seed, steps=40, longest=20, allocations=30)
    parts = parts_of(trace, "function")
    found = floors(trace, parts, metric, (0, trace.span_ns + 1), many)
    assert found.shape == (len(parts.path), many)
    np.testing.assert_allclose(found.sum(axis=1), measured(trace, parts, metric))


def in_containers(backwards=False):
    """Return a trace of functions in packages, modules, classes or nothing; one is not called."""
    rows = [
        ("org.shop", "package", -1), ("org.shop.cart", "module", 0), ("Cart", "class", 1),
        ("cart", "module", 1), ("Item", "class", 2), ("Lone", "class", -1), ("shop.c:1", "file", -1),
        ("", "class", 0),
    ]  # fmt: skip
    functions = ("start", "sum", "add", "price", "alone", "free", "in_file", "unnamed", "never")
    within = (0, 1, 2, 4, 5, -1, 6, 7, 3)
    recording = Recording()
    number = [recording.function(name) for name in functions]
    thread = recording.thread(1, 1)
    for i, function in enumerate([*number[:-1], number[3]]):
        recording.add_events(
            thread=[thread], kind=[COMPLETE], function=[function], time=[10 * i], end=[10 * i + 5]
        )
    trace = recording.finish(Source(), split)
    name, kind, parent = zip(*rows, strict=True)
    last = len(rows) - 1
    if backwards:
        name, kind = name[::-1], kind[::-1]
        parent = [last - one if one >= 0 else -1 for one in parent[::-1]]
        within = [last - one if one >= 0 else -1 for one in within]
    containers = replace(
        trace.containers, name=Strings.of(name), parent=np.array(parent, np.int32),
        kind=np.array([CONTAINER_KINDS.index(one) for one in kind], np.uint8),
    )  # fmt: skip
    container = np.array([within[functions.index(label)] for label in trace.functions.label], np.int32)
    return replace(trace, containers=containers, functions=replace(trace.functions, container=container))


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("class", {
            "start": "org/shop", "sum": "org/shop/cart", "add": "org/shop/cart/Cart",
            "price": "org/shop/cart/Cart/Item", "alone": "Lone", "free": "(no class)",
            "in_file": "shop.c:1", "unnamed": "org/shop/(unnamed)",
        }),
        ("module", {
            "start": "org/shop", "sum": "org/shop/cart", "add": "org/shop/cart", "price": "org/shop/cart",
            "alone": "Lone", "free": "(no module)", "in_file": "shop.c:1", "unnamed": "org/shop",
        }),
        ("function", {
            "start": "org/shop/start", "sum": "org/shop/cart/sum", "add": "org/shop/cart/Cart/add",
            "price": "org/shop/cart/Cart/Item/price", "alone": "Lone/alone", "free": "free",
            "in_file": "shop.c:1/in_file", "unnamed": "org/shop/(unnamed)/unnamed",
        }),
    ],
)  # fmt: skip
def test_parts_lie_in_the_districts_of_what_is_around_them(kind, expected, backwards):
    trace = in_containers(backwards)
    parts = parts_of(trace, kind)
    found = {
        str(label): "/".join(parts.path[part])
        for label, part in zip(trace.functions.label, parts.of_function.tolist(), strict=True) if part >= 0
    }  # fmt: skip
    assert found == expected
    counts = Counter(expected.values())
    assert measured(trace, parts, "functions").tolist() == [counts["/".join(path)] for path in parts.path]


def test_functions_that_are_not_called_are_of_no_part():
    trace = in_containers()
    first = np.zeros_like(trace.calls.function)
    parts = parts_of(replace(trace, calls=replace(trace.calls, function=first)), "function")
    assert parts.of_function.tolist() == [0, *[-1] * (len(trace.functions) - 1)]


def test_a_module_of_its_packages_name_is_the_package():
    trace = in_containers()
    functions = trace.functions
    moved = functions.container.copy()
    moved[functions.label.index("sum")] = 3
    trace = replace(trace, functions=replace(functions, container=moved))
    parts = parts_of(trace, "class")
    assert parts.name(int(parts.of_function[functions.label.index("sum")])) == "org.shop.cart"


def test_time_of_waits_is_that_of_the_calls_that_wait():
    text = "a 0 90 work\na 10 30 Event.wait wait E 1\na 40 45 Lock.acquire wait L 0\n"
    trace = sync_trace(text + "b 5 25 Event.wait wait E 1\nb 30 30 Event.set release E\nb 50 80 read io file")
    parts = parts_of(trace, "function")
    waited = {parts.name(i): ns for i, ns in enumerate(measured(trace, parts, "waits").tolist()) if ns}
    assert sum(waited.values()) == 40
    assert len(waited) == 1
    apart = replace(trace, sync=replace(trace.sync, call=np.full(len(trace.sync), -1)))
    assert not measured(apart, parts, "waits").any()
    first = replace(trace, sync=replace(trace.sync, call=np.zeros(len(trace.sync), np.int64)))
    assert measured(first, parts, "waits")[parts.of_function[trace.calls.function[0]]] == 40


NESTED = st.lists(
    st.tuples(
        st.lists(st.sampled_from("abc"), max_size=3), st.sampled_from([0.1, 1.0, 2.0, 30.0]),
    ),
    min_size=1, max_size=12,
)  # fmt: skip


@given(NESTED)
@example([(["a"], 47.0), (["b"], 47.0), ([], 6.0)])
@example([(["a"], 47.5), (["b"], 47.0), ([], 5.5)])
@example([(["a", "b"], 3.0), (["a", "b"], 3.0)])
@example([(["a"], 97.0), ([], 3.0)])
def test_no_district_or_building_is_a_sliver_beside_others(parts):
    paths = [(*names, f"part {i}") for i, (names, _) in enumerate(parts)]
    areas = [area for _, area in parts]
    city = city_of(paths, areas)
    waiting, seen = [(city, 0)], []
    while waiting:
        one, depth = waiting.pop()
        inner = list(one.districts.values())
        assert one.depth == depth
        own = sum(areas[i] for i in one.buildings)
        assert one.size == pytest.approx(own + sum(district.size for district in inner))
        if inner:
            assert one.buildings or len(inner) > 1
            assert max(district.size for district in inner) < 0.96 * one.size + 1e-9
            assert not one.buildings or own >= 0.06 * one.size - 1e-9
        seen += one.buildings
        waiting += [(district, depth + 1) for district in inner]
    assert sorted(seen) == list(range(len(parts)))


def test_districts_are_called_by_their_way():
    city = city_of([("a", "x"), ("b", "c", "y"), ("b", "z"), ("w",)], [1.0] * 4)
    assert (city.name, [one.name for one in city.districts.values()]) == ("", ["a", "b"])
    assert [one.name for one in city.districts["b"].districts.values()] == ["b.c"]


def test_buildings_beside_districts_stay_there_unless_they_would_be_slivers():
    paths = [("a", "x"), ("b", "y"), ("z",)]
    assert sorted(city_of(paths, [47.0, 47.0, 6.1]).districts) == ["a", "b"]
    # With the smaller district's buildings they are enough.
    joined = city_of(paths, [48.0, 47.0, 5.0])
    assert (list(joined.districts), sorted(joined.buildings)) == (["a"], [1, 2])


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 200), st.integers(1, 7), st.sampled_from(["self", "calls"]), st.data())
def test_floors_and_links_are_of_what_begins_in_the_window(seed, many, metric, data):
    trace = walked_trace(seed, steps=40, longest=20)
    calls, parts, own = trace.calls, parts_of(trace, "function"), self_time_of(trace)
    low = data.draw(st.integers(0, trace.span_ns))
    high = data.draw(st.integers(low + 1, trace.span_ns + 1))
    part = parts.of_function[calls.function].tolist()
    heights, pairs = np.zeros((len(parts.path), many)), Counter()
    for call, start in enumerate(calls.start.tolist()):
        # What is outside counts for the nearest slice.
        slot = min(max((start - low) * many // (high - low), 0), many - 1)
        heights[part[call], slot] += own[call] if metric == "self" else 1
        parent = int(calls.parent[call])
        if parent >= 0 and low <= start < high and part[parent] != part[call]:
            pairs[part[parent], part[call]] += 1
    np.testing.assert_allclose(floors(trace, parts, metric, (low, high), many), heights)
    found = links(trace, parts, (low, high))
    assert {(int(a), int(b)): int(n) for a, b, n in zip(*found, strict=True)} == pairs


def test_a_call_that_begins_as_a_window_does_is_in_it_and_none_that_begins_as_it_ends():
    trace = walked_trace(1, steps=40, longest=20)
    calls, parts = trace.calls, parts_of(trace, "function")
    part = parts.of_function[calls.function]
    inner = np.flatnonzero((calls.parent >= 0) & (part[calls.parent] != part))
    assert len(inner)
    for start in calls.start[inner].tolist():
        many = np.count_nonzero(calls.start[inner] == start)
        assert links(trace, parts, (start, start + 1))[2].sum() == many
        assert links(trace, parts, (start - 1, start))[2].sum() == np.count_nonzero(
            calls.start[inner] == start - 1
        )


@pytest.mark.parametrize(("modules", "kind"), [(0, "function"), (2, "function"), (3, "class"), (4, "class")])
def test_parts_are_classes_where_there_are_three(modules, kind):
    assert parts_of(walked_trace(1, steps=80, modules=modules), "auto").what == kind


def test_files_lie_in_their_folders():
    trace = in_containers()
    files = Strings.of(["/src/shop/cart.py", "C:\\src\\main.c", "/"])
    of = np.arange(len(trace.functions), dtype=np.int32) % 4 - 1
    trace = replace(trace, files=files, functions=replace(trace.functions, file=of))
    parts = parts_of(trace, "file")
    found = {parts.path[part] for part in parts.of_function.tolist() if part >= 0}
    assert found == {("src", "shop", "cart.py"), ("C:", "src", "main.c"), ("(no file)",)}
