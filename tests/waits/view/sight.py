"""What is seen of a picture of threads: how many funnels cross, and how much of the rows they hide."""

from __future__ import annotations

from typing import Any

import numpy as np

from tracevis3d.drawing.frame import Frame
from tracevis3d.drawing.primitives import Drawing, Tubes
from tracevis3d.drawing.projection import fit
from tracevis3d.features.waits.view.layout import SHARE, Layout


def paths(drawing: Drawing, frame: Frame) -> list[Any]:
    """Return the way of each funnel on the picture, in pixels."""
    view = fit(drawing.camera, frame, SHARE)
    found = []
    for tubes in drawing.elements:
        if tubes.kind in ("correspondence", "correspondence out of sight"):
            at = view.pixels(tubes.point)
            found += [at[low:high:4] for low, high in zip(tubes.first, tubes.first[1:])]
    return found


def crossing(drawing: Drawing, frame: Frame) -> float:
    """Return the share of the pairs of funnels that cross on the picture."""
    ways = paths(drawing, frame)
    pairs = [(a, b) for i, a in enumerate(ways) for b in ways[:i]]
    return sum(cross(a, b) for a, b in pairs) / max(len(pairs), 1)


def cross(a: Any, b: Any) -> bool:
    """Return whether two ways on the picture cross."""
    if a[:, 0].min() > b[:, 0].max() or b[:, 0].min() > a[:, 0].max():
        return False

    def side(p: Any, q: Any, r: Any) -> Any:
        u, v = q - p, r - p
        return u[..., 0] * v[..., 1] - u[..., 1] * v[..., 0]

    p, q, r, s = a[:-1, None], a[1:, None], b[None, :-1], b[None, 1:]
    return bool(((side(p, q, r) * side(p, q, s) < 0) & (side(r, s, p) * side(r, s, q) < 0)).any())


def hidden(drawing: Drawing, picture: Layout, frame: Frame) -> float:
    """Return the share of the rows' area that funnels hide from the camera."""
    view = fit(drawing.camera, frame, SHARE)
    covered = np.full((frame.height, frame.width), np.inf)
    for tubes in drawing.elements:
        if tubes.kind != "correspondence" or not isinstance(tubes, Tubes):
            continue
        for low, high in zip(tubes.first, tubes.first[1:]):
            way = np.linspace(0, high - low - 1, 160)
            whole = np.arange(high - low)
            point = np.column_stack([np.interp(way, whole, tubes.point[low:high, k]) for k in range(3)])
            half = np.column_stack([np.interp(way, whole, tubes.radius[low:high, k]) for k in (0, 1)])
            # Of a section, as wide along time as it is, as many points as it has pixels at most.
            share = np.linspace(-1, 1, 60)
            at = point[:, None] + share[None, :, None] * half[:, :1, None] * np.array([1.0, 0.0, 0.0])
            at = at.reshape(-1, 3)
            x, y = view.pixels(at).round().astype(int).T
            inside = (x >= 0) & (x < frame.width) & (y >= 0) & (y < frame.height)
            np.minimum.at(covered, (y[inside], x[inside]), ((at - view.eye) @ view.forward)[inside])
    grid = np.meshgrid(np.arange(len(picture.rows)), np.linspace(0.002, 0.998, 400), np.arange(0.1, 1.0, 0.2))
    row, along, out = (a.reshape(-1) for a in grid)
    at = picture.theatre.place(row, along, out * picture.reach(row), 0.06)
    x, y = view.pixels(at).round().astype(int).T
    return float((covered[y, x] < (at - view.eye) @ view.forward - 0.05).mean())
