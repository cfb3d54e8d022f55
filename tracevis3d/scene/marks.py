"""Marks become instances of a small solid sign, one template part per colour."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..drawing.words import Marks
from . import instances, materials, signs
from .styles import Light, Style


def show(marks: Marks, palette: NDArray[np.float32], style: Style, light: Light, name: str) -> Any:
    """Return the object that shows ``marks``; ``palette`` is sRGB (k, 4)."""
    used, part = np.unique(np.clip(marks.color, 0, len(palette) - 1), return_inverse=True)
    template = signs.template(
        f"{name} template", [(signs.mark_shape(marks.shape), palette[used])], style, light
    )
    return instances.placed(
        name,
        template,
        materials.surface(marks.look, style),
        position=marks.point,
        size=np.repeat(np.asarray(marks.size, np.float32)[:, None], 3, axis=1),
        part=part.astype(np.int32),
        id=marks.id,
    )
