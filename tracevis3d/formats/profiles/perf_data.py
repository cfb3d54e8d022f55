"""perf's own binary file, ``perf.data``: read by the program ``perf`` where that is installed."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from ...errors import MissingDependency, Unreadable
from ...progress import Progress
from ...trace.recording import Recording
from .. import registry
from .perf_script import take_text

if TYPE_CHECKING:
    from ...trace.model import Trace

#: Columns to request; the first set includes those that a recording of single threads lacks.
_COLUMNS = (
    "comm,pid,tid,cpu,time,period,event,ip,sym,dso,trace",
    "comm,pid,tid,time,period,event,ip,sym,dso",
)


def sniff(head: bytes, name: str) -> float:
    """Say how sure it is that bytes are perf's own.

    Parameters
    ----------
    head : bytes
        The first bytes, unpacked.
    name : str
        The file's, in lower case.

    Returns
    -------
    float
        How sure it is, 0 to 1.
    """
    return registry.SURE if head.startswith((b"PERFILE2", b"2ELIFREP")) else registry.NO


def read(path: Path, progress: Progress) -> Trace:
    """Read ``perf.data`` through ``perf script``.

    Parameters
    ----------
    path : Path
        The file.
    progress : Progress

    Returns
    -------
    Trace

    Raises
    ------
    Unreadable
        If perf can't read it.
    MissingDependency
        If perf is not installed.
    """
    program = shutil.which("perf")
    if program is None:
        raise MissingDependency(
            f"{path}: perf's own file is read by perf, which is not installed here: install it, or run "
            "'perf script > run.perf.txt' where it was recorded"
        )
    reason = ""
    for columns in (*_COLUMNS, ""):
        words = [program, "script", "--ns", "-i", str(path), *(("-F", columns) if columns else ())]
        done = subprocess.run(words, capture_output=True, stdin=subprocess.DEVNULL, check=False)
        if done.returncode == 0 and done.stdout:
            return take_text(path, done.stdout, Recording(), progress)
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        reason = reason or (said[-1] if said else "it prints nothing")
    raise Unreadable(f"{path}: perf can't read it: {reason}")


FORMAT = registry.Format(
    name="perf_data",
    title="perf.data",
    suffixes=(".data", ".perf.data"),
    sniff=sniff,
    read=read,
    programs="Linux' `perf record`, read by `perf` itself",
    recipe=("perf record -F 999 -g -o run.data -- ./program",),
    left_out="what perf itself does not print; perf has to be installed",
)
