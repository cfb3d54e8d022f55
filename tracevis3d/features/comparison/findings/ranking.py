"""Which finding comes first.

A reader wants the cause before what follows from it, and what is certain before what may be noise. So kinds
count differently: units of work (37 tests in place of 11), then what is only in one trace, then how often,
then in which order, then how long; the time of a root call itself counts least. What the machine did comes
after all of these, whatever its share.
"""

from __future__ import annotations

from .evidence import Finding

#: How many times its share a finding counts, by kind.
_WEIGHT = {
    "unmatched": 10.0,
    "moved": 10.0,
    "only": 10.0,
    "alone": 10.0,
    "repetitions": 5.0,
    "order": 3.0,
    "slower": 1.0,
    "faster": 1.0,
    "offset": 1.0,
    "renamed": 1.0,
    "wrapped": 1.0,
    "heavier": 10.0,
    "lighter": 10.0,
}
#: Factors for a unit of work, and for the self time of a root call.
_UNIT, _ROOT = 50.0, 0.1
#: Kinds that say what the machine did, in the order in which they are reported.
NOISE = ("pace", "drift", "stall", "alike")


def rank(finding: Finding) -> tuple[float, ...]:
    """Return the key by which findings are sorted: the most important has the smallest.

    Parameters
    ----------
    finding : Finding

    Returns
    -------
    tuple of float
    """
    order = tuple(float(node) for node in finding.nodes[:1])
    if finding.kind in NOISE:
        return (1.0, float(finding.kind == "alike"), -finding.score, *order)
    weight = _WEIGHT[finding.kind]
    if finding.details.get("unit"):
        weight = _UNIT
    elif finding.kind in ("slower", "faster") and len(finding.path) <= 1:
        weight = _ROOT
    return (0.0, 0.0, -weight * finding.score, *order)
