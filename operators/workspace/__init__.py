"""The workspace TraceVis: its editors, how its screen is laid out, and when it opens."""

from typing import Any

from . import editors, opening, strip, welcome

_MODULES: tuple[Any, ...] = (editors, strip, opening, welcome)


def register() -> None:
    """Register everything, in order."""
    for module in _MODULES:
        module.register()


def unregister() -> None:
    """Remove everything, in reverse order."""
    for module in reversed(_MODULES):
        module.unregister()
