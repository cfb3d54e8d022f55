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
    """

    kind: str
    about: str
    sentence: str
    threads: tuple[int, ...] = ()
    at: int = 0
    how: str = "follows"


class Watcher(Protocol):
    """Looks for one sort of trouble in a growing trace."""

    def look(self, now: int) -> Sequence[Alarm]:
        """Return what goes wrong at ``now``, in the trace's nanoseconds."""


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
        All alarms so far, each in its first form, in the order in which they were raised.
    """

    def __init__(self, watchers: Callable[[], Sequence[Watcher]]) -> None:
        self._make = watchers
        self._watchers: Sequence[Watcher] | None = None
        self._looked = -LOOK_S
        self._known: set[tuple[str, str]] = set()
        self.current: tuple[Alarm, ...] = ()
        self.raised: list[Alarm] = []

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
        self.current = tuple(alarm for watcher in self._watchers for alarm in watcher.look(now))
        is_new = [(alarm.kind, alarm.about) not in self._known for alarm in self.current]
        new = [replace(alarm, at=now) for alarm, first in zip(self.current, is_new, strict=True) if first]
        if len(self.raised) + len(new) > _MOST:
            new = []
        self._known.update((alarm.kind, alarm.about) for alarm in new)
        self.raised += new
        return new
