"""In the flat picture of two traces what is narrower than a pixel is merged, measured where it is seen."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("bpy")

import tracevis3d as tv
from tests.support.walked_traces import walked_trace
from tracevis3d.drawing.frame import Frame
from tracevis3d.drawing.output import Output
from tracevis3d.progress import silent
from tracevis3d.scene.build import seen

pytestmark = pytest.mark.blender


@pytest.mark.parametrize(
    ("size", "sets"), [("640x360", {}), ("900x700", {"opening": 160.0}), ("1200x400", {})]
)
def test_the_threshold_is_one_pixel_in_the_flat_picture(size, sets):
    traces = [walked_trace(3, threads=1, steps=4000), walked_trace(4, threads=1, steps=3500)]
    output = Output(style="flat", frame=Frame.parse(size))
    figure = tv.view("compare", *traces, **{"opening": 180.0, **sets})
    drawing = figure._measured(output, silent)
    view, _ = seen(drawing, "flat", output.frame)
    for source, trace in enumerate(traces):
        calls, clusters = (
            next(e for e in drawing.elements if e.kind == kind and e.source == source)
            for kind in ("call", "cluster")
        )
        low = calls.low.astype(np.float64)
        ends = [view.pixels(low + calls.size * [share, 0, 0])[:, 0] for share in (0.0, 1.0)]
        wide = ends[1] - ends[0]
        assert wide.min() >= 0.999
        # What was merged is narrower: no call that takes a pixel is missing.
        lasted = (trace.calls.end - trace.calls.start).astype(np.float64)
        of = calls.id
        per_ns = float(np.median(wide / np.maximum(lasted[of], 1)))
        assert (lasted[clusters.id] * per_ns).max() < 1.001
