"""What a drawing becomes: one collection, instances, texts that never overlap, nothing left behind."""

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from tracevis3d.drawing.frame import Frame  # noqa: E402
from tracevis3d.drawing.words import (  # noqa: E402
    Axis,
    Boxes,
    Camera,
    Drawing,
    Labels,
    Legend,
    LegendEntry,
    Lines,
    Marks,
    Tubes,
)
from tracevis3d.errors import Cancelled, UsageError  # noqa: E402
from tracevis3d.scene import labels as chosen  # noqa: E402
from tracevis3d.scene.build import build, clear  # noqa: E402
from tracevis3d.scene.camera import fit  # noqa: E402
from tracevis3d.scene.glyphs import typeface  # noqa: E402

pytestmark = pytest.mark.blender

HOSTILE = ("x" * 10_000, "a\nb\x00", "", "\u202egnp.exe", "日本語のメソッド", "𝒜" * 50, "(" * 300)


@pytest.fixture(autouse=True)
def empty_file():
    bpy.ops.wm.read_factory_settings(use_empty=True)


def everything(n: int = 300, seed: int = 0) -> Drawing:
    """Return a drawing with each kind of word in it."""
    rng = np.random.default_rng(seed)
    palette = np.column_stack([rng.random((9, 3)), np.ones(9)]).astype(np.float32)
    low = (rng.random((n, 3)) * [40, 2, 12]).astype(np.float32)
    size = (rng.random((n, 3)) * [4, 1, 0.9]).astype(np.float32)
    color = rng.integers(0, 9, n).astype(np.int32)
    ids = np.arange(n, dtype=np.int64) + 2**40
    time = np.stack([low[:, 0] / 50, (low[:, 0] + size[:, 0]) / 50], axis=1).astype(np.float32)
    u = np.linspace(0, 1, 20)
    path = np.concatenate([np.stack([40 * u, np.sin(5 * u), i + np.cos(4 * u)], axis=1) for i in range(3)])
    first = np.array([0, 20, 40, 60])
    three = np.arange(3)
    names = tuple(HOSTILE[i % len(HOSTILE)] if i % 3 else f"function_{i}" for i in range(n))
    return Drawing(
        palette,
        (
            Boxes("call", low, size, color, ids, time),
            Boxes("cluster", low + 1, size / 3, color, ids, time, look="cluster"),
            Boxes("context", low, size, color, ids, look="ghost"),
            Tubes("match", path.astype(np.float32), np.full((60, 2), 0.2, np.float32), first, three, three),
            Lines("link", path.astype(np.float32) + 1, first, np.full(3, 0.1, np.float32), three, three),
            *(
                Marks("event", s, low[:5], np.full(5, 0.5, np.float32), color[:5], ids[:5])
                for s in ("sphere", "diamond", "cone", "pin")
            ),
        ),
        Camera((-0.3, -1, 0.3), (0, 0, 0), (44, 3, 13)),
        labels=(
            Labels(
                "call", names, low, np.full(n, 0.6, np.float32), size[:, 0], size[:, 0], -1, background=color
            ),
            Labels(
                "thread",
                ("MainThread",),
                np.array([[-0.5, 0, 1]], np.float32),
                np.array([0.8], np.float32),
                np.array([np.inf], np.float32),
                np.array([1e6], np.float32),
                1,
            ),
        ),
        axes=(
            Axis(
                (0, 0, -0.3), (1, 0, 0), 44, (0, 10, 20, 30, 40), ("0", "1", "2", "3", "4"), (5,), "time (s)"
            ),
        ),
        legends=(
            Legend("module", tuple(LegendEntry(name, i % 9) for i, name in enumerate(HOSTILE * 4))),
            Legend("self time", ramp=(0, 8), ramp_tick=(0.0, 1.0), ramp_text=("0", "1 s")),
        ),
        title="A title " * 40,
        notes=("3 calls", "two\nlines"),
    )


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
    assert kinds == {"call", "cluster", "context", "match", "link", "event"}
    assert built.scene.camera is built.camera
    assert built.scene.view_settings.view_transform == "Standard"
    for shown in built.collection.objects:
        if shown.type == "MESH":
            assert not shown.data.validate(), shown.name  # True: it had to be mended


def test_each_box_is_one_instance_at_its_place():
    drawing = everything(200)
    built = build(drawing, frame=Frame(320, 180))
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


def test_an_unknown_style_is_told():
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
    assert at[:, 0].min() >= region[0] - 0.01 and at[:, 0].max() <= region[2] + 0.01
    assert at[:, 1].min() >= region[1] - 0.01 and at[:, 1].max() <= region[3] + 0.01
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
    group = chosen.Labels(
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
    assert chosen.overlaps([(0, 0, 2, 2), (1, 1, 3, 3), (2, 2, 4, 4), (10, 0, 11, 1)]) == 2
    assert chosen.overlaps([]) == 0
