"""Files: pictures, films and scenes; complete or not there at all."""

import json
import struct
import subprocess
import sys

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from mathutils import Vector  # noqa: E402

from tests.support.drawings import everything, pixels, rows  # noqa: E402
from tests.support.evaluated import in_picture  # noqa: E402
from tracevis3d.drawing.frame import Frame  # noqa: E402
from tracevis3d.drawing.output import Output  # noqa: E402
from tracevis3d.errors import Cancelled, InputError, MissingDependency, UsageError  # noqa: E402
from tracevis3d.scene import build  # noqa: E402
from tracevis3d.scene.color import srgb  # noqa: E402
from tracevis3d.scene.films import film as films  # noqa: E402
from tracevis3d.scene.films.film import film, play  # noqa: E402
from tracevis3d.scene.geometry import forms  # noqa: E402
from tracevis3d.scene.output import engines, render  # noqa: E402
from tracevis3d.scene.output.produce import produce  # noqa: E402

pytestmark = pytest.mark.blender
OPENGL = all(engine.ok for engine in engines.examine())
needs_opengl = pytest.mark.skipif(
    not OPENGL, reason="needs OpenGL without a screen (libegl1, libgl1-mesa-dri)"
)
SMALL = Frame(160, 90, 300.0)


@pytest.fixture(autouse=True)
def empty_file():
    bpy.ops.wm.read_factory_settings(use_empty=True)


@needs_opengl
@pytest.mark.parametrize("suffix", [".png", ".jpg", ".jpeg", ".exr", ".webp"])
def test_stills(tmp_path, suffix):
    out = tmp_path / f"a b{suffix}"
    produced = produce(rows(), out, Output(style="flat", engine="workbench", frame=SMALL))
    assert [p.name for p in tmp_path.iterdir()] == [out.name]
    image = bpy.data.images.load(str(out))
    assert tuple(image.size) == (160, 90)
    assert produced.counts["engine"] == "workbench"
    assert set(produced.stages) == {"build", "render"}


@needs_opengl
def test_png_and_jpeg_know_their_density(tmp_path):
    for name in ("a.png", "a.jpg"):
        produce(rows(), tmp_path / name, Output(style="flat", frame=SMALL))
    data = (tmp_path / "a.png").read_bytes()
    at = data.index(b"pHYs")
    assert data.count(b"pHYs") == 1
    assert struct.unpack(">IIB", data[at + 4 : at + 13]) == (11811, 11811, 1)
    assert struct.unpack(">BHH", (tmp_path / "a.jpg").read_bytes()[13:18]) == (1, 300, 300)


@needs_opengl
@pytest.mark.parametrize("engine", [pytest.param("workbench", marks=needs_opengl), "cycles"])
def test_a_draft_is_the_same_picture_with_fewer_triangles(engine, tmp_path):
    frame = Frame(640, 360)
    both = []
    for name, draft in (("full", False), ("draft", True)):
        out = tmp_path / f"{name}.png"
        output = Output(style="flat", engine=engine, frame=frame, draft=draft)
        assert produce(everything(100), out, output).counts["engine"] == engine
        both.append(pixels(out))
    full, draft = both
    assert (np.abs(full - draft).max(axis=2) > 0).any(), "the draft is no other picture"
    # Of 9 x 9 pixels the mean is the same nearly everywhere: edges are rougher, gaps stand for dark rims.
    blocks = [image[:, :639].reshape(40, 9, 71, 9, 3).mean(axis=(1, 3)) for image in both]
    assert (np.abs(blocks[0] - blocks[1]).max(axis=2) < 24).mean() > 0.9


