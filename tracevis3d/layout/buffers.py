"""Working space that is used again."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


class Buffers:
    """Arrays by name that grow as needed: fresh memory costs more than the kernels that fill it.

    Examples
    --------
    >>> import numpy as np
    >>> buffers = Buffers()
    >>> first = buffers.take("points", (4, 3), np.float32)
    >>> np.shares_memory(first, buffers.take("points", (2, 3), np.float32))
    True
    """

    def __init__(self) -> None:
        self._kept: dict[str, NDArray[Any]] = {}

    def take(self, name: str, shape: tuple[int, ...], dtype: type[np.generic]) -> NDArray[Any]:
        """Return an array of the given shape, whose values are not set.

        Parameters
        ----------
        name : str
            The buffer. Its array is valid until ``name`` is taken again.
        shape : tuple of int
        dtype : NumPy scalar type

        Returns
        -------
        array of ``dtype`` and ``shape``
        """
        count = int(np.prod(shape))
        kept = self._kept.get(name)
        if kept is None or len(kept) < count or kept.dtype != dtype:
            kept = self._kept[name] = np.empty(count, dtype)
        return kept[:count].reshape(shape)
