"""Filters of functions by their names, or by their containers."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from ..analysis.search import KINDS, Query, matching_functions
from ..parameters import parameter
from ..trace.model import Trace
from .facts import Facts
from .registry import Filter, Marked

#: Names that are suggested where nothing matches, at most.
_SUGGESTED = 3


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
    for c, (text, path) in enumerate(zip(containers.name, container_paths(trace), strict=True)):
        inside[c] = inside[containers.parent[c]] or test(text) or test(path)
    flags = inside[np.asarray(trace.functions.container)]
    files = np.array([test(text) for text in trace.files] + [False])
    flags = flags | files[np.asarray(trace.functions.file)]
    return Marked("function", ~flags if p.others else flags)


def container_paths(trace: Trace) -> list[str]:
    """Return the whole name of each container, such as ``weka.core.Instances`` of a class in a package.

    Parameters
    ----------
    trace : Trace

    Returns
    -------
    list of str
        Outermost first where one is in another; many formats record it so already.
    """
    found: list[str] = []
    for name, parent in zip(trace.containers.name, trace.containers.parent.tolist(), strict=True):
        outer = found[parent] if parent >= 0 else ""  # a parent comes before its children
        joint = "::" if "::" in name or "::" in outer else "."
        found.append(name if not outer or name.startswith(outer) else f"{outer}{joint}{name}")
    return found


def close_names(facts: Facts, p: NameParameters) -> list[str]:
    """Return function names similar to the pattern of a filter that marks nothing, the most similar first.

    Parameters
    ----------
    facts : Facts
    p : NameParameters

    Returns
    -------
    list of str
    """
    functions = facts.trace.functions
    return _alike(p.pattern, functions.name if p.full else functions.label)


def close_modules(facts: Facts, p: ModuleParameters) -> list[str]:
    """Return names of containers and files similar to the pattern of a filter that marks nothing.

    Parameters
    ----------
    facts : Facts
    p : ModuleParameters

    Returns
    -------
    list of str
    """
    return _alike(p.pattern, [*container_paths(facts.trace), *facts.trace.files])


def _alike(pattern: str, names: Iterable[str]) -> list[str]:
    import difflib  # for what is said where nothing is found

    known = {name.lower(): name for name in names if name}
    close = difflib.get_close_matches(pattern.lower(), known, _SUGGESTED, 0.4)
    # A part that is spelled right counts, whatever stands around it.
    last = re.split(r"[.:/$*]+", pattern.lower().rstrip("*.:/$"))[-1]
    close += [low for low in known if len(last) > 2 and last in low and low not in close]
    return [known[low] for low in close[:_SUGGESTED]]


FILTERS = {
    f.name: f
    for f in (
        Filter("name", "By name", "functions whose name matches", "any", NameParameters, name,
               close_names),
        Filter("module", "By module", "functions of matching packages, modules, classes or files", "any",
               ModuleParameters, module, close_modules),
    )
}  # fmt: skip
