"""Shared by memray's recordings, as memray's own file or as text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from ...trace.recording import Recording

#: A frame: function, file and the line being executed.
Frame = tuple[str, str, int]


def frees(allocator: str) -> bool:
    """Whether what memray calls an allocator gives memory back."""
    return allocator.endswith("FREE") or allocator == "MUNMAP"


class Frames:
    """Stacks as a tree of frames that is handed to a recording; stacks that begin alike share frames.

    Parameters
    ----------
    recording : Recording
        It is filled.
    """

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self._index: dict[tuple[int, int, int], int] = {}

    def add(self, stack: Sequence[Frame]) -> int:
        """Return the innermost frame of a stack, given innermost first; -1 if it is empty."""
        parent = -1
        for name, file, line in reversed(stack):
            full = f"{name} ({file})" if file else name
            # Modules within Python itself have no path that names could be split by.
            frozen = file.startswith("<")
            function = self._recording.function(
                full, label=name if frozen else None, file=file if frozen else None
            )
            line = line if 0 < line < 1 << 31 else 0
            parent = self._index.setdefault((parent, function, line), len(self._index))
        return parent

    def add_frames(self) -> None:
        """Give the recording all frames."""
        columns: NDArray[np.int64] = np.array(list(self._index), np.int64).reshape(-1, 3)
        self._recording.add_stacks(parent=columns[:, 0], function=columns[:, 1], line=columns[:, 2])


def make_times(recording: Recording, rows: int) -> NDArray[np.int64]:
    """Return the times of rows that have an order alone, and say so.

    Parameters
    ----------
    recording : Recording
        Its problems are added to.
    rows : int
        How many.

    Returns
    -------
    int64 (rows,)
        Their numbers in place of nanoseconds.
    """
    recording.problems.add("no times", "the whole file", 1)
    return np.arange(rows, dtype=np.int64)
