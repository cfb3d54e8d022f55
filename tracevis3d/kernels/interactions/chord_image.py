"""Curves with direction drawn into an image, blended by the minimum of each channel (ExtraVis, section 4)."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ..jit import kernel


@kernel
def draw_darkest(
    point: NDArray[np.float32],
    first: NDArray[np.int64],
    width: NDArray[np.float32],
    color: NDArray[np.float32],
    opacity: NDArray[np.float32],
    image: NDArray[np.uint8],
) -> None:
    """Draw curves, where they meet keeping the lesser of both colours' channels: any order gives the same.

    Parameters
    ----------
    point : float32 (m, 2)
        Pixels from the upper left corner.
    first : int64 (n + 1,)
    width : float32 (n,)
        Pixels; curves get narrower towards their end, to 0.4 of it.
    color : float32 (n, 2, 3)
        sRGB at the start and at the end, 0 to 255.
    opacity : float32 (n,)
        How much of what is below each covers, 0 to 1.
    image : uint8 (rows, columns, 4)
        Must be white with alpha 0; alpha gets the largest cover.
    """
    rows, columns = image.shape[0], image.shape[1]
    for i in range(len(first) - 1):
        low, high = first[i], first[i + 1]
        steps = max(high - low - 1, 1)
        for j in range(low, high - 1):
            x0, y0 = point[j, 0], point[j, 1]
            dx, dy = point[j + 1, 0] - x0, point[j + 1, 1] - y0
            pieces = max(int(2.0 * math.sqrt(dx * dx + dy * dy)), 1)
            for k in range(pieces):
                u = (k + 0.5) / pieces
                x, y = x0 + u * dx, y0 + u * dy
                t = (j - low + u) / steps
                half = width[i] * (1.0 - 0.6 * t) / 2.0
                r = color[i, 0, 0] + t * (color[i, 1, 0] - color[i, 0, 0])
                g = color[i, 0, 1] + t * (color[i, 1, 1] - color[i, 0, 1])
                b = color[i, 0, 2] + t * (color[i, 1, 2] - color[i, 0, 2])
                reach = half + 1.0
                top, bottom = max(int(y - reach), 0), min(int(y + reach) + 1, rows)
                left, right = max(int(x - reach), 0), min(int(x + reach) + 1, columns)
                for row in range(top, bottom):
                    for column in range(left, right):
                        ex, ey = column + 0.5 - x, row + 0.5 - y
                        # Curves thinner than a pixel get paler instead.
                        d = math.sqrt(ex * ex + ey * ey)
                        cover = min(max(half + 0.5 - d, 0.0), 1.0) * min(2.0 * half, 1.0) * opacity[i]
                        if cover > 0.0:
                            alpha = np.uint8(cover * 255.0 + 0.5)
                            image[row, column, 0] = min(
                                image[row, column, 0], np.uint8(255.0 - cover * (255.0 - r))
                            )
                            image[row, column, 1] = min(
                                image[row, column, 1], np.uint8(255.0 - cover * (255.0 - g))
                            )
                            image[row, column, 2] = min(
                                image[row, column, 2], np.uint8(255.0 - cover * (255.0 - b))
                            )
                            image[row, column, 3] = max(image[row, column, 3], alpha)
