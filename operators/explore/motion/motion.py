"""Motions driven by a timer of Blender's: one of a kind at a time, step by step until its end."""

import math
import time
from typing import Generic, Protocol, TypeVar

import bpy


class Moving(Protocol):
    """Something on its way."""

    def step(self) -> float | None:
        """Show where it is now; returns the seconds until the next step, None at the end."""

    def arrive(self) -> None:
        """Let the next step be the last one."""


M = TypeVar("M", bound=Moving)


class Timed:
    """Something that is on its way for a number of seconds.

    Parameters
    ----------
    seconds : float
    """

    def __init__(self, seconds: float) -> None:
        self._begun, self._seconds = time.perf_counter(), seconds

    def share(self) -> float:
        """Return the share of the time that has passed, 0 to 1."""
        return min((time.perf_counter() - self._begun) / self._seconds, 1.0)

    def arrive(self) -> None:
        """Let the time be over."""
        self._begun = -math.inf


class Motion(Generic[M]):
    """The current motion of one kind.

    Attributes
    ----------
    current : Moving or None
    ended : int
        How many have come to their end.
    """

    def __init__(self) -> None:
        self.current: M | None = None
        self.ended = 0
        # Blender knows a timer by the very object.
        self._timer = self._run

    def start(self, moving: M, at_once: bool = False) -> None:
        """Start ``moving``, replacing the current motion; ``at_once``: it arrives now."""
        self.current = moving
        if at_once:
            self.finish()
        elif not bpy.app.timers.is_registered(self._timer):
            bpy.app.timers.register(self._timer)

    def finish(self) -> bool:
        """Finish the current motion; return whether there was one."""
        moving, self.current = self.current, None
        if moving is None:
            return False
        moving.arrive()
        moving.step()
        self.ended += 1
        return True

    def stop(self) -> bool:
        """Stop the current motion where it is; return whether there was one."""
        there_was, self.current = self.current is not None, None
        return there_was

    def end(self) -> None:
        """Stop the current motion and remove the timer: the extension is being disabled."""
        self.stop()
        if bpy.app.timers.is_registered(self._timer):
            bpy.app.timers.unregister(self._timer)

    def _run(self) -> float | None:
        moving = self.current
        if moving is None:
            return None
        again = moving.step()
        if again is None:
            self.ended += 1
            if self.current is moving:
                self.current = None
        return again
