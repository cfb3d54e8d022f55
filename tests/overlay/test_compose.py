"""An overlay: nothing overlaps, nothing is outside, and names are steady."""

import math
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tracevis3d.drawing.explanations import Explanations, packed_names, unpacked_names
from tracevis3d.drawing.primitives import Axis, Callout, Labels, Legend, LegendEntry
from tracevis3d.drawing.selector import Selector
from tracevis3d.kernels.layout.naming import find_names
from tracevis3d.kernels.layout.placing import place
from tracevis3d.layout.sight.framing import Lens, fill
from tracevis3d.layout.sight.view_projection import ViewProjection
from tracevis3d.overlay import framing
from tracevis3d.overlay.callouts import lay_callouts
from tracevis3d.overlay.compose import compose
from tracevis3d.overlay.framing import frame
from tracevis3d.overlay.heading import lay_legends
from tracevis3d.overlay.items import (
    Choices,
    Overlay,
    Text,
    Theme,
    fitted,
    shortened,
    start_of,
    wrapped,
)
from tracevis3d.overlay.names import lay_names, prepare, standing_on
from tracevis3d.overlay.ramps import choices
from tracevis3d.overlay.rulers import ticks_of
from tracevis3d.overlay.shapes import quads, triangles
from tracevis3d.overlay.sight import Depths

WIDTH, HEIGHT = 1000, 700
FREE = (0.0, 0.0, float(WIDTH), float(HEIGHT))
AXES = np.array([[1.0, 0, 0], [0, 0, 1], [0, 1, 0]])
TANGENTS = (0.5, 0.5 * HEIGHT / WIDTH)


def measure(text):
    """Return a width as if all characters were as wide as half their height."""
    return 0.5 * len(text)


def seen_from(eye, axes=AXES):
    """Return the projection of an eye that looks along the third axis."""
    right, up, forward = axes
    turn = np.eye(4)
    turn[:3, :3] = np.stack([right, up, -forward])
    turn[:3, 3] = -turn[:3, :3] @ eye
    near, far = 0.01, 1e4
    lens = np.zeros((4, 4))
    lens[0, 0], lens[1, 1] = 1 / TANGENTS[0], 1 / TANGENTS[1]
    lens[2, 2], lens[2, 3], lens[3, 2] = -(far + near) / (far - near), -2 * far * near / (far - near), -1
    return ViewProjection.of(lens @ turn, WIDTH, HEIGHT)


def names(n, seed, room=2.0, rank=None):
    """Return names on a wall of 16 x 9 units."""
    rng = np.random.default_rng(seed)
    anchor = (rng.random((n, 3)) * (16, 0, 9)).astype(np.float32)
    return Labels(
        "function", tuple("n" * int(k) for k in rng.integers(2, 30, n)), anchor, np.full(n, 0.4, np.float32),
        np.full(n, room, np.float32), rng.random(n).astype(np.float32) if rank is None else rank, -1,
        background=rng.integers(0, 2, n).astype(np.int32),
    )  # fmt: skip


def explained(groups, legends=3, callouts=4):
    """Return explanations with all there can be."""
    entries = tuple(LegendEntry(f"entry number {i}", i % 2) for i in range(7))
    return Explanations(
        "A title that says what is shown", ("one fact", "another fact", "f" * 300),
        tuple(
            Legend(f"legend {i}", entries, (0, 1) if i == 1 else None, (0.0, 1.0), ("few", "many"))
            for i in range(legends)
        ),
        np.array([[0, 0, 0, 1], [1, 1, 1, 1]], np.float32),
        (
            Axis((0, 0, 0), (1, 0, 0), 16.0, (), (), title="time", window=(0, 10**9)),
            Axis((0, 0, 0), (0, 0, 1), 9.0, (0.0, 4.5, 9.0), ("0", "5", "10"), title="depth",
                 outward=(-1, 0, 0)),
        ),
        groups,
        tuple(Callout(f"finding {i}", "12 ms more", (3.0 * i + 1, 0.0, 4.0)) for i in range(callouts)),
        (0.0, 0.0, 0.0), (16.0, 1.0, 9.0),
    )  # fmt: skip


def overlay(eye, groups, **words):
    what = explained(groups)
    prepared = prepare(groups, what.palette, measure)
    return compose(what, prepared, seen_from(eye), FREE, np.array([8, 0, 4.5]), Theme(), measure, **words)


def check(made: Overlay):
    for text in made.texts:
        left, bottom, right, top = text.box
        assert left >= 0, text
        assert bottom >= 0, text
        assert right <= WIDTH, text
        assert top <= HEIGHT, text
        assert text.size >= 11, text
    for a, b in combinations(made.texts, 2):
        apart = a.box[2] <= b.box[0] + 1 or b.box[2] <= a.box[0] + 1
        assert apart or a.box[3] <= b.box[1] + 1 or b.box[3] <= a.box[1] + 1, (a, b)


