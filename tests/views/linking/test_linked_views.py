"""What lights up together in each view, by definition: from the traces, not from what elements declare."""

import numpy as np
import pytest

from tests.conftest import ROOT
from tests.memory.test_view import trace_of as heap
from tests.views.linking.drawn_meshes import shown_parts
from tracevis3d import api
from tracevis3d.features.comparison.matching.match import compare
from tracevis3d.features.interactions.hierarchy import element_hierarchy
from tracevis3d.features.memory.view.arrangement import memory_use
from tracevis3d.features.waits.waits import find_waits
from tracevis3d.views.linking.lit import asked_by, lit

EVERYTHING = {"FUNCTION", "MATCH"}


def example(name):
    return api.load(ROOT / "examples" / name)


def lights(parts, traces, calls=None, asked=(), what=EVERYTHING):
    """Return name of a part -> what of it lights up."""
    keys = dict(zip(parts[0].keys, traces, strict=True))
    return lit(parts, calls or {}, what, keys.get, lambda _: None, asked)


def of_kind(parts, kind, source=None):
    return [p for p in parts if p.mesh.kind == kind and source in (None, p.mesh.source)]


@pytest.fixture(scope="module")
def compared():
    traces = [example(f"vt_sphinxtext_{name}.json.gz") for name in "EF"]
    figure = api.Figure("compare", tuple(traces))
    return traces, shown_parts(figure.drawing(), traces, ["a", "b"])


def test_a_call_lights_up_with_all_its_matches(compared):
    traces, parts = compared
    comparison = compare(*traces)
    boxes = {source: of_kind(parts, "call", source)[0] for source in (0, 1)}
    keys = ("a", "b")
    for side in (0, 1):
        own, other = boxes[side].mesh, boxes[1 - side].mesh
        for element in range(0, len(own), 31):
            call = int(own.id[element])
            calls = {keys[side]: np.array([call])}
            found = lights(parts, traces, calls, asked_by(boxes[side], element))
            pairs = comparison.between(*((np.array([call]), other.id)[:: 1 if side == 0 else -1]))
            wanted = set((pairs.b if side == 0 else pairs.a).tolist())
            there = found.get(boxes[1 - side].name)
            got = set() if there is None else set(other.id[there.matched].tolist())
            assert got == wanted, (side, call)
            assert found[boxes[side].name].same.tolist() == [element]
            # Each tube that ends at the call, and each of calls with the same functions below them.
            unit = (comparison.unit_of_a, comparison.unit_of_b)[side]
            for part in [*of_kind(parts, "tube"), *of_kind(parts, "line")]:
                ends = part.mesh.calls[side]
                here = found.get(part.name)
                got_own = set() if here is None else set(here.matched.tolist())
                got_all = got_own if here is None else got_own | set(here.related.tolist())
                assert got_own == set(np.flatnonzero(ends == call).tolist())
                assert got_all == set(np.flatnonzero(unit(ends) == unit(np.array([call]))[0]).tolist())


def test_a_call_lights_up_the_bar_that_counts_it(compared):
    traces, parts = compared
    (bars,) = of_kind(parts, "interval", 0)
    (boxes,) = of_kind(parts, "call", 0)
    start = traces[0].calls.start
    (link,) = bars.mesh.links
    lit_bars = 0
    for element in range(0, len(boxes.mesh), 17):
        call = int(boxes.mesh.id[element])
        found = lights(parts, traces, {"a": np.array([call])}).get(bars.name)
        low, high = link.thing, link.stop
        wanted = np.flatnonzero((low <= start[call]) & (start[call] < high))
        got = np.empty(0) if found is None else np.union1d(found.related, found.matched)
        assert set(wanted.tolist()) <= set(got.tolist())
        lit_bars += len(wanted)
    assert lit_bars
    # And a bar all calls that start in it, up to the rounding of places.
    element = len(bars.mesh) // 2
    found = lights(parts, traces, {}, asked_by(bars, element))[boxes.name]
    low, high = int(link.thing[element]), int(link.stop[element])
    at = start[boxes.mesh.id]
    near = (high - low) / 50
    surely = np.flatnonzero((at >= low + near) & (at < high - near))
    perhaps = np.flatnonzero((at >= low - near) & (at < high + near))
    assert set(surely.tolist()) <= set(found.related.tolist()) <= set(perhaps.tolist())


def test_what_a_call_says_of_its_matches(compared):
    traces, parts = compared
    comparison = compare(*traces)
    for side in (0, 1):
        (boxes,) = of_kind(parts, "call", side)
        every = [np.arange(len(trace.calls)) for trace in traces]
        titles = dict(boxes.mesh.metadata.values)
        for element in range(0, len(boxes.mesh), 67):
            row = [np.array([boxes.mesh.id[element]]) if s == side else every[s] for s in (0, 1)]
            units = comparison.unit_of_a(row[0]), comparison.unit_of_b(row[1])
            many = 0
            for unit in np.unique(units[0]).tolist():
                met = comparison.similarity.row(unit).above(comparison.settings.tau)
                many += int(np.count_nonzero(units[0] == unit)) * int(met[units[1]].sum())
            assert titles["matches"][element] == many


