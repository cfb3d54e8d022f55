"""The time strip: what is stored for it, what is on it, how it is drawn, and what the mouse does."""

from typing import Any

from . import drawing, events, stored

_MODULES: tuple[Any, ...] = (stored, drawing, events)


def register() -> None:
    """Register everything, in order."""
    for module in _MODULES:
        module.register()


def unregister() -> None:
    """Remove everything, in reverse order."""
    for module in reversed(_MODULES):
        module.unregister()