@settings(max_examples=60, deadline=None)
@given(
    st.floats(-4, 20), st.floats(-60, -1), st.floats(-4, 13), st.integers(0, 200), st.integers(0, 99),
    st.floats(0.01, 8) | st.just(np.inf),
)  # fmt: skip
def test_nothing_overlaps_from_anywhere(x, y, z, n, seed, room):
    made = overlay(np.array([x, y, z]), (names(n, seed, room),))
    check(made)
    assert any(text.kind == "title" for text in made.texts)


def test_the_texts_of_two_drawings_in_a_region_keep_off_each_other():
    eye, groups = np.array([8.0, -20.0, 4.5]), (names(100, 1),)
    first = overlay(eye, groups)
    taken = (*first.taken, *(text.box for text in first.texts))
    second = overlay(np.array([8.3, -20.0, 4.7]), (names(100, 2),), heading=False, taken=taken)
    assert second.texts
    check(Overlay(texts=[*first.texts, *second.texts]))


def test_all_kinds_are_there():
    made = overlay(np.array([8.0, -20.0, 4.5]), (names(100, 1),))
    kinds = {text.kind for text in made.texts}
    assert kinds == {"title", "fact", "legend", "tick", "name", "callout"}
    assert {target.kind for target in made.targets} == {"legend", "entry", "panel", "callout"}


def test_what_is_not_chosen_in_the_legend_is_muted():
    eye, group = np.array([8.0, -20.0, 4.5]), names(100, 1)
    theme = Theme()
    chosen = Choices(chosen=frozenset({(0, 1)}), names=group.background == 0)
    made = overlay(eye, (group,), choices=chosen)
    ink = {text.text: text.color for text in reversed(made.texts) if text.kind == "legend"}
    assert ink["entry number 1"] == theme.panel_ink
    assert ink["entry number 2"] == theme.panel_muted
    assert made.names
    assert all(group.background[row] == 0 for _, row in made.names)
    (panel,) = [target.box for target in made.targets if target.kind == "panel"]
    for target in made.targets:
        if target.kind in ("entry", "legend"):
            left, bottom, right, top = target.box
            assert panel[0] <= left
            assert right <= panel[2]
            assert panel[1] <= bottom
            assert top <= panel[3]


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 150), st.integers(0, 99), st.floats(-0.05, 0.05), st.floats(-0.05, 0.05))
def test_names_stay_when_the_view_hardly_moves(n, seed, dx, dz):
    groups = (names(n, seed),)
    first = overlay(np.array([8.0, -20.0, 4.5]), groups)
    again = overlay(np.array([8.0, -20.0, 4.5]), groups, before=first)
    assert again.names.keys() >= first.names.keys()
    moved = overlay(np.array([8.0 + dx, -20.0, 4.5 + dz]), groups, before=again)
    lost = again.names.keys() - moved.names.keys()
    # Only what has come to overlap something of a higher rank may go.
    assert len(lost) <= 0.2 * len(again.names) + 2


def test_what_stands_behind_is_not_named():
    groups = (names(50, 3),)
    hidden = overlay(
        np.array([8.0, -20.0, 4.5]), groups, sight=lambda pixel, depth: np.zeros(len(pixel), bool)
    )
    assert not hidden.names


def test_a_name_slides_along_its_element():
    wide = Labels(
        "function", ("the_whole_run",), np.array([[0, 0, 4]], np.float32), np.ones(1, np.float32),
        np.array([16.0], np.float32), np.ones(1, np.float32), -1, background=np.zeros(1, np.int32),
    )  # fmt: skip
    made = overlay(np.array([12.0, -4.0, 4.5]), (wide,))
    (name,) = [text for text in made.texts if text.kind == "name"]
    assert name.text == "the_whole_run"


def test_a_plate_lies_behind_each_name_on_the_ground():
    on = names(30, 4, np.inf)
    ground = replace(names(30, 5, np.inf), background=np.empty(0, np.int32))
    theme = Theme()
    made = overlay(np.array([8.0, -20.0, 4.5]), (on, ground))
    plates = [box for box, color in made.fills if color[:3] == theme.ground and color[3] < 1]
    beside = [made.names[key] for key in made.names if key[0] == 1]
    beside += [text.text for text in made.texts if text.kind in ("tick", "title", "fact")]
    assert len(plates) == len(beside) > 20
    for box in plates:
        inside = [t for t in made.texts if box[0] <= t.left and t.box[2] <= box[2] and t.baseline > box[1]]
        assert any(text.text in beside for text in inside)


@given(
    st.lists(st.floats(0, 1), max_size=6, unique=True),
    st.integers(0, 40),
    st.integers(1, 64),
    st.integers(0, 3),
)
def test_the_parts_of_a_ramp_are_all_its_colours_once(ticks, first, more, entries):
    ramp = (first, first + more)
    legend = Legend(
        "time", tuple(LegendEntry(f"entry {i}", 0) for i in range(entries)), ramp, tuple(ticks),
        tuple(map(repr, ticks)),
    )  # fmt: skip
    parts = choices(legend)[entries:]
    colors = [c for part in parts for a, b in part.selector.colors for c in range(a, b + 1)]
    assert colors == list(range(first, first + more + 1))
    assert len({part.text for part in parts}) == len(parts)
    assert parts
    assert all(a <= part.color <= b for part in parts for a, b in part.selector.colors)


