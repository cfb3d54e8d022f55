"""A drawing becomes one collection of Blender objects."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ..drawing.filtered import taken
from ..drawing.frame import Frame
from ..drawing.primitives import Axis, Boxes, Camera, Drawing, Image, Lines, Marks, Tubes, Wedges
from ..drawing.projection import straight
from ..layout.lettering import Typeface, set_texts
from ..progress import Progress, silent
from . import camera, clock, lighting, page, styles
from .color import is_dark, mixed
from .digest import digest
from .geometry import boxes, economy, forms, images, marks, tubes, wedges
from .geometry.forms import Purpose
from .parts import PART, Parts, names_part
from .styles import Light, Style
from .text import axes as rulers_of
from .text import callouts, labels, legend, shapes, type_size
from .text.cover import Cover
from .text.glyphs import typeface

#: Maximum cosine between an axis and the view direction for which the axis is drawn.
_END_ON = 0.98
#: Width of grid lines, in pixels of a picture 1080 high.
GRID = 1.1
#: How often texts are laid out and the camera is moved if the type has a given size.
_FITTINGS = 3
#: Room at the foot of pictures with callouts, as a share of their height.
_FOOT = 0.015
#: Colours without a channel as high as this are nearly black.
_BLACK = 0.2
#: Most rows of a legend in a picture whose camera moves.
_FILM_ROWS = 1
#: From where a picture is seen, and which part of it shows the data, in pixels from the lower left corner.
Framed = tuple[camera.View, camera.Rectangle]
#: What texts lie on that belong to no call.
_PLATES = ("tag", "trace", "wait plate")
#: Inks on coloured surfaces.
_ON_DARK, _ON_LIGHT = (1.0, 1.0, 1.0), (0.01, 0.01, 0.015)


@dataclass(frozen=True, eq=False)
class Printed:
    """What explains the data, where it stands in the picture.

    Attributes
    ----------
    axis_texts, labels : Texts
        Texts in the scene.
    rulers : list of Ruler
    panels : Panels
        Callouts.
    """

    axis_texts: labels.Texts
    labels: labels.Texts
    rulers: list[rulers_of.Ruler]
    panels: callouts.Panels


@dataclass
class Built:
    """What :func:`build` has made.

    Attributes
    ----------
    scene, collection : bpy.types.Scene, bpy.types.Collection
    camera : bpy.types.Object
    view : View
        Where points of the scene fall in the picture.
    style : Style
    frame : Frame
    drawing : Drawing
    surround : Surround
        Where title, legends and notes are in the picture.
    printed : Printed
        The other texts, rulers and callouts.
    counts : dict
        ``labels`` shown, ``labels_left_out``, ``label_overlaps``, ``legend_entries_left_out``.
    """

    scene: Any
    collection: Any
    camera: Any
    view: camera.View
    style: Style
    frame: Frame
    drawing: Drawing
    surround: legend.SurroundingTexts
    printed: Printed
    counts: dict[str, int] = field(default_factory=dict)


def build(
    drawing: Drawing,
    *,
    style: str = "paper",
    frame: Frame | None = None,
    scene: Any | None = None,
    collection: Any | None = None,
    name: str = "TraceVis3D",
    purpose: Purpose = "still",
    caption: float = 0.0,
    hidden: NDArray[np.bool_] | None = None,
    framed: Framed | None = None,
    progress: Progress = silent,
) -> Built:
    """Make the objects of ``drawing`` in a scene, in one collection.

    Parameters
    ----------
    drawing : Drawing
    style : {"paper", "stage", "flat"}
    frame : Frame, optional
        The picture's size: labels are chosen for it.
    scene : bpy.types.Scene, optional
        The current one if left out. Its camera, world, colour management and resolution are set.
    collection : bpy.types.Collection, optional
        An earlier result: unchanged parts stay, the rest is rewritten or replaced.
    name : str
        Of the collection, and the first word of its objects' names.
    purpose : {"still", "film", "draft"}
        For films and drafts the economical form alone is made.
    caption : float
        Height in pixels that is kept at the foot of a picture whose camera moves: nothing shows there, nor
        behind title and legends.
    hidden : bool (height, width), optional
        Pixels in which something would hide a text, the lowest row first: no name is written there.
    framed : (View, Rectangle), optional
        From where it is seen, and which part of the picture shows the data, as :func:`seen_alike` returns
        them; left out: as :func:`seen` does.
    progress : Progress

    Returns
    -------
    Built

    Raises
    ------
    UsageError
        If there is no such style.
    Cancelled
        If ``progress`` says so.
    """
    look, frame, scene = styles.named(style), frame or Frame(), scene or bpy.context.scene
    made = _Making(drawing, look, frame, scene, name, collection, purpose, caption, hidden, framed)
    try:
        made.compose(progress)
        progress(0.3, "building the scene")
        made.elements(progress)
        progress(0.8, "setting texts")
        made.texts()
        made.surroundings()
        progress(1.0, "scene built")
    except BaseException:
        discard(made.parts.made)
        raise
    return made.finish(collection)


def seen(
    drawing: Drawing, style: str, frame: Frame, caption: float = 0.0
) -> tuple[camera.View, camera.Rectangle]:
    """Return from where a picture is seen, and which part of it shows the data; nothing is made.

    Parameters
    ----------
    drawing : Drawing
    style : {"paper", "stage", "flat"}
    frame : Frame
    caption : float
        Height in pixels that is kept for captions, as for :func:`build`.

    Returns
    -------
    view : View
    region : (float, float, float, float)
        Left, bottom, right and top, in pixels from the lower left corner.
    """
    made = _Making(drawing, styles.named(style), frame, None, "", None, "draft", caption)
    made.surround = made.around(drawing)
    made.fit(drawing)
    return made.view, made.surround.region


def seen_alike(drawings: Sequence[Drawing], style: str, frame: Frame, caption: float = 0.0) -> Framed:
    """Return from where each of several drawings is in its picture whole: nothing shifts between them.

    Parameters
    ----------
    drawings : sequence of Drawing
        They are looked at from the same direction.
    style, frame, caption
        As for :func:`seen`.

    Returns
    -------
    view : View
    region : (float, float, float, float)
        What title and legends of all of them leave.
    """
    many = [_Making(one, styles.named(style), frame, None, "", None, "draft", caption) for one in drawings]
    left, bottom, right, top = np.array([made.around(made.drawing).region for made in many]).T
    region = float(left.max()), float(bottom.max()), float(right.min()), float(top.min())
    words, typed = many[0].camera_words, list(drawings)
    for _ in range(1 + _FITTINGS * bool(frame.points)):
        points = np.concatenate([made.points(one) for made, one in zip(many, typed)])
        view = camera.fit(words, frame, region, points)
        if frame.points:
            typed = [type_size.in_type(one, view, many[0].typeface) for one in typed]
    if any(one.callouts for one in drawings):
        # The room that is left lies above, where callouts find it.
        below = float(view.pixels(points)[:, 1].min()) - region[1] - _FOOT * frame.height
        view = replace(view, centre=(view.centre[0], view.centre[1] - max(below, 0.0)))
    return view, region


def pixels_of_unit(drawing: Drawing, style: str, frame: Frame) -> float | None:
    """Return how many pixels a scene unit takes in a picture, along the drawing's first ruler of time.

    Parameters
    ----------
    drawing : Drawing
    style : {"paper", "stage", "flat"}
    frame : Frame

    Returns
    -------
    float or None
        None if it has no ruler of time.
    """
    axis = _ruler_of_time(drawing)
    if axis is None or axis.length <= 0:
        return None
    view, _ = seen(drawing, style, frame)
    start = np.asarray(axis.origin, np.float64)
    ends = view.pixels(np.array([start, start + labels.unit(axis.direction) * axis.length]))
    return float(np.linalg.norm(ends[1] - ends[0])) / axis.length


def pixels_of_time(drawing: Drawing, style: str, frame: Frame) -> float | None:
    """Return how many pixels a nanosecond takes in a picture, at the drawing's first ruler of time.

    Parameters
    ----------
    drawing : Drawing
    style : {"paper", "stage", "flat"}
    frame : Frame

    Returns
    -------
    float or None
        None if it has no ruler of time.
    """
    found, axis = pixels_of_unit(drawing, style, frame), _ruler_of_time(drawing)
    if found is None or axis is None or axis.window is None:
        return None
    return found * axis.length / max(axis.window[1] - axis.window[0], 1)


def _ruler_of_time(drawing: Drawing) -> Axis | None:
    return next((axis for axis in drawing.axes if axis.window), None)


class _Making:
    """One run of :func:`build`. The scene is not touched before all is made."""

    def __init__(
        self,
        drawing: Drawing,
        style: Style,
        frame: Frame,
        scene: Any,
        name: str,
        collection: Any | None,
        purpose: Purpose,
        caption: float = 0.0,
        hidden: NDArray[np.bool_] | None = None,
        framed: Framed | None = None,
    ) -> None:
        self.framed = framed
        self.drawing, self.style, self.frame, self.scene, self.name = drawing, style, frame, scene, name
        self.typeface: Typeface = typeface(frame.font)
        self.camera_words = straight(drawing.camera) if style.straight else drawing.camera
        self.light = Light.of(self.camera_words)
        self.palette = opaque(drawing.palette, style)
        self.parts, self.purpose, self.caption = Parts(collection), purpose, caption
        self.hidden = hidden
        self.in_frame: list[Any] = []
        self.counts: dict[str, int] = {}

    @property
    def far(self) -> bool:
        """Whether it is a still that is looked at from far away."""
        return self.style.far and not self.caption

    def compose(self, progress: Progress) -> None:
        """Decide where everything is in the picture."""
        progress(0.0, "composing the picture")
        typeface, drawing = self.typeface, self.drawing
        as_seen = replace(drawing, palette=self.palette)
        if self.far:
            as_seen = replace(as_seen, callouts=drawing.callouts[:1])
        self.surround = self.around(as_seen)
        drawing = self.fit(drawing)
        as_seen = replace(as_seen, labels=drawing.labels)
        free = labels.Free(self.view, (0, 0, self.frame.width, self.surround.region[3]))
        self.axis_texts, axis_lost = rulers_of.choose_texts(
            self.rulers, self.view, free, typeface, self.style.ink
        )
        self.panels = callouts.lay_out(
            as_seen, self.view, self.surround.region, free, self.surround.text, self.style, typeface
        )
        if self.hidden is not None:
            free.struck |= self.hidden
        # A leader line comes before the numbers of rulers.
        free_of_lines = [i for i, o in enumerate(self.axis_texts.outline) if not free.is_struck(o)]
        axis_lost += len(self.axis_texts) - len(free_of_lines)
        self.axis_texts = self.axis_texts.only(free_of_lines)
        self.groups = drawing.labels
        inks = [inks_on(group.background, len(group), self.palette, self.style) for group in drawing.labels]
        cover = Cover(drawing, self.view)
        self.label_texts, lost = labels.choose(
            drawing.labels, self.view, free, typeface, inks, cover, self.far
        )
        self.drawing = without_empty_plates(self.drawing, self.label_texts, self.view)
        shown = [*self.axis_texts.outline, *self.label_texts.outline]
        self.counts = {
            "labels": len(self.label_texts),
            "labels_left_out": lost,
            "axis_texts_left_out": axis_lost,
            "legend_entries_left_out": self.surround.left_out,
            "callouts_left_out": self.panels.left_out,
            "label_overlaps": labels.overlaps(shown),
        }

    def around(self, drawing: Drawing) -> legend.SurroundingTexts:
        """Lay out title, legends and notes."""
        # Nobody reads many legends while the picture moves.
        most = _FILM_ROWS if self.caption else None
        found = legend.lay_out(drawing, self.style, self.frame, self.typeface, most)
        left, bottom, right, top = found.region
        found.region = (left, max(bottom, self.caption), right, top)
        if self.framed:
            found.region = self.framed[1]
        return found

    def fit(self, drawing: Drawing) -> Drawing:
        """Lay out rulers, move the camera; return the drawing with its texts in the frame's type."""
        self.look(drawing)
        if self.frame.points:
            # How large texts are in the scene depends on how far the camera moves back for them.
            for _ in range(_FITTINGS):
                drawing = type_size.in_type(drawing, self.view, self.typeface)
                self.look(drawing)
        return drawing

    def look(self, drawing: Drawing) -> None:
        """Lay out the rulers, and move the camera back until all that has to be in the picture is."""
        points = self.points(drawing)
        if self.framed:
            self.view = self.framed[0]
        else:
            self.view = camera.fit(self.camera_words, self.frame, self.surround.region, points)

    def points(self, drawing: Drawing) -> NDArray[np.float64]:
        """Lay out the rulers; return the points (n, 3) that have to be in the picture."""
        axes, typeface = camera.axes(self.camera_words), self.typeface
        self.rulers = [
            rulers_of.lay_out(axis, axes, typeface)
            for axis in drawing.axes
            # Seen end-on, a ruler is a point, and its texts lie on one another.
            if abs(labels.unit(axis.direction) @ axes[2]) < _END_ON
        ]
        low, high = np.array(drawing.camera.low, np.float64), np.array(drawing.camera.high, np.float64)
        points = [np.array(list(itertools.product(*zip(low, high))))]
        if drawing.camera.whole:
            points += [ruler.extent() for ruler in self.rulers]
            points += [labels.extent(group, typeface) for group in drawing.labels if len(group)]
        return np.concatenate(points)

    def elements(self, progress: Progress) -> None:
        """Make the objects of the drawing's elements."""
        budget = economy.BUDGET_OF_DRAFTS if self.purpose == "draft" else economy.BUDGET
        coarse = economy.coarseness(self.drawing, self.style, self.light, budget)
        within = economy.tolerance(self.drawing, coarse)
        alone = self.purpose != "still"
        for i, element in enumerate(self.drawing.elements):
            if not len(element):
                continue
            progress(0.3 + 0.5 * i / len(self.drawing.elements), f"building {element.kind}s")
            name, part = f"{self.name} {element.kind}", f"{element.kind} {element.source}"
            look = (self.palette, self.style, self.light)
            if isinstance(element, Boxes):
                shown = self.parts.instanced(part, name, boxes.lay(element, *look, coarse))
            elif isinstance(element, Marks):
                shown = self.parts.instanced(part, name, marks.lay(element, *look, coarse))
            else:
                make = partial(_shown, element, *look, name, coarse, within, alone)
                key = digest(element, *look, coarse, within, alone)
                if isinstance(element, (Tubes, Lines)) and not alone:
                    keys = key, digest(tubes.still(element), *look)
                    move = partial(_moved, element, (*look, coarse, within))
                    shown = self.parts.moving(part, name, keys, make, move)
                else:
                    shown = self.parts.whole(part, name, key, make)
            shown["tracevis3d_kind"], shown["tracevis3d_source"] = element.kind, element.source
            shown["tracevis3d_element"] = i
            if element.kind in _PLATES:
                # As the texts on them cast none.
                shown.visible_shadow = False

    def texts(self) -> None:
        """Make labels and rulers."""
        # Names of functions are replaced by those of zoomed-in calls.
        groups = self.groups
        kinds = [names_part(g.source) if g.kind == "function" else "labels" for g in groups]
        of = [kinds[g] for g in self.label_texts.group]
        written = [
            (kind, self.label_texts.only([i for i, its in enumerate(of) if its == kind]))
            for kind in dict.fromkeys(kinds)
        ]
        for kind, texts in (*written, ("axis texts", self.axis_texts)):
            if len(texts):
                colors = np.column_stack([np.array(texts.color), np.ones(len(texts))]).astype(np.float32)
                where = [np.array(column) for column in (texts.start, texts.right, texts.up, texts.size)]
                late = None
                # A label appears when its box is as long as the label.
                if texts.timed and any(texts.timed):
                    start = clock.appearing(self.drawing.elements, np.array(texts.end))
                    late = np.where(texts.timed, start, 0.0).astype(np.float32) if start is not None else None
                name = f"{self.name} {kind}"
                point = np.array(texts.point) if self.caption else None
                key = digest(texts.text, where, colors, late, point, self.style)
                self.parts.whole(
                    kind, name, key, partial(self._written, name, texts.text, where, colors, late, point)
                )
        pixel = max(1.0, self.frame.height / 1080)
        for kind, strength, color in (("axis lines", 1.6, self.style.ink), ("grid", GRID, self.style.faint)):
            grid = kind == "grid"
            if not self.rulers:
                continue
            a = np.concatenate([r.grid_start if grid else r.start for r in self.rulers])
            b = np.concatenate([r.grid_end if grid else r.end for r in self.rulers])
            keep = np.linalg.norm(b - a, axis=1) > 0
            if not keep.any():
                continue
            a, b = a[keep], b[keep]
            width = strength * pixel / np.maximum(self.view.pixels_per_unit((a + b) / 2), 1e-9)
            colors = np.tile(np.array([*color, 1.0], np.float32), (len(a), 1))
            name = f"{self.name} {kind}"
            film = bool(self.caption)
            make = partial(shapes.bars, name, a, b, width, colors, self.style, film)
            self.parts.whole(kind, name, digest(a, b, width, colors, self.style, film), make)

    def _written(
        self,
        name: str,
        texts: list[str],
        where: list[Any],
        colors: NDArray[np.float32],
        late: NDArray[np.float32] | None,
        point: NDArray[np.float64] | None,
    ) -> Any:
        """Return an object of texts.

        ``late`` (n,) is when each appears, as a share of the drawn time; of a film, ``point`` (n, 3) is what
        each is written at.
        """
        start, right, up, size = where
        setting = set_texts(texts, start, right, up, size, self.typeface)
        shown = shapes.texts(name, setting, colors, self.style)
        if late is not None:
            clock.animate_visibility(shown, np.repeat(late, setting.vertices))
        if point is not None:
            shapes.keep_size(shown, np.repeat(point, setting.vertices, axis=0))
        return shown

    def surroundings(self) -> None:
        """Make title, legends and notes on a pane before the camera; camera, lights and wall."""
        pane = camera.Pane.of(self.view)
        lines, swatches = [*self.surround.lines, *self.panels.lines], self.surround.swatches
        if not self.drawing.camera.whole or self.caption:
            # Elements outside the box continue behind title, legends and notes.
            _, bottom, _, top = self.surround.region
            wide, tall = float(self.frame.width), float(self.frame.height)
            over = 4.0  # pixels: what lies behind must not shine through at the picture's edge
            edges = ((-over, top, wide + over, tall + over), (-over, -over, wide + over, bottom))
            swatches = [*(legend.Swatch(edge, self.style.background) for edge in edges), *swatches]
        if swatches or self.panels.corner:
            corner, colors = legend.quads(swatches)
            corner = np.concatenate([corner, *self.panels.corner])
            own = np.array([[*srgb, 1.0] for srgb in self.panels.srgb], np.float32).reshape(-1, 4)
            colors = np.concatenate([colors, own])
            at = pane.local(corner)
            # Later patches cover earlier ones: each is slightly closer to the camera.
            at[:, 2] += np.repeat(np.arange(len(colors)), 4) * (1e-4 * pane.depth / len(colors))
            name = f"{self.name} legend"
            make = partial(shapes.patches, name, at, colors, self.style)
            self.in_frame.append(self.parts.whole("legend", name, digest(at, colors, self.style), make))
        if lines:
            n = len(lines)
            start = pane.local(np.array([[line.left, line.baseline] for line in lines]))
            start[:, 2] += 2e-4 * pane.depth
            size = np.array([line.size for line in lines]) * pane.unit
            right, up = np.tile([1.0, 0.0, 0.0], (n, 1)), np.tile([0.0, 1.0, 0.0], (n, 1))
            colors = np.array([[*line.srgb, 1.0] for line in lines], np.float32)
            texts, where = [line.text for line in lines], [start, right, up, size]
            name = f"{self.name} title"
            make = partial(self._written, name, texts, where, colors, None, None)
            self.in_frame.append(
                self.parts.whole("title", name, digest(texts, where, colors, self.style), make)
            )
        words = self.drawing.camera
        low, high = (np.array(v, np.float64) for v in words.all_of_it or (words.low, words.high))
        aim = next((np.array(callout.point, np.float64) for callout in self.drawing.callouts), None)
        surroundings = [
            ("key light", partial(lighting.key_light, self.style, self.light, aim is not None)),
            ("spot light", partial(lighting.spot_light, self.style, self.light, aim, low, high)),
        ]
        if words.wall:
            surroundings.append(("wall", partial(lighting.wall, self.style, self.light, low, high)))
        for part, make in surroundings:
            name = f"{self.name} {part}"
            self.parts.whole(part, name, digest(self.style, self.light, low, high, aim), partial(make, name))
        for title, words in self.drawing.cameras.items():
            if words != self.drawing.camera:
                part, name = f"camera {title}", f"{self.name} {title} camera"
                self.parts.whole(part, name, digest(words, self.frame), partial(self._beside, words, name))

    def _beside(self, words: Camera, name: str) -> Any:
        """Return another camera; it sees the data alone, which fills its picture."""
        margin = 0.04 * self.frame.height
        region = (margin, margin, self.frame.width - margin, self.frame.height - margin)
        corners = np.array(list(itertools.product(*zip(words.low, words.high))), np.float64)
        return camera.place(camera.fit(words, self.frame, region, corners), name)

    def finish(self, collection: Any | None) -> Built:
        """Link everything to the scene, replacing the content of ``collection``."""
        if collection is None:
            collection = bpy.data.collections.new(self.name)
        gone = self.parts.settle()
        eyes = (shown for shown in collection.objects if shown.type == "CAMERA" and PART not in shown)
        before = next(eyes, None)
        known = {*gone, *self.parts.kept, before}
        # Objects without a part are from an older version, and go, or were added by the user, and stay.
        discard([*gone, *(o for o in collection.objects if o not in known and "tracevis3d_kind" in o)])
        if collection not in self.scene.collection.children_recursive:
            self.scene.collection.children.link(collection)
        eye = camera.place(self.view, f"{self.name} camera", before)
        # The camera of the picture is the first of the collection's.
        for shown in (*([eye] if before is None else []), *self.parts.made):
            collection.objects.link(shown)
        self.parts.name()
        page.keep(collection, self.drawing, self.palette)
        for shown in self.in_frame:
            shown.parent = eye
        self.scene.camera = eye
        self.scene.world = lighting.world(self.style)
        apply_frame(self.scene, self.frame)
        show_colors_as_data(self.scene)
        return Built(
            self.scene,
            collection,
            eye,
            self.view,
            self.style,
            self.frame,
            self.drawing,
            self.surround,
            Printed(self.axis_texts, self.label_texts, self.rulers, self.panels),
            self.counts,
        )


