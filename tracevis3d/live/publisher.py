"""The publisher: hands a program's events to any number of viewers, and never holds the program up.

It binds a ROUTER. A viewer says how many batches it can take (its credit) and grants more as it goes. While
it has none a bounded number of rows waits for it; beyond that they are dropped for it alone, in whole
batches, and the next one says how many rows were dropped. So a slow viewer costs neither the program nor
other
viewers anything.
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
from .endpoint import Keys, check, read_key, read_viewers, zmq

#: Rows that wait for the publisher's thread; beyond them whole batches are dropped for everybody.
MOST_WAITING = 4_000_000
#: Rows that wait for a viewer without credit; beyond them whole batches are dropped for it.
MOST_BEHIND = 1_000_000
#: Seconds between two signs of life.
ALIVE_S = 0.5
#: Milliseconds that the thread sleeps if nothing comes: the most that a batch waits there.
_TICK_MS = 4
#: Viewers at a time, and seconds without a word after which one is forgotten.
MOST_VIEWERS = 64
_SILENT_S = 30.0
#: Seconds that a patient publisher waits for a viewer.
PATIENCE_S = 5.0
#: Suggestions that a viewer may make in so many seconds.
MOST_SUGGESTIONS, _SUGGESTIONS_S = 10, 10.0
#: In place of a batch's number: it is for viewers that are sent what is open; before what follows rows
#: were dropped.
_FOR_NEW, _DROPPED = -1, -2


class _Viewer:
    __slots__ = (
        "base", "behind", "behind_rows", "credit", "dropped", "heard", "is_losing", "is_new", "is_told",
        "named", "suggested",
    )  # fmt: skip

    def __init__(self, credit: int, is_told: bool, base: int) -> None:
        self.credit, self.dropped, self.heard = credit, 0, time.monotonic()
        # What was dropped for everybody before it came.
        self.base = base
        # If not, it waits for what is open and lives already, and gets no rows before: it has just come, or
        # lost some.
        self.is_told, self.is_new = is_told, not is_told
        # Everything is dropped for it until it has taken what waits: few long gaps are better than many.
        self.is_losing = False
        # Batches that wait for its credit, with their numbers and times, and what was dropped and published
        # before them.
        self.behind: deque[tuple[int, int, int, int, p.Batch]] = deque()
        self.behind_rows = 0
        # When it made its last suggestions.
        self.suggested: deque[float] = deque(maxlen=MOST_SUGGESTIONS)
        self.named = dict.fromkeys(p.NAMES, 0)


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
    patient : bool
        Wait for viewers that are behind, up to :data:`PATIENCE_S` for each batch: for files, which are in no
        hurry. Programs must not.
    suggestions : callable, optional
        Called with each :class:`.protocol.Suggest` that a viewer makes, in the publisher's own thread; left
        out: the program takes none, and viewers are informed.

    Attributes
    ----------
    endpoint : str
        The one bound, with its port.
    dropped : int
        Rows dropped before any viewer, because they came faster than the thread could hand them on.
    skipped : int
        Rows dropped for single viewers that were behind, summed over these.
    joined : int
        How many viewers have come so far, or have to be sent again what is open, as they have lost rows.

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
        suggestions: Callable[[p.Suggest], None] | None = None,
    ) -> None:
        z = zmq()
        keys = keys or Keys()
        check(endpoint, keys)
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
        # Of those dropped, how many lie before what is handed on next.
        self._dropped_before = 0
        self._overflows = False
        self.sent = self.joined = 0
        self._sequence = 0
        # Rows that were handed on: with those dropped before them all that viewers may have missed.
        self._handed = 0
        self._names: dict[str, list[Any]] = {table: [] for table in p.NAMES}
        self._numbers: dict[str, dict[Any, int]] = {table: {} for table in p.NAMES}
        self._waiting: deque[p.Batch] = deque()
        self._rows = 0
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._grace = 2.0
        # A context of our own: a program that forks or ends must not wait for it.
        self._context = z.Context()
        self._authenticator: Any = None
        self._socket = self._bind(z, endpoint, keys)
        self.endpoint = self._socket.getsockopt_string(z.LAST_ENDPOINT)
        self._thread = threading.Thread(target=self._run, name="TraceVis3D live feed", daemon=True)
        self._thread.start()

    def _bind(self, z: Any, endpoint: str, keys: Keys) -> Any:
        socket = self._context.socket(z.ROUTER)
        socket.setsockopt(z.LINGER, 0)
        socket.setsockopt(z.SNDHWM, 0)  # credit bounds what waits
        socket.setsockopt(z.RCVHWM, 1000)
        socket.setsockopt(z.MAXMSGSIZE, p.MOST_HEADER)
        socket.setsockopt(z.ROUTER_MANDATORY, 1)
        if keys.given:
            if not (keys.own and keys.others):
                raise UsageError("both --key and --peers are needed for a feed with keys")
            public, secret = read_key(keys.own, secret=True)
            from zmq.auth.thread import ThreadAuthenticator

            allowed = read_viewers(keys.others)
            self._authenticator = ThreadAuthenticator(self._context)
            self._authenticator.start()
            self._authenticator.configure_curve_callback(domain="*", credentials_provider=_Allowed(allowed))
            socket.curve_publickey, socket.curve_secretkey = public, secret
            socket.curve_server = True
        try:
            socket.bind(endpoint)
        except z.ZMQError as error:
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
        name : str, or (process, thread id, name) for a thread
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
        """Hand over rows, with the columns of :data:`.protocol.TABLES`; the arrays must not change later.

        Returns
        -------
        bool
            False if they were dropped: more than :data:`MOST_WAITING` rows are waiting. Those of a patient
            publisher don't count as dropped: it is asked again.
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
        for low in range(0, n, p.MOST_ROWS):
            part = {name: column[low : low + p.MOST_ROWS] for name, column in arrays.items()}
            with self._lock:
                if self._overflows:
                    self._overflows = False
                    self._waiting.append(p.Batch("", _DROPPED, self.dropped, 0, {}))
                self._rows += min(n - low, p.MOST_ROWS)
                self._waiting.append(p.Batch(table, 0, self.dropped, 0, part))
        return True

    def retell(self, tables: Iterable[tuple[str, Mapping[str, Any]]]) -> None:
        """Send viewers that joined since the last time the open calls and live blocks.

        What was put before and what is put later has to fit to it: both stand in one queue.

        Parameters
        ----------
        tables : iterable of (table, columns)
            As for :meth:`put`, in times before those that follow.
        """
        for table, columns in tables:
            arrays = {n: np.ascontiguousarray(columns[n], dtype) for n, dtype, _, _ in p.TABLES[table]}
            n = len(next(iter(arrays.values())))
            for low in range(0, n, p.MOST_ROWS):
                part = {name: column[low : low + p.MOST_ROWS] for name, column in arrays.items()}
                self._waiting.append(p.Batch(table, _FOR_NEW, 0, 0, part))
        self._waiting.append(p.Batch("", _FOR_NEW, 0, 0, {}))

    def lose(self, rows: int) -> None:
        """Report to viewers rows that were dropped before they came here."""
        with self._lock:
            self.dropped += rows

    def now(self) -> int:
        """Return the session's time in nanoseconds."""
        return time.time_ns() - self._start

    @property
    def viewers(self) -> int:
        """The number of viewers."""
        return len(getattr(self, "_viewers", ()))

    def wait_for_viewer(self, seconds: float) -> bool:
        """Wait until there is a viewer; return whether there is one."""
        until = time.monotonic() + seconds
        while not self.viewers and time.monotonic() < until:
            time.sleep(0.005)
        return bool(self.viewers)

    def close(self, seconds: float = 2.0) -> None:
        """Send what is waiting, say that it is over, and stop; takes at most about ``seconds``."""
        self._grace = seconds
        self._closing.set()
        self._thread.join(seconds + 1.0)

    def __enter__(self) -> Publisher:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # -- the thread ---------------------------------------------------------------------------------------

    def _run(self) -> None:
        z = zmq()
        self._viewers: dict[bytes, _Viewer] = {}
        poller = z.Poller()
        poller.register(self._socket, z.POLLIN)
        alive = 0.0
        try:
            while not self._closing.is_set():
                # A viewer's credit wakes us; so does the next tick.
                poller.poll(0 if self._waiting and not self._held else _TICK_MS)
                self._listen(z)
                self._send_waiting(z, self._patient)
                if time.monotonic() - alive > ALIVE_S:
                    alive = time.monotonic()
                    self._forget_silent()
                    for identity, viewer in list(self._viewers.items()):
                        sequence, so_far = self._sequence, self._dropped_so_far()
                        dropped, published = self._dropped_for(viewer, so_far), self._handed + so_far
                        if viewer.behind:
                            sequence, _, dropped, published, _ = viewer.behind[0]
                        alive_now = p.Alive(sequence, dropped, self.now(), published)
                        # For a new viewer the batches so far are no losses.
                        self._send(z, identity, p.encode(self.welcome if viewer.is_new else alive_now))
            until = time.monotonic() + self._grace
            # Give viewers with no credit a moment to take the rest.
            while self._is_behind() and time.monotonic() < until:
                poller.poll(1)
                self._listen(z)
                self._send_waiting(z, patient=True)
            self._send_waiting(z)
            for identity, viewer in list(self._viewers.items()):
                viewer.dropped += viewer.behind_rows
                self.skipped += viewer.behind_rows
                dropped = self._dropped_for(viewer, self.dropped)
                ended = p.Ended(self._sequence, dropped, self._handed + self.dropped)
                self._send(z, identity, p.encode(ended))
            self._socket.setsockopt(z.LINGER, max(int(1000 * (until - time.monotonic())), 50))
        finally:
            self._socket.close()
            self._stop_authenticator()
            self._context.term()

    def _is_behind(self) -> bool:
        """Whether there are viewers, and rows for them."""
        return any(self._waiting or viewer.behind for viewer in self._viewers.values())

    def _stop_authenticator(self) -> None:
        if self._authenticator is not None:
            self._authenticator.stop()

    def _listen(self, z: Any) -> None:
        for _ in range(1000):
            try:
                identity, *frames = self._socket.recv_multipart(z.NOBLOCK)
            except z.ZMQError:
                return
            viewer = self._viewers.get(identity)
            try:
                message = p.decode_from_viewer(frames)
            except InputError as error:
                self._send(z, identity, p.encode(p.Refused(str(error)[:900])))
                continue
            if isinstance(message, p.Hello):
                self._greet(z, identity, message)
            elif viewer is not None:
                viewer.heard = time.monotonic()
                if isinstance(message, p.Credit):
                    viewer.credit = min(viewer.credit + message.count, 1_000_000)
                elif isinstance(message, p.Ask):
                    viewer.named = dict.fromkeys(p.NAMES, 0)
                    self._announce(z, identity, viewer)
                elif isinstance(message, p.Suggest):
                    self._send(z, identity, p.encode(self._consider(viewer, message)))
                else:
                    del self._viewers[identity]

    def _consider(self, viewer: _Viewer, message: p.Suggest) -> p.Answer:
        """Hand a suggestion on, if the program wants any; it alone decides what to do about it."""
        if self._suggestions is None:
            return p.Answer(message.number, False, "this program takes no suggestions")
        now, made = time.monotonic(), viewer.suggested
        if len(made) == MOST_SUGGESTIONS and now - made[0] < _SUGGESTIONS_S:
            why = f"too many: at most {MOST_SUGGESTIONS} suggestions in {_SUGGESTIONS_S:g} s"
            return p.Answer(message.number, False, why)
        made.append(now)
        try:
            self._suggestions(message)
        except Exception as error:  # the program's own code must not end the feed
            return p.Answer(message.number, False, f"the program could not take it ({type(error).__name__})")
        return p.Answer(message.number, True)

    def _greet(self, z: Any, identity: bytes, hello: p.Hello) -> None:
        if hello.version != p.VERSION:
            why = f"version {p.VERSION} is spoken here, the viewer speaks {hello.version}"
        elif len(self._viewers) >= MOST_VIEWERS and identity not in self._viewers:
            why = f"{MOST_VIEWERS} viewers are connected already"
        else:
            self._viewers[identity] = viewer = _Viewer(
                hello.credit, not self._retells, self._dropped_so_far()
            )
            self.joined += 1
            joins_at = self._handed + self._dropped_so_far() if viewer.is_told else -1
            self._send(z, identity, p.encode(replace(self.welcome, published=joins_at)))
            self._announce(z, identity, viewer)
            return
        self._send(z, identity, p.encode(p.Refused(why)))

    def _announce(self, z: Any, identity: bytes, viewer: _Viewer) -> None:
        for table, names in self._names.items():
            while (first := viewer.named[table]) < len(names):
                part = tuple(names[first : first + 2000])
                self._send(z, identity, p.encode(p.Names(table, first, part)))
                viewer.named[table] = first + len(part)

    def _send_waiting(self, z: Any, patient: bool = False) -> None:
        self._catch_up(z)
        while self._waiting:
            if self._lacks_credit():
                # The program goes on meanwhile, and so may this: credit that has come by now counts.
                self._listen(z)
                self._catch_up(z)
            if patient and self._lacks_credit():
                self._held = self._held or time.monotonic()
                if time.monotonic() - self._held < PATIENCE_S:
                    return
            self._held = 0.0
            batch = self._waiting.popleft()
            if batch.sequence == _FOR_NEW:
                self._send_retold(z, batch)
                continue
            self._dropped_before = max(self._dropped_before, batch.dropped)
            if batch.sequence == _DROPPED:
                for viewer in self._viewers.values():
                    self._tell_again(viewer)
                continue
            with self._lock:
                self._rows -= len(batch)
            sequence, self._sequence = self._sequence, self._sequence + 1
            published = self._handed + self._dropped_before
            self._handed += len(batch)
            now = self.now()
            for identity, viewer in list(self._viewers.items()):
                if viewer.is_new:
                    continue
                dropped = self._dropped_for(viewer, self._dropped_before)
                if not viewer.is_told:
                    self._skip(viewer, batch)
                elif viewer.credit > 0 and not viewer.behind:
                    self._send_batch(z, identity, viewer, sequence, now, dropped, published, batch)
                elif not viewer.is_losing and viewer.behind_rows + len(batch) <= MOST_BEHIND:
                    viewer.behind.append((sequence, now, dropped, published, batch))
                    viewer.behind_rows += len(batch)
                else:
                    viewer.is_losing = True
                    self._skip(viewer, batch)

    def _lacks_credit(self) -> bool:
        return any(viewer.credit <= 0 for viewer in self._viewers.values())

    def _skip(self, viewer: _Viewer, batch: p.Batch) -> None:
        viewer.dropped += len(batch)
        self.skipped += len(batch)

    def _dropped_so_far(self) -> int:
        """Return the rows that were dropped for everybody before what is handed on next."""
        with self._lock:
            return self._dropped_before if self._waiting else self.dropped

    @staticmethod
    def _dropped_for(viewer: _Viewer, dropped: int) -> int:
        """Return the rows that a viewer has not got, if ``dropped`` were dropped for everybody so far."""
        return viewer.dropped + max(dropped - viewer.base, 0)

    def _tell_again(self, viewer: _Viewer) -> None:
        """Mark a viewer that has lost rows as one that needs the open calls and live blocks again."""
        if self._retells and viewer.is_told:
            viewer.is_told = False
            self.joined += 1

    def _send_batch(
        self, z: Any, identity: bytes, viewer: _Viewer, sequence: int, now: int, dropped: int,
        published: int, batch: p.Batch,
    ) -> None:  # fmt: skip
        self._announce(z, identity, viewer)
        viewer.credit -= 1
        sent = p.Batch(batch.table, sequence, dropped, now, batch.columns, published=published)
        if self._send(z, identity, p.encode(sent)):
            self.sent += len(batch)

    def _catch_up(self, z: Any) -> None:
        """Send viewers that have credit again what waits for them."""
        for identity, viewer in list(self._viewers.items()):
            while viewer.behind and viewer.credit > 0:
                sequence, now, dropped, published, batch = viewer.behind.popleft()
                viewer.behind_rows -= len(batch)
                self._send_batch(z, identity, viewer, sequence, now, dropped, published, batch)
            if viewer.is_losing and not viewer.behind and viewer.credit > 0:
                viewer.is_losing = False
                self._tell_again(viewer)

    def _send_retold(self, z: Any, batch: p.Batch) -> None:
        """Send new viewers what was there before them, under the number of the next batch that all get."""
        for identity, viewer in list(self._viewers.items()):
            if viewer.is_told:
                continue
            published = self._handed + self._dropped_before
            if viewer.is_new:
                # Here it joins: what was published before is none of its losses.
                viewer.is_new = False
                self._send(z, identity, p.encode(replace(self.welcome, published=published)))
            if batch.table:
                self._announce(z, identity, viewer)
                viewer.credit -= 1
                dropped = self._dropped_for(viewer, self._dropped_before)
                retold = p.Batch(
                    batch.table, self._sequence, dropped, self.now(), batch.columns, True, published
                )
                self._send(z, identity, p.encode(retold))
            else:
                viewer.is_told = True

    def _send(self, z: Any, identity: bytes, frames: Sequence[Any]) -> bool:
        try:
            self._socket.send_multipart([identity, *frames], z.NOBLOCK, copy=len(frames) == 1)
            return True
        except z.ZMQError:
            # The viewer has gone, or its connection is full.
            self._viewers.pop(identity, None)
            return False

    def _forget_silent(self) -> None:
        late = time.monotonic() - _SILENT_S
        for identity in [i for i, viewer in self._viewers.items() if viewer.heard < late]:
            del self._viewers[identity]


class _Allowed:
    """Lets in the viewers whose public keys are listed."""

    def __init__(self, keys: set[bytes]) -> None:
        from zmq.utils.z85 import decode

        self._keys = {decode(key) for key in keys} | keys

    def callback(self, domain: str, key: bytes) -> bool:
        """Return whether a key is listed."""
        return key in self._keys
