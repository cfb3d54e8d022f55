"""Ctrl-C and SIGTERM: heard at any moment, obeyed where nothing breaks.

Blender swallows an exception that is raised in a callback, and ends with a fault where one comes while it
starts. So it works while interrupts are held: a signal sets a flag, which is examined between frames.
C code that takes some seconds more, and a second signal, end the process at once; partial files go first.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import select
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from types import FrameType
from typing import Any, NoReturn

from .atomic import remove_partial_files

#: Maximum number of seconds until C code can be stopped.
PATIENCE_S = 2.0
#: After so many seconds in which Python's handler had no turn the signal is sent once more.
_AGAIN_S = 0.1
_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_STOP = b"\0"


class Interrupted(KeyboardInterrupt):
    """A signal came.

    Parameters
    ----------
    number : int
        Of the signal.
    """

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number


class _State:
    """What has been heard: signals belong to the process."""

    def __init__(self) -> None:
        self.number = self.received = self.resent = self.held = self.loading = 0
        self.installed = False
        self.listener: threading.Thread | None = None


_state = _State()
#: Further clean-up before the process ends at once.
_at_end: list[Callable[[], object]] = [remove_partial_files]


def exit_code(error: BaseException) -> int:
    """Return the code that a shell expects after an interrupt: 130 for Ctrl-C, 143 for SIGTERM."""
    return 128 + (_state.number or getattr(error, "number", signal.SIGINT))


def signal_received() -> bool:
    """Return whether a signal has come."""
    return bool(_state.number)


def check() -> None:
    """Raise :class:`Interrupted` if a signal has come.

    Raises
    ------
    Interrupted
        If one has come.
    """
    if _state.number:
        raise Interrupted(_state.number)


def forget() -> None:
    """Go on after a signal: whoever sent it wanted what was being done to stop, and no more."""
    _state.number = _state.received = _state.resent = 0


def at_end(clean_up: Callable[[], object]) -> None:
    """Call ``clean_up`` before the process is ended at once."""
    _at_end.append(clean_up)


@contextlib.contextmanager
def held(loading: bool = False) -> Iterator[None]:
    """Let no signal interrupt the block; it is raised at its end, or by :func:`check` within it.

    Parameters
    ----------
    loading : bool
        The block ends soon by itself, and must not be cut short.

    Yields
    ------
    None
    """
    _state.held += 1
    _state.loading += loading
    try:
        yield
    finally:
        _state.held -= 1
        _state.loading -= loading
    if not _state.held:
        check()


@contextlib.contextmanager
def handled(*numbers: int) -> Iterator[None]:
    """Handle signals as this module says, unless somebody else handles them.

    Parameters
    ----------
    *numbers : int
        The signals; default Ctrl-C's and SIGTERM.

    Yields
    ------
    None
    """
    uninstall = _install(numbers or _SIGNALS)
    try:
        yield
    finally:
        uninstall()


def run(program: Callable[[], int]) -> NoReturn:
    """Run a whole program and exit, with the code of :func:`exit_code` if a signal ends it."""
    _install(_SIGNALS)
    try:
        code = program()
    except KeyboardInterrupt as interrupt:
        _say()
        code = exit_code(interrupt)
    # Everything is written or removed: don't disturb the shutdown of Python and Blender.
    for number in _SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    if "bpy" in sys.modules:
        _leave(code)
    sys.exit(code)


def _leave(code: int) -> NoReturn:
    """End the process without Blender's destructors.

    Those of bpy 4.5 may wait forever for a thread of its sound device, and those of 4.2 crash.
    """
    atexit._run_exitfuncs()
    _clean_up()
    with contextlib.suppress(OSError, ValueError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code)


def _install(numbers: Iterable[int]) -> Callable[[], None]:
    """Install the handlers; return what undoes it."""
    if threading.current_thread() is not threading.main_thread() or _state.installed:
        return lambda: None
    usual = (signal.default_int_handler, signal.SIG_DFL)
    before = {number: signal.getsignal(number) for number in numbers}
    before = {number: handler for number, handler in before.items() if handler in usual}
    unraisable = sys.unraisablehook
    forget()
    _state.installed = True
    stop_listening = _listen_aside()
    sys.unraisablehook = _without_interrupts(unraisable)
    for number in before:
        signal.signal(number, _handle)

    def uninstall() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)
        sys.unraisablehook = unraisable
        stop_listening()
        _state.installed = False
        forget()

    return uninstall


def _handle(number: int, frame: FrameType | None) -> None:
    again, _state.number = bool(_state.number), _state.number or number
    if again and _state.listener is None:
        _end(number)
    if not again and not _state.held:
        raise Interrupted(number)


def _end(number: int) -> NoReturn:
    _clean_up()
    _say()
    os._exit(128 + number)


def _clean_up() -> None:
    for clean_up in _at_end:
        with contextlib.suppress(Exception):
            clean_up()


def _say() -> None:
    with contextlib.suppress(OSError):
        os.write(2 if _stderr < 0 else _stderr, b"\ntracevis3d: interrupted\n")


#: Standard error as it was: while Blender works, its own descriptor leads elsewhere.
_stderr = -1


def _listen_aside() -> Callable[[], None]:
    """Hear signals in a thread: while C code runs, Python's handlers have no turn. Return what ends it."""
    global _stderr
    if not hasattr(signal, "set_wakeup_fd") or sys.platform == "win32":
        return lambda: None
    receiver, sender = os.pipe()
    os.set_blocking(sender, False)
    with contextlib.suppress(OSError):  # closed, as for a program without a console
        _stderr = os.dup(2)
    before = signal.set_wakeup_fd(sender, warn_on_full_buffer=False)
    listener = _state.listener = threading.Thread(target=_listen, args=(receiver,), daemon=True)
    listener.start()

    def stop() -> None:
        global _stderr
        signal.set_wakeup_fd(before)
        os.write(sender, _STOP)
        listener.join()
        _state.listener = None
        for descriptor in (receiver, sender, _stderr):
            if descriptor >= 0:
                os.close(descriptor)
        _stderr = -1

    return stop


def _listen(receiver: int) -> None:
    number = resent = 0
    while True:
        # Python's own handler may not have run yet, so the signals counted here decide.
        waiting = _state.received and _state.held and not _state.loading
        unheard = _state.received and not (_state.held or _state.number or _state.resent)
        patience = PATIENCE_S if waiting else _AGAIN_S if unheard else None
        came, _, _ = select.select([receiver], [], [], patience)
        if came:
            came_now = os.read(receiver, 1)[0]
            if came_now == _STOP[0]:
                return
            if came_now in _SIGNALS and signal.getsignal(came_now) is _handle:
                if resent:
                    resent -= 1
                    continue
                number = came_now
                _state.received += 1
                if _state.received > 1:
                    _end(number)
        elif _state.received and _state.held and not _state.loading:
            _end(number)
        elif unheard and not _state.number:
            # It came just before a system call began, which nothing interrupts then.
            _state.resent = resent = 1
            signal.pthread_kill(threading.main_thread().ident or 0, number)


def _without_interrupts(hook: Callable[[Any], object]) -> Callable[[Any], object]:
    """Return a hook that says nothing of an interrupt which C code could not pass on: the flag is set."""

    def quiet(unraisable: Any) -> None:
        if not isinstance(unraisable.exc_value, Interrupted):
            hook(unraisable)

    return quiet
