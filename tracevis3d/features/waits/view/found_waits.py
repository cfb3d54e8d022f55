"""The waits that the view shows, found once for a trace and its rules."""

from __future__ import annotations

from ....trace.cached_results import cached_with_trace
from ....trace.model import Trace
from ..findings.find import findings
from ..findings.finding import Finding
from ..waits import Waits, find_waits


def waits_of(trace: Trace, rules: str) -> Waits:
    """Return the waits of a trace; ``rules`` are paths of rule files with commas between them.

    Parameters
    ----------
    trace : Trace
    rules : str
        Empty: the library's own rules alone.

    Returns
    -------
    Waits

    Raises
    ------
    InputError
        If a rule file can't be read.
    """
    files = tuple(filter(None, (part.strip() for part in rules.split(","))))
    if files:
        return find_waits(trace, files)
    return _waits(trace)


@cached_with_trace()
def _waits(trace: Trace) -> Waits:
    return find_waits(trace)


def findings_of(waits: Waits, rules: str) -> list[Finding]:
    """Return the findings about waits; ``rules`` as in :func:`waits_of`, which found them.

    Parameters
    ----------
    waits : Waits
    rules : str

    Returns
    -------
    list of Finding
    """
    return findings(waits) if rules.strip(" ,") else _findings(waits.trace)


@cached_with_trace()
def _findings(trace: Trace) -> list[Finding]:
    return findings(_waits(trace))
