"""The call paths of two traces laid upon each other, against a plain twin, ways around included."""

from __future__ import annotations

from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tracevis3d.features.comparison.findings.paths as module
from tests.comparison.test_findings import traced
from tests.support.run_pairs import run_pairs
from tracevis3d.features.comparison.findings.paths import common_paths
from tracevis3d.features.comparison.matching.groups import find_paths
from tracevis3d.features.comparison.matching.match import compare


class Side:
    """The call paths of one trace, one by one."""

    def __init__(self, trace, ids, worth, wrapped) -> None:
        calls, self.wrapped = trace.calls, wrapped
        function = [int(ids[f]) for f in calls.function.tolist()]
        found = find_paths(calls, ids[calls.function].astype("int32"))
        self.of_call = found.place.tolist()
        self.n = len(found)
        self.parent, self.function = found.forest.parent.tolist(), found.unit.tolist()
        own = [int(end - start) for start, end in zip(calls.start, calls.end, strict=True)]
        lasted = own.copy()
        for i, up in enumerate(calls.parent.tolist()):
            if up >= 0:
                own[up] -= lasted[i]
        heads = [i for i, up in enumerate(calls.parent.tolist()) if up < 0 or function[up] != function[i]]
        self.own = [sum(own[i] for i in range(len(own)) if self.of_call[i] == p) for p in range(self.n)]
        self.calls = [self.of_call.count(p) for p in range(self.n)]
        self.heads = [[i for i in heads if self.of_call[i] == p] for p in range(self.n)]
        self.lasted = lasted
        self.time = [sum(self.own[q] for q in range(self.n) if self.lies(q, p)) for p in range(self.n)]
        # Its share of the time or of the calls, whichever is more.
        self.worth = worth
        self.weight = [
            max(
                self.time[p] / max(sum(own), 1),
                sum(self.calls[q] for q in range(self.n) if self.lies(q, p)) / max(len(own), 1),
            )
            for p in range(self.n)
        ]
        self.node = [-1] * self.n

    def lies(self, path, above):
        """Whether a path is another one, or below it."""
        while path > above:
            path = self.parent[path]
        return path == above

    def below(self, path):
        """Return the children of a path (-1: the roots) that have no node yet."""
        return [q for q in range(self.n) if self.parent[q] == path and self.node[q] < 0]

    def chain(self, path):
        """Return a path and what it wraps: each time what has most of its weight, half of it at least."""
        found = [path]
        while (below := self.below(found[-1])) and len(found) < self.wrapped:
            most = max(below, key=lambda q: (self.weight[q], -q))
            if self.weight[most] < max(0.5 * self.weight[found[-1]], self.worth):
                break
            found.append(most)
        return found

    def functions(self, path):
        return [self.function[q] for q in range(self.n) if self.lies(q, path)]


def plain_paths(comparison, renamed=None, **words):
    """Return the nodes (parent, function in A, in B), the detours, the sides with each path's node, renames.

    Functions that are taken as the same in one place, one for one, and never called in the other trace, are
    the same in all: then all is laid once more.
    """
    nodes, detours, sides = laid(comparison, dict(renamed or ()), **words)
    if renamed is not None:
        return nodes, detours, sides, renamed
    pairs = {(nodes[node][1], nodes[node][2]) for node, a, b, _ in detours if not a and not b}
    once = sorted(
        (f, g) for f, g in pairs
        if [x for x, _ in pairs].count(f) == [y for _, y in pairs].count(g) == 1
        and g not in sides[0].function and f not in sides[1].function
    )  # fmt: skip
    return plain_paths(comparison, once, **words) if once else (nodes, detours, sides, [])