@needs_opengl
def test_drafts_and_films_are_built_in_the_economical_form_alone():
    purposes = ("still", "film", "draft")
    built = {p: build.build(everything(100), frame=SMALL, purpose=p) for p in purposes}
    for purpose in purposes:
        render.prepare(built[purpose], "workbench", 0, False, purpose)
    count = {
        purpose: next(
            len(o.data.polygons) for o in b.collection.objects if o.get("tracevis3d_kind") == "link"
        )
        for purpose, b in built.items()
    }
    assert count["film"] == count["draft"] < 0.6 * count["still"]
    texts = ("title", "labels", "axis texts")
    pictures = {}
    for purpose, one in built.items():
        for other in built.values():
            for shown in other.collection.objects:
                shown.hide_render = other is not one
        pictures[purpose] = in_picture(one, texts).total
    assert pictures["draft"] <= pictures["film"] < pictures["still"] / 2


def test_scene_files_are_no_drafts(tmp_path):
    with pytest.raises(UsageError, match="--draft"):
        produce(rows(), tmp_path / "a.glb", Output(draft=True))


def test_transparent_pictures_have_no_background(tmp_path):
    produce(
        rows(), tmp_path / "t.png", Output(style="paper", engine="workbench", frame=SMALL, transparent=True)
    )
    image = bpy.data.images.load(str(tmp_path / "t.png"))
    alpha = np.array(image.pixels[:]).reshape(90, 160, 4)[..., 3]
    assert alpha[0, 0] == 0
    assert alpha.max() > 0.98


def test_cycles_needs_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(engines, "_opengl_trouble", lambda: "libEGL is not installed")
    with pytest.raises(MissingDependency, match="apt-get install libegl1 libgl1-mesa-dri"):
        produce(rows(), tmp_path / "a.png", Output(style="flat", engine="workbench", frame=SMALL))
    produced = produce(rows(), tmp_path / "a.png", Output(style="flat", frame=SMALL, samples=1))
    assert produced.counts["engine"] == "cycles"


def test_what_cannot_be_written_is_reported(tmp_path):
    for path, kind, words in (
        (tmp_path / "a.tiff", UsageError, "suffix"),
        (tmp_path / "none" / "a.png", InputError, "no folder"),
        (tmp_path, UsageError, "suffix"),
    ):
        with pytest.raises(kind, match=words):
            produce(rows(), path, Output(frame=SMALL))
    built = build.build(rows(), style="flat", frame=SMALL)
    for path, kind in (
        (tmp_path / "a.tiff", UsageError),
        (tmp_path / "none" / "a.png", InputError),
    ):
        with pytest.raises(kind):
            render.still(built, path, engine="cycles", samples=1)
    with pytest.raises(UsageError, match="no engine"):
        render.still(built, tmp_path / "a.png", engine="povray")
    assert not list(tmp_path.iterdir())


@needs_opengl
def test_a_stopped_render_leaves_no_file(tmp_path):
    out = tmp_path / "a.png"
    out.write_bytes(b"before")

    def stop(done, what):
        if "rendered" in what:
            raise Cancelled("stopped")

    with pytest.raises(Cancelled):
        produce(rows(), out, Output(style="flat", engine="workbench", frame=SMALL), progress=stop)
    assert out.read_bytes() == b"before"
    assert [p.name for p in tmp_path.iterdir()] == ["a.png"]


@needs_opengl
def test_blender_keeps_quiet_and_python_does_not(tmp_path, capfd):
    built = build.build(rows(), style="flat", frame=SMALL)
    render.still(
        built, tmp_path / "a.png", engine="workbench", progress=lambda done, what: print(f"<{what}>")
    )
    printed = capfd.readouterr()
    assert "rendered" in printed.out
    assert "Saved" not in printed.out
    assert "EGL" not in printed.err


def test_producing_leaves_the_users_file_alone(tmp_path):
    mine = bpy.data.objects.new("mine", None)
    bpy.context.scene.collection.objects.link(mine)
    scenes = [s.name for s in bpy.data.scenes]
    produce(rows(), tmp_path / "a.png", Output(style="flat", engine="cycles", samples=1, frame=SMALL))
    assert [s.name for s in bpy.data.scenes] == scenes
    assert [o.name for o in bpy.data.objects] == ["mine"]


