"""A film on the timeline, from bookmarks to its end, undone after each step: ``film.py TRACE FOLDER``."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
import bpy
import numpy as np
import support

trace, folder = support.arguments()
folder = Path(folder)
folder.mkdir(parents=True, exist_ok=True)
support.enable()
bpy.ops.wm.read_homefile(use_empty=False, app_template="")
operators = bpy.ops.tracevis3d
compat = support.extension(".tracevis3d.scene.compat")


def film():
    return bpy.context.scene.tracevis3d_film


def facts():
    """Return what there is of a film: shots, markers, frames, keyframes, captions."""
    scene = bpy.context.scene
    eye = film().camera
    keys = [
        (
            curve.data_path,
            curve.array_index,
            [tuple(round(x, 4) for x in key.co) for key in curve.keyframe_points],
        )
        for block in ((eye, eye.data) if eye else ())
        for curve in compat.curves(block)
    ]
    return (
        [
            (shot.name, round(shot.seconds, 3), shot.caption, shot.flies, tuple(shot.laid))
            for shot in film().shots
        ],
        sorted((marker.frame, marker.name) for marker in scene.timeline_markers),
        (scene.frame_start, scene.frame_end),
        sorted(keys),
        len(eye.children) if eye else 0,
        scene.camera.name if scene.camera else "",
    )


def step(do, what):
    """Do something, undo and redo it; return the facts then."""
    before = facts()
    result = do()
    assert result == {"FINISHED"}, (what, result)
    after = facts()
    assert after != before, what
    bpy.ops.ed.undo_push(message=what)
    bpy.ops.ed.undo()
    assert facts() == before, what
    bpy.ops.ed.redo()
    assert facts() == after, what
    return after


def add(name, place, **words):
    """Add a shot from where the scene's camera is put."""
    scene = bpy.context.scene
    eye = next(o for o in support.only_view().objects if o.type == "CAMERA")
    scene.camera = eye
    eye.location = place
    bpy.context.view_layer.update()
    return operators.film_add(name=name, **words)


def marks():
    scene = bpy.context.scene
    return [(m.name, m.frame) for m in sorted(scene.timeline_markers, key=lambda m: m.frame)]


def seen_at(frame):
    """Return where the scene's camera is in a frame, and its lens."""
    bpy.context.scene.frame_set(frame)
    eye = bpy.context.scene.camera
    assert eye == film().camera
    return np.array(eye.matrix_world.translation), eye.data.lens


def explaining():
    """Return what stands before the camera of the view."""
    return [o for o in support.only_view().objects if o.parent and o.parent.type == "CAMERA"]


support.fails(operators.film_add, "no view")
assert operators.import_trace(filepath=trace, view="icicle") == {"FINISHED"}
scene = bpy.context.scene
scene.render.fps, scene.render.fps_base = 24, 1.0
for name in ("film_remove", "film_go", "film_play", "film_move", "film_update"):
    support.fails(getattr(operators, name), "add one first")
support.fails(operators.film_collect, "no bookmark")
own = next(o for o in support.only_view().objects if o.type == "CAMERA")
scene.frame_set(scene.frame_end)
# What plays in the view's own time is not to move its camera meanwhile.
pose = own.matrix_world.copy()
own.animation_data_clear()
own.matrix_world = pose
home = np.array(own.location)
frames = scene.frame_start, scene.frame_end
bpy.ops.ed.undo_push(message="imported")
after = frames[1]