def laid(comparison, renamed, worth=0.005, deepest=2000, tried=8, wrapped=100):
    """Lay the paths upon each other once, with A's names of B's functions where these are known."""
    ids = (comparison.identity.a, comparison.identity.b)
    sides = [Side(trace, of, worth, wrapped) for trace, of in zip(comparison.traces, ids, strict=True)]
    nodes, detours = [], []
    of_b = {g: f for f, g in renamed.items()}

    def named(s, path):
        function = sides[s].function[path]
        return of_b.get(function, function) if s else function

    level = [[(-1, path) for path in side.below(-1)] for side in sides]

    def join(a, b, caller, reached):
        """Lay a path of A upon one of B, or what they wrap, if that is the same work."""
        chains = [sides[0].chain(a), sides[1].chain(b)]
        functions = [[side.function[p] for p in chain] for side, chain in zip(sides, chains, strict=True)]
        left, right = sides[0].functions(a), sides[1].functions(b)

        def rare(f):
            elsewhere = [
                side.function.count(f) - of.count(f) for side, of in zip(sides, (left, right), strict=True)
            ]
            return max(elsewhere) <= 1

        steps = [
            (i + j, i, j) for i, f in enumerate(functions[0]) for j, g in enumerate(functions[1])
            if f == g and j == functions[1].index(g)
            and (rare(f) or len(sides[0].heads[chains[0][i]]) == len(sides[1].heads[chains[1][j]]))
        ]  # fmt: skip
        if steps:
            _, i, j = min(steps)
            new = functions[0][0] not in sides[1].function and functions[1][0] not in sides[0].function
            if i and j and new and len(sides[0].heads[a]) == len(sides[1].heads[b]):
                i = j = 0
        else:
            both = set(left) & set(right)
            if not len(both) > comparison.settings.tau * len({*left, *right}) or not any(map(rare, both)):
                return False
            i = j = 0
        over = (tuple(functions[0][:i]), tuple(functions[1][:j]))
        wrappers = tuple(side.node[p] for side, p, k in zip(sides, (a, b), (i, j), strict=True) if k)
        detours.append((len(nodes), *over, wrappers))
        for side, chain, k, more in zip(sides, chains, (i, j), reached, strict=True):
            side.node[chain[k]] = len(nodes)
            if k:
                more.append(chain[k])
        nodes.append((caller, functions[0][i], functions[1][j]))
        return True

    for _ in range(deepest):
        if not level[0] and not level[1]:
            break
        has = [{(up, named(s, p)) for up, p in of} for s, of in enumerate(level)]
        keys = sorted(has[0] | has[1])
        here = {key: len(nodes) + i for i, key in enumerate(keys)}
        nodes += [(up, f, renamed.get(f, f)) for up, f in keys]
        reached = [[p for _, p in of] for of in level]
        alone = [[], []]
        for s, side in enumerate(sides):
            for up, p in level[s]:
                side.node[p] = here[up, named(s, p)]
                if (up, named(s, p)) not in has[1 - s] and side.weight[p] >= side.worth:
                    alone[s].append(p)
        callers = [{nodes[side.node[p]][0] for p in of} for side, of in zip(sides, alone, strict=True)]
        for caller in sorted(callers[0] & callers[1]):
            mine = [
                sorted((p for p in of if nodes[side.node[p]][0] == caller), key=lambda p: -side.weight[p])[
                    :tried
                ]
                for side, of in zip(sides, alone, strict=True)
            ]
            taken = set()
            for a in mine[0]:
                for b in mine[1]:
                    if b not in taken and join(a, b, caller, reached):
                        taken.add(b)
                        break
        level = [
            [(side.node[p], q) for p in of for q in side.below(p)]
            for side, of in zip(sides, reached, strict=True)
        ]
    for side in sides:
        for p in range(side.n):  # what lies deeper counts as what it ends in
            if side.node[p] < 0:
                side.node[p] = side.node[side.parent[p]]
    return nodes, detours, sides


def check(comparison, **words):
    """Compare what the library lays upon each other with the twin."""
    paths = common_paths(comparison)
    nodes, detours, sides, renamed = plain_paths(comparison, **words)
    assert list(paths.renamed) == renamed
    assert list(zip(paths.parent.tolist(), *paths.function.tolist(), strict=True)) == nodes
    assert [tuple(detour) for detour in paths.detours] == detours
    n = len(nodes)

    def lies(node, above):
        while node > above:
            node = nodes[node][0]
        return node == above

    for s, side in enumerate(sides):
        assert paths.of_call[s].tolist() == [side.node[p] for p in side.of_call]
        # A path that is its caller's node, too, is none of its own.
        first = [p for p in range(side.n) if side.parent[p] < 0 or side.node[p] != side.node[side.parent[p]]]
        for node in range(n):
            of = [p for p in range(side.n) if side.node[p] == node]
            heads = [i for p in of if p in first for i in side.heads[p]]
            assert paths.calls[s, node] == len(heads)
            assert paths.self_time[s, node] == sum(side.own[p] for p in of)
            longest = int(paths.longest[s, node])
            if heads:
                assert longest in heads
                assert side.lasted[longest] == max(side.lasted[i] for i in heads)
            else:
                assert longest == -1
            under = [p for p in range(side.n) if lies(side.node[p], node)]
            assert paths.time[s, node] == sum(side.own[p] for p in under)
            assert paths.below[s, node] == sum(side.calls[p] for p in under)
    for node in range(n):
        way = paths.way(node)
        assert way[-1] == node
        assert [nodes[step][0] for step in way] == [-1, *way[:-1]]
    return paths


@given(run_pairs(), st.sampled_from(["0.3", "0.5", "0.8"]))
@settings(max_examples=150, deadline=None)
def test_common_paths_are_those_of_the_plain_twin(pair, tau):
    check(compare(*pair, tau=tau, identity="exact", cache=False))


@given(run_pairs())
@settings(max_examples=50, deadline=None)
def test_deeper_paths_count_as_those_they_end_in(pair):
    with patch.multiple(module, _DEEPEST=2, _WORTH=0.3, _MOST_TRIED=1):
        check(compare(*pair, identity="exact", cache=False), worth=0.3, deepest=2, tried=1)


@given(run_pairs(), st.integers(1, 3))
@settings(max_examples=50, deadline=None)
def test_only_so_many_wrappers_are_looked_through(pair, most):
    with patch.multiple(module, _MOST_WRAPPED=most):
        check(compare(*pair, identity="exact", cache=False), wrapped=most)


