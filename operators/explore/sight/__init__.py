"""What one sees of a scene: the brush that mutes all else."""

from typing import Any

from . import veil

_MODULES: tuple[Any, ...] = (veil,)


def register() -> None:
    """Register everything, in order."""
    for module in _MODULES:
        module.register()


def unregister() -> None:
    """Remove everything, in reverse order."""
    for module in reversed(_MODULES):
        module.unregister()
