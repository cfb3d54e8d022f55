"""The projection of points into the picture, without a scene."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .frame import Frame
from .primitives import Camera, Vector

#: Sensor width in mm that ``Camera.lens`` assumes.
SENSOR_MM = 36.0


@dataclass(frozen=True, eq=False)
class Projection:
    """A camera that has moved back until its subject fits.

    Attributes
    ----------
    eye : float64 (3,)
        For an orthographic camera a point in front of the subject.
    right, up, forward : float64 (3,)
        Orthonormal.
    tangent : float
        Half the picture's width at distance 1; for an orthographic camera half its width.
    perspective : bool
    frame : Frame
    """

    eye: NDArray[np.float64]
    right: NDArray[np.float64]
    up: NDArray[np.float64]
    forward: NDArray[np.float64]
    tangent: float
    perspective: bool
    frame: Frame

    def pixels(self, points: ArrayLike) -> NDArray[np.float64]:
        """Return where ``points`` (n, 3) fall: pixels (n, 2) from the picture's lower left corner."""
        offset = np.asarray(points, np.float64) - self.eye
        x, y, z = offset @ self.right, offset @ self.up, offset @ self.forward
        half = self.tangent * (z if self.perspective else np.ones_like(z))
        scale = self.frame.width / 2 / half
        return np.stack([self.frame.width / 2 + x * scale, self.frame.height / 2 + y * scale], axis=-1)


def fit(camera: Camera, frame: Frame, share: tuple[float, float] = (1.0, 1.0)) -> Projection:
    """Move ``camera`` back until its box fits the middle of the picture.

    Parameters
    ----------
    camera : Camera
    frame : Frame
    share : (float, float)
        The share of the picture's width and height that the box may take.

    Returns
    -------
    Projection
        With the camera's direction and lens, from where the box fits.
    """
    low, high = np.array(camera.low, np.float64), np.array(camera.high, np.float64)
    forward = -_unit(np.array(camera.direction, np.float64))
    right = np.cross(forward, np.array(camera.up, np.float64))
    if not np.linalg.norm(right) > 1e-9:
        right = np.array([1.0, 0.0, 0.0])
    right = _unit(right)
    up = np.cross(right, forward)
    corner = np.array(list(itertools.product(*zip(low, high)))) - (low + high) / 2
    x, y, z = corner @ right, corner @ up, corner @ forward
    aspect = frame.height / frame.width
    perspective = camera.projection == "perspective"
    if perspective:
        wide = SENSOR_MM / 2 / camera.lens
        tx, ty = wide * share[0], wide * aspect * share[1]
        # The nearest eye for which each corner lies inside the four planes of the view (closed form).
        back = max(
            ((x - z * tx).max() - (x + z * tx).min()) / (2 * tx),
            ((y - z * ty).max() - (y + z * ty).min()) / (2 * ty),
            1e-3 - z.min(),
        )
        across = ((x - z * tx).max() + (x + z * tx).min()) / 2
        along = ((y - z * ty).max() + (y + z * ty).min()) / 2
        tangent = wide
    else:
        across, along = (x.max() + x.min()) / 2, (y.max() + y.min()) / 2
        tangent = max(np.ptp(x) / share[0], np.ptp(y) / share[1] / aspect, 1e-6) / 2
        back = 1.0 - z.min()
    eye = (low + high) / 2 + right * across + up * along - forward * back
    return Projection(eye, right, up, forward, float(tangent), perspective, frame)


def facing_axis(camera: Camera) -> NDArray[np.float64]:
    """Return the axis direction (such as -y) that looks most at a camera, float64 (3,).

    Parameters
    ----------
    camera : Camera

    Returns
    -------
    float64 (3,)
    """
    towards = np.asarray(camera.direction, np.float64)
    axis = int(np.argmax(np.abs(towards)))
    facing = np.zeros(3)
    facing[axis] = np.sign(towards[axis]) or 1.0
    return facing


def straight(camera: Camera) -> Camera:
    """Return the camera that looks along the axis which ``camera`` looks along most, without perspective.

    Parameters
    ----------
    camera : Camera

    Returns
    -------
    Camera
    """
    x, y, z = facing_axis(camera).tolist()
    return replace(camera, direction=(x, y, z), projection="orthographic")


def camera_over(low: Vector, high: Vector, opening: float, turn: float, tilt: float, lens: float) -> Camera:
    """Return the camera of a map that rises as it opens: from straight above to in front of it.

    Parameters
    ----------
    low, high : Vector
        The box that must be in the picture.
    opening : float
        0: flat, seen from straight above; 1: opened.
    turn, tilt : float
        Degrees to the right of straight ahead, and above it, of the opened one.
    lens : float
        Focal length in mm of the opened one.

    Returns
    -------
    Camera
        Orthographic if flat.
    """
    across, above = math.radians(opening * turn), math.radians(90.0 - opening * (90.0 - tilt))
    return Camera(
        direction=(
            math.sin(across) * math.cos(above), -math.cos(across) * math.cos(above), math.sin(above)
        ),
        up=(0.0, 1.0, 0.0) if opening == 0 else (0.0, 0.0, 1.0),
        low=low,
        high=high,
        projection="orthographic" if opening == 0 else "perspective",
        lens=lens,
        wall=opening == 0,
    )  # fmt: skip


def _unit(vector: NDArray[np.float64]) -> NDArray[np.float64]:
    return vector / np.linalg.norm(vector)