def one(*below, own=10):
    """Return a main function that calls so much."""
    return ("main", own, list(below))


def compared(a, b, tau="0.3"):
    return compare(traced(a), traced(b), tau=tau, identity="exact", cache=False)


@pytest.mark.parametrize(("share", "wraps"), [(49, 0), (50, 1), (51, 1)])
def test_what_wraps_spends_half_of_its_time_in_it(share, wraps):
    work = ("work", share, [])
    others, rest = [("other", 0, []) for _ in range(4)], [("rest", 0, []) for _ in range(100)]
    comparison = compared(one(work, *rest), one(("around", 100 - share, [work, *others]), *rest), tau="0.9")
    assert len(check(comparison).detours) == wraps


@pytest.mark.parametrize(("calls", "wraps"), [(4, 0), (3, 1), (2, 1)])
def test_or_half_of_its_calls_are_there(calls, wraps):
    work = ("work", 1, [("step", 0, []) for _ in range(3)])
    others = [("other", 0, []) for _ in range(calls)]
    comparison = compared(one(work, own=1000), one(("around", 99, [work, *others]), own=1000), tau="0.9")
    assert len(check(comparison).detours) == wraps


@pytest.mark.parametrize(("own", "looked_at"), [(4, 0), (5, 1), (6, 1)])
def test_ways_around_are_looked_for_where_they_take_a_two_hundredth(own, looked_at):
    many = [("small", 0, []) for _ in range(996)]
    a, b = (one((name, own, [("same", 0, [])]), ("rest", 1000 - 10 - own, many)) for name in ("x", "y"))
    assert len(check(compared(a, b, tau="0.3")).renamed) == looked_at


@pytest.mark.parametrize(("calls", "looked_at"), [(498, 0), (395, 1)])
def test_or_make_a_two_hundredth_of_the_calls(calls, looked_at):
    many = [("small", 0, []) for _ in range(calls)]
    a, b = (one((name, 1, [("same", 0, [])]), ("rest", 100_000, many)) for name in ("x", "y"))
    assert len(check(compared(a, b, tau="0.3")).renamed) == looked_at


def test_what_has_another_name_in_one_place_has_it_in_all():
    def run(name):
        large, small = (name, 500, [("same", 1, [])]), (name, 0, [])
        rest = [("rest", 0, []) for _ in range(2000)]
        return one(large, ("stage", 1000, [("step", 1, [small]), *rest]))

    paths = check(compared(run("old"), run("new")))
    assert len(paths.renamed) == 1
    assert not paths.detours
    assert (paths.calls > 0).all()


def test_the_eight_longest_of_one_caller_are_tried():
    parts = [(f"a{i}", 100 - i, [(f"s{i}", 0, [])]) for i in range(10)]
    others = [(f"b{i}", 100 - i, [(f"s{i}", 0, [])]) for i in range(10)]
    paths = check(compared(one(*parts), one(*others)))
    assert len(paths.renamed) == 8


@pytest.mark.parametrize(("tau", "joined"), [("0.33", 1), ("1/3", 0), ("0.34", 0)])
def test_similar_is_above_the_threshold(tau, joined):
    same = ("same", 1, [])
    comparison = compared(one(("x", 50, [same])), one(("y", 50, [same])), tau=tau)
    assert len(check(comparison).renamed) == joined


@pytest.mark.parametrize(("places", "joined"), [(1, 1), (2, 0)])
def test_what_is_called_in_two_more_places_is_no_evidence(places, joined):
    elsewhere = [(f"user{i}", 10, [("same", 1, [])]) for i in range(places)]
    a, b = (one((name, 50, [("same", 1, [])]), *elsewhere) for name in ("x", "y"))
    assert len(check(compared(a, b)).renamed) == joined
    # So it is if only one of the runs calls it there.
    assert len(check(compared(one(("x", 50, [("same", 1, [])])), b)).renamed) == joined


def test_runs_without_a_duration_are_laid_by_their_calls():
    a, b = (one((name, 0, [("same", 0, [])]), own=0) for name in ("x", "y"))
    assert len(check(compared(a, b)).renamed) == 1


def test_a_nanosecond_is_all_of_a_run_that_takes_no_longer():
    work, rest = ("work", 0, [("step", 0, [])] * 3), [("rest", 0, [])] * 4
    comparison = compared(one(work, *rest, own=1), one(("around", 1, [work]), *rest, own=0), tau="0.9")
    assert not check(comparison).detours


@pytest.mark.parametrize(("share", "wraps"), [(49, 0), (50, 1)])
def test_what_wraps_may_be_the_first_call(share, wraps):
    work = ("work", share, [])
    around = ("around", 100 - share, [work, *[("other", 0, [])] * 4])
    rest = [("rest", 0, []) for _ in range(100)]
    assert len(check(compared([work, *rest], [around, *rest], tau="0.9")).detours) == wraps
