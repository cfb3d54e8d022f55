"""Marks become instances of a small solid sign, one template part per colour."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...drawing.primitives import Marks
from .. import materials
from ..digest import digest
from ..styles import Light, Style
from . import templates
from .instances import Instances, placed

#: Up to this many marks are as round in the economical form as in pictures.
_FEW = 24


def _coarseness(marks: Marks, coarse: int) -> int:
    return coarse if len(marks) <= _FEW else coarse + 1


def triangles(marks: Marks, coarse: int) -> int:
    """Return how many triangles the economical form has.

    Parameters
    ----------
    marks : Marks
    coarse : int
        Its coarseness.

    Returns
    -------
    int
    """
    shape = templates.mark_shape(marks.shape, marks.along, _coarseness(marks, coarse))
    return len(marks) * shape.triangles()


def lay(marks: Marks, palette: NDArray[np.float32], style: Style, light: Light, coarse: int = 0) -> Instances:
    """Return the instances that show ``marks``.

    Parameters
    ----------
    marks : Marks
    palette : float32 (k, 4)
        sRGB.
    style : Style
    light : Light
    coarse : int
        Of the economical form.

    Returns
    -------
    Instances
    """
    coarse = _coarseness(marks, coarse)
    used, part = np.unique(np.clip(marks.color, 0, len(palette) - 1), return_inverse=True)

    def template(name: str, coarse: int) -> Any:
        shape = templates.mark_shape(marks.shape, marks.along, coarse)
        return templates.template(name, [(shape, palette[used])], style, light)

    size = np.asarray(marks.size, np.float32)
    return Instances(
        np.asarray(marks.point, np.float32),
        size if size.ndim == 2 else np.repeat(size[:, None], 3, axis=1),
        part.astype(np.int32),
        marks.id,
        np.empty((0, 2), np.float32),
        materials.surface(marks.look, style),
        digest(marks.shape, marks.along, palette[used], style, light, coarse),
        partial(template, coarse=0),
        partial(template, coarse=coarse),
    )


def show(marks: Marks, palette: NDArray[np.float32], style: Style, light: Light, name: str) -> Any:
    """Return the object that shows marks.

    Parameters
    ----------
    marks : Marks
    palette : float32 (k, 4)
        sRGB.
    style : Style
    light : Light
    name : str
        Of the object.

    Returns
    -------
    bpy.types.Object
    """
    return placed(name, lay(marks, palette, style, light))
