"""Memory as a terrain: what is drawn, checked on the Drawing, and the flat twin against plain NumPy."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from tracevis3d.api import load
from tracevis3d.drawing.frame import Frame
from tracevis3d.drawing.primitives import Drawing, Marks, Wedges
from tracevis3d.errors import InputError, UsageError
from tracevis3d.features.memory.view.layout import PLATE, sizes
from tracevis3d.features.memory.view.parameters import Parameters
from tracevis3d.features.memory.view.view import VIEW
from tracevis3d.formats.names import split
from tracevis3d.parameters import read
from tracevis3d.progress import silent
from tracevis3d.trace.model import ACCESS, ALLOC, FREE, Source
from tracevis3d.trace.recording import Recording
from tracevis3d.views.element_metadata import metadata_of

MIB = 1 << 20
#: Scene units of bytes and time in the terrain, and seen from above.
WIDTH, DEPTH = sizes(1.0)
FLAT = sizes(0.0)
#: site, size, born, died (-1: never), accesses
BLOCKS = [
    ("load", 4 * MIB, 0, -1, ()),
    ("parse", 2 * MIB, 10, 40, (30,)),
    ("parse", 1 * MIB, 20, 90, ()),
    ("load", 3 * MIB, 50, -1, (70, 80)),
] + [("tiny", 16, 60 + i % 30, 95, ()) for i in range(40)]


def trace_of(blocks=BLOCKS, end=100):
    recording = Recording()
    thread = recording.thread(1, 1)
    sites = list(dict.fromkeys(block[0] for block in blocks))
    recording.add_stacks(
        function=[recording.function(site) for site in sites], parent=[-1] * len(sites), line=[7] * len(sites)
    )
    rows = []
    for i, (site, size, born, died, accesses) in enumerate(blocks):
        address = 0x1000 + (i << 24)
        rows.append((born, ALLOC, address, size, sites.index(site)))
        rows += [(at, ACCESS, address, 0, -1) for at in accesses]
        rows += [(died, FREE, address, 0, -1)] * (died >= 0)
    rows.append((end, FREE, 1, 0, -1))
    time, kind, address, size, stack = zip(*rows)
    recording.add_memory(
        thread=[thread] * len(rows), kind=kind, time=np.array(time) * 1_000_000, address=address, size=size,
        stack=stack,
    )  # fmt: skip
    return recording.finish(Source(path="run.records.tsv"), split)


def drawn(trace, **values) -> Drawing:
    return VIEW.draw((trace,), read(Parameters, values), Frame(), silent)


def named(drawing: Drawing, kind: str) -> Wedges:
    (found,) = [element for element in drawing.elements if element.kind == kind]
    return found


def test_blocks_are_as_wide_as_their_bytes_and_rise_while_idle() -> None:
    drawing = drawn(trace_of(), order="creation")
    blocks = named(drawing, "block")
    corner = blocks.corner.reshape(-1, 2, 4, 3)
    total = 10 * MIB + 40 * 16
    for block, size, low in ((0, 4, 0), (1, 2, 4), (2, 1, 6), (3, 3, 7)):
        mine = corner[blocks.id == block]
        assert mine[..., 0].min() == pytest.approx(WIDTH * low * MIB / total, abs=0.02)
        assert np.ptp(mine[..., 0]) == pytest.approx(WIDTH * size * MIB / total, abs=0.03)
    # The first: allocated at the back, alive at the front edge, and nobody touched it for all the run.
    first = corner[blocks.id == 0]
    assert first[..., 1].max() == pytest.approx(DEPTH)
    assert first[..., 1].min() == pytest.approx(0.0)
    assert first[..., 2].max() == pytest.approx(corner[..., 2].max())
    highest = first[..., 2].max() - PLATE
    # The second falls back when it is touched: idle for 20 ms, then for 10.
    second = corner[blocks.id == 1]
    assert second[..., 2].max() - PLATE == pytest.approx(0.2 * highest, rel=0.02)
    assert second[..., 1].min() == pytest.approx(DEPTH * 0.6, rel=0.02)
    assert drawing.counts["blocks_taken_together"] == 40
    result = metadata_of(blocks, drawing, (trace_of(),))
    assert result is not None
    values = dict(result.values)
    at = int(np.flatnonzero(blocks.id == 3)[0])
    assert values["size (bytes)"][at] == 3 * MIB
    assert values["since its last access (ns)"][at] == 20_000_000
    assert dict(result.texts)["call site"][at] == "load:7"


def test_what_is_narrow_is_taken_together_and_comes_apart_when_closer() -> None:
    trace = trace_of()
    far = drawn(trace, order="creation")
    assert len(np.unique(named(far, "block cluster").id)) == 1
    near = drawn(trace, order="creation", left=0.99994, right=1.0)
    assert near.counts["blocks_alone"] == 40


@pytest.mark.parametrize("order", ["site", "creation", "lifetime", "address"])
@pytest.mark.parametrize("height", ["age", "size", "access"])
@pytest.mark.parametrize("opening", [0.0, 1.0])
def test_every_way_to_look(order, height, opening) -> None:
    drawing = drawn(trace_of(), order=order, height=height, opening=opening)
    for element in drawing.elements:
        if isinstance(element, Wedges):
            assert np.isfinite(element.corner).all()
            assert (element.color < len(drawing.palette)).all()
    assert drawing.counts["blocks"] == 44
    top = max(e.corner[..., 2].max() for e in drawing.elements if isinstance(e, Wedges))
    assert top <= (PLATE + 1e-6 if opening == 0 else 4)
    (labels,) = [label.text for label in drawing.labels if label.kind == "call site"] or [()]
    # Sites have their names and the most bytes that live at once, where they are the order.
    names = {"load:7  7 MiB", "parse:7  3 MiB"}
    assert set(labels) - {"smaller call sites"} == (names if order == "site" else set())


@pytest.mark.parametrize("color", ["site", "thread", "cohort", "turn", "none"])
def test_colours_have_their_legend(color) -> None:
    drawing = drawn(trace_of(), color=color)
    assert all(0 <= e.color < len(drawing.palette) for legend in drawing.legends for e in legend.entries)


def test_windows_filters_and_what_can_not_be_drawn() -> None:
    trace = trace_of()
    assert drawn(trace, end="9 ms").counts["blocks"] == 1
    assert drawn(trace, sites="parse").counts["blocks"] == 2
    assert drawn(trace, width="log").axes[0].tick == ()
    for values, words in (({"sites": "nobody"}, "sites=nobody"), ({"start": "1 s"}, "window is empty"),
                          ({"left": 0.5, "right": 0.5}, "right=0.5")):  # fmt: skip
        with pytest.raises(UsageError, match=words):
            drawn(trace, **values)
    with pytest.raises(InputError, match="no allocations"):
        drawn(Recording().finish(Source(), split))
    trace.problems.add("no addresses", "here")
    with pytest.raises(UsageError, match="no addresses"):
        drawn(trace, order="address")


def test_the_flat_style_shows_memcov_viz(tmp_path) -> None:
    """Seen from above: bytes to the right, time downward, blue and green in turn, idle paler."""
    bpy = pytest.importorskip("bpy")
    from tracevis3d.scene import build
    from tracevis3d.scene.output import engines, render

    if not {engine.name: engine.ok for engine in engines.examine()}["workbench"]:
        pytest.skip("workbench does not work here")
    trace = trace_of(BLOCKS[:4])
    drawing = drawn(
        trace, order="creation", color="turn", opening=0.0, findings=0, curves=False, recent=0.1, labels=0
    )
    frame = Frame(960, 540)
    bpy.ops.wm.read_factory_settings(use_empty=True)
    built = build.build(drawing, style="flat", frame=frame)
    render.still(built, tmp_path / "flat.png", engine="workbench")
    image = bpy.data.images.load(str(tmp_path / "flat.png"))
    pixels = np.empty(frame.width * frame.height * 4, np.float32)
    image.pixels.foreach_get(pixels)
    pixels = pixels.reshape(frame.height, frame.width, 4)[..., :3]
    low = 0
    compared = 0
    for i, (_, size, born, died, accesses) in enumerate(BLOCKS[:4]):
        middle = FLAT[0] * (low + size / 2) / (10 * MIB)
        low += size
        for ms in np.arange(0.5, 100, 1.0):
            ((x, y),) = built.view.pixels([(middle, FLAT[1] * (100 - ms) / 100, PLATE)])
            seen = pixels[int(y), int(x)]
            kind = drawing.legends[0].entries[i % 2].color
            last = max([at for at in (born, *accesses) if at <= ms], default=-1)
            edges = np.array(
                [born, died if died >= 0 else 999, *accesses, *(at + 10 for at in (born, *accesses))]
            )
            if np.abs(edges - ms).min() < 1.5:
                continue  # at an edge
            alive = born <= ms and (died < 0 or ms < died)
            wanted = [kind + s + 2 * (ms - last > 10) for s in (0, 1)]
            match = any(np.abs(drawing.palette[w, :3] - seen).max() < 4 / 255 for w in wanted)
            assert match == alive, (i, ms, seen)
            compared += 1
    assert compared > 300


def test_the_command_line_tells_and_draws(recorded, tmp_path) -> None:
    path = str(recorded / "memray_markdown.records.tsv.gz")
    done = subprocess.run(
        [sys.executable, "-m", "tracevis3d", "memory", path], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert "4.91 MiB" in done.stdout
    assert "not freed" in done.stdout


def test_what_is_found_is_pointed_out_at_its_sign(recorded) -> None:
    drawing = drawn(load(recorded / "memray_pillow_threads.records.tsv.gz"))
    entries = drawing.legends[-1].entries
    assert len(drawing.callouts) == 3
    pins = next(e for e in drawing.elements if e.kind == "finding" and isinstance(e, Marks))
    for callout, entry in zip(drawing.callouts, entries):
        assert entry.text == f"{callout.text}: {callout.detail}"
        assert len(callout.text.split()) <= 8
        (number,) = entry.selector.ids
        assert callout.text.startswith(f"{number} ")
        (i,) = np.flatnonzero(pins.id == number)
        assert callout.point == pytest.approx(pins.point[i].tolist())


def test_lines_from_names_end_on_top_of_what_they_name() -> None:
    drawing = drawn(trace_of(), order="site", labels=9)
    leaders, blocks = named(drawing, "call site"), named(drawing, "block")
    (names,) = [label for label in drawing.labels if label.kind == "call site"]
    corner = blocks.corner.reshape(-1, 2, 4, 3)
    for text, foot in zip(names.text, leaders.point[::2], strict=True):
        if not text.startswith(site := "load"):
            assert foot[2] == 0, "nothing of it lives at the end"
            continue
        mine = corner[np.isin(blocks.id, [i for i, of in enumerate(BLOCKS) if of[0] == site])]
        ends = mine[:, 1][mine[:, 1, 0, 1] == 0]
        under = [face for face in ends if face[:, 0].min() <= foot[0] <= face[:, 0].max()]
        assert any(foot[2] == pytest.approx(face[:, 2].max(), abs=1e-5) for face in under)


@pytest.mark.parametrize(("kept", "at"), [(1, 60), (30, 60), (60, 60), (99, 60), (1, 3)])
def test_the_name_of_the_live_bytes_is_clear_of_their_curve(kept, at) -> None:
    # At the begin a share of the peak lives: the curve is low, half high, or full, or rises at once.
    drawing = drawn(trace_of([("a", kept * MIB, 0, 40, ()), ("b", 100 * MIB, at, 80, ())]))
    curve = next(element for element in drawing.elements if element.kind == "curve").point
    scale = [label for label in drawing.labels if any("live bytes" in text for text in label.text)]
    (name,) = scale
    (anchor,), height = name.anchor, float(name.height[0])
    wide = 0.45 * height * len(name.text[0])
    beside = curve[(curve[:, 1] <= anchor[1]) & (curve[:, 1] >= anchor[1] - wide)]
    assert len(beside)
    assert np.all(np.abs(beside[:, 2] - anchor[2]) > 0.5 * height)


def test_blocks_slide_from_one_order_to_another(recorded) -> None:
    trace = load(recorded / "memray_pillow_threads.records.tsv.gz", cache=False)

    def blocks_of(drawing: Drawing) -> dict[int, tuple[float, float]]:
        """Return left edge and height of each block that stands alone."""
        found: dict[int, tuple[float, float]] = {}
        for element in drawing.elements:
            if element.kind == "block":
                low, high = element.corner.min(axis=1), element.corner.max(axis=1)
                for k, i in enumerate(element.id.tolist()):
                    left, top = float(low[2 * k, 0]), float(high[2 * k : 2 * k + 2, 2].max())
                    found[i] = (left, max(top, found.get(i, (0, 0.0))[1]))
        return found

    def height_of_others(drawing: Drawing) -> float:
        return max(
            (float(e.corner[..., 2].max()) for e in drawing.elements if e.kind == "block cluster"),
            default=0.0,
        )

    shares = (0.0, 0.3, 0.5, 0.7, 0.999, 1.0)
    steps = [drawn(trace, order="site", before="creation", regroup=share) for share in shares]
    before, after = drawn(trace, order="creation"), drawn(trace, order="site")
    at = [blocks_of(step) for step in steps]
    # At both ends it is the picture of that order.
    for i, block in blocks_of(before).items():
        assert at[0][i] == pytest.approx(block)
    assert at[-1] == blocks_of(after)
    assert height_of_others(steps[0]) == pytest.approx(height_of_others(before))
    # Each block that stands alone at both ends goes straight from one place to the other, as high as ever.
    both = at[0].keys() & at[-1].keys()
    assert len(both) > 10
    moved = 0
    for i in both:
        left = [step[i][0] for step in at]
        assert left == sorted(left) or left == sorted(left, reverse=True)
        assert left[-2] == pytest.approx(left[-1], abs=1e-3)
        assert {round(step[i][1], 4) for step in at} == {round(at[0][i][1], 4)}
        moved += abs(left[0] - left[-1]) > 0.1
    assert moved > 5
    # What is taken together sinks, is gone in the middle, and rises again in the other order.
    heights = [height_of_others(step) for step in steps]
    assert heights[0] > heights[1] > heights[2] == 0.0 < heights[3] < heights[4]
    # Pointing tells how many blocks there are, whichever order they are taken together in.
    for step in steps[:2] + steps[3:5]:
        counts = dict(step.meaning["block cluster"].values)["blocks"]
        for element in step.elements:
            if element.kind == "block cluster":
                assert (counts[element.id] > 1).any()


def test_large_blocks_leave_their_shadow_where_they_are_not() -> None:
    trace = trace_of()
    drawing = drawn(trace, order="creation", footprint=0.15)
    shadow = named(drawing, "footprint")
    # Those of 4, 2 and 3 MiB have 15 % of the ten; all along the time, as wide as they are.
    blocks = named(drawing, "block")
    assert sorted(shadow.id.tolist()) == [0, 1, 3]
    for i, number in enumerate(shadow.id.tolist()):
        corner = shadow.corner[2 * i : 2 * i + 2].reshape(-1, 3)
        assert (corner[:, 1].min(), corner[:, 1].max()) == (0.0, DEPTH)
        assert corner[:, 2].max() < 0
        mine = np.flatnonzero(blocks.id == number)
        own = np.concatenate(
            [blocks.corner[blocks.first[m] : blocks.first[m + 1]].reshape(-1, 3) for m in mine]
        )
        assert corner[:, 0].min() <= own[:, 0].min() <= own[:, 0].max() <= corner[:, 0].max()
        assert corner[:, 0].max() - corner[:, 0].min() <= own[:, 0].max() - own[:, 0].min() + 0.021
    texts = [entry.text for legend in drawing.legends for entry in legend.entries]
    assert "room of each block of 2 MiB or more, also while it is not allocated" in texts
    without = drawn(trace, order="creation", footprint=0)
    assert not [element for element in without.elements if element.kind == "footprint"]
    flat = drawn(trace, order="creation", footprint=0.15, opening=0)
    assert not [element for element in flat.elements if element.kind == "footprint"]


@pytest.mark.parametrize(("width", "words"), [("log", "logarithms"), ("sqrt", "square roots"), ("bytes", "")])
def test_the_legend_says_when_widths_are_no_bytes(width, words) -> None:
    drawing = drawn(trace_of(), order="creation", width=width)
    texts = [entry.text for legend in drawing.legends for entry in legend.entries]
    assert any(text == f"{words} of bytes, not bytes" for text in texts) == bool(words)


def test_a_slab_of_time_and_bytes_cuts_into_the_terrain() -> None:
    whole = named(drawn(trace_of(), order="creation"), "block")
    cut = named(drawn(trace_of(), order="creation", start="25", end="60", left=0.1, right=0.8), "block")
    # What lies in the slab is cut at its faces, and fills the picture.
    assert set(cut.id.tolist()) == {0, 1, 2, 3}
    assert cut.corner[..., 0].min() >= 0 and cut.corner[..., 0].max() <= WIDTH  # noqa: PT018
    assert cut.corner[..., 1].min() == 0.0
    assert np.isclose(cut.corner[..., 1].max(), DEPTH)
    first = cut.corner[cut.first[int(np.flatnonzero(cut.id == 0)[0])]]
    assert first[:, 0].min() < 0.02

    def heights(element, number):
        which = np.flatnonzero(element.id == number)
        section = np.concatenate([element.corner[element.first[i] : element.first[i + 1]] for i in which])
        return section[..., 1].mean(axis=1), section[..., 2].max(axis=1)

    # The face that the slab cuts is as high as the terrain is there: the block of 4 MiB is 60 ms old.
    y, z = heights(cut, 0)
    assert np.isclose(z[y == 0.0].max(), z.max())
    y, z = heights(whole, 0)
    assert np.isclose(z.max(), z[y == y.min()].max())
