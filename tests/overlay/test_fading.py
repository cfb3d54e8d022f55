"""Names come and go gradually, and none flits by while one flies."""

import math
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tracevis3d as tv
from tracevis3d.drawing.explanations import explanations_of
from tracevis3d.drawing.frame import Frame
from tracevis3d.drawing.primitives import Labels
from tracevis3d.layout.sight.pilot import Pilot
from tracevis3d.layout.sight.view_projection import ViewProjection
from tracevis3d.overlay.fading import LEAVING, Fading, carried
from tracevis3d.overlay.items import Overlay, Theme
from tracevis3d.overlay.names import lay_names, prepare

EXAMPLES = Path(__file__).parents[2] / "examples"
SIZE = (1000, 700)
FREE = (0.0, 0.0, 1000.0, 700.0)
PALETTE = np.ones((1, 4), np.float32)
FLAT = ViewProjection.of(np.diag([2 / 1000, 2 / 700, 0.0, 1.0]), *SIZE)


def measure(text):
    """Return a width as if all characters were as wide as half their height."""
    return 0.5 * len(text)


def prepared(texts=("first", "second"), shift=0.0):
    """Return names that stand above each other, 20 pixels apart, on the ground."""
    n = len(texts)
    anchor = np.column_stack([np.full(n, shift), 20.0 * np.arange(n), np.zeros(n)]).astype(np.float32)
    high = np.full(n, 12.0, np.float32)
    group = Labels("function", texts, anchor, high, np.full(n, np.inf, np.float32), np.ones(n, np.float32),
                   -1, up=(0, 1, 0))  # fmt: skip
    return prepare((group,), PALETTE, measure)


def composed(names, *shown):
    """Return an overlay of these rows, as :func:`lay_names` makes it."""
    allowed = np.zeros(len(names), np.bool_)
    allowed[list(shown)] = True
    made = Overlay()
    lay_names(names, FLAT, FREE, Theme(), measure, made, {}, allowed=allowed)
    return made


def opacity(made, text):
    """Return how opaque a text is, 0 where it isn't drawn; and its kind."""
    found = [one for one in made.texts if one.text == text]
    return (found[0].color[3], found[0].kind) if found else (0.0, "")


def test_a_name_comes_and_goes_by_and_by():
    names, fading = prepared(), Fading()
    whole = opacity(composed(names, 0), "first")[0]
    come = [opacity(fading.step(composed(names, 0), names, FLAT, t / 100), "first")[0] for t in range(60)]
    assert come[0] == come[9] == 0
    assert 0 < come[20] < whole
    assert come[-1] == whole
    assert not fading.is_moving
    assert all(0 <= b - a < 0.12 for a, b in pairwise(come))
    gone = [opacity(fading.step(composed(names), names, FLAT, 0.6 + t / 100), "first") for t in range(30)]
    assert gone[0] == (whole, LEAVING)
    assert gone[-1] == (0.0, "")
    assert all(0 <= a[0] - b[0] < 0.12 for a, b in pairwise(gone))
    assert not fading.is_moving


def test_its_plate_is_as_opaque_as_a_name():
    names, fading = prepared(), Fading()
    for t in (0.0, 0.1, 0.2, 0.25, 0.6):
        made = fading.step(composed(names, 0), names, FLAT, t)
        shown, _ = opacity(made, "first")
        plates = [color[3] for _, color in made.fills]
        assert plates == ([pytest.approx(0.72 * shown)] if shown else [])


def test_nothing_is_made_anew_where_nothing_comes_or_goes():
    names, fading = prepared(), Fading()
    made = composed(names, 0, 1)
    fading.step(made, names, FLAT, 0.0)
    fading.step(made, names, FLAT, 1.0)
    assert fading.step(made, names, FLAT, 2.0) is made


def test_a_name_that_only_flits_by_is_never_seen():
    names, fading = prepared(), Fading()
    seen = []
    for t in range(60):
        shown = (0, 1) if t % 6 < 3 else (0,)
        seen.append(opacity(fading.step(composed(names, *shown), names, FLAT, t / 60), "second")[0])
    assert max(seen) == 0


def test_a_name_waits_for_one_that_goes_from_its_place():
    both, fading = [], Fading()
    here, there = prepared(("first", "other")), prepared(("second", "other"), shift=5.0)
    for t in range(160):
        # From the first second on the second one is almost at the place of the first.
        names = here if t < 60 else there
        made = fading.step(composed(names, 0), names, FLAT, t / 60)
        both.append((opacity(made, "first")[0] > 0, opacity(made, "second")[0] > 0))
    assert both[59] == (True, False)
    assert (True, True) not in both
    assert both[-1] == (False, True)


