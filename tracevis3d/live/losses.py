"""What of a feed never came to a viewer: rows, batches, and the stretches of time where they are missing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..units import duration

#: Maximum number of gaps stored separately, and named in a sentence.
MOST_GAPS, _NAMED = 10_000, 3


@dataclass
class Gap:
    """Consecutive rows that are missing.

    Attributes
    ----------
    since, until : int
        The trace's nanoseconds: the latest row before it, and the first one behind it; the same as long as
        none has come.
    rows : int
    batches : int
        As far as their numbers are known to be missing.
    """

    since: int
    until: int
    rows: int
    batches: int

    def words(self, start: int = 0) -> str:
        """Return how many rows are missing, and where, if time 0 is at ``start``."""
        since, until = (duration(max(when - start, 0), 3) for when in (self.since, self.until))
        return f"{self.rows:,} at {since}" + (f" to {until}" if until != since else "")

    def as_dict(self, start: int = 0) -> dict[str, int]:
        """Return it as the command line prints it, with times from ``start``."""
        return {
            "since_ns": self.since - start, "until_ns": self.until - start,
            "rows": self.rows, "batches": self.batches,
        }  # fmt: skip


class Losses:
    """Counts what is missing, so that received and lost rows add up to those that were published.

    A publisher says with every message how many rows it has published before. What a viewer has neither
    received nor counted by then is lost, whoever dropped it, also across reconnections. If a publisher
    does not say so, the rows that it reports as dropped are counted, and one row for each missing batch.

    Attributes
    ----------
    rows, batches : int
        Lost so far.
    gaps : list of Gap
        In the order in which they were noticed; beyond :data:`MOST_GAPS` the last one grows.
    """

    def __init__(self) -> None:
        self.rows = self.batches = 0
        self.gaps: list[Gap] = []
        # Rows of the session that have come or were counted as lost; -1: it has not joined yet.
        self._at = -1
        self._next_batch = -1
        self._dropped = 0
        self._is_open = False

    def meet(self, is_new: bool, published: int) -> None:
        """Note a welcome.

        Parameters
        ----------
        is_new : bool
            Whether it is another session than before.
        published : int
            Rows that it had published when the viewer joined; -1: it has not joined yet, or it is unknown.
        """
        if is_new:
            # Rows published before it joined don't count for this viewer.
            self._at = self._next_batch = -1
        self._dropped = 0
        if published >= 0 and self._at < 0:
            self._at = published

    @property
    def is_counting(self) -> bool:
        """Whether it is known where the viewer has joined."""
        return self._at >= 0

    def lacks(self, sequence: int, dropped: int, published: int) -> bool:
        """Return whether anything is missing before a message.

        Parameters
        ----------
        sequence, dropped, published : int
            As :meth:`hear` has them.

        Returns
        -------
        bool
        """
        rows, batches = self._missing(sequence, dropped, published)
        return rows > 0 or batches > 0

    def _missing(self, sequence: int, dropped: int, published: int) -> tuple[int, int]:
        batches = max(sequence - self._next_batch, 0) if self._next_batch >= 0 else 0
        if published < 0:
            return max(dropped - self._dropped, batches), batches
        return (max(published - self._at, 0) if self._at >= 0 else 0), batches

    def hear(self, sequence: int, dropped: int, published: int, now: int) -> None:
        """Count what is missing before a message.

        Parameters
        ----------
        sequence : int
            The number of the next batch, or of this one.
        dropped : int
            Rows dropped for this viewer since its last hello.
        published : int
            Rows of the session before it; -1: unknown.
        now : int
            The trace's latest time, in nanoseconds.
        """
        rows, batches = self._missing(sequence, dropped, published)
        self._next_batch, self._dropped = max(self._next_batch, sequence), max(self._dropped, dropped)
        self._at = max(self._at, published)
        if not rows and not batches:
            return
        self.rows += rows
        self.batches += batches
        if not self._is_open and len(self.gaps) < MOST_GAPS:
            self.gaps.append(Gap(now, now, 0, 0))
        self._is_open = True
        self.gaps[-1].rows += rows
        self.gaps[-1].batches += batches

    def take(self, sequence: int, rows: int) -> None:
        """Count a batch that came; not one whose rows are sent again.

        Parameters
        ----------
        sequence : int
            Its number.
        rows : int
        """
        self._next_batch = max(self._next_batch, sequence + 1)
        if self._at >= 0:
            self._at += rows

    @property
    def is_open(self) -> bool:
        """Whether nothing has come since the last gap was noticed."""
        return self._is_open

    def close(self, until: int) -> None:
        """End the last gap at the time of the first row behind it, in nanoseconds."""
        self._is_open = False
        self.gaps[-1].until = max(self.gaps[-1].until, until)


def place(gaps: Sequence[Gap], start: int = 0) -> str:
    """Return where rows are missing, in words: the largest gaps, and how many others there are.

    Parameters
    ----------
    gaps : sequence of Gap
    start : int
        The time that is called 0, in the trace's nanoseconds.

    Returns
    -------
    str
        In the order of time: ``1,200 at 3.2 s to 3.4 s, 10 at 7 s``.
    """
    largest = sorted(sorted(gaps, key=lambda gap: -gap.rows)[:_NAMED], key=lambda gap: gap.since)
    more = f", and {len(gaps) - _NAMED:,} smaller gaps" if len(gaps) > _NAMED else ""
    return ", ".join(gap.words(start) for gap in largest) + more
