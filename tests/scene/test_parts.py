"""Rebuilding: the same as building anew, and nothing is touched that has not changed."""

from dataclasses import replace

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from tests.support.drawings import everything  # noqa: E402
from tracevis3d.drawing.frame import Frame  # noqa: E402
from tracevis3d.scene import compat  # noqa: E402
from tracevis3d.scene.build import build  # noqa: E402
from tracevis3d.scene.digest import digest  # noqa: E402
from tracevis3d.scene.geometry import forms  # noqa: E402
from tracevis3d.scene.parts import PART  # noqa: E402

pytestmark = pytest.mark.blender
FRAME = Frame(320, 180)


@pytest.fixture(autouse=True)
def empty_file():
    bpy.ops.wm.read_factory_settings(use_empty=True)


def values(attribute):
    """Return what an attribute of a mesh holds, flat."""
    name, width, dtype = {
        "FLOAT": ("value", 1, np.float32),
        "INT": ("value", 1, np.int32),
        "BOOLEAN": ("value", 1, np.bool_),
        "FLOAT_VECTOR": ("vector", 3, np.float32),
        "FLOAT_COLOR": ("color", 4, np.float32),
        "INT32_2D": ("value", 2, np.int32),
    }[attribute.data_type]
    found = np.empty(len(attribute.data) * width, dtype)
    attribute.data.foreach_get(name, found)
    return found


def content(mesh):
    """Return everything that makes a mesh."""
    polygons = np.empty(len(mesh.polygons), np.int32)
    mesh.polygons.foreach_get("loop_start", polygons)
    kept = {a.name: values(a).tobytes() for a in mesh.attributes if a.name != "material_index"}
    names = tuple(m.name for m in mesh.materials)
    return len(mesh.vertices), polygons.tobytes(), tuple(sorted(kept.items())), names


def state(collection):
    """Return everything that a build has put into a collection, by part."""
    found = {}
    for shown in collection.objects:
        of_part = [shown.type, np.round(np.array(shown.matrix_world), 6).tobytes()]
        if shown.type == "MESH":
            of_part.append(content(shown.data))
        if shown.type == "CAMERA":
            of_part += [shown.data.lens, shown.data.shift_x, shown.data.clip_end]
        of_part += [content(held.data) for held in forms.held_by(shown)]
        for modifier in shown.modifiers:
            if compat.has_input(modifier, "Template"):
                of_part.append(compat.get_input(modifier, "Material").name)
                of_part.append(bool(compat.get_input(modifier, "Timed")))
        of_part.append(shown.parent.type if shown.parent else None)
        found[shown.get(PART, shown.type)] = of_part
    return found


def changed(drawing, how):
    """Return the drawing with one thing changed."""
    boxes = drawing.elements[0]
    others = drawing.elements[1:]
    rng = np.random.default_rng(3)
    if how == "color":
        return replace(drawing, elements=(replace(boxes, color=boxes.color[::-1].copy()), *others))
    if how == "palette":
        return replace(drawing, palette=drawing.palette[::-1].copy())
    if how == "size":
        return replace(drawing, elements=(replace(boxes, size=boxes.size * np.float32(1.5)), *others))
    if how == "fewer":
        keep = rng.random(len(boxes)) < 0.5
        columns = {n: getattr(boxes, n)[keep] for n in ("low", "size", "color", "id", "time")}
        return replace(drawing, elements=(replace(boxes, **columns), *others))
    if how == "untimed":
        none = np.empty((0, 2), np.float32)
        return replace(drawing, elements=(replace(boxes, time=none, id=boxes.id - 2**40), *others))
    if how == "an element less":
        return replace(drawing, elements=drawing.elements[:2] + drawing.elements[5:])
    if how == "title":
        return replace(drawing, title="another", notes=(), legends=())
    if how == "no labels":
        return replace(drawing, labels=())
    return drawing


