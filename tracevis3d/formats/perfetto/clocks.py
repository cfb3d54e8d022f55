"""The clocks of a Perfetto trace, brought to its own by what they show at one moment."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...kernels.formats.protobuf import track_events as kernels

_BOOTTIME = 6
_LIMIT, _UNIT_LIMIT = 1 << 62, 1 << 31


class Clocks:
    """Brings times of all clocks to the trace's own, with the latest snapshot.

    Attributes
    ----------
    reference : int
        The trace's own clock.
    table : int64 (capacity, track_events.CLOCK_COLUMNS)
        What is known of each clock; kernels move on those whose times are differences.
    """

    def __init__(self) -> None:
        self.reference = _BOOTTIME
        self.table: NDArray[np.int64] = np.zeros((16, kernels.CLOCK_COLUMNS), np.int64)
        self._rows: dict[tuple[int, int], int] = {}

    def __len__(self) -> int:
        return len(self._rows)

    @staticmethod
    def _key(sequence: int, clock: int) -> tuple[int, int]:
        first = kernels.FIRST_OWN_CLOCK
        return (sequence if first <= clock < 2 * first else -1), clock

    def _row(self, key: tuple[int, int]) -> Any:
        """Return a clock's row of the table; a new one says that nothing is known."""
        row = self._rows.setdefault(key, len(self._rows))
        if row >= len(self.table):
            self.table = np.concatenate([self.table, np.zeros_like(self.table)])
        found = self.table[row]
        found[kernels.CLOCK_OWNER], found[kernels.CLOCK_ID] = key
        return found

    def snapshot(self, sequence: int, message: Any) -> None:
        """Take over what all clocks show at one moment.

        Parameters
        ----------
        sequence : int
            That of the packet.
        message : ClockSnapshot
        """
        if message.primary_trace_clock:
            self.reference = message.primary_trace_clock
        shown: dict[tuple[int, int], int] = {}
        for clock in message.clocks:
            key, unit = self._key(sequence, clock.clock_id), clock.unit_multiplier_ns or 1
            value = clock.timestamp * unit
            if unit < _UNIT_LIMIT and value < _LIMIT:
                shown[key] = value
                row = self._row(key)
                row[kernels.UNIT] = unit
                if clock.is_incremental:
                    row[kernels.IS_RUNNING], row[kernels.RUNNING] = 1, value
        reference = shown.get((-1, self.reference))
        if reference is None:
            known = [key for key in shown if self._row(key)[kernels.IS_KNOWN]]
            if known:
                reference = shown[known[0]] + int(self._row(known[0])[kernels.OFFSET])
            elif shown:
                reference = next(iter(shown.values()))
            else:
                return
        for key, value in shown.items():
            row = self._row(key)
            row[kernels.IS_KNOWN] = abs(reference - value) < _LIMIT
            row[kernels.OFFSET] = reference - value if row[kernels.IS_KNOWN] else 0

    def time(self, sequence: int, clock: int, value: int) -> int | None:
        """Return the trace's time of what a clock shows.

        Parameters
        ----------
        sequence : int
            That of the packet.
        clock : int
            0 is the trace's own.
        value : int

        Returns
        -------
        int or None
            Nanoseconds; None for a clock of a sequence that was never shown.
        """
        if clock in (0, self.reference):
            return value
        key = self._key(sequence, clock)
        row = self._row(key) if key in self._rows else None
        if row is None or not row[kernels.IS_KNOWN]:
            return value if key[0] < 0 else None
        value *= int(row[kernels.UNIT])
        if row[kernels.IS_RUNNING]:
            value += int(row[kernels.RUNNING])
            if value < _LIMIT:
                row[kernels.RUNNING] = value
        return value + int(row[kernels.OFFSET])
