"""The economical form: what 3D views show has few triangles, and lies where the full form does."""

from dataclasses import replace

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

import tracevis3d as tv  # noqa: E402
from tests.conftest import ROOT, SHARED  # noqa: E402
from tests.support.drawings import everything, picture  # noqa: E402
from tests.support.evaluated import in_picture, in_window  # noqa: E402
from tracevis3d.drawing.frame import Frame  # noqa: E402
from tracevis3d.drawing.primitives import Camera, Drawing, Lines  # noqa: E402
from tracevis3d.scene import compat  # noqa: E402
from tracevis3d.scene.build import build  # noqa: E402
from tracevis3d.scene.geometry import economy, forms, images  # noqa: E402
from tracevis3d.scene.geometry.forms import Form  # noqa: E402
from tracevis3d.scene.geometry.templates import mark_shape, plain_box  # noqa: E402
from tracevis3d.scene.styles import Light, named  # noqa: E402

pytestmark = pytest.mark.blender
RECORDED, PUBLIC = SHARED / "traces" / "recorded", SHARED / "traces" / "public"
CATAPULT = PUBLIC / "catapult-project" / "catapult" / "tracing" / "test_data"
EXAMPLES = ROOT / "examples"
#: Texts are not drawn in the 3D view but over it.
TEXTS = ("title", "labels", "names", "axis texts")
SMALL = Frame(320, 180)


@pytest.fixture(autouse=True)
def empty_file():
    bpy.ops.wm.read_factory_settings(use_empty=True)


@pytest.mark.parametrize(
    ("view", "traces"),
    [
        ("icicle", [EXAMPLES / "vt_sphinxtext_E.json.gz"]),
        ("icicle", [RECORDED / "vt_pylint_0.9M.json.gz"]),
        ("icicle", [CATAPULT / "fuchsia_trace.json.gz"]),
        ("threads", [EXAMPLES / "sync_pillow_8w.json.gz"]),
        ("threads", [EXAMPLES / "chromium_docs_page.json.gz"]),
        ("compare", [EXAMPLES / f"vt_sphinxtext_{name}.json.gz" for name in "EF"]),
        ("compare", [RECORDED / f"vt_rst2html_docutils0.{v}.json.gz" for v in (20, 22)]),
        ("cone", [EXAMPLES / "weka_parallel_9t.tsv.gz"]),
        ("interactions", [EXAMPLES / "weka_parallel_9t.tsv.gz"]),
        ("interactions", [RECORDED / "vt_sphinxtext_C.json.gz"]),
        ("tracks", [EXAMPLES / "sync_pillow_8w.json.gz"]),
        ("tracks", [RECORDED / "vt_pylint_0.9M.json.gz"]),
        ("matrix", [EXAMPLES / "vt_sphinxtext_E.json.gz"]),
        ("matrix", [RECORDED / "vt_pylint_0.9M.json.gz"]),
        ("city", [EXAMPLES / f"vt_sphinxtext_{name}.json.gz" for name in "EF"]),
        ("city", [RECORDED / "vt_pylint_0.9M.json.gz"]),
        ("ramp", [EXAMPLES / "sync_pillow_8w.json.gz"]),
        ("source", [EXAMPLES / "sync_pillow_8w.json.gz"]),
        ("ramp", [EXAMPLES / f"vt_markdown_repeat{i}.json.gz" for i in (1, 2)]),
        ("memory", [RECORDED / "memray_pillow_threads.records.tsv.gz"]),
        ("memory", [PUBLIC / "KDE/heaptrack/tests/auto/heaptrack.heaptrack_gui.99529.zst"]),
    ],
    ids=lambda given: given if isinstance(given, str) else given[0].name.split(".")[0],
)
def test_each_view_keeps_to_the_budget(view, traces):
    if not all(path.is_file() for path in traces):
        pytest.skip(f"no {traces[0]}")
    drawing = tv.Figure(view, tuple(tv.load(path) for path in traces)).drawing(Frame())
    built = build(drawing, frame=Frame())
    drawn = in_window(built, TEXTS)
    assert 0 < drawn.total <= 400_000, drawn.triangles
    assert len(drawn.triangles) <= 60
    assert drawn.instances == 0
    for element, shown in elements(built):
        count = drawn.triangles.get(shown.name, 0)
        if element.word == "Boxes":
            # Clusters that are wide enough have three ribs on two sides.
            most = 20 if element.element.look == "cluster" else 12
            assert 12 * len(element) <= count <= most * len(element)


