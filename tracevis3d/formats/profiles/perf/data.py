"""perf's own binary file, ``perf.data``: read by the program ``perf`` where that is installed."""

from __future__ import annotations

import shutil
import subprocess
import threading
import time
from pathlib import Path
from typing import IO, TYPE_CHECKING

from ....errors import MissingDependency, Unreadable
from ....progress import Progress
from ....trace.recording import Recording
from ... import registry
from .script import take_text

if TYPE_CHECKING:
    from ....trace.model import Trace

#: perf is stopped when it has printed nothing for so many seconds, and another for each megabyte of the file:
#: there are damaged files on which it never ends.
SILENT_S = 60.0
#: Columns to request; the first set includes those that a recording of single threads lacks.
_COLUMNS = (
    "comm,pid,tid,cpu,time,period,event,ip,sym,dso,trace",
    "comm,pid,tid,time,period,event,ip,sym,dso,trace",
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
        status, text, complaint = _run(words, path, progress)
        if status == 0 and text:
            return take_text(path, text, Recording(), progress)
        said = complaint.decode("utf-8", "replace").strip().splitlines()
        reason = reason or (said[-1] if said else "it prints nothing")
    raise Unreadable(f"{path}: perf can't read it: {reason}")


def _run(words: list[str], path: Path, progress: Progress) -> tuple[int, bytes, bytes]:
    """Run perf; return its status and what it printed, also as errors."""
    patience = SILENT_S + path.stat().st_size / 1e6
    with subprocess.Popen(
        words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        printed = [_Printed(stream) for stream in (process.stdout, process.stderr) if stream is not None]
        try:
            while process.poll() is None:
                silent = time.monotonic() - max(each.last for each in printed)
                if silent > patience:
                    raise Unreadable(f"{path}: perf has printed nothing for {silent:.0f} s, and was stopped")
                progress(0.0, "waiting for perf")
                printed[0].thread.join(0.05)
        except BaseException:
            process.kill()
            raise
        finally:
            for each in printed:
                each.thread.join()
        text, complaint = (b"".join(each.parts) for each in printed)
        return process.returncode, text, complaint


class _Printed:
    """Takes what a program prints, beside it.

    Attributes
    ----------
    parts : list of bytes
    last : float
        When it last printed, by the monotonic clock.
    thread : threading.Thread
        Ends with the stream.
    """

    def __init__(self, stream: IO[bytes]) -> None:
        self.parts: list[bytes] = []
        self.last = time.monotonic()
        self.thread = threading.Thread(target=self._take, args=(stream,), daemon=True)
        self.thread.start()

    def _take(self, stream: IO[bytes]) -> None:
        while part := stream.read1(1 << 20):  # type: ignore[attr-defined]
            self.parts.append(part)
            self.last = time.monotonic()


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
