"""A recording's file of JSON, which can be read up to the last flush at every moment.

So it is written under its own name. A file that was there before is kept beside it until the new one is
whole; when that can't be written, the old one gets its name back and what was recorded stays under another.
"""

from __future__ import annotations

import contextlib
import os
import stat
import zlib
from pathlib import Path
from typing import Any, BinaryIO

from ...atomic import Incomplete, reason, sync


class JsonFile:
    """A JSON file in the making, packed or not.

    Parameters
    ----------
    path : str

    Attributes
    ----------
    failed : str
        Why it can't be written, and where what was written until then is; empty as long as it can. What is
        added after that is left out.
    size : int
        Bytes that were written.

    Raises
    ------
    OSError
        If it can't be begun; what was there is as it was.
    """

    def __init__(self, path: str) -> None:
        self._path = Path(os.path.realpath(path))
        self._before = _set_aside(self._path)
        try:
            self._file: BinaryIO = open(self._path, "wb", buffering=0)  # noqa: SIM115 (closed by close)
        except OSError:
            if self._before is not None:
                os.replace(self._before, self._path)
            raise
        self._pack: Any = zlib.compressobj(1, zlib.DEFLATED, 31) if path.endswith(".gz") else None
        self._first = self._is_open = True
        self.failed, self.size = "", 0
        self._put(b'{"displayTimeUnit":"ns","traceEvents":[\n')

    def add(self, lines: list[bytes]) -> None:
        """Append events."""
        if lines:
            self._put((b"" if self._first else b",\n") + b",\n".join(lines))
            self._first = False

    def flush(self) -> None:
        """Let everything be read that was added."""
        if self._is_open and self._pack is not None:
            self._write(self._pack.flush(zlib.Z_SYNC_FLUSH))

    def close(self) -> None:
        """End the file; one in which nothing was recorded leaves the file that was there."""
        self._put(b"\n]}\n")
        if self._pack is not None:
            self._write(self._pack.flush())
        if not self._is_open:
            return
        try:
            self._file.close()
            if self._path.is_file():
                sync(self._path)
                if self._path.stat().st_size != self.size:
                    raise Incomplete("only a part of it was written")
        except (OSError, Incomplete) as error:
            self._fail(error)
            return
        self._is_open = False
        if self._before is not None and self._first:
            os.replace(self._before, self._path)
        elif self._before is not None:
            with contextlib.suppress(OSError):
                os.chmod(self._path, stat.S_IMODE(self._before.stat().st_mode))
                self._before.unlink()

    def _put(self, data: bytes) -> None:
        self._write(self._pack.compress(data) if self._pack is not None else data)

    def _write(self, data: bytes) -> None:
        if not self._is_open:
            return
        view = memoryview(data)
        try:
            while view:
                written = self._file.write(view)
                self.size += written
                view = view[written:]
        except OSError as error:
            self._fail(error)

    def _fail(self, error: OSError | Incomplete) -> None:
        """Give the file that was there its name back, and keep what was written."""
        self._is_open = False
        with contextlib.suppress(OSError):
            self._file.close()
        said = f"can't be written: {reason(error, self._path.parent, self.size)}"
        kept = self._path
        if self._before is not None:
            with contextlib.suppress(OSError):
                kept = _free_name(self._path, "partial")
                os.rename(self._path, kept)
                os.replace(self._before, self._path)
            said += f"; {self._path.name} is as it was"
        self.failed = f"{said}; what was recorded until then is in {kept.name}"


def _set_aside(path: Path) -> Path | None:
    """Give the file at ``path`` another name, and return that; None where there is nothing to lose."""
    if not path.is_file() or not path.stat().st_size:
        return None
    aside = _free_name(path, "before")
    try:
        os.rename(path, aside)
    except OSError:  # a file that can be written to, in a folder that can't
        return None
    return aside


def _free_name(path: Path, word: str) -> Path:
    """Return ``run.WORD.json.gz`` for ``run.json.gz``, or that with a number if it is taken."""
    stem, dot, suffixes = path.name.partition(".")
    for number in range(1, 10_000):
        name = f"{stem}.{word}{'' if number == 1 else number}{dot}{suffixes}"
        if not (path.parent / name).exists():
            return path.parent / name
    raise FileExistsError(f"{path.parent / stem}.{word}…")