def test_a_part_of_a_ramp_answers_the_mouse_where_it_lies():
    eye = np.array([8.0, -20.0, 4.5])
    ramp = Legend("time", (), (0, 1), (0.0, 1.0), ("few", "many"))
    what = replace(explained((), legends=0, callouts=0), legends=(ramp,))
    prepared = prepare((), what.palette, measure)
    made, lit = (
        compose(what, prepared, seen_from(eye), FREE, np.array([8, 0, 4.5]), Theme(), measure, choices=chosen)
        for chosen in (None, Choices(lit=frozenset({(0, 1)})))
    )
    low, high = (target.box for target in made.targets if target.kind == "entry")
    assert low[2] == high[0]
    within = [(box, color) for box, color in made.fills if box[1::2] == low[1::2]]  # at its height
    colors = [next(c for box, c in within if box[0] <= x < box[2]) for x in (low[0] + 1, high[2] - 1)]
    assert colors == [(0, 0, 0, 1), (1, 1, 1, 1)]
    edges = [box for box, color in lit.fills if (box, color) not in made.fills]
    assert len(edges) == 2
    assert all(box[0] == high[0] and box[2] == high[2] for box in edges)


def test_a_cluster_has_grooves_in_the_legend():
    entries = (LegendEntry("same", 0), LegendEntry("several", 0, "cluster"))
    what = replace(explained((), legends=0, callouts=0), legends=(Legend("What", entries),))
    made = compose(
        what, prepare((), what.palette, measure), seen_from(np.array([8.0, -20.0, 4.5])), FREE,
        np.array([8, 0, 4.5]), Theme(), measure,
    )  # fmt: skip
    single, several = (target.box for target in made.targets if target.kind == "entry")
    within = [
        sum(row[1] <= box[1] and box[3] <= row[3] for box, _ in made.fills) for row in (single, several)
    ]
    assert within == [1, 3]


def test_of_a_stretch_only_what_is_in_it_is_named():
    group = names(60, 5)
    whole = prepare((group,), np.ones((2, 4), np.float32), measure)
    low, high = np.array([5.0, -np.inf, -np.inf]), np.array([9.0, np.inf, np.inf])
    cut = whole.of_stretch(low, high)
    eye = np.array([8.0, -20.0, 4.5])
    made = compose(explained((group,)), cut, seen_from(eye), FREE, np.array([8, 0, 4.5]), Theme(), measure)
    assert made.names
    for _, row in made.names:
        begin = float(group.anchor[row, 0])
        assert begin < 9.0
        assert begin + 2.0 > 5.0
    # Rooms end where the stretch does.
    assert cut.end_low[:, 0].min() >= 5.0
    assert cut.end_high[:, 0].max() <= 9.0
    inside = (whole.end_low[:, 0] >= 5.0) & (whole.end_high[:, 0] <= 9.0)
    np.testing.assert_array_equal(cut.anchor[inside], whole.anchor[inside])


def test_a_folded_legend_shows_its_heading_alone():
    eye = np.array([8.0, -20.0, 4.5])

    def opened(*clicked):
        made = overlay(eye, (), choices=Choices(frozenset(clicked)))
        headings = [target.index[0] for target in made.targets if target.kind == "legend"]
        return headings, {target.index[0] for target in made.targets if target.kind == "entry"}

    # All three have no room: the last ones are folded until somebody opens them.
    assert opened() == ([0, 1, 2], {0})
    assert opened(0) == ([0, 1, 2], set())
    assert opened(0, 2) == ([0, 1, 2], {2})


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.tuples(*[st.floats(0, 30, width=32)] * 4), max_size=30),
    st.integers(0, 5), st.integers(0, 9), st.integers(1, 20),
)  # fmt: skip
def test_placing_and_its_plain_twin(found, fixed, most, cells):
    box = np.array([(a, b, a + c, b + d) for a, b, c, d in found], np.float32).reshape(-1, 4)
    fixed = min(fixed, len(box))
    out = np.zeros(len(box), np.bool_)
    count = place(box, fixed, 0.0, most, np.empty(cells, np.int32), np.empty(len(box), np.int32), out)
    plain = list(range(fixed))
    for i in range(fixed, len(box)):
        clear = all(
            box[i, 0] >= box[j, 2]
            or box[j, 0] >= box[i, 2]
            or box[i, 1] >= box[j, 3]
            or box[j, 1] >= box[i, 3]
            for j in plain
        )
        if clear and len(plain) - fixed < most:
            plain.append(i)
    assert np.flatnonzero(out).tolist() == plain
    assert count == len(plain) - fixed


