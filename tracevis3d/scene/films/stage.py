"""A built drawing that a camera moves through: for another frame nothing is drawn or built again."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import bpy
import numpy as np
from mathutils import Matrix
from numpy.typing import ArrayLike, NDArray

from ...drawing.frame import Frame
from ...drawing.primitives import Drawing
from ...drawing.projection import SENSOR_MM, straight
from ...layout.sight.pose import Pose
from ...progress import Progress, silent
from .. import compat, styles
from ..build import Framed, build, clear, seen_alike
from ..camera import Pane, View, fit
from ..digest import digest
from ..geometry.forms import Purpose
from ..output import render
from ..text import shapes
from .eye import Eye

#: A camera comes no nearer than to see this share of what it sees of the whole.
_NEAREST = 0.2
#: Margin around what fills the picture, as a share of it.
_MARGIN = 0.12
#: How much smaller a picture may become so that others are seen from the same place.
_SMALLER = 1.5
#: How far the pane with title and legends lies before the nearest data, as a share of its distance; and
#: its least distance, as a share of that of what the camera looks at.
_BEFORE, _LEAST = 0.5, 0.05


class Framing:
    """Where the camera of a drawing can look from: computed without a scene.

    Parameters
    ----------
    drawing : Drawing
    style : str
    frame : Frame
    caption : float
        Height in pixels that is kept for captions.
    beside : sequence of Drawing
        Others that are seen from the same place, so that nothing shifts between their pictures and this.

    Attributes
    ----------
    framed : (View, Rectangle)
        Where the camera is for the whole picture, and which part of the picture shows the data.
    whole : Pose
        From where all is in the picture.
    front : Pose
        From where all is in the picture without perspective.
    straight : bool
        Whether it is seen straight from the front.
    """

    def __init__(
        self, drawing: Drawing, style: str, frame: Frame, caption: float, beside: Sequence[Drawing] = ()
    ) -> None:
        alike = [drawing, *beside]
        self.framed = self.view, self._region = seen_alike(alike, style, frame, caption)
        look = styles.named(style)
        self._words = straight(drawing.camera) if look.straight else drawing.camera
        self._frame = frame
        self.straight = look.straight or drawing.camera.projection == "orthographic"
        self.whole = _pose(self.view)
        self.front = self.whole
        if not self.straight:
            flat = [replace(one, camera=straight(one.camera)) for one in alike]
            self.front = replace(_pose(seen_alike(flat, style, frame, caption)[0]), front=1.0)

    def eye(self, pose: Pose) -> Eye:
        """Return the camera of a pose."""
        return Eye.at(pose, self.view, self._words)

    def around(self, low: ArrayLike, high: ArrayLike) -> Pose:
        """Return the pose from which a box fills the picture.

        Parameters
        ----------
        low, high : float (3,)
            Its lowest and highest coordinates.

        Returns
        -------
        Pose
            No nearer than a fifth of the width of the whole, no farther than all of it.
        """
        near, far = np.asarray(low, np.float64), np.asarray(high, np.float64)
        corners = np.array(list(itertools.product(*zip(near, far))))
        pose = _pose(fit(self._words, self._frame, self._region, corners))
        width = min(max(pose.width * (1 + _MARGIN), _NEAREST * self.whole.width), self.whole.width)
        return replace(pose, width=width)


def alike(drawings: Sequence[Drawing], style: str, frame: Frame, caption: float) -> list[list[int]]:
    """Return which drawings are seen from one place.

    Parameters
    ----------
    drawings : sequence of Drawing
    style, frame, caption
        As for :class:`Framing`.

    Returns
    -------
    list of list of int
        Each drawing is in one group, with earlier ones that are seen from the same direction, if none of them
        becomes much smaller.
    """

    def width(which: Sequence[int]) -> float:
        return _pose(seen_alike([drawings[i] for i in which], style, frame, caption)[0]).width

    def way(i: int) -> tuple[object, ...]:
        words = drawings[i].camera
        return words.direction, words.up, words.projection, words.lens

    own = [width([i]) for i in range(len(drawings))]
    groups: list[list[int]] = []
    for i in range(len(drawings)):
        for group in groups:
            joined = [*group, i]
            if way(group[0]) == way(i) and width(joined) <= _SMALLER * min(own[k] for k in joined):
                group.append(i)
                break
        else:
            groups.append([i])
    return groups


def _pose(view: View) -> Pose:
    depth = (view.nearest + view.farthest) / 2
    focus = view.eye + view.forward * depth
    width = 2 * view.tangent * (depth if view.perspective else 1.0)
    return Pose((float(focus[0]), float(focus[1]), float(focus[2])), float(width))


def fineness(engine: str, purpose: Purpose, samples: int) -> int:
    """Return how many pixels beside each other are rendered for one.

    Parameters
    ----------
    engine : {"workbench", "eevee", "cycles"}
    purpose : {"film", "draft"}
    samples : int
        Per pixel; 0 leaves it to us.

    Returns
    -------
    int
        0: the engine smooths edges itself.
    """
    if engine != "workbench" or samples:
        return 0
    return 2 if purpose == "film" else 1


class Stage:
    """A drawing in a scene of its own.

    Parameters
    ----------
    drawing : Drawing
    style, engine : str
    frame : Frame
    samples : int
    purpose : {"film", "draft"}
    caption : float
        Height in pixels that is kept for captions.
    framed : (View, Rectangle) or None
        See :class:`Framing`; None: as the drawing alone is seen.
    progress : Progress
    """

    def __init__(
        self,
        drawing: Drawing,
        style: str,
        frame: Frame,
        engine: str,
        samples: int,
        purpose: Purpose,
        caption: float,
        framed: Framed | None,
        progress: Progress,
    ) -> None:
        self._scene: Any = bpy.data.scenes.new("TraceVis3D shot")
        self._settings = style, frame, engine, samples, purpose, caption, framed
        try:
            self._build(drawing, None, progress)
        except BaseException:
            bpy.data.scenes.remove(self._scene)
            raise

    def redraw(self, drawing: Drawing) -> None:
        """Show another drawing; what both have stays built.

        Parameters
        ----------
        drawing : Drawing
        """
        self._build(drawing, self.built.collection, silent)

    def _build(self, drawing: Drawing, collection: Any, progress: Progress) -> None:
        style, frame, engine, samples, purpose, caption, framed = self._settings
        self.built = build(
            drawing, style=style, frame=frame, scene=self._scene, collection=collection, purpose=purpose,
            caption=caption, framed=framed, progress=progress,
        )  # fmt: skip
        render.prepare(self.built, engine, samples, transparent=False, purpose=purpose)
        if finer := fineness(engine, purpose, samples):
            # Workbench draws all of the scene again for each sample; a finer picture draws it once.
            self._scene.display.render_aa = "OFF" if finer > 1 else "FXAA"
            self._scene.render.resolution_x, self._scene.render.resolution_y = (
                finer * frame.width, finer * frame.height,
            )  # fmt: skip
        view = self.built.view
        self._pane = Pane.of(view).depth
        self._ground = _bounds(drawing)
        self._far = self.built.camera.data.clip_end
        #: That of texts which an earlier drawing has resized isn't known.
        self._size = 1.0 if collection is None else 0.0
        low, high = self._ground
        #: Distance of an orthographic camera, so that nothing is behind it.
        self._off = 2.0 * float(np.linalg.norm(high - low)) + view.farthest

    def see(self, eye: Eye) -> None:
        """See the scene through a camera.

        Parameters
        ----------
        eye : Eye
        """
        view, shown = self.built.view, self.built.camera
        right, up, forward = eye.axes
        depth = eye.distance if eye.perspective else self._off
        place = eye.focus - forward * depth
        columns = np.eye(4)
        columns[:3, 0], columns[:3, 1], columns[:3, 2], columns[:3, 3] = right, up, -forward, place
        shown.matrix_world = Matrix(columns.tolist())
        low, high = self._ground
        corners = np.array(list(itertools.product(*zip(low, high))))
        away = (corners - place) @ forward
        pane = _BEFORE * max(float(away.min()), _LEAST * depth)
        # Half of what the pane shows across, now and where it was built.
        half = eye.tangent * pane if eye.perspective else eye.width / 2
        across = half / (view.tangent * (self._pane if view.perspective else 1.0))
        data, frame = shown.data, self.built.frame
        if eye.perspective:
            data.type, data.lens = "PERSP", SENSOR_MM / 2 / eye.tangent
        else:
            data.type, data.ortho_scale = "ORTHO", eye.width
        data.shift_x = -(eye.centre[0] - frame.width / 2) / frame.width
        data.shift_y = -(eye.centre[1] - frame.height / 2) / frame.width
        data.clip_start = 0.9 * pane
        data.clip_end = max(self._far, 2.0 * float(away.max()))
        # Names stay as large as they are in the whole picture: larger ones are seen before what they name.
        size = min(eye.width / _pose(view).width, 1.0)
        for child in self.built.collection.objects:
            if child.parent == shown:
                child.scale = (across, across, pane / self._pane)
            if size != self._size:
                shapes.resize(child, size)
        self._size = size

    def render(self, eye: Eye, path: Path, progress: Progress, now: float = 1.0) -> None:
        """Render what a camera sees.

        Parameters
        ----------
        eye : Eye
        path : Path
            .png
        progress : Progress
        now : float
            What appears later than this share of the drawing's time is left out.
        """
        self.see(eye)
        self._come_to(now)
        render.render_frame(self.built, path, progress)

    def _come_to(self, now: float) -> None:
        """Show what has appeared at a share of the drawing's time."""
        for shown in self.built.collection.objects:
            for modifier in shown.modifiers:
                if compat.has_input(modifier, "Now") and compat.get_input(modifier, "Now") != now:
                    compat.set_input(modifier, "Now", now)
                    shown.update_tag()

    def close(self) -> None:
        """Remove all of it."""
        clear(self.built.collection)
        bpy.data.collections.remove(self.built.collection)
        bpy.data.scenes.remove(self._scene)


def _bounds(drawing: Drawing) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the box of all that is drawn."""
    words = drawing.camera
    low, high = (np.array(v, np.float64) for v in words.all_of_it or (words.low, words.high))
    return low, high


def name_of(drawing: Drawing, *settings: object) -> str:
    """Return a name that two drawings share only if their pictures are the same.

    Parameters
    ----------
    drawing : Drawing
    *settings : object
        What else the pictures depend on.

    Returns
    -------
    str
    """
    return digest(drawing, *settings)
