"""The connections to a publisher: none may send without end, hold a place for nothing, or use up descriptors.

ZeroMQ neither closes a single connection nor bounds a message of many frames: it keeps the frames of one that
never ends. So each connection is watched by a second descriptor of it: what it has sent (Linux, TCP) and how
long it has been no viewer's; it is closed by shutting it down. Where sockets have no descriptors of this kind
(Windows) nothing is watched.
"""

from __future__ import annotations

import contextlib
import os
import socket as sockets
import struct
import sys
import time
from typing import Any

#: Maximum number of bytes of a connection at once, and per second.
BURST, BYTES_A_SECOND = 1 << 20, 1 << 20
#: Seconds after which a connection without a viewer is closed, and between two checks.
IDLE_S, _LOOK_S = 30.0, 0.01
#: Maximum number of connections; fewer if the process may have few descriptors.
MOST_CONNECTIONS = 256
#: Where Linux' ``struct tcp_info`` has ``tcpi_bytes_received``, uint64.
_RECEIVED = 128
#: Spare descriptors, used to accept and close a connection if no other is left.
_SPARE = 2


class _Connection:
    __slots__ = ("allowed", "opened", "received", "socket", "viewer")

    def __init__(self, socket: sockets.socket, now: float) -> None:
        self.socket, self.opened = socket, now
        self.received, self.allowed = 0, float(BURST)
        # The viewer that uses it.
        self.viewer = b""


