"""Names in a cone tree: those in front, the most interesting first."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...drawing.frame import Frame
from ...drawing.projection import Projection, fit
from ...drawing.words import Camera, Labels
from ...layout.ticks import count
from .composition import Composition
from .parameters import Parameters

#: Pixels of a line by the least that can be read: of names, and of the threads' titles.
_NAME, _THREAD = 1.8, 2.3
#: A node in front of its cone's middle is this much more worth a name than one behind it.
_FRONT = 3.0
#: Width of a character by the line height, about.
_CHARACTER = 0.5
#: Balls that can cover a name: so many, the nearest to the camera.
_IN_FRONT = 3000


def labels(
    picture: Composition,
    camera: Camera,
    faded: NDArray[np.bool_],
    path: NDArray[np.int64],
    p: Parameters,
    frame: Frame,
) -> list[Labels]:
    """Return the names of nodes, of closed subtrees with what they hold, and of threads.

    Names lie in the picture's plane, all at one height in pixels. Those behind are left out where one in
    front covers their place; the path's and the focus's come first.
    """
    projection = fit(camera, frame, (0.86, 0.8))
    toward = -projection.forward
    unit = _units_per_pixel(projection, picture)
    named = np.flatnonzero((picture.nodes.depth > 1) & ~faded)
    rank = np.log2(1.0 + picture.below) - 0.6 * picture.nodes.depth
    inner = picture.nodes.parent >= 0
    offset = np.zeros(len(picture))
    offset[inner] = ((picture.center[inner] - picture.center[picture.nodes.parent[inner]]) * toward).sum(
        axis=1
    )
    rank += _FRONT * np.sign(np.round(offset / max(float(picture.radius.max(initial=1.0)), 1e-9), 3))
    rank[path] += 8.0
    rank[picture.focus] += 12.0
    height = _NAME * frame.least_text * unit
    texts = _texts(picture, named)
    # A name that a nearer ball covers can't be read, and one whose own ball is covered points nowhere.
    visible = _visible(picture, projection, toward, named, [len(text) for text in texts], height)
    kept = named[visible | np.isin(named, path) | np.isin(named, picture.focus)]
    named = kept[np.argsort(-rank[kept], kind="stable")][: p.labels]
    texts = _texts(picture, named)
    trace = picture.trace
    found = []
    if texts:
        at = picture.center[named] + toward * (1.1 * picture.radius[named, None])
        at = at + projection.right * (picture.radius[named, None] + 0.3 * height[named, None])
        found.append(
            Labels(
                "name", tuple(texts), at.astype(np.float32), height[named].astype(np.float32),
                np.full(len(named), np.inf, np.float32), rank[named].astype(np.float32), -1,
                _vector(projection.right), _vector(projection.up),
            )
        )  # fmt: skip
    roots = np.flatnonzero(picture.nodes.depth == 1)
    if len(roots):
        tall = _THREAD * frame.least_text * unit[roots]
        above = picture.center[roots] + projection.up * (picture.radius[roots] + 0.8 * tall)[:, None]
        titles = tuple(trace.threads.title(int(t)) for t in picture.threads[: len(roots)])
        found.append(
            Labels(
                "thread", titles, above.astype(np.float32), tall.astype(np.float32),
                np.full(len(roots), np.inf, np.float32), np.full(len(roots), 100.0, np.float32), 0,
                _vector(projection.right), _vector(projection.up),
            )
        )  # fmt: skip
    return found


def _vector(v: NDArray[np.float64]) -> tuple[float, float, float]:
    return float(v[0]), float(v[1]), float(v[2])


def _units_per_pixel(projection: Projection, picture: Composition) -> NDArray[np.float64]:
    step = projection.right * 0.01
    here, there = projection.pixels(picture.center), projection.pixels(picture.center + step)
    return np.asarray(0.01 / np.maximum(np.hypot(*(there - here).T), 1e-9))


def _visible(
    picture: Composition,
    projection: Projection,
    toward: NDArray[np.float64],
    named: NDArray[np.int64],
    characters: list[int],
    height: NDArray[np.float64],
) -> NDArray[np.bool_]:
    """Whether neither the ball nor the name of each node is covered by a nearer ball."""
    pixel = projection.pixels(picture.center)
    near = picture.center @ toward
    unit = _units_per_pixel(projection, picture)
    size = picture.radius / unit
    order = np.argsort(-near)[:_IN_FRONT]
    shown = np.ones(len(named), np.bool_)
    for k, i in enumerate(named.tolist()):
        front = order[near[order] > near[i] + 1e-6]
        x, y = (pixel[front] - pixel[i]).T
        left = size[i] + 0.3 * height[i] / unit[i]
        right = left + _CHARACTER * characters[k] * height[i] / unit[i]
        beside = np.maximum(np.maximum(left - x, x - right), 0.0)
        over = np.maximum(np.abs(y) - 0.35 * height[i] / unit[i], 0.0)
        covered = np.hypot(x, y) < 0.8 * size[front]
        shown[k] = not (covered | (np.hypot(beside, over) < size[front])).any()
    return shown


def _texts(picture: Composition, named: NDArray[np.int64]) -> list[str]:
    trace, graph, closed = picture.trace, picture.graph, picture.closed
    texts = []
    for i in named.tolist():
        text = trace.functions.label[graph.subtrees.function[picture.nodes.node[i]]]
        if picture.iterations[i] > 1:
            text += f" \u00d7{count(int(picture.iterations[i]))}"
        if closed[i]:
            text += f" +{count(int(picture.below[i] - 1))}"
        texts.append(text)
    return texts