CHANGES = ("color", "palette", "size", "fewer", "untimed", "an element less", "title", "no labels", "nothing")


@pytest.mark.parametrize("how", CHANGES)
def test_a_rebuilt_scene_is_the_one_that_is_built_anew(how):
    before = everything(120)
    after = changed(before, how)
    built = build(before, frame=FRAME)
    again = build(after, frame=FRAME, collection=built.collection)
    rebuilt = state(again.collection)
    fresh = build(after, frame=FRAME, scene=bpy.data.scenes.new("other"))
    anew = state(fresh.collection)
    assert rebuilt.keys() == anew.keys()
    for part, found in rebuilt.items():
        assert found == anew[part], part
    # And back again, also in another style.
    for drawing, style in ((before, "stage"), (before, "paper")):
        again = build(drawing, frame=FRAME, style=style, collection=again.collection)
        fresh = build(drawing, frame=FRAME, style=style, collection=None, scene=bpy.data.scenes.new("more"))
        rebuilt, anew = state(again.collection), state(fresh.collection)
        assert rebuilt.keys() == anew.keys()
        for part, found in rebuilt.items():
            assert found == anew[part], (style, part)


def test_what_has_not_changed_is_not_touched():
    drawing = everything(120)
    built = build(drawing, frame=FRAME)
    bpy.context.view_layer.update()
    objects = {o[PART]: o.session_uid for o in built.collection.objects if PART in o}
    names = {o[PART]: o.name for o in built.collection.objects if PART in o}
    meshes = {o[PART]: o.data.session_uid for o in built.collection.objects if o.type == "MESH"}
    updated = []

    def watch(_scene, graph):
        updated.extend(u.id.name for u in graph.updates if isinstance(u.id, bpy.types.Mesh))

    bpy.app.handlers.depsgraph_update_post.append(watch)
    try:
        built = build(drawing, frame=FRAME, collection=built.collection)
        bpy.context.view_layer.update()
        assert not updated
        assert {o[PART]: o.session_uid for o in built.collection.objects if PART in o} == objects
        built = build(changed(drawing, "size"), frame=FRAME, collection=built.collection)
        bpy.context.view_layer.update()
        assert any("call" in name for name in updated)
        assert not any(word in name for name in updated for word in ("cluster", "match", "axis", "event"))
    finally:
        bpy.app.handlers.depsgraph_update_post.remove(watch)
    assert {o[PART]: o.session_uid for o in built.collection.objects if PART in o} == objects
    assert {o[PART]: o.name for o in built.collection.objects if PART in o} == names
    assert {o[PART]: o.data.session_uid for o in built.collection.objects if o.type == "MESH"} == meshes


def test_undo_takes_rewritten_parts_back():
    drawing = everything(120)
    built = build(drawing, frame=FRAME)
    name = built.collection.name
    bpy.context.view_layer.update()
    before = state(built.collection)
    bpy.ops.ed.undo_push(message="built")
    for how in ("size", "fewer", "color"):
        build(changed(drawing, how), frame=FRAME, collection=bpy.data.collections[name])
        bpy.ops.ed.undo_push(message=how)
        after = state(bpy.data.collections[name])
        assert after != before
        bpy.ops.ed.undo()
        assert state(bpy.data.collections[name]) == before
        bpy.ops.ed.redo()
        assert state(bpy.data.collections[name]) == after
        bpy.ops.ed.undo()


def test_digests_tell_content_apart():
    array = np.arange(6, dtype=np.int32)
    same = [digest(array, "a", 1.0), digest(array.copy(), "a", 1.0)]
    assert len(set(same)) == 1
    others = [
        digest(array.astype(np.int64), "a", 1.0),
        digest(array.reshape(2, 3), "a", 1.0),
        digest(array, "a", 1),
        digest(array, ("a", 1.0)),
        digest(array, "a1.0"),
        digest([array], "a", 1.0),
    ]
    assert len({*same, *others}) == 1 + len(others)