step(lambda: add("Whole", home, caption="All of it."), "a first shot")
assert marks() == [("Whole", after + 1)], marks()
near = home * np.array([1.0, 0.6, 1.0]) + np.array([0.5, 0, 0.3])
step(lambda: add("Near", near, caption="A part."), "a shot that flies")
step(lambda: add("Side", home + np.array([2.0, 0, 0]), way="CUT"), "a shot with a cut")
assert marks() == [("Whole", after + 1), ("Near", after + 121), ("Side", after + 241)], marks()
assert (bpy.context.scene.frame_start, bpy.context.scene.frame_end) == (after + 1, after + 360)
place, lens = seen_at(after + 1)
assert np.allclose(place, home, atol=1e-3), (place, home)
assert np.allclose(seen_at(after + 120)[0], home, atol=1e-3)
assert np.allclose(seen_at(after + 121)[0], home, atol=1e-3), "the flight begins where the shot before ended"
arrive = film().shots[1].laid[1]
assert after + 121 < arrive < after + 240
assert np.allclose(seen_at(arrive)[0], near, atol=1e-3)
assert np.allclose(seen_at(after + 240)[0], near, atol=1e-3)
assert np.allclose(seen_at(after + 241)[0], home + np.array([2.0, 0, 0]), atol=1e-3), "a cut"
way = np.array([seen_at(frame)[0] for frame in range(after + 121, arrive + 1)])
steps = np.linalg.norm(np.diff(way, axis=0), axis=1)
assert steps[0] < 0.3 * steps.max(), "it sets off gently"
assert steps[-1] < 0.3 * steps.max(), "it arrives gently"
caption = [shown for shown in film().camera.children if "caption 2" in shown.name]
assert len(caption) == 2, caption
bpy.context.scene.frame_set(arrive - 1)
assert all(shown.hide_render for shown in caption)
bpy.context.scene.frame_set(arrive)
assert not any(shown.hide_render for shown in caption)

film().index = 2
step(lambda: operators.film_move(direction="UP"), "a shot moved up")
assert marks() == [("Whole", after + 1), ("Side", after + 121), ("Near", after + 241)], marks()
assert np.allclose(seen_at(after + 121)[0], home + np.array([2.0, 0, 0]), atol=1e-3)


def longer():
    film().shots[0].seconds = 7.0
    return {"FINISHED"}


step(longer, "a longer shot")
assert marks() == [("Whole", after + 1), ("Side", after + 169), ("Near", after + 289)], marks()


def renamed():
    film().shots[1].name = "From the side"
    return {"FINISHED"}


step(renamed, "a renamed shot")
assert marks()[1] == ("From the side", after + 169)
# A person moves a marker on the timeline.
marker = next(m for m in bpy.context.scene.timeline_markers if m.name == "From the side")
marker.frame = after + 145
bpy.ops.ed.undo_push(message="moved")
step(lambda: operators.film_go(), "a moved marker")
assert [round(shot.seconds, 3) for shot in film().shots] == [6.0, 6.0, 5.0], facts()[0]
assert bpy.context.scene.frame_current == film().shots[1].laid[1]
film().index = 2
step(lambda: operators.film_remove(), "a removed shot")
assert [name for name, _ in marks()] == ["Whole", "From the side"]
assert operators.bookmark_add(name="Here") == {"FINISHED"}
bpy.ops.ed.undo_push(message="bookmark")
step(lambda: operators.film_collect(), "shots of bookmarks")
assert marks()[-1][0] == "Here"
assert operators.film_collect() == {"CANCELLED"}, "each once"
# Drawn again, the view has its own frames again, and other objects: the film stays after them.
assert operators.rebuild() == {"FINISHED"}
assert len(marks()) == 3
assert bpy.context.scene.frame_start == marks()[0][1]
bpy.context.scene.frame_set(film().shots[1].laid[1])
assert explaining()
assert all(o.hide_render for o in explaining()), "the title would stand in the air"
saved = folder / "film.blend"
bpy.ops.wm.save_as_mainfile(filepath=str(saved), copy=True)
wanted = {frame: seen_at(frame) for begun in film().shots for frame in begun.laid}
while len(film().shots) > 1:
    step(operators.film_remove, "another removed")
assert operators.film_remove() == {"FINISHED"}
scene = bpy.context.scene
assert film().camera is None
assert not marks()
assert not [one for one in (*bpy.data.collections, *bpy.data.objects) if "film" in one.name]
assert scene.frame_start == frames[0]
assert scene.camera in list(support.only_view().objects)
assert not any(o.hide_render or o.hide_viewport for o in explaining())

# Without the extension all is there: Blender's own markers and keyframes.
bpy.ops.preferences.addon_disable(module=support.NAME)
bpy.ops.wm.open_mainfile(filepath=str(saved))
scene = bpy.context.scene
assert not hasattr(scene, "tracevis3d_film")
assert scene.frame_start == min(wanted)
assert scene.frame_end == max(wanted)
for frame, (place, lens) in wanted.items():
    scene.frame_set(frame)
    eye = scene.camera
    assert np.allclose(eye.matrix_world.translation, place, atol=1e-4), frame
    assert abs(eye.data.lens - lens) < 1e-3
print("filmed", len(wanted))
