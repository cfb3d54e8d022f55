"""What the drum tells whoever points at it, and what can be pointed at: bead, sector, phase, mantle."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import tracevis3d as tv
from tests.interactions.test_radial import holten
from tests.interactions.test_view import MADE, calls, drawn, of
from tests.support import synthetic
from tracevis3d.drawing.frame import Frame
from tracevis3d.drawing.primitives import Image
from tracevis3d.features.interactions.hierarchy import build, element_hierarchy
from tracevis3d.features.interactions.interactions import interactions
from tracevis3d.features.interactions.view.layout import ROLL, arrange
from tracevis3d.features.interactions.view.mantle import BEAD, spans
from tracevis3d.features.interactions.view.parameters import Parameters
from tracevis3d.features.interactions.view.pointing import DrumPlaces
from tracevis3d.features.interactions.view.radial import MantleShape, control_points
from tracevis3d.trace.model import Containers, Functions, Threads, Trace
from tracevis3d.trace.strings import Strings
from tracevis3d.views.element_metadata import metadata_of


@pytest.fixture(scope="module")
def trace(tmp_path_factory):
    path = tmp_path_factory.mktemp("rsf") / "run.rsf"
    path.write_text(MADE + "\n".join(calls()) + "\n")
    return tv.load(path)


def meaning_of(drawing, kind):
    """Return what is reported of the elements of a kind: title -> texts or values."""
    meaning = drawing.meaning[kind]
    texts = {title: [words[i] for i in which] for title, words, which in meaning.texts}
    return texts | {title: list(values) for title, values in meaning.values}


def test_sectors_tell_their_calls(trace):
    drawing = drawn(trace, start="8us", end="20us")
    said, ring = meaning_of(drawing, "sector"), of(drawing, "sector")
    names = said["element"]
    inside = (trace.calls.start >= 8000) & (trace.calls.start <= 20_000) & (trace.calls.parent >= 0)
    which = np.flatnonzero(inside)
    owner = [name.rsplit(".", 1)[-1] for name in trace.containers.name]
    of_function = [owner[c] for c in trace.functions.container.tolist()]
    received = [of_function[f] for f in trace.calls.function[which]]
    made = [of_function[f] for f in trace.calls.function[trace.calls.parent[which]]]
    for element in ("Window", "Button", "Model", "Store", "Log"):
        i = next(i for i, name in enumerate(names) if name.split(" / ")[-1] == element)
        assert i in ring.id
        assert (said["calls made"][i], said["calls received"][i]) == (
            made.count(element),
            received.count(element),
        )
    # A container tells the sum of its elements.
    assert said["calls made"][0] == len(which)
    assert any(name.endswith("2 elements") for name in names)


def test_phases_tell_when_they_are_and_by_what(trace):
    drawing = drawn(trace)
    said = meaning_of(drawing, "phase")
    assert said["kind"] == list("ABABAB")
    assert sum(said["calls"]) == drawing.counts["calls"]
    assert "Button → Log" in said["characterized by"][0]
    assert "Model → Log" in said["characterized by"][1]
    assert said["from"][0] == "0 ns"


def test_each_of_two_drums_tells_of_its_own_trace(trace, tmp_path):
    path = tmp_path / "other.rsf"
    path.write_text(MADE + "\n".join(calls()[1600:]) + "\n")
    other = tv.load(path)
    drawing = drawn(trace, other)
    for kind in ("interaction", "sector", "phase", "lone call"):
        parts = [e for e in drawing.elements if e.kind == kind]
        ids = np.concatenate([e.id for e in parts])
        assert len(set(ids.tolist())) == len(ids)
    for source, one in enumerate((trace, other)):
        tubes = of(drawing, "interaction", source)
        found = metadata_of(tubes, drawing, [trace, other])
        assert (found.calls[source] >= 0).all()
        assert (found.calls[1 - source] == -1).all()
        assert (found.function == one.calls.function[found.calls[source]]).all()
    # Of a sector there is no call that it stands for, so no function either.
    assert (metadata_of(of(drawing, "sector", 1), drawing, [trace, other]).function == -1).all()


def test_beads_at_one_place_stand_side_by_side(tmp_path):
    lines = [f"call app.ui.Window app.util.Log {10 * i} 1 log" for i in range(3000)]
    for i, name in enumerate(("Button", "Model", "Store")):
        owner = "ui" if name == "Button" else "core"
        lines.insert(1500, f"call app.{owner}.{name} app.util.Log {15_000 + i} 1 log{i}")
    path = tmp_path / "close.rsf"
    path.write_text(MADE + "\n".join(lines) + "\n")
    drawing = drawn(tv.load(path))
    beads = of(drawing, "lone call")
    assert len(beads) == 3
    numbers = next(label for label in drawing.labels if label.kind == "lone call")
    seen = beads.point @ np.array([numbers.right, numbers.up]).T
    apart = np.linalg.norm(seen[:, None] - seen[None], axis=2)
    assert apart[np.triu_indices(3, 1)].min() > BEAD


@pytest.mark.parametrize("axis", ["calls", "time"])
def test_times_and_shares_of_the_axis_are_each_others_inverse(trace, axis):
    where = DrumPlaces([trace], Parameters(axis=axis, level="class", start="3us", end="17us"))
    assert where.window(0) == (3000, 17_000)
    assert (where.time_at(0, 0.0), where.time_at(0, 1.0)) == (3000, 17_000)
    shares = np.linspace(0.01, 0.99, 50)
    times = [where.time_at(0, s) for s in shares.tolist()]
    assert times == sorted(times)
    assert [where.share_at(0, t) for t in times] == pytest.approx(shares.tolist(), abs=2e-3)
    assert where.share_at(0, -5) == 0
    assert where.share_at(0, 10**9) == 1


@pytest.mark.parametrize("axis", ["calls", "time"])
def test_a_spot_of_the_mantle_tells_the_bars_that_cover_it(trace, axis):
    p = Parameters(axis=axis, level="class")
    given, where = arrange([trace], p), DrumPlaces([trace], p)
    found, span = given.found[0], spans(given.hierarchy, given.sectors, given.found[0])
    names = given.hierarchy.distinct
    rng = np.random.default_rng(0)
    empty = 0
    for share, around in rng.uniform(0.02, 0.98, (60, 2)).tolist():
        spot = where.spot(0, share, around)
        first, last = spot.calls
        bars = {}
        for pair in found.pair[first - 1 : last].tolist():
            if span[pair].min() <= around <= span[pair].max():
                a, b = (names[given.hierarchy.node[e]] for e in (found.caller[pair], found.callee[pair]))
                who = a if a == b else f"{a} → {b}"
                bars[who] = bars.get(who, 0) + 1
        assert dict(spot.pairs) == bars
        assert last - first <= len(found) / 500
        empty += not bars
        if bars:
            assert found.time[first - 1] <= trace.calls.start[spot.call] <= found.time[last - 1]
    assert 0 < empty < 60


def test_names_that_several_share_are_told_apart():
    paths = [("a", "b", "__init__.py"), ("a", "c", "__init__.py"), ("a", "c", "x.py")]
    h, _ = build(paths, np.ones(3), by="folders")
    assert [h.distinct[i] for i in h.node] == ["b/__init__.py", "c/__init__.py", "x.py"]
    assert h.kind == "files"
    h, _ = build([("p", "t1", "A"), ("p", "t2", "A")], np.ones(2), by="threads")
    assert [h.distinct[i] for i in h.node] == ["A in t1", "A in t2"]
    assert h.kind == "classes in threads"
    # Containers with nothing beside them are joined as their kind is written.
    h, _ = build([("usr", "lib", "x.py"), ("usr", "lib", "y.py"), ("z.py",)], np.ones(3), by="folders")
    assert "usr/lib" in h.name


def test_modules_are_not_called_classes(trace):
    assert element_hierarchy(trace, "class").hierarchy.kind == "classes"
    modules = replace(trace.containers, kind=np.full(len(trace.containers), 1, np.uint8))
    found = element_hierarchy(replace(trace, containers=modules), "class")
    assert found.hierarchy.level == "module"
    assert found.hierarchy.kind == "modules"


def test_long_calls_are_paler(trace):
    usual, pale = (drawn(trace, fade=fade, unroll=0) for fade in (0.0, 0.9))
    plain, faded = of(usual, "interaction"), of(pale, "interaction")
    assert (usual.palette[plain.color, 3] == 1).all()
    length = np.linalg.norm(np.diff(plain.point.reshape(len(plain), -1, 3), axis=1), axis=2).sum(axis=1)
    alpha = pale.palette[faded.color, 3]
    assert (pale.palette[faded.color, :3] == usual.palette[plain.color, :3]).all()
    order = np.argsort(length)
    assert (np.diff(alpha[order]) <= 1e-6).all()
    assert alpha.min() < 0.35
    assert alpha.max() > alpha.min() + 0.15
    # In the flat picture the image is paler, and by nothing where it is off.
    images = [of(drawn(trace, fade=f, unroll=0, opening=0), "bundles").pixel[..., 3] for f in (0, 0.9)]
    assert images[1].astype(int).sum() < 0.8 * images[0].astype(int).sum()


def test_short_calls_lie_above_long_ones_in_the_flat_picture(trace):
    drawing = drawn(trace, unroll=0, opening=0, blend="over", slices=1)
    point = of(drawing, "interaction").point.reshape(-1, 48, 3)
    length = np.linalg.norm(np.diff(point, axis=1), axis=2).sum(axis=1)
    depth = point[:, 0] @ np.array(drawing.camera.direction)
    assert (np.diff(length[np.argsort(depth)]) <= 1e-3).all()


@pytest.mark.parametrize("beta", [0.5, 0.8])
def test_the_flat_twin_of_the_bundles_is_holtens_plain_splines(trace, beta):
    """Every curve of the image along the axis is Holten's formula, and where none is nothing is drawn."""
    p = Parameters(level="class", opening=0, unroll=0, beta=beta, own=False)
    drawing = drawn(trace, opening=0, unroll=0, beta=beta, own=False)
    image = of(drawing, "bundles")
    assert isinstance(image, Image)
    given = arrange([trace], p)
    h, found = given.hierarchy, given.found[0]
    point = control_points(h.parent, h.element, given.sectors.middle, 3.0)
    rows, columns = image.pixel.shape[:2]
    bend = MantleShape(3.0, 0.0, 0.0, (1, 0, 0), (0, 0, -1), (0, -1, 0), ROLL)
    turned = np.array([[np.cos(ROLL), np.sin(ROLL)], [-np.sin(ROLL), np.cos(ROLL)]])
    origin, right, down = (
        image.point[0, 0],
        *(image.point[i, j] - image.point[0, 0] for i, j in ((0, 1), (1, 0))),
    )
    covered = np.zeros((rows, columns), np.bool_)
    for caller, callee in zip(found.caller.tolist(), found.callee.tolist(), strict=True):
        if caller == callee:
            continue
        curve = holten(h.parent, point, int(h.node[caller]), int(h.node[callee]), beta, True, 400)[:, :2]
        place = bend.space(curve @ turned, np.zeros(len(curve)))[4:-4] - origin
        r, q = (np.rint(place @ step / (step @ step)).astype(int) for step in (down, right))
        assert np.abs(place - np.outer(r, down) - np.outer(q, right)).max() < np.linalg.norm(right)
        assert (image.pixel[r, q, 3] > 0).all()
        for y, x in zip(r.tolist(), q.tolist(), strict=True):
            covered[max(y - 9, 0) : y + 10, max(x - 9, 0) : x + 10] = True
    assert not image.pixel[~covered][..., 3].any()


