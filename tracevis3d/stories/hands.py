"""Who renders the frames of a film: this process, several, those of other machines, or a part of them."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from ..errors import UsageError

T = TypeVar("T")


@dataclass(frozen=True)
class Hands:
    """Who renders.

    Attributes
    ----------
    jobs : int
        Processes of this machine.
    scheduler : str
        Of Dask: ``local`` or an address; empty: none.
    folder : str
        Where frames are kept, and stay, for machines that share it; empty: the cache.
    part : (int, int) or None
        ``(3, 8)``: the third of eight parts is rendered into the folder, and no film is written.
    """

    jobs: int = 1
    scheduler: str = ""
    folder: str = ""
    part: tuple[int, int] | None = None

    def wanted(self, frames: Sequence[T]) -> Sequence[T]:
        """Return which frames are rendered.

        Parameters
        ----------
        frames : sequence
            Those of the film.

        Returns
        -------
        sequence

        Examples
        --------
        >>> Hands(part=(2, 3)).wanted("abcdefg")
        'de'
        """
        if self.part is None:
            return frames
        which, of = self.part
        edges = [-(-len(frames) * k // of) for k in (which - 1, which)]
        return frames[edges[0] : edges[1]]


#: This process.
ALONE = Hands()


def add(parser: argparse.ArgumentParser) -> None:
    """Declare ``--jobs`` and ``--scheduler``.

    Parameters
    ----------
    parser : ArgumentParser
    """
    parser.add_argument("--jobs", type=int, metavar="N", help="processes that render a film (default 1)")
    parser.add_argument(
        "--scheduler",
        default="",
        metavar="ADDRESS",
        help="of Dask, whose workers render: tcp://host:8786, or 'local' for N workers of this machine",
    )


def add_parts(parser: argparse.ArgumentParser) -> None:
    """Declare ``--folder`` and ``--part``.

    Parameters
    ----------
    parser : ArgumentParser
    """
    parser.add_argument(
        "--folder", default="", metavar="DIR", help="keep frames there, for machines that share it"
    )
    parser.add_argument(
        "--part", default="", metavar="K/N", help="only render part K of N into --folder, such as 3/8"
    )


def given(args: argparse.Namespace) -> Hands:
    """Return who renders by the arguments of a command.

    Parameters
    ----------
    args : Namespace

    Returns
    -------
    Hands

    Raises
    ------
    UsageError, MissingDependency
        See :func:`checked`.
    """
    return checked(args.jobs, args.scheduler, getattr(args, "folder", ""), getattr(args, "part", ""))


def checked(jobs: int | None, scheduler: str = "", folder: str = "", part: str = "") -> Hands:
    """Return who renders.

    Parameters
    ----------
    jobs : int or None
        None: one process, or as many workers of a local cluster as there are cores.
    scheduler, folder : str
        See :class:`Hands`.
    part : str
        Such as ``3/8``.

    Returns
    -------
    Hands

    Raises
    ------
    UsageError
        If something is out of range, or two exclude each other.
    MissingDependency
        If Dask is wanted and not installed.
    """
    from . import cluster
    from .jobs import check

    if jobs is None:
        jobs = os.cpu_count() or 1 if scheduler == cluster.LOCAL else 1
    check(jobs)
    cluster.check(scheduler, jobs)
    if not part:
        return Hands(jobs, scheduler, folder)
    found = re.fullmatch(r"(\d{1,6})/(\d{1,6})", part.strip())
    if found is None or not 1 <= int(found[1]) <= int(found[2]):
        raise UsageError(f"--part {part}: K/N is expected, K from 1 to N, such as 3/8")
    if not folder:
        raise UsageError("--part: needs --folder, where all parts are kept")
    return Hands(jobs, scheduler, folder, (int(found[1]), int(found[2])))
