"""The process beside the recorded program that writes the file, or publishes, or both.

It outlives whatever kills the program.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import time
from dataclasses import asdict, dataclass
from typing import Any

from .descriptor import Descriptor
from .spool import Spool

#: Text in every sentence about an incomplete recording.
INCOMPLETE = ": the recording "
#: Of a file in the recording's folder that is there until the program has ended the recording.
RUNNING = "running"
#: Prefix of a suggestion in the pipe to the program.
SUGGESTION = b"\x01"
#: Bytes read at a time.
_PIECE = 1 << 12
#: Seconds between two looks whether the writer is through where it can't be heard, and how many there are.
_WAIT, _MOST_WAITS = 0.01, 6000

_CODE = "import sys; sys.path.insert(0, sys.argv[1]); from {module} import main; main(sys.argv[2:])"


@dataclass(frozen=True)
class Feed:
    """The feed of a recording.

    Attributes
    ----------
    endpoint : str
    key, peers : str
        Key files, as :class:`tracevis3d.live.endpoint.Keys` has them; empty for none.
    suggestions : bool
        Whether viewers may suggest something.
    wait : bool
        Whether the program is held until there is a viewer (:meth:`Helper.wait_for_viewer`).
    """

    endpoint: str
    key: str = ""
    peers: str = ""
    suggestions: bool = False
    wait: bool = False


class Helper:
    """Starts the writer, and waits for it at the end.

    The writer sees the program's end by a pipe that is never written to; the program sees the writer's by
    another. The writer is no child of the program's: a program that waits for its children meets its own.

    Parameters
    ----------
    path : str
        The file; empty for none.
    feed : Feed, optional
    program : str
        What viewers call the program.
    isolated : bool
        Whether the writer needs nothing but Python itself.

    Attributes
    ----------
    folder : str
        The recording's, for as long as it takes.
    spool : Spool
        What the writer reads.
    endpoint : str
        Where the feed is; empty without one.

    Raises
    ------
    OSError
        If the output can't be written, or the writer not be started.
    ValueError
        If the feed can't be published: the sentence says why.
    """

    def __init__(self, path: str, feed: Feed | None = None, program: str = "", isolated: bool = True) -> None:
        if path:
            path = os.path.abspath(path)
            # Report now, and not at the end, that the file can't be written; what is there stays.
            with open(path, "ab"):
                pass
        self.folder = _new_folder()
        self.spool = Spool(self.folder)
        # Removed at the end, which also a full disk allows.
        with open(os.path.join(self.folder, RUNNING), "wb"):
            pass
        alive, mine = os.pipe()
        answer, theirs = os.pipe()
        package = __package__ or ""
        root = __file__
        for _ in range(package.count(".") + 2):
            root = os.path.dirname(root)
        module, flag = f"{package}.writer", "-I" if isolated else "-P"
        words = [root, self.folder, path, str(alive), str(theirs), str(os.getpid())]
        if feed is not None:
            # ZeroMQ may lie where only the program's own environment leads.
            module, flag = f"{package.rsplit('.', 2)[0]}.live.recorded", "-P"
            words.append(json.dumps({**asdict(feed), "program": program}))
        try:
            _start([sys.executable, flag, "-c", _CODE.format(module=module), *words], (alive, theirs))
        finally:
            os.close(alive)
            os.close(theirs)
        self._alive, self._answer = Descriptor(mine), Descriptor(answer)
        self._read, self._set_blocking, self._pause = os.read, os.set_blocking, time.sleep
        self._heard = b""
        self.endpoint = self._hear_line() if feed is not None else ""
        self._waits = feed is not None and feed.wait

    def wait_for_viewer(self) -> None:
        """Return when the feed has a viewer, where it was asked to wait for one.

        Raises
        ------
        ValueError
            If the process that publishes the feed ends before.
        """
        if self._waits:
            self._waits = False
            self._hear_line()

    def _hear_line(self) -> str:
        said = b""
        while not said.endswith(b"\n") and (piece := self._read(self._answer.number, 1)):
            said += piece
        text = said.decode("utf-8", "replace").strip()
        # What went wrong is said without an end of line.
        if not said.endswith(b"\n"):
            self.abandon()
            raise ValueError(text or "the process that publishes the feed can't be started")
        return text

    def part(self, number: int) -> str:
        """Return the path of a file that the writer reads and deletes."""
        return os.path.join(self.folder, f"part-{number}")

    def finish(self) -> str:
        """Wait for the writer and return its sentence."""
        with contextlib.suppress(OSError):
            os.unlink(os.path.join(self.folder, RUNNING))
        self._alive.close()
        if not self._answer.is_ours():
            # The program has closed it: what the writer says can't be heard, but that it is through.
            for _ in range(_MOST_WAITS):
                if not os.path.isdir(self.folder):
                    break
                self._pause(_WAIT)
            return ""
        self._set_blocking(self._answer.number, True)
        said, self._heard = self._heard, b""
        while piece := self._read(self._answer.number, _PIECE):
            said += piece
        self._answer.close()
        # Suggestions after the end are ignored.
        lines = [line for line in said.split(b"\n") if not line.startswith(SUGGESTION)]
        return b"\n".join(lines).decode("utf-8", "replace")

    def suggestions(self) -> list[dict[str, Any]]:
        """Return what viewers have suggested since this was asked last; never waits."""
        if not self._answer.is_ours():
            return []
        self._set_blocking(self._answer.number, False)
        try:
            while piece := self._read(self._answer.number, _PIECE):
                self._heard += piece
        except OSError:
            pass  # nothing has come
        *lines, self._heard = self._heard.split(b"\n")
        return [json.loads(line[len(SUGGESTION) :]) for line in lines if line.startswith(SUGGESTION)]

    def abandon(self) -> None:
        """Let go of the pipes in a process that was forked."""
        self._alive.close()
        self._answer.close()


def _new_folder() -> str:
    for name in ("TMPDIR", "TEMP", "TMP"):
        if os.path.isdir(os.environ.get(name, "")):
            base = os.environ[name]
            break
    else:
        base = "/tmp" if os.path.isdir("/tmp") else os.getcwd()
    folder = os.path.join(base, f"tracevis3d-{os.getpid()}-{os.urandom(4).hex()}")
    os.mkdir(folder, 0o700)
    return folder


def _start(words: list[str], keep: tuple[int, ...]) -> None:
    """Start a program without a parent process, with the descriptors ``keep``."""
    if not hasattr(os, "posix_spawn"):
        import subprocess

        for fd in keep:
            os.set_inheritable(fd, True)
        subprocess.Popen(words, close_fds=False)
        return
    for fd in keep:
        os.set_inheritable(fd, True)
    # The shell ends at once, so the writer's parent becomes init.
    shell = ["/bin/sh", "-c", 'exec >/dev/null 2>&1; "$@" </dev/null &', "sh", *words]
    process = os.posix_spawn(shell[0], shell, os.environ)
    os.waitpid(process, 0)
