"""The visible faces of a live view's bars: the others are not drawn.

The time of a redraw depends on the number of faces; without a graphics card it is most of an update. From the
usual viewpoints, half of the faces of every bar are turned away.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from .bar_mesh import FACES, Faces

#: Where each of :data:`.bar_mesh.FACES` looks: an axis (time, across, height) and a direction along it.
_LOOKS = ((0, -1), (0, 1), (2, -1), (1, 1), (2, 1), (1, -1))
ALL = (True,) * len(FACES)
#: Distance by which bars may exceed the extent of their view, in scene units.
_BEYOND = 0.3
#: Distance of an eye without perspective.
_FAR = 1e5


def seen(
    eyes: Sequence[Sequence[float]], low: Sequence[float], high: Sequence[float], straight: bool
) -> Faces:
    """Return which faces can be seen of boxes that lie anywhere between two corners.

    Parameters
    ----------
    eyes : sequence of (time, across, height)
        Where it is looked at from.
    low, high : (time, across, height)
    straight : bool
        Whether all sides are parallel to the axes; if not, this holds for the ends alone.

    Returns
    -------
    tuple of bool
        For each of :data:`.bar_mesh.FACES`.
    """
    return tuple(
        (axis > 0 and not straight)
        or any(
            eye[axis] > low[axis] - _BEYOND if side > 0 else eye[axis] < high[axis] + _BEYOND for eye in eyes
        )
        for axis, side in _LOOKS
    )


def eyes_on(scene: Any) -> Iterator[NDArray[np.float64]]:
    """Yield the places from which a scene is looked at: its camera, and the 3D views that show it."""
    if scene.camera is not None:
        yield _eye(scene.camera.matrix_world, scene.camera.data.type != "ORTHO")
    for window in bpy.context.window_manager.windows:
        if window.scene != scene:
            continue
        for area in window.screen.areas:
            if area.type == "VIEW_3D":
                space = area.spaces.active
                for view in (space.region_3d, *space.region_quadviews):
                    yield _eye(view.view_matrix.inverted_safe(), view.is_perspective)


def pixels_along(scene: Any, first: Sequence[float], last: Sequence[float]) -> float:
    """Return how many pixels lie between two places where they are shown largest.

    Parameters
    ----------
    scene : bpy.types.Scene
    first, last : (float, float, float)

    Returns
    -------
    float
        0: no window shows them; infinite: one lies behind the eye.
    """
    longest = 0.0
    if bpy.app.background:
        return longest  # there are windows without a screen: pictures are as fine as they can be
    ends = np.ones((2, 4))
    ends[:, :3] = first, last
    for window in bpy.context.window_manager.windows:
        if window.scene != scene:
            continue
        for area in window.screen.areas:
            if area.type != "VIEW_3D":
                continue
            region = next(r for r in area.regions if r.type == "WINDOW")
            seen_at = ends @ np.array(area.spaces.active.region_3d.perspective_matrix).T
            if (seen_at[:, 3] <= 0).any():
                # One end lies behind the eye, which is close.
                return float("inf")
            at = seen_at[:, :2] / seen_at[:, 3:] * (region.width / 2, region.height / 2)
            longest = max(longest, float(np.linalg.norm(at[1] - at[0])))
    return longest


def _eye(matrix: Any, perspective: bool) -> NDArray[np.float64]:
    found = np.array(matrix.translation)
    return found if perspective else found + _FAR * np.array(matrix.col[2][:3])
