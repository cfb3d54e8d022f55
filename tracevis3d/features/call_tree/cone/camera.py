"""The camera of a cone tree: for all of it, or on the way to one of its calls."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ....drawing.frame import Frame
from ....drawing.primitives import Camera
from ....drawing.projection import fit
from .layout import Layout
from .parameters import Parameters

Floats = NDArray[np.float64]

#: Sides of the box that must be in the picture, without its depth, relative to those of the ball in it.
_OF_BALL = 0.84
#: How much further the camera looks down on bubbles, in degrees.
_STEEPER = 29.0
#: Approximate share of the picture for the tree.
SHARE = (0.86, 0.8)


def whole(picture: Layout, p: Parameters, frame: Frame) -> Camera:
    """Return the camera that sees all of the tree.

    Parameters
    ----------
    picture : Layout
    p : Parameters
    frame : Frame
        Of the picture.

    Returns
    -------
    Camera
    """
    if len(picture.balls):
        elevation = np.radians(p.elevation)
        middle, far = picture.balls[:, :3], picture.balls[:, 3:]
        # A ball has no corners, so a smaller box is enough to fill the picture with it.
        far = far * [_OF_BALL, 1.0, _OF_BALL]
        low, high = (middle - far).min(axis=0), (middle + far).max(axis=0)
        return Camera(
            direction=(0.0, -float(np.cos(elevation)), float(np.sin(elevation))),
            low=(float(low[0]), float(low[1]), float(low[2])),
            high=(float(high[0]), float(high[1]), float(high[2])),
            lens=70.0,
        )
    elevation = np.radians(p.elevation if p.layout == "cone" else min(p.elevation + _STEEPER, 89.0))
    if p.recline:
        side = np.radians(90 * (1 - p.opening) + 18 * p.opening)
        elevation *= p.opening
        direction = (-np.sin(side) * np.cos(elevation), -np.cos(side) * np.cos(elevation), np.sin(elevation))
        direction = direction if p.opening else (-1.0, 0.0, 0.0)
        up = (0.0, 0.0, 1.0)
    else:
        elevation = np.radians(90 * (1 - p.opening)) + elevation * p.opening
        direction = (0.0, -float(np.cos(elevation)), float(np.sin(elevation)))
        up = (0.0, 0.0, 1.0) if p.opening else (0.0, 1.0, 0.0)
    points = _outline(picture, p)
    low, high = points.min(axis=0), points.max(axis=0)
    x, y, z = (float(v) for v in direction)
    camera = Camera(
        direction=(x, y, z),
        low=(float(low[0]), float(low[1]), float(low[2])),
        high=(float(high[0]), float(high[1]), float(high[2])),
        up=up,
        projection="perspective" if p.opening else "orthographic",
        lens=100.0,
    )
    return camera if p.opening == 0 or p.recline else _without_corners(camera, points, frame)


def on_the_way(p: Parameters, place: tuple[Floats, Floats], whole_tree: Camera) -> Camera:
    """Return the camera on its way from where it sees ``whole_tree`` to a ``place``, ever more slowly.

    What is there (:func:`.opened.goal`) then fills the picture. What is seen is a box that gets smaller by
    the same share in each step, so that what is ahead stays where it is in the picture.

    Parameters
    ----------
    p : Parameters
        ``approach`` says how far on the way.
    place : (float64 (3,), float64 (3,))
        The corners of the box to come to.
    whole_tree : Camera
        Where the way begins.

    Returns
    -------
    Camera
    """
    low, high = place
    begin, end = np.array([whole_tree.low, whole_tree.high]), np.array([low, high])
    middle, half = begin.mean(axis=0), np.ptp(begin, axis=0) / 2
    last, small = end.mean(axis=0), np.maximum(np.ptp(end, axis=0) / 2, 1e-9)
    half = np.maximum(half, 1e-9)
    size, least = float(half.max()), float(small.max())
    now = size * (least / size) ** p.approach
    left = (now - least) / (size - least) if size > least else 1.0 - p.approach
    middle, half = last + (middle - last) * left, half ** (1.0 - p.approach) * small**p.approach
    return replace(
        whole_tree, low=vector(middle - half), high=vector(middle + half), whole=False,
        all_of_it=(whole_tree.low, whole_tree.high),
    )  # fmt: skip


def vector(v: Floats) -> tuple[float, float, float]:
    """Return a vector as a drawing takes it."""
    return float(v[0]), float(v[1]), float(v[2])


def _outline(picture: Layout, p: Parameters) -> Floats:
    """Return points that must be in the picture, and hold all that is drawn in their middle, (n, 3)."""
    balls = picture.radius[:, None, None] * np.concatenate([np.eye(3), -np.eye(3)])
    turn = np.linspace(0, 2 * np.pi, 24, endpoint=False)
    wide = np.flatnonzero(
        (picture.ring > 0) if p.opening and p.layout == "cone" and p.shells != "none" else picture.disc > 0
    )
    closed = np.flatnonzero(picture.closed)
    foot = replace(picture, ring=0.92 * picture.disc, rim=picture.skirt) if p.opening else picture
    points = [
        (picture.center[:, None] + balls).reshape(-1, 3),
        picture.circle(wide, turn, p).reshape(-1, 3),
        foot.circle(closed, turn, p).reshape(-1, 3),
    ]
    if p.opening and not p.recline:
        roots = np.flatnonzero(picture.nodes.parent < 0)
        floor = replace(picture, ring=picture.disc).circle(roots, turn, p)
        floor[:, :, 2] = picture.floor
        points.append(floor.reshape(-1, 3))
    return np.concatenate(points)


def _without_corners(camera: Camera, points: Floats, frame: Frame) -> Camera:
    """Let the camera's box be no higher and wider than what the camera sees of the points in it.

    The box around a tree of cones has corners far from everything, for which the camera would step back.
    """
    near, far = camera.low[1], camera.high[1]
    seen = fit(camera, frame, SHARE)
    # Twice, because the visible part changes as the camera moves closer.
    for _ in range(2):
        way = points - seen.eye
        front, back = (seen.eye + way * ((y - seen.eye[1]) / way[:, 1])[:, None] for y in (near, far))
        low, high = front.min(axis=0), front.max(axis=0)
        top = max(float(back[:, 2].max()), float(low[2]) + 1e-3)
        camera = replace(camera, low=(float(low[0]), near, float(low[2])), high=(float(high[0]), far, top))
        seen = fit(camera, frame, SHARE)
    return camera
