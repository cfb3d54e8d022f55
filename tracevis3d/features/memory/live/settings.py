"""The settings of the live view of memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ....parameters import parameter

if TYPE_CHECKING:
    from .live_view import Memory


@dataclass(frozen=True)
class Settings:
    """Settings of the live view of memory."""

    order: str = parameter(
        "creation",
        "How blocks lie side by side",
        choices={
            "creation": "in the order of their creation",
            "site": "by call site, those with most bytes first",
        },
    )
    width: str = parameter(
        "bytes",
        "How wide blocks are",
        choices={"bytes": "as their bytes", "log": "as the logarithm of their bytes"},
    )
    left: float = parameter(
        0.0,
        "Where the view begins, as a share of the bytes; in Explore mode Ctrl and the wheel zoom",
        low=0.0,
        high=1.0,
    )
    right: float = parameter(1.0, "Where the view ends, as a share of the bytes", low=0.0, high=1.0)


def apply(view: Memory, settings: Any) -> None:
    """Apply ``settings`` to a live view.

    Parameters
    ----------
    view : Memory
        The live view.
    settings : Settings
    """
    view.arrange(settings.order == "site", settings.width == "log")
    if settings.left < settings.right:
        view.zoom(settings.left, settings.right)


def wheel(view: Memory, across: float, factor: float) -> dict[str, float]:
    """Return the settings that show ``factor`` times less of the bytes, about a place across.

    Parameters
    ----------
    view : Memory
        The live view.
    across : float
        Scene units.
    factor : float
        Above 1: nearer.

    Returns
    -------
    dict of str to float
    """
    left, right = view.zoom_at(across, factor)
    return {"left": left, "right": right}
