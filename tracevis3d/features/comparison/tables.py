"""What two runs have in common, and what differs, as tables for queries."""

from __future__ import annotations

import numpy as np

from ...tables.column import Column
from ...tables.declaration import TableDeclaration
from ...tables.table import Table
from ...trace.model import Trace
from .findings.evidence import Finding
from .findings.find import find
from .matching.match import compare
from .report.sentences import sentence

_RUNS = ("A", "B")


def matches(a: Trace, b: Trace) -> Table:
    """Return for each call of both runs whether it matches any call of the other one.

    Pairs of calls that match (TraceDiff, section III) can be billions: this has a row for each call.

    Parameters
    ----------
    a, b : Trace

    Returns
    -------
    Table
    """
    comparison = compare(a, b)
    count = [len(trace.calls) for trace in (a, b)]
    return Table(
        "matches",
        {
            "id": Column(np.arange(sum(count))),
            "trace": Column(np.repeat(np.arange(2, dtype=np.int32), count), _RUNS),
            "call_id": Column(np.concatenate([np.arange(n) for n in count])),
            "matched": lambda: Column(np.concatenate([comparison.matched(run) for run in range(2)])),
        },
    )


def findings(a: Trace, b: Trace) -> Table:
    """Return what differs between two runs, the most important first, as ``explain`` says it.

    Parameters
    ----------
    a, b : Trace

    Returns
    -------
    Table
    """
    found = find(compare(a, b)).found

    def numbers(name: str, run: int) -> Column:
        return Column(np.array([getattr(finding, name)[run] for finding in found], np.int64))

    def examples(run: int) -> Column:
        return Column(np.array([finding.examples[run] for finding in found], np.int64), has_gaps=True)

    def texts(of: list[str]) -> Column:
        return Column(of)

    return Table(
        "findings",
        {
            "id": Column(np.arange(len(found))),
            "kind": texts([finding.kind for finding in found]),
            "sentence": texts([sentence(finding) for finding in found]),
            "score": Column(np.array([finding.score for finding in found], np.float64)),
            "function": texts([_function(finding) for finding in found]),
            "calls_a": numbers("calls", 0),
            "calls_b": numbers("calls", 1),
            "time_a_ns": numbers("time_ns", 0),
            "time_b_ns": numbers("time_ns", 1),
            "call_a_id": examples(0),
            "call_b_id": examples(1),
        },
    )


def _function(finding: Finding) -> str:
    return finding.functions[0] or finding.functions[1]


TABLES = (
    TableDeclaration("matches", "a call of either run, and whether it matches one of the other", matches, 2),
    TableDeclaration("findings", "a difference between two runs, the largest first", findings, 2),
)