def without_empty_plates(drawing: Drawing, texts: labels.Texts, view: camera.View) -> Drawing:
    """Return a drawing without those plates whose texts are left out.

    Parameters
    ----------
    drawing : Drawing
    texts : Texts
        Those that are shown.
    view : View

    Returns
    -------
    Drawing
    """
    if not any(element.kind in _PLATES and len(element) for element in drawing.elements):
        return drawing
    outline = np.array(texts.outline, np.float64).reshape(-1, 4, 2)
    low, high = outline.min(axis=1), outline.max(axis=1)
    elements: list[Any] = []
    for element in drawing.elements:
        if isinstance(element, (Boxes, Wedges)) and element.kind in _PLATES and len(element):
            middle = view.pixels(_middles(element))[:, None]
            has_text = ((middle >= low) & (middle <= high)).all(axis=2).any(axis=1)
            element = taken(element, np.flatnonzero(has_text))
        elements.append(element)
    return replace(drawing, elements=tuple(elements))


def _middles(element: Boxes | Wedges) -> NDArray[np.float64]:
    if isinstance(element, Boxes):
        return np.asarray(element.low.astype(np.float64) + element.size / 2)
    sections = element.corner.mean(axis=1, dtype=np.float64)
    return np.asarray(np.add.reduceat(sections, element.first[:-1]) / np.diff(element.first)[:, None])


