"""The registry of filters: those of this package, and those of others by entry points."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from ..plugins import Registry

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from .facts import Facts


@dataclass(frozen=True, eq=False)
class Marked:
    """What a filter marks.

    Attributes
    ----------
    of : {"function", "node", "call"}
        What ``flags`` are about: the functions, the distinct subtrees, or the calls.
    flags : bool (functions,), (m,) or (n,)
    """

    of: Literal["function", "node", "call"]
    flags: NDArray[np.bool_]


@dataclass(frozen=True)
class Filter:
    """A filter.

    Attributes
    ----------
    name : str
        The word on the command line; it is also the index by which a stored stack finds it again.
    title : str
        For menus.
    sentence : str
        What it marks.
    category : {"any", "object-oriented"}
        The kind of program that it is made for.
    parameters : type
        A dataclass whose fields are declared with :func:`tracevis3d.parameters.parameter`.
    mark : callable
        ``mark(facts, parameters) -> Marked``.
    suggest : callable, optional
        ``suggest(facts, parameters) -> list of str``: what could have been meant where it marks nothing.
    icon : str
        The name of one of Blender's icons, for menus.
    before, after : tuple of str
        Names of filters before or after which it stands in a stack that it is added to. Of several filters
        that mark a call the last one applies.
    """

    name: str
    title: str
    sentence: str
    category: Literal["any", "object-oriented"]
    parameters: type
    mark: Callable[[Facts, Any], Marked]
    suggest: Callable[[Facts, Any], list[str]] | None = None
    icon: str = "NONE"
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()


#: Name of a filter -> module of this package that defines it in ``FILTERS``.
_OWN = {
    "utilities": ".utilities",
    "accessors": ".roles",
    "constructors": ".roles",
    "polymorphic": ".roles",
    "patterns": ".patterns",
    "alike": ".alike",
    "sequence": ".sequence",
    "library": ".promoted",
    "name": ".names",
    "module": ".names",
    "thread": ".occurrences",
    "duration": ".occurrences",
    "depth": ".occurrences",
    "time": ".occurrences",
    "calls": ".occurrences",
}


class _Filters(Registry[Filter]):
    """Several filters stand in one module."""

    def _own_one(self, name: str) -> Filter:
        found: Any = super()._own_one(name)
        own: Filter = found[name]
        return own


_filters = _Filters("filter", Filter, __package__, _OWN, "FILTERS", "tracevis3d.filters")
names, find, loadable = _filters.names, _filters.find, _filters.loadable


def others() -> list[str]:
    """Return the names of the filters that plug-ins add."""
    return sorted(name for name in _filters.others if name not in _OWN)
