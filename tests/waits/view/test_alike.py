"""Threads that do the same, against a plain twin."""

import itertools
from collections import defaultdict
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.waits.sync_traces import lines, trace_of
from tracevis3d.drawing.frame import Frame
from tracevis3d.drawing.palettes import parse
from tracevis3d.drawing.picked import PickedElement
from tracevis3d.errors import UsageError
from tracevis3d.features.waits.running import DOES, states
from tracevis3d.features.waits.view.parameters import Parameters
from tracevis3d.features.waits.view.rows.alike import GROUP_ACTIONS, groups, merged
from tracevis3d.features.waits.view.rows.thread_list import THREADS as THREAD_LIST
from tracevis3d.features.waits.view.view import VIEW
from tracevis3d.features.waits.waits import find_waits
from tracevis3d.progress import silent
from tracevis3d.views.actions import State

THREADS = ("pool-1", "pool-2", "pool-10", "io", "io2", "")


@st.composite
def programs(draw):
    """Return a trace whose threads call some of three functions, one within another."""
    rows = []
    for thread in draw(st.sets(st.sampled_from(THREADS), min_size=1)):
        for i in range(draw(st.integers(1, 3))):
            rows.append((thread or "0", 100 * i, 100 * i + 90, draw(st.sampled_from("fg"))))
            if draw(st.booleans()):
                rows.append((thread or "0", 100 * i + 10, 100 * i + 20, "h"))
    trace = trace_of(lines(rows))
    processes = tuple(draw(st.sampled_from("pq")) for _ in range(len(trace.threads)))
    return replace(trace, threads=replace(trace.threads, process=processes))


def plain_key(trace, thread):
    """Return what two threads of a group have in common."""
    calls = trace.calls
    first = {int(f) for f, t, d in zip(calls.function, calls.thread, calls.depth) if t == thread and d == 1}
    name = "".join(c for c in trace.threads.name[thread] if not c.isdigit())
    return trace.threads.process[thread], name, frozenset(first)


@given(programs(), st.data())
def test_groups_are_those_of_the_plain_twin(trace, data) -> None:
    keys = [plain_key(trace, t) for t in range(len(trace.threads))]
    group = groups(trace)
    order = list(dict.fromkeys(keys))
    assert group.tolist() == [order.index(key) for key in keys]
    weight = np.array([data.draw(st.integers(0, 3)) for _ in keys], np.int64)
    apart = data.draw(st.sets(st.integers(0, len(keys) - 1)))
    most, least = data.draw(st.integers(1, len(keys))), data.draw(st.sampled_from([0.0, 0.3, 1.0]))
    found, others = merged(group, weight, np.array(sorted(apart), np.int64), most, least)
    units = defaultdict(list)
    for t in sorted(range(len(keys)), key=lambda t: (-weight[t], t)):
        if weight[t]:
            units[t if t in apart else keys[t]].append(t)
    total = {unit: sum(weight[t] for t in mine) for unit, mine in units.items()}
    opened = apart & set(units)
    heavy = [u for u in units if u not in opened and total[u] >= least * max(total.values())]
    room = max(most - len({keys[t] for t in opened}), 0 if opened else 1)
    assert len(found) == len(opened) + min(room, len(heavy))
    assert all(row.tolist() in units.values() for row in found)
    assert apart & set(units) <= {int(row[0]) for row in found}
    assert sorted([*others.tolist(), *(t for row in found for t in row)]) == np.flatnonzero(weight).tolist()
    shown = [total[u] for u, mine in units.items() if u not in apart and mine in [r.tolist() for r in found]]
    left = [total[u] for u, mine in units.items() if set(mine) <= set(others.tolist())]
    assert not shown or not left or min(shown) >= max(left)


def pool(workers):
    """Return a trace of a pool's workers, which do more each, and of two other threads."""
    rows = [(f"worker-{i}", 0, 500 + i, "job") for i in range(workers)]
    return trace_of(lines([*rows, ("main", 0, 300, "main"), ("log", 0, 30, "write")]))


def names_of(trace, **settings):
    drawing = VIEW.draw([trace], Parameters(**settings), Frame(), silent)
    return [text for group in drawing.labels if group.kind == "thread" for text in group.text], drawing


