"""The detail of a view: objects that replace the picture's own, in the 3D view alone.

As long as they are there, the 3D view hides the picture's own. Pictures and films show those, unless the
detail is requested for them too.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...drawing.frame import Frame
from ...drawing.primitives import Boxes, Camera, Element, Image, Labels, Marks, Wedges
from ...drawing.projection import straight
from ...layout.lettering import set_texts
from .. import page, styles
from ..build import discard, inks_on, opaque
from ..camera import View
from ..geometry import boxes, images, instances, marks, tubes, wedges
from ..geometry.instances import Instances
from ..parts import MADE_FROM, PART, names_part
from ..styles import Light
from ..text import labels, shapes
from ..text.glyphs import typeface
from . import element_metadata

#: On the objects of the detail: its range, in nanoseconds or bytes, and pixels per unit.
_IS_DETAIL = "tracevis3d_nearer"
#: What has been opened, for a detail that is not along x.
_OPENED = "tracevis3d_opened"
#: On objects of a detail whose names are printed.
_NAMED = "tracevis3d_named"
#: On the picture's own objects that the detail replaces.
_STOOD_IN = "tracevis3d_stood_in"


def objects_of(collection: Any, source: int | None = None) -> list[Any]:
    """Return the objects of the detail.

    Parameters
    ----------
    collection : bpy.types.Collection
        Of the view.
    source : int, optional
        One of its traces; left out: all.

    Returns
    -------
    list of bpy.types.Object
    """
    return [
        shown
        for shown in collection.objects
        if _IS_DETAIL in shown and source in (None, shown.get("tracevis3d_source"))
    ]


def shown_detail(collection: Any, source: int) -> tuple[float, float, float] | None:
    """Return what a trace's detail is for.

    Parameters
    ----------
    collection : bpy.types.Collection
        Of the view.
    source : int

    Returns
    -------
    (float, float, float) or None
        From where to where, in nanoseconds or bytes, and pixels per unit; None if there is no detail, or it
        is for what has been opened.
    """
    for shown in objects_of(collection, source):
        words = str(shown[_IS_DETAIL]).split()
        if len(words) == 3:
            return float(words[0]), float(words[1]), float(words[2])
    return None


def opened(collection: Any, source: int) -> NDArray[np.int64]:
    """Return what the detail of a trace has opened.

    Parameters
    ----------
    collection : bpy.types.Collection
        Of the view.
    source : int

    Returns
    -------
    int64 (n,)
        As ``views.detail.Detail`` reports it; empty: nothing.
    """
    for shown in objects_of(collection, source):
        return np.array(str(shown.get(_OPENED, "")).split(), np.int64)
    return np.empty(0, np.int64)


def has_names(collection: Any, source: int) -> bool:
    """Return whether the names of a trace's detail are printed into the scene, if it has one.

    Parameters
    ----------
    collection : bpy.types.Collection
        Of the view.
    source : int

    Returns
    -------
    bool
    """
    return all(_NAMED in shown for shown in objects_of(collection, source))


def picture_of(collection: Any, source: int, kinds: tuple[str, ...]) -> list[Any]:
    """Return the view's own objects of some kinds, and its names of functions, of one of its traces.

    Parameters
    ----------
    collection : bpy.types.Collection
        Of the view.
    source : int
    kinds : tuple of str

    Returns
    -------
    list of bpy.types.Object
    """
    return [
        shown
        for shown in collection.objects
        if _IS_DETAIL not in shown
        and (
            (shown.get("tracevis3d_kind") in kinds and shown.get("tracevis3d_source") == source)
            or shown.get(PART) == names_part(source)
        )
    ]


def replaced_objects(collection: Any, source: int | None = None) -> list[Any]:
    """Return the objects that the detail stands in for.

    Parameters
    ----------
    collection : bpy.types.Collection
        Of the view.
    source : int, optional
        One of its traces; left out: all.

    Returns
    -------
    list of bpy.types.Object
    """
    return [
        shown for shown in collection.objects if _STOOD_IN in shown and source in (None, shown[_STOOD_IN])
    ]


def leave(collection: Any, source: int | None = None) -> bool:
    """Remove the detail, and show the picture's own boxes again.

    Parameters
    ----------
    collection : bpy.types.Collection
        Of the view.
    source : int, optional
        One of its traces; left out: all.

    Returns
    -------
    bool
        Whether there was a detail.
    """
    found = objects_of(collection, source)
    if not found:
        return False
    for shown in replaced_objects(collection, source):
        shown.hide_viewport = shown.hide_render = False
        del shown[_STOOD_IN]
    discard(found)
    page.remove_detail_names(collection, source)
    return True


def enter(
    collection: Any,
    source: int,
    kinds: tuple[str, ...],
    parts: tuple[Element, ...],
    names: tuple[Labels, ...],
    metadata: list[Any],
    palette: NDArray[np.float32],
    style: str,
    camera: Camera,
    view: View | None,
    detail: tuple[float, float, float] | NDArray[np.int64],
    rendered: bool = False,
) -> None:
    """Show ``parts`` and ``names`` of one of the view's traces in place of the picture's own.

    Parameters
    ----------
    collection : bpy.types.Collection
    source : int
        Which of the view's traces.
    kinds : tuple of str
        Kinds of elements that the parts take the place of.
    parts : tuple of elements
    names : tuple of Labels
    metadata : list of ElementMetadata or None
        What the parts represent, for pointing.
    palette : float32 (k, 4)
        sRGB.
    style : str
    camera : Camera
        The picture's, by which light falls.
    view : View or None
        The view direction: names are chosen for it. None: they are not printed.
    detail : (float, float, float) or int64 (k,)
        What it is for: from where to where, in nanoseconds or bytes, and pixels per unit; or what has been
        opened.
    rendered : bool
        Pictures show the detail, too.
    """
    look = styles.named(style)
    colors, light = opaque(palette, look), Light.of(straight(camera) if look.straight else camera)
    before: dict[str, list[Any]] = {}
    for shown in objects_of(collection, source):
        before.setdefault(str(shown.get("tracevis3d_kind", "")), []).append(shown)
    picture = picture_of(collection, source, kinds)
    place = next((shown.matrix_world.copy() for shown in picture), None)
    made: list[Any] = []
    for part, stands in zip(parts, metadata, strict=True):
        if not isinstance(part, (Boxes, Marks)):
            # One mesh of faces: making a new one is as fast as changing it.
            shown = _mesh(part, colors, look, light, f"{collection.name} nearer {part.kind}")
            made.append(shown)
            shown["tracevis3d_kind"] = part.kind
            element_metadata.write(shown, part, stands)
            continue
        wanted: Instances
        if isinstance(part, Boxes):
            wanted = boxes.lay(part, colors, look, light)
        else:
            wanted = marks.lay(part, colors, look, light)
        shown = next(iter(before.get(part.kind, ())), None)
        if shown is not None:
            before[part.kind].remove(shown)
        if shown is None:
            shown = instances.placed(f"{collection.name} nearer {part.kind}", wanted, rendered)
            made.append(shown)
        else:
            instances.rewrite(shown, wanted, shown.get(MADE_FROM) != wanted.key, rendered)
        shown[MADE_FROM] = wanted.key
        shown["tracevis3d_kind"] = part.kind
        element_metadata.write(shown, part, stands)
    discard([shown for others in before.values() for shown in others])
    page.store_detail_names(collection, source, names)
    texts = _names(collection, names, colors, look, view) if view is not None else None
    if texts is not None:
        texts[page.PRINTED] = True
        made.append(texts)
    for shown in made:
        collection.objects.link(shown)
        shown["tracevis3d_source"] = source
        if place is not None:
            shown.matrix_world = place
    for shown in [*objects_of(collection, source), *made]:
        if isinstance(detail, tuple):
            shown[_IS_DETAIL] = " ".join(repr(value) for value in detail)
        else:
            # Numbers of calls may exceed Blender's integers.
            shown[_IS_DETAIL], shown[_OPENED] = "opened", " ".join(map(str, detail.tolist()))
        shown.hide_render = not rendered
        if view is not None:
            shown[_NAMED] = True
        elif _NAMED in shown:
            del shown[_NAMED]
    for shown in picture:
        shown.hide_viewport, shown.hide_render = True, rendered
        shown[_STOOD_IN] = source


def _mesh(part: Any, colors: Any, style: Any, light: Light, name: str) -> Any:
    if isinstance(part, Wedges):
        return wedges.show(part, colors, style, light, name)
    if isinstance(part, Image):
        return images.show(part, style, name)
    return tubes.show(part, colors, style, light, name)


def _names(collection: Any, names: tuple[Labels, ...], colors: Any, style: Any, view: View) -> Any | None:
    face = typeface()
    free = labels.Free(view, (0, 0, view.frame.width, view.frame.height))
    inks = [inks_on(group.background, len(group), colors, style) for group in names]
    texts, _ = labels.choose(names, view, free, face, inks)
    if not len(texts):
        return None
    tint = np.column_stack([np.array(texts.color), np.ones(len(texts))]).astype(np.float32)
    start, right, up, size = (np.array(c) for c in (texts.start, texts.right, texts.up, texts.size))
    setting = set_texts(texts.text, start, right, up, size, face)
    return shapes.texts(f"{collection.name} nearer names", setting, tint, style)


def view_of(region: Any, eye: Any, matrix: Any) -> View:
    """Return how a 3D view looks at an object's coordinates, as the texts of a picture are chosen for.

    Parameters
    ----------
    region : bpy.types.Region
    eye : bpy.types.RegionView3D
    matrix : Matrix
        The object's; it must not turn or stretch.

    Returns
    -------
    View
    """
    window = np.array(eye.window_matrix, np.float64)
    back = np.array((eye.view_matrix @ matrix).inverted(), np.float64)
    right, up, forward = back[:3, 0], back[:3, 1], -back[:3, 2]
    frame = Frame(max(region.width, 16), max(region.height, 16))
    shift = (window[0, 2], window[1, 2]) if eye.is_perspective else (-window[0, 3], -window[1, 3])
    return View(
        eye=back[:3, 3],
        right=right / np.linalg.norm(right),
        up=up / np.linalg.norm(up),
        forward=forward / np.linalg.norm(forward),
        tangent=float(1 / max(window[0, 0], 1e-12)),
        perspective=bool(eye.is_perspective),
        frame=frame,
        centre=(frame.width / 2 * (1 - shift[0]), frame.height / 2 * (1 - shift[1])),
        nearest=0.0,
        farthest=1.0,
    )
