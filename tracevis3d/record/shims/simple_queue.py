"""``queue.SimpleQueue``, recorded."""

from __future__ import annotations

import sys
from typing import Any

from .. import state
from ..operations import RELEASE, WAIT, operation
from ..output.spool import CONTENDED, FAILED, LINE, TIMED_OUT
from ..state import local

_GET, _PUT = operation("SimpleQueue.get", WAIT), operation("SimpleQueue.put", RELEASE)

try:
    import _queue
except ImportError:  # a Python without the accelerator: its own class in Python is left as it is
    SimpleQueue: Any = None
else:
    _Raw: Any = _queue.SimpleQueue

    class _Recorded(_Raw):  # type: ignore[misc]
        """Records who puts and who waits for an item."""

        def __init__(self) -> None:
            self._number = state.new_object("SimpleQueue", sys._getframe(1))

        def put(self, item: Any, block: Any = True, timeout: Any = None) -> None:
            at = state.clock()
            _Raw.put(self, item, block, timeout)
            if state.recording:
                local.add((_PUT, self._number, at, at, 0, 0))

        def put_nowait(self, item: Any) -> None:
            self.put(item)

        def get(self, block: Any = True, timeout: Any = None) -> Any:
            start = state.clock()
            flags = (CONTENDED if self.empty() else 0) | sys._getframe(1).f_lineno << LINE
            pending = local.pending
            pending.append((_GET, self._number, start, 0))
            try:
                return _Raw.get(self, block, timeout)
            except _queue.Empty:
                flags |= TIMED_OUT
                raise
            except BaseException:
                flags |= FAILED
                raise
            finally:
                pending.pop()
                if state.recording:
                    local.add((_GET, self._number, start, state.clock(), flags, 0))

        def get_nowait(self) -> Any:
            return self.get(False)

    _Recorded.__qualname__ = _Recorded.__name__ = _Raw.__name__
    _Recorded.__module__ = _Raw.__module__
    SimpleQueue = _Recorded