@settings(max_examples=80, deadline=None)
@given(
    st.tuples(st.floats(-4, 20), st.floats(-30, 3), st.floats(-4, 13)),
    st.integers(1, 40), st.integers(0, 99),
    st.floats(0.01, 30) | st.just(np.inf), st.sampled_from([-1, 0, 1]), st.booleans(),
)  # fmt: skip
def test_names_that_have_room_and_the_plain_twin(at, n, seed, room, align, upwards):
    group = replace(names(n, seed, room), align=align, right=(0, 0, 1) if upwards else (1, 0, 0))
    given_names, eye = prepare((group,), np.ones((2, 4), np.float32), measure), seen_from(np.array(at))
    rng = np.random.default_rng(seed)
    allowed, known = rng.random((2, n)) < 0.7
    frame = np.array([WIDTH, HEIGHT, 20, 30, WIDTH - 40, HEIGHT - 60, 12.0])
    row, found = np.empty(n, np.int32), np.empty((n, 8))
    p = given_names
    count = find_names(
        eye.matrix, frame, p.anchor, p.end_low, p.end_high, p.top, p.width, p.least,
        p.bound, p.align, p.small, allowed, known, 1.15, 4.5, row, found,
    )  # fmt: skip
    wanted = [
        (i, spot) for i in range(n) if allowed[i] and (spot := room_of(p, i, eye, frame, bool(known[i])))
    ]
    assert row[:count].tolist() == [i for i, _ in wanted]
    assert np.allclose(found[:count], np.array([spot for _, spot in wanted]).reshape(-1, 8), rtol=1e-6)


def room_of(p, i, eye, frame, known):
    """Return what find_names writes of one name, from the definition; None if it has no room."""
    left, bottom, right, top, size = frame[2:]
    ((x, y), (above_x, above_y)), (depth, _) = eye.project([p.anchor[i], p.top[i]])
    line, wide, least = np.hypot(above_x - x, above_y - y), p.width[i] * size, p.least[i] * size
    if not line >= least or y - 0.6 * size < bottom or y + 0.6 * size > top:
        return None
    room, low, high = np.inf, -np.inf, np.inf
    if p.bound[i]:
        (ax, ay), (bx, by) = (before_the_eye(p.anchor[i], end[i], eye) for end in (p.end_low, p.end_high))
        if abs(by - ay) > abs(bx - ax):
            room = 1.5 * line
        else:
            low, high = (min(max(one, left), right) for one in sorted((ax, bx)))
            room = high - low
            if room < min(wide, 4.5 * size) * (1 if known else 1.15):
                return None
    elif not p.small[i]:
        # Where the frame ends it is shortened.
        most = {-1: right - x, 0: 2 * min(x - left, right - x), 1: x - left}[int(p.align[i])]
        if 4.5 * size * (1 if known else 1.15) <= most < wide:
            room = most
    shown = min(wide, room)
    start = x - shown * {-1: 0.0, 0: 0.5, 1: 1.0}[int(p.align[i])]
    start = max(min(start, high - shown), low) if np.isfinite(low) else start
    fits = min(room / max(wide, 1e-9), line / least)
    inside = start >= left and start + shown <= right
    return (x, y, depth, start, y, shown, room, fits) if inside and fits > 0 else None


def before_the_eye(anchor, end, eye):
    """Return the pixel of a line's end, or of the point where it passes the eye's plane."""
    a, b = (eye.matrix @ (*point, 1.0) for point in (anchor, end))
    if b[3] < 1e-9:
        b = a + (b - a) * (a[3] - 1e-9) / (a[3] - b[3])
    return np.array([WIDTH, HEIGHT]) / 2 * (1 + b[:2] / b[3])


@given(st.floats(0.5, 16.0), st.integers(-1, 1))
@example(9.0, 0)
@settings(max_examples=40, deadline=None)
def test_a_text_that_says_less_where_there_is_less_room_is_never_cut(room, align):
    said = ("352 ms for Lock-1 · 3 of 4", "352 ms for Lock-1", "352 ms")
    one = np.ones(1, np.float32)
    group = Labels(
        "wait", said[:1], np.float32([[8, 0, 4.5]]), one, room * one, one, align, shorter=(said[1:],)
    )
    (kept,) = unpacked_names(packed_names((group,)))
    assert kept.shorter == group.shorter
    assert len(group.only(np.array([0]))) == 1
    made = Overlay()
    of = prepare((kept,), np.ones((1, 4), np.float32), measure)
    lay_names(of, seen_from(np.array([8.0, -20.0, 4.5])), FREE, Theme(), measure, made, {})
    shown = made.texts
    # So many pixels has its room on the screen, and so many each text.
    pixels, size = room * WIDTH / (2 * TANGENTS[0] * 20), Theme().type
    fits = [text for text in said if measure(text) * size <= pixels]
    if not shown:
        # What was not there before has to have some more room than it needs.
        assert not fits or pixels < 1.15 * 3.2 * size
        return
    (text,) = shown
    assert text.text == fits[0]
    left, right = WIDTH / 2 - pixels * (align + 1) / 2, WIDTH / 2 + pixels * (1 - align) / 2
    assert left - 1 <= text.left <= text.left + measure(text.text) * size <= right + 1


