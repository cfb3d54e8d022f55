"""Drawings without what filters hide."""

import numpy as np

from tracevis3d.drawing.filtered import thinned
from tracevis3d.drawing.primitives import (
    Boxes,
    Camera,
    Drawing,
    Labels,
    Lines,
    Marks,
    Meaning,
    Tubes,
)

INTS = np.int64


def drawing() -> Drawing:
    low = np.array([[0, 0, 0], [2, 0, 0], [4, 0, 0]], np.float32)
    size = np.ones((3, 3), np.float32)
    ids, ink = np.array([5, 6, 7], INTS), np.zeros(3, np.int32)
    calls = Boxes("call", low, size, ink, ids, count=np.ones(3, INTS))
    floor = Boxes("terrace", low[:1], size[:1], np.zeros(1, np.int32), np.zeros(1, INTS))
    point = np.arange(21, dtype=np.float32).reshape(7, 3)
    tubes = Tubes(
        "tube", point, np.ones((7, 2), np.float32), np.array([0, 2, 5, 7], INTS), np.zeros(3, np.int32),
        np.array([0, 1, 2], INTS),
    )  # fmt: skip
    lines = Lines("line", point[:4], np.array([0, 2, 4], INTS), np.ones(2, np.float32),
                  np.zeros(2, np.int32), np.array([1, 2], INTS))  # fmt: skip
    marks = Marks("outlier", "sphere", low, np.ones(3, np.float32), np.zeros(3, np.int32), np.arange(3))
    labels = Labels(
        "function", ("a", "b", "c"), low + np.float32([0.1, -0.004, 0.5]), np.full(3, 0.2, np.float32),
        np.ones(3, np.float32), np.ones(3, np.float32), background=np.zeros(3, np.int32),
    )  # fmt: skip
    ends = Meaning(((0, np.array([5, 6, 7], INTS)), (1, np.array([0, 1, 2], INTS))))
    return Drawing(
        np.ones((1, 4), np.float32), (calls, floor, tubes, lines, marks),
        Camera((0, -1, 0), (0, 0, 0), (5, 1, 1)),
        (labels,), meaning={"tube": ends, "line": ends, "outlier": ends},
    )  # fmt: skip


def test_hidden_calls_go_with_their_names_and_matches():
    state = np.zeros(10, np.uint8)
    state[6] = 1
    calls, floor, tubes, lines, marks = thinned(drawing(), {0: state}).elements
    assert calls.id.tolist() == [5, 7]
    assert calls.low[:, 0].tolist() == [0, 4]
    assert len(calls.count) == 2
    assert floor.kind == "terrace"
    assert tubes.id.tolist() == [0, 2]
    assert tubes.first.tolist() == [0, 2, 4]
    assert tubes.point[:, 0].tolist() == [0, 3, 15, 18]
    assert lines.id.tolist() == [2]
    assert lines.point[:, 0].tolist() == [6, 9]
    assert marks.id.tolist() == [0, 2]
    assert thinned(drawing(), {0: state}).labels[0].text == ("a", "c")


def test_faded_calls_become_ghosts_in_their_places():
    state = np.zeros(10, np.uint8)
    state[7] = 2
    made = thinned(drawing(), {0: state})
    ghost = next(e for e in made.elements if e.kind == "call" and e.look == "ghost")
    assert ghost.id.tolist() == [7]
    assert ghost.low[0, 0] == 4
    assert made.labels[0].text == ("a", "b", "c")


def test_a_match_goes_by_either_end_and_hidden_counts_before_faded():
    a, b = np.zeros(10, np.uint8), np.zeros(3, np.uint8)
    a[5], b[0], b[1] = 2, 1, 2
    made = thinned(drawing(), {0: a, 1: b})
    shown = [e for e in made.elements if e.kind == "tube"]
    assert [e.id.tolist() for e in shown if e.look != "ghost"] == [[2]]
    assert [e.id.tolist() for e in shown if e.look == "ghost"] == [[1]]


def test_without_anything_to_hide_it_is_the_same_drawing():
    made = drawing()
    assert thinned(made, {0: np.zeros(10, np.uint8)}) is made
    assert thinned(made, {}) is made
