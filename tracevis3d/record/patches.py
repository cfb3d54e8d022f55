"""Replacing what programs call, and putting it back."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

_MISSING = object()


class Patches:
    """Attributes that were replaced, with what they were before."""

    def __init__(self) -> None:
        self._before: list[tuple[Any, str, Any]] = []

    def set(self, owner: Any, name: str, value: Any) -> None:
        """Replace an attribute of a class or module; one that is inherited is put in front."""
        self._before.append((owner, name, vars(owner).get(name, _MISSING)))
        setattr(owner, name, value)

    def wrap(self, owner: Any, name: str, make: Callable[[Any], Any]) -> None:
        """Replace a function by ``make(function)``, which passes for it; one that is not there is left."""
        original = getattr(owner, name, None)
        if original is not None:
            self.set(owner, name, like(original, make(original)))

    def undo(self) -> None:
        """Put everything back, the last change first; what others have changed since is left alone."""
        while self._before:
            owner, name, before = self._before.pop()
            if before is _MISSING:
                delattr(owner, name)
            else:
                setattr(owner, name, before)


def like(original: Any, replacement: Any) -> Any:
    """Give ``replacement`` the name, the words and the signature of ``original``."""
    return functools.update_wrapper(replacement, original, updated=())
