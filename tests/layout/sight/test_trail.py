"""Back and forth through places, against a plain list with a finger on it."""

from hypothesis import given
from hypothesis import strategies as st

from tracevis3d.layout.sight.trail import MOST, Trail

steps = st.lists(st.integers(0, 6) | st.sampled_from(["back", "forth"]), max_size=40)


@given(steps)
def test_back_and_forth(steps):
    trail = Trail(lambda a, b: a == b)
    places, at = [], -1
    for step in steps:
        if step == "back":
            at = at - 1 if at > 0 else at
            found = trail.back()
            assert found is None or found == places[at]
        elif step == "forth":
            moved = at + 1 < len(places)
            at += moved
            found = trail.forth()
            assert (found is not None) == moved
            assert found is None or found == places[at]
        elif at < 0 or places[at] != step:
            places = [*places[: at + 1], step]
            at = len(places) - 1
            trail.visit(step)
        else:
            trail.visit(step)
        assert len(trail) == len(places)


def test_the_oldest_places_are_forgotten():
    trail = Trail(lambda a, b: a == b)
    for place in range(MOST + 20):
        trail.visit(place)
    assert len(trail) == MOST
    found = [trail.back() for _ in range(MOST)]
    assert found[:2] == [MOST + 18, MOST + 17]
    assert found[-2:] == [20, None]
