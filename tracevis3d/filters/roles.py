"""Functions with a role in object-oriented programs: accessors, constructors, polymorphic operations."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..parameters import parameter
from ..trace.cached_results import cached_with_trace
from ..trace.model import Trace
from .facts import Facts, facts_of
from .registry import Filter, Marked
from .utilities import Parameters, mark

_ACCESSOR = re.compile(
    r"(?:get|set|is|has|fget|fset)(?=[A-Z_0-9]|$)|__(?:get|set|del)(?:attr|item|attribute)?__$"
)
_CONSTRUCTOR = frozenset(
    ("<init>", "<clinit>", "__init__", "__new__", "__post_init__", "__init_subclass__", "constructor",
     ".ctor", ".cctor", "ctor")
)  # fmt: skip
_DESTRUCTOR = frozenset(("__del__", "dealloc", "destructor"))
#: Names that mean this in one language alone (see :data:`.facts.LANGUAGES`): elsewhere they are ordinary.
_CONSTRUCTOR_OF = {"initialize": "ruby"}
_DESTRUCTOR_OF = {"finalize": "java", "Finalize": ".net", "drop": "rust"}


#: Roles of functions, with descriptions.
ROLES = {
    "constructor": "makes or ends an object",
    "accessor": "only gets or sets something",
    "utility": "is called from many places and calls little",
    "polymorphic": "several classes implement an operation of this name",
    "function": "anything else",
}


@dataclass(frozen=True)
class AccessorParameters:
    """The parameters of the filter of accessors."""

    leaves: bool = parameter(True, "Only functions that call nothing else in this trace")


@dataclass(frozen=True)
class ConstructorParameters:
    """The parameters of the filter of constructors."""

    destructors: bool = parameter(True, "Destructors too")


@dataclass(frozen=True)
class PolymorphicParameters:
    """The parameters of the filter of polymorphic operations."""

    classes: int = parameter(2, "Classes that must implement an operation of this name", low=2)


def accessors(facts: Facts, p: AccessorParameters) -> Marked:
    """Mark functions named like ``getName``, ``is_empty``, ``__getattr__``.

    Parameters
    ----------
    facts : Facts
        Of the trace.
    p : AccessorParameters
        Whether those that call others count.

    Returns
    -------
    Marked
    """
    flags = _by_method(facts, lambda owner, name: _ACCESSOR.match(name) is not None)
    return Marked("function", flags & (facts.fan_out == 0) if p.leaves else flags)


def constructors(facts: Facts, p: ConstructorParameters) -> Marked:
    """Mark functions that make or end objects, as Java, Python, C++, C#, Rust and JavaScript name them.

    Parameters
    ----------
    facts : Facts
        Of the trace.
    p : ConstructorParameters
        Whether destructors count.

    Returns
    -------
    Marked
    """

    def test(owner: str, name: str) -> bool:
        return _makes(facts, owner, name) or (p.destructors and _ends(facts, owner, name))

    return Marked("function", _by_method(facts, test))


def _makes(facts: Facts, owner: str, name: str) -> bool:
    if name in _CONSTRUCTOR or (owner and name == owner):
        return True
    return name in _CONSTRUCTOR_OF and _CONSTRUCTOR_OF[name] in facts.languages


def _ends(facts: Facts, owner: str, name: str) -> bool:
    if name in _DESTRUCTOR or name == f"~{owner}":
        return True
    return name in _DESTRUCTOR_OF and _DESTRUCTOR_OF[name] in facts.languages


def polymorphic(facts: Facts, p: PolymorphicParameters) -> Marked:
    """Mark methods whose name several classes implement; constructors and special methods don't count.

    Parameters
    ----------
    facts : Facts
        Of the trace.
    p : PolymorphicParameters
        How many classes have to implement a method.

    Returns
    -------
    Marked
    """
    owners: dict[str, set[tuple[int, str]]] = {}
    for owned, (_, name) in zip(facts.owners, facts.methods, strict=True):
        if owned is not None:
            owners.setdefault(name, set()).add(owned)

    def test(owner: str, name: str) -> bool:
        special = _makes(facts, owner, name) or _ends(facts, "", name) or name.startswith("__")
        return bool(owner) and not special and len(owners[name]) >= p.classes

    return Marked("function", _by_method(facts, test))


@cached_with_trace()
def roles_of(trace: Trace) -> list[str]:
    """Return the role of each function of a trace, a key of :data:`ROLES`; kept with it."""
    return of_functions(facts_of(trace))


def of_functions(facts: Facts) -> list[str]:
    """Return the role of each function, for icons: the first of :data:`ROLES` that fits."""
    marks = (
        constructors(facts, ConstructorParameters()).flags,
        accessors(facts, AccessorParameters()).flags,
        mark(facts, Parameters()).flags,
        polymorphic(facts, PolymorphicParameters()).flags,
    )
    found = np.full(len(facts.methods), len(marks))
    for place in range(len(marks) - 1, -1, -1):
        found[marks[place]] = place
    return [tuple(ROLES)[place] for place in found.tolist()]


def _by_method(facts: Facts, test: Callable[[str, str], bool]) -> np.ndarray:  # type: ignore[type-arg]
    return np.fromiter((test(owner, name) for owner, name in facts.methods), np.bool_, len(facts.methods))


FILTERS = {
    f.name: f
    for f in (
        Filter("accessors", "Accessing methods", "functions that only get or set something",
               "object-oriented", AccessorParameters, accessors),
        Filter("constructors", "Constructors and destructors", "functions that make or end objects",
               "object-oriented", ConstructorParameters, constructors),
        Filter("polymorphic", "Implementations of polymorphic operations",
               "methods whose name several classes implement", "object-oriented", PolymorphicParameters,
               polymorphic),
    )
}  # fmt: skip