def test_a_sector_lights_up_with_its_tubes_and_calls():
    trace = example("weka_parallel_9t.tsv.gz")
    figure = api.Figure("interactions", (trace,))
    p = figure.parameters
    drum = shown_parts(figure.drawing(), [trace], ["a"], "drum")
    icicle = shown_parts(api.Figure("icicle", (trace,)).drawing(), [trace], ["a"], "icicle")
    parts = [*drum, *icicle]
    (sectors,) = of_kind(parts, "sector")
    tubes = of_kind(parts, "interaction")
    words = dict(sectors.mesh.metadata.texts)["element"]
    assert tubes
    elements = element_hierarchy(trace, p.level, p.hierarchy, p.elements)
    h = elements.hierarchy
    titles = [h.title(h.node[e]) for e in elements.of_call(np.arange(len(trace.calls))).tolist()]
    of_title = {}
    for i, word in enumerate(words):
        of_title.setdefault(word.split(",")[0], []).append(i)
    shown = 0
    for element in range(len(sectors.mesh)):
        (asks,) = [each for each in asked_by(sectors, element) if each.sort == "part"]
        found = lights(parts, [trace], {}, [asks])
        ends = [link for part in tubes for link in part.mesh.links if link.sort == "end"]
        for part, link in zip(tubes, ends, strict=True):
            wanted = {i for i in range(len(link)) if set(link.of(i).tolist()) & set(asks.thing.tolist())}
            one = found.get(part.name)
            got = set() if one is None else {*one.same.tolist(), *one.related.tolist()}
            assert got == wanted, words[element]
            shown += len(wanted)
        # In the icicle: the calls whose own elements are in the sector.
        for part in of_kind(icicle, "call"):
            one = found.get(part.name)
            got = set() if one is None else set(one.related.tolist())
            title = words[element].split(",")[0]
            if title in titles and len(of_title[title]) == 1:
                wanted = [i for i, call in enumerate(part.mesh.id.tolist()) if titles[call] == title]
                assert set(wanted) == got, title
    assert shown
    # And back: a call lights up the tubes and the one sector of its function's element.
    call = int(of_kind(icicle, "call")[0].mesh.id[-1])
    found = lights(parts, [trace], {"a": np.array([call])})
    assert len(np.union1d(found[sectors.name].related, found[sectors.name].same)) == 1


def test_a_wait_lights_up_with_its_release_and_all_waits_for_the_same():
    trace = example("sync_pillow_8w.json.gz")
    parts = shown_parts(api.Figure("threads", (trace,)).drawing(), [trace], ["a"])
    waits = find_waits(trace)
    ops = waits.ops
    objects = [set(ops.object[ops.first[i] : ops.first[i + 1]].tolist()) for i in range(len(ops))]
    kinds = ("correspondence", "correspondence out of sight", "wait marker", "release", "wait start")
    (ways,) = of_kind(parts, "correspondence")[:1]
    for element in range(0, len(ways.mesh), 40):
        row = int(ways.mesh.id[element])
        calls = {"a": np.array([ways.mesh.calls[0][element]])} if ways.mesh.calls[0][element] >= 0 else {}
        found = lights(parts, [trace], calls, asked_by(ways, element))
        for part in [p for kind in kinds for p in of_kind(parts, kind)]:
            one = found.get(part.name)
            got = set() if one is None else {*one.same.tolist(), *one.related.tolist(), *one.matched.tolist()}
            same = set(np.flatnonzero(part.mesh.id == row).tolist())
            assert same <= got
            wanted = {i for i, other in enumerate(part.mesh.id.tolist()) if objects[other] & objects[row]}
            assert wanted <= got
        if waits.held_by[row] >= 0:
            for part in of_kind(parts, "thread"):
                assert waits.held_by[row] in part.mesh.id[found[part.name].matched]


def test_a_block_lights_up_with_those_of_its_call_site():
    trace = heap()
    parts = shown_parts(api.Figure("memory", (trace,)).drawing(), [trace], ["a"])
    site = np.asarray(memory_use(trace).sites.of_block)
    blocks = of_kind(parts, "block")
    assert sum(len(part.mesh) for part in blocks) > 2
    for part in blocks:
        for element, block in enumerate(part.mesh.id.tolist()):
            found = lights(parts, [trace], {}, asked_by(part, element))
            for other in blocks:
                one = found.get(other.name)
                got = set() if one is None else {*one.same.tolist(), *one.related.tolist()}
                ids = other.mesh.id
                assert got == set(np.flatnonzero(site[ids] == site[block]).tolist())
                assert [] if one is None else one.same.tolist() == np.flatnonzero(ids == block).tolist()


def test_counterparts_light_up_only_if_they_are_asked_for(compared):
    traces, parts = compared
    (boxes,) = of_kind(parts, "call", 0)
    found = lights(parts, traces, {"a": boxes.mesh.id[3:4]}, asked_by(boxes, 3), what={"FUNCTION"})
    assert not any(len(one.matched) for one in found.values())