def test_an_outlier_among_a_million_calls_is_named_marked_and_in_its_row():
    calls_, first, count = synthetic.program(1_000_000, fresh=0.002)
    functions = int(calls_.function.max()) + 1
    function = calls_.function.copy()
    leaves = np.flatnonzero((calls_.extent == 1) & (calls_.parent >= 0))
    lone = int(leaves[int(0.63 * len(leaves))])
    function[lone] = functions
    start = 10 * np.arange(len(function), dtype=np.int64)
    end = start + 10 * calls_.extent.astype(np.int64) - 1
    names = Strings.of([*(f"f{i}" for i in range(functions)), "audit"])
    owner = np.append(np.arange(functions) * 60 // functions, 60).astype(np.int32)
    none = np.full(functions + 1, -1, np.int32)
    kind = np.full(61, 2, np.uint8)
    boxes = Containers(Strings.of([*(f"C{i}" for i in range(60)), "Audit"]), none[:61], kind)
    trace = Trace(
        calls=replace(calls_, function=function, start=start, end=end),
        functions=Functions(names, names, owner, none, np.zeros(functions + 1, np.int32)),
        threads=Threads((1,), (1,), ("",), ("",), first, count),
        containers=boxes,
        span_ns=int(end.max()),
    )
    drawing = tv.interactions(trace, level="class", mantle="whole").drawing(Frame(1920, 1080))
    ((_, marked),) = drawing.meaning["lone call"].calls
    assert lone in marked.tolist()
    assert "→ Audit" in drawing.callouts[marked.tolist().index(lone)].text
    # Its row of the mantle has its bar, too: no row is lost.
    found = interactions(trace, element_hierarchy(trace, "class"))
    image = of(drawing, "sequence")
    row = int(np.searchsorted(found.call, lone) / len(found) * image.pixel.shape[0])
    bar = drawing.meaning["lone call"]
    assert bar.values[0][1][marked.tolist().index(lone)] == 1
    assert image.pixel[row, :, 3].max() > 0


@pytest.mark.parametrize("color", ["direction", "time"])
def test_edges_of_the_flat_bundles_can_be_pointed_at(trace, color):
    """Behind the image lies a tube along each edge, narrower than it: it is met, and not seen."""
    drawing = drawn(trace, opening=0, unroll=0, color=color)
    image, tubes = of(drawing, "bundles"), of(drawing, "interaction")
    assert isinstance(image, Image)
    (found,) = arrange([trace], Parameters(level="class", opening=0, unroll=0)).found
    meaning = meaning_of(drawing, "interaction")
    assert sorted(meaning["calls"]) == sorted(found.counts(0, len(found)).tolist())
    assert len(tubes) == found.pairs
    direction = np.array(drawing.camera.direction)
    origin, right, down = (
        image.point[0, 0],
        *(image.point[i, j] - image.point[0, 0] for i, j in ((0, 1), (1, 0))),
    )
    place = tubes.point - origin
    assert (place @ direction < -0.05).all()
    r, q = (np.rint(place @ step / (step @ step)).astype(int) for step in (down, right))
    assert (image.pixel[r, q, 3] > 0).all()
    assert (2 * tubes.radius[:, 0] > 0).all()
