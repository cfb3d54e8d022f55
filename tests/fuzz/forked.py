"""Reading apart in a fork of this process: a fresh interpreter takes half a second to begin, a fork 5 ms."""

from __future__ import annotations

import faulthandler
import io
import os
import signal
import sys
import tempfile
from pathlib import Path
from typing import NoReturn

from tracevis3d.machine import apart


def read_apart(module: str, path: Path, take: apart.Blocks) -> str:
    """Do what :func:`tracevis3d.machine.apart.read_apart` does; the module has been imported here before."""
    ours, theirs = os.pipe()
    with tempfile.TemporaryFile() as complaints:
        pid = os.fork()
        if not pid:
            _read(module, path, theirs, complaints.fileno())
        os.close(theirs)
        try:
            with os.fdopen(ours, "rb") as stream:
                reason = apart._receive(stream, take)
        except BaseException:
            os.kill(pid, signal.SIGKILL)
            raise
        finally:
            status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        if reason is None:
            complaints.seek(0)
            reason = apart._why(complaints.read(1 << 16).decode("utf-8", "replace"), status)
    return reason


def _read(module: str, path: Path, out: int, complaints: int) -> NoReturn:
    """Read and end, as a process of its own would."""
    faulthandler.disable()
    os.dup2(complaints, 2)
    sys.stdout, sys.stderr = io.TextIOWrapper(os.fdopen(out, "wb")), os.fdopen(2, "w")
    status = 1
    try:
        apart.run(module, str(path))
        status = 0
    except SystemExit as error:
        status = int(error.code or 0)
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
