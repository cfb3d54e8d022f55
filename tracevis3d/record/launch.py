"""Run a program under a recording, in the place that the interpreter would have given it."""

from __future__ import annotations

import atexit
import json
import os
import sys
from types import ModuleType, TracebackType
from typing import Any, NoReturn

from . import state
from .memory.choice import about
from .options import Options
from .session import Session


def main(words: list[str]) -> None:
    """Run as ``python -c``: options as JSON, ``script`` or ``module``, its name, and its arguments."""
    options, how, name = json.loads(words[0]), words[1], words[2]
    quiet = options.pop("quiet")
    interpreter = options.pop("interpreter")
    # Viewers see the program, not the recorder.
    sys.argv = [name, *words[3:]]
    try:
        session = Session(Options(**options), keep=False)
    except (OSError, ValueError) as error:
        _refuse(options["path"] or options["live"], error)
    if session.endpoint and not quiet:
        sys.stderr.write(f"tracevis3d: live at {session.endpoint}\n")
        if options.get("wait"):
            sys.stderr.write("tracevis3d: waiting for a viewer (tracevis3d watch, or Blender's panel Live)\n")
        sys.stderr.flush()
    if options["memory"] and not quiet:
        # After the endpoint: whoever starts the program reads that first.
        said = about(options["memory"], bool(session.endpoint), options.get("frames", 0))
        sys.stderr.write(f"tracevis3d: {said}\n")
        sys.stderr.flush()
    try:
        session.wait_for_viewer()
    except ValueError as error:
        _refuse(options["live"], error)
    run = _script(name, words[3:]) if how == "script" else _module(name, words[3:])
    # As without the recorder.
    sys.orig_argv = [*interpreter, *(["-m"] if how == "module" else []), *words[2:]]

    def end() -> None:
        said = session.stop()
        if said and (not quiet or session.failed):
            sys.stderr.write(f"tracevis3d: {said}\n")

    # The first to be registered is the last to run: the program's own come before.
    atexit.register(end)
    _clean_in_threads()
    try:
        session.start()
    except (OSError, ValueError) as error:
        _refuse(options["path"] or options["live"], error)
    try:
        run()
    except BaseException:
        # The hook that shows it (the program may have set its own) must see the program's frames only.
        shown = sys.excepthook

        def show(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
            _clean(error)
            shown(kind, error, error.__traceback__)

        sys.excepthook = show
        raise


def _refuse(target: str, error: OSError | ValueError) -> NoReturn:
    """Say in one sentence why the program can't be recorded."""
    reason: object = error
    if isinstance(error, OSError) and error.strerror:
        place = f"{error.filename}: " if error.filename else ""
        reason = f"{place}{error.strerror}"
    sys.stderr.write(f"tracevis3d: {target}: can't be recorded: {reason}\n")
    sys.exit(1)


def _script(path: str, arguments: list[str]) -> Any:
    """Prepare to run a file (or a folder, or a zip with a ``__main__.py``) as ``python FILE`` does."""
    sys.argv = [path, *arguments]
    if os.path.isdir(path) or _is_archive(path):
        sys.path[0] = path
        return lambda: _as_main("__main__", False)
    sys.path[0] = os.path.dirname(os.path.realpath(path))
    full = os.path.abspath(path)
    try:
        with open(full, "rb") as file:
            source = file.read()
    except OSError as error:
        # The interpreter's own message and exit code.
        sys.stderr.write(
            f"{sys.executable}: can't open file {full!r}: [Errno {error.errno}] {error.strerror}\n"
        )
        sys.exit(2)

    # Before anything is recorded.
    loader = _loader(full)

    def run() -> None:
        import __main__ as ours

        module = ModuleType("__main__")
        _kept.append(ours)
        values = vars(module)
        values["__loader__"] = loader
        if sys.version_info < (3, 14):
            values["__annotations__"] = {}
        values.update(__builtins__=sys.modules["builtins"], __file__=full, __cached__=None)
        sys.modules["__main__"] = module
        code = compile(source, full, "exec", dont_inherit=True)
        exec(code, values)

    return run


#: Modules that must not be emptied while the program runs.
_kept: list[ModuleType] = []


def _loader(path: str) -> Any:
    from importlib.machinery import SourceFileLoader

    return SourceFileLoader("__main__", path)


def _is_archive(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            return file.read(4) == b"PK\3\4"
    except OSError:
        return False


def _module(name: str, arguments: list[str]) -> Any:
    sys.argv = [name, *arguments]
    sys.path[0] = os.getcwd()
    return lambda: _as_main(name, True)


def _as_main(name: str, alter_argv: bool) -> Any:
    import runpy

    _kept.append(sys.modules["__main__"])
    sys.modules["__main__"] = ModuleType("__main__")
    sys.modules["__main__"].__dict__["__builtins__"] = sys.modules["builtins"]
    return runpy._run_module_as_main(name, alter_argv)  # type: ignore[attr-defined]


def without_ours(trace: TracebackType | None) -> TracebackType | None:
    """Take the recorder's frames, and the one that started it, out of a traceback."""
    kept = []
    if trace is not None and trace.tb_frame.f_code.co_filename == "<string>":
        trace = trace.tb_next
    while trace is not None:
        if not trace.tb_frame.f_code.co_filename.startswith(state.FOLDER):
            kept.append(trace)
        trace = trace.tb_next
    following = None
    for one in reversed(kept):
        one.tb_next = following
        following = one
    return following


def _clean(error: BaseException | None) -> None:
    """Take the recorder's frames out of an error, and of those that it came from."""
    seen = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        error.__traceback__ = without_ours(error.__traceback__)
        error = error.__cause__ or error.__context__


def _clean_in_threads() -> None:
    """Show the errors of threads without the recorder's frames too."""
    import threading

    shown = threading.excepthook

    def show(said: threading.ExceptHookArgs) -> None:
        _clean(said.exc_value)
        trace = said.exc_value.__traceback__ if said.exc_value is not None else None
        shown(threading.ExceptHookArgs((said.exc_type, said.exc_value, trace, said.thread)))

    threading.excepthook = show
