"""Colours: a palette's sRGB values, the linear light that Blender computes with, and ink that contrasts."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]


def linear(srgb: NDArray[np.floating[Any]]) -> Floats:
    """Return the linear values of sRGB colours (last axis r, g, b and perhaps alpha, which stays)."""
    out = np.array(srgb, np.float32)
    c = out[..., :3]
    out[..., :3] = np.where(c <= 0.04045, c / 12.92, ((np.maximum(c, 0) + 0.055) / 1.055) ** 2.4)
    return out


def srgb(values: NDArray[np.floating[Any]]) -> Floats:
    """Return the sRGB values of linear colours, the inverse of :func:`linear`."""
    out = np.array(values, np.float32)
    c = np.maximum(out[..., :3], 0)
    out[..., :3] = np.where(c <= 0.0031308, c * 12.92, 1.055 * c ** (1 / 2.4) - 0.055)
    return out


def mixed(colors: NDArray[np.floating[Any]], other: tuple[float, float, float], share: float) -> Floats:
    """Return colours moved towards another one, alpha kept.

    Parameters
    ----------
    colors : float (..., 3) or (..., 4)
        sRGB.
    other : (float, float, float)
        sRGB.
    share : float
        0: unchanged, 1: ``other``.

    Returns
    -------
    float32
        The same shape.
    """
    out = np.array(colors, np.float32)
    out[..., :3] += (np.asarray(other, np.float32) - out[..., :3]) * np.float32(share)
    return out


def is_dark(colors: NDArray[np.floating[Any]]) -> NDArray[np.bool_]:
    """Return for sRGB colours (n, 4) whether white ink reads better on them than near-black (WCAG 2)."""
    light = linear(colors)[..., :3] @ np.array([0.2126, 0.7152, 0.0722], np.float32)
    # Here the contrast to white and that to near-black ink are the same, 4.55 to 1; elsewhere one is higher.
    return np.asarray(light < 0.181, np.bool_)
