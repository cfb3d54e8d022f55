"""Pages of a live view in the scene: meshes hold what the ring holds, however little of it has changed."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("bpy")
import bpy

from tracevis3d.drawing.palettes import OTHER
from tracevis3d.drawing.stream import LENGTH, Bars, LabelList, Page, StreamLabels, bars, box_sections
from tracevis3d.live.stream.pages import Ring
from tracevis3d.live.stream.ruler import ruler, ticks
from tracevis3d.scene import materials
from tracevis3d.scene.live.bar_mesh import color_corners, shaded
from tracevis3d.scene.live.pages import PageObjects, turned
from tracevis3d.scene.page import is_printed

WINDOW = 1000
PALETTE = np.linspace(0.1, 0.9, 12, dtype=np.float32).reshape(3, 4)


class Plain:
    """A live view whose bars a test decides."""

    along, coarse = "x", 1

    def __init__(self):
        self.window_ns = WINDOW
        self.relaid = self.renewed = False
        self.recolored = True
        self.coming, self.going = Bars.empty(), Bars.empty()
        self.lifted = 0.0
        self.colors = PALETTE

    def advance(self):
        coming, self.coming = self.coming, Bars.empty()
        return coming

    def ongoing(self, now):
        return self.going

    def lay_out(self):
        self.lifted += 0.25

    def sections(self, given):
        height = self.lifted + np.stack([given.key, given.key + 1.0], axis=1)
        return box_sections(np.tile([0.0, 1.0], (len(given), 1)), height)

    def palette(self):
        return self.colors

    def settle(self):
        pass

    def extent(self):
        return (0.0, 1.0), (0.0, 5.0)


def some(rng, now, n):
    start = now - rng.integers(0, 60, n)
    return bars(np.stack([start, start + 20], axis=1), rng.integers(0, 5, n), rng.integers(0, 5, (n, 2)))


def linear(srgb):
    return srgb / 12.92 if srgb <= 0.04045 else ((srgb + 0.055) / 1.055) ** 2.4


def plain_color(ring, bar, corner, highlighted=frozenset()):
    """The colour of a corner, from the definition: darker below, and at the end; muted: near white."""
    bar = min(bar, len(ring.palette) - 1)
    srgb = ring.palette[bar].copy()
    if highlighted and bar not in highlighted:
        srgb[:3] = 0.18 * srgb[:3] + 0.82
    shade = (0.84, 0.84, 1.0, 1.0, 0.72, 0.72, 0.9, 0.9)[corner]
    return [*(linear(c * shade) for c in srgb[:3].tolist()), float(srgb[3])]


@given(st.integers(0, 10**6), st.booleans())
@settings(deadline=None, max_examples=25)
def test_meshes_hold_what_the_ring_holds(seed, reader):
    bpy.ops.wm.read_factory_settings(use_empty=True)
    rng = np.random.default_rng(seed)
    view = Plain()
    view.along = "y" if reader else "x"
    ring = Ring(view)

    def add(part):
        made = bpy.data.objects.new(part, bpy.data.meshes.new(part))
        bpy.context.scene.collection.objects.link(made)
        return made

    pages = PageObjects(ring, add)
    for tick in range(12):
        now = 120 * (tick + 1)
        view.coming, view.going = (
            some(rng, now, int(rng.integers(0, 900))),
            some(rng, now, int(rng.integers(0, 9))),
        )
        view.relaid, view.renewed = rng.random() < 0.2, rng.random() < 0.1
        if rng.random() < 0.3:
            view.recolored, view.colors = True, rng.random((3, 4), np.float32)
        if rng.random() < 0.2:
            pages.faces = (*(rng.random(5) < 0.8).tolist(), True)
        if rng.random() < 0.2:
            pages.highlighted = frozenset(rng.integers(0, 4, rng.integers(0, 3)).tolist())
        ring.advance(now)
        pages.show(lambda origin: (origin / WINDOW, 0.0, 0.0))
    pages.show(lambda origin: (origin / WINDOW, 0.0, 0.0))
    assert pages.written == 0 or pages.made
    for page in (ring.open, *ring.pages):
        shown = bpy.data.objects[f"page {page.number}"]
        corner = np.empty(24 * page.room, np.float32)
        shown.data.attributes["position"].data.foreach_get("vector", corner)
        wanted = turned(page.corner) if reader else page.corner
        assert np.array_equal(corner.reshape(-1, 8, 3), wanted)
        assert shown.location.x == pytest.approx(page.origin / WINDOW)
        color = np.empty(32 * page.room, np.float32)
        shown.data.attributes[materials.TINT].data.foreach_get("color", color)
        color = color.reshape(-1, 8, 4)
        for bar in rng.integers(0, max(page.count, 1), 4).tolist() if page.count else ():
            for k in range(8):
                index = int(page.bars.color[bar, k // 4])
                assert color[bar, k] == pytest.approx(
                    plain_color(ring, index, k, pages.highlighted), abs=2e-3
                )
        assert np.isfinite(color).all()


def test_indices_beyond_the_palette_are_grey():
    inks = shaded(np.concatenate([PALETTE, OTHER[None]]).astype(np.float32))
    given = bars(np.zeros((2, 2)), np.zeros(2), np.array([3, 99]))
    out = np.zeros((2, 8, 4), np.float32)
    color_corners(given, inks, out)
    assert np.array_equal(out[0], out[1])


def test_a_page_remembers_from_where_to_where_it_has_changed():
    page = Page(100, 1)
    assert page.changed == (0, 100)
    page.shown()
    page.touch(20, 30)
    page.touch(50, 60)
    assert page.changed == (20, 60)
    page.shown()
    page.touch(5, 5)
    first, last = page.changed
    assert first >= last
    page.touch()
    assert page.changed == (0, 100)


@pytest.mark.parametrize("along", ["x", "y"])
def test_the_ruler_has_its_ticks_where_their_moments_are(along):
    view = Plain()
    view.along, view.window_ns = along, 10**10
    view.time_of = lambda when, now: (when - now) * LENGTH / view.window_ns
    now = 13_000_000_000
    moments = ticks(view, now)
    assert moments == tuple(range(4 * 10**9, 13 * 10**9 + 1, moments[1] - moments[0]))
    for axis in ruler(view, moments, now):
        for when, distance in zip(moments, axis.tick, strict=True):
            at = np.array(axis.origin) + np.array(axis.direction) * distance
            time = at[0] if along == "x" else -at[1]
            assert time == pytest.approx((when - now) / view.window_ns * LENGTH, abs=1e-6)
    texts = {text for axis in ruler(view, moments, now) for text in axis.text if text}
    assert len(texts) == len(moments)
    # Before the beginning there are none.
    assert ticks(view, 10**9)[0] == 0


def test_what_explains_a_live_view_in_the_window_stands_where_it_is_printed():
    from tracevis3d.live.growing import GrowingTrace
    from tracevis3d.scene.live.live_view import LiveScene
    from tracevis3d.views.registry import live_form

    class Named(live_form("threads").make(GrowingTrace(), 10**9).__class__):
        """Rows of two threads, and an alarm at one of them, at places that the test knows."""

        def extent(self):
            return (0.0, 4.0), (0.0, 1.0)

        def labels(self, now):
            moving, still, warning = LabelList("call"), LabelList("thread"), LabelList("warning")
            moving.add("load", (self.time_of(400_000_000, now), 1.0, 0.5), 0.3, 2.0)
            still.add("worker-1", (0.2, 1.0, 0.0), 0.3, 0.5)
            warning.add("worker-2: convoy", (0.2, 3.0, 0.0), 0.3)
            return StreamLabels((moving.labels(),), (still.labels(), warning.labels()))

    scene = bpy.data.scenes.new("live")
    try:
        shown = LiveScene(Named(GrowingTrace(), 10**9), scene, "paper", "run.py")
        shown.tick(500_000_000, 0.0, "7 rows a second")
        shown.tick(600_000_000, 10.0, "7 rows a second")
        # Texts are laid out at times; between them they move with the data.
        shown.tick(700_000_000, 10.01, "7 rows a second")
        explained = shown.explanations()
        assert explained.title == "run.py: live, 700 ms so far"
        assert explained.facts[0] == "7 rows a second"
        at = {t: place for g in explained.names for t, place in zip(g.text, g.anchor.tolist(), strict=True)}
        assert at["load"] == pytest.approx([-0.3 * LENGTH, 1.0, 0.5], abs=1e-4)
        assert at["worker-1"] == pytest.approx([0.2, 1.0, 0.0], abs=1e-6)
        assert [(c.text, c.point) for c in explained.callouts] == [
            ("worker-2: convoy", pytest.approx((0.2, 3.0, 0.0), abs=1e-6))
        ]
        (axis,) = explained.axes
        moments = [-axis.origin[0] - LENGTH + tick for tick in axis.tick]
        printed = ruler(shown.view, ticks(shown.view, 700_000_000), 700_000_000)[0]
        assert (axis.tick, axis.text) == (printed.tick, printed.text)
        assert moments == sorted(moments)
        assert (explained.low, explained.high) == ((-LENGTH, 0.0, 0.0), (0.0, 4.0, 1.0))
        # What is printed is told apart from data, so that the window can hide it.
        parts = {o["tracevis3d_part"]: is_printed(o) for o in shown.collection.objects}
        printed_parts = {"title", "legend", "names", "still names", "ticks", "now", "camera"}
        assert {part for part, is_print in parts.items() if is_print} == printed_parts
        assert {"edge", "grid"} <= parts.keys()
    finally:
        bpy.data.scenes.remove(scene)
