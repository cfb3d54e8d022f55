"""What Python's audit events say about I/O that no wrapper sees: moments, not durations.

An audit hook can't be taken away again; outside a recording it returns at once.
"""

from __future__ import annotations

import sys
from typing import Any

from .. import state
from ..operations import IO, operation
from ..shims.files import label_of
from ..state import local

#: Events, and whether their first argument is a path.
_EVENTS = {
    **dict.fromkeys(
        (
            *("os.listdir", "os.scandir", "os.remove", "os.rename", "os.mkdir", "os.rmdir", "os.truncate"),
            *("os.link", "os.symlink", "os.walk", "os.chmod", "os.utime", "shutil.copyfile", "shutil.move"),
            *("shutil.rmtree", "sqlite3.connect", "os.exec", "subprocess.Popen", "mmap.__new__"),
        ),
        True,
    ),
    "socket.bind": False,
    "socket.getaddrinfo": False,
    "socket.gethostbyname": False,
}
_numbers = {event: operation(event, IO) for event in _EVENTS}
_installed = False


def _hook(event: str, args: tuple[Any, ...]) -> None:
    if not _watching or event not in _EVENTS or not state.recording:
        return
    if _EVENTS[event]:
        label = label_of(args[0]) if args else "file:?"
    else:
        label = f"host:{args[0]}" if args and isinstance(args[0], str) else "socket:?"
    at = state.clock()
    local.add((_numbers[event], state.named_object(label), at, at, 0, 0))


_watching = False


def watch(on: bool) -> None:
    """Turn the watching of audit events on or off."""
    global _installed, _watching
    _watching = on
    if on and not _installed:
        _installed = True
        sys.addaudithook(_hook)
