"""The call sites of blocks that a feed reports."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....live.growing import GrowingTrace
from ....live.stream.description import short
from ..call_sites import is_import, passes_on

Ints = NDArray[np.int64]

#: Call sites that have numbers of their own; the last one is that of all others.
MOST_SITES = 2048
#: Maximum number of callers examined for one that allocates itself.
_DEEPEST = 32


class Sites:
    """Call sites: the innermost function of a stack that does not merely pass an allocation on, and its line.

    Parameters
    ----------
    growing : GrowingTrace
        Its stacks and functions are read.

    Attributes
    ----------
    names : list of str
    imports : set of int
        The sites that load modules.
    """

    def __init__(self, growing: GrowingTrace) -> None:
        self._growing = growing
        self.names: list[str] = []
        self.imports: set[int] = set()
        self._numbers: dict[tuple[int, int], int] = {}
        self._functions: list[str] = []
        self._names: list[str] = []
        #: Session -> site of each of its stacks (-1: not asked yet).
        self._of: dict[int, NDArray[np.int32]] = {}

    def __len__(self) -> int:
        return len(self.names)

    def name(self, site: int) -> str:
        """Return what a call site is called; -1: that of items whose blocks have several."""
        return self.names[site] if 0 <= site < len(self.names) else "several call sites"

    def of(self, batch: Mapping[str, Any]) -> NDArray[np.int64]:
        """Return the call site of each row of a batch of memory.

        Parameters
        ----------
        batch : mapping of str to object
            As :meth:`GrowingTrace.batches` returns them.

        Returns
        -------
        int64 (n,)
            -1 where a row without a stack allocates nothing: nobody asks for its call site.
        """
        stack = batch["stack"].astype(np.int64)
        session = batch["session"]
        known = self._of.get(id(session), np.empty(0, np.int32))
        most = int(stack.max(initial=-1))
        if most >= len(known) or not len(known):
            larger = np.full(max(2 * len(known), most + 1, 64), -1, np.int32)
            larger[: len(known)] = known
            known = self._of[id(session)] = larger
        for number in np.unique(stack[(stack >= 0) & (known[stack] == -1)]).tolist():
            known[number] = self.of_frame(session, number)
        found = np.where(stack >= 0, known[stack], -1).astype(np.int64)
        around = np.flatnonzero((stack < 0) & (batch["kind"] == 0))
        if len(around):
            found[around] = self._around(batch["thread"][around], batch["time"][around])
        return found

    def of_frame(self, session: Any, stack: int) -> int:
        """Return the call site of a stack.

        Parameters
        ----------
        session : object
            Whose frames it is made of.
        stack : int
            Its innermost frame.

        Returns
        -------
        int
        """
        key, at = (-1, 0), stack
        for _ in range(_DEEPEST):
            frame = session.frames.get(at)
            if frame is None:
                break
            key = (frame[0], frame[2])
            if not passes_on(
                self._label(frame[0]), self._names[frame[0]] if frame[0] < len(self._names) else ""
            ):
                break
            at = frame[1]
        return self._number(key)

    def _around(self, thread: NDArray[Any], time: Ints) -> Ints:
        """Return the call site of allocations without a stack: the call around them."""
        found = np.empty(len(thread), np.int64)
        for t in np.unique(thread).tolist():
            mine = np.flatnonzero(thread == t)
            of = self._growing.calls_of_threads()[t].around(time[mine])
            for number in np.unique(of).tolist():
                found[mine[of == number]] = self._number((int(number), 0))
        return found

    def _label(self, function: int) -> str:
        while function >= len(self._functions):
            more = self._growing.functions(len(self._functions))
            if not more:
                return ""
            self._functions += [short(name) for name in more]
            self._names += more
        return self._functions[function]

    def _number(self, key: tuple[int, int]) -> int:
        found = self._numbers.get(key)
        if found is None:
            if len(self.names) >= MOST_SITES - 1:
                if len(self.names) < MOST_SITES:
                    self.names.append("(other call sites)")
                return MOST_SITES - 1
            function, line = key
            label = self._label(function) if function >= 0 else ""
            name = f"{label}:{line}" if label and line else label or "(call site unknown)"
            found = self._numbers[key] = len(self.names)
            self.names.append(name)
            if 0 <= function < len(self._names) and is_import(self._names[function]):
                self.imports.add(found)
        return found
