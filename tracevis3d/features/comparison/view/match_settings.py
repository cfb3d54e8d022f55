"""The settings of a comparison of two traces, from the view's parameters."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ....errors import UsageError
from ....views.everywhere.rewrite import check_rules
from ..matching.identity import Renamed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


#: The parameters that say how two traces are compared.
COMPARING = ("tau", "measure", "identity", "rewrite", "renamed", "fuzzy")


def asked(parameters: Any) -> tuple[tuple[str, Any], ...]:
    """Return names and values of the view's parameters :data:`COMPARING`: the key of cached results."""
    return tuple((name, getattr(parameters, name)) for name in COMPARING)


def comparing(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of :func:`..matching.match.compare` that parameters of the view ask for.

    Parameters
    ----------
    values : mapping of str to object
        The parameters by name.

    Returns
    -------
    dict

    Raises
    ------
    UsageError
        If ``rewrite`` or ``renamed`` isn't a list of pairs of texts.
    """
    return {
        "tau": values["tau"],
        "measure": values["measure"],
        "identity": values["identity"],
        "rewrite": check_rules(pairs("rewrite", values["rewrite"])),
        "renamed": [Renamed(a, b) for a, b in pairs("renamed", values["renamed"])],
        "fuzzy": values["fuzzy"] or None,
    }


def pairs(name: str, text: str) -> list[tuple[str, str]]:
    """Read pairs of texts, which are written as JSON.

    Parameters
    ----------
    name : str
        The parameter.
    text : str
        A list of lists of two texts, as JSON; empty: none.

    Returns
    -------
    list of (str, str)

    Raises
    ------
    UsageError
        If it is something else; ``name`` is the parameter.
    """
    if not text.strip():
        return []
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, list) or not all(
        isinstance(pair, list) and len(pair) == 2 and all(isinstance(word, str) for word in pair)
        for pair in found
    ):
        raise UsageError(f'{name}={text}: pairs of texts are expected, such as [["old", "new"]]')
    return [(a, b) for a, b in found]


def written(found: Iterable[tuple[str, str]]) -> str:
    """Write pairs of texts as :func:`pairs` reads them."""
    return json.dumps([list(pair) for pair in found], ensure_ascii=False)
