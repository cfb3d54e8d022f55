"""Which detail a 3D view needs: the same as by hand, in a thread as in none."""

from threading import Thread

import numpy as np
import pytest

from tests.support.walked_traces import walked_trace
from tracevis3d.drawing.frame import Frame
from tracevis3d.layout.sight.view_projection import ViewProjection
from tracevis3d.views import registry
from tracevis3d.views.detail.in_sight import Sight, along, of_pane

FRAME = Frame(800, 450)


@pytest.fixture(scope="module")
def trace():
    return walked_trace(3, steps=12_000)


@pytest.fixture(scope="module")
def levels(trace):
    view = registry.find("icicle")
    return view.level_of_detail((trace,), view.parameters(), FRAME)


def eye_on(first: float, last: float) -> ViewProjection:
    """Look straight at a range of x, so that it fills the region's width."""
    half = (last - first) / 2
    matrix = np.diag([1 / half, 1 / half, 0.0, 1.0])
    matrix[1] = (0.0, 0.0, 1 / half, 0.0)
    matrix[0, 3] = -(first + last) / 2 / half
    return ViewProjection.of(matrix, 800, 450)


def wall(levels) -> tuple[np.ndarray, np.ndarray]:
    """Return one box as wide as all of the time."""
    low, high = levels.panes[0].x
    return np.array([[low, 0.0, -0.1]]), np.array([[high - low, 1.0, 0.2]])


def same(one, other) -> bool:
    pairs = zip(one.parts, other.parts, strict=True)
    return one.seen == other.seen and all(
        np.array_equal(a.id, b.id) and np.array_equal(a.low, b.low) and np.array_equal(a.size, b.size)
        for a, b in pairs
    )


def test_from_near_it_is_the_cut_of_what_is_seen_and_half_as_much_on_either_side(levels, trace):
    (pane,) = levels.panes
    low, high = pane.x
    first, last = low + 0.4 * (high - low), low + 0.5 * (high - low)
    found = along(levels, 0, Sight((wall(levels),), (eye_on(first, last),)), [trace])
    begin, end = pane.at(first), pane.at(last)
    pixels = 800 / (last - first)
    window = begin - 0.5 * (end - begin), end + 0.5 * (end - begin)
    assert found.seen == pytest.approx((*window, pixels))
    # The cut itself, by the level of detail alone.
    near = levels.look(0, found.seen[:2], found.seen[2])
    assert [part.id.tolist() for part in found.parts] == [
        part.id.tolist() for part in near.parts if len(part)
    ]
    assert sum(map(len, found.parts)) > 100
    assert [len(each.depth) for each in found.metadata] == [len(part) for part in found.parts]


def test_a_thread_finds_the_same_while_another_is_at_it(levels, trace):
    low, high = levels.panes[0].x
    sights = [
        Sight((wall(levels),), (eye_on(low + a * (high - low), low + (a + 0.05) * (high - low)),))
        for a in (0.1, 0.3, 0.6, 0.8)
    ]
    wanted = [along(levels, 0, sight, [trace]) for sight in sights]
    found = {}
    # Of one level of detail, one thread at a time: its working space is used again for the next cut.
    view = registry.find("icicle")

    def work(name: int) -> None:
        own = view.level_of_detail((trace,), view.parameters(), FRAME)
        found[name] = [along(own, 0, sight, [trace]) for sight in sights]

    threads = [Thread(target=work, args=(i,)) for i in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for each in found.values():
        assert all(same(one, other) for one, other in zip(each, wanted, strict=True))
    assert len(found) == 2


def test_nothing_changes_while_what_is_shown_will_do(levels, trace):
    (pane,) = levels.panes
    low, high = pane.x
    eye = eye_on(low + 0.4 * (high - low), low + 0.5 * (high - low))
    shown = along(levels, 0, Sight((wall(levels),), (eye,)), [trace]).seen
    again = Sight((wall(levels),), (eye,), shown=shown)
    assert along(levels, 0, again, [trace]) is None
    aside = eye_on(low + 0.44 * (high - low), low + 0.54 * (high - low))
    assert along(levels, 0, Sight((wall(levels),), (aside,), shown=shown), [trace]) is None
    away = eye_on(low + 0.47 * (high - low), low + 0.57 * (high - low))
    assert along(levels, 0, Sight((wall(levels),), (away,), shown=shown), [trace]).drawing is not None
    nearer = eye_on(low + 0.44 * (high - low), low + 0.5 * (high - low))
    assert along(levels, 0, Sight((wall(levels),), (nearer,), shown=shown), [trace]).drawing is not None


def test_from_afar_the_picture_is_shown_again(levels, trace):
    low, high = levels.panes[0].x
    far = Sight((wall(levels),), (eye_on(low - 10 * (high - low), high + 10 * (high - low)),))
    found = along(levels, 0, far, [trace])
    assert found.drawing is None
    assert found.kinds == levels.panes[0].kinds
    beside = Sight((wall(levels),), (eye_on(high + 1.0, high + 2.0),))
    assert along(levels, 0, beside, [trace]) is None


def test_through_a_lens_the_whole_view_shows_its_detail_unless_that_is_too_much(levels, trace, monkeypatch):
    (pane,) = levels.panes
    low, high = pane.x
    lens = eye_on(low + 0.40 * (high - low), low + 0.45 * (high - low))
    whole = Sight((wall(levels),), (eye_on(low, high),), (lens,))
    found = along(levels, 0, whole, [trace])
    assert found.seen[:2] == pytest.approx(pane.window)
    assert found.seen[2] == pytest.approx(800 / (0.05 * (high - low)))
    monkeypatch.setattr("tracevis3d.views.detail.in_sight._MOST", 10)
    assert of_pane(levels, 0, pane.window, found.seen[2], [trace], most=10) is None
    part = along(levels, 0, whole, [trace])
    begin, end = pane.at(low + 0.40 * (high - low)), pane.at(low + 0.45 * (high - low))
    assert part.seen[:2] == pytest.approx((begin - 0.5 * (end - begin), end + 0.5 * (end - begin)))


def test_what_filters_hide_is_not_among_it(levels, trace):
    low, high = levels.panes[0].x
    sight = Sight((wall(levels),), (eye_on(low + 0.4 * (high - low), low + 0.5 * (high - low)),))
    plain = along(levels, 0, sight, [trace])
    filtered = along(levels, 0, sight, [trace], "name(pattern=f1)")
    assert 0 < sum(map(len, filtered.parts)) < sum(map(len, plain.parts))
