"""Drawings to try the scene with."""

from pathlib import Path

import numpy as np

from tracevis3d.drawing.primitives import (
    Axis,
    Boxes,
    Camera,
    Drawing,
    Image,
    Labels,
    Legend,
    LegendEntry,
    Lines,
    Marks,
    Tubes,
    Wedges,
)

HOSTILE = ("x" * 10_000, "a\nb\x00", "", "\u202egnp.exe", "日本語のメソッド", "𝒜" * 50, "(" * 300)


def rows(n: int = 6, depth: float = 1.0) -> Drawing:
    """Return a drawing of n boxes side by side, each of another colour, and their legend."""
    rng = np.random.default_rng(7)
    palette = np.column_stack([rng.uniform(0.15, 0.8, (n, 3)), np.ones(n)]).astype(np.float32)
    low = np.stack([np.arange(n) * 2.0, np.full(n, -depth), np.zeros(n)], axis=1).astype(np.float32)
    size = np.tile([1.9, depth, 2.0], (n, 1)).astype(np.float32)
    boxes = Boxes("call", low, size, np.arange(n, dtype=np.int32), np.arange(n, dtype=np.int64))
    camera = Camera((0, -1, 0), (0, -depth, 0), (2.0 * n, 0, 2.0), projection="orthographic")
    legend = Legend("", tuple(LegendEntry(f"c{i}", i) for i in range(n)))
    return Drawing(palette, (boxes,), camera, legends=(legend,), title="colours")


def ring(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the corners and first sections of n blocks around a circle of radius 3 to 4."""
    angle = np.concatenate([np.linspace(k, k + 0.9, 4) * 2 * np.pi / n for k in range(n)])
    out = np.stack([np.cos(angle), np.zeros_like(angle), np.sin(angle)], axis=1)
    up = np.array([0.0, 1.0, 0.0])
    corner = np.stack([3 * out, 4 * out, 4 * out + up, 3 * out + up], axis=1)
    return corner.astype(np.float32), np.arange(0, 4 * n + 1, 4)


def picture(rows: int = 8, columns: int = 6) -> Image:
    """Return an image on a bent surface, half of which nothing covers."""
    r, c = np.mgrid[:rows, :columns]
    point = np.stack([c, -np.cos(c / 2.0), 10.0 - r], axis=-1).astype(np.float32)
    pixel = np.zeros((rows, columns, 4), np.uint8)
    pixel[..., 0], pixel[..., 1], pixel[..., 3] = 30 * r, 40 * c, np.where(c < columns // 2, 255, 0)
    return Image("sequence", point, pixel, np.linspace(0, 1, rows).astype(np.float32))


def everything(n: int = 300, seed: int = 0) -> Drawing:
    """Return a drawing with each kind of word in it."""
    rng = np.random.default_rng(seed)
    palette = np.column_stack([rng.random((9, 3)), np.ones(9)]).astype(np.float32)
    low = (rng.random((n, 3)) * [40, 2, 12]).astype(np.float32)
    size = (rng.random((n, 3)) * [4, 1, 0.9]).astype(np.float32)
    color = rng.integers(0, 9, n).astype(np.int32)
    ids = np.arange(n, dtype=np.int64) + 2**40
    time = np.stack([low[:, 0] / 50, (low[:, 0] + size[:, 0]) / 50], axis=1).astype(np.float32)
    u = np.linspace(0, 1, 20)
    path = np.concatenate([np.stack([40 * u, np.sin(5 * u), i + np.cos(4 * u)], axis=1) for i in range(3)])
    first = np.array([0, 20, 40, 60])
    three = np.arange(3)
    names = tuple(HOSTILE[i % len(HOSTILE)] if i % 3 else f"function_{i}" for i in range(n))
    return Drawing(
        palette,
        (
            Boxes("call", low, size, color, ids, time),
            Boxes("cluster", low + 1, size / 3, color, ids, time, look="cluster"),
            Boxes("context", low, size, color, ids, look="ghost"),
            Tubes("match", path.astype(np.float32), np.full((60, 2), 0.2, np.float32), first, three, three),
            Tubes(
                "call between elements",
                path.astype(np.float32) + 2,
                np.full((60, 2), 0.2, np.float32),
                first,
                three,
                three,
                end_color=three[::-1].copy(),
                time=np.array([0, 0.3, 0.9], np.float32),
            ),
            Wedges("sector", *ring(5), np.arange(5, dtype=np.int32), np.arange(5, dtype=np.int64)),
            picture(),
            Lines("link", path.astype(np.float32) + 1, first, np.full(3, 0.1, np.float32), three, three),
            *(
                Marks("event", s, low[:5], np.full(5, 0.5, np.float32), color[:5], ids[:5])
                for s in ("sphere", "diamond", "cone", "pin")
            ),
        ),
        Camera((-0.3, -1, 0.3), (0, 0, 0), (44, 3, 13)),
        labels=(
            Labels(
                "call", names, low, np.full(n, 0.6, np.float32), size[:, 0], size[:, 0], -1, background=color
            ),
            Labels(
                "thread",
                ("MainThread",),
                np.array([[-0.5, 0, 1]], np.float32),
                np.array([0.8], np.float32),
                np.array([np.inf], np.float32),
                np.array([1e6], np.float32),
                1,
            ),
        ),
        axes=(
            Axis(
                (0, 0, -0.3), (1, 0, 0), 44, (0, 10, 20, 30, 40), ("0", "1", "2", "3", "4"), (5,), "time (s)"
            ),
        ),
        legends=(
            Legend("module", tuple(LegendEntry(name, i % 9) for i, name in enumerate(HOSTILE * 4))),
            Legend("self time", ramp=(0, 8), ramp_tick=(0.0, 1.0), ramp_text=("0", "1 s")),
        ),
        title="A title " * 40,
        notes=("3 calls", "two\nlines"),
    )


def pixels(path: Path) -> np.ndarray:
    """Return the picture's sRGB values, rows from below, 0 to 255."""
    import bpy

    image = bpy.data.images.load(str(path), check_existing=False)
    width, height = image.size
    values = np.empty(width * height * 4, np.float32)
    image.pixels.foreach_get(values)
    bpy.data.images.remove(image)
    return values.reshape(height, width, 4)[..., :3] * 255
