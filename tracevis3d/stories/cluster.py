"""Frames and commands on many machines, by Dask: a worker that dies costs what it was working on alone.

Dask's workers run what they are asked for in threads, and Blender needs a process: so a worker keeps a
process that has read, drawn and built a film, and asks it for one frame after the other.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import queue
import shutil
import subprocess
import sys
import threading
import uuid
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from .. import interrupts
from ..atomic import replacing, write_text
from ..drawing.output import Output
from ..errors import InputError, MissingDependency, UsageError
from ..progress import Progress
from ..trace.storage.cache import code_version
from ..version import __version__
from .jobs import DONE, WORDS
from .read import as_words
from .story import Story

if TYPE_CHECKING:
    from ..scene.films.staged import Frames, Shown

#: A cluster of processes on this machine.
LOCAL = "local"
_EVERY = 0.2  # seconds between two looks at whether the user wants to stop
_ANSWER = 10.0  # seconds in which a scheduler answers
_READING = ("drawing", "scene", "views", "features", "stories")

T = TypeVar("T")


def check(scheduler: str, jobs: int) -> None:
    """Raise if work can't be given to a scheduler; nothing is connected.

    Parameters
    ----------
    scheduler : str
        ``local``, or an address such as ``tcp://host:8786``.
    jobs : int
        How many processes are wanted of a local one.

    Raises
    ------
    UsageError
        If it is no address, or this is Blender's own Python.
    MissingDependency
        If Dask is not installed.
    """
    if not scheduler:
        return
    if not __name__.startswith("tracevis3d."):
        raise UsageError("--scheduler: inside Blender there is one process; install the package tracevis3d")
    if scheduler != LOCAL and "://" not in scheduler:
        raise UsageError(f"--scheduler {scheduler}: {LOCAL} or an address such as tcp://host:8786")
    if scheduler != LOCAL and jobs > 1:
        raise UsageError("--jobs: the workers of a --scheduler are started where it runs")
    _dask()


def _dask() -> Any:
    try:
        import distributed
    except ImportError:
        raise MissingDependency(
            "many machines need Dask: pip install 'tracevis3d[machines]', here and where its workers run"
        ) from None
    return distributed


@contextlib.contextmanager
def connected(scheduler: str, jobs: int) -> Iterator[Any]:
    """Yield a client of a scheduler; a local one is started, with workers, and ended.

    Parameters
    ----------
    scheduler : str
        ``local`` or an address.
    jobs : int
        Workers of a local one.

    Yields
    ------
    distributed.Client

    Raises
    ------
    InputError
        If no scheduler answers.
    """
    dask = _dask()
    with contextlib.ExitStack() as stack:
        if scheduler == LOCAL:
            # Its memory is that of the processes it starts, which it does not see.
            scheduler = stack.enter_context(
                dask.LocalCluster(
                    n_workers=jobs, threads_per_worker=1, memory_limit=0, dashboard_address=None,
                    silence_logs=logging.CRITICAL,
                )
            ).scheduler_address  # fmt: skip
        try:
            client = stack.enter_context(dask.Client(scheduler, timeout=_ANSWER, set_as_default=False))
        except (OSError, ValueError) as error:
            reason = str(error).splitlines()[0] if str(error) else "it does not answer"
            raise InputError(f"--scheduler {scheduler}: {reason}") from None
        yield client


def contents_of(paths: Sequence[str], client: Any, scheduler: str) -> dict[str, Any]:
    """Return what workers need to read files: nothing where they read them themselves.

    Parameters
    ----------
    paths : sequence of str
    client : distributed.Client
    scheduler : str
        ``local``: the workers have our files.

    Returns
    -------
    dict of str to Future or None
        By path.

    Raises
    ------
    InputError
        If one can't be read.
    """
    if scheduler == LOCAL:
        return dict.fromkeys(paths)
    found = {}
    for path in paths:
        try:
            content = Path(path).read_bytes()
        except OSError as error:
            raise InputError(f"{path}: {error.strerror or error}") from None
        with warnings.catch_warnings():
            # The scheduler keeps it: data that is scattered is lost with the worker that has it.
            warnings.filterwarnings("ignore", message="Sending large graph")
            found[path] = client.submit(bytes, content, pure=False)
    return found


def gather(
    client: Any,
    work: Mapping[T, Any],
    store: Callable[[T, Any], None],
    progress: Progress,
    what: str,
) -> None:
    """Store results as they come, until all are there.

    Parameters
    ----------
    client : distributed.Client
    work : mapping of T to Future
    store : callable
        ``store(what it is of, result)``.
    progress : Progress
    what : str
        One of the things that are counted, such as ``frame``.

    Raises
    ------
    InputError
        If one can't be made on any machine.
    """
    ready: queue.SimpleQueue[T] = queue.SimpleQueue()
    for key, future in work.items():
        future.add_done_callback(lambda _, key=key: ready.put(key))
    left = dict(work)
    while left:
        try:
            key = ready.get(timeout=_EVERY)
        except queue.Empty:
            done = len(work) - len(left)
            machines = len(client.nthreads())
            who = f"{machines} workers" if machines else "no worker yet: waiting for one"
            progress(done / len(work), f"{what} {done + 1} of {len(work)} ({who})")
            interrupts.check()
            continue
        future = left.pop(key)
        try:
            store(key, future.result())
        except Exception as error:
            if isinstance(error, (OSError, InputError, UsageError, MissingDependency)):
                raise
            reason = " ".join(str(error).split()) or type(error).__name__
            raise InputError(f"--scheduler: a worker failed: {reason}") from None
        future.release()
        progress((len(work) - len(left)) / len(work), f"{what} {len(work) - len(left)} of {len(work)}")
        interrupts.check()


def render_on(
    scheduler: str,
    jobs: int,
    frames: Frames,
    missing: Sequence[Shown],
    film: tuple[Story, Output, Sequence[Shown]],
    progress: Progress,
) -> None:
    """Let the workers of a scheduler render frames, each a task of its own.

    Parameters
    ----------
    scheduler : str
        ``local`` or an address.
    jobs : int
        Workers of a local one.
    frames : Frames
        Where they are kept.
    missing : sequence of Shown
    film : (Story, Output, sequence of Shown)
        The whole film, with all of its frames.
    progress : Progress

    Raises
    ------
    InputError
        If no scheduler answers, or a frame can't be rendered by any worker.
    """
    if not missing:
        return
    story, output, all_frames = film
    number = {frames.path(shown): i for i, shown in enumerate(all_frames)}
    words = json.dumps({"story": as_words(story), "output": asdict(output)})
    token = uuid.uuid4().hex
    with connected(scheduler, jobs) as client:
        files = contents_of([os.path.abspath(name) for name in story.files], client, scheduler)
        named = {name: os.path.abspath(name) for name in story.files}
        tasks = {
            path: client.submit(
                frame_of, token, words, named, files, number[path], version(), pure=False, retries=2,
                key=f"frame-{number[path]}-{token}",
            )
            for path in map(frames.path, missing)
        }  # fmt: skip

        def store(path: Path, picture: bytes) -> None:
            with replacing(path) as partial:
                partial.write_bytes(picture)

        try:
            gather(client, tasks, store, progress, "frame")
        finally:
            cancel(client, tasks.values())
            with contextlib.suppress(Exception):
                client.run(forget, token)


def version() -> str:
    """Return what has to be the same where frames are rendered: the program's version, and its code."""
    return f"{__version__} ({code_version(*_READING)[:8]})"