@example("000..", 2.0)
@given(
    st.text(min_size=1, max_size=40) | st.text("ab. ", min_size=1, max_size=40),
    st.floats(0, 20),
)
def test_a_text_is_shortened_to_the_most_of_it_that_fits(text, room):
    if measure(text) <= room:
        return
    starts = [start_of(text, n) for n in range(1, len(text) + 1)]
    fit = [start for start in starts[3:] if measure(start) <= room]
    found, wide = shortened(text, room, measure)
    assert found == (fit[-1] if fit else "")
    assert wide == measure(found) <= room


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_names_are_shortened_together_as_each_alone(data):
    words = st.text("ab. ", min_size=1, max_size=20)
    texts = data.draw(st.lists(words, min_size=1, max_size=6))
    alternatives = data.draw(st.lists(st.lists(words, max_size=3), min_size=len(texts), max_size=len(texts)))
    shorter = tuple(tuple(sorted(set(some), key=measure, reverse=True)) for some in alternatives)
    group = names(len(texts), 1)
    named = prepare(
        (replace(group, text=tuple(texts), shorter=shorter),), np.ones((2, 4), np.float32), measure
    )
    for _ in range(3):
        rows = data.draw(st.lists(st.integers(0, len(texts) - 1), min_size=1, unique=True))
        room = data.draw(st.lists(st.floats(0, 12), min_size=len(rows), max_size=len(rows)))
        found, wide = named.within(np.array(rows, np.int32), np.array(room), measure)
        for row, most, text, width in zip(rows, room, found, wide.tolist()):
            if shorter[row]:
                fits = [one for one in shorter[row] if measure(one) <= most]
                assert text == (fits[0] if fits else "")
            else:
                starts = [start_of(texts[row], n) for n in range(1, len(texts[row]) + 1)]
                fits = [one for one in starts[3:] if measure(one) <= most]
                assert text == (fits[-1] if fits else "")
            assert width == (measure(text) if text else 0.0) <= max(most, 0.0)


def test_signs_are_not_cut_away_with_what_they_name():
    group = names(60, 5)
    signs = replace(group, kind="trace letter", room=np.full(60, np.inf, np.float32))
    counts = replace(signs, kind="repetition")
    low, high = np.array([5.0, -np.inf, -np.inf]), np.array([9.0, np.inf, np.inf])
    cut = prepare((signs, counts), np.ones((2, 4), np.float32), measure).of_stretch(low, high)
    is_shown = (cut.top != cut.anchor).any(axis=1)
    assert is_shown[:60].all()
    at = group.anchor[:, 0]
    assert is_shown[60:].tolist() == ((at >= 5.0) & (at <= 9.0)).tolist()
    assert 0 < is_shown[60:].sum() < 60


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.tuples(*[st.floats(-9, 9)] * 3), min_size=2, max_size=12, unique=True),
    st.floats(0, 300), st.floats(0, 200),
)  # fmt: skip
def test_points_just_fill_their_part(points, left, below):
    points = np.array(points)
    free = (left, below, WIDTH - 20.0, HEIGHT - 50.0)
    eye = fill(points, AXES, TANGENTS, free, (WIDTH, HEIGHT))
    pixel = seen_from(eye).pixels(points)
    pixel = pixel[~np.isnan(pixel).any(axis=1)]
    if not len(pixel):
        return
    low, high = pixel.min(axis=0), pixel.max(axis=0)
    assert low[0] >= left - 1
    assert low[1] >= below - 1
    assert high[0] <= free[2] + 1
    assert high[1] <= free[3] + 1


def test_a_frame_leaves_room_for_legends_and_names():
    group = names(20, 5, np.inf)
    what = explained((group,), callouts=0)
    prepared = prepare((group,), what.palette, measure)
    location, distance = frame(what, prepared, AXES, TANGENTS, FREE, (WIDTH, HEIGHT), Theme(), measure)
    made = compose(
        what, prepared, seen_from(location - AXES[2] * distance), FREE, location, Theme(), measure
    )  # fmt: skip
    check(made)
    corners = np.array([(x, y, z) for x in (0, 16) for y in (0, 1) for z in (0, 9)], float)
    at = seen_from(location - AXES[2] * distance).pixels(corners)
    panel = made.fills[0][0]
    covered = (at[:, 0].min() < panel[2]) and (at[:, 1].max() > panel[1])
    assert not covered
    assert np.ptp(at, axis=0).max() > 0.5 * HEIGHT


