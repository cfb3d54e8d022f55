"""Utilities: functions that are called from everywhere and call little (SEAT, section 2.9.1.2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..errors import UsageError
from ..parameters import parameter
from .registry import Filter, Marked

if TYPE_CHECKING:
    from .facts import Facts


@dataclass(frozen=True)
class Parameters:
    """The parameters of the filter of utilities."""

    least: float = parameter(
        0.3, "Utilityhood that a function must have, as a share of the highest in the trace", low=0, high=1
    )
    callers: int = parameter(3, "Different functions that must call it", low=1)
    modules: int = parameter(1, "Different modules that it must be called from", low=1)
    callees: int = parameter(10, "Different functions that it may call", low=0)
    also: str = parameter("", "Names of functions that are utilities too, with commas between them")
    never: str = parameter("", "Names of functions that are not utilities, with commas between them")


def mark(facts: Facts, p: Parameters) -> Marked:
    """Mark the utilities; see :attr:`~.facts.Facts.utilityhood`.

    Parameters
    ----------
    facts : Facts
        Of the trace.
    p : Parameters
        From which utilityhood on, and which functions in any case or never.

    Returns
    -------
    Marked
    """
    score = facts.utilityhood
    flags = (score > 0) & (score >= p.least * score.max(initial=0.0)) & (facts.fan_in >= p.callers)
    flags &= (facts.modules_in >= p.modules) & (facts.fan_out <= p.callees)
    flags[_named(facts, "also", p.also)] = True
    flags[_named(facts, "never", p.never)] = False
    return Marked("function", flags)


def _named(facts: Facts, parameter: str, text: str) -> list[int]:
    """Return the functions whose short or recorded name is among the texts."""
    wanted = {name.strip() for name in text.split(",") if name.strip()}
    if not wanted:
        return []
    functions, found, known = facts.trace.functions, [], set()
    for i, (label, name) in enumerate(zip(functions.label, functions.name, strict=True)):
        if label in wanted or name in wanted:
            found.append(i)
            known |= {label, name}
    if missing := wanted - known:
        raise UsageError(f"{parameter}={text}: there is no function {min(missing)!r} in this trace")
    return found


FILTERS = {
    "utilities": Filter(
        "utilities",
        "Utilities",
        "functions called from many places that call little",
        "any",
        Parameters,
        mark,
    )
}