def check_version(at_home: str) -> None:
    """Raise unless this machine has the version of another.

    Parameters
    ----------
    at_home : str
        The other's :func:`version`.

    Raises
    ------
    InputError
    """
    if at_home != version():
        raise InputError(
            f"a worker has tracevis3d {version()}, not {at_home}: install the same version there"
        )


def cancel(client: Any, futures: Iterable[Any]) -> None:
    """Let go of tasks that nobody waits for any more.

    Parameters
    ----------
    client : distributed.Client
    futures : iterable of Future
    """
    with contextlib.suppress(Exception):
        client.cancel(list(futures))


class _Renderer:
    """A process that renders frames of a film, one after the other."""

    def __init__(self, folder: Path) -> None:
        self._said = (folder / f"{threading.get_ident()}.txt").open("w+", encoding="utf-8")
        self._process = subprocess.Popen(
            [sys.executable, "-m", f"{__package__}.worker", os.fspath(folder)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._said, text=True,
        )  # fmt: skip

    def render(self, number: int) -> Path:
        """Return the file of a frame."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(f"[{number}]\n")
            self._process.stdin.flush()
        for line in self._process.stdout:
            if line.startswith(DONE):
                return Path(json.loads(line[len(DONE) :])[0])
        self._process.wait()
        self._said.seek(0)
        lines = self._said.read().strip().splitlines()
        raise InputError(lines[-1] if lines else "the process that renders was ended: run it again")

    def close(self) -> None:
        """End it."""
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        self._process.terminate()
        self._process.wait()
        self._said.close()


class _Film:
    """A film of which a worker renders frames: its folder, and processes that have built it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.waiting: list[_Renderer] = []
        self.busy = 0

    def close(self) -> None:
        """End what waits; the folder goes with the last that renders."""
        while self.waiting:
            self.waiting.pop().close()
        if not self.busy:
            shutil.rmtree(self.folder, ignore_errors=True)


#: The films of a worker, by their tokens.
_films: dict[str, _Film] = {}
_lock = threading.Lock()


def frame_of(
    token: str,
    words: str,
    named: Mapping[str, str],
    files: Mapping[str, bytes | None],
    number: int,
    at_home: str,
) -> bytes:
    """Render a frame; run by a worker.

    Parameters
    ----------
    token : str
        Of this making of the film.
    words : str
        The story and its output, as JSON.
    named : mapping of str to str
        The story's names of traces, and where they are at home.
    files : mapping of str to bytes or None
        Their contents by those places; None: the worker reads the file itself.
    number : int
        Of the frame.
    at_home : str
        Version of the program there.

    Returns
    -------
    bytes
        A .png.

    Raises
    ------
    InputError
        If it can't be rendered here, or by another version.
    """
    check_version(at_home)
    with _lock:
        # A film that is not asked for any more, because its maker was killed, keeps no processes.
        for other in [key for key, film in _films.items() if key != token and not film.busy]:
            _films.pop(other).close()
        if token not in _films:
            _films[token] = _Film(_folder(words, named, files))
        film = _films[token]
        film.busy += 1
        renderer = film.waiting.pop() if film.waiting else None
    try:
        if renderer is None:
            renderer = _Renderer(film.folder)
        picture = renderer.render(number)
        content = picture.read_bytes()
        picture.unlink()
    except BaseException:
        if renderer is not None:
            renderer.close()
            renderer = None
        raise
    finally:
        with _lock:
            film.busy -= 1
            if renderer is not None:
                film.waiting.append(renderer)
            if _films.get(token) is not film:
                film.close()
    return content


def forget(token: str) -> None:
    """End the processes that wait for frames of a film; run by a worker when it is made.

    Parameters
    ----------
    token : str
        See :func:`frame_of`.
    """
    with _lock:
        if token in _films:
            _films.pop(token).close()


def _folder(words: str, named: Mapping[str, str], files: Mapping[str, bytes | None]) -> Path:
    """Return a folder with the film's words, and with the traces that this machine has not got."""
    import tempfile

    # Dask removes it if the worker could not.
    folder = Path(tempfile.mkdtemp(prefix="tracevis3d-", dir=_dask().get_worker().local_directory))
    places = {}
    for i, (name, home) in enumerate(named.items()):
        content = files[home]
        places[name] = home
        if content is not None:
            # A trace is named by its file.
            place = folder / str(i) / Path(home).name
            place.parent.mkdir()
            place.write_bytes(content)
            places[name] = str(place)
    write_text(folder / WORDS, json.dumps({**json.loads(words), "files": places}))
    return folder
