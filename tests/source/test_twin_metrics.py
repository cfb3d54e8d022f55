"""What is known of lines of small traces made at random, against plain loops, and what is said of them."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.support.walked_traces import walked_trace
from tests.waits.sync_traces import trace_of
from tracevis3d import units
from tracevis3d.analysis.measures import self_times
from tracevis3d.errors import UsageError
from tracevis3d.features.source.findings import label, place, summary
from tracevis3d.features.source.metrics import METRICS, Items, Lines, chosen, lines_of, longest_calls
from tracevis3d.features.source.names import file_titles
from tracevis3d.trace.model import ALLOC, FREE, RELEASE, WAIT, Calls, Memory, Samples, Stacks, Sync, Trace
from tracevis3d.trace.strings import Strings


def made(seed, *, stacks=True, calls=True, lines=True):
    """Return a small trace with calls, waits, allocations and samples; of some the place is known."""
    rng = np.random.default_rng(seed)
    trace = walked_trace(seed, steps=30, threads=2, functions=6, modules=3, longest=9)
    n, m, rows = len(trace.functions), 9, 12
    functions = replace(
        trace.functions, file=rng.integers(-1, 2, n).astype(np.int32),
        line=rng.integers(0, 4, n).astype(np.int32),
        container=np.where(rng.random(n) < 0.3, -1, trace.functions.container).astype(np.int32),
    )  # fmt: skip
    tree = Stacks(
        function=rng.integers(0, n, m).astype(np.int32),
        parent=np.array([rng.integers(-1, i) for i in range(m)], np.int32),
        line=rng.integers(0, 4, m).astype(np.int32),
    )  # fmt: skip
    samples = Samples(
        thread=np.zeros(rows, np.int32), kind=rng.integers(0, 2, rows).astype(np.int32),
        weight=rng.integers(0, 9, rows), stack=rng.integers(-1, m, rows).astype(np.int32),
        kinds=Strings.of(["cpu (ns)", "hits"]),
    )  # fmt: skip
    call = np.sort(rng.choice(len(trace.calls), 8))
    sync = Sync(
        call=np.where(rng.random(8) < 0.2, -1, call), thread=trace.calls.thread[call],
        start=trace.calls.start[call], end=trace.calls.end[call] + rng.integers(0, 3, 8),
        kind=rng.choice([WAIT, WAIT, WAIT, RELEASE], 8).astype(np.uint8),
        contended=rng.choice([-1, 0, 1, 2], 8).astype(np.int8), name=np.zeros(8, np.int32),
        first=np.zeros(9, np.int64), names=Strings.of(["wait"]),
        line=rng.integers(0, 4, 8).astype(np.int32) if lines else np.empty(0, np.int32),
    )  # fmt: skip
    memory = Memory(
        call=rng.integers(-1, len(trace.calls), rows), thread=np.zeros(rows, np.int32), time=np.arange(rows),
        address=np.arange(rows).astype(np.uint64), size=rng.integers(0, 90, rows),
        kind=rng.choice([ALLOC, ALLOC, FREE], rows).astype(np.uint8),
        stack=rng.integers(-1, m, rows).astype(np.int32) if stacks else np.empty(0, np.int32),
    )  # fmt: skip
    return replace(
        trace, functions=functions, files=Strings.of(["a.py", "b/c.py"]), sync=sync, memory=memory,
        stacks=tree if stacks else Stacks(), samples=samples if stacks else Samples(),
        calls=trace.calls if calls else Calls(),
    )  # fmt: skip


def at(trace, function, line=0):
    """Return file (or class) and line of a function, or of a line in it; None if unknown."""
    if function < 0:
        return None
    line = line if line > 0 else int(trace.functions.line[function])
    file, container = int(trace.functions.file[function]), int(trace.functions.container[function])
    name = trace.files[file] if file >= 0 else trace.containers.name[container] if container >= 0 else None
    return (name, line) if name is not None and line > 0 else None


def plain_items(trace, metric, kind=0):
    """Return what a metric adds up: function, recorded line (0: where it begins) and weight."""
    calls, stacks, memory, sync = trace.calls, trace.stacks, trace.memory, trace.sync
    function = calls.function.tolist()
    if metric == "time":
        return [(f, 0, own) for f, own in zip(function, self_times(calls).tolist())]
    if metric == "calls":
        return [(f, 0, 1) for f in function]

    def of_stack(stack, weight):
        return (
            (int(stacks.function[stack]), int(stacks.line[stack]), weight) if stack >= 0 else (-1, 0, weight)
        )

    if metric == "weight":
        rows = zip(trace.samples.stack.tolist(), trace.samples.kind.tolist(), trace.samples.weight.tolist())
        return [of_stack(stack, weight) for stack, of, weight in rows if of == kind]
    found = []
    if metric in ("bytes", "blocks"):
        for row in np.flatnonzero(memory.kind == ALLOC).tolist():
            weight, call = int(memory.size[row]) if metric == "bytes" else 1, int(memory.call[row])
            if len(memory.stack):
                found.append(of_stack(int(memory.stack[row]), weight))
            else:
                found.append((function[call] if call >= 0 else -1, 0, weight))
    if metric == "waits":
        for row in range(len(sync)):
            call, line = int(sync.call[row]), int(sync.line[row]) if len(sync.line) else 0
            if sync.kind[row] != WAIT or not sync.contended[row] or call < 0:
                continue
            call = int(calls.parent[call]) if line else call
            while not line and call >= 0 and not trace.functions.line[function[call]]:
                call = int(calls.parent[call])
            found.append((function[call] if call >= 0 else -1, line, int(sync.end[row] - sync.start[row])))
    if metric == "coverage":
        ran = {(f, 0) for f in function}
        for stack in trace.samples.stack.tolist():
            while stack >= 0:
                ran.add((int(stacks.function[stack]), int(stacks.line[stack])))
                stack = int(stacks.parent[stack])
        # A line counts once, whichever of the functions there it is said to be of.
        once = {at(trace, f, line): (f, line) for f, line in ran}
        found = [(f, line, int(once[at(trace, f, line)] == (f, line))) for f, line in sorted(ran)]
    return found


def by_line(trace, rows):
    """Return the weights by function of each known line."""
    found = defaultdict(lambda: defaultdict(int))
    for function, line, weight in rows:
        if (where := at(trace, function, line)) is not None:
            found[where][function] += weight
    return found


@given(
    st.integers(0, 80), st.sampled_from(["time", "calls", "waits", "bytes", "blocks", "weight", "coverage"]),
    st.sampled_from(["calls", "waits", "blocks"]), st.booleans(), st.booleans(), st.booleans(),
)  # fmt: skip
@settings(max_examples=120, deadline=None)
def test_lines_have_what_the_plain_twin_adds_up(seed, height, color, stacks, calls, lines):
    trace = made(seed, stacks=stacks, calls=calls, lines=lines)
    if not calls:
        trace = replace(trace, sync=Sync(), memory=replace(trace.memory, call=np.full(12, -1)))
    found = lines_of(trace, *chosen(trace, height, color, ""))
    rows, others = plain_items(trace, height), plain_items(trace, color)
    expected, other = by_line(trace, rows), by_line(trace, others)
    names = [found.files[file] for file in found.file.tolist()]
    places = list(zip(names, found.line.tolist(), strict=True))
    assert len(set(places)) == len(places)
    values = dict(zip(places, zip(found.value.tolist(), found.other.tolist()), strict=True))
    for where in {*expected, *other, *values}:
        sums = sum(expected[where].values()), sum(other[where].values())
        assert values.get(where, (0, 0)) == sums, where
    if height != "coverage":
        whole, known = sum(w for *_, w in rows), sum(sum(of.values()) for of in expected.values())
        assert found.unplaced == pytest.approx(1 - known / whole if whole else 0.0)
    longest = longest_calls(trace)
    lasts = (trace.calls.end - trace.calls.start).tolist()
    for function, call in enumerate(longest.tolist()):
        mine = [c for c in range(len(trace.calls)) if trace.calls.function[c] == function]
        assert (call in mine) if mine else call == -1
        assert not mine or lasts[call] == max(lasts[c] for c in mine)
    for where, function, call in zip(places, found.function.tolist(), found.call.tolist()):
        assert function in {*expected[where], *other[where]}
        assert call == longest[function]
    # Files are in one order, and lines within them.
    assert list(zip(found.file.tolist(), found.line.tolist())) == sorted(zip(found.file, found.line))


@given(st.integers(0, 80))
@settings(max_examples=20, deadline=None)
def test_the_function_of_a_line_is_that_of_its_heaviest_part(seed):
    trace = made(seed)
    found = lines_of(trace, *chosen(trace, "time", "calls", ""))
    rows = by_line(trace, plain_items(trace, "time"))
    for file, line, function in zip(found.file.tolist(), found.line.tolist(), found.function.tolist()):
        of = rows[found.files[file], line]
        if any(of.values()):
            assert of[function] == max(of.values())


def titles(trace, height="auto", color="auto", weighs=""):
    return [one.title for one in chosen(trace, height, color, weighs)]


def test_what_is_shown_by_itself_is_the_first_that_is_known_of_some_line():
    trace = trace_of("a 0 90 m.run\na 10 30 m.work\na 40 45 m.work")
    assert titles(trace) == ["weight", "weight"]
    functions = trace.functions
    known = replace(
        trace, files=Strings.of(["m.py"]),
        functions=replace(functions, file=np.zeros(2, np.int32), line=np.array([1, 5], np.int32)),
    )  # fmt: skip
    assert titles(known) == ["self time", "calls"]
    first = replace(known, functions=replace(known.functions, line=np.array([1, 0], np.int32)))
    assert titles(first) == ["self time", "calls"]
    assert titles(known, "calls") == ["calls", "calls"]
    assert titles(known, "waits", "bytes") == ["waiting", "bytes allocated"]
    other = made(3)
    stacks = replace(other.stacks, function=other.stacks.function % 2)
    weighed = replace(known, stacks=stacks, samples=other.samples)
    assert titles(weighed) == ["cpu", "hits"]
    assert titles(weighed, weighs="hits") == ["hits", "self time"]
    assert titles(weighed, weighs=" hits ,, cpu (ns),nothing") == ["hits", "cpu"]
    assert titles(weighed, "weight", "weight", "hits") == ["hits", "hits"]
    with pytest.raises(UsageError, match="no nothing; it weighs cpu, hits"):
        titles(weighed, weighs="nothing")
    one = weighed.samples
    one = replace(one, kind=np.zeros(len(one), np.int32), kinds=Strings.of(["cpu (ns)"]))
    assert titles(replace(weighed, samples=one)) == ["cpu", "self time"]
    assert titles(replace(weighed, samples=one), color="weight") == ["cpu", "cpu"]
    assert titles(Trace(), "weight") == ["weight", "weight"]
    assert set(METRICS) == {"auto", "time", "calls", "waits", "bytes", "blocks", "coverage", "weight"}


def lines(values, of_file=None, title="self time"):
    """Return lines of one function each with these values."""
    n = len(values)
    file = np.array(of_file or [0] * n)
    items = Items(title, units.count, np.zeros(n, np.int64), np.arange(n), np.array(values, np.float64))
    return Lines(
        ("a.py", "b.py"), file, np.arange(1, n + 1), np.zeros(n, np.int64), np.full(n, -1), items, items,
        np.array(values, np.float64), np.zeros(n), 0.0,
    )  # fmt: skip


@given(st.lists(st.integers(0, 9), min_size=1, max_size=12).filter(any))
@example([9, 1])
@example([63, 7])
@example([90, 5, 5])
@example([8, 2])
@example([8, 1, 1])
@example([3, 3])
@example([3, 0])
@example([3, 3, 0])
def test_how_few_lines_have_nearly_all(values):
    trace, found = trace_of("a 0 9 run"), lines(values)
    some, whole = [v for v in values if v], sum(values)
    top = values.index(max(values))
    if len(some) > 1 and len(set(some)) == 1:
        assert not found.differ
        assert summary(trace, found).startswith(f"{len(some)} lines with the same self time, in 1 file, most")
        return
    assert found.differ
    few = next(k for k in range(1, 13) if 10 * sum(sorted(values)[::-1][:k]) >= 9 * whole)
    expected = f"a.py:{top + 1} in run has {units.percentage(max(values) / whole)} of the self time"
    expected += f"; {few} of {len(some)} lines have 90 %" if few > 1 else ""
    assert summary(trace, found) == expected
    assert place(found, top) == f"a.py:{top + 1}"


def test_what_all_lines_have_alike_is_told_by_file():
    trace = trace_of("a 0 9 run")
    for title, words in (
        ("lines that ran", "that ran"), ("hits", "with the same hits"),
        ("beginnings of functions that ran", "where a function that ran begins"),
    ):  # fmt: skip
        found = lines([1, 1, 1, 0, 0, 0], [0, 1, 1, 0, 0, 0], title)
        assert summary(trace, found) == f"3 lines {words}, in 2 files, most of them in b.py: 2"
    unnamed = replace(trace, functions=replace(trace.functions, label=Strings.of([""])))
    assert label(unnamed, lines([1]), 0) == "(unnamed)"


def test_what_is_at_no_known_line_is_said():
    trace = replace(trace_of("a 0 9 run"), files=Strings.of(["a.py"]))
    none = Items("calls", units.count, np.array([0]), np.array([0]), np.ones(1))
    assert lines_of(trace, none, none).unplaced == 1.0
    assert len(lines_of(trace, none, none)) == 0
    nothing = Items("calls", units.count, np.array([0]), np.array([3]), np.zeros(1))
    assert lines_of(trace, nothing, nothing).unplaced == 0.0


@given(st.lists(st.lists(st.sampled_from(["a", "b", "__init__.py", "mod.rs"]), max_size=3), max_size=6))
@example([["a"], ["b", "a"], ["a", "b", "a"]])
@example([["mod.rs"], ["a", "mod.rs"]])
def test_titles_are_as_short_as_tells_them_apart(files):
    paths = list(dict.fromkeys("/".join(file) for file in files))
    found = file_titles(paths)
    parts = [path.split("/") for path in paths]
    assert [title if title != "(unnamed)" else "" for title in found] == [
        "/".join(one[len(one) - title.count("/") - 1 :]) for one, title in zip(parts, found, strict=True)
    ]
    assert len(set(found)) == len(found)
    for one, title in zip(parts, found, strict=True):
        least = 2 if len(one) > 1 and one[-1] in ("__init__.py", "mod.rs") else 1
        many = title.count("/") + 1
        assert many >= least
        # With a part less it would be called as another one, as far as that is not longer either.
        if many > least:
            shorter = "/".join(one[-(many - 1) :])
            assert sum("/".join(other[-(many - 1) :]) == shorter for other in parts) > 1
