"""How views, formats and filters are found: our own by a table, others' through Python entry points."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, cached_property
from importlib import import_module
from typing import Any, Generic, TypeVar

from .errors import UsageError

T = TypeVar("T")


class Registry(Generic[T]):
    """The things of one kind that there are; each is imported when it is asked for.

    Parameters
    ----------
    word : str
        What one is called in messages, such as ``view``.
    kind : type
        What each must be an instance of.
    package : str
        The package of our own modules.
    own : mapping of str to str
        Name -> module of ``package`` that defines it under ``attribute``.
    attribute : str
    group : str
        The entry points' group in which other packages name theirs.
    """

    def __init__(
        self, word: str, kind: type[T], package: str, own: Mapping[str, str], attribute: str, group: str
    ) -> None:
        self.word, self.kind, self.package = word, kind, package
        self.own, self.attribute, self.group = own, attribute, group
        self.find = cache(self._find)

    def names(self) -> list[str]:
        """Return all names, ours first; none is imported."""
        return [*self.own, *sorted(name for name in self._others if name not in self.own)]

    def loadable(self) -> list[T]:
        """Return all that load; one of another package that fails does not keep the others from working."""
        found = []
        for name in self.names():
            try:
                found.append(self.find(name))
            except UsageError:
                if name in self.own:
                    raise
        return found

    def _find(self, name: str) -> T:
        """Return the one called ``name``.

        Raises
        ------
        UsageError
            If there is none, or if another package's can't be loaded.
        """
        if name in self.own:
            return getattr(import_module(self.own[name], self.package), self.attribute)  # type: ignore[no-any-return]
        if name not in self._others:
            raise UsageError(f"there is no {self.word} {name!r}: there are {', '.join(self.names())}")
        entry = self._others[name]
        try:
            loaded = entry.load()
        except Exception as error:
            raise UsageError(f"the {self.word} {name!r} of {entry.value} can't be loaded: {error}") from error
        if not isinstance(loaded, self.kind):
            found = type(loaded).__name__
            raise UsageError(
                f"the {self.word} {name!r} of {entry.value} is no {self.kind.__name__} but a {found}"
            )
        return loaded

    @cached_property
    def _others(self) -> dict[str, Any]:
        from importlib.metadata import entry_points

        return {entry.name: entry for entry in entry_points(group=self.group)}
