"""A trace with other names of its functions, by a user's rules."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...errors import UsageError
from ...trace.cached_results import cached_with_trace
from ...trace.model import Trace
from ...trace.strings import Strings
from .rewrite import check_rules, substitute


def rules_of(text: str) -> list[tuple[str, str]]:
    """Return the rules that a user wrote as the parameter ``rewrite``.

    Parameters
    ----------
    text : str
        A list of pairs as JSON, such as ``[["^_+", ""]]``; empty: none.

    Returns
    -------
    list of (str, str)

    Raises
    ------
    UsageError
        If it is not such a list, or a rule can't be used.
    """
    if not text.strip():
        return []
    try:
        pairs = json.loads(text)
    except ValueError:
        pairs = None
    if not isinstance(pairs, list):
        raise UsageError(f'rewrite={text}: a list of pairs is expected, such as [["^_+", ""]]')
    return check_rules(pairs)


@cached_with_trace(most=4)
def renamed(trace: Trace, text: str) -> Trace:
    """Return a trace whose functions have other names; those of one file, container and name are one.

    The calls keep their numbers; a function that becomes one with others has the number of the first.

    Parameters
    ----------
    trace : Trace
    text : str
        Rules, as :func:`rules_of` reads them.

    Returns
    -------
    Trace
        With other columns of functions alone.

    Raises
    ------
    UsageError
        If a rule can't be used.
    """
    functions = trace.functions
    labels = substitute([*functions.label], rules_of(text))
    first: dict[tuple[str, int, int], int] = {}
    of = np.arange(len(functions), dtype=np.int32)
    before = [*functions.label]
    for i, key in enumerate(zip(labels, functions.container.tolist(), functions.file.tolist(), strict=True)):
        # Only what a rule has renamed becomes one with others.
        if key[0] != before[i]:
            of[i] = first.setdefault(key, i)
    calls = replace(trace.calls, function=of[trace.calls.function])
    return replace(trace, calls=calls, functions=replace(functions, label=Strings.of(labels)))


def with_names(traces: Sequence[Any], parameters: Any) -> Sequence[Any]:
    """Return a view's traces as its parameter ``rewrite`` names their functions.

    Parameters
    ----------
    traces : sequence of Trace or other
        What is no trace stays as it is.
    parameters : object
        Those of the view.

    Returns
    -------
    sequence of Trace or other
    """
    text = getattr(parameters, "rewrite", "")
    if not text.strip():
        return traces
    return tuple(renamed(trace, text) if isinstance(trace, Trace) else trace for trace in traces)
