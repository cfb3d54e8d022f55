"""Sockets, encrypted ones and selectors: how long they take, and how many bytes they move."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

from .. import state
from ..operations import IO, operation
from ..output.spool import FAILED, TIMED_OUT
from ..patches import Patches
from ..state import local

_CALLS = (
    *("connect", "connect_ex", "_accept", "recv", "recv_into", "recvfrom", "recvfrom_into", "recvmsg"),
    *("send", "sendall", "sendto", "sendmsg"),
)
_SSL_CALLS = ("read", "write", "do_handshake")
_SELECTORS = ("SelectSelector", "PollSelector", "EpollSelector", "DevpollSelector", "KqueueSelector")


def _label(sock: Any) -> str:
    try:
        return f"socket:{sock.fileno()}:{sock.family.name}"
    except (AttributeError, OSError):
        return "socket:?"


def _selector(selector: Any) -> str:
    try:
        return f"selector:{selector.fileno()}"
    except (AttributeError, OSError, ValueError):
        return "selector"


def _in_vain(result: Any, args: Any, kwargs: Any) -> bool:
    """Return whether nothing came in the time that a program gave a selector; event loops keep time by it."""
    timeout = kwargs.get("timeout", args[0] if args else None)
    if result != [] or not isinstance(timeout, int | float) or timeout <= 0:
        return False
    return not str(sys._getframe(2).f_globals.get("__name__", "")).startswith("asyncio.")


def _timed(
    name: str, label: Callable[[Any], str], in_vain: Callable[[Any, Any, Any], bool] | None = None
) -> Callable[[Any], Any]:
    number = operation(name, IO)

    def make(original: Any) -> Any:
        def call(self: Any, *args: Any, **kwargs: Any) -> Any:
            if not state.recording:
                return original(self, *args, **kwargs)
            what, start, moved, flags = state.named_object(label(self)), state.clock(), 0, FAILED
            try:
                result = original(self, *args, **kwargs)
                flags = TIMED_OUT if in_vain is not None and in_vain(result, args, kwargs) else 0
                if type(result) is bytes:
                    moved = len(result)
                elif type(result) is int:
                    moved = result
                elif result is None and args and type(args[0]) is bytes:
                    moved = len(args[0])
                return result
            finally:
                local.add((number, what, start, state.clock(), flags, moved))

        return call

    return make


def patch_socket(patches: Patches, socket: ModuleType) -> None:
    """Record what all sockets do.

    Parameters
    ----------
    patches : Patches
    socket : module
    """
    for name in _CALLS:
        patches.wrap(socket.socket, name, _timed(f"socket.{name.lstrip('_')}", _label))


def patch_ssl(patches: Patches, ssl: ModuleType) -> None:
    """Record what encrypted sockets do.

    Parameters
    ----------
    patches : Patches
    ssl : module
    """
    for name in _SSL_CALLS:
        patches.wrap(ssl.SSLSocket, name, _timed(f"SSLSocket.{name}", _label))


def patch_selectors(patches: Patches, selectors: ModuleType) -> None:
    """Record how long event loops wait for I/O.

    Parameters
    ----------
    patches : Patches
    selectors : module
    """
    for cls in _SELECTORS:
        if cls in vars(selectors):
            patches.wrap(vars(selectors)[cls], "select", _timed("select", _selector, _in_vain))
