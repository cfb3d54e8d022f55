"""What the mouse and the eye wait for: what lies under a pixel, and more detail where one zooms in."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

import tracevis3d as tv
from benchmarks.measure import HUGE, RECORDED, best, row
from tests.support import synthetic
from tracevis3d.drawing.frame import Frame
from tracevis3d.drawing.primitives import Camera
from tracevis3d.drawing.projection import fit
from tracevis3d.layout.sight.picking import BoxPicker, Ray, TubePicker
from tracevis3d.trace.model import Calls, Functions, Source, Threads, Trace
from tracevis3d.trace.strings import Strings
from tracevis3d.views import registry

N = 1_000_000


def rows() -> list[dict[str, Any]]:
    """Measure; times in milliseconds."""
    return [*picks(), *details(14_000_000 if HUGE else 2_400_000), *cones(14_000_000 if HUGE else 2_400_000)]


def picks() -> list[dict[str, Any]]:
    """Measure the slowest of 300 rays, against testing every box with NumPy."""
    rng = np.random.default_rng(1)
    low, size = lanes(rng)
    BoxPicker(low[:100], size[:100]).pick(Ray.of((0, -9, 0), (0, 1, 0), growth=1e-3))  # compile
    picker, built = best(3, partial(BoxPicker, low, size))
    result = [
        row(f"pick: tree of {N:,} boxes", built, best(1, partial(np.lexsort, low.T))[1], "NumPy lexsort")
    ]
    for name, ray in (("from the front", front), ("along the lanes", grazing)):
        rays = [ray(rng) for _ in range(300)]
        ours = max(best(3, partial(picker.pick, one))[1] for one in rays)
        peer = best(3, partial(every_box, low, size, rays[0]))[1]
        result.append(row(f"pick: {N:,} boxes {name}, the slowest of 300", ours, peer, "NumPy, every box"))
    middle = (rng.random((N, 1, 3)) * [16, 2, 6] + rng.normal(size=(N, 8, 3)) * 0.02).reshape(-1, 3)
    across = np.zeros((8 * N, 6), np.float32)
    across[:, 0] = across[:, 4] = 0.002
    tubes, built = best(
        1, partial(TubePicker, middle.astype(np.float32), across, np.arange(0, 8 * N + 1, 8, dtype=np.int64))
    )
    rays = [front(rng) for _ in range(300)]
    ours = max(best(3, partial(tubes.pick, one))[1] for one in rays)
    low, size = low[: N // 2], size[: N // 2]
    result.append(row(f"pick: {N:,} tubes of 8 points, the slowest of 300", ours, peer, "NumPy, every box"))
    return result


def lanes(rng: np.random.Generator) -> tuple[Any, Any]:
    """Return boxes as an icicle has them: 20 rows, of chance widths."""
    per = N // 20
    low, size = np.zeros((N, 3), np.float32), np.zeros((N, 3), np.float32)
    for level in range(20):
        part, edge = slice(level * per, (level + 1) * per), np.sort(rng.random(per + 1)) * 16
        low[part, 0], size[part, 0] = edge[:-1], np.diff(edge)
        low[part, 2], size[part, 2] = 0.3 * level, 0.27
        size[part, 1] = rng.random(per) + 0.1
        low[part, 1] = -size[part, 1]
    return low, size


def front(rng: np.random.Generator) -> Ray:
    """Return a ray as the mouse points from before the wall."""
    return Ray.of(
        rng.random(3) * [16, 0, 6] - [0, 20, 0], (*(rng.normal(size=1) * 0.05), 1, 0.0), growth=1e-3
    )


def grazing(rng: np.random.Generator) -> Ray:
    """Return a ray that runs along the wall."""
    return Ray.of((-5, -0.05 - 0.1 * rng.random(), 6 * rng.random()), (1, *(rng.normal(size=2) * 1e-3)))


def every_box(low: Any, size: Any, ray: Ray) -> int:
    """Return the first box that a ray meets, by trying each."""
    with np.errstate(divide="ignore", invalid="ignore"):
        a, b = (low - ray.origin) / ray.direction, (low + size - ray.origin) / ray.direction
    enter, leave = np.fmin(a, b).max(axis=1), np.fmax(a, b).min(axis=1)
    return int(np.argmin(np.where((enter <= leave) & (leave > 0), enter, np.inf)))


def program(n: int) -> Trace:
    """Return the trace of a program that is made up."""
    return made(*synthetic.program(n))


def made(calls: Calls, first: Any, count: Any) -> Trace:
    """Return a trace of made-up calls, with the first call and the number of calls of each thread."""
    names = Strings.of([f"function {i}" for i in range(int(calls.function.max()) + 1)])
    unknown, ids = np.full(len(names), -1, np.int32), tuple(range(len(first)))
    texts = ("",) * len(ids)
    return Trace(
        calls=calls,
        functions=Functions(names, names, unknown, unknown, np.zeros(len(names), np.int32)),
        threads=Threads(ids, ids, texts, texts, np.asarray(first), np.asarray(count)),
        source=Source(path="synthetic", hash="0"),
        span_ns=int(calls.end.max()),
    )


def details(n: int) -> list[dict[str, Any]]:
    """Measure the boxes and names of an icicle from near, against drawing the same window anew."""
    trace = program(n)
    view, frame = registry.find("icicle"), Frame(1920, 1080)
    closer: Any = view.level_of_detail((trace,), view.parameters(), frame) if view.level_of_detail else None
    (pane,) = closer.panes
    low, high = pane.window
    rng = np.random.default_rng(1)
    result = []
    for zoom in (5, 50, 500):
        width = (high - low) // zoom
        start = low + int(rng.random() * (high - low - width))
        window = (start, start + width)
        ours = best(5, partial(closer.look, 0, window, zoom * pane.pixels_per_unit))[1]
        same = view.parameters(start=f"{window[0]}ns", end=f"{window[1]}ns")
        peer = best(3, partial(view.draw, (trace,), same, frame, lambda *_: None))[1]
        result.append(row(f"detail: {n:,} calls, {zoom} times nearer", ours, peer, "the view drawn anew"))
    return result


def cones(n: int) -> list[dict[str, Any]]:
    """Measure what opens in a cone tree from near, against drawing the tree around that call anew."""
    traces = [("vt_pylint_0.9M", trace) for trace in shared("vt_pylint_0.9M.json.gz")]
    view, frame = registry.find("cone"), Frame(1920, 1080)
    result = []
    for name, trace in [*traces, (f"{n:,} calls", program(n))]:
        closer: Any = (
            view.level_of_detail((trace,), view.parameters(), frame) if view.level_of_detail else None
        )
        picture = closer.picture
        seeds = np.flatnonzero(picture.closed)
        largest = seeds[np.argsort(-picture.below[seeds], kind="stable")[:3]]
        for share in (1.0, 0.1):
            eyes = []
            for i in largest:
                middle, reach = picture.center[i], share * picture.disc[i]
                low, high = (tuple((middle + side * reach).tolist()) for side in (-1, 1))
                eyes.append(fit(Camera(closer.camera.direction, low, high), frame))
            nothing = np.empty(0, np.int64)
            looks = [best(3, partial(closer.look_from, eye, nothing)) for eye in eyes]
            ours, opened = (
                max(ms for _, ms in looks),
                max(len(near.opened) if near else 0 for near, _ in looks),
            )
            call = int(picture.call[largest[0]])
            same = view.parameters(focus=str(call))
            peer = best(3, partial(view.draw, (trace,), same, frame, lambda *_: None))[1]
            what = f"cone tree from near: {name}, {1 / share:.0f} times as near as a cone, {opened} open"
            result.append(row(what, ours, peer, "the view drawn anew"))
    return result


def shared(name: str) -> list[Trace]:
    """Return a recorded trace, if it is there."""
    path = RECORDED / name
    return [tv.load(path)] if path.is_file() else []
