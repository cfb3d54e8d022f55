"""The publisher: sends a program's events to any number of viewers, and never blocks the program.

It binds a ROUTER. A viewer says how many batches it can take (its credit), and grants more later. While it
has no credit, a bounded number of rows waits for it. Beyond that, whole batches are dropped for this viewer
alone, and the next batch says how many rows were dropped. So a slow viewer affects neither the program nor
other viewers.
"""

from __future__ import annotations

import os
import secrets
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..errors import InputError, UsageError
from . import protocol as p
from .connections import Connections
from .endpoint import Keys, check, claim, keep_private, read_key, read_viewers, zmq
from .viewer import (
    MESSAGES_A_SECOND,
    MOST_ON_THE_WAY,
    MOST_SUGGESTIONS,
    PATIENCE_S,
    SUGGESTIONS_S,
    InTransit,
    Viewer,
    Waiting,
)

#: Maximum number of rows waiting for the publisher's thread; beyond it whole batches are dropped for all
#: viewers.
MOST_WAITING = 4_000_000
#: Maximum number of rows waiting for a viewer without credit; beyond it whole batches are dropped for it.
MOST_BEHIND = 1_000_000
#: Seconds between two ``alive`` messages.
ALIVE_S = 0.5
#: Milliseconds that the thread sleeps without data: the maximum delay of a batch.
_TICK_MS = 4
#: Maximum number of viewers, and seconds without a message after which one is forgotten.
MOST_VIEWERS = 64
_SILENT_S = 30.0
#: The same of all viewers together: where there are many, each has less.
MOST_BEHIND_IN_ALL = 4_000_000
#: What comes in so many seconds after the first row, up to so many rows, is kept for viewers that come by
#: then: who waited for the program sees its beginning.
OPENING_S, MOST_OPENING = 2.0, 500_000
#: Rows that report what is open and wait for viewers, in all.
_MOST_RETOLD = 16_000_000
#: Maximum number of bytes in transit to a viewer, which ZeroMQ keeps until they are written, and to all
#: viewers.
ROOM, ROOM_IN_ALL = 8 << 20, 128 << 20
#: Rows of a batch: what is larger is sent in parts, so that little is on the way beyond the room.
_LARGEST = 1 << 16
#: Seconds without a message, and without credit, after which a viewer is idle: it gives way to a new one.
IDLE_S, _NO_CREDIT_S = 5.0, 1.0
#: Seconds between two times that the program is asked for what is open, and that names are sent again.
RETELL_S, _ASK_S = 0.5, 1.0
#: Seconds to wait for a viewer that has not taken anything yet, and the share of the time
#: waited for such viewers in all.
_FIRST_PATIENCE_S, _NEWCOMERS_SHARE = 0.5, 0.1
#: Messages, and frames, processed before other work.
_MOST_MESSAGES, _MOST_FRAMES = 1000, 4096
#: Number of invalid messages after which their sender is closed, and number of senders remembered.
_MOST_REFUSED, _MOST_REFUSALS = 32, 1024
#: Names, and their characters, in one message: escaped they are six times as long at most, and two such.
_NAMES_AT_ONCE, _CHARACTERS_AT_ONCE = 2000, 1 << 18
#: In place of a batch's number: it is for viewers that are sent what is open; before what follows rows
#: were dropped.
_FOR_NEW, _DROPPED = -1, -2


