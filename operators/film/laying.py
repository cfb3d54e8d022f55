"""A film's shots as what Blender has itself: markers, a camera with keyframes, objects for captions."""

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any

import bpy
from mathutils import Quaternion, Vector

from ...tracevis3d.drawing.projection import SENSOR_MM
from ...tracevis3d.scene import camera, compat, styles
from ...tracevis3d.scene.window import viewpoints
from ...tracevis3d.stories.timeline import CameraPose, Span, Stop, Take, spans, stops
from ..state import settings
from ..views import arrange

_NAME = "TraceVis3D film"
#: Objects that the film hides have this property.
_HIDES = "tracevis3d_film_hides"
_HIDDEN = ("hide_render", "hide_viewport")
#: Where the camera begins to see: a share of the distance, and how many widths before the focus.
_NEAR, _WIDTHS = 0.01, 50.0
#: Where a caption is, from where the camera begins to see.
_CAPTION = 1.05
#: How far the camera sees, from the farthest corner of all views.
_FAR = 10.0
#: A camera that stands so exactly where another does shows the same.
_SAME = 1e-3


def fps_of(scene: bpy.types.Scene) -> float:
    """Return the frames a second of a scene."""
    return scene.render.fps / scene.render.fps_base


def lay(scene: bpy.types.Scene, film: Any, takes: Sequence[Take]) -> None:
    """Lay a film's shots on the timeline; what lay there of it goes."""
    eye = film.camera
    if eye is None or eye.name not in scene.objects:
        _forget(scene, film)
        eye = film.camera = _new_camera(scene)
    first = _first_frame(scene, film)
    _clear(scene, film)
    laid = spans(takes, fps_of(scene), first)
    keep = settings.frame_of(scene)
    _move(scene, eye, stops(takes, laid))
    for i, (shot, take, span) in enumerate(zip(film.shots, takes, laid)):
        shot.laid, shot.marked, shot.place.frame = (span.begin, span.arrive, span.end), shot.name, span.arrive
        marker = scene.timeline_markers.new(shot.name, frame=span.begin)
        marker.camera = eye
        # What Blender makes of a name, which is cut off where it is long.
        shot.marked = marker.name
        if shot.caption.strip():
            _write(scene, eye, shot.caption, take.pose, span, keep, f"{_NAME} caption {i + 1}")
    _hide_pages(scene, film, takes, laid)
    scene.frame_start, scene.frame_end = first, laid[-1].end
    scene.camera = eye
    now = scene.frame_current
    scene.frame_set(now if first <= now <= laid[-1].end else first)


def remove(scene: bpy.types.Scene, film: Any) -> None:
    """Leave nothing of a film; the scene has its own frames and its view's camera again."""
    if film.camera is None:
        return
    _clear(scene, film)
    _forget(scene, film)
    scene.frame_start, scene.frame_end = film.before
    view = settings.active_in(scene)
    scene.camera = arrange.camera_of(view) if view is not None else None
    scene.frame_set(scene.frame_start)


def _forget(scene: bpy.types.Scene, film: Any) -> None:
    """Remove the film's camera and its collection."""
    eye = film.camera
    film.camera = None
    if eye is not None:
        for place in [
            c for c in scene.collection.children if c.name.startswith(_NAME) and eye.name in c.objects
        ]:
            bpy.data.collections.remove(place)
        for marker in [m for m in scene.timeline_markers if m.camera == eye]:
            scene.timeline_markers.remove(marker)
        _stop_moving(eye)
        _discard(eye)


def _new_camera(scene: bpy.types.Scene) -> bpy.types.Object:
    place = bpy.data.collections.new(_NAME)
    scene.collection.children.link(place)
    eye = bpy.data.objects.new(f"{_NAME} camera", bpy.data.cameras.new(f"{_NAME} camera"))
    eye.rotation_mode = "QUATERNION"
    eye.data.sensor_fit, eye.data.sensor_width = "HORIZONTAL", SENSOR_MM
    place.objects.link(eye)
    return eye