@pytest.mark.parametrize(
    ("view", "trace", "settings"),
    [
        ("tracks", "chromium_docs_page.json.gz", {"form": "mural"}),
        ("icicle", "chromium_docs_page.json.gz", {"behind": "running,mural"}),
        ("icicle", "sync_pillow_8w.json.gz", {"winding": 4}),
        ("city", "vt_sphinxtext_E.json.gz", {"layout": "network"}),
        ("city", "vt_sphinxtext_E.json.gz", {"floors": 8, "multiples": True}),
        ("city", "vt_sphinxtext_E.json.gz", {"stack": "700ms"}),
        ("matrix", "sync_pillow_8w.json.gz", {"about": "rounds"}),
        ("cone", "vt_sphinxtext_E.json.gz", {"closed": "shape"}),
        ("cone", "vt_sphinxtext_E.json.gz", {"lists": "cylinder", "rings": 8}),
    ],
    ids=lambda given: "" if isinstance(given, str) and "." in given else str(given),
)
def test_forms_of_views_keep_to_the_budget(view, trace, settings):
    figure = tv.Figure(view, (tv.load(EXAMPLES / trace),), settings)
    drawn = in_window(build(figure.drawing(Frame()), frame=Frame()), TEXTS)
    assert 0 < drawn.total <= 400_000, drawn.triangles
    assert len(drawn.triangles) <= 60
    assert drawn.instances == 0


def elements(built):
    """Return the elements of a drawing with their objects."""
    found = [o for o in built.collection.objects if "tracevis3d_element" in o]
    return [(_Counted(built.drawing.elements[o["tracevis3d_element"]]), o) for o in found]


class _Counted:
    def __init__(self, element):
        self.element, self.word = element, type(element).__name__

    def __len__(self):
        return len(self.element)


def points(built, shown, form):
    """Return the places of the vertices that an object is drawn with, in a form."""
    forms.show([shown], form)
    graph = built.scene.view_layers[0].depsgraph
    graph.update()
    found = []
    for each in graph.object_instances:
        parent = each.parent if each.is_instance else each.object
        if parent.original == shown and each.object.type == "MESH":
            place = np.empty(3 * len(each.object.data.vertices), np.float32)
            each.object.data.vertices.foreach_get("co", place)
            matrix = np.array(each.matrix_world)
            found.append(place.reshape(-1, 3) @ matrix[:3, :3].T + matrix[:3, 3])
    return np.concatenate(found)


def test_both_forms_lie_in_the_same_place():
    built = build(everything(200), frame=SMALL)
    for element, shown in elements(built):
        full, economical = (points(built, shown, form) for form in (Form.FULL, Form.ECONOMICAL))
        assert len(economical) <= len(full)
        size = np.ptp(full, axis=0)
        # Coarser rounds are inside the finer ones, boxes end before their neighbours.
        slack = 0.04 * size + 0.06
        assert (np.abs(economical.min(axis=0) - full.min(axis=0)) <= slack).all(), element.word
        assert (np.abs(economical.max(axis=0) - full.max(axis=0)) <= slack).all(), element.word


def test_the_economical_boxes_are_those_of_the_drawing():
    built = build(everything(200), frame=SMALL)
    element, shown = next(pair for pair in elements(built) if pair[0].word == "Boxes")
    boxes = element.element
    corners = points(built, shown, Form.SUITED).reshape(-1, 8, 3)
    low, high = corners.min(axis=1), corners.max(axis=1)
    order, wanted = np.lexsort(((low + high) / 2).T), np.lexsort((boxes.low + boxes.size / 2).T)
    low, high = low[order], high[order]
    assert np.allclose((low + high) / 2, (boxes.low + boxes.size / 2)[wanted], atol=1e-4)
    share = (high - low) / np.maximum(boxes.size[wanted], 1e-6)
    assert share.max() <= 1 + 1e-3
    assert share.min() > 0.8


def test_a_view_shows_the_economical_form_and_a_still_the_full_one():
    built = build(everything(200), frame=SMALL)
    window, still = in_window(built), in_picture(built)
    shown = next(o for o in built.collection.objects if o.get("tracevis3d_kind") == "call")
    assert window.triangles[shown.name] == 12 * 200
    assert still.triangles[shown.name] > 2 * 12 * 200
    assert window.total < still.total
    forms.show(built.collection.objects, Form.FULL)
    assert in_window(built).triangles == still.triangles
    forms.show(built.collection.objects, Form.ECONOMICAL)
    assert in_picture(built).triangles == window.triangles


