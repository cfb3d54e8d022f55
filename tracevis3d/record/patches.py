"""Replacing what programs call, and putting it back."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

_MISSING = object()


class Patches:
    """Attributes that were replaced, with their former values."""

    def __init__(self) -> None:
        self._before: list[tuple[Any, str, Any]] = []

    def set(self, owner: Any, name: str, value: Any) -> None:
        """Replace an attribute; one that a class inherits is set on the class itself.

        Parameters
        ----------
        owner : class or module
        name : str
        value : object
        """
        self._before.append((owner, name, vars(owner).get(name, _MISSING)))
        setattr(owner, name, value)

    def wrap(self, owner: Any, name: str, make: Callable[[Any], Any]) -> None:
        """Replace a function by one that has the same name and signature; a missing one is left alone.

        Parameters
        ----------
        owner : class or module
        name : str
        make : callable
            Gets the function, and returns its replacement.
        """
        original = getattr(owner, name, None)
        if original is not None:
            self.set(owner, name, like(original, make(original)))

    def undo(self) -> None:
        """Restore everything, the last change first."""
        while self._before:
            owner, name, before = self._before.pop()
            if before is _MISSING:
                delattr(owner, name)
            else:
                setattr(owner, name, before)


def like(original: Any, replacement: Any) -> Any:
    """Return a function with the name, docstring and signature of another.

    Parameters
    ----------
    original : callable
    replacement : callable
        The function, changed in place.

    Returns
    -------
    callable
    """
    return functools.update_wrapper(replacement, original, updated=())