def _first_frame(scene: bpy.types.Scene, film: Any) -> int:
    """Return where the film begins: after all that the timeline shows without it."""
    others = [m.frame for m in scene.timeline_markers if m.camera is not None and m.camera != film.camera]
    first = film.before[1] + 1
    has_been_laid = any(m.camera == film.camera for m in scene.timeline_markers)
    # A view that was drawn again, or its viewpoints, have set the scene's frames.
    if not has_been_laid or scene.frame_end < first or max(others, default=first - 1) >= first:
        film.before = scene.frame_start, scene.frame_end
    return film.before[1] + 1


def _clear(scene: bpy.types.Scene, film: Any) -> None:
    """Remove all of the film but its camera."""
    eye = film.camera
    for marker in [m for m in scene.timeline_markers if m.camera == eye]:
        scene.timeline_markers.remove(marker)
    for shown in list(eye.children):
        _discard(shown)
    _stop_moving(eye)
    for view in settings.all_in(scene):
        for shown in [shown for shown in view.objects if _HIDES in shown]:
            _show_again(shown)


def _discard(shown: bpy.types.Object) -> None:
    data: Any = shown.data
    _stop_moving(shown)
    bpy.data.objects.remove(shown)
    if data is not None and data.users == 0:
        bpy.data.batch_remove([data])


def _stop_moving(shown: bpy.types.Object) -> None:
    for block in (shown, shown.data):
        kept = getattr(block, "animation_data", None)
        action = kept.action if kept is not None else None
        block.animation_data_clear()
        if action is not None and action.users == 0:
            bpy.data.actions.remove(action)


def _move(scene: bpy.types.Scene, eye: Any, made: Sequence[Stop]) -> None:
    """Give the camera its keyframes."""
    corners = _corners(scene)
    before: Quaternion | None = None
    for stop in made:
        pose = stop.pose
        turn = Quaternion(pose.rotation)
        if before is not None:
            # The same turn, by the shorter way from the one before.
            turn.make_compatible(before)
        before = turn
        far = max((math.dist(corner, pose.eye) for corner in corners), default=0.0)
        eye.location, eye.rotation_quaternion = pose.eye, turn
        eye.data.lens = SENSOR_MM / 2 / pose.tangent
        eye.data.shift_x, eye.data.shift_y = pose.shift
        eye.data.clip_start, eye.data.clip_end = _near(pose), _FAR * max(far, pose.distance)
        kind = "BREAKDOWN" if stop.passing else "KEYFRAME"
        for block, names in (
            (eye, ("location", "rotation_quaternion")),
            (eye.data, ("lens", "shift_x", "shift_y", "clip_start", "clip_end")),
        ):
            for name in names:
                block.keyframe_insert(name, frame=stop.frame, keytype=kind)
    cuts = {stop.frame for stop in made if stop.cut}
    for curve in (*compat.curves(eye), *compat.curves(eye.data)):
        for key in curve.keyframe_points:
            key.interpolation = "CONSTANT" if round(key.co[0]) in cuts else "BEZIER"
            # Level where the camera stands still, so that it sets off and arrives gently.
            key.handle_left_type = key.handle_right_type = "AUTO_CLAMPED"
        curve.update()


def _near(pose: CameraPose) -> float:
    """Return where the camera begins to see: near enough for all, far enough for depths to be told apart."""
    return max(_NEAR * pose.distance, pose.distance - _WIDTHS * pose.width)


def _corners(scene: bpy.types.Scene) -> list[tuple[float, ...]]:
    boxes = (arrange.box(view) for view in settings.all_in(scene))
    return [tuple(map(float, corner)) for low, high in boxes for corner in itertools.product(*zip(low, high))]


