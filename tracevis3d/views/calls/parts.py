"""The parts of a program that its functions belong to: classes, modules, packages, files."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ...analysis.measures import calls_by_function
from ...trace.cached_results import cached_with_trace
from ...trace.model import CONTAINER_KINDS, Containers, Trace

#: Values of a parameter that says what the parts are.
PARTS = {
    "auto": "modules where several are recorded, else functions",
    "function": "functions",
    "class": "classes, and modules for functions outside of classes",
    "module": "modules (or files, or categories)",
    "package": "outermost packages",
    "file": "source files",
}


@cached_with_trace()
def named_containers(
    trace: Trace, outermost: bool, classes: bool = False
) -> tuple[NDArray[np.int64], Callable[[int], str]]:
    """Return the container that represents each function, and its name as people know it.

    Parameters
    ----------
    trace : Trace
    outermost : bool
        The outermost one.
    classes : bool
        Classes represent their functions; else the module that they are in does.

    Returns
    -------
    (int64 (functions,), callable)
        -1: none.
    """
    return _containers(trace.containers, trace.functions.container, outermost, classes)


def _containers(
    containers: Containers, container: NDArray[np.int32], outermost: bool, classes: bool
) -> tuple[NDArray[np.int64], Callable[[int], str]]:
    n = len(containers)
    own = np.arange(n, dtype=np.int64)
    parent = containers.parent.astype(np.int64)
    is_class = containers.kind == CONTAINER_KINDS.index("class")
    for c in range(n):  # parents come before their children
        if parent[c] >= 0 and (outermost or (is_class[c] and not classes)):
            own[c] = own[parent[c]]

    def name(c: int) -> str:
        text = containers.name[c]
        while (c := int(parent[c])) >= 0 and text.count(".") < 2:
            outer = containers.name[c]
            if not text.startswith(outer):  # some formats record the whole path as the name
                text = f"{outer}.{text}"
        return text or "(unnamed)"

    of_function = np.where(container >= 0, own[np.maximum(container, 0)] if n else -1, -1)
    # Entries with the same text are one entry of the legend.
    first_named: dict[str, int] = {}
    same = np.array([first_named.setdefault(name(c), c) if own[c] == c else c for c in range(n)], np.int64)
    of_function = np.where(of_function >= 0, same[of_function] if n else -1, -1)
    return of_function, name


def parts_of(trace: Trace, by: str) -> tuple[str, NDArray[np.int64], list[str]]:
    """Return the part that each function belongs to.

    Parameters
    ----------
    trace : Trace
    by : str
        A key of :data:`PARTS`.

    Returns
    -------
    (str, int64 (functions,), list of str)
        What parts are, in the singular; the part of each function; their names. What belongs to none is a
        part of its own.

    Examples
    --------
    >>> import tracevis3d as tv
    >>> trace = tv.load("examples/vt_markdown_repeat1.json.gz")
    >>> what, part, names = parts_of(trace, "auto")
    >>> what, len(part) == len(trace.functions), names[part[0]] in names
    ('module', True, True)
    """
    functions = trace.functions
    if by == "auto":
        kind, _ = named_containers(trace, False)
        many = calls_by_function(trace)
        known = np.bincount(kind[kind >= 0], many[kind >= 0])
        by = "module" if np.count_nonzero(known) >= 2 else "function"
    if by == "function":
        return by, np.arange(len(functions), dtype=np.int64), list(functions.label)
    if by == "file":
        of = functions.file.astype(np.int64) if len(functions.file) else np.full(len(functions), -1, np.int64)
        names: Callable[[int], str] = trace.files.__getitem__
    else:
        of, names = named_containers(trace, by == "package", by == "class")
    used, part = np.unique(of, return_inverse=True)
    named = [names(int(one)) if one >= 0 else f"(no {by})" for one in used.tolist()]
    return by, part.astype(np.int64), named