class Publisher:
    """A feed of one program.

    The methods may be called from any thread; they append to a queue and return at once.

    Parameters
    ----------
    endpoint : str
        Where to bind, such as ``tcp://127.0.0.1:5570``; port ``*`` takes a free one.
    program : str, optional
        What viewers call it.
    start : int, optional
        Nanoseconds since 1970 of time 0; now if left out.
    keys : Keys, optional
        Needed where other machines can reach the endpoint.
    retells : bool
        Whether :meth:`retell` is called whenever :attr:`joined` has grown.
    keeps_opening : bool
        Keep what is published in the first :data:`OPENING_S` seconds for viewers that join by then: they get
        all of it, without a report of what is open.
    patient : bool
        Wait for viewers that are behind while they take data, and at most :data:`.viewer.PATIENCE_S` seconds
        without. For recorded files only: a running program must not wait.
    suggestions : callable, optional
        Called with each :class:`.protocol.Suggest` that a viewer makes, in the publisher's own thread. If
        left out, the program takes none, and viewers are informed.

    Attributes
    ----------
    endpoint : str
        The one bound, with its port.
    dropped : int
        Rows dropped before any viewer, because they came faster than the thread could hand them on.
    skipped : int
        Rows dropped for single viewers that were behind, summed over these.
    joined : int
        Number of viewers that have joined, or lost rows: each needs a :meth:`retell`.
    sent_away : int
        Viewers that were disconnected because they asked or sent too much, or were idle when others joined;
        ``why_sent_away`` is the sentence for the last one.

    Raises
    ------
    UsageError
        If the endpoint can't be used or bound.
    """

    def __init__(
        self,
        endpoint: str,
        program: str = "",
        *,
        start: int | None = None,
        keys: Keys | None = None,
        patient: bool = False,
        retells: bool = False,
        keeps_opening: bool = False,
        suggestions: Callable[[p.Suggest], None] | None = None,
    ) -> None:
        z = self._z = zmq()
        keys = keys or Keys()
        endpoint = check(endpoint, keys)
        claim(endpoint)
        self._patient, self._retells, self._suggestions = patient, retells, suggestions
        self._held = 0.0
        self._start = time.time_ns() if start is None else start
        self.welcome = p.Welcome(
            secrets.token_hex(8),
            program or os.path.basename(sys.argv[0] or "python"),
            os.getpid(),
            self._start,
            suggestions is not None,
        )
        self.dropped = self.skipped = 0
        # How many of those dropped were before the rows passed on next.
        self._dropped_before = 0
        self._overflows = False
        self.sent = self.joined = 0
        self._sequence = 0
        # Rows that were passed on: with those dropped before them all that viewers may have missed.
        self._handed = 0
        self._names: dict[str, list[Any]] = {table: [] for table in p.NAMES}
        self._numbers: dict[str, dict[Any, int]] = {table: {} for table in p.NAMES}
        self._waiting: deque[p.Batch] = deque()
        self._rows = 0
        self._viewers: dict[bytes, Viewer] = {}
        # All batches from the first one on, as long as nothing of them is missing.
        self._opening: list[tuple[int, int, p.Batch]] | None = [] if keeps_opening else None
        self._opened_at, self._opening_rows = 0.0, 0
        # Data in transit to former viewers.
        self._leaving: dict[bytes, InTransit] = {}
        self._refusals: dict[bytes, int] = {}
        self.sent_away, self.why_sent_away = 0, ""
        self._joining, self._joined_at, self._newcomers = 0, 0.0, PATIENCE_S
        # The message that is being received.
        self._sender: bytes | None = None
        self._frames: list[Any] = []
        self._size = 0
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._grace = 2.0
        # A separate context: a program that forks or ends must not wait for it.
        self._context = z.Context()
        self._authenticator: Any = None
        self._socket = self._bind(z, endpoint, keys)
        self.endpoint = self._socket.getsockopt_string(z.LAST_ENDPOINT)
        keep_private(self.endpoint)
        self._connections.bound(self.endpoint)
        self._thread = threading.Thread(target=self._run, name="TraceVis3D live feed", daemon=True)
        self._thread.start()

    def _bind(self, z: Any, endpoint: str, keys: Keys) -> Any:
        socket = self._context.socket(z.ROUTER)
        socket.setsockopt(z.LINGER, 0)
        socket.setsockopt(z.SNDHWM, 2 * MOST_ON_THE_WAY)
        socket.setsockopt(z.RCVHWM, 100)
        socket.setsockopt(z.MAXMSGSIZE, p.MOST_HEADER)
        socket.setsockopt(z.ROUTER_MANDATORY, 1)
        if keys.given:
            keys.check_both("the folder of the viewers' public keys")
            public, secret = read_key(keys.own, secret=True)
            from zmq.auth.thread import ThreadAuthenticator

            allowed = read_viewers(keys.others)
            self._authenticator = ThreadAuthenticator(self._context)
            self._authenticator.start()
            self._authenticator.configure_curve_callback(domain="*", credentials_provider=_Allowed(allowed))
            socket.curve_publickey, socket.curve_secretkey = public, secret
            socket.curve_server = True
        self._connections = Connections(z, socket)
        try:
            socket.bind(endpoint)
        except z.ZMQError as error:
            self._connections.end()
            socket.close()
            self._stop_authenticator()
            self._context.term()
            raise UsageError(f"{endpoint}: can't be bound: {error.strerror}") from None
        return socket

    # -- what the program says ----------------------------------------------------------------------------

    def number(self, table: str, name: Any) -> int:
        """Return the number of a name; it is announced before rows with it are sent.

        Parameters
        ----------
        table : str
            One of :data:`.protocol.NAMES`.
        name : str or tuple
            (process, thread id, name) for a thread, (function, caller's frame, line) for a frame.

        Returns
        -------
        int
            From 0, in the order in which names came.
        """
        numbers = self._numbers[table]
        found = numbers.get(name)
        if found is None:
            with self._lock:
                found = numbers.setdefault(name, len(numbers))
                if found == len(self._names[table]):
                    self._names[table].append(name)
        return found

    def put(self, table: str, **columns: Any) -> bool:
        """Queue rows for all viewers; the arrays must not change later.

        Parameters
        ----------
        table : str
            A key of :data:`.protocol.TABLES`.
        **columns : array_like (n,)
            The columns of the table, by name; converted to its dtypes.

        Returns
        -------
        bool
            False if they were dropped: more than :data:`MOST_WAITING` rows wait, or the feed is closed.
            A patient publisher does not count them as dropped: the caller tries again.
        """
        arrays = {name: np.ascontiguousarray(columns[name], dtype) for name, dtype, _, _ in p.TABLES[table]}
        n = len(next(iter(arrays.values())))
        if not n:
            return True
        if self._rows + n > MOST_WAITING or self._closing.is_set():
            if not self._patient:
                with self._lock:
                    self.dropped += n
                    self._overflows = True
            return False
        for low in range(0, n, _LARGEST):
            part = {name: column[low : low + _LARGEST] for name, column in arrays.items()}
            with self._lock:
                if self._overflows:
                    self._overflows = False
                    self._waiting.append(p.Batch("", _DROPPED, self.dropped, 0, {}))
                self._rows += min(n - low, _LARGEST)
                self._waiting.append(p.Batch(table, 0, self.dropped, 0, part))
        return True

    def retell(self, tables: Iterable[tuple[str, Mapping[str, Any]]]) -> None:
        """Queue the open calls and live blocks for viewers that joined since the last time.

        They must be consistent with what was put before and what is put later: all goes through one queue.

        Parameters
        ----------
        tables : iterable of (table, columns)
            As for :meth:`put`, with times before those that follow.
        """
        for table, columns in tables:
            arrays = {n: np.ascontiguousarray(columns[n], dtype) for n, dtype, _, _ in p.TABLES[table]}
            n = len(next(iter(arrays.values())))
            for low in range(0, n, _LARGEST):
                part = {name: column[low : low + _LARGEST] for name, column in arrays.items()}
                self._waiting.append(p.Batch(table, _FOR_NEW, 0, 0, part))
        self._waiting.append(p.Batch("", _FOR_NEW, 0, 0, {}))

    def lose(self, rows: int) -> None:
        """Count rows that were dropped before they came here; viewers are informed."""
        with self._lock:
            self.dropped += rows

    def now(self) -> int:
        """Return the session's time in nanoseconds."""
        return time.time_ns() - self._start

    @property
    def viewers(self) -> int:
        """The number of viewers."""
        return len(self._viewers)

    def wait_for_viewer(self, seconds: float) -> bool:
        """Wait at most so many seconds for a viewer; return whether there is one."""
        until = time.monotonic() + seconds
        while not self.viewers and time.monotonic() < until:
            time.sleep(0.005)
        return bool(self.viewers)

    def close(self, seconds: float = 2.0) -> None:
        """Send what is waiting, and that the feed has ended; return within about ``seconds`` + 1."""
        self._grace = seconds
        self._closing.set()
        self._thread.join(seconds + 1.0)

    def __enter__(self) -> Publisher:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # -- the thread ---------------------------------------------------------------------------------------

    def _run(self) -> None:
        z = self._z
        poller = z.Poller()
        poller.register(self._socket, z.POLLIN)
        alive = 0.0
        try:
            while not self._closing.is_set():
                # A viewer's credit wakes this thread, and so does the next tick.
                poller.poll(0 if self._waiting and not self._held else _TICK_MS)
                self._listen()
                self._send_waiting(self._patient)
                self._let_join()
                if time.monotonic() - alive > ALIVE_S:
                    alive = time.monotonic()
                    self._forget_silent()
                    for identity, viewer in list(self._viewers.items()):
                        self._send(identity, p.encode(self._alive(viewer)))
            until = time.monotonic() + self._grace
            # Give viewers that are behind a moment to take the rest.
            while (self._waiting or self._is_waited_for(closing=True)) and time.monotonic() < until:
                poller.poll(1)
                self._listen()
                self._send_waiting(patient=True)
            self._send_waiting()
            for identity, viewer in list(self._viewers.items()):
                self._skip_behind(viewer)
                dropped = self._dropped_for(viewer, self.dropped)
                ended = p.Ended(self._sequence, dropped, self._handed + self.dropped)
                self._send(identity, p.encode(ended))
            self._socket.setsockopt(z.LINGER, max(int(1000 * (until - time.monotonic())), 50))
        finally:
            self._connections.end()
            self._socket.close()
            self._stop_authenticator()
            self._context.term()

    def _alive(self, viewer: Viewer) -> p.Alive | p.Welcome:
        """Return the sign of life for a viewer; for a new one the batches so far are no losses."""
        if viewer.is_new:
            return self.welcome
        if viewer.behind:
            first = viewer.behind[0]
            return p.Alive(first.sequence, first.dropped, self.now(), first.published)
        so_far = self._dropped_so_far()
        dropped = self._dropped_for(viewer, so_far)
        return p.Alive(self._sequence, dropped, self.now(), self._handed + so_far)

    def _stop_authenticator(self) -> None:
        if self._authenticator is not None:
            self._authenticator.stop()

    # -- what viewers say ---------------------------------------------------------------------------------

    def _listen(self) -> None:
        self._connections.look()
        for _ in range(_MOST_MESSAGES):
            received = self._receive()
            if received is None:
                return
            self._take(*received)

    def _receive(self) -> tuple[bytes, list[Any], int] | None:
        """Return who says something, its frames, and its connection's descriptor; None: there is no more.

        Frames beyond those of any message are let go as they come.
        """
        for _ in range(_MOST_FRAMES):
            try:
                frame = self._socket.recv(self._z.NOBLOCK, copy=False)
            except self._z.ZMQError:
                return None
            if self._sender is None:
                self._sender = frame.bytes
            else:
                self._size += len(frame.buffer)
                if len(self._frames) <= p.MOST_FRAMES and self._size <= p.MOST_HEADER:
                    self._frames.append(frame.buffer)
                else:
                    self._size = p.MOST_HEADER + 1
            if not frame.more:
                found = self._sender, self._frames, self._connection_of(frame)
                if found[2] < 0:
                    # It could not be cut off: it is not heard, and closed as one without a viewer.
                    found = found[0], [], -1
                elif self._size > p.MOST_HEADER:
                    self._refuse(found[0], found[2], "a message has too many frames, or is too long")
                    found = found[0], [], found[2]
                self._sender, self._frames, self._size = None, [], 0
                return found
        return None

    def _connection_of(self, frame: Any) -> int:
        """Return the descriptor that a frame came by; -1 if it is not known, as with ZMTP 1 and 2."""
        try:
            return int(frame.get("__fd"))
        except self._z.ZMQError:
            return -1

    def _take(self, identity: bytes, frames: list[Any], number: int) -> None:
        viewer = self._viewers.get(identity)
        if viewer is not None and not viewer.hear():
            self._drop(identity, f"it sends more than {MESSAGES_A_SECOND:,} messages a second")
            self._connections.close(number)
            return
        if not frames:
            return
        try:
            message = p.decode_from_viewer(frames)
        except InputError as error:
            self._refuse(identity, number, str(error)[:900])
            return
        if isinstance(message, p.Hello):
            self._greet(identity, message, number)
        elif viewer is not None:
            viewer.has_spoken = True
            if isinstance(message, p.Credit):
                viewer.credit = min(viewer.credit + message.count, 1_000_000)
            elif isinstance(message, p.Ask):
                viewer.asks = True
                self._announce(identity, viewer)
            elif isinstance(message, p.Suggest):
                self._send(identity, p.encode(self._consider(viewer, message)))
            else:
                self._forget(identity)

    def _refuse(self, identity: bytes, number: int, why: str) -> None:
        """Answer invalid messages; a viewer that continues to send them is disconnected."""
        count = self._refusals.pop(identity, 0) + 1
        self._refusals[identity] = count
        if len(self._refusals) > _MOST_REFUSALS:
            del self._refusals[next(iter(self._refusals))]
        if count > _MOST_REFUSED:
            if identity in self._viewers:
                self._drop(identity, why)
            self._connections.close(number)
        else:
            self._send(identity, p.encode(p.Refused(why)))

    def _consider(self, viewer: Viewer, message: p.Suggest) -> p.Answer:
        """Hand a suggestion on, if the program wants any; it alone decides what to do about it."""
        if self._suggestions is None:
            return p.Answer(message.number, False, "this program takes no suggestions")
        if not viewer.may_suggest():
            why = f"too many: at most {MOST_SUGGESTIONS} suggestions in {SUGGESTIONS_S:g} s"
            return p.Answer(message.number, False, why)
        try:
            self._suggestions(message)
        except Exception as error:  # the program's own code must not end the feed
            return p.Answer(message.number, False, f"the program could not take it ({type(error).__name__})")
        return p.Answer(message.number, True)

    # -- who comes and goes -------------------------------------------------------------------------------

    def _greet(self, identity: bytes, hello: p.Hello, number: int) -> None:
        before = self._viewers.get(identity)
        if hello.version != p.VERSION:
            why = f"version {p.VERSION} is spoken here, the viewer speaks {hello.version}"
            self._refuse(identity, number, why)
            return
        if before is None and len(self._viewers) >= MOST_VIEWERS:
            idle = self._idle()
            if idle is None:
                # One that has sent nothing yet may turn out to be idle; a new viewer then asks again.
                if all(viewer.has_spoken for viewer in self._viewers.values()):
                    why = f"{MOST_VIEWERS} viewers are already connected"
                    self._send(identity, p.encode(p.Refused(why)))
                return
            self._drop(
                idle, f"others wait to be one of the {MOST_VIEWERS} viewers, and this one takes nothing"
            )
        if before is not None:
            self._skip_behind(before)
        patience = min(_FIRST_PATIENCE_S, self._newcomers) if hello.credit and before is None else 0.0
        self._newcomers -= patience
        is_first = before is None and self._keeps_opening()
        base = 0 if is_first else self._dropped_so_far()
        viewer = Viewer(hello.credit, not self._retells or is_first, base, patience, number, before)
        if identity in self._leaving:
            viewer.on_the_way = self._leaving.pop(identity)
        self._viewers[identity] = viewer
        self._connections.belongs(number, identity)
        if is_first:
            self._send_opening(identity, viewer)
            return
        self._joining += 1
        self._let_join()
        joins_at = self._handed + self._dropped_so_far() if viewer.knows_what_is_open else -1
        self._send(identity, p.encode(replace(self.welcome, published=joins_at)))
        self._announce(identity, viewer)

    def _keeps_opening(self) -> bool:
        """Return whether everything from the first row on is there for a viewer that comes now."""
        if self._opening is None:
            return False
        if self._opening and time.monotonic() - self._opened_at > OPENING_S:
            self._opening = None
        return self._opening is not None

    def _send_opening(self, identity: bytes, viewer: Viewer) -> None:
        """Let a viewer join at the first row: all that came before waits for it."""
        self._send(identity, p.encode(replace(self.welcome, published=0)))
        self._announce(identity, viewer)
        for sequence, published, batch in self._opening or ():
            viewer.behind.append(Waiting(sequence, self.now(), 0, published, batch))
            viewer.behind_rows += len(batch)

    def _keep_opening(self, sequence: int, published: int, batch: p.Batch) -> None:
        """Keep a batch for viewers that come soon."""
        if not self._keeps_opening() or self._opening is None:
            return
        if not self._opening:
            self._opened_at = time.monotonic()
        self._opening.append((sequence, published, batch))
        self._opening_rows += len(batch)
        if self._opening_rows > MOST_OPENING or self._dropped_before:
            self._opening = None

    def _let_join(self) -> None:
        """Let the program know of viewers that need what is open: not more often than it can tell it."""
        now = time.monotonic()
        if self._joining and now - self._joined_at >= RETELL_S:
            self._joined_at = now
            self.joined += self._joining
            self._joining = 0

    def _idle(self) -> bytes | None:
        """Return the viewer that has been idle for longest; None if none is."""
        now = time.monotonic()
        found = [
            (min(viewer.heard, viewer.took), identity)
            for identity, viewer in self._viewers.items()
            if now - viewer.heard > IDLE_S or (viewer.credit <= 0 and now - viewer.took > _NO_CREDIT_S)
        ]
        return min(found)[1] if found else None

    def _forget(self, identity: bytes) -> Viewer | None:
        viewer = self._viewers.pop(identity, None)
        if viewer is not None:
            self._skip_behind(viewer)
            self._connections.leave(identity)
            if not viewer.on_the_way.is_empty:
                self._leaving[identity] = viewer.on_the_way
        return viewer

    def _drop(self, identity: bytes, why: str) -> None:
        """Send a viewer away, with one sentence."""
        self._send(identity, p.encode(p.Refused(why)))
        if self._forget(identity) is not None:
            self.sent_away += 1
            self.why_sent_away = why

    def _forget_silent(self) -> None:
        late = time.monotonic() - _SILENT_S
        for identity in [i for i, viewer in self._viewers.items() if viewer.heard < late]:
            # It may be stopped, and connect again when it continues.
            self._connections.close_of(identity)
            self._forget(identity)
        for identity, on_the_way in list(self._leaving.items()):
            on_the_way.settle()
            if on_the_way.is_empty:
                del self._leaving[identity]
        self._newcomers = min(self._newcomers + _NEWCOMERS_SHARE * ALIVE_S, PATIENCE_S)

    # -- what viewers are sent ----------------------------------------------------------------------------

    def _room(self) -> int:
        """Return the bytes that may be on the way to a viewer."""
        return min(ROOM, ROOM_IN_ALL // max(len(self._viewers) + len(self._leaving), 1))

    def _announce(self, identity: bytes, viewer: Viewer) -> bool:
        """Send a viewer the names that it lacks, as far as there is room; return whether it has them all."""
        if viewer.asks and time.monotonic() - viewer.asked_at >= _ASK_S:
            viewer.asks, viewer.asked_at = False, time.monotonic()
            viewer.named = dict.fromkeys(p.NAMES, 0)
        for table, names in self._names.items():
            while (first := viewer.named[table]) < len(names):
                if viewer.on_the_way.bytes >= self._room() or viewer.on_the_way.messages >= MOST_ON_THE_WAY:
                    return False
                part = _some(names, first)
                if not self._send(identity, p.encode(p.Names(table, first, part))):
                    return False
                viewer.named[table] = first + len(part)
        return True

    def _send_waiting(self, patient: bool = False) -> None:
        self._catch_up()
        while self._waiting:
            if any(viewer.credit <= 0 for viewer in self._viewers.values()):
                # The program continues meanwhile, and so may this: credit that has come by now counts.
                self._listen()
                self._catch_up()
            if patient and self._is_waited_for():
                return
            batch = self._waiting.popleft()
            if batch.sequence == _FOR_NEW:
                self._send_again(batch)
                continue
            self._dropped_before = max(self._dropped_before, batch.dropped)
            if batch.sequence == _DROPPED:
                for viewer in self._viewers.values():
                    self._let_it_know_again(viewer)
                continue
            with self._lock:
                self._rows -= len(batch)
            sequence, self._sequence = self._sequence, self._sequence + 1
            published = self._handed + self._dropped_before
            self._handed += len(batch)
            self._keep_opening(sequence, published, batch)
            now, most = self.now(), min(MOST_BEHIND, MOST_BEHIND_IN_ALL // max(len(self._viewers), 1))
            for identity, viewer in list(self._viewers.items()):
                if viewer.is_new:
                    continue
                waiting = Waiting(
                    sequence, now, self._dropped_for(viewer, self._dropped_before), published, batch
                )
                if not viewer.knows_what_is_open:
                    self._skip(viewer, len(batch))
                elif self._can_send(identity, viewer):
                    self._send_batch(identity, viewer, waiting)
                elif not viewer.is_losing and viewer.behind_rows + len(batch) <= most:
                    viewer.behind.append(waiting)
                    viewer.behind_rows += len(batch)
                else:
                    viewer.is_losing = True
                    self._skip(viewer, len(batch))

    def _is_waited_for(self, closing: bool = False) -> bool:
        """Whether there is a viewer for which the next batch is held back, and that has patience left.

        Patience is earned by taking something, and spent while others wait: nobody is waited for in vain.
        """
        now, room = time.monotonic(), self._room()
        spent = now - self._held if self._held else 0.0
        found = False
        for viewer in self._viewers.values():
            if viewer.behind or not (closing or viewer.has_room(room)):
                viewer.patience -= spent
                found |= viewer.patience > 0
        self._held = now if found else 0.0
        return found

    def _can_send(self, identity: bytes, viewer: Viewer) -> bool:
        """Whether the next batch can be sent to a viewer: nothing waits for it, and it has room."""
        if viewer.behind or not self._announce(identity, viewer):
            return False
        room = self._room()
        if viewer.on_the_way.bytes >= room:
            viewer.settle()
        return viewer.has_room(room)

    def _skip(self, viewer: Viewer, rows: int) -> None:
        viewer.dropped += rows
        self.skipped += rows

    def _skip_behind(self, viewer: Viewer) -> None:
        """Drop what waits for a viewer."""
        self._skip(viewer, sum(len(waiting.batch) for waiting in viewer.behind if not waiting.again))
        viewer.behind.clear()
        viewer.behind_rows = 0

    def _dropped_so_far(self) -> int:
        """Return the rows that were dropped for everybody before what is passed on next."""
        with self._lock:
            return self._dropped_before if self._waiting else self.dropped

    @staticmethod
    def _dropped_for(viewer: Viewer, dropped: int) -> int:
        """Return the rows that a viewer has not got, if ``dropped`` were dropped for everybody so far."""
        return viewer.dropped + max(dropped - viewer.base, 0)

    def _let_it_know_again(self, viewer: Viewer) -> None:
        """Mark a viewer that has lost rows as one that needs the open calls and live blocks again."""
        if self._retells and viewer.knows_what_is_open:
            viewer.knows_what_is_open = False
            self._joining += 1

    def _send_batch(self, identity: bytes, viewer: Viewer, waiting: Waiting) -> None:
        viewer.credit -= 1
        viewer.took = time.monotonic()
        sent = p.Batch(
            waiting.batch.table, waiting.sequence, waiting.dropped, waiting.now, waiting.batch.columns,
            waiting.again, waiting.published,
        )  # fmt: skip
        if self._send(identity, p.encode(sent)) and not waiting.again:
            self.sent += len(waiting.batch)

    def _catch_up(self) -> None:
        """Send viewers that have room again what waits for them."""
        for identity, viewer in list(self._viewers.items()):
            viewer.settle()
            if not self._announce(identity, viewer):
                continue
            room = self._room()
            while viewer.behind and viewer.has_room(room) and identity in self._viewers:
                waiting = viewer.behind.popleft()
                viewer.behind_rows -= len(waiting.batch)
                self._send_batch(identity, viewer, waiting)
            if viewer.is_losing and not viewer.behind and viewer.has_room(room):
                viewer.is_losing = False
                self._let_it_know_again(viewer)

    def _send_again(self, batch: p.Batch) -> None:
        """Send new viewers what was there before them, under the number of the next batch that all get."""
        published = self._handed + self._dropped_before
        for identity, viewer in list(self._viewers.items()):
            if viewer.knows_what_is_open:
                continue
            if viewer.is_new:
                # It joins here: rows published before are not lost for it.
                viewer.is_new = False
                self._send(identity, p.encode(replace(self.welcome, published=published)))
            if not batch.table:
                viewer.knows_what_is_open = True
                continue
            dropped = self._dropped_for(viewer, self._dropped_before)
            waiting = Waiting(self._sequence, self.now(), dropped, published, batch, True)
            if self._can_send(identity, viewer):
                self._send_batch(identity, viewer, waiting)
                continue
            viewer.behind.append(waiting)
            viewer.behind_rows += len(batch)
            if sum(other.behind_rows for other in self._viewers.values()) > _MOST_RETOLD:
                self._drop(identity, "too much data is waiting for viewers that take none")

    def _send(self, identity: bytes, frames: Sequence[Any]) -> bool:
        """Hand a message to ZeroMQ; return whether it has taken it."""
        z, viewer = self._z, self._viewers.get(identity)
        size, tracker = sum(memoryview(frame).nbytes for frame in frames), None
        if viewer is not None and viewer.on_the_way.wants_tracker(size):
            last = z.Frame(frames[-1], track=True, copy=False)
            frames, tracker = [*frames[:-1], last], last.tracker
        try:
            self._socket.send_multipart([identity, *frames], z.NOBLOCK, copy=False)
        except z.ZMQError as error:
            if error.errno != z.EAGAIN:
                # The viewer has gone.
                self._forget(identity)
            return False
        if viewer is not None:
            viewer.on_the_way.add(size, tracker)
        return True


def _some(names: Sequence[Any], first: int) -> tuple[Any, ...]:
    """Return the next names that go into one message."""
    part: list[Any] = []
    size = 0
    for name in names[first : first + _NAMES_AT_ONCE]:
        text = name[-1] if isinstance(name, tuple) else name
        size += len(text) if isinstance(text, str) else 1
        if part and size > _CHARACTERS_AT_ONCE:
            break
        part.append(name)
    return tuple(part)


class _Allowed:
    """Lets in the viewers whose public keys are listed."""

    def __init__(self, keys: set[bytes]) -> None:
        from zmq.utils.z85 import decode

        self._keys = {decode(key) for key in keys} | keys

    def callback(self, domain: str, key: bytes) -> bool:
        """Return whether a key is listed."""
        return key in self._keys