def test_many_threads_that_do_the_same_share_a_row() -> None:
    trace = pool(40)
    names, drawing = names_of(trace)
    assert sorted(names) == ["log", "main", "worker × 39", "worker-39"]
    assert drawing.counts["threads"] == 42
    assert any("39 threads share 1 row with those that do the same" in note for note in drawing.notes)
    assert len(names_of(trace, threads="all")[0]) == 42
    assert sorted(names_of(pool(3))[0]) == ["log", "main", "worker-0", "worker-1", "worker-2"]
    assert "worker × 3" in names_of(pool(3), groups="always", main="none")[0]
    names, drawing = names_of(trace, groups="never")
    assert not any("×" in name for name in names)
    assert any("more threads have calls or waits here" in note for note in drawing.notes)
    assert {"worker-7", "worker × 38"} <= set(names_of(trace, focus="worker-7")[0])


def test_a_group_keeps_the_number_of_its_process() -> None:
    trace = trace_of(lines((f"w-{i}", 0, 500 + i, "job") for i in range(4)))
    trace = replace(trace, threads=replace(trace.threads, process=(7, 7, 8, 8)))
    assert sorted(names_of(trace, groups="always", main="none")[0]) == ["7 · w × 2", "8 · w × 2"]
    numbers = trace_of(lines((f"{i}", 0, 500 + i, "job") for i in range(4)))
    (name,) = names_of(numbers, groups="always", main="none")[0]
    assert name.strip("0123456789") == " × "


def test_threads_without_room_share_the_last_row() -> None:
    trace = trace_of(lines((f"{chr(97 + i % 26)}{'x' * (i // 26)}", 0, 1000 - i, f"f{i}") for i in range(60)))
    names, drawing = names_of(trace)
    others = next(name for name in names if name.endswith("other threads"))
    assert len(names) - 1 + int(others.split()[0]) == drawing.counts["threads"] == 60


def plain_states(threads):
    """Return what each thread does at each nanosecond, as words."""
    does = []
    for begin, end, waits, transfers in threads:
        line = ["" if not begin <= time < end else "computes" for time in range(60)]
        for words, spans in (("transfers", transfers), *((kind, [span]) for kind, *span in waits)):
            for a, b in spans:
                line[a:b] = [words] * (b - a)
        does.append(line)
    return does


@st.composite
def workers(draw):
    """Return threads: begin and end of the only call, its waits, and when it reads."""
    made = []
    for _ in range(draw(st.integers(1, 4))):
        cuts = sorted(draw(st.lists(st.integers(0, 60), min_size=8, max_size=8, unique=True)))
        begin, a, b, c, d, e, f, end = cuts
        waits = [("contended", a, b), ("waits for a signal", c, d)]
        made.append((begin, end, waits, [(draw(st.integers(d, e)), f)]))
    return made


@given(workers(), st.lists(st.integers(0, 60), min_size=2, max_size=9, unique=True))
def test_rows_of_several_threads_show_what_each_does(threads, edges) -> None:
    rows = [("holder", 0, 60, "Lock.acquire", "wait", "L", 0)]
    for i, (begin, end, waits, transfers) in enumerate(threads):
        rows.append((f"w-{i}", begin, end, "work"))
        rows += [(f"w-{i}", a, b, *_CALLS[kind]) for kind, a, b in waits]
        rows += [(f"w-{i}", a, b, "read", "io", "-") for a, b in transfers if b > a]
    waits = find_waits(trace_of(lines(rows)))
    edges = np.array(sorted(edges), np.int64)
    names = list(waits.trace.threads.name)
    row = np.array([0 if name.startswith("w-") else -1 for name in names], np.int64)
    found = states(waits, row, edges)[0]
    does = plain_states(threads)
    for k, (a, b) in enumerate(itertools.pairwise(edges.tolist())):
        for s, name in enumerate(DOES):
            assert found[k, s] * (b - a) == pytest.approx(sum(line[a:b].count(name) for line in does))


#: A wait of each kind, as a line of a trace.
_CALLS = {
    "contended": ("Lock.acquire", "wait", "L", 1),
    "waits for a signal": ("Event.wait", "wait", "E", 1),
}


