"""Real programs that are being used while they are recorded, for Blender to watch."""

from __future__ import annotations

import http.client
import os
import pty
import select
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
#: Editors, and the keys that leave them without saving.
_EDITORS = {"nano": (b"\x18", b"n"), "vim": (b"\x1b", b":q!\r")}
#: What the documentation server is asked for, again and again.
_PAGES = (
    "/",
    "/json.html",
    "/http.server.html",
    "/xml.etree.ElementTree.html",
    "/topics.html",
    "/asyncio.html",
)
_PATIENCE = 30.0  # seconds


def editor() -> str:
    """Return the name of a text editor of this machine that can be used here; empty where there is none."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    return next((name for name in _EDITORS if shutil.which(name)), "") if compiler else ""


def free_port() -> int:
    """Return an unused port of this machine."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def free_endpoint() -> str:
    """Return an endpoint that a feed can be published at."""
    return f"tcp://127.0.0.1:{free_port()}"


@contextmanager
def text_editor(endpoint: str, folder: Path) -> Iterator[None]:
    """Publish the memory of a text editor in which a user types and copies, until the context ends."""
    name = editor()
    text = folder / "notes.txt"
    text.write_text("A line of a text that is long enough to be looked at.\n" * 2000)
    words = ["--native", "--live", endpoint, "-o", str(folder / f"{name}.json.gz"), "--", name, str(text)]
    screen, terminal = pty.openpty()
    program = _record(words, stdin=terminal, stdout=terminal, stderr=subprocess.DEVNULL)
    os.close(terminal)
    # An editor that takes no keys must not hold up who types.
    os.set_blocking(screen, False)
    typing = _Using(lambda turn: _type(screen, name, turn), 0.05)
    threading.Thread(target=_swallow, args=(screen,), daemon=True).start()
    try:
        yield
    finally:
        typing.stop()
        for keys in _EDITORS[name]:
            with suppress(OSError):
                os.write(screen, keys)
            time.sleep(0.3)
        _end(program)
        os.close(screen)


def _type(screen: int, name: str, turn: int) -> None:
    keys = b"number %d \r" % turn
    if name == "nano" and turn % 60 == 20:  # 200 lines are marked, copied, and pasted at the end
        keys = b"\x1b\\\x1b6" * 200 + b"\x1b/\x15"
    elif name == "vim":
        # Not all lines: a text that doubles each time keeps the editor from its keys.
        keys = {20: b":1,200y\r:$put\r", 50: b":%s/line/LINE/e\ru"}.get(turn % 60, b"Go" + keys + b"\x1b")
    os.write(screen, keys)


def _swallow(screen: int) -> None:
    with suppress(OSError):
        while select.select([screen], [], []) and os.read(screen, 65536):
            pass


@contextmanager
def documentation_server(endpoint: str, folder: Path) -> Iterator[None]:
    """Publish all of Python's documentation server while pages are asked of it, until the context ends."""
    more = ["--memory", "--threads", "--io", "-o", str(folder / "server.json.gz")]
    port = free_port()
    server = ["-m", "pydoc", "-n", "127.0.0.1", "-p", str(port)]
    program = _record(["--live", endpoint, *more, *server], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    asking = _Using(lambda turn: _ask(port, turn), 0.2)
    try:
        yield
    finally:
        asking.stop()
        assert program.stdin is not None
        with suppress(OSError):
            program.stdin.write(b"q\n")
            program.stdin.close()
        _end(program)


def _ask(port: int, turn: int) -> None:
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=_PATIENCE)) as server:
        server.request("GET", _PAGES[turn % len(_PAGES)])
        server.getresponse().read()


class _Using:
    """A user of a program: does the same again and again, ``apart`` seconds apart."""

    def __init__(self, act: Callable[[int], None], apart: float) -> None:
        self._over = threading.Event()
        self._act, self._apart = act, apart
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        turn = 0
        while not self._over.wait(self._apart):
            with suppress(OSError, http.client.HTTPException):  # not there yet, or no longer
                self._act(turn)
                turn += 1

    def stop(self) -> None:
        """Let it end what it does."""
        self._over.set()
        self._thread.join(_PATIENCE)


def _record(words: list[str], **streams: int) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "tracevis3d", "record", "--quiet", *words]
    environment = {**os.environ, "TERM": "xterm"}
    return subprocess.Popen(command, cwd=ROOT, env=environment, start_new_session=True, **streams)  # type: ignore[call-overload,no-any-return]


def _end(program: subprocess.Popen[bytes]) -> None:
    with suppress(subprocess.TimeoutExpired):
        program.wait(_PATIENCE)
    # What it has begun ends with it: an editor, what writes the recording.
    with suppress(ProcessLookupError):
        os.killpg(program.pid, signal.SIGKILL)
    program.wait()
