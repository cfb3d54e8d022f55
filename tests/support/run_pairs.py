"""Two runs of a program, the second of which differs here and there: what findings are made of."""

from __future__ import annotations

import random

from hypothesis import strategies as st

from tests.comparison.test_findings import threaded, traced
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


def _traced(draw, runs, waits=(0, 0)):
    """Return two traces, of which what the root calls may be calls without a caller."""
    if draw(st.integers(0, 3)) == 0 and all(any(not isinstance(c, int) for c in run[2]) for run in runs):
        runs = [run[2] for run in runs]
    return tuple(traced(run, wait) for run, wait in zip(runs, waits, strict=True))


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
    pair = _traced(draw, (root, other), (0, draw(st.sampled_from([0, 0, 0, 30, 300]))))
    return pair if draw(st.booleans()) else pair[::-1]


@st.composite
def noisy_pairs(draw):
    """Draw two runs on a machine that takes part in all times: some parts are slower or faster in the other.

    A part calls several functions in turn, and runs itself between them.
    """
    chance = random.Random(draw(st.integers(0, 9999)))
    heavy = draw(st.sampled_from([0, 0, 0, 100_000, 1_000_000]))
    factors = st.sampled_from([1, 1, 1, 0.3, 0.6, 1.4, 2, 4])
    runs = [[], []]
    for part in range(draw(st.integers(1, 5))):
        of_part, functions = draw(factors), draw(st.integers(1, 7))
        of_function = [of_part * draw(factors) for _ in range(functions)]
        names = [draw(st.sampled_from([f"{part}.{f}", f"{part}.{f}", f"f{f}"])) for f in range(functions)]
        rounds, gap = draw(st.sampled_from([1, 2, 3, 4, 9, 12, 21])), draw(st.sampled_from([0, 0, 300]))
        between, again = draw(factors), draw(st.sampled_from([1, 1, 1, 2, 3]))
        for run, slower in zip(runs, (0, 1), strict=True):
            for _ in range(again):
                below = []
                for _ in range(rounds):
                    for name, factor in zip(names, of_function, strict=True):
                        own = 1000 * (factor if slower else 1) + chance.randrange(30)
                        own += 20_000 * (chance.random() < 0.01)
                        below += [
                            int(gap * (between if slower else 1)) + chance.randrange(9),
                            [name, int(own), []],
                        ]
                run.append([f"part{part}", 200 + chance.randrange(9), below])
    pair = _traced(draw, [["main", 300 + heavy + chance.randrange(30), run] for run in runs])
    return pair if draw(st.booleans()) else pair[::-1]


@st.composite
def moved_pairs(draw):
    """Draw two runs whose functions are called by others, or more often, in the second."""
    functions = range(draw(st.integers(1, 4)))
    times, factor = draw(st.sampled_from([(10,), (10, 400)])), draw(st.sampled_from([1, 1, 2]))
    alone = [draw(st.booleans()) for _ in functions]  # whether what it calls is called by no other
    runs = [[], []]
    for caller in range(draw(st.integers(1, 5))):
        counts = [
            [draw(st.sampled_from([0, 0, 1, 1, 2, 6, 12])) for _ in functions] if draw(st.booleans()) else []
            for _ in runs
        ]  # fmt: skip
        counts[0] = counts[0] or [draw(st.sampled_from([0, 1, 5])) for _ in functions]
        counts[1] = counts[1] or counts[0]
        for s, run in enumerate(runs):
            below = []
            for f, count in enumerate(counts[s]):
                parts = [[f"part{f if alone[f] else ''}", 5, []] for _ in range(3)]
                own = times[f % len(times)] * (factor if s else 1)
                below += [[f"work{f}", own, _copy(["", 0, parts])[2]] for _ in range(count)]
            run.append([f"caller{caller % 4}", 30, below])
    return _traced(draw, [["main", 100, [*run, ["rest", 9, []]]] for run in runs])


