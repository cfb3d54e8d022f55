"""The frames of films that are being made: kept until the film is whole, so that a stopped one continues."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from ...errors import Cancelled
from ...trace.storage.cache import films


@contextlib.contextmanager
def kept_frames(key: str, film: Path) -> Iterator[Path]:
    """Yield a folder for the frames of a film, with those of an earlier try.

    It stays if the film was interrupted, or the process killed, and is removed if it was made or failed.

    Parameters
    ----------
    key : str
        All that the frames depend on beyond their names.
    film : Path
        The folder lies beside it where the cache can't be written.

    Yields
    ------
    Path
    """
    with contextlib.ExitStack() as stack:
        try:
            folder = _claimed(films() / key, stack)
        except OSError:
            folder = _claimed(film.parent / f".{film.name[:60]}.{key[:8]}.frames", stack)
        try:
            yield folder
        except (KeyboardInterrupt, Cancelled):
            with contextlib.suppress(OSError):
                os.rmdir(folder)  # nothing is in it yet
            raise
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        shutil.rmtree(folder, ignore_errors=True)


def _claimed(folder: Path, stack: contextlib.ExitStack) -> Path:
    """Make a folder and lock it; return another one where a second process makes the same film."""
    folder.mkdir(parents=True, exist_ok=True)
    if sys.platform == "win32":
        return folder
    import fcntl

    descriptor = os.open(folder, os.O_RDONLY)
    stack.callback(os.close, descriptor)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        folder = folder.with_name(f"{folder.name}-{os.getpid()}")
        folder.mkdir(exist_ok=True)
    return folder
