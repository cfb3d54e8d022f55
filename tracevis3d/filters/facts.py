"""The facts of a trace that filters use; each is computed at its first use."""

from __future__ import annotations

import re
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..analysis.compact import CompactTrace, graph_of
from ..analysis.sequences import Occurrences
from ..analysis.sets import Sets, distinct_sets
from ..trace.cached_results import cached_with_trace
from ..trace.model import Trace

#: Suffixes of a language's files, and what only its functions are called.
LANGUAGES: dict[str, tuple[tuple[str, ...], re.Pattern[str]]] = {
    "java": ((".java", ".kt", ".scala", ".class"), re.compile(r"<(?:cl)?init>")),
    ".net": ((".cs", ".vb", ".fs"), re.compile(r"\.c?ctor\b")),
    "ruby": ((".rb",), re.compile(r"[\w?!]#[\w<]")),
    "rust": ((".rs",), re.compile(r"Drop>::drop|drop_in_place|\bcore::|::h[0-9a-f]{16}\b")),
}


class Facts:
    """A trace as filters see it.

    Parameters
    ----------
    trace : Trace
    graph : CompactTrace, optional
        Its compact trace, if it is known already.
    """

    def __init__(self, trace: Trace, graph: CompactTrace | None = None) -> None:
        self.trace = trace
        self._graph = graph

    @cached_property
    def graph(self) -> CompactTrace:
        """The compact trace."""
        return self._graph or graph_of(self.trace)

    @cached_property
    def sequences(self) -> Occurrences:
        """The sequences of callees that occur again: the rules of the graph's grammar, and where they are."""
        return Occurrences(self.graph)

    @cached_property
    def sets(self) -> Sets:
        """The distinct sets of functions of its subtrees."""
        return distinct_sets(self.graph.subtrees)

    @cached_property
    def caller_pairs(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The different pairs of a function and one that it calls: int64 (k,) each, ascending."""
        subtrees, edges, n = self.graph.subtrees, self.graph.edges, len(self.trace.functions)
        function = subtrees.function.astype(np.int64)
        pairs = np.unique(function[edges.source] * n + function[edges.child])
        return pairs // n, pairs % n

    @cached_property
    def fan_in(self) -> NDArray[np.int64]:
        """The number of different functions that call each function, int64 (functions,)."""
        return np.bincount(self.caller_pairs[1], minlength=len(self.trace.functions))

    @cached_property
    def fan_out(self) -> NDArray[np.int64]:
        """The number of different functions that each function calls, int64 (functions,)."""
        return np.bincount(self.caller_pairs[0], minlength=len(self.trace.functions))

    @cached_property
    def modules_in(self) -> NDArray[np.int64]:
        """From how many different modules each function is called, int64 (functions,).

        The module is the innermost of a function's containers that is not a class; functions of which nothing
        is known count as one module.
        """
        caller, called = self.caller_pairs
        module, count = self.module_of.astype(np.int64), len(self.trace.containers) + 1
        pairs = np.unique(called * count + module[caller] + 1)
        return np.bincount(pairs // count, minlength=len(self.trace.functions))

    @cached_property
    def module_of(self) -> NDArray[np.int32]:
        """The innermost container of each function that is not a class, int32 (functions,); -1: none."""
        containers = self.trace.containers
        classes = containers.kind == 2
        # A parent comes before its children, so one pass settles nested classes.
        outer = np.arange(len(containers), dtype=np.int32)
        for c in np.flatnonzero(classes).tolist():
            parent = int(containers.parent[c])
            outer[c] = outer[parent] if parent >= 0 else -1
        return np.append(outer, np.int32(-1))[self.trace.functions.container]  # -1 takes the last

    @cached_property
    def methods(self) -> list[tuple[str, str]]:
        """The class and the bare name of each function: ``("Point", "__init__")``; no class: empty.

        What C++ calls a class begins with a small letter as often as not: a scope is one where a function has
        its name, ``queue::queue`` or ``queue::~queue``.
        """
        functions = self.trace.functions
        found = [_method(label) for label in functions.label]
        scopes = [_last_part(name) for name in self.trace.containers.name] + [""]
        container = functions.container.tolist()
        scoped = ["::" in name for name in functions.name]
        alone = [k for k, (owner, _) in enumerate(found) if not owner and scoped[k] and scopes[container[k]]]
        classes = {
            container[k] for k in alone if found[k][1].removeprefix("~") == scopes[container[k]]
        }  # fmt: skip
        for k in alone:
            if container[k] in classes:
                found[k] = (scopes[container[k]], found[k][1])
        return found

    @cached_property
    def owners(self) -> list[tuple[int, str] | None]:
        """The class of each function, as something to compare: two may have one name; None: no class.

        It is the container that the function lies in, with the classes that its label names:
        ``JRip$Antd.covers`` and ``ConjunctiveRule$Antd.covers`` are methods of different classes.
        """
        functions = self.trace.functions
        found: list[tuple[int, str] | None] = []
        for k, (owner, bare) in enumerate(self.methods):
            label = functions.label[k].partition("(")[0].rstrip()
            scope = label[: len(label) - len(bare)] if label.endswith(bare) else owner
            found.append((int(functions.container[k]), scope) if owner else None)
        return found

    @cached_property
    def languages(self) -> frozenset[str]:
        """The programming languages that files and names give away: keys of :data:`LANGUAGES`."""
        found = {
            name
            for name, (suffixes, _) in LANGUAGES.items()
            if any(file.lower().endswith(suffixes) for file in self.trace.files)
        }
        for name, (_, sign) in LANGUAGES.items():
            if name not in found and any(sign.search(text) for text in self.trace.functions.name):
                found.add(name)
        return frozenset(found)

    @cached_property
    def short_names(self) -> list[str]:
        """The name of each function without its class: ``__init__``."""
        return [bare for _, bare in self.methods]

    @cached_property
    def utilityhood(self) -> NDArray[np.float64]:
        """How much of a utility each function is, float64 (functions,), 0 to 1.

        ``U(r) = fanin(r)/N * ln(N / (fanout(r) + 1)) / ln N`` with N functions: called from many places,
        calling few (Hamou-Lhadj and Lethbridge).
        """
        n = len(self.trace.functions)
        if n < 2:
            return np.zeros(n)
        return np.asarray(np.maximum(self.fan_in / n * np.log(n / (self.fan_out + 1)) / np.log(n), 0.0))


def _last_part(name: str) -> str:
    """Return the innermost part of a container's name, without the parameters of a template."""
    return name.partition("<")[0].rpartition("::")[2].rpartition(".")[2]


def _method(label: str) -> tuple[str, str]:
    bare = label.partition("(")[0].rstrip() if not label.startswith("(") else label
    for mark in ("::", "."):
        before, found, name = bare.rpartition(mark)
        if found and before:
            owner = before.rpartition(mark)[2].rpartition("$")[2]
            return owner.partition("<")[0], name
    return "", bare


@cached_with_trace()
def facts_of(trace: Trace) -> Facts:
    """Return what filters know of a trace; kept with it."""
    return Facts(trace)
