"""What moves by a timer of Blender's, with Blender's module."""

import importlib.util
from pathlib import Path

import pytest

bpy = pytest.importorskip("bpy", reason="no bpy")
pytestmark = pytest.mark.blender

_FILE = Path(__file__).parents[2] / "operators" / "explore" / "motion" / "motion.py"
_SPEC = importlib.util.spec_from_file_location("motion_alone", _FILE)
module = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(module)


class Steps:
    """Takes some steps, and does something at the end."""

    def __init__(self, count, at_end=lambda: None):
        self.left, self.taken, self.at_end = count, 0, at_end

    def arrive(self):
        self.left = 1

    def step(self):
        self.taken, self.left = self.taken + 1, self.left - 1
        if self.left > 0:
            return 0.5
        self.at_end()
        return None


@pytest.fixture
def motion():
    """What moves nothing yet; its timer is taken away afterwards."""
    made = module.Motion()
    yield made
    made.end()
    assert not bpy.app.timers.is_registered(made._timer)


def test_it_moves_step_by_step_until_it_arrives(motion):
    moving = Steps(3)
    motion.start(moving)
    assert bpy.app.timers.is_registered(motion._timer)
    assert [motion._timer(), motion._timer()] == [0.5, 0.5]
    assert (motion.current, motion.ended) == (moving, 0)
    assert motion._timer() is None
    assert (motion.current, motion.ended, moving.taken) == (None, 1, 3)
    assert motion._timer() is None


def test_what_is_under_way_arrives_at_once_or_is_broken_off(motion):
    moving = Steps(9)
    motion.start(moving)
    assert motion.finish()
    assert (moving.taken, motion.current, motion.ended) == (1, None, 1)
    assert not motion.finish()
    motion.start(Steps(9), at_once=True)
    assert motion.current is None
    other = Steps(9)
    motion.start(other)
    assert motion.stop()
    assert not motion.stop()
    assert other.taken == 0


def test_the_end_of_one_may_be_the_start_of_another(motion):
    later = Steps(5)
    motion.start(Steps(1, lambda: motion.start(later)))
    motion._timer()
    assert motion.current is later
