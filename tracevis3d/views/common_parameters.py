"""Parameters that several views declare alike."""

from __future__ import annotations

from typing import Any

from ..drawing.palettes import PALETTES
from ..parameters import parameter


def palette(sentence: str = "The set of colours", default: str = "muted") -> Any:
    """Declare which of the sets of colours a view takes."""
    choices = {name: palette.words for name, palette in PALETTES.items()}
    return parameter(default, sentence, choices=choices, group="Look")


def angle(default: float, sentence: str, low: float, high: float) -> Any:
    """Declare an angle of the camera, in degrees."""
    return parameter(default, sentence, low=low, high=high, unit="degrees", group="Camera")


def resolution(default: float, sentence: str, low: float = 0.25, high: float = 100.0) -> Any:
    """Declare from how many pixels of the picture on things are shown one by one."""
    return parameter(default, sentence, low=low, high=high, unit="px", group="Detail")