@pytest.mark.parametrize("turn", [-0.6, -0.3, 0.0, 0.3, 0.6])
def test_data_that_leave_the_corner_free_are_larger_than_beside_or_below_the_legends(turn, monkeypatch):
    group = names(20, 5, np.inf)
    low, high = np.array([0.0, 0.0, 0.0]), np.array([16.0, 1.0, 2.0])
    wide = (Legend("What", tuple(LegendEntry(f"{i} is an entry with a long text", i % 2) for i in range(9))),)
    what = replace(explained((group,), callouts=0), axes=(), low=low, high=high, legends=wide)
    prepared = prepare((group.only(np.arange(0)),), what.palette, measure)
    # Rolled, a long box leaves two corners of its rectangle free.
    right, up = AXES[0], AXES[1]
    axes = np.stack(
        [np.cos(turn) * right + np.sin(turn) * up, np.cos(turn) * up - np.sin(turn) * right, AXES[2]]
    )
    given = (what, prepared, axes, TANGENTS, FREE, (WIDTH, HEIGHT), Theme(), measure)
    location, distance = frame(*given)
    panel = compose(
        what, prepared, seen_from(np.array([8.0, -20.0, 4.5])), FREE, np.zeros(3), Theme(), measure
    ).fills[0][0]
    share = np.random.default_rng(3).random((20_000, 3))
    way = (low + share * (high - low) - (location - axes[2] * distance)) @ axes.T
    at = (way[:, :2] / way[:, 2:] / TANGENTS + 1) / 2 * (WIDTH, HEIGHT)
    inside = (at[:, 0] < panel[2]) & (at[:, 1] > panel[1])
    assert not inside.any()
    assert (at >= 0).all()
    assert (at <= (WIDTH, HEIGHT)).all()
    monkeypatch.setattr(framing, "_between", lambda parts: [])
    _, alone = frame(*given)
    assert distance <= alone
    # From the lower left to the upper right it leaves the legends' corner free.
    if turn == -0.3:
        assert distance < 0.97 * alone
    if turn > 0:
        assert distance == alone


def test_zoomed_in_an_axis_of_time_gets_finer_ticks():
    axis = Axis((0, 0, 0), (1, 0, 0), 10.0, (), (), window=(0, 10**9))
    _, coarse, _ = ticks_of(axis, 0, 10, 6)
    along, fine, title = ticks_of(axis, 5.0, 5.000001, 6)
    assert coarse == ["0.0 s", "0.2 s", "0.4 s", "0.6 s", "0.8 s", "1.0 s"]
    assert len(fine) >= 3
    assert title.startswith("from ")
    assert ((along >= 5.0) & (along <= 5.000001)).all()
    # Time may run against the axis.
    back, _, _ = ticks_of(Axis((0, 0, 0), (1, 0, 0), 10.0, (), (), window=(10**9, 0)), 0, 10, 6)
    assert np.allclose(back, [0, 2, 4, 6, 8, 10])


def test_triangles_cover_what_they_stand_for():
    made = Overlay(
        fills=[((0, 0, 10, 5), (1, 0, 0, 1))], lines=[((0, 0), (10, 0), 2.0, (0, 1, 0, 1))],
        dots=[(5, 5, 3, (0, 0, 1, 1))],
    )  # fmt: skip
    point, color, corner = triangles(made)
    a, b, c = point[corner[:, 0]], point[corner[:, 1]], point[corner[:, 2]]
    area = np.abs((b - a)[:, 0] * (c - a)[:, 1] - (b - a)[:, 1] * (c - a)[:, 0]) / 2
    by_color = [area[(color[corner[:, 0], k] == 1)].sum() for k in range(3)]
    assert by_color[:2] == pytest.approx([50, 20])
    assert by_color[2] == pytest.approx(np.pi * 9, rel=0.05)


@given(st.text("abc ", max_size=60), st.floats(60, 400))
def test_a_wrapped_text_is_whole_where_two_lines_hold_it(text, room):
    lines = wrapped(text, room, 10, measure)
    assert len(lines) <= 2
    assert all(measure(line) * 10 <= room for line in lines)
    words = text.split(" ")
    splits = [(" ".join(words[:k]), " ".join(words[k:])) for k in range(1, len(words))]
    fit = [both for both in splits if max(map(measure, both)) * 10 <= room]
    if measure(text) * 10 <= room:
        assert lines == [text]
    elif fit:
        assert " ".join(lines) == text
        assert max(map(measure, lines)) == min(max(map(measure, both)) for both in fit)


@given(st.text(max_size=40), st.floats(0, 400))
def test_fitted_texts_fit(text, room):
    found = fitted(text, room, 10, measure)
    assert measure(found) * 10 <= room or not found
    assert found == text or not found or found.endswith("…")