def _write(
    scene: bpy.types.Scene, eye: Any, words: str, pose: CameraPose, span: Span, frame: Any, name: str
) -> None:
    """Write a caption, which is seen while the camera stands still."""
    view = settings.active_in(scene)
    style = styles.named(settings.of(view).style if view is not None else "paper")
    depth = _CAPTION * _near(pose)
    pane = camera.Pane.before(depth, pose.tangent, pose.shift, frame)
    for _, shown in viewpoints.caption(words, frame, style, pane, name, foot=True):
        eye.users_collection[0].objects.link(shown)
        shown.parent = eye
        _hide(shown, True, span.begin - 1)
        _hide(shown, False, span.arrive)
        _hide(shown, True, span.end + 1)


def _hide(shown: Any, hidden: bool, frame: int) -> None:
    for name in _HIDDEN:
        setattr(shown, name, hidden)
        shown.keyframe_insert(name, frame=frame)


def _hide_pages(scene: bpy.types.Scene, film: Any, takes: Sequence[Take], laid: Sequence[Span]) -> None:
    """Hide title and legends, which stand before the camera of their view, where the film's is elsewhere."""
    first, last = laid[0].begin, laid[-1].end
    for view in settings.all_in(scene):
        own = arrange.camera_of(view)
        seen = [span for take, span in zip(takes, laid) if own is not None and _is_at(own, take.pose, scene)]
        for shown in _page_of(view):
            if not compat.curves(shown):
                _hide(shown, False, first - 1)
            _hide(shown, True, first)
            for span in seen if shown.parent == own else ():
                _hide(shown, False, span.arrive)
                if span.end < last:
                    _hide(shown, True, span.end + 1)
            shown[_HIDES] = first


def _page_of(view: bpy.types.Collection) -> Iterator[bpy.types.Object]:
    """Yield what stands before a camera of a view."""
    for shown in view.objects:
        if shown.parent is not None and shown.parent.type == "CAMERA" and shown.library is None:
            yield shown


def _is_at(own: bpy.types.Object, pose: CameraPose, scene: bpy.types.Scene) -> bool:
    """Return whether a shot shows what the camera of a view shows."""
    tangent, shift = lens_of(own.data, scene)
    if not tangent:
        return False
    turn = own.matrix_world.to_quaternion()
    near = (own.matrix_world.translation - Vector(pose.eye)).length < _SAME * pose.distance
    turned = turn.rotation_difference(Quaternion(pose.rotation)).angle
    other = math.dist((tangent, *shift), (pose.tangent, *pose.shift))
    return bool(near and turned < _SAME and other < _SAME)


def lens_of(data: Any, scene: bpy.types.Scene) -> tuple[float, tuple[float, float]]:
    """Return half a picture's width at distance 1, 0 without perspective, and the lens's shift."""
    right, bottom, left, top, depth = _frame(data, scene)
    shift = ((left + right) / 2 / (right - left), (bottom + top) / 2 / (right - left))
    return ((right - left) / 2 / depth if data.type == "PERSP" else 0.0), shift


def width_of(data: Any, scene: bpy.types.Scene) -> float:
    """Return how much of the scene the picture of a camera without perspective shows."""
    right, _, left, _, _ = _frame(data, scene)
    return right - left


def _frame(data: Any, scene: bpy.types.Scene) -> tuple[float, float, float, float, float]:
    corners = data.view_frame(scene=scene)
    xs, ys = ([corner[k] for corner in corners] for k in (0, 1))
    return max(xs), min(ys), min(xs), max(ys), -corners[0][2]


def _show_again(shown: bpy.types.Object) -> None:
    first = shown.pop(_HIDES)
    curves = [curve for curve in compat.curves(shown) if curve.data_path in _HIDDEN]
    frames = {round(key.co[0]) for curve in curves for key in curve.keyframe_points}
    others = {frame for frame in frames if frame < first - 1}
    if not others:
        # The film alone has animated it.
        _stop_moving(shown)
        shown.hide_render = shown.hide_viewport = False
        return
    for frame in frames - others:
        for name in _HIDDEN:
            shown.keyframe_delete(name, frame=frame)
