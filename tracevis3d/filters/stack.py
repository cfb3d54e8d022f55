"""A stack of filters: which ones, in which order, on what part of the trace, and what happens to the marked.

Written as text, a stack is filters with ``;`` between them, each ``name(parameter=value, ...)``, with
``effect=``, ``what=`` and ``within=`` beside the filter's own parameters; ``!`` before a name switches it
off: ``utilities(least=0.5); constructors(effect=fade); !patterns``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .. import parameters as declarations
from ..errors import UsageError
from ..kernels.tree.filters import settle
from . import registry

if TYPE_CHECKING:
    from .facts import Facts

#: What happens to marked calls; the number is that in :attr:`Filtered.state`.
SHOWN, HIDDEN, FADED, SUNK = 0, 1, 2, 3
EFFECTS = {"hide": HIDDEN, "fade": FADED, "sink": SUNK}
#: The part of a marked call that a filter applies to.
WHAT = {"subtree": "the call and all below it", "call": "the call alone; its callees move up to its caller"}
#: The scope of a whole trace.
WHOLE = -1


@dataclass(frozen=True)
class Applied:
    """A filter in a stack.

    Attributes
    ----------
    name : str
    values : mapping
        Of the filter's own parameters, those that differ from the defaults, as texts or values.
    effect : {"hide", "fade", "sink"}
    what : {"subtree", "call"}
    within : int
        The call whose subtree it acts on; :data:`WHOLE` for the whole trace.
    on : bool
    """

    name: str
    values: Mapping[str, Any] = field(default_factory=dict)
    effect: str = "hide"
    what: str = "subtree"
    within: int = WHOLE
    on: bool = True

    def parameters(self) -> Any:
        """Return the filter's parameters.

        Returns
        -------
        object of the filter's own class of parameters

        Raises
        ------
        UsageError
            If there is no such filter, or a value doesn't fit.
        """
        if self.effect not in EFFECTS:
            raise UsageError(f"{self.name}: effect={self.effect}: one of {', '.join(EFFECTS)} is expected")
        if self.what not in WHAT:
            raise UsageError(f"{self.name}: what={self.what}: one of {', '.join(WHAT)} is expected")
        try:
            return declarations.read(registry.find(self.name).parameters, self.values)
        except UsageError as error:
            text = str(error)
            raise UsageError(
                text if text.startswith("there is no filter") else f"{self.name}: {text}"
            ) from None

    def as_text(self) -> str:
        """Return the filter as :func:`parse` reads it."""
        words = [f"{name}={_quoted(value)}" for name, value in self.values.items()]
        words += [f"effect={self.effect}"] if self.effect != "hide" else []
        words += [f"what={self.what}"] if self.what != "subtree" else []
        words += [f"within={self.within}"] if self.within != WHOLE else []
        inside = f"({', '.join(words)})" if words else ""
        return f"{'' if self.on else '!'}{self.name}{inside}"


@dataclass(frozen=True)
class FilterEffect:
    """The effect of one filter of a stack.

    Attributes
    ----------
    name, effect, within
        As in :class:`Applied`.
    marked : int
        Calls that it marked within its scope.
    nodes : int
        Distinct subtrees that these calls are of.
    settled : int
        Calls that end up with its effect: those marked, those below them where subtrees are meant, less
        those that a later filter settles otherwise.
    hint : str
        Where it marks nothing: that, and what could have been meant.
    """

    name: str
    effect: str
    within: int
    marked: int
    nodes: int
    settled: int
    hint: str = ""


@dataclass(frozen=True, eq=False)
class FilterResult:
    """The result of a filter stack on a trace.

    Attributes
    ----------
    state : uint8 (n,)
        SHOWN, HIDDEN, FADED or SUNK for each call.
    effects : list of FilterEffect
        For each filter that is on, in order.
    own : uint8 (n,)
        1 for the calls that are hidden and were marked themselves, not only a caller of theirs.
    """

    state: NDArray[np.uint8]
    effects: list[FilterEffect]
    own: NDArray[np.uint8]

    def count(self, state: int) -> int:
        """Return the number of calls in a state."""
        return int(np.count_nonzero(self.state == state))


def apply(stack: Sequence[Applied], facts: Facts) -> FilterResult:
    """Apply a stack; of several filters that mark a call the last one counts. Linear in calls, for each.

    Parameters
    ----------
    stack : sequence of Applied
        In order.
    facts : Facts
        Of the trace.

    Returns
    -------
    FilterResult

    Raises
    ------
    UsageError
        If a filter, a parameter or a scope doesn't exist.
    """
    calls, subtrees = facts.trace.calls, facts.graph.subtrees
    n = len(calls)
    state = np.zeros(n, np.uint8)
    own = np.zeros(n, np.uint8)
    by = np.full(n, 255, np.uint8)
    extent = np.ascontiguousarray(calls.extent, np.int64)
    used = [applied for applied in stack if applied.on]
    if len(used) > 250:
        raise UsageError(f"the stack has {len(used):,} filters: at most 250 are possible")
    counts = []
    for number, applied in enumerate(used):
        low, high = 0, n
        if applied.within != WHOLE:
            if not 0 <= applied.within < n:
                raise UsageError(f"{applied.name}: within={applied.within}: there is no such call")
            low, high = applied.within, applied.within + int(calls.extent[applied.within])
        marks = registry.find(applied.name).mark(facts, applied.parameters())
        if marks.of == "call":
            flags, of_call = marks.flags.view(np.uint8), np.empty(0, np.int32)
        else:
            node = marks.flags if marks.of == "node" else marks.flags[subtrees.function]
            flags, of_call = np.ascontiguousarray(node).view(np.uint8), subtrees.of_call
        seen = np.zeros(len(subtrees), np.uint8)
        marked = settle(
            extent, np.ascontiguousarray(flags), of_call, subtrees.of_call, low, high,
            applied.what == "subtree", EFFECTS[applied.effect], number, state, by, own, seen,
        )  # fmt: skip
        counts.append((int(marked), int(np.count_nonzero(seen))))
    settled = np.bincount(by, minlength=256)
    effects = [
        FilterEffect(
            a.name, a.effect, a.within, marked, nodes, int(settled[i]), "" if marked else _hint(a, facts)
        )
        for i, (a, (marked, nodes)) in enumerate(zip(used, counts, strict=True))
    ]
    return FilterResult(state, effects, own)


def _hint(applied: Applied, facts: Facts) -> str:
    """Return a sentence about a filter that marks nothing."""
    found = registry.find(applied.name)
    said = f"{applied.as_text()} marks no call"
    if applied.within != WHOLE:
        return f"{said} in that subtree"
    close = found.suggest(facts, applied.parameters()) if found.suggest else []
    return f"{said}; similar names are: {', '.join(close)}" if close else said


_ONE = re.compile(r"\s*(!?)\s*([\w-]+)\s*(?:\((.*)\))?\s*", re.DOTALL)
_WORD = re.compile(r"""\s*([\w-]+)\s*=\s*("(?:[^"\\]|\\.)*"|[^,"]*?)\s*(?:,|$)""", re.DOTALL)


def parse(text: str) -> list[Applied]:
    """Return the stack that a text represents; each filter is checked.

    Parameters
    ----------
    text : str
        Empty: no filter.

    Returns
    -------
    list of Applied

    Raises
    ------
    UsageError
        One sentence: which part is off.
    """
    stack = []
    for part in _parts(text):
        match = _ONE.fullmatch(part)
        if not match:
            raise UsageError(
                f"the filter {part.strip()!r} can't be read: name(parameter=value, ...) is expected"
            )
        off, name, inside = match.groups()
        stack.append(_applied(name, _words(part, inside or ""), not off))
    return stack


def as_text(stack: Sequence[Applied]) -> str:
    """Return a stack as :func:`parse` reads it."""
    return "; ".join(applied.as_text() for applied in stack)


def added(text: str, name: str, **values: str) -> str:
    """Return the stack ``text`` with one more filter; one that is already there is not added twice.

    ``effect`` and ``what`` among the values are those of :class:`Applied`; by default it hides subtrees.

    Parameters
    ----------
    text : str
        The stack.
    name : str
        That of the filter.
    **values : str
        Of its parameters, as texts.

    Returns
    -------
    str
    """
    stack = parse(text)
    effect, what = values.pop("effect", "hide"), values.pop("what", "subtree")
    wanted = Applied(name, values, effect, what)
    if any(one.as_text() == wanted.as_text() for one in stack):
        return text
    return as_text([*stack, wanted])


def without(text: str, name: str, **values: str) -> str:
    """Return the stack ``text`` without the filters of this name and these values, whatever their effect.

    Parameters
    ----------
    text : str
        The stack.
    name : str
        That of the filters.
    **values : str
        Of their parameters, as texts.

    Returns
    -------
    str
    """
    stack = parse(text)
    return as_text([one for one in stack if one.name != name or dict(one.values) != values])


def _parts(text: str) -> list[str]:
    """Split at semicolons that stand in no quotes."""
    found = re.findall(r"""(?:"(?:[^"\\]|\\.)*"|[^;"])+""", text)
    return [part for part in found if part.strip()]


def _words(part: str, inside: str) -> dict[str, str]:
    values: dict[str, str] = {}
    at = 0
    while at < len(inside.rstrip()):
        match = _WORD.match(inside, at)
        if not match or match.end() == at:
            raise UsageError(f"the filter {part.strip()!r} can't be read from {inside[at:].strip()!r} on")
        value = match[2]
        if value.startswith('"'):
            value = re.sub(r"\\(.)", r"\1", value[1:-1], flags=re.DOTALL)
        values[match[1].replace("-", "_")] = value
        at = match.end()
    return values


def _applied(name: str, values: dict[str, str], on: bool) -> Applied:
    known = {p.name for p in declarations.declared(registry.find(name).parameters)}
    effect = values.pop("effect", "hide") if "effect" not in known else "hide"
    what = values.pop("what", "subtree") if "what" not in known else "subtree"
    within = WHOLE
    if "within" in values and "within" not in known:
        text = values.pop("within")
        try:
            within = int(text)
        except ValueError:
            raise UsageError(f"{name}: within={text}: the number of a call is expected") from None
    applied = Applied(name, values, effect, what, within, on)
    applied.parameters()
    return applied


def _quoted(value: Any) -> str:
    text = ("yes" if value else "no") if isinstance(value, bool) else str(value)
    if not text or re.search(r'[,;"()\\]|^\s|\s$', text):
        escaped = text.replace("\\", "\\\\").replace('"', '\\"')
        return f'"{escaped}"'
    return text


def summary(stack: Sequence[Applied], filtered: FilterResult) -> dict[str, Any]:
    """Return what the stack did, as ``tracevis3d filter --json`` prints it.

    Parameters
    ----------
    stack : sequence of Applied
        What was applied.
    filtered : FilterResult
        What came of it.

    Returns
    -------
    dict
    """
    used = (applied for applied in stack if applied.on)
    return {
        "calls": len(filtered.state),
        "shown": filtered.count(SHOWN),
        "hidden": filtered.count(HIDDEN),
        "faded": filtered.count(FADED),
        "sunk": filtered.count(SUNK),
        "filters": [
            {
                "filter": applied.as_text(),
                "name": effect.name,
                "effect": effect.effect,
                "what": applied.what,
                "within": None if effect.within == WHOLE else effect.within,
                "marked_calls": effect.marked,
                "marked_subtrees": effect.nodes,
                "settled_calls": effect.settled,
                **({"hint": effect.hint} if effect.hint else {}),
            }
            for applied, effect in zip(used, filtered.effects, strict=True)
        ],
    }