def test_the_area_of_a_band_is_the_time_that_threads_spend() -> None:
    rows = [("main", 0, 1000, "main")]
    for i in range(8):
        rows += [(f"w-{i}", 100, 900, "job"), (f"w-{i}", 100 + 50 * i, 500, *_CALLS["contended"])]
    trace = trace_of(lines(rows))
    _, drawing = names_of(trace, groups="always", main="main")
    (band,) = (element for element in drawing.elements if element.kind == "thread group")
    (plate,) = (element for element in drawing.elements if element.kind == "row")
    corner = band.corner.reshape(-1, 2, 4, 3).astype(float)
    wide = corner[:, 1, 0, 0] - corner[:, 0, 0, 0]
    area = wide * np.linalg.norm(corner[:, 0, 1] - corner[:, 0, 0], axis=1)
    of_row = plate.corner.reshape(-1, 2, 4, 3).astype(float)[list(plate.id).index(band.id[0])]
    whole = (of_row[1, 0, 0] - of_row[0, 0, 0]) * np.linalg.norm(of_row[0, 1] - of_row[0, 0])
    loud = np.isclose(drawing.palette[band.color], parse("d55e00")[0]).all(axis=1)
    waited = sum(400 - 50 * i for i in range(8))
    # To a step of the band.
    assert area[loud].sum() / whole == pytest.approx(waited / (8 * 1000), rel=0.01)
    assert area[~loud].sum() / whole == pytest.approx((8 * 800 - waited) / (8 * 1000), rel=0.01)
    links = drawing.meaning["thread group"].links[0]
    assert sorted(trace.threads.name[t] for t in links.of(int(band.id[0]))) == [f"w-{i}" for i in range(8)]


def test_a_group_opens_and_closes() -> None:
    trace = pool(40)
    _, drawing = names_of(trace)
    (band,) = (element for element in drawing.elements if element.kind == "thread group")
    element = PickedElement("thread group", id=int(band.id[0]))
    view = SimpleNamespace(name="threads", parameters=Parameters)
    state = State(view, (trace,), {"opened": ""}, element=element)
    opening, closing = GROUP_ACTIONS
    assert opening.applies(state)
    change = opening.run(state)
    assert len(names_of(trace, **change.parameters)[0]) == 42
    job = int(np.flatnonzero(trace.calls.end >= 500)[0])
    assert len(names_of(trace, **opening.run(replace(state, element=None, call=job)).parameters)[0]) == 42
    assert "worker × 40" in names_of(trace, main="none", **closing.run(state).parameters)[0]
    alone = int(np.flatnonzero(trace.calls.end == 300)[0])
    with pytest.raises(UsageError, match="row of several threads"):
        opening.run(replace(state, element=None, call=alone))


@pytest.mark.parametrize("kind", ["thread group", "row", "thread"])
def test_a_double_click_opens_a_group_at_its_bands_its_plate_and_its_sphere(kind) -> None:
    trace = pool(40)
    names, drawing = names_of(trace)
    meaning = drawing.meaning[kind]

    def pressed(id):
        values = tuple((title, float(of[id])) for title, of in meaning.values)
        element = PickedElement(kind, id=id, values=values)
        state = State(VIEW, (trace,), {"opened": "", "main": "auto"}, element=element)
        actions = [one for one in VIEW.actions if "double click" in one.triggers and one.applies(state)]
        texts = {title: text[int(of[id])] for title, text, of in meaning.texts if of[id] >= 0}
        return actions[0].run(state).parameters, dict(values), texts

    group, alone = (["×" in name for name in names].index(many) for many in (True, False))
    shown = next(element for element in drawing.elements if element.kind == "row").id.tolist()
    change, values, texts = pressed(shown[group])
    assert len(names_of(trace, **change)[0]) == 42
    assert values["threads"] == 39
    # It says nothing of one of its threads.
    assert "thread" not in texts
    if kind != "thread group":
        change, values, texts = pressed(shown[alone])
        assert [*change] == ["main"]
        assert np.isnan(values["threads"])
        assert texts["thread"].startswith(names[alone])


def test_the_list_of_threads_has_a_row_for_a_group() -> None:
    trace = pool(40)
    _, drawing = names_of(trace)
    values = {"hide": "", "opened": "", "main": "auto", "focus": "", "threads": "auto"}
    every = THREAD_LIST.rows([trace], drawing, values)
    (group,) = (row for row in every if "×" in row.title)
    assert [row.place >= 0 for row in every] == [True] * 4
    assert "OPEN" in [name for name, _ in THREAD_LIST.look(group, values).after]
    opened = THREAD_LIST.change(group, "OPEN", every, values)
    assert len(names_of(trace, **opened)[0]) == 42
    hidden = THREAD_LIST.change(group, "HIDE", every, values)
    assert sorted(names_of(trace, **hidden)[0]) == ["log", "main", "worker-39"]
    assert not THREAD_LIST.look(group, {**values, **hidden}).active
    assert THREAD_LIST.change(group, "SHOW", every, {**values, **hidden}) == {"hide": ""}
