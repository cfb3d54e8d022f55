"""LTTng's Common Trace Format, read through the program ``babeltrace2``: calls, mutexes, allocations.

Function entries and exits come from ``-finstrument-functions`` (``lttng_ust_cyg_profile``), locks and
allocations from LTTng's wrappers of pthread and of the C library. Other events become instants.
"""

from __future__ import annotations

import shutil
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING

from ...errors import InputError, MissingDependency, Unreadable
from ...progress import Progress
from .. import names, registry

if TYPE_CHECKING:
    from ...trace.model import Trace
    from ...trace.recording import Recording

#: Bytes of text that are examined in one go.
_PIECE = 1 << 24


def sniff(head: bytes, name: str) -> float:
    """Say how sure it is that a folder is a CTF trace, or one of LTTng's with traces in it.

    Parameters
    ----------
    head : bytes
        The names in the folder, one a line.
    name : str
        The folder's, in lower case, with ``/`` at its end.

    Returns
    -------
    float
        How sure it is, 0 to 1.
    """
    if not name.endswith("/"):
        return registry.NO
    entries = set(head.split(b"\n"))
    if b"metadata" in entries:
        return registry.SURE
    return registry.LIKELY if entries <= {b"ust", b"kernel", b"index"} else registry.NO


def read(path: Path, progress: Progress) -> Trace:
    """Read a folder of LTTng's.

    Parameters
    ----------
    path : Path
        The folder.
    progress : Progress

    Returns
    -------
    Trace

    Raises
    ------
    MissingDependency
        If ``babeltrace2`` is not installed.
    InputError
        If babeltrace2 can't read the trace, or it holds no event.
    """
    from ...trace.model import Source
    from ...trace.recording import Recording
    from .events import CtfEvents

    program = shutil.which("babeltrace2")
    if program is None:
        raise MissingDependency(
            f"{path}: CTF is read with the program babeltrace2, which is not installed: "
            "'apt-get install babeltrace2' on Debian and Ubuntu, 'dnf install babeltrace2' on Fedora"
        )
    recording = Recording()
    events = CtfEvents(recording)
    for text, done in _text(program, path, recording):
        progress(0.8 * done, "reading events")
        events.add(text)
    if events.lines == 0:
        raise InputError(f"{path}: contains no event: is it the folder that LTTng wrote?")
    progress(0.8, "building calls")
    events.finish()
    trace = recording.finish(Source(), names.split, events.place)
    progress(1, "building calls")
    return trace


def _text(program: str, path: Path, recording: Recording) -> Iterator[tuple[bytes, float]]:
    """Yield what babeltrace2 prints, in pieces of whole lines, with how much is done at a guess."""
    size = sum(file.stat().st_size for file in path.rglob("*") if file.is_file()) or 1
    command = [program, "--clock-seconds", "--no-delta", "--color=never", str(path)]
    complaints: list[bytes] = []
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stderr is not None
    listener = threading.Thread(target=_listen, args=(process.stderr, complaints))
    listener.start()
    rest, seen = b"", 0
    try:
        while piece := process.stdout.read(_PIECE):
            seen += len(piece)
            whole, line, rest = (rest + piece).rpartition(b"\n")
            # A line of text represents some 20 bytes of the trace.
            yield whole + line, min(seen / 8 / size, 1)
    finally:
        # If the rest is not read, it ends at its next line.
        process.stdout.close()
        listener.join()
        process.stderr.close()
        status = process.wait()
    if status != 0:
        said = b"".join(complaints).decode("utf-8", "replace")
        if not seen:
            raise Unreadable(f"{path}: babeltrace2 can't read it: {_reason(said)}")
        recording.problems.add("truncated", f"babeltrace2 stopped: {_reason(said)}")


def _listen(stream: IO[bytes], said: list[bytes]) -> None:
    # Unread output would block the program.
    while piece := stream.read(1 << 12):
        if sum(map(len, said)) < 1 << 20:
            said.append(piece)


def _reason(said: str) -> str:
    """Return the innermost cause that babeltrace2 names, in one line."""
    lines = [
        line.strip()
        for line in said.splitlines()
        if line.strip() and not line.startswith(("CAUSED", "ERROR"))
    ]
    return (lines[-1] if lines else "it gives no reason")[:200]


FORMAT = registry.Format(
    name="ctf",
    title="LTTng's CTF folder",
    suffixes=(".ctf",),
    sniff=sniff,
    read=read,
    is_folder=True,
    programs="LTTng, with its wrappers of pthread and of the C library (needs the program `babeltrace2`)",
    recipe=(
        (
            "lttng create run --output=run; lttng enable-event --userspace --all; lttng "
            "start; ./program; lttng destroy"
        ),
    ),
)