class Connections:
    """Watches the connections that a bound socket has accepted.

    Parameters
    ----------
    z : module
        ``zmq``.
    socket : zmq.Socket
        Not bound yet.

    Attributes
    ----------
    closed : int
        Number of connections that were closed from here.
    why : str
        Why the last connection was closed that sent too much, as a sentence.
    """

    def __init__(self, z: Any, socket: Any) -> None:
        self.closed, self.why = 0, ""
        self._z, self._socket = z, socket
        self._by_number: dict[int, _Connection] = {}
        self._name: Any = None
        self._looked = 0.0
        self._most = MOST_CONNECTIONS
        self._spare: list[int] = []
        self._monitor: Any = None
        if os.name == "posix":
            import resource

            soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
            if soft != resource.RLIM_INFINITY:
                # Each takes two descriptors.
                self._most = min(self._most, max((soft - 32) // 4, 4))
            events = z.EVENT_ACCEPTED | z.EVENT_ACCEPT_FAILED | z.EVENT_DISCONNECTED
            self._monitor = socket.get_monitor_socket(events)
            self._keep_spare()

    def __len__(self) -> int:
        return len(self._by_number)

    def bound(self, endpoint: str) -> None:
        """Note the endpoint that was bound: only connections to it are watched."""
        self._name = int(endpoint.rpartition(":")[2]) if endpoint.startswith("tcp://") else endpoint[6:]

    def look(self) -> None:
        """Note new and lost connections; close those that send too much, or have had no viewer for long."""
        if self._monitor is None:
            return
        self._take_events()
        now = time.monotonic()
        if now - self._looked < _LOOK_S:
            return
        passed, self._looked = now - self._looked, now
        for number, connection in list(self._by_number.items()):
            connection.allowed = min(connection.allowed + passed * BYTES_A_SECOND, BURST)
            received = _received(connection.socket)
            connection.allowed -= received - connection.received
            connection.received = received
            if connection.allowed < 0:
                self.why = f"it sent more than {BYTES_A_SECOND:,} bytes a second"
                self.close(number)
            elif not connection.viewer and now - connection.opened > IDLE_S:
                self.close(number)
        self._keep_spare()

    def belongs(self, number: int, viewer: bytes) -> None:
        """Note which viewer uses a connection.

        Parameters
        ----------
        number : int
            The connection's descriptor.
        viewer : bytes
            The viewer's ZeroMQ identity; empty: nobody's.
        """
        if number not in self._by_number:
            self._take_events()
        if number in self._by_number:
            self._by_number[number].viewer = viewer

    def leave(self, viewer: bytes) -> None:
        """Note that a viewer has left: its connection is closed unless another viewer soon uses it."""
        for connection in self._by_number.values():
            if connection.viewer == viewer:
                connection.viewer, connection.opened = b"", time.monotonic()

    def close_of(self, viewer: bytes) -> None:
        """Close a viewer's connection, so that ZeroMQ discards what it keeps for it."""
        for number, connection in list(self._by_number.items()):
            if connection.viewer == viewer:
                self.close(number)

    def close(self, number: int) -> None:
        """Close a connection, given its descriptor."""
        connection = self._by_number.pop(number, None)
        if connection is not None:
            self.closed += 1
            with contextlib.suppress(OSError):
                # Unread data is discarded, so that an endless sender notices the closing.
                connection.socket.setsockopt(sockets.SOL_SOCKET, sockets.SO_LINGER, struct.pack("ii", 1, 0))
                connection.socket.shutdown(sockets.SHUT_RDWR)
            connection.socket.close()

    def end(self) -> None:
        """Stop watching."""
        if self._monitor is None:
            return
        self._socket.disable_monitor()
        self._monitor.close(linger=0)
        self._monitor = None
        for connection in self._by_number.values():
            connection.socket.close()
        self._by_number.clear()
        self._give_spare()

    # -- what ZeroMQ reports ------------------------------------------------------------------------------

    def _take_events(self) -> None:
        failed = False
        for _ in range(4096):
            try:
                event, number = struct.unpack("=hi", self._monitor.recv_multipart(self._z.NOBLOCK)[0][:6])
            except self._z.ZMQError:
                break
            if event == self._z.EVENT_ACCEPT_FAILED:
                failed = True
                continue
            before = self._by_number.pop(number, None)
            if before is not None:
                before.socket.close()
            if event == self._z.EVENT_ACCEPTED:
                self._accept(number)
        if failed:
            # No descriptor is left. ZeroMQ would retry a waiting connection without a pause.
            self._give_spare()
            self._close_one()

    def _accept(self, number: int) -> None:
        socket = None
        for make_room in (self._give_spare, self._close_one, lambda: None):
            try:
                socket = sockets.socket(fileno=os.dup(number))
                break
            except OSError:
                make_room()
        if socket is None:
            return
        try:
            name = socket.getsockname()
            ours = name[1] == self._name if isinstance(name, tuple) else os.fsdecode(name) == self._name
        except OSError:
            ours = False
        if not ours:
            # It is already closed, and its number is used by something else.
            socket.close()
            return
        self._by_number[number] = _Connection(socket, time.monotonic())
        if len(self._by_number) > self._most:
            self._close_one()

    def _close_one(self) -> None:
        """Close the oldest connection that is no viewer's, or else the youngest."""
        idle = [number for number, connection in self._by_number.items() if not connection.viewer]
        numbers = idle or list(self._by_number)[-1:]
        if numbers:
            self.close(numbers[0])

    def _keep_spare(self) -> None:
        with contextlib.suppress(OSError):
            while len(self._spare) < _SPARE:
                self._spare.append(os.open(os.devnull, os.O_RDONLY))

    def _give_spare(self) -> None:
        while self._spare:
            os.close(self._spare.pop())


def _received(socket: sockets.socket) -> int:
    """Return the bytes that a connection has sent here; 0 where the system does not say so."""
    if not sys.platform.startswith("linux") or socket.family == sockets.AF_UNIX:
        return 0
    try:
        info = socket.getsockopt(sockets.IPPROTO_TCP, sockets.TCP_INFO, _RECEIVED + 8)
    except OSError:
        return 0
    return int(struct.unpack_from("=Q", info, _RECEIVED)[0]) if len(info) >= _RECEIVED + 8 else 0
