"""Calls by ``sys.monitoring``."""

from __future__ import annotations

import sys
import time
from types import CodeType
from typing import Any

from ..state import local
from .engine import PythonEngine

#: Tools to try: numbers that have no name, because programs use those that have one.
TOOLS = (4, 3)


class Monitoring(PythonEngine):
    """``sys.monitoring``, from Python 3.12 on: one callback for what begins and one for what ends."""

    name = "monitoring"

    def __init__(self, c_functions: bool) -> None:
        self._monitoring: Any = sys.monitoring  # type: ignore[attr-defined,unused-ignore]
        self._tool = 0

    def start(self) -> None:
        now = time.perf_counter_ns

        def begin(code: CodeType, _: int) -> None:
            local.call((code, now()))

        def throw(code: CodeType, _: int, __: object) -> None:
            local.call((code, now()))

        def end(_: CodeType, __: int, ___: object) -> None:
            local.call((None, now()))

        self._tool = listen(begin, throw, end)

    def stop(self) -> None:
        m = self._monitoring
        m.set_events(self._tool, 0)
        m.free_tool_id(self._tool)

    def abandon(self) -> None:
        self.stop()


def listen(begin: Any, throw: Any, end: Any) -> int:
    """Register callbacks of ``sys.monitoring``.

    Parameters
    ----------
    begin : callable
        Called where a call begins or continues.
    throw : callable
        Called where an exception is thrown into a generator or coroutine.
    end : callable
        Called where a call returns, yields, or ends by an exception.

    Returns
    -------
    int
        The tool id, to be freed by the caller.

    Raises
    ------
    RuntimeError
        If all tool ids are taken.
    """
    m: Any = sys.monitoring  # type: ignore[attr-defined,unused-ignore]
    for tool in TOOLS:
        try:
            m.use_tool_id(tool, "tracevis3d")
        except ValueError:
            continue
        break
    else:
        raise RuntimeError("the tool ids 3 and 4 of sys.monitoring are in use")
    e = m.events
    callbacks = {
        e.PY_START: begin,
        e.PY_RESUME: begin,
        e.PY_THROW: throw,
        e.PY_RETURN: end,
        e.PY_YIELD: end,
        e.PY_UNWIND: end,
    }
    for event, callback in callbacks.items():
        m.register_callback(tool, event, callback)
    m.set_events(tool, sum(callbacks))
    return tool
