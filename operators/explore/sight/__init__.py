"""What one sees of a scene: the brush that mutes everything else, slabs, X-ray, columns on a drum, a lens."""

from typing import Any

from . import columns, fading, lens, slabs, veil, visible, xray

_MODULES: tuple[Any, ...] = (fading, veil, slabs, xray, columns, lens)


def register() -> None:
    """Register everything, in order."""
    for module in _MODULES:
        module.register()


def unregister() -> None:
    """Remove everything, in reverse order."""
    for module in reversed(_MODULES):
        module.unregister()


def forget() -> None:
    """Let go of everything that is about the present file."""
    visible.forget()
    fading.forget()
    xray.forget()
    lens.forget()
    columns.forget()