def test_names_of_more_detail_are_the_same_names():
    before, after = prepared(("one", "two", "three")), prepared(("two", "one", "two"), shift=5.0)
    # The second "two" is 20 pixels farther away than the first one was.
    assert carried(before, after, before.keys) == {}
    after = prepared(("zero", "two", "two"), shift=5.0)
    assert carried(before, after, before.keys) == {(0, 1): (0, 1)}
    fading = Fading()
    for t in (0.0, 0.5, 1.0):
        made = composed(before, 1)
        fading.step(made, before, FLAT, t)
    assert fading.before(after, made, 1.0).names == {(0, 1): "two"}
    again = composed(after, 1)
    assert fading.step(again, after, FLAT, 1.02) is again


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 12), st.booleans()), min_size=1, max_size=30))
def test_how_opaque_a_name_is_and_the_plain_twin(steps):
    """By the definition: it rises while it has a place, from 0.1 s before 0, and falls while it has none."""
    names, fading = prepared(), Fading()
    whole = opacity(composed(names, 0), "first")[0]
    level, was, now = None, False, 0.0
    for hundredths, placed in steps:
        # No sum of such steps ends just where a name appears: rounding would decide.
        passed = 0.00987654 * hundredths
        now += passed
        made = fading.step(composed(names, *([0] if placed else [])), names, FLAT, now)
        if level is None:
            level = -0.5 if placed else None
        elif placed and was:
            level = min(level + passed / 0.2, 1.0)
        elif not placed:
            level = level - passed / 0.15 if not was else level
            level = None if level <= 0 else level
        was = placed
        share = min(max(level or 0.0, 0.0), 1.0)
        share = share * share * (3 - 2 * share)
        assert opacity(made, "first")[0] == pytest.approx(whole * share, abs=1e-9)
        # Four of them up again after three down do end where it is opaque: a rounding less is as right.
        if level is None or not placed or abs(level - 1) > 1e-9:
            assert fading.is_moving == (level is not None and (level < 1 or not placed))


def flight(drawing, seconds=6.0):
    """Yield projections, 60 a second, of one who flies up to a drawing, turns, and flies along it."""
    low, high = (np.array(end, float) for end in (drawing.low, drawing.high))
    middle, extent = (low + high) / 2, float(np.linalg.norm(high - low))
    pilot = Pilot.looking(middle - (0, 0.9 * extent, -0.1 * extent), (0, 1, -0.1))
    for t in range(int(60 * seconds)):
        held = {"W"} if t < 150 else {"D"} if t < 260 else {"S", "SHIFT"}
        pilot = pilot.turned(6 * math.sin(t / 25), 2 * math.sin(t / 40))
        pilot = pilot.flown(1 / 60, held, max(abs(middle[1] - pilot.eye[1]), 0.1), 0.002 * extent)
        right, ahead, up = pilot.axes()
        turn = np.eye(4)
        turn[:3, :3] = np.stack([right, up, -ahead])
        turn[:3, 3] = -turn[:3, :3] @ np.array(pilot.eye)
        near, far = 0.01, 1e3
        lens = np.zeros((4, 4))
        lens[0, 0], lens[1, 1] = 2.0, 2.0 * SIZE[0] / SIZE[1]
        lens[2, 2], lens[2, 3], lens[3, 2] = -(far + near) / (far - near), -2 * far * near / (far - near), -1
        yield t / 60, ViewProjection.of(lens @ turn, *SIZE)


def flickers(frames):
    """Count names that vanish less than 0.5 s after they appeared, and those that appear again so soon."""
    begun, ended, short, again = {}, {}, 0, 0
    for moment, shown in frames:
        seen = {key for key, opaque in shown.items() if opaque >= 0.05}
        for key in begun.keys() - seen:
            short += moment - begun.pop(key) < 0.5
            ended[key] = moment
        for key in seen - begun.keys():
            again += moment - ended.get(key, -1.0) < 0.5
            begun[key] = moment
    return short, again


def recorded(explained, fades):
    """Return how opaque which names are in each frame of a flight."""
    names, fading = prepare(explained.names, explained.palette, measure), Fading()
    made, frames = Overlay(), []
    for now, eye in flight(explained):
        before = fading.before(names, made, now) if fades else made
        made = Overlay()
        lay_names(names, eye, FREE, Theme(), measure, made, before.names, young=before.young)
        if not fades:
            frames.append((now, dict.fromkeys(made.names, 1.0)))
            continue
        fading.step(made, names, eye, now)
        frames.append((now, fading.opacities))
    return frames


@pytest.mark.parametrize(
    ("view", "traces"),
    [("icicle", "E"), ("threads", ""), ("compare", "EF")],
)
def test_next_to_no_name_flickers_while_one_flies(view, traces):
    files = [f"vt_sphinxtext_{name}" for name in traces] or ["sync_pillow_8w"]
    loaded = tuple(tv.load(EXAMPLES / f"{name}.json.gz") for name in files)
    explained = explanations_of(tv.Figure(view, loaded).drawing(Frame()))
    (plain, _), (short, again) = (flickers(recorded(explained, fades)) for fades in (False, True))
    # What remains was there when one turned round, or turned away.
    assert plain > 10
    assert 4 * (short + again) <= plain
