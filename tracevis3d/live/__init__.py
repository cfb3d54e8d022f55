"""The live feed: what a running program does, sent over ZeroMQ (docs/live-protocol.md).

``start`` publishes the running program itself, ``stop`` ends that; nothing is imported before.
"""

from __future__ import annotations

import atexit
import os
from collections.abc import Callable
from typing import Any

from ..errors import InputError, UsageError
from ..record.options import Options
from ..record.session import Session

_session: Any = None


def start(
    endpoint: str = "tcp://127.0.0.1:*",
    *,
    threads: bool = True,
    io: bool = True,
    memory: bool = False,
    path: str = "",
    engine: str = "auto",
    key: str = "",
    peers: str = "",
    suggestions: Callable[[dict[str, Any]], None] | None = None,
) -> str:
    """Publish what the running program does from here on.

    Locks, queues and the like are published if they are made after this.

    Parameters
    ----------
    endpoint : str
        Where to bind; port ``*`` takes a free one.
    threads, io, memory : bool
        What is published beside calls: waits and releases, transfers, blocks of memory.
    path : str
        A file that records the same, as :func:`tracevis3d.record` does.
    engine : str
        "fast", "monitoring", "profile", "trace" or "auto".
    key, peers : str
        Our secret key file and the folder of the viewers' public keys; needed where other machines can
        reach the endpoint.
    suggestions : callable, optional
        Called with a dict for each suggestion of a viewer: ``what`` ("look" or "free"), ``address`` and
        ``size`` of a block (-1: it is about a call site), ``site``, and all of it as a ``sentence``. It runs
        in a thread of its own, whose calls are not published. Nothing is done automatically. If left out,
        the program takes no suggestions.

    Returns
    -------
    str
        The endpoint that viewers connect to, with its port.

    Raises
    ------
    UsageError
        If the endpoint can't be used, or the program is published already.
    InputError
        If the file or a key can't be used.
    """
    global _session

    if _session is not None:
        raise UsageError(f"the program is already published at {_session.endpoint}")
    options = Options(
        os.fspath(path),
        threads,
        io,
        "tracemalloc" if memory else "",
        engine=engine,
        live=endpoint,
        key=os.fspath(key),
        peers=os.fspath(peers),
        suggestions=suggestions is not None,
    )
    try:
        session = Session(options)
    except ValueError as error:
        raise UsageError(str(error)) from error
    except OSError as error:
        raise InputError(f"{path or endpoint}: can't be recorded: {error.strerror or error}") from error
    if suggestions is not None:
        session.on_suggestion = suggestions
    session.start()
    _session = session

    atexit.register(stop)
    return str(session.endpoint)


def stop() -> str:
    """End the feed, and return one sentence about what was published; empty if nothing was."""
    global _session

    session, _session = _session, None
    atexit.unregister(stop)
    return str(session.stop()) if session is not None else ""
