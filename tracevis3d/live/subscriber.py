"""The subscriber: takes what a publisher sends, in small bites, and survives whatever it does."""

from __future__ import annotations

import contextlib
import time
from collections import deque
from typing import Any

from ..errors import InputError, UsageError
from . import protocol as p
from .endpoint import Keys, check, read_key, zmq
from .growing import MOST_CALLS, GrowingTrace

#: Batches that may be under way.
CREDIT = 256
#: Seconds of silence after which the publisher counts as gone and is greeted again.
SILENT_S = 3.0
#: Nanoseconds that events may lie behind the publisher's clock, or before it, if it is the trace's.
_CLOCK_NS = 1_000_000_000
#: Seconds over which rates are told.
_RATE_S = 2.0


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
    lost : int
        Rows lost on the way, as far as the publisher told; batches of which it told nothing are in
        ``lost_batches``.
    bad : int
        Messages that made no sense and were left out.
    takes_suggestions : bool
        Whether the program takes any.
    answers : deque of Answer
        The last ones to suggestions.
    paused : bool
        Messages are taken and counted, but their rows are left out.

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
        self.endpoint, self._keys = check(endpoint, keys), keys
        self.trace = GrowingTrace(most_calls)
        self.state, self.why, self.program = "waiting", "", ""
        self.lost = self.lost_batches = self.bad = self.left_out = 0
        self.rows = self.messages = 0
        self.latency_ns = 0
        self.paused = self.takes_suggestions = False
        self.answers: deque[p.Answer] = deque(maxlen=16)
        self._suggested = 0
        self._lost_before = 0
        self._rates: deque[tuple[float, int]] = deque()
        self._session = ""
        self._start = 0
        self._said = self._said_at = 0
        self._keeps_time = False
        self._expected = -1
        self._taken = 0
        self._context = self._z.Context()
        self._socket: Any = None
        self._connect()

    def _connect(self) -> None:
        z = self._z
        if self._socket is not None:
            self._socket.close()
        socket = self._context.socket(z.DEALER)
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
        self._heard = time.monotonic()
        self._say(p.Hello(p.VERSION, CREDIT))
        self._taken = 0

    def _say(self, message: p.FromViewer) -> None:
        with contextlib.suppress(self._z.ZMQError):
            self._socket.send_multipart(p.encode(message), self._z.NOBLOCK)

    @property
    def over(self) -> bool:
        """Whether nothing more will come."""
        return self.state in ("ended", "refused")

    def drain(self, seconds: float = 0.01, wait: float = 0.0) -> int:
        """Take messages for at most ``seconds``; return how many rows came.

        Parameters
        ----------
        seconds : float
        wait : float
            How long to wait for a first message.
        """
        z, before = self._z, self.rows
        if self.over:
            return 0
        if wait and not self._socket.poll(int(1000 * wait)):
            self._look_after()
            return 0
        until = time.perf_counter() + seconds
        while True:
            try:
                frames = self._socket.recv_multipart(z.NOBLOCK, copy=False)
            except z.ZMQError:
                break
            self._heard = time.monotonic()
            self.messages += 1
            try:
                self._take(p.decode([frame.buffer for frame in frames]))
            except InputError as error:
                self.bad += 1
                self.why = str(error)
            if self.over or time.perf_counter() > until:
                break
        if self._taken >= CREDIT // 8:
            self._say(p.Credit(self._taken))
            self._taken = 0
        self._look_after()
        came = self.rows - before
        self._rates.append((time.monotonic(), came))
        while self._rates and self._rates[0][0] < time.monotonic() - _RATE_S:
            self._rates.popleft()
        return came

    def _look_after(self) -> None:
        """Greet the publisher again if it has been silent: it may have died, or be another one by now."""
        if not self.over and time.monotonic() - self._heard > SILENT_S:
            self.state = "silent" if self._session else "waiting"
            self._connect()

    def _take(self, message: p.FromPublisher) -> None:
        match message:
            case p.Welcome():
                if message.session != self._session:
                    self._session, self._expected = message.session, -1
                    self._lost_before = self.lost
                    self.trace.begin(message)
                self._start = message.start
                self.program, self.state = message.program, "connected"
                self.takes_suggestions = message.suggestions
            case p.Refused():
                self.state, self.why = "refused", message.why
            case _ if not self._session:
                return  # of a session that has not greeted us
            case p.Answer():
                self.answers.append(message)
            case p.Names():
                self.trace.name(message)
            case p.Batch():
                self._taken += 1
                self._count(message.sequence, message.dropped)
                self._expected = message.sequence + 1
                self.state = "connected"
                self.rows += len(message)
                self._hear_clock(message.now)
                self.latency_ns = max(time.time_ns() - self._start - message.now, 0)
                if self.paused:
                    self.left_out += len(message)
                else:
                    self.trace.add(message)
                    self._keeps_time = abs(self._said - self.trace.now) < _CLOCK_NS
            case p.Alive():
                self._count(message.sequence, message.dropped)
                self._expected = max(self._expected, message.sequence)
                self._hear_clock(message.now)
                self.state = "connected"
            case p.Ended():
                self._count(message.sequence, message.dropped)
                self.state = "ended"

    def suggest(self, what: str, address: int = -1, size: int = -1, site: str = "") -> int:
        """Suggest something to the program; return the number that its answer in :attr:`answers` will have.

        Parameters
        ----------
        what : {"look", "free"}
        address, size : int, optional
            Of a block.
        site : str, optional
            A call site: of the block, or, without a block, what the suggestion is about.

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

    def _hear_clock(self, now: int) -> None:
        self._said, self._said_at = now + self.trace.shift, time.monotonic_ns()

    def _count(self, sequence: int, dropped: int) -> None:
        if self._expected >= 0 and sequence > self._expected:
            self.lost_batches += sequence - self._expected
        self.lost = max(self.lost, self._lost_before + dropped)

    def clock(self) -> int:
        """Return the trace's time now, in nanoseconds: that of the newest event, or the publisher's clock.

        The clock goes on when nothing happens. It is none of the trace's where a recording is played faster
        or slower than it ran.
        """
        newest = self.trace.now
        if not self._keeps_time or self.state != "connected":
            return newest
        return max(self._said + time.monotonic_ns() - self._said_at, newest)

    def newest_since_1970(self) -> int:
        """Return when the newest event happened, in nanoseconds since 1970 by the publisher's clock.

        Of a recording that is played again, when it was sent.
        """
        return self._start - self.trace.shift + (self.trace.now if self._keeps_time else self._said)

    @property
    def rate(self) -> float:
        """Rows a second, over the last two seconds."""
        if not self._rates:
            return 0.0
        spent = max(time.monotonic() - self._rates[0][0], 0.1)
        return sum(rows for _, rows in self._rates) / spent

    def finish(self) -> Any:
        """Close, and return all that came as an ordinary trace."""
        self.close()
        return self.trace.trace(self.endpoint, self.lost)

    def close(self) -> None:
        """Leave."""
        if self._socket is not None and not self._socket.closed:
            self._say(p.Bye())
            self._socket.close(linger=100)
            self._context.term()

    def __enter__(self) -> Subscriber:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
