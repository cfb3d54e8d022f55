"""What a drawing becomes: one collection, instances, texts that never overlap, nothing left behind."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

bpy = pytest.importorskip("bpy")

from tests.conftest import ROOT  # noqa: E402
from tests.support.drawings import everything, rows  # noqa: E402
from tracevis3d import api  # noqa: E402
from tracevis3d.drawing.frame import Frame  # noqa: E402
from tracevis3d.drawing.output import Output  # noqa: E402
from tracevis3d.drawing.primitives import (  # noqa: E402
    Boxes,
    Callout,
    Camera,
    Drawing,
    Labels,
    Legend,
    LegendEntry,
    Tubes,
    Wedges,
)
from tracevis3d.errors import Cancelled, UsageError  # noqa: E402
from tracevis3d.scene import styles  # noqa: E402
from tracevis3d.scene.build import build, clear  # noqa: E402
from tracevis3d.scene.camera import fit  # noqa: E402
from tracevis3d.scene.geometry import forms  # noqa: E402
from tracevis3d.scene.text import callouts, legend  # noqa: E402
from tracevis3d.scene.text import labels as chosen  # noqa: E402
from tracevis3d.scene.text.glyphs import typeface  # noqa: E402

pytestmark = pytest.mark.blender


@pytest.fixture(autouse=True)
def empty_file():
    bpy.ops.wm.read_factory_settings(use_empty=True)


def blocks() -> dict[str, int]:
    """Return how many datablocks there are of each kind that a build makes."""
    kinds = (
        "objects",
        "meshes",
        "materials",
        "node_groups",
        "lights",
        "cameras",
        "worlds",
        "fonts",
        "curves",
    )
    return {kind: len(getattr(bpy.data, kind)) for kind in (*kinds, "collections")}


@pytest.mark.parametrize("style", ["paper", "stage", "flat"])
def test_everything_is_built_and_no_text_overlaps(style):
    drawing = everything()
    built = build(drawing, style=style, frame=Frame(960, 540))
    assert built.counts["label_overlaps"] == 0
    assert built.counts["labels"] > 0
    assert built.counts["labels"] + built.counts["labels_left_out"] == sum(map(len, drawing.labels))
    kinds = {o["tracevis3d_kind"] for o in built.collection.objects if "tracevis3d_kind" in o}
    lines = {"match", "link", "call between elements"}
    assert kinds == {"call", "cluster", "context", "event", "sector", "sequence"} | lines
    assert built.scene.camera is built.camera
    assert built.scene.view_settings.view_transform == "Standard"
    for shown in built.collection.objects:
        if shown.type == "MESH":
            assert not shown.data.validate(), shown.name  # True: it had to be mended


def test_plates_cast_no_shadow_as_the_texts_on_them():
    runs = [api.load(ROOT / "examples" / f"vt_markdown_repeat{i}.json.gz") for i in (1, 2)]
    frame = Frame(960, 540)
    built = build(api.compare(*runs).drawing(frame), style="stage", frame=frame)
    shadows = {
        o["tracevis3d_kind"]: o.visible_shadow for o in built.collection.objects if "tracevis3d_kind" in o
    }
    assert (shadows["call"], shadows["trace"]) == (True, False)


def test_each_box_is_one_instance_at_its_place():
    drawing = everything(200)
    built = build(drawing, frame=Frame(320, 180))
    forms.show(built.collection.objects, forms.Form.FULL)
    graph = bpy.context.evaluated_depsgraph_get()
    placed = [
        np.array(i.matrix_world)
        for i in graph.object_instances
        if i.is_instance and i.parent.name.startswith("TraceVis3D call")
    ]
    boxes = drawing.elements[0]
    assert len(placed) == len(boxes)
    order = np.lexsort(np.array([m[:3, 3] for m in placed]).T)
    wanted = np.lexsort(boxes.low.T)
    matrices = np.array(placed)[order]
    assert np.allclose(matrices[:, :3, 3], boxes.low[wanted], atol=1e-5)
    assert np.allclose(np.diagonal(matrices[:, :3, :3], axis1=1, axis2=2), boxes.size[wanted], atol=1e-5)
    points = next(o for o in built.collection.objects if o.get("tracevis3d_kind") == "call").data
    low, high = np.empty(200, np.int32), np.empty(200, np.int32)
    points.attributes["id"].data.foreach_get("value", low)
    points.attributes["id_high"].data.foreach_get("value", high)
    assert (((high.astype(np.int64) << 32) | low.view(np.uint32)) == boxes.id).all()


def test_time_hides_and_cuts():
    from tracevis3d.scene import compat

    drawing = everything(200)
    built = build(drawing, frame=Frame(320, 180))
    shown = next(o for o in built.collection.objects if o.get("tracevis3d_kind") == "call")
    forms.show([shown], forms.Form.FULL)
    compat.set_input(shown.modifiers[0], "Now", 0.4)
    shown.update_tag()
    graph = bpy.context.evaluated_depsgraph_get()
    graph.update()
    placed = [
        np.array(i.matrix_world)
        for i in graph.object_instances
        if i.is_instance and i.parent.original is shown
    ]
    boxes = drawing.elements[0]
    begun = boxes.time[:, 0] <= 0.4
    assert 0 < begun.sum() < 200
    assert len(placed) == begun.sum()
    ends = np.array([m[0, 3] + m[0, 0] for m in placed])
    assert ends.max() <= 0.4 * 50 + 1e-3


def test_rebuilding_replaces_and_leaves_nothing():
    built = build(everything(), frame=Frame(320, 180))
    before = blocks()
    for seed in (1, 2):
        built = build(everything(seed=seed), frame=Frame(320, 180), collection=built.collection)
    assert blocks() == before
    assert all(
        block.users
        for kind in ("meshes", "objects", "lights", "cameras")
        for block in getattr(bpy.data, kind)
    )
    clear(built.collection)
    left = blocks()
    assert (left["objects"], left["meshes"], left["lights"], left["cameras"], left["fonts"]) == (
        0,
        0,
        0,
        0,
        0,
    )


def test_an_empty_drawing_is_a_picture_too():
    none = np.empty((0, 3), np.float32)
    boxes = Boxes("call", none, none, np.empty(0, np.int32), np.empty(0, np.int64))
    built = build(Drawing(np.ones((1, 4), np.float32), (boxes,), Camera((0, -1, 0), (0, 0, 0), (0, 0, 0))))
    assert built.counts["labels"] == 0


def test_cancelling_leaves_nothing():
    before = blocks()

    def stop(done, what):
        if done > 0.4:
            raise Cancelled("stopped")

    with pytest.raises(Cancelled):
        build(everything(), frame=Frame(320, 180), progress=stop)
    assert blocks()["collections"] == before["collections"]
    assert blocks()["objects"] == before["objects"]


def test_an_unknown_style_is_reported():
    with pytest.raises(UsageError, match="paper, stage, flat"):
        build(everything(5), style="baroque")


@pytest.mark.parametrize("projection", ["perspective", "orthographic"])
@pytest.mark.parametrize("seed", range(5))
def test_the_camera_fills_its_region(projection, seed):
    rng = np.random.default_rng(seed)
    low, high = np.array([0.0, 0, 0]), rng.uniform(0.1, 50, 3)
    words = Camera(tuple(rng.normal(size=3) - [0, 2, 0]), tuple(low), tuple(high), projection=projection)
    corner = np.array(np.meshgrid(*zip(low, high))).reshape(3, -1).T
    region = (40.0, 60.0, 900.0, 400.0)
    view = fit(words, Frame(1000, 500), region, corner)
    at = view.pixels(corner)
    assert (at >= np.array(region[:2]) - 0.01).all()
    assert (at <= np.array(region[2:]) + 0.01).all()
    filled = (np.ptp(at[:, 0]) / 860, np.ptp(at[:, 1]) / 340)
    assert max(filled) > (0.999 if projection == "orthographic" else 0.7)


def test_our_pixels_are_blenders():
    from bpy_extras.object_utils import world_to_camera_view
    from mathutils import Vector

    drawing = everything(50)
    built = build(drawing, frame=Frame(640, 360))
    bpy.context.view_layer.update()
    points = drawing.elements[0].low
    ours = built.view.pixels(points)
    theirs = [world_to_camera_view(built.scene, built.camera, Vector(p.tolist())) for p in points]
    assert np.allclose(ours, [[v.x * 640, v.y * 360] for v in theirs], atol=0.05)


def test_labels_give_way_to_higher_ranks():
    face = typeface()
    n = 40
    anchor = np.tile([[5.0, 0, 5.0]], (n, 1)) + np.arange(n)[:, None] * [0.01, 0, 0.01]
    group = Labels(
        "x",
        tuple(f"name {i}" for i in range(n)),
        anchor.astype(np.float32),
        np.full(n, 1.0, np.float32),
        np.full(n, np.inf, np.float32),
        np.arange(n, dtype=np.float32),
    )
    corner = np.array([[0.0, 0, 0], [10, 0, 10]])
    view = fit(Camera((0, -1, 0), (0, 0, 0), (10, 0, 10)), Frame(400, 400), (0, 0, 400, 400), corner)
    texts, lost = chosen.choose([group], view, chosen.Free(view, (0, 0, 400, 400)), face, [np.zeros((n, 3))])
    assert texts.text == ["name 39"]
    assert lost == n - 1


def test_overlaps_are_counted():
    boxes = [(0, 0, 2, 2), (1, 1, 3, 3), (2, 2, 4, 4), (10, 0, 11, 1)]
    assert chosen.overlaps([chosen.upright(box) for box in boxes]) == 2
    # Two slanted strips side by side, in one another's rectangle; and a third across both.
    strip = np.array([[0, 0], [10, 10], [9, 11], [-1, 1]], float)
    strips = [strip, strip + np.array([3, -3])]
    assert chosen.overlaps(strips) == 0
    assert chosen.overlaps([strip * [1, -1] + np.array([1, 9]), *strips]) == 2
    assert chosen.overlaps([]) == 0


@given(
    st.lists(
        st.tuples(*(st.floats(30, 370) for _ in range(2)), st.floats(5, 90), st.floats(0, 3.2)), max_size=40
    )
)
@settings(max_examples=60, deadline=None)
def test_slanted_texts_take_what_is_free_and_no_more(texts):
    view = SimpleNamespace(frame=Frame(400, 400))
    free = chosen.Free(view, (0, 0, 400, 400))
    kept = []
    for x, y, length, angle in texts:
        along = np.array([np.cos(angle), np.sin(angle)]) * length / 2
        across = np.array([-np.sin(angle), np.cos(angle)]) * 5
        quad = np.array([x, y]) + np.array([-along - across, along - across, along + across, -along + across])
        if free.take_quad(quad):
            kept.append(quad)
        elif (quad >= 0).all() and (quad <= 400).all():
            # What is refused is nearer than two pixels to something: swollen by these, it would meet it.
            middle = quad.mean(axis=0)
            bigger = middle + (quad - middle) * (1 + 8 / min(length, 10))
            assert chosen.overlaps([*kept, bigger]) > 0
    assert chosen.overlaps(kept) == 0


def test_callouts_keep_off_tubes_that_stand_out():
    """A panel has no room between the coloured tubes; the sides of the picture are free, but farther."""
    colored = np.array([4.2, 5.0, 5.8])
    y = np.concatenate([colored, np.linspace(0, 3.5, 40), np.linspace(6.5, 10, 40)])
    is_colored = np.arange(len(y)) < 3
    n, x = len(y), np.linspace(0, 10, 50)
    point = np.stack(np.broadcast_arrays(x, y[:, None], 0.2), axis=2).reshape(-1, 3)
    tubes = Tubes(
        "match", np.float32(point), np.full((len(point), 2), 0.03, np.float32), np.arange(n + 1) * 50,
        is_colored.astype(np.int32), np.arange(n), side=(0, 1, 0),
    )  # fmt: skip
    palette = np.array([[0.7, 0.7, 0.7, 1], [0.8, 0.1, 0.3, 1]], np.float32)
    camera = Camera((0, 0, 1), (0, 0, 0), (10, 10, 1), up=(0, 1, 0), projection="orthographic")
    said = (Callout("1  parse: only in B", "12 ms", (5.0, 5.0, 0.2)),)
    built = build(Drawing(palette, (tubes,), camera, callouts=said), frame=Frame(960, 540))
    free = chosen.Free(built.view, (0, 0, 960, 540))
    panels = callouts.lay_out(
        built.drawing, built.view, built.surround.region, free, 18.0, built.style, typeface()
    )
    assert not panels.left_out
    at = built.view.pixels(point[np.repeat(is_colored, 50)])
    low, high = panels.corner[4].min(axis=0), panels.corner[4].max(axis=0)
    assert high[1] - low[1] > at[50, 1] - at[0, 1]
    assert not ((at > low) & (at < high)).all(axis=1).any()


def test_callouts_keep_off_bars_that_are_to_stay_uncovered():
    """Sparse bars near a point, and nothing farther from it."""
    x = np.arange(0, 10, 0.8)
    low = np.float32(np.stack([x, np.full(len(x), 3.0), np.zeros(len(x))], axis=1))
    size = np.tile(np.float32([0.1, 4.0, 0.1]), (len(x), 1))
    bars = Boxes("interval", low, size, np.zeros(len(x), np.int32), np.arange(len(x)))
    said = (Callout("1  parse: only in B", "12 ms", (5.0, 5.0, 0.2), color=0),)
    camera = Camera((0, 0, 1), (0, 0, 0), (10, 10, 1), up=(0, 1, 0), projection="orthographic", whole=False)
    palette = np.array([[0.7, 0.7, 0.7, 1]], np.float32)
    hidden = []
    for kept in ((), ("interval",)):
        drawing = Drawing(palette, (bars,), camera, callouts=said, uncovered=kept)
        built = build(drawing, frame=Frame(960, 540))
        panel = built.printed.panels.corner[4]
        ends = built.view.pixels(np.concatenate([low, low + size]).astype(np.float64)).reshape(2, -1, 2)
        apart = (ends[1] <= panel.min(axis=0)) | (ends[0] >= panel.max(axis=0))
        hidden.append(int((~apart.any(axis=1)).sum()))
    assert hidden[0] > 2
    assert hidden[1] == 0


def test_a_leader_does_not_run_past_what_another_callout_is_about():
    points = np.random.default_rng(3).uniform(0, 100, (60, 3, 2))
    for point, start, end in points.tolist():
        share = np.linspace(0, 1, 2001)[:, None]
        plain = np.hypot(*(np.array(start) + share * (np.array(end) - start) - point).T).min()
        found = callouts._distance(tuple(point), tuple(start), tuple(np.array([v]) for v in end))
        np.testing.assert_allclose(found, plain, atol=0.05)
    # The nearest place is left of the other's point, the next one right of some data.
    cells = np.zeros((125, 150))
    cells[:, 63:78] = 1
    data = np.pad(cells.cumsum(axis=0).cumsum(axis=1), ((1, 0), (1, 0)))
    free = SimpleNamespace(take=lambda box: True)
    for other, is_right in (((420.0, 500.0), True), ((420.0, 2000.0), False)):
        both = [(500.0, 500.0), other]
        none = np.zeros(cells.shape, np.int8), np.zeros(data.shape)
        box = callouts._place(both[0], 300, 980, (0, 0, 1200, 1000), free, cells, data, *none, both, [], 20)
        assert (box[0] > 500) == is_right


@pytest.mark.parametrize("what", ["names", "blocks"])
def test_callouts_rather_hide_data_than_names_beside_it_and_what_is_to_stay_uncovered(what):
    """All is full of data but a lane, in which no panel fits above or below what stands there."""
    y = np.concatenate([np.arange(-2, 4.5, 0.1), np.arange(5.5, 12, 0.1)])
    low = np.stack(np.broadcast_arrays(np.arange(-6.0, 16.0)[:, None], y, 0.0), axis=2).reshape(-1, 3)
    n = len(low)
    full = Boxes(
        "call",
        np.float32(low),
        np.tile(np.float32([1, 0.1, 0.1]), (n, 1)),
        np.zeros(n, np.int32),
        np.arange(n),
    )
    section = np.float32([[-6, 4.9, 0], [-6, 5.1, 0], [-6, 5.1, 0.1], [-6, 4.9, 0.1]])
    strip = Wedges(
        "queue", np.stack([section, section + np.float32([22, 0, 0])]), np.array([0, 2]),
        np.zeros(1, np.int32), np.zeros(1, np.int64),
    )  # fmt: skip
    at = np.float32([[x, 5, 0] for x in range(-4, 15, 2)])
    names = Labels(
        "thread", tuple(f"w{k}" for k in range(len(at))), at, np.full(len(at), 0.4, np.float32),
        np.full(len(at), np.inf, np.float32), np.ones(len(at), np.float32), -1, up=(0.0, 1.0, 0.0),
    )  # fmt: skip
    said = (Callout("1  parse: only in B", "12 ms", (5.0, 5.3, 0.0), color=0),)
    camera = Camera((0, 0, 1), (0, 0, 0), (10, 10, 1), up=(0, 1, 0), projection="orthographic", whole=False)
    palette = np.array([[0.7, 0.7, 0.7, 1]], np.float32)
    there = {"names": {"labels": (names,)}, "blocks": {"uncovered": ("queue",)}}[what]
    elements = (full, strip) if what == "blocks" else (full,)
    drawing = Drawing(palette, elements, camera, callouts=said, **there)
    bare = build(replace(drawing, callouts=()), frame=Frame(960, 540))
    built = build(drawing, frame=Frame(960, 540))
    panels = built.printed.panels
    assert not panels.left_out
    low, high = panels.corner[4].min(axis=0), panels.corner[4].max(axis=0)
    strip_at = built.view.pixels(strip.corner.reshape(-1, 3).astype(np.float64))
    for other in {"names": bare.printed.labels.outline, "blocks": [strip_at]}[what]:
        assert (other.max(axis=0) <= low).any() or (other.min(axis=0) >= high).any()
    assert len(built.printed.labels) == len(bare.printed.labels) == (10 if what == "names" else 0)


@given(st.lists(st.tuples(*[st.floats(0, 10)] * 2), min_size=1, max_size=6), st.integers(0, 1000))
@settings(max_examples=15, deadline=None)
def test_callouts_hide_neither_each_other_nor_what_they_point_at(points, seed):
    rng = np.random.default_rng(seed)
    low = np.column_stack([rng.uniform(0, 8, (5, 2)), np.zeros(5)]).astype(np.float32)
    boxes = Boxes(
        "call",
        low,
        np.tile(np.float32([2, 1, 0.1]), (5, 1)),
        np.zeros(5, np.int32),
        np.arange(5, dtype=np.int64),
    )
    said = tuple(
        Callout(f"{k}  parse: only in B", "12 ms", (x, y, 0.0), color=0) for k, (x, y) in enumerate(points)
    )
    palette = np.array([[0.8, 0.1, 0.3, 1]], np.float32)
    camera = Camera((0, 0, 1), (0, 0, 0), (10, 10, 1), up=(0, 1, 0), projection="orthographic")
    built = build(Drawing(palette, (boxes,), camera, callouts=said), frame=Frame(960, 540))
    free = chosen.Free(built.view, (0, 0, 960, 540))
    panels = callouts.lay_out(
        built.drawing, built.view, built.surround.region, free, 11.0, built.style, typeface()
    )
    # A leader, two diamonds, an edge, a panel and its bar for each callout; two lines of text.
    shown = len(panels.lines) // 2
    assert len(panels.corner) == len(panels.srgb) == 6 * shown
    assert shown + panels.left_out == len(said)
    rectangles = [(*c.min(axis=0), *c.max(axis=0)) for c in panels.corner[shown + 3 :: 5]]
    at = built.view.pixels([callout.point for callout in said])
    for i, (left, bottom, right, top) in enumerate(rectangles):
        for x, y in at:
            assert not (left < x < right and bottom < y < top)
        for a, b, c, d in rectangles[:i]:
            assert left >= c or right <= a or bottom >= d or top <= b
    leaders = [(c[[0, 3]].mean(axis=0), c[[1, 2]].mean(axis=0)) for c in panels.corner[:shown]]
    for i, (a, b) in enumerate(leaders):
        # None crosses another, but where all places left are behind one.
        assert sum(callouts._meet(a, b, c, d) for c, d in leaders[:i]) <= max(i - 1, 0)
    for leader, (left, bottom, right, top) in zip(panels.corner[:shown], rectangles):
        ends = [leader[[0, 3]].mean(axis=0), leader[[1, 2]].mean(axis=0)]
        assert min(np.hypot(*(ends[0] - p)) for p in at) < 1e-6
        assert left - 1e-6 <= ends[1][0] <= right + 1e-6
        assert bottom - 1e-6 <= ends[1][1] <= top + 1e-6


def spoken(style, frame=None):
    """Return a picture with notes, two legends and two callouts as ``style`` composes it."""
    drawing = rows()
    said = (Callout("First", "", (2.0, -1.0, 1.0)), Callout("Second", "", (9.0, -1.0, 1.0)))
    entries = (*(LegendEntry(f"Kind {i}", i) for i in range(2)), LegendEntry("several", 0, "cluster"))
    drawing = replace(
        drawing, callouts=said, title="What it is", notes=("A note",),
        legends=(Legend("Colours", entries), Legend("Shapes", entries)),
    )  # fmt: skip
    output = Output(style=style, frame=frame or Frame(1280, 720))
    return build(drawing, style=style, frame=output.frame), drawing


def texts_of(built):
    return [line.text for line in (*built.surround.lines, *built.printed.panels.lines)]


def test_a_picture_for_a_hall_has_whole_names_alone():
    shown = {}
    for style in ("paper", "stage"):
        names = Labels(
            "names", ("long enough for a part", "ab"), np.float32([[0, -9, 0], [5, -9, 0]]),
            np.full(2, 0.6, np.float32), np.full(2, 3.0, np.float32), np.ones(2, np.float32), align=-1,
        )  # fmt: skip
        built = build(replace(rows(), labels=(names,)), style=style, frame=Frame(1280, 720))
        shown[style] = set(built.printed.labels.text)
        clear(built.collection)
    assert len(shown["paper"]) == 2
    assert shown["stage"] == {"ab"}


def test_a_picture_for_a_hall_says_little_in_large_type():
    here, _ = spoken("paper")
    near = texts_of(here)
    clear(here.collection)
    built, drawing = spoken("stage")
    far = texts_of(built)
    assert {"A note", "First", "Second", "Shapes"} <= set(near)
    assert {"What it is", "First", "Colours", "Kind 0"} <= set(far)
    assert not {"A note", "Second", "Shapes", "several"} & set(far)
    assert built.counts["legend_entries_left_out"] == 3
    assert built.counts["callouts_left_out"] == 0
    # Nothing is taken away from what is drawn: reports and captions say all of it.
    assert built.drawing.notes == drawing.notes
    least = min(line.size for line in built.surround.lines)
    assert least > 720 / 50
    # The type that somebody asks for is the type that they get.
    small, _ = spoken("stage", Frame(1280, 720, points=8))
    assert min(line.size for line in small.surround.lines) < 0.6 * least


def test_the_light_of_a_hall_is_on_the_first_finding():
    built, _ = spoken("stage")
    lamps = {shown.data.type: shown for shown in built.collection.objects if shown.type == "LIGHT"}
    assert set(lamps) == {"SUN", "SPOT"}
    spot, key = lamps["SPOT"], built.drawing
    light = styles.Light.of(key.camera)
    away = np.array(spot.location) - (2.0, -1.0, 1.0)
    far = np.linalg.norm(away)
    assert np.allclose(away / far, light.key, atol=1e-5)
    # Both together give a face that looks at the camera what is not ambient.
    facing = light.facing @ light.key
    received = (lamps["SUN"].data.energy / np.pi + spot.data.energy / (4 * np.pi**2 * far**2)) * facing
    assert received == pytest.approx(1 - built.style.ambient, rel=1e-4)
    clear(built.collection)
    plain, _ = spoken("paper")
    assert [shown.data.type for shown in plain.collection.objects if shown.type == "LIGHT"] == ["SUN"]


@given(st.lists(st.integers(1, 40), min_size=8, max_size=40), st.integers(700, 1400))
def test_how_many_entries_are_left_out_is_in_the_picture(lengths, width):
    entries = tuple(LegendEntry("m" * length, 0) for length in lengths)
    drawing = replace(rows(), legends=(Legend("Colours", entries),))
    frame = Output(style="stage", frame=Frame(width, 720)).frame
    found = legend.lay_out(drawing, styles.named("stage"), frame, typeface())
    said = [line for line in found.lines if line.text.startswith("+ ")]
    assert [line.text for line in said] == ([f"+ {found.left_out} more"] if found.left_out else [])
    shown = sum(line.text.startswith("m") for line in found.lines)
    assert shown + found.left_out == len(entries)
    for line in found.lines:
        assert line.left + typeface().width(line.text) * line.size <= width
