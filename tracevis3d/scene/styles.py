"""Styles: light and background. None changes the colours of the data.

Light is balanced so that a face that looks at the camera's side gets exactly as much as makes its colour the
palette's: ambient plus key is 1 there. Other faces get more (towards the key light) or less.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..drawing.primitives import Camera
from ..drawing.projection import facing_axis
from ..errors import UsageError

Color = tuple[float, float, float]
StyleName = Literal["paper", "stage", "flat"]


@dataclass(frozen=True)
class Style:
    """A look.

    Attributes
    ----------
    name : {"paper", "stage", "flat"}
    background, ink, muted, faint : sRGB
        Behind everything; texts and rulers; lesser texts; grid lines.
    emission : float
        Share of a surface's colour that shines by itself, the rest is lit.
    ambient : float
        Share of the light on a facing surface that comes from all sides; the key light gives the rest.
    softness : float
        Angle of the key light in radians: how soft shadows are.
    wall : (float, float) or None
        Emitted and reflected light of the surface behind (or below) the data, as factors of ``background``.
    rim : (sRGB, share)
        What the chamfered edges of boxes are mixed with, and how much: neighbours stay apart.
    chamfer : float
        Width of these edges, as a share of the usual box height.
    shaded : bool
        Whether Workbench shows faces darker that turn away from the light.
    straight : bool
        Look from the front without perspective, whatever the drawing's camera says.
    far : bool
        It is looked at from far away: a still has a larger title, no notes, one row of the first legend,
        the first callout alone, a light on it, and no names of which only a part has room.
    sun : float
        Share of the key light's strength that falls on all alike where there is such a light.
    recede : float
        The larger, the less do pale colours go over into the background: on a dark one they would be lost.
    """

    name: StyleName
    background: Color
    ink: Color
    muted: Color
    faint: Color
    emission: float
    ambient: float
    softness: float
    wall: tuple[float, float] | None
    rim: tuple[Color, float]
    chamfer: float
    shaded: bool
    straight: bool
    far: bool = False
    sun: float = 1.0
    recede: float = 1.0


_STYLES = {
    "paper": Style(
        "paper",
        background=(1.0, 1.0, 1.0),
        ink=(0.10, 0.11, 0.13),
        muted=(0.40, 0.42, 0.45),
        faint=(0.70, 0.72, 0.75),
        emission=0.5,
        ambient=0.42,
        softness=0.35,
        wall=(0.62, 0.42),
        rim=((0.0, 0.0, 0.0), 0.16),
        chamfer=0.055,
        shaded=True,
        straight=False,
    ),
    "stage": Style(
        "stage",
        background=(0.035, 0.043, 0.062),
        ink=(0.93, 0.94, 0.96),
        muted=(0.60, 0.63, 0.69),
        faint=(0.27, 0.30, 0.36),
        emission=0.5,
        ambient=0.25,
        softness=0.2,
        wall=(0.45, 0.6),
        rim=((1.0, 1.0, 1.0), 0.30),
        chamfer=0.05,
        shaded=True,
        straight=False,
        far=True,
        sun=0.3,
        recede=1.8,
    ),
    "flat": Style(
        "flat",
        background=(1.0, 1.0, 1.0),
        ink=(0.10, 0.11, 0.13),
        muted=(0.40, 0.42, 0.45),
        faint=(0.74, 0.76, 0.79),
        emission=1.0,
        ambient=1.0,
        softness=0.0,
        wall=None,
        rim=((0.0, 0.0, 0.0), 0.30),
        chamfer=0.035,
        shaded=False,
        straight=True,
    ),
}


def named(name: str) -> Style:
    """Return a style.

    Parameters
    ----------
    name : str

    Returns
    -------
    Style

    Raises
    ------
    UsageError
        If there is none.
    """
    try:
        return _STYLES[name]
    except KeyError:
        raise UsageError(f"There is no style {name!r}: choose {', '.join(_STYLES)}.") from None


def names() -> tuple[str, ...]:
    """Return the styles there are."""
    return tuple(_STYLES)


@dataclass(frozen=True, eq=False)
class Light:
    """Where light comes from, in scene axes.

    Attributes
    ----------
    facing : float64 (3,)
        The axis direction (such as -y) that looks most at the camera: faces there show the exact colours.
    key : float64 (3,)
        Unit direction towards the key light.
    """

    facing: NDArray[np.float64]
    key: NDArray[np.float64]

    @classmethod
    def of(cls, camera: Camera) -> Light:
        """Place the key light for a camera: behind it, above and to the left."""
        facing = facing_axis(camera)
        up = np.asarray(camera.up, np.float64)
        up = up - facing * (up @ facing)
        if np.linalg.norm(up) < 1e-6:
            up = np.array([0.0, 1.0, 0.0]) if facing[2] else np.array([0.0, 0.0, 1.0])
        up /= np.linalg.norm(up)
        key = facing + 1.15 * up - 0.75 * np.cross(up, facing)
        return cls(facing, key / np.linalg.norm(key))

    def received(
        self, style: Style, normals: Sequence[Sequence[float]] | NDArray[np.floating[Any]]
    ) -> NDArray[np.float64]:
        """Return how much light surfaces get.

        Parameters
        ----------
        style : Style
        normals : float (..., 3)
            Of length 1.

        Returns
        -------
        float64 (...)
            1 on a facing surface.
        """
        n = np.asarray(normals, np.float64)
        lit = np.maximum(n @ self.key, 0.0) / (self.facing @ self.key)
        return np.asarray(style.ambient + (1.0 - style.ambient) * lit)

    def brightness(self, style: Style, normals: NDArray[np.floating[Any]]) -> NDArray[np.float64]:
        """Return the factor on the linear colour that Workbench shows.

        Parameters
        ----------
        style : Style
        normals : float (..., 3)
            Of length 1.

        Returns
        -------
        float64 (...)
        """
        if not style.shaded:
            return np.ones(np.shape(normals)[:-1])
        return np.asarray(style.emission + (1.0 - style.emission) * self.received(style, normals))
