"""The subscriber: takes what a publisher sends, in small bites, and survives whatever it does."""

from __future__ import annotations

import contextlib
import struct
import time
from collections import deque
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InputError, UsageError
from . import protocol as p
from .endpoint import Keys, check, check_owner, read_key, zmq
from .growing import MOST_CALLS, GrowingTrace
from .losses import Gap

_NO_KEYS = "the feed has no keys: leave out --key and --peers"
_NEEDS_KEYS = (
    "the feed has keys: give your secret key with --key, and the publisher's public key with --peers"
)
#: Maximum number of batches in transit.
CREDIT = 256
#: Seconds of silence after which the publisher counts as gone, and hello is sent again; and the share of
#: them that counts at most between two calls of :meth:`Subscriber.drain`: who stood still heard nothing.
SILENT_S, _BETWEEN = 3.0, 1 / 3
#: Maximum difference, in nanoseconds, between events and the publisher's clock, if it is the trace's.
_CLOCK_NS = 1_000_000_000
#: Seconds over which rates are averaged.
_RATE_S = 2.0
#: Seconds after which a message is sent, because the publisher forgets silent viewers.
_SIGN_S = 3.0
#: Rows taken, and rows checked, between two checks of the time.
_BITE, _CHECKED = 1 << 14, 1 << 18


@dataclass
class _Large:
    """A batch that is too large for one bite: rows that were checked, and rows that were taken."""

    batch: p.Batch
    checked: int = 0
    taken: int = 0


