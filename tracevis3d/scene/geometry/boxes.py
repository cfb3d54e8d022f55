"""Boxes become instances of chamfered unit boxes, one template part per colour and rough proportion."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...drawing.primitives import Boxes
from ...kernels.layout.box_parts import box_parts, recode
from .. import materials
from ..digest import digest
from ..styles import Light, Style
from . import templates
from .instances import Instances, placed

#: Beyond this many parts the template itself would be slow: then depth and height share one proportion.
_MOST_PARTS = 4096
_WIDEST_CHAMFER = 0.16
#: Boxes of lower buckets than this, across the view, are plain: under 4 chamfers wide.
_NARROW = 2
_WIDTH_OF_RIB = 2.4  # in chamfers
#: In the economical form, boxes are shorter by this share of a chamfer at each end: neighbours stay apart.
_GAP = 0.5
#: Ribs of a cluster in the economical form.
_FEW_RIBS = 3


def chamfer_width(boxes: Boxes, style: Style) -> float:
    """Return the width of the edges: a share of the usual box height.

    Parameters
    ----------
    boxes : Boxes
    style : Style

    Returns
    -------
    float
        Scene units.
    """
    if not len(boxes):
        return 1.0
    sample = boxes.size[:: max(1, len(boxes) // 1000)]
    # For high, thin plates the thickness counts, so that their edges stay fine.
    height = float(np.median(np.minimum(sample[:, 2], 8 * sample[:, 1])))
    if not height > 0:
        height = float(np.median(sample.max(axis=1)))
    return max(style.chamfer * height, 1e-9)


def _codes(boxes: Boxes, edge: float, colors: int) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return each box's template part, and each part's code (colour and buckets), same shapes together."""
    n = templates.BUCKETS
    size = np.ascontiguousarray(boxes.size, np.float32)
    color = np.ascontiguousarray(boxes.color, np.int32)
    part = np.empty(len(boxes), np.int32)
    used = np.zeros(colors * n**3, np.uint8)
    box_parts(size, color, np.float32(edge), n, colors, part, used)
    codes = np.flatnonzero(used)
    if len(codes) > _MOST_PARTS:
        # All boxes of one colour and width share the parts of the middle depth and height.
        codes_kept, rank_of = np.unique(
            codes // n**2 * n**2 + int(np.median(codes % n**2)), return_inverse=True
        )
    else:
        codes_kept, rank_of = codes, np.arange(len(codes))
    by_shape = np.argsort(codes_kept % n**3, kind="stable")
    place = np.empty(len(by_shape), np.int32)
    place[by_shape] = np.arange(len(by_shape), dtype=np.int32)
    rank = np.zeros(len(used), np.int32)
    rank[codes] = place[rank_of]
    recode(part, rank)
    return part, codes_kept[by_shape]


def _shares(code: int, facing: int) -> tuple[float, float, float] | None:
    """Return the chamfer's share of the box along x, y and z for a bucket code.

    None: across the view the box is hardly wider than its chamfers would be, so that it gets none.
    """
    n = templates.BUCKETS
    buckets = (code // n**2 % n, code // n % n, code % n)
    if min(b for axis, b in enumerate(buckets) if axis != facing) < _NARROW:
        return None
    x, y, z = (min(_WIDEST_CHAMFER, 2.0 ** -(b + 0.5)) for b in buckets)
    return x, y, z


def _ribs(code: int, facing: int) -> int:
    """Return how many ribs a cluster of this proportion has: odd, ribs about equally high everywhere."""
    upwards = 2 if facing != 2 else 1
    height = 2.0 ** (code // templates.BUCKETS ** (2 - upwards) % templates.BUCKETS + 0.5)
    return int(min(max(3, round(height / _WIDTH_OF_RIB)), 61)) | 1


def _facing(light: Light) -> int:
    return int(np.argmax(np.abs(light.facing)))


def triangles(boxes: Boxes, style: Style, light: Light, coarse: int) -> int:
    """Return how many triangles the economical form has.

    Parameters
    ----------
    boxes : Boxes
    style : Style
    light : Light
    coarse : int
        Its coarseness, as for :func:`lay`.

    Returns
    -------
    int
    """
    count = 12 * len(boxes)
    if boxes.look == "cluster" and coarse == 0:
        across = np.delete(boxes.size, _facing(light), axis=1)
        wide = (across >= np.float32(chamfer_width(boxes, style)) * 2**_NARROW).all(axis=1)
        count += 4 * (_FEW_RIBS - 1) * int(np.count_nonzero(wide))
    return count


def lay(boxes: Boxes, palette: NDArray[np.float32], style: Style, light: Light, coarse: int = 0) -> Instances:
    """Return the instances that show ``boxes``.

    Parameters
    ----------
    boxes : Boxes
    palette : float32 (k, 4)
        sRGB.
    style : Style
    light : Light
    coarse : int
        Of the economical form: from 1 on, boxes of clusters have no ribs in it.

    Returns
    -------
    Instances
    """
    facing = _facing(light)
    part, codes = _codes(boxes, chamfer_width(boxes, style), len(palette))

    cluster = boxes.look == "cluster"

    def full(code: int) -> templates.Shape:
        return templates.box(_shares(code, facing), facing, _ribs(code, facing) if cluster else 0)

    def plain(code: int) -> templates.Shape:
        # A box without a chamfer has no gap and no ribs.
        shares = _shares(code, facing)
        x, y, z = shares or (0.0, 0.0, 0.0)
        ribs = (_FEW_RIBS if shares is not None and coarse == 0 else 1) if cluster else 0
        return templates.plain_box((_GAP * x, _GAP * y, _GAP * z), facing, ribs)

    def template(name: str, shape_of: Callable[[int], templates.Shape]) -> Any:
        same_shape = np.split(codes, np.flatnonzero(np.diff(codes % templates.BUCKETS**3)) + 1)
        parts = [
            (shape_of(int(same[0])), palette[same // templates.BUCKETS**3])
            for same in same_shape
            if len(same)
        ]
        return templates.template(name, parts, style, light, materials.veil(boxes.look))

    return Instances(
        boxes.low,
        boxes.size,
        part,
        boxes.id,
        boxes.time,
        materials.surface(boxes.look, style),
        digest(codes, palette[codes // templates.BUCKETS**3], style, light, boxes.look, coarse),
        partial(template, shape_of=full),
        partial(template, shape_of=plain),
    )


def show(boxes: Boxes, palette: NDArray[np.float32], style: Style, light: Light, name: str) -> Any:
    """Return the object that shows boxes.

    Parameters
    ----------
    boxes : Boxes
    palette : float32 (k, 4)
        sRGB.
    style : Style
    light : Light
    name : str
        Of the object.

    Returns
    -------
    bpy.types.Object
    """
    return placed(name, lay(boxes, palette, style, light))
