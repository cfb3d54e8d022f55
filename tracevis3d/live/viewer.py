"""What a publisher knows of a viewer: what it may be sent, what is on the way, and what waits for it."""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass
from typing import Any

from . import protocol as p

#: Maximum number of suggestions of a viewer, and the seconds in which they count.
MOST_SUGGESTIONS, SUGGESTIONS_S = 10, 10.0
#: Maximum number of messages in transit to a viewer: fewer than ZeroMQ's limit, beyond which it takes none.
MOST_ON_THE_WAY = 500
#: Maximum seconds that a patient publisher waits for a viewer, and those earned by taking a batch.
PATIENCE_S, _EARNED_S = 20.0, 0.1
#: Messages a viewer may send in a second, and at once.
MESSAGES_A_SECOND, _MESSAGES_AT_ONCE = 5_000, 10_000
#: Bytes and messages that may follow one that is tracked: tracking each small one costs more than sending it.
_UNTRACKED, _UNTRACKED_MESSAGES = 1 << 16, 8


class InTransit:
    """Counts what ZeroMQ was given for a connection and has not written yet.

    Attributes
    ----------
    bytes, messages : int
    """

    def __init__(self) -> None:
        self.bytes = self.messages = 0
        self._tracked: deque[tuple[Any, int, int]] = deque()
        self._bytes = self._messages = 0

    def wants_tracker(self, size: int) -> bool:
        """Return whether the next message, of so many bytes, is to be tracked."""
        return self._bytes + size > _UNTRACKED or self._messages >= _UNTRACKED_MESSAGES

    def add(self, size: int, tracker: Any) -> None:
        """Count a message that was sent.

        Parameters
        ----------
        size : int
            Bytes.
        tracker : zmq.MessageTracker or None
            None: it is not tracked.
        """
        self.bytes += size
        self.messages += 1
        self._bytes += size
        self._messages += 1
        if tracker is not None:
            # They are written in their order: with it those before it are.
            self._tracked.append((tracker, self._bytes, self._messages))
            self._bytes = self._messages = 0

    def settle(self) -> int:
        """Subtract what has been written; return the number of messages."""
        written = 0
        while self._tracked and self._tracked[0][0].done:
            _, size, messages = self._tracked.popleft()
            self.bytes -= size
            self.messages -= messages
            written += messages
        return written

    @property
    def is_empty(self) -> bool:
        """Whether all that was tracked has been written."""
        return not self._tracked


@dataclass(frozen=True, eq=False)
class Waiting:
    """A batch that waits for a viewer, as it will be sent.

    Attributes
    ----------
    sequence : int
        Its number.
    now : int
        The session's time when it was queued, in nanoseconds.
    dropped : int
        Rows before it that this viewer has not received since its last hello.
    published : int
        Rows that the session has published before it.
    batch : Batch
        Its table and columns.
    again : bool
        Whether it reports open calls and live blocks.
    """

    sequence: int
    now: int
    dropped: int
    published: int
    batch: p.Batch
    again: bool = False


class Viewer:
    """A viewer of a publisher.

    Parameters
    ----------
    credit : int
        Batches that it can take.
    knows_what_is_open : bool
        Whether it needs no report of open calls and live blocks.
    base : int
        Rows dropped for everybody before it came.
    patience : float
        Seconds that the publisher may wait for it.
    number : int
        The descriptor of its connection; -1: unknown.
    before : Viewer, optional
        The same viewer before it said hello again: limits are not reset.
    """

    def __init__(
        self,
        credit: int,
        knows_what_is_open: bool,
        base: int,
        patience: float = 0.0,
        number: int = -1,
        before: Viewer | None = None,
    ) -> None:
        now = time.monotonic()
        self.credit, self.dropped, self.base, self.number = credit, 0, base, number
        #: Time of its last message, and when it last took data or could have.
        self.heard = self.took = now
        #: If not, it waits for what is open and lives already, and gets no rows before: it has just come, or
        #: lost some.
        self.knows_what_is_open, self.is_new = knows_what_is_open, not knows_what_is_open
        #: Everything is dropped for it until it has taken what waits: few long gaps are better than many.
        self.is_losing = False
        self.has_spoken = before is not None
        #: Batches that wait for it.
        self.behind: deque[Waiting] = deque()
        self.behind_rows = 0
        self.on_the_way: InTransit = before.on_the_way if before else InTransit()
        self.patience: float = before.patience if before else patience
        #: When it made its last suggestions, and when names were last sent from the first one on.
        self.suggested: deque[float] = before.suggested if before else deque(maxlen=MOST_SUGGESTIONS)
        self.named: dict[str, int] = before.named if before else dict.fromkeys(p.NAMES, 0)
        self.asked_at: float = before.asked_at if before else 0.0
        self.asks = before is not None
        self._messages: float = before._messages if before else float(_MESSAGES_AT_ONCE)
        self._counted_at = now

    def hear(self) -> bool:
        """Count a message of it; return whether it may send so many."""
        now = time.monotonic()
        self._messages += (now - self._counted_at) * MESSAGES_A_SECOND
        self._messages = min(self._messages, _MESSAGES_AT_ONCE) - 1
        self.heard = self._counted_at = now
        return self._messages >= 0

    def settle(self) -> None:
        """Note what has been written to it: who takes something may be waited for."""
        written = self.on_the_way.settle()
        if written:
            self.patience = min(max(self.patience, 0.0) + written * _EARNED_S, PATIENCE_S)

    def has_room(self, room: int) -> bool:
        """Whether a batch can be sent, if ``room`` bytes may be on the way."""
        return self.credit > 0 and self.on_the_way.bytes < room and self.on_the_way.messages < MOST_ON_THE_WAY

    def may_suggest(self) -> bool:
        """Count a suggestion; return whether it may make it."""
        now = time.monotonic()
        if len(self.suggested) == MOST_SUGGESTIONS and now - self.suggested[0] < SUGGESTIONS_S:
            return False
        self.suggested.append(now)
        return True