def _shown(
    element: Tubes | Lines | Wedges | Image,
    palette: NDArray[np.float32],
    style: Style,
    light: Light,
    name: str,
    coarse: int,
    within: float,
    alone: bool,
) -> Any:
    """Return the object that shows an element that is one mesh; its economical form ``alone``, or both."""
    if isinstance(element, Image):
        return images.show(element, style, name, coarse, alone)
    if isinstance(element, Wedges):
        return wedges.show(element, palette, style, light, name)
    return tubes.show(element, palette, style, light, name, coarse, within, alone)


def _moved(element: Tubes | Lines, look: tuple[Any, ...], shown: Any) -> None:
    tubes.move(shown, element, *look)


def clear(collection: Any) -> None:
    """Remove the collection's objects with the data that nothing else uses."""
    discard(list(collection.objects))


def discard(objects: list[Any]) -> None:
    """Remove objects, those that their node groups show, and the data that nothing else uses."""
    removed: list[Any] = []
    for shown in objects:
        removed += [*forms.held_by(shown), shown]
    data = [shown.data for shown in removed if shown.data is not None]
    bpy.data.batch_remove(removed)
    bpy.data.batch_remove([block for block in data if block.users == 0])


def apply_frame(scene: Any, frame: Frame) -> None:
    """Set a scene's resolution, and its dots per inch where this Blender has them.

    Parameters
    ----------
    scene : bpy.types.Scene
    frame : Frame
    """
    scene.render.resolution_x, scene.render.resolution_y = frame.width, frame.height
    scene.render.resolution_percentage = 100
    scene.render.pixel_aspect_x = scene.render.pixel_aspect_y = 1.0
    if hasattr(scene.render, "ppm_factor"):
        scene.render.ppm_factor, scene.render.ppm_base = frame.dpi, 0.0254


