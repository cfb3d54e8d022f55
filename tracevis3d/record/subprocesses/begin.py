"""Begins the recording of an interpreter that a recorded process has started."""

from __future__ import annotations

import atexit
import json

from ..options import Options
from ..session import Session
from .child import prepared


def begin(options: str, folder: str) -> None:
    """Record the running process, if the recording that started it still runs.

    Parameters
    ----------
    options : str
        The recording's :class:`.Options`, as JSON.
    folder : str
        The recording's.
    """
    child = prepared(folder)
    if child is None:
        return
    try:
        session = Session(Options(**json.loads(options)), keep=False, child=child)
    except (OSError, ValueError):
        child.discard()
        return
    atexit.register(session.stop)
    session.start()
