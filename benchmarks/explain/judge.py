"""How well ``explain`` and its rivals tell what was changed between two recordings."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import NamedTuple

import tracevis3d as tv
from tracevis3d.features.comparison.findings.evidence import Finding

from .pairs import TOLD, Pair, pairs, record
from .rivals import RIVALS, place


class Verdict(NamedTuple):
    """What was told of a pair.

    Attributes
    ----------
    pair : Pair
    place : int
        Of the first finding that tells the change; of a pair without one 1 if only noise is told. 0: none.
    false : list of Finding
        Findings about the program that name nothing that differs.
    rivals : dict of str to int
        The place in the table of each; 0: not in it.
    """

    pair: Pair
    place: int
    false: list[Finding]
    rivals: dict[str, int]


def judge(pair: Pair, folder: Path) -> Verdict:
    """Judge what is told of a pair; it is recorded into ``folder`` if it isn't there yet."""
    files = [folder / f"{side}.json.gz" for side in "ab"]
    if not all(file.exists() for file in files):
        record(pair, folder)
    a, b = (tv.load(str(file)) for file in files)
    found = list(tv.explain(a, b))
    false = [f for f in found if f.kind not in TOLD["noise"] and not _named(f, pair.functions + pair.follows)]
    if pair.functions:
        right = [f.kind in pair.kinds and _named(f, pair.functions) for f in found]
        first = right.index(True) + 1 if any(right) else 0
    else:
        first = int(all(f.kind in pair.kinds for f in found))
    tables = {name: (table(a), table(b)) for name, table in RIVALS.items()}
    return Verdict(pair, first, false, {name: place(*two, pair.functions) for name, two in tables.items()})


def _named(finding: Finding, patterns: tuple[str, ...]) -> bool:
    """Return whether a finding names one of some functions; those of a stall are where it fell."""
    names = {name for name in finding.functions if name}
    names |= {name for over in finding.details.get("through", ()) for name in over}
    names |= {name for stall in finding.details.get("stalls", ())[:1] for name in [stall["function"]]}
    return any(re.fullmatch(pattern, name) for pattern in patterns for name in names)


def judge_all(name: str, folder: Path | None = None) -> list[Verdict]:
    """Judge all pairs of a file; recordings are made in ``folder``, or in one that is removed again."""
    if folder is None:
        with tempfile.TemporaryDirectory() as made:
            return judge_all(name, Path(made))
    return [judge(pair, folder / f"{i:02}") for i, pair in enumerate(pairs(name), 1)]


def table(verdicts: list[Verdict]) -> str:
    """Return the verdicts as a table in Markdown."""
    names = list(RIVALS)
    rows = [("what was changed", "explain", "false", *names), ("---",) * (3 + len(names))]
    for v in verdicts:
        told = "only noise" if v.place and not v.pair.functions else _place(v.place)
        rivals = [_place(v.rivals[name]) if v.pair.functions else "–" for name in names]
        rows.append((f"{v.pair.name}: {v.pair.change}", told, str(len(v.false)), *rivals))
    first = [sum(v.rivals[name] == 1 for v in verdicts if v.pair.functions) for name in names]
    false = sum(len(v.false) for v in verdicts)
    rows.append(("ranked first", str(sum(v.place == 1 for v in verdicts)), str(false), *map(str, first)))
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def _place(number: int) -> str:
    return f"{number}." if number else "never"
