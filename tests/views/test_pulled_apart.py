"""A comparison that is pulled apart: by threads, and by modules."""

from pathlib import Path

import numpy as np
import pytest

from tracevis3d import api
from tracevis3d.drawing.frame import Frame
from tracevis3d.features.comparison.view.geometry.modules import MOST, module_steps

EXAMPLES = Path(__file__).parents[2] / "examples"
FRAME = Frame(640, 360)


@pytest.fixture(scope="module")
def pair():
    return [api.load(EXAMPLES / f"vt_markdown_repeat{i}.json.gz") for i in (1, 2)]


def test_the_same_module_has_the_same_step_on_both_walls(pair):
    a, b = module_steps(pair, 2.4)
    by_name = [dict(zip(trace.functions.name, steps)) for trace, steps in zip(pair, (a, b))]
    both = by_name[0].keys() & by_name[1].keys()
    assert len(both) > 100
    assert all(by_name[0][name] == by_name[1][name] for name in both)
    assert min(a) == 0.0
    assert max(a) == pytest.approx(2.4)
    assert len(np.unique(a)) <= MOST + 1
    assert not any(step.any() for step in module_steps(pair, 0.0))


def walls_of(drawing, source):
    (calls,) = [e for e in drawing.elements if e.kind == "call" and getattr(e, "source", 0) == source]
    return calls


def test_calls_stand_out_by_their_modules_and_nothing_else_moves(pair):
    usual, apart = (api.Figure("compare", tuple(pair), {"apart": far}).drawing(FRAME) for far in (0.0, 2.4))
    for source, steps in enumerate(module_steps(pair, 2.4)):
        before, after = walls_of(usual, source), walls_of(apart, source)
        np.testing.assert_array_equal(before.id, after.id)
        np.testing.assert_allclose(before.low[:, 0], after.low[:, 0])
        wanted = steps[pair[source].calls.function[after.id]]
        # The walls lean by 20 degrees: a box that stands out so far is higher by the cosine.
        np.testing.assert_allclose(
            after.size[:, 2] - before.size[:, 2], wanted * np.cos(np.radians(20.0)), atol=1e-4
        )
