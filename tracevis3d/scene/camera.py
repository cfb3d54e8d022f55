"""The camera: moved back until the content fills its part of the frame."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np
from mathutils import Matrix
from numpy.typing import ArrayLike, NDArray

from ..drawing.frame import Frame
from ..drawing.primitives import Camera
from ..drawing.projection import SENSOR_MM, Projection

#: A rectangle in pixels from the picture's lower left corner: left, bottom, right, top.
Rectangle = tuple[float, float, float, float]


@dataclass(frozen=True, eq=False)
class View(Projection):
    """A projection whose axis meets the picture at ``centre``, as a shifted lens does.

    Attributes
    ----------
    centre : (float, float)
        In pixels from the lower left corner.
    nearest, farthest : float
        Depths along ``forward`` between which everything lies that was fitted.
    """

    centre: tuple[float, float]
    nearest: float
    farthest: float

    def pixels(self, points: ArrayLike) -> NDArray[np.float64]:
        """Return where ``points`` (n, 3) fall, in pixels from the lower left corner, shape (n, 2)."""
        offset = np.asarray(points, np.float64) - self.eye
        scale = self.pixels_per_unit(points)
        return np.stack(
            [self.centre[0] + offset @ self.right * scale, self.centre[1] + offset @ self.up * scale], axis=-1
        )

    def pixels_per_unit(self, points: ArrayLike) -> NDArray[np.float64]:
        """Return how many pixels a unit across the view takes at ``points`` (n, 3); 0 behind the camera."""
        depth = (np.asarray(points, np.float64) - self.eye) @ self.forward
        half = self.tangent * (depth if self.perspective else np.ones_like(depth))
        return np.where(half > 0, self.frame.width / 2 / np.where(half > 0, half, 1.0), 0.0)


def axes(camera: Camera) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return the camera's right, up and forward as unit vectors."""
    forward = -np.asarray(camera.direction, np.float64)
    forward = forward / max(float(np.linalg.norm(forward)), 1e-12)
    for wanted in (camera.up, (0.0, 0.0, 1.0), (0.0, 1.0, 0.0)):
        right = np.cross(forward, np.asarray(wanted, np.float64))
        if np.linalg.norm(right) > 1e-6:
            break
    right = right / np.linalg.norm(right)
    return right, np.cross(right, forward), forward


def fit(camera: Camera, frame: Frame, region: Rectangle, points: NDArray[np.floating[Any]]) -> View:
    """Return the view in which points just fill a part of the picture, in width or in height.

    For a perspective the nearest eye is found in closed form: each point bounds the eye by the four planes
    of the region's pyramid.

    Parameters
    ----------
    camera : Camera
        Direction, projection and lens.
    frame : Frame
    region : (float, float, float, float)
        Left, bottom, right and top, in pixels from the lower left corner.
    points : float (n, 3)

    Returns
    -------
    View
    """
    right, up, forward = axes(camera)
    x, y, z = points @ right, points @ up, points @ forward
    wide, tall = max(region[2] - region[0], 1.0), max(region[3] - region[1], 1.0)
    perspective = camera.projection == "perspective"
    size = max(float(np.ptp(x)), float(np.ptp(y)), float(np.ptp(z)), 1e-6)
    if perspective:
        tangent = SENSOR_MM / 2 / camera.lens
        tx, ty = tangent * wide / frame.width, tangent * tall / frame.width
        back = max(
            ((x - z * tx).max() - (x + z * tx).min()) / (2 * tx),
            ((y - z * ty).max() - (y + z * ty).min()) / (2 * ty),
            1e-3 * size - z.min(),
        )
        across = ((x - z * tx).max() + (x + z * tx).min()) / 2
        along = ((y - z * ty).max() + (y + z * ty).min()) / 2
    else:
        across, along = (x.max() + x.min()) / 2, (y.max() + y.min()) / 2
        per_pixel = max(float(np.ptp(x)) / wide, float(np.ptp(y)) / tall, 1e-9 * size)
        tangent = per_pixel * frame.width / 2
        back = 2 * size - z.min()
    eye = right * across + up * along - forward * back
    centre = ((region[0] + region[2]) / 2, (region[1] + region[3]) / 2)
    return View(
        eye,
        right,
        up,
        forward,
        float(tangent),
        perspective,
        frame,
        centre,
        float(z.min() + back),
        float(z.max() + back),
    )


@dataclass(frozen=True)
class Pane:
    """The plane before the camera on which the frame's texts and legends lie.

    Attributes
    ----------
    depth : float
        How far it is from the camera, in scene units.
    unit : float
        Width of a pixel, in scene units.
    view : View
    """

    depth: float
    unit: float
    view: View

    @classmethod
    def of(cls, view: View) -> Pane:
        """Choose a plane that is before all data and not too close to the lens."""
        depth = 0.5 * view.nearest if view.perspective else 0.25 * view.nearest
        half = view.tangent * (depth if view.perspective else 1.0)
        return cls(depth, 2 * half / view.frame.width, view)

    @classmethod
    def before(cls, depth: float, tangent: float, shift: tuple[float, float], frame: Frame) -> Pane:
        """Return the plane at a depth before a camera, wherever that stands.

        Parameters
        ----------
        depth : float
            Scene units.
        tangent : float
            Half the picture's width at distance 1.
        shift : (float, float)
            Of the picture's middle from the camera's axis, as a share of the picture's width.
        frame : Frame

        Returns
        -------
        Pane
        """
        axis = frame.width * (0.5 - shift[0]), frame.height / 2 - frame.width * shift[1]
        right, up, backward = np.eye(3)
        view = View(np.zeros(3), right, up, -backward, tangent, True, frame, axis, depth, depth)
        return cls(depth, 2 * tangent * depth / frame.width, view)

    def local(self, pixels: NDArray[np.floating[Any]]) -> NDArray[np.float64]:
        """Return camera coordinates (n, 3) of ``pixels`` (n, 2) from the lower left corner."""
        at = (np.asarray(pixels, np.float64) - self.view.centre) * self.unit
        return np.column_stack([at, np.full(len(at), -self.depth)])


def place(view: View, name: str, shown: Any | None = None) -> Any:
    """Return a camera object for a view.

    Parameters
    ----------
    view : View
    name : str
        Of a new object.
    shown : bpy.types.Object, optional
        The camera that is used again; left out: a new one is made, and not linked.

    Returns
    -------
    bpy.types.Object
    """
    if shown is None:
        shown = bpy.data.objects.new(name, bpy.data.cameras.new(name))
    eye: Any = shown
    data, frame = eye.data, view.frame
    data.sensor_fit = "HORIZONTAL"
    data.sensor_width = SENSOR_MM
    data.shift_x = -(view.centre[0] - frame.width / 2) / frame.width
    data.shift_y = -(view.centre[1] - frame.height / 2) / frame.width
    pane = Pane.of(view)
    data.clip_start = 0.5 * pane.depth
    # What lies far behind the box that is viewed is there, too.
    data.clip_end = 100 * view.farthest + 20 * (view.farthest - view.nearest)
    if view.perspective:
        data.type = "PERSP"
        data.lens = SENSOR_MM / 2 / view.tangent
    else:
        data.type = "ORTHO"
        data.ortho_scale = 2 * view.tangent
    columns = np.eye(4)
    columns[:3, 0], columns[:3, 1], columns[:3, 2], columns[:3, 3] = (
        view.right,
        view.up,
        -view.forward,
        view.eye,
    )
    eye.matrix_world = Matrix(columns.tolist())
    return eye
