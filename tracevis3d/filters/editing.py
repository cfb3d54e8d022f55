"""Editing a filter stack, one filter at a time, and descriptions of what each filter does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..errors import UsageError
from ..parameters import declared
from . import registry
from .stack import WHOLE, Applied, FilterResult

#: Verbs for effects, at the beginning of a sentence.
_DOES = {"hide": "hides", "fade": "fades", "sink": "sinks"}


def one_of(stack: Sequence[Applied], index: int) -> Applied:
    """Return a filter of a stack.

    Parameters
    ----------
    stack : sequence of Applied
    index : int
        From 0.

    Returns
    -------
    Applied

    Raises
    ------
    UsageError
        If the stack has no such place.
    """
    if not 0 <= index < len(stack):
        raise UsageError(f"The stack has {len(stack)} filters: there is no {index + 1}")
    return stack[index]


def changed(stack: Sequence[Applied], index: int, do: str) -> list[Applied]:
    """Return the stack with one filter switched, moved or removed.

    Parameters
    ----------
    stack : sequence of Applied
    index : int
        The filter's place.
    do : {"SWITCH", "UP", "DOWN", "REMOVE", "CLEAR"}
        Switch it off or on, move it one place, take it out; or take all out.

    Returns
    -------
    list of Applied

    Raises
    ------
    UsageError
        If the stack has no such place.
    """
    if do == "CLEAR":
        return []
    found = one_of(stack, index)
    rest = [*stack[:index], *stack[index + 1 :]]
    if do == "REMOVE":
        return rest
    if do == "SWITCH":
        rest.insert(index, replace(found, on=not found.on))
        return rest
    place = index + (-1 if do == "UP" else 1)
    rest.insert(min(max(place, 0), len(rest)), found)
    return rest


def put(stack: Sequence[Applied], index: int, wanted: Applied) -> list[Applied]:
    """Return the stack with ``wanted`` at ``index``, as on or off as what was there.

    A new one stands at the end, or before the first filter that has to stand after it (``before``, and
    ``after`` of that filter).

    Parameters
    ----------
    stack : sequence of Applied
        It stays as it is.
    index : int
        From 0; -1: a new one.
    wanted : Applied
        The filter as it is to be.

    Returns
    -------
    list of Applied

    Raises
    ------
    UsageError
        If the stack has no such place, or there is no such filter.
    """
    if index < 0:
        first = registry.find(wanted.name).before
        later = (
            place
            for place, one in enumerate(stack)
            if one.name in first or wanted.name in registry.find(one.name).after
        )
        place = next(later, len(stack))
        return [*stack[:place], wanted, *stack[place:]]
    wanted = replace(wanted, on=one_of(stack, index).on)
    return [*stack[:index], wanted, *stack[index + 1 :]]


def texts_of(applied: Applied) -> dict[str, str]:
    """Return the value of each parameter of a filter as a person types it.

    Parameters
    ----------
    applied : Applied
        The filter.

    Returns
    -------
    dict of str to str
        By name of the parameter.

    Raises
    ------
    UsageError
        If there is no such filter.
    """
    parameters = declared(registry.find(applied.name).parameters)
    return {p.name: _plain(applied.values.get(p.name, p.default)) for p in parameters}


def from_texts(name: str, texts: Mapping[str, str], effect: str, what: str, within: int = WHOLE) -> Applied:
    """Return the filter that has these values; those that are the defaults are left out.

    Parameters
    ----------
    name : str
        That of the filter.
    texts : mapping of str to str
        The values as people type them, by name of the parameter.
    effect : {"hide", "fade", "sink"}
    what : {"subtree", "call"}
    within : int
        The call whose subtree it acts on; :data:`~.stack.WHOLE` for the whole trace.

    Returns
    -------
    Applied

    Raises
    ------
    UsageError
        If there is no such filter.
    """
    defaults = {p.name: _plain(p.default) for p in declared(registry.find(name).parameters)}
    values = {key: text for key, text in texts.items() if text != defaults.get(key)}
    return Applied(name, values, effect, what, within)


def _plain(value: Any) -> str:
    return ("yes" if value else "no") if isinstance(value, bool) else str(value)


def effects(stack: Sequence[Applied], results: Sequence[FilterResult]) -> list[str]:
    """Return a few words on what each filter that is on does to some traces together.

    Parameters
    ----------
    stack : sequence of Applied
    results : sequence of FilterResult
        What the whole stack makes of each trace; a trace that lacks what a filter names has none.

    Returns
    -------
    list of str
        One for each filter that is on, in order.
    """
    said = []
    for place, applied in enumerate(one for one in stack if one.on):
        each = [result.effects[place] for result in results]
        settled, nodes = sum(one.settled for one in each), sum(one.nodes for one in each)
        does = f"{_DOES[applied.effect]} {settled:,} calls: {nodes:,} distinct subtrees"
        if each and all(one.hint for one in each):
            does = each[0].hint.removeprefix(applied.as_text()).strip()
        said.append(does if each else "not in these traces")
    return said