@st.composite
def waiting_pairs(draw):
    """Draw two runs with exact times that wait between calls: longer, or elsewhere, in the second."""
    runs = [[], []]
    for part in range(draw(st.integers(1, 4))):
        below = [[], []]
        for f in range(draw(st.integers(1, 5))):
            waits = draw(
                st.sampled_from([(0, 0), (5, 5), (50, 50), (50, 80), (100, 900), (700, 10), (0, 300)])
            )
            call = [f"f{draw(st.integers(0, 3))}{part}", draw(st.sampled_from([0, 10, 10, 500])), []]
            there = draw(st.sampled_from([(1, 1), (1, 1), (1, 1), (1, 0), (0, 1), (1, 2)]))
            for s, of in enumerate(below):
                of += [waits[s], *[_copy(call) for _ in range(there[s])]]
            if f and draw(st.integers(0, 3)) == 0:
                below[1][-2:], below[1][-4:-2] = below[1][-4:-2], below[1][-2:]
        for s, run in enumerate(runs):
            run.append([f"part{part}", 20, below[s]])
    first = draw(st.sampled_from([(0, 0), (30, 30), (30, 900)]))
    return _traced(draw, [["main", 100, run] for run in runs], first)


def _parts(chance, levels):
    """Return calls, and waits between them, some of them again and again."""
    found = []
    for _ in range(chance.choice([0, 1, 2, 3, 5] if levels < 2 else [1, 2, 3, 4])):
        call = [f"f{chance.randrange(8)}", chance.choice([0, 1, 10, 10, 40, 300]), []]
        call[2] = _parts(chance, levels - 1) if levels else []
        found += [_copy(call) for _ in range(chance.choice([1, 1, 1, 2, 3]))]
        found += [chance.choice([1, 5, 50, 500])] if chance.random() < 0.25 else []
    return found


def reordered_pair(seed):
    """Return two runs of some threads, made by chance: in one of them work is done elsewhere, or later."""
    chance = random.Random(seed)
    threads = [_parts(chance, 2) for _ in range(chance.choice([1, 1, 2, 3]))]
    one, other = (_copy(["", 0, [["", 0, thread] for thread in threads]])[2] for _ in range(2))
    for _ in range(chance.randint(1, 4)):
        of = chance.choice([each[2] for thread in other for each in _nodes(thread) if each[2]])
        place, to = chance.randrange(len(of)), chance.randrange(len(of))
        call = of[place] if not isinstance(of[place], int) else ["wrapper", 30, []]
        what = chance.choice([
            "swap", "swap", "swap", "wait", "wait", "rename", "slow", "drop", "more", "alone", "bare", "wrap",
            "begin", "end",
        ])  # fmt: skip
        if what == "swap":
            of.insert(to, of.pop(place))
        elif what == "wait":
            of.insert(place, chance.choice([1, 5, 50, 500, 2000]))
        elif what == "rename":
            for each in _nodes(["", 0, other]):
                each[0] = "new" if each[0] == call[0] != "" else each[0]
        elif what == "slow":
            call[1] = call[1] * chance.choice([2, 5]) + chance.choice([0, 1])
        elif what == "drop":
            of[place : place + 1] = [] if len(of) > 1 else of
        elif what == "more":
            of.insert(to, _copy(call))
        elif what == "alone":  # without what it calls
            of.insert(to, [*call[:2], []])
        elif what == "bare":
            call[2].clear()
        elif what == "wrap":
            of[place] = ["wrapper", chance.choice([0, 1, 30]), [call]]
        elif what == "begin":  # a thread, with the last calls of another
            thread = chance.choice(other)[2]
            other.append(["", 0, [thread.pop() for _ in thread[to + 1 :]][::-1] or [_copy(call)]])
        elif what == "end":  # a thread's first call by another thread
            thread, before = chance.choice(other)[2], chance.choice(other)[2]
            before += [thread.pop(0) for _ in thread[1:2]]
    pair = [
        threaded(*(of for _, _, of in run if any(not isinstance(each, int) for each in of)))
        for run in (one, other)
    ]
    return tuple(pair if chance.random() < 0.5 else pair[::-1])


def any_pairs():
    """Draw two runs of any of these kinds."""
    return st.one_of(run_pairs(), noisy_pairs(), moved_pairs(), waiting_pairs())
