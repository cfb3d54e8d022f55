"""The flat twin, rendered, is the plain icicle plot as a few lines of NumPy draw it from the calls."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.walked_traces import walked_trace
from tracevis3d.drawing.frame import Frame
from tracevis3d.features.call_tree.icicle.parameters import Parameters
from tracevis3d.features.call_tree.icicle.view import VIEW
from tracevis3d.progress import silent
from tracevis3d.views.time_window import WIDTH

bpy = pytest.importorskip("bpy")

pytestmark = pytest.mark.blender
FRAME = Frame(960, 540)


def plot(trace, drawing, width: int) -> np.ndarray:
    """Return the palette index of each pixel of the plain icicle plot, level by level; -1 where no call is.

    Written from the definition alone: the colour is looked up by the function's container.
    """
    calls = trace.calls
    color_of = {}
    for boxes in drawing.elements:
        if boxes.kind == "call":
            for call, color in zip(boxes.id.tolist(), boxes.color.tolist()):
                color_of[int(trace.functions.container[calls.function[call]])] = color
    start, end = int(calls.start.min()), int(calls.end.max())
    time = start + (np.arange(width) + 0.5) * (end - start) / width
    picture = np.full((int(calls.depth.max()), width), -1)
    for call in range(len(calls)):
        inside = (time >= calls.start[call]) & (time < calls.end[call])
        container = int(trace.functions.container[calls.function[call]])
        picture[calls.depth[call] - 1, inside] = color_of.get(container, -2)
    return picture


@pytest.mark.parametrize("opening", [0.0, 1.0])
def test_the_flat_style_shows_the_plain_icicle_plot(tmp_path, opening):
    """Whatever the drawing's opening is: seen straight from the front it is the plain plot."""
    from tracevis3d.scene import build
    from tracevis3d.scene.output import engines, render

    if not {engine.name: engine.ok for engine in engines.examine()}["workbench"]:
        pytest.skip("workbench does not work here")
    trace = walked_trace(21, threads=1, steps=60, modules=4)
    settings = Parameters(
        opening=opening, color="module", labels=0, resolution=0.05, taper=0.0, measure="none"
    )
    drawing = VIEW.draw([trace], settings, FRAME, silent)
    bpy.ops.wm.read_factory_settings(use_empty=True)
    built = build.build(drawing, style="flat", frame=FRAME)
    render.still(built, tmp_path / "flat.png", engine="workbench")
    image = bpy.data.images.load(str(tmp_path / "flat.png"))
    pixels = np.empty(FRAME.width * FRAME.height * 4, np.float32)
    image.pixels.foreach_get(pixels)
    pixels = pixels.reshape(FRAME.height, FRAME.width, 4)[..., :3]

    levels = int(trace.calls.depth.max())
    (lane,) = [e for e in drawing.elements if e.kind == "riser"]
    bottom, top = float(lane.low[0, 2]), float(lane.low[0, 2] + lane.size[0, 2])
    front = float(drawing.elements[0].low[0, 1])
    ends = built.view.pixels([(0, front, bottom), (WIDTH, front, top)])
    width = int(ends[1, 0] - ends[0, 0])
    plain = plot(trace, drawing, width)
    columns = np.floor(ends[0, 0] + (np.arange(width) + 0.5)).astype(int)
    rows = np.floor(ends[0, 1] + (np.arange(levels) + 0.5) / levels * (ends[1, 1] - ends[0, 1])).astype(int)
    # Boxes have darker rims: look at pixels with two neighbours of the same call's colour on each side.
    inner = np.ones_like(plain, np.bool_)
    for shift in (-3, -2, -1, 1, 2, 3):
        inner &= np.roll(plain, shift, axis=1) == plain
    inner[:, :4] = inner[:, -4:] = False
    compared = inner & (plain >= 0)
    assert compared.mean() > 0.2
    seen = pixels[rows[:, None], columns[None, :]]
    wrong = np.abs(seen - drawing.palette[np.maximum(plain, 0), :3]).max(axis=2) > 3 / 255
    # Neighbouring calls of one colour still have rims between them, and rounding moves an edge by a pixel.
    assert (wrong & compared).sum() <= 0.02 * compared.sum()
    none = inner & (plain == -1)
    kinds = drawing.palette[sorted(set(plain[plain >= 0].tolist())), :3]
    colored = (np.abs(seen[none][:, None] - kinds[None]).max(axis=2) < 3 / 255).any(axis=1)
    assert colored.mean() < 0.01
