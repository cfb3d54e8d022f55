"""Filters of functions by their names, or by their containers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..analysis.search import KINDS, Query, matching_functions
from ..parameters import parameter
from .facts import Facts
from .registry import Filter, Marked


@dataclass(frozen=True)
class NameParameters:
    """The parameters of a filter by name."""

    pattern: str = parameter("", "Text to search for in the function's name")
    kind: str = parameter("substring", "How the pattern is written", choices=KINDS)
    full: bool = parameter(False, "Search names as recorded, with arguments, path and line")
    case: bool = parameter(False, "Distinguish capital letters from small ones")
    others: bool = parameter(False, "Mark the functions whose names do not match")


@dataclass(frozen=True)
class ModuleParameters:
    """The parameters of a filter by module."""

    pattern: str = parameter("", "Text to search for in the path of packages, modules and classes")
    kind: str = parameter("substring", "How the pattern is written", choices=KINDS)
    others: bool = parameter(False, "Mark the functions of all other modules")


def name(facts: Facts, p: NameParameters) -> Marked:
    """Mark functions by name.

    Parameters
    ----------
    facts : Facts
        Of the trace.
    p : NameParameters
        The pattern, and what kind it is.

    Returns
    -------
    Marked
    """
    flags = np.zeros(len(facts.trace.functions), np.bool_)
    query = Query(p.pattern, p.kind, p.full, p.case)  # type: ignore[arg-type]
    flags[matching_functions(facts.trace.functions, query)] = True
    return Marked("function", ~flags if p.others else flags)


def module(facts: Facts, p: ModuleParameters) -> Marked:
    """Mark functions by any of the containers they live in, or by their file.

    Parameters
    ----------
    facts : Facts
        Of the trace.
    p : ModuleParameters
        The pattern, and what kind it is.

    Returns
    -------
    Marked
    """
    trace, test = facts.trace, Query(p.pattern, p.kind).test()  # type: ignore[arg-type]
    containers = trace.containers
    inside = np.zeros(len(containers) + 1, np.bool_)  # the last one: no container
    for c, text in enumerate(containers.name):
        inside[c] = inside[containers.parent[c]] or test(text)
    flags = inside[np.asarray(trace.functions.container)]
    files = np.array([test(text) for text in trace.files] + [False])
    flags = flags | files[np.asarray(trace.functions.file)]
    return Marked("function", ~flags if p.others else flags)


FILTERS = {
    f.name: f
    for f in (
        Filter("name", "By name", "functions whose name matches", "any", NameParameters, name),
        Filter("module", "By module", "functions of matching packages, modules, classes or files", "any",
               ModuleParameters, module),
    )
}  # fmt: skip
