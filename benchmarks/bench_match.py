"""Counting the matches of two traces against a sparse product and a set-similarity index, on the same sets.

The peers look at all pairs of distinct sets too. What would take them minutes is measured on a part of the
first trace's sets and told as pairs of sets a second, as ours is on all of them.
"""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import tracevis3d as tv
from tests import synthetic
from tracevis3d.analysis.match import Comparison, Settings, compare
from tracevis3d.analysis.sets import Sets
from tracevis3d.trace.model import Functions, Threads, Trace
from tracevis3d.trace.strings import Strings

TAU = Fraction(3, 10)
ROOT = Path(__file__).resolve().parents[1]
RECORDED = Path(os.environ.get("TRACEVIS3D_SHARED", ROOT.parent / "shared")) / "traces" / "recorded"
#: Pairs of recordings; those in the examples serve where the others are absent.
PAIRS = [
    ("sphinx G and C", "vt_sphinxtext_G.json.gz", "vt_sphinxtext_C.json.gz"),
    ("sphinx E and F", "vt_sphinxtext_E.json.gz", "vt_sphinxtext_F.json.gz"),
]
EXAMPLES = [("markdown twice", "vt_markdown_repeat1.json.gz", "vt_markdown_repeat2.json.gz")]
CHUNK = 1000
#: Sets of the first trace that the index is asked about, and chunks that the product takes, of a large pair.
ASKED, CHUNKS = 100, 2


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
    ours = best(5, lambda: joined.count([TAU]))
    result = []

    x, y = (matrix(sets, len(comparison.identity)) for sets in (a, b))
    chunks = range(0, len(a), CHUNK)
    if all_pairs > 50_000_000:
        chunks = range(0, len(a), len(a) // CHUNKS)[:CHUNKS]
    started = time.perf_counter()
    counted = [(i, *product(x, y, i)) for i in chunks]
    peer = time.perf_counter() - started
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
    if all_pairs > 50_000_000:
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
    """Measure the whole way from calls, in parts; the peer is the same counts by numbers alone."""

    def sets() -> Comparison:
        gc.collect()
        return compare(a, b, tau=TAU, identity=compare_identity, cache=False)

    compare_identity = compare(a, b, cache=False).identity
    taken: dict[str, float] = {"sets": best(3, sets)}

    def counts() -> None:
        comparison = sets()
        _ = comparison.call_pairs, comparison.matched_time

    def groups() -> None:
        comparison = Comparison(a, b, compare_identity, Settings(TAU), cache=False)
        _ = comparison.groups.count, comparison.groups_literal

    taken["counts"], taken["groups"] = best(3, counts), best(1, groups)
    columns = [getattr(t.calls, c) for t in (a, b) for c in vars(t.calls)]
    copy = best(3, lambda: [column.copy() for column in columns])
    return [
        {
            "name": f"{what}: {name}", "ours": taken[key] * 1e3, "peer": copy * 1e3,
            "peer_name": "copying the calls' columns", "unit": "ms", "ratio": copy / taken[key],
        }
        for key, what in (
            ("sets", "distinct sets"), ("counts", "distinct sets and all matches counted"),
            ("groups", "distinct sets and groups by both rules"),
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
