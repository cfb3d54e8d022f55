"""All findings about a trace's waits, ranked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import barriers, locks, order, readers, threads
from .finding import COSTLY, GRAVE, USUAL, Finding

if TYPE_CHECKING:
    from ..waits import Waits


def findings(waits: Waits) -> list[Finding]:
    """Return all findings: serious ones by kind, contention, the others, and idleness, each by cost.

    Parameters
    ----------
    waits : Waits

    Returns
    -------
    list of Finding
    """
    before = readers.findings(waits)
    # That one gets it again and again is then said already.
    said = {name for finding in before for name in finding.objects}
    others = [
        finding
        for finding in locks.findings(waits)
        if finding.kind not in ("starvation", "one goes first") or not said.intersection(finding.objects)
    ]
    found = [*order.findings(waits), *before, *others, *barriers.findings(waits), *threads.findings(waits)]

    def rank(finding: Finding) -> tuple[int, bool, bool, int]:
        kind = finding.kind
        grave = GRAVE.index(kind) if kind in GRAVE else len(GRAVE)
        return grave, kind in USUAL, kind not in COSTLY, -finding.score_ns

    return sorted(found, key=rank)