def test_names_of_elements_stand_on_their_colours_or_beside_them():
    group = names(40, 3)
    on = prepare((group,), np.ones((2, 4), np.float32), measure)
    assert standing_on(on, [Selector(((0, 0),))], []).tolist() == (group.background == 0).tolist()
    ground = replace(group, background=np.empty(0, np.int32))
    beside = prepare((ground,), np.ones((2, 4), np.float32), measure)
    low, high = np.array([[4.0, 0, 2]]), np.array([[8.0, 0, 5]])
    found = standing_on(beside, [Selector(((0, 0),))], [(low, high)])
    reach = 2.0 * 0.4 + 1e-6
    wanted = [
        all(a - reach <= x <= b + reach for x, a, b in zip(at, low[0], high[0]))
        for at in ground.anchor.tolist()
    ]
    assert found.tolist() == wanted
    assert 0 < found.sum() < len(found)


def callouts_of(made):
    return {target.index[0]: target.box for target in made.targets if target.kind == "callout"}


def test_callouts_keep_off_data_and_stay():
    eye = np.array([8.0, -20.0, 4.5])

    def lower(box):
        return float(box[1] < HEIGHT / 2)

    first = overlay(eye, ())
    apart = overlay(eye, (), covered=lower)
    assert len(callouts_of(first)) == len(callouts_of(apart)) == 3
    assert all(box[1] >= HEIGHT / 2 for box in callouts_of(apart).values())
    again = overlay(np.add(eye, (0.02, 0.0, 0.02)), (), before=apart)
    assert again.places == apart.places


def test_a_callout_goes_farther_for_free_room_but_not_across_the_region():
    callout = (Callout("finding", "12 ms more", (8.0, 0.0, 4.0)),)
    eye = seen_from(np.array([8.0, -20.0, 4.5]))
    ((x, y),) = eye.project([callout[0].point])[0]
    size = Theme().type

    def near_the_point(reach):
        return lambda box: float(
            box[0] < x + reach and x - reach < box[2] and box[1] < y + reach and y - reach < box[3]
        )

    def way(covered):
        made = Overlay()
        lay_callouts(callout, eye, FREE, Theme(), measure, made, covered=covered)
        ((start, end, *_),) = made.lines
        return math.dist(start, end) / size, covered(callouts_of(made)[0])

    assert way(near_the_point(0))[0] < 6
    beyond, over = way(near_the_point(9 * size))
    assert over == 0
    assert beyond >= 9
    # Where all is data, the nearest place is as good as any.
    everywhere, _ = way(lambda box: 1.0)
    assert everywhere < 6


def test_of_a_word_no_stump_is_left():
    assert shortened("352 ms for work", 9, len)[0] == "352 ms…"
    assert shortened("352 ms for work", 11, len)[0] == "352 ms for…"
    assert shortened("main › build_main", 9, len)[0] == "main ›…"
    assert shortened("build_main", 6, len)[0] == "build…"


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), *[st.floats(0, 1)] * 4)
def test_how_much_of_a_rectangle_is_covered(seed, a, b, c, d):
    high, wide = 240, 320
    depth = np.ones((high, wide), np.float32)
    rng = np.random.default_rng(seed)
    at = rng.integers(0, (high, wide))
    depth[: at[0], : at[1]] = 0.5
    lens = Lens.of(np.eye(4), False, 1.0)
    known = Depths.of(depth.tobytes(), wide, high, np.eye(4), lens)
    x0, x1, y0, y1 = (*np.sort([a, b]) * wide, *np.sort([c, d]) * high)
    inside = depth[round(y0) : round(y1), round(x0) : round(x1)]
    if min(inside.shape) > 64:
        # Cells are counted, not pixels: one at each edge may be off.
        assert known.covered((x0, y0, x1, y1)) == pytest.approx((inside < 1).mean(), abs=0.3)
    assert 0 <= known.covered((x0, y0, x1, y1)) <= 1


def test_texts_are_quads_of_their_places_at_whole_pixels():
    text = Text("run", 10.4, 20.6, 12.0, (0.1, 0.2, 0.3, 1.0), "name", (0, 0, 0, 0))
    given, triangle = quads([text, text], [(0, 0, 30, 18), (64, 32, 30, 18)], 128, 0.4)
    assert given["pos"][4:].tolist() == [[10, 16], [40, 16], [40, 34], [10, 34]]
    assert given["uv"][4:].tolist() == [[0.5, 0.25], [94 / 128, 0.25], [94 / 128, 50 / 128], [0.5, 50 / 128]]
    assert given["color"].shape == (8, 4)
    assert triangle.tolist() == [[0, 1, 2], [0, 2, 3], [4, 5, 6], [4, 6, 7]]


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.floats(6, 10), st.floats(3, 6)), min_size=3, max_size=3))
def test_leader_lines_hardly_ever_cross(points):
    callouts = tuple(Callout(f"finding {i}", "", (x, 0.0, z)) for i, (x, z) in enumerate(points))
    made = Overlay()
    lay_callouts(callouts, seen_from(np.array([8.0, -20.0, 4.5])), FREE, Theme(), measure, made)
    lines = [(*a, *b) for a, b, *_ in made.lines]
    apart = all(abs(a[0] - b[0]) + abs(a[1] - b[1]) > 60 for a, b in combinations(lines, 2))
    # There is room enough on all sides: with points apart from each other no two lines need to cross.
    if apart:
        assert not any(crosses(a, b) for a, b in combinations(lines, 2))