@needs_opengl
@pytest.mark.parametrize("suffix", [".mp4", ".mkv"])
def test_films(tmp_path, suffix, monkeypatch):
    inner, seen = films.render_frame, []

    def render_frame(built, path, progress):
        inner(built, path, progress)
        seen.append((built.scene.frame_current, pixels(path).tobytes()))

    monkeypatch.setattr(films, "render_frame", render_frame)
    out = tmp_path / f"film{suffix}"
    produced = produce(everything(60), out, Output(frame=Frame(97, 61), seconds=0.5, fps=12))
    assert produced.counts["frames"] == 6
    # Time runs, and the camera moves.
    assert [frame for frame, _ in seen] == [1, 2, 3, 4, 5, 6]
    assert len({picture for _, picture in seen}) == 6
    assert [p.name for p in tmp_path.iterdir()] == [out.name]
    clip = bpy.data.movieclips.load(str(out))
    assert tuple(clip.size) == (98, 62)  # H.264 takes even sides
    assert clip.frame_duration == 6


@needs_opengl
def test_a_saved_blend_plays_without_us(tmp_path):
    """Reopened in a Blender that knows nothing of us, the first frame is emptier than the last."""
    out = tmp_path / "scene.blend"
    produce(rows(), out, Output(style="flat", frame=SMALL, seconds=1, fps=10))
    bpy.ops.wm.open_mainfile(filepath=str(out))
    scene = bpy.context.scene
    assert scene.camera is not None
    assert not bpy.data.objects.get("Cube")
    assert (scene.frame_start, scene.frame_end, scene.frame_current) == (1, 10, 10)
    scene.render.engine = "BLENDER_WORKBENCH"
    scene.render.image_settings.file_format = "PNG"
    scene.render.filepath = str(tmp_path / "again.png")
    bpy.ops.render.render(write_still=True)
    picture = pixels(tmp_path / "again.png")
    wanted = rows().palette[:, :3] * 255
    near = np.abs(picture.reshape(-1, 1, 3) - wanted).max(axis=2) <= 2
    assert (near.sum(axis=0) > 20).all()


def test_time_runs_in_the_nodes():
    built = build.build(everything(100), frame=SMALL)
    frames = play(built, 2.0, 10)
    assert frames == 20
    shown = next(o for o in built.collection.objects if o.get("tracevis3d_kind") == "call")
    forms.show([shown], forms.Form.FULL)

    def visible(frame: int) -> int:
        built.scene.frame_set(frame)
        graph = bpy.context.evaluated_depsgraph_get()
        return sum(1 for i in graph.object_instances if i.is_instance and i.parent.original is shown)

    counts = [visible(f) for f in (1, 6, 11, 20)]
    assert counts == sorted(counts)
    assert counts[0] < counts[-1] == 100


def glb_json(path):
    data = path.read_bytes()
    assert data[:4] == b"glTF"
    assert struct.unpack("<I", data[8:12])[0] == len(data)
    length = struct.unpack("<I", data[12:16])[0]
    return json.loads(data[20 : 20 + length])


#: Runs alone: Blender's glTF add-on and Numba in one process keep it from ending.
IMPORT = """
import json, sys
import bpy
import numpy as np
bpy.ops.wm.read_factory_settings(use_empty=True)
path = sys.argv[1]
(bpy.ops.import_scene.gltf if path.endswith(".glb") else bpy.ops.wm.usd_import)(filepath=path)
bpy.context.view_layer.update()
found = {}
for one in bpy.context.evaluated_depsgraph_get().object_instances:
    shown = one.object
    if shown.type != "MESH" or not len(shown.data.vertices) or not len(shown.data.color_attributes):
        continue
    if shown.hide_render or not one.show_self:
        continue
    attribute = shown.data.color_attributes[0]
    color = np.empty(4 * len(attribute.data), np.float32)
    attribute.data.foreach_get("color", color)
    corner = np.array([one.matrix_world @ v.co for v in shown.data.vertices])
    name = (one.parent if one.is_instance else shown).name
    its = found.setdefault(name.replace("_", " ").split(".")[0], {"colors": [], "low": [], "high": []})
    its["colors"] += np.unique(color.reshape(-1, 4)[:, :3], axis=0).tolist()
    its["low"].append(corner.min(axis=0).tolist())
    its["high"].append(corner.max(axis=0).tolist())
print("FOUND" + json.dumps(found))
"""


