"""Parameters that change while a film runs: from one number, or time, to another."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .. import parameters as declarations
from ..errors import UsageError
from ..units import read_time

#: Shares of the film during which the first and the last picture stand still.
_BEFORE, _AFTER = 0.08, 0.12


@dataclass(frozen=True)
class Change:
    """The change of one parameter.

    Attributes
    ----------
    name : str
    start, end : float
        Numbers, or nanoseconds where ``is_time``.
    is_whole : bool
        Only whole numbers are between them.
    is_time : bool
        The parameter is a text that gives a time.
    """

    name: str
    start: float
    end: float
    is_whole: bool = False
    is_time: bool = False

    def at(self, share: float) -> declarations.Value:
        """Return the value at a share of the way, 0 to 1."""
        value = self.start + (self.end - self.start) * share
        if self.is_time:
            return f"{round(value)}ns"
        return round(value) if self.is_whole else value


def read_changes(parameters: type, texts: Mapping[str, Any]) -> tuple[Change, ...]:
    """Return the changes that ``texts`` describe.

    Parameters
    ----------
    parameters : type
        The view's dataclass of parameters.
    texts : dict
        Name of a parameter -> ``"FROM..TO"``, or a pair of values.

    Returns
    -------
    tuple of Change
        One for each name, in their order.

    Raises
    ------
    UsageError
        If there is no such parameter, if it is not a number and no time, or a value does not fit.
    """
    known = {p.name: p for p in declarations.declared(parameters)}
    # Unknown names are reported with the same sentence as in --set.
    declarations.read(parameters, {name: known[name].default if name in known else "" for name in texts})
    return tuple(_change(known[name], given) for name, given in texts.items())


def _change(parameter: declarations.Parameter, given: Any) -> Change:
    ends: Sequence[Any] = given.split("..") if isinstance(given, str) else tuple(given)
    wanted = f"{parameter.name}={given}: FROM..TO is expected, such as {parameter.name}=0..1"
    if len(ends) != 2:
        raise UsageError(wanted)
    kind = type(parameter.default)
    if kind in (int, float):
        start, end = (float(parameter.read(value)) for value in ends)
        return Change(parameter.name, start, end, is_whole=kind is int)
    if kind is str and not parameter.choices:
        try:
            low, high = (read_time(parameter.name, str(value)) for value in ends)
        except UsageError:
            pass
        else:
            return Change(parameter.name, float(low), float(high), is_time=True)
    raise UsageError(f"{parameter.name}={given}: only numbers and times can change in a film")


def eased(share: float) -> float:
    """Return the share of the change at a share of the film: it pauses at both ends, and starts gently."""
    run = min(max((share - _BEFORE) / (1.0 - _BEFORE - _AFTER), 0.0), 1.0)
    return 0.5 - 0.5 * math.cos(math.pi * run)