def crosses(a, b):
    """Return whether two lines cross, by solving for the point that both have."""
    way = np.array([[a[2] - a[0], b[0] - b[2]], [a[3] - a[1], b[1] - b[3]]])
    if abs(np.linalg.det(way)) < 1e-9:
        return False
    s, t = np.linalg.solve(way, (b[0] - a[0], b[1] - a[1]))
    return 1e-6 < s < 1 - 1e-6 and 1e-6 < t < 1 - 1e-6


@pytest.mark.parametrize("high", [2.0, 9.0, 60.0])
def test_data_that_are_read_fill_the_width_from_below(high):
    what = replace(
        explained((), legends=1, callouts=0),
        low=(0.0, -1.0, 0.0), high=(16.0, 0.0, high), reading=(0.0, -1.0, 0.0),
    )  # fmt: skip
    at, distance = frame(
        what,
        prepare((), what.palette, measure),
        AXES,
        TANGENTS,
        FREE,
        (WIDTH, HEIGHT),
        Theme(),
        measure,
        85.0,
    )
    eye = at - np.asarray(AXES[2]) * distance
    (left, below), (right, _) = seen_from(eye).pixels([(0.0, -1.0, 0.0), (16.0, -1.0, 0.0)])
    assert FREE[0] <= left < FREE[0] + 60
    assert FREE[2] - 85 - 60 < right <= FREE[2] - 85
    assert below > FREE[1] + 20
    if high > 9:
        assert below < FREE[1] + 60


def test_legends_in_lines_overlap_nothing_and_answer_the_mouse():
    what = explained((), legends=1, callouts=0)
    out = Overlay()
    lay_legends(what.legends, what.palette, FREE, FREE[3], Choices(), Theme(), measure, out, 400.0)
    boxes = [text.box for text in out.texts]
    for i, a in enumerate(boxes):
        assert a[2] <= FREE[0] + 400.0
        for b in boxes[:i]:
            assert a[0] >= b[2] or b[0] >= a[2] or a[1] >= b[3] or b[1] >= a[3]
    entries = [target for target in out.targets if target.kind == "entry"]
    assert [target.index for target in entries] == [
        (k, i) for k, legend in enumerate(what.legends) for i in range(len(legend.entries))
    ][: len(entries)]
    assert len(entries) > 3


def test_callouts_fade_towards_the_edge_and_away_from_their_points():
    what = explained((), legends=0, callouts=1)
    (callout,) = what.callouts

    def strength(eye, taken=()):
        out = Overlay()
        out.taken += taken
        lay_callouts((callout,), seen_from(eye), FREE, Theme(), measure, out)
        (panel,) = (color[3] for box, color in out.fills if box in out.taken)
        ((_, _, _, line),) = out.lines
        return panel, line[3]

    x, _, z = callout.point
    middle, edge = (strength(np.array([x - dx, -20.0, z])) for dx in (0.0, 9.8))
    assert middle == (1.0, 1.0)
    assert 0.3 < edge[0] == edge[1] < 0.9
    # With no room nearby it stands farther away: it is read there, too, and its line hides less.
    panel, line = strength(np.array([x, -20.0, z]), [(230.0, 150.0, 770.0, 550.0)])
    assert panel == 1.0
    assert 0.5 < line < 1.0


def test_a_callout_that_would_reach_beyond_an_edge_stands_there():
    (callout,) = explained((), legends=0, callouts=1).callouts
    x, _, z = callout.point
    for dx in (-9.5, 9.5):
        out = Overlay()
        lay_callouts((callout,), seen_from(np.array([x + dx, -20.0, z])), FREE, Theme(), measure, out)
        (target,) = out.targets
        assert target.box[0] >= 0
        assert target.box[2] <= WIDTH
        ((start, end, _, _),) = out.lines
        assert math.dist(start, end) < 8 * Theme().type


def test_no_callout_hides_the_buttons_below_the_corner():
    eye, free = seen_from(np.array([8.0, -20.0, 4.0])), (0.0, 0.0, float(WIDTH), float(HEIGHT))
    right = next(x for x in np.linspace(0.0, 30.0, 600) if eye.pixels([(x, 0.0, 7.0)])[0, 0] > WIDTH - 60)
    what = replace(
        explained((), legends=0, callouts=0),
        axes=(), callouts=(Callout("it stands at the right", "", (float(right), 0.0, 7.0), 1.0),),
    )  # fmt: skip
    placed = []
    for corner in (0.0, 80.0):
        made = compose(what, (), eye, free, np.zeros(3), Theme(), measure, corner=corner)
        (target,) = (one for one in made.targets if one.kind == "callout")
        placed.append(target.box)
    over = [box[2] > WIDTH - 80 and box[3] > HEIGHT - 2.4 * 80 for box in placed]
    assert over == [True, False]
