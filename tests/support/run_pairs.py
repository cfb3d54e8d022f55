"""Two runs of a program, the second of which differs here and there: what findings are made of."""

from __future__ import annotations

import random

from hypothesis import strategies as st

from tests.comparison.test_findings import traced
from tests.support.plain_match import traces

NAMES = [f"f{i}" for i in range(7)]


def _nodes(call):
    """Return a call and all below it."""
    return [call, *(below for child in call[2] if not isinstance(child, int) for below in _nodes(child))]


def _copy(call):
    return [call[0], call[1], [child if isinstance(child, int) else _copy(child) for child in call[2]]]


@st.composite
def _calls(draw, levels):
    """Draw a call: [function, own time, what it calls], with repetitions."""
    below = []
    if levels:
        for _ in range(draw(st.integers(0, 3))):
            child = draw(_calls(levels - 1))
            below += [_copy(child) for _ in range(draw(st.sampled_from([1, 1, 1, 2, 9])))]
    return [draw(st.sampled_from(NAMES)), draw(st.sampled_from([0, 1, 10, 10, 40])), below]


def _edit(draw, root):
    """Change a run in one place."""
    nodes = _nodes(root)
    node = draw(st.sampled_from(nodes))
    with_calls = [each for each in nodes if each[2]]
    caller = draw(st.sampled_from(with_calls)) if with_calls else None
    what = draw(
        st.sampled_from(
            ["slow", "slow all", "pause", "rename", "wait", "drop", "repeat", "swap", "wrap", "move"]
        )
    )
    if what == "slow":
        node[1] = draw(st.sampled_from([2, 3, 10])) * max(node[1], 1)
    elif what == "slow all":
        factor = draw(st.sampled_from([2, 3]))
        for each in nodes:
            if each[0] == node[0]:
                each[1] *= factor
    elif what == "pause":
        node[1] += draw(st.sampled_from([100, 1000]))
    elif what == "rename":
        old, new = node[0], draw(st.sampled_from([*NAMES, "new"]))
        for each in nodes if draw(st.booleans()) else [node]:
            if each[0] == old:
                each[0] = new
    elif caller:
        place = draw(st.integers(0, len(caller[2]) - 1))
        child = caller[2][place]
        if what == "wait":
            caller[2].insert(place, draw(st.sampled_from([5, 50, 500])))
        elif what == "drop":
            del caller[2][place]
        elif what == "repeat" and not isinstance(child, int):
            caller[2][place:place] = [_copy(child) for _ in range(draw(st.sampled_from([1, 8])))]
        elif what == "swap":
            caller[2].insert(draw(st.integers(0, len(caller[2]) - 1)), caller[2].pop(place))
        elif what == "wrap":
            caller[2][place] = ["wrapper", draw(st.sampled_from([0, 1, 30])), [child]]
        elif what == "move" and not isinstance(child, int):
            to = draw(st.sampled_from(nodes))
            if not any(each is to for each in _nodes(child)):
                del caller[2][place]
                to[2].append(child)


def _vary(root, other, chance):
    """Let a machine take part in all times, and stop now and then."""
    for each in _nodes(root) + _nodes(other):
        each[1] = each[1] * 100 + chance.randrange(1, 20)
        if chance.random() < 0.05:
            each[1] += 3000


@st.composite
def run_pairs(draw):
    """Draw two traces: small ones of any kind, or a run and another that differs from it."""
    if draw(st.integers(0, 3)) == 0:
        return draw(traces()), draw(traces())
    root = draw(_calls(3))
    other = _copy(root)
    for _ in range(draw(st.integers(0, 4))):
        _edit(draw, other)
    if draw(st.booleans()):
        _vary(root, other, random.Random(draw(st.integers(0, 99))))
    pair = traced(root), traced(other, draw(st.sampled_from([0, 0, 0, 30, 300])))
    return pair if draw(st.booleans()) else pair[::-1]
