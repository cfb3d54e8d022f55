"""The filter by a library: patterns and utilities promoted from other traces (SEAT, section 4.5.5)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..analysis import pattern_library
from ..errors import UsageError
from ..parameters import parameter
from .facts import Facts
from .registry import Filter, Marked


@dataclass(frozen=True)
class Parameters:
    """The library, and which of its entries."""

    file: str = parameter("", "The library, a file that 'tracevis3d library' writes")
    patterns: bool = parameter(True, "Its patterns")
    utilities: bool = parameter(True, "Its utilities")
    only: str = parameter("", "Only the pattern or utility of this name; empty: all")


def mark(facts: Facts, p: Parameters) -> Marked:
    """Mark the subtrees that are like a pattern, and those that begin with a utility.

    Parameters
    ----------
    facts : Facts
        Of the trace.
    p : Parameters
        The library's file, and what of it is searched for.

    Returns
    -------
    Marked

    Raises
    ------
    UsageError
        If no file is given, or the library has no such entry.
    """
    if not p.file.strip():
        raise UsageError("file=: name a library")
    known, graph = pattern_library.load(p.file), facts.graph
    flags = np.zeros(len(graph), np.bool_)
    wanted = [one for one in known.patterns if p.only in ("", one.name)] if p.patterns else []
    names = {name for name in known.utilities if p.only in ("", name)} if p.utilities else set()
    if p.only and not wanted and not names:
        raise UsageError(f"only={p.only}: the library {p.file} has no entry of this name")
    for found in pattern_library.find(wanted, facts.trace, graph):
        flags[found.nodes] = True
    if names:
        of_function = np.array([label in names for label in facts.trace.functions.label], np.bool_)
        flags |= of_function[graph.subtrees.function]
    return Marked("node", flags)


FILTERS = {
    "library": Filter(
        "library",
        "From a library",
        "patterns and utilities promoted from other traces",
        "any",
        Parameters,
        mark,
    )
}
