"""The picture's colours are the palette's, in every engine."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from tests.support.drawings import pixels, rows  # noqa: E402
from tracevis3d.drawing.frame import Frame  # noqa: E402
from tracevis3d.drawing.primitives import Drawing  # noqa: E402
from tracevis3d.scene import build  # noqa: E402
from tracevis3d.scene.output import engines, render  # noqa: E402
from tracevis3d.scene.styles import named as style_named  # noqa: E402

BLUE, BLACK = (0.1, 0.5, 0.8), (0.12, 0.12, 0.13)


def test_nothing_is_lost_on_a_dark_ground():
    palette = np.float32([[*BLUE, 1], [*BLUE, 0.4], [*BLACK, 1]])
    paper, stage = (style_named(name) for name in ("paper", "stage"))
    on_paper, on_stage = build.opaque(palette, paper), build.opaque(palette, stage)
    assert np.allclose(on_paper, [[*BLUE, 1], [0.64, 0.8, 0.92, 1], [*BLACK, 1]], atol=1e-6)
    assert np.allclose(on_stage[0], palette[0])
    even = np.array(stage.background) + 0.4 * (np.array(BLUE) - stage.background)
    assert (even < on_stage[1, :3]).all()
    assert (on_stage[1, :3] < BLUE).all()
    assert np.allclose(on_stage[2, :3], stage.ink)


pytestmark = pytest.mark.blender
WORKING = {engine.name: engine.ok for engine in engines.examine()}


def shown(
    tmp_path: Path, style: str, engine: str, drawing: Drawing
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Render; return the wanted colours, those of the boxes' fronts and those of the legend, 0 to 255."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    built = build.build(drawing, style=style, frame=Frame(480, 270))
    out = tmp_path / f"{style}_{engine}.png"
    render.still(built, out, engine=engine, samples=4 if engine == "eevee" else 8)
    picture = pixels(out)
    boxes = drawing.elements[0]
    middle = boxes.low + boxes.size * [0.5, 0.0, 0.5]
    at = np.floor(built.view.pixels(middle)).astype(int)
    fronts = picture[at[:, 1], at[:, 0]]
    entries = [s for s in built.surround.swatches if s.color >= 0]
    patch = np.array(
        [[(s.rectangle[0] + s.rectangle[2]) / 2, (s.rectangle[1] + s.rectangle[3]) / 2] for s in entries]
    )
    patch = np.floor(patch).astype(int)
    return drawing.palette[:, :3] * 255, fronts, picture[patch[:, 1], patch[:, 0]]


@pytest.mark.parametrize("engine", ["workbench", "cycles", "eevee"])
def test_flat_is_exact(tmp_path, engine):
    if not WORKING.get(engine):
        pytest.skip(f"{engine} does not work here")
    wanted, fronts, legend = shown(tmp_path, "flat", engine, rows())
    assert np.abs(fronts - wanted).max() <= 2
    assert np.abs(legend - wanted).max() <= 2


@pytest.mark.parametrize("style", ["paper", "stage"])
@pytest.mark.parametrize("engine", ["workbench", "cycles"])
def test_light_keeps_facing_colors(tmp_path, style, engine):
    """Lit fronts stay within 10 of 255 of their legend; the legend itself within 6, for the denoiser."""
    if not WORKING.get(engine):
        pytest.skip(f"{engine} does not work here")
    wanted, fronts, legend = shown(tmp_path, style, engine, rows())
    assert np.abs(legend - wanted).max() <= (6 if engine == "cycles" else 2)
    assert np.abs(fronts - wanted).max() <= 10


def test_ghosts_are_paler_and_clusters_are_ribbed(tmp_path):
    """Looks differ in Workbench too, where the surface can't be translucent."""
    if not WORKING.get("workbench"):
        pytest.skip("workbench does not work here")
    solid = rows()
    boxes = solid.elements[0]
    wanted, plain, _ = shown(tmp_path, "flat", "workbench", solid)
    ghosts = replace(solid, elements=(replace(boxes, look="ghost"),))
    _, pale, _ = shown(tmp_path, "flat", "workbench", ghosts)
    assert np.abs(plain - wanted).max() <= 2
    assert (pale.min(axis=1) > wanted.min(axis=1) + 20).all()
    clusters = replace(solid, elements=(replace(boxes, look="cluster"),))
    bpy.ops.wm.read_factory_settings(use_empty=True)
    built = build.build(clusters, style="flat", frame=Frame(480, 270))
    render.still(built, tmp_path / "clusters.png", engine="workbench")
    picture = pixels(tmp_path / "clusters.png")
    foot = built.view.pixels(boxes.low[:1] + boxes.size[:1] * [0.5, 0, 0.05])[0].astype(int)
    head = built.view.pixels(boxes.low[:1] + boxes.size[:1] * [0.5, 0, 0.95])[0].astype(int)
    column = picture[foot[1] : head[1], foot[0]].sum(axis=1)
    assert np.count_nonzero(np.abs(np.diff(np.sign(column - column.mean())))) >= 4


def test_ink_reads_well_on_any_colour():
    """WCAG 2: a contrast of 4.5 to 1 at least, on all that texts may lie on."""
    rng = np.random.default_rng(1)
    named = np.array([[0xA8, 0x74, 0x1A], [0xE8, 0x59, 0x0C], [0xE0, 0x7B, 0x00], [0x7F, 0x7F, 0x7F]]) / 255
    palette = np.concatenate([named, rng.random((5000, 3))])
    palette = np.column_stack([palette, np.ones(len(palette))]).astype(np.float32)
    inks = build.inks_on(np.arange(len(palette), dtype=np.int32), len(palette), palette, style_named("paper"))

    def luminance(srgb):
        linear = np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)
        return linear @ [0.2126, 0.7152, 0.0722]

    one, other = luminance(palette[:, :3].astype(float)) + 0.05, luminance(inks) + 0.05
    assert (np.maximum(one, other) / np.minimum(one, other)).min() >= 4.5
