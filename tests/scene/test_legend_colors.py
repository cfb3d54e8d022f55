"""Every legend of every view, and bars in its colours, as they are rendered: what is seen is the colour map.

Differences are CAM02-UCS's, computed by colorspacious; about 1 can just be seen side by side.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

import tracevis3d as tv
from tests.support.drawings import pixels
from tests.support.walked_traces import walked_trace
from tracevis3d.drawing.frame import Frame
from tracevis3d.drawing.palettes import PALETTES
from tracevis3d.drawing.primitives import Boxes, Camera, Drawing, Legend, LegendEntry

bpy = pytest.importorskip("bpy")
colorspacious = pytest.importorskip("colorspacious")

from tracevis3d.scene import build  # noqa: E402
from tracevis3d.scene.output import engines, render  # noqa: E402

pytestmark = pytest.mark.blender
WORKING = {engine.name: engine.ok for engine in engines.examine()}
#: Views of one trace; that of two is added. (A ramp has the colours of the icicle.)
VIEWS = ("icicle", "threads", "interactions", "cone", "matrix", "city", "tracks")
#: Bars beside each other.
ACROSS = 24


def difference(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the differences between sRGB colours (n, 3), 0 to 1."""
    return colorspacious.deltaE(a, b, input_space="sRGB1", uniform_space="CAM02-UCS")


def seen_by(colors: np.ndarray, deficiency: str) -> np.ndarray:
    """Return how people without one sort of cones see sRGB colours (Machado and others 2009)."""
    space = {"name": "sRGB1+CVD", "cvd_type": deficiency, "severity": 100}
    return np.clip(colorspacious.cspace_convert(colors, space, "sRGB1"), 0, 1)


@pytest.fixture(scope="module")
def all_legends() -> Drawing:
    """Return a drawing with the legends of all views, and a bar in each of their colours."""
    one, other = walked_trace(5, steps=120, threads=2), walked_trace(6, steps=120, threads=2)
    drawings = [tv.view(name, one).drawing(Frame(640, 360)) for name in VIEWS]
    drawings.append(tv.compare(one, other).drawing(Frame(640, 360)))
    drawings.append(tv.compare(one, other, color="position").drawing(Frame(640, 360)))
    palettes, legends, colors, size = [], [], [], 0
    for drawing in drawings:
        palettes.append(drawing.palette)
        for legend in drawing.legends:
            entries = tuple(replace(e, text="m", color=e.color + size) for e in legend.entries)
            ramp = legend.ramp and (legend.ramp[0] + size, legend.ramp[1] + size)
            legends.append(replace(legend, title="", entries=entries, ramp=ramp, ramp_tick=(), ramp_text=()))
            colors += [entry.color for entry in entries]
            if ramp:
                colors += np.linspace(*ramp, 12).round().astype(int).tolist()
        size += len(drawing.palette)
    # Alike ones of several views count once.
    palette = np.concatenate(palettes)
    first = {tuple(palette[c].tolist()): c for c in reversed(colors)}
    shown = np.array(sorted(first.values()), np.int32)
    n = len(shown)
    place = np.stack([np.arange(n) % ACROSS, np.zeros(n), np.arange(n) // ACROSS], axis=1) * 2.0
    boxes = Boxes(
        "call",
        place.astype(np.float32),
        np.full((n, 3), 1.8, np.float32),
        shown,
        np.arange(n, dtype=np.int64),
    )
    high = (2.0 * ACROSS, 1.8, float(place[:, 2].max() + 2))
    camera = Camera((0, -1, 0), (0, 0, 0), high, projection="orthographic")
    return Drawing(palette, (boxes,), camera, legends=tuple(legends))


@pytest.mark.parametrize(
    ("style", "engine", "samples"),
    [("flat", "workbench", 1), ("paper", "workbench", 1), ("paper", "cycles", 2)],
)
def test_what_is_rendered_is_the_colour_map(tmp_path, all_legends, style, engine, samples) -> None:
    if not WORKING.get(engine):
        pytest.skip(f"{engine} does not work here")
    bpy.ops.wm.read_factory_settings(use_empty=True)
    built = build.build(all_legends, style=style, frame=Frame(900, 1350))
    assert built.counts["legend_entries_left_out"] == 0
    render.still(built, tmp_path / "x.png", engine=engine, samples=samples)
    picture = pixels(tmp_path / "x.png") / 255
    palette = build.opaque(all_legends.palette, built.style)[:, :3].astype(float)

    def at(points: np.ndarray) -> np.ndarray:
        where = np.floor(points).astype(int)
        return picture[where[:, 1], where[:, 0]].astype(float)

    swatches = [s for s in built.surround.swatches if s.color >= 0]
    # The lower part of a swatch shows its colour, also where it has a pattern.
    sides = np.array([s.rectangle for s in swatches])
    marks = np.stack([(sides[:, 0] + sides[:, 2]) / 2, 0.7 * sides[:, 1] + 0.3 * sides[:, 3]], axis=1)
    entries = sum(len(legend.entries) for legend in all_legends.legends)
    assert len(swatches) > entries > 20
    where = np.flatnonzero(sides[:, 2] - sides[:, 0] > 2)
    shown = at(marks[where])
    wanted = palette[[swatches[i].color for i in where]]
    looks = {e.color: e.look for legend in all_legends.legends for e in legend.entries}
    solid = np.array([looks.get(swatches[i].color, "solid") in ("solid", "glow") for i in where])
    assert difference(shown[solid], wanted[solid]).max() < 2
    boxes = all_legends.elements[0]
    front = boxes.low + boxes.size * [0.5, 0.0, 0.5]
    assert difference(at(built.view.pixels(front)), palette[boxes.color]).max() < 2


@pytest.mark.parametrize("name", [name for name in PALETTES if name != "paper"])
def test_neighbours_in_a_palette_stay_apart_in_grey_and_for_the_colour_blind(name) -> None:
    kinds = PALETTES[name].kinds[:, :3].astype(float)
    for deficiency in ("deuteranomaly", "protanomaly"):
        seen = seen_by(kinds, deficiency)
        assert difference(seen[:-1], seen[1:]).min() > 12
    grey = colorspacious.cspace_convert(kinds, "sRGB1", "CAM02-UCS")[:, 0]
    assert np.abs(np.diff(grey)).min() > 10


def test_neighbours_in_legends_stay_apart_for_the_colour_blind(all_legends) -> None:
    """Entries of one look that follow each other, as they are seen with any colour vision."""

    def neighbours(legend: Legend) -> list[tuple[LegendEntry, LegendEntry]]:
        return [(a, b) for a, b in pairwise(legend.entries) if a.look == b.look and a.color != b.color]

    pairs = [pair for legend in all_legends.legends for pair in neighbours(legend)]
    assert len(pairs) > 10
    palette = all_legends.palette[:, :3].astype(float)
    one, other = (palette[[pair[i].color for pair in pairs]] for i in (0, 1))
    for deficiency in (None, "deuteranomaly", "protanomaly"):
        a, b = (seen_by(c, deficiency) if deficiency else c for c in (one, other))
        assert difference(a, b).min() > 7, [p for p, d in zip(pairs, difference(a, b)) if d <= 7]
