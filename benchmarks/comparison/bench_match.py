"""Counting the matches of two traces against a sparse product and a set-similarity index, on the same sets.

The peers look at all pairs of distinct sets too. What would take them minutes is measured on a part of the
first trace's sets and reported as pairs of sets a second, as ours is on all of them.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

import tracevis3d as tv
from benchmarks.measure import RECORDED, ROOT
from tests.support import synthetic
from tracevis3d.analysis.sets import Sets
from tracevis3d.features.comparison.matching.match import Comparison, Settings, compare
from tracevis3d.trace.model import Functions, Threads, Trace
from tracevis3d.trace.strings import Strings

TAU = Fraction(3, 10)
#: Pairs of recordings; those in the examples serve where the others are absent.
PAIRS = [
    ("sphinx G and C", "vt_sphinxtext_G.json.gz", "vt_sphinxtext_C.json.gz"),
    ("sphinx E and F", "vt_sphinxtext_E.json.gz", "vt_sphinxtext_F.json.gz"),
    ("pylint, sampled and traced", "pyspy_pylint.collapsed.txt.gz", "vt_pylint_0.9M.json.gz"),
]
EXAMPLES = [("markdown twice", "vt_markdown_repeat1.json.gz", "vt_markdown_repeat2.json.gz")]
CHUNK = 1000
#: Sets of the first trace that the index is asked about, and chunks that the product takes, of a large pair.
ASKED, CHUNKS = 100, 2
#: Pairs of sets from which on the product takes a part; from which on the index is left out.
MANY, SOME = 100_000_000, 10_000_000


def rows() -> list[dict[str, Any]]:
    """Measure; rates in million pairs of sets a second, times in milliseconds."""
    result = []
    pairs = [(name, RECORDED / a, RECORDED / b) for name, a, b in PAIRS]
    if not all(path.exists() for _, *paths in pairs for path in paths):
        pairs = [(name, ROOT / "examples" / a, ROOT / "examples" / b) for name, a, b in EXAMPLES]
    for name, a, b in pairs:
        result += compared(f"recorded, {name}", compare(tv.load(a), tv.load(b), tau=TAU, cache=False))
    a, b = (generated(2_400_000, run) for run in (0, 1))
    result += whole("generated, 2.4 M calls each", a, b)
    result += compared("generated, 2.4 M calls each", compare(a, b, tau=TAU, cache=False))
    return result


def compared(name: str, comparison: Comparison) -> list[dict[str, Any]]:
    """Compare ours with the peers on the distinct sets of one pair."""
    a, b = (side.sets for side in comparison.sides)
    joined = comparison.similarity
    all_pairs = len(a) * len(b)
    found = joined.count([TAU])
    ours = best(5 if all_pairs > MANY else 30, lambda: joined.count([TAU]))
    result = []

    x, y = (matrix(sets, len(comparison.identity)) for sets in (a, b))
    chunks = range(0, len(a), CHUNK)
    if all_pairs > MANY:
        chunks = range(0, len(a), len(a) // CHUNKS)[:CHUNKS]
    counted: list[tuple[int, int, int]] = []

    def multiply() -> None:
        counted[:] = [(i, *product(x, y, i)) for i in chunks]

    peer = best(3 if all_pairs < MANY else 1, multiply)
    for i, rows_, above in counted:
        assert above == found.pairs[0, i : i + rows_].sum()
    looked = sum(rows_ for _, rows_, _ in counted) * len(b)
    result.append(rate(f"count matches: {name}", all_pairs, ours, looked, peer, "scipy X @ Y.T"))

    asked = np.linspace(0, len(a) - 1, min(ASKED, len(a))).astype(int)
    one = best(20, lambda: joined.row(int(asked[len(asked) // 2])))
    single = best(3, lambda: product(x[[asked[len(asked) // 2]]], y, 0))
    result.append(
        {
            "name": f"one call against all sets: {name}", "ours": one * 1e3, "peer": single * 1e3,
            "peer_name": "scipy X @ Y.T", "unit": "ms", "ratio": single / one,
        }
    )  # fmt: skip
    try:
        from SetSimilaritySearch import SearchIndex
    except ImportError:
        return result
    if all_pairs > SOME:
        return result  # its index alone takes minutes
    index = SearchIndex(
        [b.members(s).tolist() for s in range(len(b))], similarity_func_name="jaccard",
        similarity_threshold=float(TAU),
    )  # fmt: skip
    members = [a.members(int(s)).tolist() for s in asked]
    started = time.perf_counter()
    answers = [index.query(m) for m in members]
    peer = time.perf_counter() - started
    # It takes in those that are just at the threshold.
    assert sum(map(len, answers)) >= found.pairs[0, asked].sum()
    result.append(
        rate(f"count matches: {name}", all_pairs, ours, len(asked) * len(b), peer, "SetSimilaritySearch")
    )
    return result


def whole(name: str, a: Trace, b: Trace) -> list[dict[str, Any]]:
    """Measure the whole way from calls; the peer counts the matches, of sets that it is given."""
    identity = compare(a, b, cache=False).identity

    def fresh() -> Comparison:
        return Comparison(a, b, identity, Settings(TAU), cache=False)

    def counts() -> None:
        comparison = fresh()
        _ = comparison.call_pairs, comparison.matched_time

    def groups() -> None:
        comparison = fresh()
        _ = comparison.groups.count, comparison.groups_literal

    counts()
    x, y = (matrix(side.sets, len(identity)) for side in fresh().sides)
    first = range(0, x.shape[0], x.shape[0] // CHUNKS)[:CHUNKS]
    part = best(1, lambda: [product(x, y, i) for i in first])
    peer = part * x.shape[0] / (CHUNK * CHUNKS)
    return [
        {
            "name": f"{what}: {name}", "ours": taken * 1e3, "peer": peer * 1e3,
            "peer_name": "scipy X @ Y.T alone, from a part", "unit": "ms", "ratio": peer / taken,
        }
        for what, taken in (
            ("from calls to all matches counted", best(3, counts)),
            ("from calls to groups by both rules", best(1, groups)),
        )
    ]  # fmt: skip


def generated(n: int, run: int) -> Trace:
    """Return one run of a made-up program on four threads."""
    calls, first, count = synthetic.program(n, threads=4, fresh=0.002, run=run)
    functions = int(calls.function.max()) + 1
    names = Strings.of(f"f{i}" for i in range(functions))
    none = np.full(functions, -1, np.int32)
    return Trace(
        calls=calls,
        functions=Functions(names, names, none, none, np.zeros(functions, np.int32)),
        threads=Threads((1,) * 4, tuple(range(4)), ("",) * 4, ("",) * 4, first, count),
    )


def matrix(sets: Sets, functions: int) -> Any:
    """Return the sets as rows of a sparse matrix of ones."""
    from scipy.sparse import csr_matrix

    members = [sets.members(s) for s in range(len(sets))]
    bounds = np.concatenate(([0], np.cumsum(sets.size)))
    ones = np.ones(bounds[-1], np.int32)
    return csr_matrix((ones, np.concatenate(members), bounds), shape=(len(sets), functions))


def product(x: Any, y: Any, first: int) -> tuple[int, int]:
    """Count the pairs above the threshold of one chunk of rows, exactly."""
    part = x[first : first + CHUNK]
    common = part @ y.T
    sizes_x: NDArray[np.int64] = np.diff(part.indptr).astype(np.int64)
    sizes_y: NDArray[np.int64] = np.diff(y.indptr).astype(np.int64)
    shared = common.data.astype(np.int64)
    whole_ = np.repeat(sizes_x, np.diff(common.indptr)) + sizes_y[common.indices] - shared
    return part.shape[0], int(np.count_nonzero(shared * TAU.denominator > whole_ * TAU.numerator))


def best(times: int, do: Callable[[], Any]) -> float:
    """Return the seconds of the fastest of several runs."""
    taken = []
    for _ in range(times):
        started = time.perf_counter()
        do()
        taken.append(time.perf_counter() - started)
    return min(taken)


def rate(name: str, pairs: int, ours: float, peer_pairs: int, peer: float, peer_name: str) -> dict[str, Any]:
    """Return a row of rates from pairs and seconds."""
    return {
        "name": name,
        "ours": pairs / ours / 1e6,
        "peer": peer_pairs / peer / 1e6,
        "peer_name": peer_name,
        "unit": "M pairs/s",
        "ratio": (pairs / ours) / (peer_pairs / peer),
    }
