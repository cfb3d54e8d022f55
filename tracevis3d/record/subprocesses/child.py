"""Processes that a recorded one forks or spawns: each has files of its own within the recording's folder.

The writer reads them all into one file (:mod:`.children`). POSIX alone: whether a process lives is seen by a
lock on a file, which ends with it however that happens.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable
from typing import Any

from .. import state
from ..output.descriptor import Descriptor
from ..output.spool import Spool

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment,unused-ignore]

#: Folders of processes begin so, and the file in each that is locked while its process lives.
PREFIX, ALIVE = "child-", "alive"


#: The module that begins a recording in another interpreter; imported there alone.
_BEGIN = f"{__package__}.begin"


def lock(fd: int, wait: bool) -> None:
    """Lock a file for this process.

    Parameters
    ----------
    fd : int
        Its descriptor.
    wait : bool
        Whether to wait while another process has locked it.

    Raises
    ------
    OSError
        If another process has locked it and ``wait`` is False.
    """
    fcntl.flock(fd, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))


class Child:
    """Where a process puts its rows; made before the fork, so that the writer misses none.

    Parameters
    ----------
    folder : str
        The recording's.

    Attributes
    ----------
    folder : str
        The recording's.
    endpoint : str
        Always empty: the feed is the first process's.

    Raises
    ------
    OSError
        If the folder no longer exists (the recording has ended), or files have no locks here.
    """

    endpoint = ""

    def __init__(self, folder: str) -> None:
        if fcntl is None:
            raise OSError("processes are recorded where files can be locked")
        self.folder = folder
        name = f"{PREFIX}{os.getpid()}-{os.urandom(4).hex()}"
        made = os.path.join(folder, f".{name}")
        os.mkdir(made, 0o700)
        self._alive = Descriptor(os.open(os.path.join(made, ALIVE), os.O_CREAT | os.O_RDWR, 0o600))
        lock(self._alive.number, True)
        self._own = os.path.join(folder, name)
        # Seen by the writer only now that the lock is held.
        os.rename(made, self._own)

    def open(self) -> Spool:
        """Return the spool, in the process itself."""
        return Spool(self._own)

    def part(self, number: int) -> str:
        """Return the path of a file that the writer reads and deletes."""
        return os.path.join(self._own, f"part-{number}")

    def finish(self) -> str:
        """Let the writer know that all is written; return "": only the first process has a sentence."""
        self.abandon()
        return ""

    def abandon(self) -> None:
        """Release the lock, in any process that has it."""
        self._alive.close()

    def discard(self) -> None:
        """Remove the folder: there is no such process."""
        self.abandon()
        shutil.rmtree(self._own, ignore_errors=True)


def prepared(folder: str) -> Child | None:
    """Return the place of a process about to be forked; None if it can't be recorded."""
    try:
        return Child(folder)
    except OSError:
        return None


def _root() -> str:
    """Return the folder from which this module is imported."""
    root = __file__
    for _ in range(__name__.count(".") + 1):
        root = os.path.dirname(root)
    return root


def beginning(options: str, folder: str) -> str:
    """Return Python code that begins a recording in another interpreter.

    Parameters
    ----------
    options : str
        The recording's :class:`.Options`, as JSON.
    folder : str
        The recording's.

    Returns
    -------
    str
        On one line; more code may follow.
    """
    root = _root()
    return (
        f"import sys; sys.path.insert(0, {root!r}); from {_BEGIN} import begin; sys.path.remove({root!r}); "
        f"begin({options!r}, {folder!r}); "
    )


def spawning(options: str, folder: str) -> Callable[[Any], Any]:
    """Return a wrapper for the function that makes the command line of a spawned process.

    Parameters
    ----------
    options, folder : str
        As for :func:`beginning`.

    Returns
    -------
    callable
        For :meth:`.Patches.wrap`.
    """

    def make(original: Any) -> Any:
        def get_command_line(**kwargs: Any) -> Any:
            words = original(**kwargs)
            if state.recording and "-c" in words:
                at = words.index("-c") + 1
                words[at] = beginning(options, folder) + words[at]
            return words

        return get_command_line

    return make


def serving(options: str, folder: str) -> Callable[[Any], Any]:
    """Return a wrapper for the function that starts the process from which others are forked.

    Parameters
    ----------
    options, folder : str
        As for :func:`beginning`.

    Returns
    -------
    callable
        For :meth:`.Patches.wrap`.
    """

    def make(original: Any) -> Any:
        def spawnv_passfds(path: Any, args: Any, passfds: Any) -> Any:
            if state.recording and str(args[-1]).startswith("from multiprocessing.forkserver import main"):
                args = [*args[:-1], beginning(options, folder) + args[-1]]
            return original(path, args, passfds)

        return spawnv_passfds

    return make


def starting(options: str, folder: str) -> Callable[[Any], Any]:
    """Return a wrapper for ``subprocess.Popen.__init__``: interpreters like the running one are recorded.

    Parameters
    ----------
    options, folder : str
        As for :func:`beginning`.

    Returns
    -------
    callable
        For :meth:`.Patches.wrap`.
    """
    ours = os.path.realpath(sys.executable or "")

    def make(original: Any) -> Any:
        def __init__(self: Any, args: Any, *more: Any, **named: Any) -> None:  # noqa: N807
            if state.recording and not more and fcntl is not None and _is_python(args, named, ours):
                given = named.get("env")
                env = dict(os.environ if given is None else given)
                path = env.get("PYTHONPATH")
                said = {"options": options, "folder": folder, "path": path, "root": _root()}
                env[_CHILD] = json.dumps({**said, "module": _BEGIN})
                env["PYTHONPATH"] = _STARTING if not path else f"{_STARTING}{os.pathsep}{path}"
                named["env"] = env
            original(self, args, *more, **named)

        return __init__

    return make


#: The variable that says to an interpreter that it is recorded, and the folder from which it reads that.
_CHILD = "TRACEVIS3D_CHILD"
_STARTING = os.path.join(os.path.dirname(os.path.abspath(__file__)), "starting")


def _is_python(args: Any, named: dict[str, Any], ours: str) -> bool:
    """Whether a command runs the interpreter that is running, and lets it hear of its environment."""
    if not isinstance(args, list | tuple) or not args or named.get("shell") or not ours:
        return False
    try:
        words = [os.fsdecode(word) for word in args]
        program = os.fsdecode(named.get("executable") or words[0])
    except TypeError:
        return False
    # A name without a folder is looked for by the system: leave it as it is.
    if os.path.realpath(program) != ours or not os.path.isabs(program):
        return False
    for word in words[1:]:
        if not word.startswith("-") or word.startswith(("-c", "-m", "--")):
            break
        if set(word) & set("IES"):
            return False
    return True
