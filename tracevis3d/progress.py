"""Progress of long work, and how it is stopped."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol


class Progress(Protocol):
    """Called by long work between its steps.

    An implementation shows the bar; it raises :class:`tracevis3d.errors.Cancelled` to stop the work.
    """

    def __call__(self, done: float, what: str) -> None:
        """Report that the share ``done`` (0 to 1) is reached and ``what`` is being done (a few words)."""


def silent(done: float, what: str) -> None:
    """Progress that shows nothing.

    Parameters
    ----------
    done : float
        0 to 1.
    what : str
        The stage.
    """


def part(progress: Progress, low: float, high: float) -> Progress:
    """Return a progress that maps its own 0..1 to ``low``..``high`` of ``progress``.

    Parameters
    ----------
    progress : Progress
    low, high : float
        Shares of the whole work, 0 to 1.

    Returns
    -------
    Progress
    """

    def report(done: float, what: str) -> None:
        progress(low + (high - low) * done, what)

    return report


def in_steps(progress: Progress, *steps: tuple[str, float, Callable[[], object]]) -> None:
    """Take steps one after the other.

    Parameters
    ----------
    progress : Progress
        What is reported to.
    *steps : (str, float, callable)
        What is being done, about how long it takes compared with the others, and what does it.
    """
    done, whole = 0.0, sum(share for _, share, _ in steps)
    for what, share, take in steps:
        progress(done / whole, what)
        take()
        done += share
    progress(1.0, "")
