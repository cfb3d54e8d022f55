"""The process beside the recorded program that writes the file; it outlives whatever kills the program."""

from __future__ import annotations

import os
import sys

from .spool import Spool, out_of_the_way

_CODE = "import sys; sys.path.insert(0, sys.argv[1]); from {package}.writer import main; main(sys.argv[2:])"


class Helper:
    """Starts the writer, and waits for it at the end.

    The writer sees the program's end by a pipe that nobody writes to; the program sees the writer's by
    another. The writer is no child of the program's: a program that waits for its children meets its own.

    Attributes
    ----------
    spool : Spool
        What the writer reads.

    Raises
    ------
    OSError
        If the output can't be written, or the writer not be started.
    """

    def __init__(self, path: str) -> None:
        path = os.path.abspath(path)
        # Tell now, and not at the end, that the file can't be written.
        with open(path, "wb"):
            pass
        self._folder = _new_folder()
        self.spool = Spool(os.path.join(self._folder, "spool"))
        alive, mine = os.pipe()
        answer, theirs = os.pipe()
        package = __name__.rpartition(".")[0]
        root = __file__
        for _ in range(package.count(".") + 2):
            root = os.path.dirname(root)
        words = [
            *(sys.executable, "-I", "-c", _CODE.format(package=package)),
            *(root, self._folder, path, str(alive), str(theirs)),
        ]
        try:
            _start(words, (alive, theirs))
        finally:
            os.close(alive)
            os.close(theirs)
        self._alive, self._answer = out_of_the_way(mine), out_of_the_way(answer)
        self._read, self._close = os.read, os.close

    def part(self, number: int) -> str:
        """Return the path of a file that the writer reads and deletes."""
        return os.path.join(self._folder, f"part-{number}")

    def finish(self) -> str:
        """Wait for the writer and return its sentence."""
        self._close(self._alive)
        said = b""
        while piece := self._read(self._answer, 1 << 12):
            said += piece
        self._close(self._answer)
        return said.decode("utf-8", "replace")

    def abandon(self) -> None:
        """Let go of the pipes in a process that was forked."""
        for fd in (self._alive, self._answer):
            try:  # noqa: SIM105
                self._close(fd)
            except OSError:
                pass  # the program has closed it


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
    """Start a program that is nobody's child, and that has the descriptors ``keep``."""
    if not hasattr(os, "posix_spawn"):
        import subprocess

        for fd in keep:
            os.set_inheritable(fd, True)
        subprocess.Popen(words, close_fds=False)
        return
    for fd in keep:
        os.set_inheritable(fd, True)
    # The shell goes at once and leaves the writer to init.
    shell = ["/bin/sh", "-c", 'exec >/dev/null 2>&1; "$@" </dev/null &', "sh", *words]
    process = os.posix_spawn(shell[0], shell, os.environ)
    os.waitpid(process, 0)