def imported(path):
    done = subprocess.run(
        [sys.executable, "-c", IMPORT, str(path)], capture_output=True, text=True, timeout=120, check=True
    )
    return json.loads(next(line for line in done.stdout.splitlines() if line.startswith("FOUND"))[5:])


@pytest.mark.parametrize("suffix", [".glb", ".usdc"])
def test_exported_instances_arrive_with_their_colors(tmp_path, suffix):
    out = tmp_path / f"scene{suffix}"
    drawing = rows()
    produce(drawing, out, Output(style="flat", frame=Frame(480, 270)))
    assert [p.name for p in tmp_path.iterdir()] == [out.name]
    if suffix == ".glb":
        content = glb_json(out)
        assert content["asset"]["version"] == "2.0"
        mesh = next(m for m in content["meshes"] if "call" in m["name"])
        assert "COLOR_0" in mesh["primitives"][0]["attributes"]
        assert content["cameras"]
        for accessor in content["accessors"]:
            view = content["bufferViews"][accessor["bufferView"]]
            assert view["byteOffset"] + view["byteLength"] <= content["buffers"][0]["byteLength"]
    found = imported(out)
    for part in ("call", "title", "legend"):
        assert any(part in name for name in found), found.keys()
    calls = [value for name, value in found.items() if "call" in name]
    colors = srgb(np.array([color for its in calls for color in its["colors"]])) * 255
    for color in drawing.palette[:, :3] * 255:
        assert np.abs(colors - color).max(axis=1).min() <= 2
    low, high = (np.array([place for its in calls for place in its[end]]) for end in ("low", "high"))
    # Instances are there each by itself.
    assert len(low) == sum(len(element) for element in drawing.elements if element.kind == "call")
    assert np.allclose(low.min(axis=0), [0, -1, 0], atol=1e-3)
    assert np.allclose(high.max(axis=0), [11.9, 0, 2], atol=1e-3)


def test_engines_are_named():
    assert [e.name for e in engines.examine()] == ["workbench", "eevee", "cycles"]
    assert all(e.ok or e.remedy for e in engines.examine())
    with pytest.raises(UsageError):
        film(build.build(rows(), style="flat", frame=SMALL), "a.gif")


def test_other_programs_frame_the_data_and_read_what_it_is(tmp_path):
    out = tmp_path / "a.glb"
    produce(rows(), out, Output(style="stage", frame=SMALL))
    content = glb_json(out)
    kinds = {
        node["extras"]["tracevis3d_kind"]: node["extras"]
        for node in content["nodes"]
        if "tracevis3d_kind" in node.get("extras", {})
    }
    assert {element.kind: len(element) for element in rows().elements} == {
        kind: said["tracevis3d_elements"] for kind, said in kinds.items() if said["tracevis3d_elements"]
    }
    assert content["scenes"][0]["extras"]["title"] == rows().title
    # All texts are near the data: what is there is not much larger than the data.
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.import_scene.gltf(filepath=str(out))
    points = np.array(
        [
            shown.matrix_world @ Vector(c)
            for shown in bpy.data.objects
            if shown.type == "MESH"
            for c in shown.bound_box
        ]
    )
    low, high = np.array(rows().camera.low), np.array(rows().camera.high)
    assert (np.ptp(points, axis=0) < 1.6 * np.linalg.norm(high - low)).all()
