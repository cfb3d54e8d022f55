"""Alarms: what goes wrong in a program while it runs."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

#: Seconds between two looks.
LOOK_S = 0.1
#: Maximum number of alarms that are remembered.
_MOST = 1_000
#: Seconds after which an alarm that has not come again is told to be over.
_OVER_S = 2.0


@dataclass(frozen=True)
class Alarm:
    """Something that goes wrong now.

    Attributes
    ----------
    kind : str
        Such as ``deadlock``.
    about : str
        The objects or the call site; an alarm is raised once for each kind and what it is about.
    sentence : str
    threads : tuple of int
        The threads concerned, as the growing trace numbers them; the first one is where it is shown.
    at : int
        When it was raised, in the trace's nanoseconds; set by :class:`AlarmWatch`.
    how : {"follows", "inferred"}
        Whether it follows from what is recorded, or is the likely reason for it.
    over_at : int or None
        Since when it is over, if it is; set by :class:`AlarmWatch`.
    why_over : str
        Why it is over, in a few words; empty if no more is known.
    """

    kind: str
    about: str
    sentence: str
    threads: tuple[int, ...] = ()
    at: int = 0
    how: str = "follows"
    over_at: int | None = None
    why_over: str = ""


class Watcher(Protocol):
    """Looks for one sort of trouble in a growing trace."""

    def look(self, now: int) -> Sequence[Alarm]:
        """Return what goes wrong at a time.

        A watcher may also have a method ``why_over``, which returns in a few words why an alarm is over.

        Parameters
        ----------
        now : int
            In the trace's nanoseconds.

        Returns
        -------
        sequence of Alarm
        """


class AlarmWatch:
    """Lets watchers look every so often.

    Parameters
    ----------
    watchers : callable
        Returns the watchers; called at the first look.

    Attributes
    ----------
    current : tuple of Alarm
        What goes wrong now.
    raised : list of Alarm
        All alarms so far, each in its first form, in the order in which they were raised; those that are over
        say since when.
    ended : list of Alarm
        Those that the last look has told to be over: each once, and only after some time.
    """

    def __init__(self, watchers: Callable[[], Sequence[Watcher]]) -> None:
        self._make = watchers
        self._watchers: Sequence[Watcher] | None = None
        self._looked = -LOOK_S
        #: Kind and what it is about -> its place in ``raised``, and its watcher.
        self._known: dict[tuple[str, str], tuple[int, Watcher]] = {}
        #: Of alarms that are over and have not been told to be: since when by the clock.
        self._gone: dict[tuple[str, str], float] = {}
        self._told: set[tuple[str, str]] = set()
        self.current: tuple[Alarm, ...] = ()
        self.raised: list[Alarm] = []
        self.ended: list[Alarm] = []

    def look(self, now: int, clock: float | None = None) -> list[Alarm]:
        """Look, if it is time to; return the alarms that are new.

        Parameters
        ----------
        now : int
            The trace's nanoseconds.
        clock : float, optional
            Seconds of any steady clock; that of the machine if left out.

        Returns
        -------
        list of Alarm
        """
        clock = time.monotonic() if clock is None else clock
        if clock - self._looked < LOOK_S:
            return []
        self._looked = clock
        if self._watchers is None:
            self._watchers = self._make()
        found = [(alarm, watcher) for watcher in self._watchers for alarm in watcher.look(now)]
        self.current = tuple(alarm for alarm, _ in found)
        new = [one for one in found if (one[0].kind, one[0].about) not in self._known]
        if len(self.raised) + len(new) > _MOST:
            new = []
        for alarm, watcher in new:
            self._known[alarm.kind, alarm.about] = len(self.raised), watcher
            self.raised.append(replace(alarm, at=now))
        self._end(now, clock)
        return self.raised[len(self.raised) - len(new) :]

    def _end(self, now: int, clock: float) -> None:
        """Note which alarms are over, and which have been for long enough to tell."""
        self.ended = []
        # One that turns into another (memory that grows into a leak) is not over.
        there = {alarm.about for alarm in self.current}
        for key, (place, watcher) in self._known.items():
            if key[1] in there:
                self._gone.pop(key, None)
                self.raised[place] = replace(self.raised[place], over_at=None)
            elif self.raised[place].over_at is None:
                self._gone[key] = clock
                why = getattr(watcher, "why_over", lambda alarm: "")(self.raised[place])
                self.raised[place] = replace(self.raised[place], over_at=now, why_over=why)
            elif key in self._gone and clock - self._gone[key] >= _OVER_S and key not in self._told:
                self._told.add(key)
                self.ended.append(self.raised[place])