def test_time_hides_and_cuts_the_economical_form_too():
    built = build(everything(200), frame=SMALL)
    element, shown = next(pair for pair in elements(built) if pair[0].word == "Boxes")
    compat.set_input(shown.modifiers[0], "Now", 0.4)
    shown.update_tag()
    corners = points(built, shown, Form.SUITED).reshape(-1, 8, 3)
    assert len(corners) == np.count_nonzero(element.element.time[:, 0] <= 0.4)
    assert corners[..., 0].max() <= 0.4 * 50 + 1e-3


def test_lines_are_within_the_tolerance_of_their_course():
    turn = np.linspace(0, 20, 4000)
    point = np.stack([turn, np.sin(turn), np.cos(turn)], axis=1).astype(np.float32)
    width = np.full(1, 1e-4, np.float32)
    none = np.zeros(1, np.int32)
    line = Lines("link", point, np.array([0, 4000]), width, none, none)
    low, high = (0.0, -1.0, -1.0), (20.0, 1.0, 1.0)
    drawing = Drawing(np.ones((1, 4), np.float32), (line,), Camera((0, -1, 0), low, high))
    built = build(drawing, frame=SMALL)
    ((_, shown),) = elements(built)
    found = points(built, shown, Form.SUITED)
    assert len(found) < 0.3 * 3 * len(point)
    found = found[np.argsort(found[:, 0])]
    within = economy.tolerance(drawing, 0)
    between = np.linspace(0.01, 19.99, 3000)
    for axis in (1, 2):
        away = np.interp(between, found[:, 0], found[:, axis]) - np.interp(between, turn, point[:, axis])
        assert np.abs(away).max() <= 1.5 * within + 2e-4


def test_a_drawing_that_is_too_large_becomes_coarser_until_it_fits():
    drawing = everything(30)
    tubes = next(e for e in drawing.elements if type(e).__name__ == "Tubes")
    rng = np.random.default_rng(1)
    n, m = 2000, 60
    point = np.cumsum(rng.normal(size=(n, m, 3)), axis=1).reshape(-1, 3).astype(np.float32)
    many = replace(
        tubes,
        point=point,
        radius=np.full((n * m, 2), 0.05, np.float32),
        first=np.arange(n + 1) * m,
        color=np.zeros(n, np.int32),
        id=np.arange(n),
        end_color=np.empty(0, np.int32),
        time=np.empty(0, np.float32),
    )
    drawing = replace(drawing, elements=(*drawing.elements, many))
    look = named("paper"), Light.of(drawing.camera)
    assert economy.coarseness(everything(30), *look) == 0
    assert economy.coarseness(drawing, *look) > 0
    drawn = in_window(build(drawing, frame=SMALL), TEXTS)
    assert drawn.total <= 400_000


def test_what_is_counted_beforehand_is_what_is_drawn():
    drawing = everything(200)
    built = build(drawing, frame=SMALL)
    drawn = in_window(built)
    within = economy.tolerance(drawing, 0)
    for element, shown in elements(built):
        counted = economy.triangles(element.element, built.style, Light.of(drawing.camera), 0, within)
        assert counted >= drawn.triangles.get(shown.name, 0)
        if element.word != "Wedges":
            assert counted == drawn.triangles.get(shown.name, 0), element.word


@pytest.mark.parametrize("coarse", [0, 4])
def test_an_image_of_fewer_pixels_has_their_means(coarse):
    image = picture(900, 700)
    fewer = images._economical(image, coarse)
    rows, columns = fewer.pixel.shape[:2]
    assert rows * columns < 900 * 700 / 2
    assert (fewer.point[0, 0] == image.point[0, 0]).all()
    assert (fewer.point[-1, -1] == image.point[-1, -1]).all()
    covered = image.pixel[..., 3] > 0
    assert abs((fewer.pixel[..., 3] > 0).mean() - covered.mean()) < 0.02
    wanted = image.pixel[covered][:, :3].astype(float).mean(axis=0)
    got = fewer.pixel[fewer.pixel[..., 3] > 128][:, :3].astype(float).mean(axis=0)
    assert np.abs(got - wanted).max() < 3
    assert images._economical(picture(), 0).pixel.shape == picture().pixel.shape


def test_shapes_have_the_triangles_that_they_count():
    assert [plain_box((0.0, 0.0, 0.0), 1, ribs).triangles() for ribs in (0, 1, 3)] == [12, 12, 20]
    for name in ("sphere", "diamond", "cone", "pin", "disc", "shell"):
        counts = [mark_shape(name, "z", coarse).triangles() for coarse in range(4)]
        assert counts == sorted(counts, reverse=True)
    assert mark_shape("sphere").triangles() == 528
