"""Lanes of threads with their levels: who gets one, and how high it is."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...trace.model import thread_name
from ..growing import GrowingTrace

#: Maximum number of levels of a lane.
LEVELS = 64
#: Levels by which a lane grows, so that it is rarely laid out again.
_STEPS = (2, 4, 6, 9, 13, 18, 24, 32, 46, LEVELS)


class Lanes:
    """Lanes in the order in which their threads first did something.

    A lane whose thread has nothing in the window any more goes to the next thread that needs one, so that
    programs that start a thread for each request have lanes for those that matter now.

    Parameters
    ----------
    growing : GrowingTrace
    most : int
        Maximum number of lanes.

    Attributes
    ----------
    threads : list of int
        Of each lane; -1: none.
    rooms : list of int
        Number of levels that fit into each lane; 0 for unused ones.
    changed : bool
        Set when a lane gets or loses its thread.
    """

    def __init__(self, growing: GrowingTrace, most: int) -> None:
        self._growing, self._most = growing, most
        self.threads: list[int] = []
        self.rooms: list[int] = []
        self._lane_of: dict[int, int] = {}
        self._refused: dict[int, int] = {}
        self._seen: list[int] = []
        self._reached: list[int] = []
        self._history: list[list[tuple[int, int]]] = []
        self.changed = False

    @property
    def without(self) -> int:
        """Number of threads that do something and have no lane."""
        return len(self._refused)

    def used(self) -> list[tuple[int, int]]:
        """Return (lane, thread) of the lanes in use."""
        return [(lane, thread) for lane, thread in enumerate(self.threads) if thread >= 0]

    def lane(self, thread: int) -> int:
        """Return the lane of a thread; one that has none gets one, if there is room.

        ``changed`` is set when the lane is new.

        Parameters
        ----------
        thread : int

        Returns
        -------
        int
            -1: there is no room.
        """
        lane = self._lane_of.get(thread, -1)
        if lane < 0:
            free = next((i for i, other in enumerate(self.threads) if other < 0), -1)
            if free < 0 and len(self.threads) >= self._most:
                self._refused[thread] = self._growing.now
                return -1
            if free < 0:
                free = len(self.threads)
                for column in (self.threads, self.rooms, self._seen, self._reached):
                    column.append(0)
                self._history.append([])
            lane = self._lane_of[thread] = free
            self._refused.pop(thread, None)
            self.threads[lane], self.rooms[lane] = thread, _STEPS[0]
            self._seen[lane], self._reached[lane], self._history[lane] = self._growing.now, 0, []
            self.changed = True
        return lane

    def see(self, lane: int, when: int) -> None:
        """Note when something of a lane's thread ended.

        Parameters
        ----------
        lane : int
        when : int
            The trace's nanoseconds.
        """
        self._seen[lane] = max(self._seen[lane], when)

    def release(self, since: int) -> None:
        """Free the lanes whose threads have nothing after a time; ``changed`` is set if there are any."""
        for lane, thread in self.used():
            if self._seen[lane] < since and self._growing.calls_of_threads()[thread].top < 0:
                del self._lane_of[thread]
                self.threads[lane], self.rooms[lane] = -1, 0
                self.changed = True
        self._refused = {thread: when for thread, when in self._refused.items() if when > since}

    def reach(self, lane: int, level: int) -> bool:
        """Make room for a level in a lane.

        Parameters
        ----------
        lane, level : int
            Levels count from 0.

        Returns
        -------
        bool
            Whether the lane had to grow.
        """
        self._reached[lane] = max(self._reached[lane], level)
        if level < self.rooms[lane]:
            return False
        self.rooms[lane] = _room(level)
        return True

    def shrink(self, now: int, window_ns: int) -> bool:
        """Remove the room that nothing in the window needs any more.

        Parameters
        ----------
        now, window_ns : int
            End and length of the window, in nanoseconds.

        Returns
        -------
        bool
            Whether any lane became smaller.
        """
        before = list(self.rooms)
        for lane, _ in self.used():
            history = [*self._history[lane], (now, self._reached[lane])]
            self._history[lane] = [entry for entry in history if entry[0] > now - window_ns]
            self._reached[lane] = 0
            self.rooms[lane] = _room(max((level for _, level in self._history[lane]), default=0))
        return before != self.rooms

    def name(self, lane: int) -> str:
        """Return the name of a lane's thread, with its process if there are several."""
        return self.name_of(self.threads[lane])

    def name_of(self, thread: int) -> str:
        """Return the name of any thread, as :meth:`name` does."""
        process, tid, name = self._growing.threads()[thread]
        several = len({p for p, _, _ in self._growing.threads()}) > 1
        name = thread_name(name, tid)
        return f"{name} ({process})" if several else name

    def levels(self, total: float, highest: float, gap: float) -> NDArray[np.float32]:
        """Return base and height of each level of each lane.

        Parameters
        ----------
        total : float
            Maximum height of all lanes together, in scene units.
        highest, gap : float
            Maximum height of a level, and distance between two lanes, in scene units.

        Returns
        -------
        float32 (max(lanes, 1) * LEVELS, 2)
            Scene units; levels without room have height 0.
        """
        out = np.zeros((max(len(self.rooms), 1) * LEVELS, 2), np.float32)
        all_levels, lanes = sum(self.rooms), len(self.used())
        height = min(highest, (total - gap * max(lanes - 1, 0)) / max(all_levels, 1))
        base = 0.0
        for lane, room in enumerate(self.rooms):
            if not room:
                continue
            part = slice(lane * LEVELS, (lane + 1) * LEVELS)
            level = np.minimum(np.arange(LEVELS), room)
            out[part, 0] = base + height * level
            out[part, 1] = np.where(np.arange(LEVELS) < room, height, 0.0)
            base += room * height + gap
        return out


def _room(level: int) -> int:
    """Return how many levels a lane gets that needs ``level`` (from 0)."""
    return next((step for step in _STEPS if step > level), LEVELS)