class Subscriber:
    """One viewer's end of a feed.

    Parameters
    ----------
    endpoint : str
    keys : Keys, optional
    most_calls : int
        Calls that are kept.

    Attributes
    ----------
    trace : GrowingTrace
        What has come so far.
    state : str
        ``waiting``, ``connected``, ``silent`` (nothing was heard for :data:`SILENT_S`), ``ended`` or
        ``refused``.
    why : str
        What the publisher said when it refused, or what was wrong with its last bad message.
    program : str
    rows : int
        Rows that came, with those sent again.
    rows_again : int
        Rows among them that were sent again, as they report what was open.
    lost, lost_batches : int
        Rows and batches lost on the way: see :class:`.losses.Losses`.
    gaps : list of Gap
        Where they are missing.
    locked_out : str
        Why the publisher does not accept this viewer, as a sentence: only one of them has keys, or the key
        is unknown. Empty as long as there is no sign of that.
    bad : int
        Messages that made no sense and were left out.
    behind : bool
        Whether more had come than the last :meth:`drain` had time for.
    takes_suggestions : bool
        Whether the program takes any.
    answers : deque of Answer
        The last ones to suggestions.
    paused : bool
        Messages are counted, but their rows are left out. On continuing, open calls are closed, and the
        publisher is asked to report those that are open by then.

    Raises
    ------
    UsageError
        If the endpoint can't be used.
    """

    def __init__(
        self,
        endpoint: str,
        *,
        keys: Keys | None = None,
        most_calls: int = MOST_CALLS,
    ) -> None:
        self._z = zmq()
        keys = keys or Keys()
        keys.check_both("the publisher's public key file")
        self.endpoint, self._keys = check(endpoint, keys), keys
        check_owner(self.endpoint)
        self.trace = GrowingTrace(most_calls)
        self.state, self.why, self.program = "waiting", "", ""
        self.bad = self.left_out = 0
        self.rows = self.rows_again = self.messages = 0
        # Whether it joined a program that had published something before.
        self._is_late = False
        self.latency_ns = 0
        self._paused = self.takes_suggestions = self.behind = False
        # Small batches of calls wait for each other, a large one for the next bite.
        self._small: list[p.Batch] = []
        self._small_rows = 0
        self._large: _Large | None = None
        self._reported: tuple[int, int] | None = None
        self.answers: deque[p.Answer] = deque(maxlen=16)
        self._suggested = 0
        self._rates: deque[tuple[float, int]] = deque()
        self._session = ""
        self._start = 0
        self._said = self._said_at = 0
        self._keeps_time = False
        self._taken = 0
        self.locked_out = ""
        self._context = self._z.Context()
        self._socket: Any = None
        self._monitor: Any = None
        self._connect()

    def _connect(self) -> None:
        z = self._z
        if self._socket is not None:
            self._close_socket()
        socket = self._context.socket(z.DEALER)
        self._monitor = socket.get_monitor_socket(
            z.EVENT_HANDSHAKE_SUCCEEDED | z.EVENT_HANDSHAKE_FAILED_PROTOCOL | z.EVENT_HANDSHAKE_FAILED_AUTH
        )
        socket.setsockopt(z.LINGER, 0)
        socket.setsockopt(z.RCVHWM, 0)  # credit bounds what waits
        socket.setsockopt(z.MAXMSGSIZE, 8 * p.MOST_ROWS)
        socket.setsockopt(z.RECONNECT_IVL, 100)
        socket.setsockopt(z.RECONNECT_IVL_MAX, 1000)
        socket.setsockopt(z.IMMEDIATE, 0)
        if self._keys.given:
            socket.curve_publickey, socket.curve_secretkey = read_key(self._keys.own, secret=True)
            socket.curve_serverkey = read_key(self._keys.others, secret=False)[0]
        socket.connect(self.endpoint)
        self._socket = socket
        self._heard = self._drained_at = time.monotonic()
        self._say(p.Hello(p.VERSION, CREDIT))
        self._taken = 0

    def _close_socket(self, linger: int = 0) -> None:
        self._socket.disable_monitor()
        self._monitor.close(linger=0)
        self._socket.close(linger=linger)

    def _look_at_handshake(self) -> None:
        """Learn whether the publisher has let this viewer in."""
        z = self._z
        with contextlib.suppress(z.ZMQError):
            while True:
                event, value = struct.unpack("=HI", self._monitor.recv_multipart(z.NOBLOCK)[0][:6])
                if event == z.EVENT_HANDSHAKE_SUCCEEDED:
                    self.locked_out = ""
                elif event == z.EVENT_HANDSHAKE_FAILED_AUTH:
                    self.locked_out = "the publisher does not know your key: it is not in its folder --peers"
                elif value == z.PROTOCOL_ERROR_ZMTP_MECHANISM_MISMATCH:
                    self.locked_out = _NO_KEYS if self._keys.given else _NEEDS_KEYS

    def _say(self, message: p.FromViewer) -> bool:
        """Send a message; return whether it could be sent."""
        with contextlib.suppress(self._z.ZMQError):
            self._socket.send_multipart(p.encode(message), self._z.NOBLOCK)
            self._spoke = time.monotonic()
            return True
        return False

    @property
    def lost(self) -> int:
        """Rows lost on the way."""
        return self.trace.losses.rows

    @property
    def lost_batches(self) -> int:
        """Batches lost on the way."""
        return self.trace.losses.batches

    @property
    def published(self) -> int:
        """The rows that were published while this viewer watched: those that came and those that didn't."""
        return self.rows - self.rows_again + self.lost

    @property
    def gaps(self) -> list[Gap]:
        """Where rows are missing, in the order in which that was noticed."""
        return self.trace.losses.gaps

    @property
    def paused(self) -> bool:
        """Whether messages are counted while their rows are left out."""
        return self._paused

    @paused.setter
    def paused(self, paused: bool) -> None:
        """Pause or continue; what was open then is closed, and sent again."""
        if paused and not self._paused:
            # What is reported again now is left out in part.
            self._reported = None
        if self._paused and not paused and not self.over:
            self.trace.cut()
            self._reported = None
            self._say(p.Hello(p.VERSION, CREDIT))
        self._paused = paused

    @property
    def over(self) -> bool:
        """Whether nothing more will come."""
        return self.state in ("ended", "refused")

    def drain(self, seconds: float = 0.01, wait: float = 0.0) -> int:
        """Take messages for at most about ``seconds``.

        A batch that is too large for that is checked, then taken, over several calls.

        Parameters
        ----------
        seconds : float
        wait : float
            Seconds to wait for a first message.

        Returns
        -------
        int
            Rows that came, with those sent again.
        """
        before = self.rows
        self.behind = False
        if self.over:
            return 0
        now = time.monotonic()
        self._heard += max(now - self._drained_at - _BETWEEN * SILENT_S, 0.0)
        self._drained_at = now
        if wait and self._large is None and not self._socket.poll(int(1000 * wait)):
            self._look_after()
            return 0
        until = time.perf_counter() + seconds
        while self._take_next() and not self.over:
            if time.perf_counter() >= until:
                self.behind = True
                break
        self._take_small()
        is_due = self._taken >= CREDIT // 8 or time.monotonic() - self._spoke > _SIGN_S
        # An unsent message is sent the next time, because lost credit would never come back.
        if is_due and self._say(p.Credit(self._taken)):
            self._taken = 0
        self._look_after()
        came = self.rows - before
        self._rates.append((time.monotonic(), came))
        while self._rates and self._rates[0][0] < time.monotonic() - _RATE_S:
            self._rates.popleft()
        return came

    def _take_next(self) -> bool:
        """Take a message, or a bite of one that is being taken; return whether there was any."""
        frames: list[Any] = []
        try:
            if self._large is not None:
                self._take_large(self._large)
                return True
            try:
                frames = self._socket.recv_multipart(self._z.NOBLOCK, copy=False)
            except self._z.ZMQError:
                return False
            self._heard = time.monotonic()
            self.messages += 1
            if len(frames) > 1:
                # It has used a credit, whatever it contains.
                self._taken += 1
            message = p.decode_unchecked([frame.buffer for frame in frames])
            if isinstance(message, p.Batch):
                if len(message) > _BITE:
                    self._take_small()
                    self._large = _Large(message)
                    return True
                p.check(message)
            self._take(message)
        except InputError as error:
            self._large = None
            self.bad += 1
            self.why = str(error)
        return True

    def _take_large(self, large: _Large) -> None:
        """Check or take some of a large batch: first all of it is checked."""
        self._heard = time.monotonic()
        n = len(large.batch)
        if large.checked < n:
            p.check(large.batch, large.checked, large.checked + _CHECKED)
            large.checked += _CHECKED
            return
        if large.taken == 0 and not self._open_batch(large.batch):
            self._large = None
            return
        part = slice(large.taken, large.taken + _BITE)
        self._take_rows(p.Batch(
            large.batch.table, large.batch.sequence, large.batch.dropped, large.batch.now,
            {name: column[part] for name, column in large.batch.columns.items()}, large.batch.again,
        ))  # fmt: skip
        large.taken += _BITE
        if large.taken >= n:
            self._large = None

    def _take_small(self) -> None:
        """Let the calls grow by the batches that have come, in one go."""
        if not self._small:
            return
        small, self._small, self._small_rows = self._small, [], 0
        batch = small[-1]
        if len(small) > 1:
            columns = {name: np.concatenate([b.columns[name] for b in small]) for name in batch.columns}
            batch = p.Batch("calls", batch.sequence, batch.dropped, batch.now, columns, batch.again)
        self.trace.add(batch)
        self._keeps_time = abs(self._said - self.trace.now) < _CLOCK_NS

    def _look_after(self) -> None:
        """Greet the publisher again if it has been silent: it may have died, or be another one by now."""
        if not self._session:
            self._look_at_handshake()
        if not self.over and self._drained_at - self._heard > SILENT_S:
            self.state = "silent" if self._session else "waiting"
            self._connect()

    def _take(self, message: p.FromPublisher) -> None:
        match message:
            case p.Batch():
                if self._open_batch(message):
                    self._take_rows(message)
                return
            case p.Alive():
                if self._session:
                    self._count(message)
                    self._hear_clock(message.now)
                    self.state = "connected"
                return
            case p.Answer():
                self.answers.append(message)
                return
        self._take_small()
        match message:
            case p.Welcome():
                is_new = message.session != self._session
                joins = is_new or not self.trace.losses.is_counting
                self._is_late |= joins and message.published > 0
                self.trace.losses.meet(is_new, message.published)
                if is_new:
                    self._session = message.session
                    self.trace.begin(message)
                self._start = message.start
                self.program, self.state = message.program, "connected"
                self.takes_suggestions = message.suggestions
            case p.Refused():
                self.state, self.why = "refused", message.why
            case p.Names() if self._session:
                self.trace.name(message)
            case p.Ended() if self._session:
                self._count(message)
                if self._reported is not None and not self._paused:
                    self.trace.end_snapshot()
                self.trace.is_over = True
                self.state = "ended"

    def _open_batch(self, batch: p.Batch) -> bool:
        """Read a batch's header; return whether its rows are needed."""
        if not self._session:
            return False  # of a session without a welcome
        self._count(batch)
        if batch.again:
            self.rows_again += len(batch)
        else:
            if self._is_late:
                self._is_late = False
                self.trace.joined_late = self.trace.time_of(batch)
            self.trace.losses.take(batch.sequence, len(batch))
            if self.trace.losses.is_open:
                self.trace.losses.close(self.trace.time_of(batch))
        # All of one report of what is open has one place in the feed: after another loss it begins again.
        reported = (batch.sequence, batch.published) if batch.again else None
        if reported is not None and reported != self._reported:
            self._cut()
            self.trace.begin_snapshot()
        elif self._reported is not None and reported is None:
            self._take_small()
            self.trace.end_snapshot()
        self._reported = reported
        self.state = "connected"
        self.rows += len(batch)
        self._hear_clock(batch.now)
        self.latency_ns = max(time.time_ns() - self._start - batch.now, 0)
        if self._paused:
            self.left_out += len(batch)
        return not self._paused

    def _take_rows(self, batch: p.Batch) -> None:
        """Take the rows of a batch, or hold them back until the end of the drain."""
        if batch.table == "calls":
            self._small.append(batch)
            self._small_rows += len(batch)
            if self._small_rows >= _BITE:
                self._take_small()
            return
        self._take_small()
        self.trace.add(batch)
        self._keeps_time = abs(self._said - self.trace.now) < _CLOCK_NS

    def _hear_clock(self, now: int) -> None:
        self._said, self._said_at = now + self.trace.shift, time.monotonic_ns()

    def _count(self, message: p.Batch | p.Alive | p.Ended) -> None:
        """Count what was lost; after a loss it is unknown what ended meanwhile."""
        losses, said = self.trace.losses, (message.sequence, message.dropped, message.published)
        if losses.lacks(*said):
            self._cut()
            losses.hear(*said, self.trace.now)
        else:
            losses.hear(*said, 0)

    def _cut(self) -> None:
        self._take_small()
        self.trace.cut()

    def suggest(self, what: str, address: int = -1, size: int = -1, site: str = "") -> int:
        """Suggest something to the program.

        Parameters
        ----------
        what : {"look", "free"}
        address, size : int, optional
            Of a block, the size in bytes.
        site : str, optional
            A call site: the block's, or, without a block, what the suggestion is about.

        Returns
        -------
        int
            The number that the answer in :attr:`answers` will have.

        Raises
        ------
        UsageError
            If the program takes no suggestions.
        """
        if not self.takes_suggestions:
            raise UsageError(f"{self.program or self.endpoint} takes no suggestions: it was not published so")
        self._suggested += 1
        self._say(p.Suggest(self._suggested, what, address, size, site[: p.MOST_SITE]))
        return self._suggested

    def clock(self) -> int:
        """Return the trace's time now: that of the newest event, or the publisher's clock.

        The clock continues when nothing happens. It is not used where a recording is played faster or slower
        than it ran.

        Returns
        -------
        int
            Nanoseconds from the first session's start.
        """
        newest = self.trace.now
        if not self._keeps_time or self.state != "connected":
            return newest
        return max(self._said + time.monotonic_ns() - self._said_at, newest)

    def newest_since_1970(self) -> int:
        """Return when the newest event happened, by the publisher's clock.

        For a recording that is played again: when it was sent.

        Returns
        -------
        int
            Nanoseconds since 1970.
        """
        return self._start - self.trace.shift + (self.trace.now if self._keeps_time else self._said)

    @property
    def rate(self) -> float:
        """Rows a second, over the last two seconds."""
        if not self._rates:
            return 0.0
        spent = max(time.monotonic() - self._rates[0][0], 0.1)
        return sum(rows for _, rows in self._rates) / spent

    @property
    def name(self) -> str:
        """The program's name without its folder; empty as long as it is unknown."""
        return Path(self.program).name

    @property
    def source(self) -> str:
        """The name for a trace of it: the program, or the endpoint where the name is unknown."""
        return self.name or self.endpoint

    def finish(self) -> Any:
        """Close, and return everything that came as an ordinary trace."""
        self.close()
        if self.state == "silent":
            self.trace.broken_off += 1
            self.trace.is_over = True
        while self._large is not None:
            # It had arrived, and is reported as such.
            self._take_next()
        self._take_small()
        return self.trace.trace(self.source, self.lost, bad=self.bad)

    def close(self) -> None:
        """Leave the feed and close the socket."""
        if self._socket is not None and not self._socket.closed:
            self._say(p.Bye())
            self._close_socket(linger=100)
            self._context.term()

    def __enter__(self) -> Subscriber:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