def show_colors_as_data(scene: Any) -> None:
    """Turn off what would change colours between the palette and the picture, in every engine."""
    scene.display_settings.display_device = "sRGB"
    settings = scene.view_settings
    settings.view_transform, settings.look = "Standard", "None"
    settings.exposure, settings.gamma = 0.0, 1.0
    settings.use_curve_mapping = False
    scene.render.dither_intensity = 0.0
    shading = scene.display.shading
    shading.light, shading.color_type = "FLAT", "VERTEX"
    shading.show_cavity = shading.show_shadows = shading.show_object_outline = shading.show_xray = False
    shading.use_dof = False


def inks_on(
    background: NDArray[np.int32], n: int, palette: NDArray[np.float32], style: Style
) -> NDArray[np.float64]:
    """Return each label's colour: the style's ink, or what contrasts with its background.

    Parameters
    ----------
    background : int32 (n,) or (0,)
        Palette index of the surface that each label lies on; empty: they lie on none.
    n : int
        How many labels there are.
    palette : float32 (k, 4)
        sRGB.
    style : Style

    Returns
    -------
    float64 (n, 3)
        sRGB.
    """
    if not len(background):
        return np.tile(style.ink, (n, 1))
    dark = is_dark(palette)[np.clip(background, 0, len(palette) - 1)]
    return np.where(dark[:, None], [_ON_DARK], [_ON_LIGHT])


def opaque(palette: NDArray[np.float32], style: Style) -> NDArray[np.float32]:
    """Return the palette on the style's background: an alpha below 1 is how much of a colour covers it.

    Parameters
    ----------
    palette : float32 (k, 3) or (k, 4)
        sRGB.
    style : Style

    Returns
    -------
    float32 (k, 4)
        sRGB; alpha is 1.
    """
    out = np.array(palette, np.float32)
    if is_dark(np.array([style.background])).all():
        # What is nearly black on paper would be nearly the background here.
        black = (out[:, :3] < _BLACK).all(axis=1) & (out[:, 3:] == 1).all(axis=1)
        out[black, :3] = style.ink
    if out.shape[1] == 4:
        shares = (1 - out[:, 3]) ** style.recede
        for i in np.flatnonzero(shares > 0):
            out[i : i + 1] = mixed(out[i : i + 1], style.background, float(shares[i]))
        out[:, 3] = 1
        return out
    return np.column_stack([out, np.ones(len(out), np.float32)])
