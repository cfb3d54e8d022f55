"""The waits that the view shows, found once for a trace and its rules."""

from __future__ import annotations

from ....trace.model import Trace
from ....views.cached import derived
from ..waits import Waits, find_waits


def waits_of(trace: Trace, rules: str) -> Waits:
    """Return the waits of a trace; ``rules`` are paths of rule files with commas between them.

    Raises
    ------
    InputError
        If a rule file can't be read.
    """
    files = tuple(filter(None, (part.strip() for part in rules.split(","))))
    if files:
        return find_waits(trace, files)
    kept = derived(trace).kept
    if ("waits", 0) not in kept:
        kept["waits", 0] = find_waits(trace)
    found: Waits = kept["waits", 0]
    return found
