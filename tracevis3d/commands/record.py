"""``tracevis3d record``: run a Python program and record what it does."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys

from ..errors import UsageError
from ..record.memory.choice import FRAMES, choose_memory
from .live.arguments import feed

_CODE = (
    "import sys; root = sys.argv[1]; sys.path.insert(0, root); import {package}.launch as launch; "
    "sys.path.remove(root); launch.main(sys.argv[2:])"
)


#: Shown by --help.
EXAMPLES = (
    "tracevis3d record -o run.json.gz -- script.py --its-option",
    "tracevis3d record --threads --io -o run.json.gz -m http.server",
    "tracevis3d record --live tcp://127.0.0.1:5570 -- script.py",
)


def add(parser: argparse.ArgumentParser) -> None:
    """Declare its arguments."""
    parser.usage = (
        "%(prog)s [options] -o OUT [--] SCRIPT [ARGUMENT ...]\n"
        "       %(prog)s [options] -o OUT -m MODULE ...\n"
        "       %(prog)s [options] --live ENDPOINT [-o OUT] [--] SCRIPT [ARGUMENT ...]"
    )
    parser.add_argument("-o", dest="output", default="", metavar="OUT", help="Chrome JSON: .json or .json.gz")
    feed(parser, "--live", required=False)
    parser.add_argument(
        "--threads", action="store_true", help="waits and releases: locks, queues, threads, futures, asyncio"
    )
    parser.add_argument("--io", action="store_true", help="files and sockets: how long, how many bytes")
    parser.add_argument(
        "--memory", action="store_true", help="blocks of memory with their call sites, and the memory in use"
    )
    parser.add_argument(
        "--memory-engine",
        choices=("tracemalloc", "memray"),
        metavar="ENGINE",
        help="what records blocks: memray (default where it is installed: each block over 512 bytes with its "
        "address, also those of compiled code), or tracemalloc (snapshots of what lives, small objects "
        "too); implies --memory",
    )
    parser.add_argument(
        "--memory-frames",
        type=int,
        default=0,
        metavar="N",
        help=f"frames of a call site that tracemalloc keeps (default {FRAMES}: more cost more time); implies "
        "--memory-engine tracemalloc",
    )
    parser.add_argument(
        "--c-functions", action="store_true", help="also functions written in C (VizTracer only)"
    )
    parser.add_argument(
        "--engine",
        choices=("auto", "fast", "viztracer", "monitoring", "profile", "trace"),
        default="auto",
        help="what records the calls (default: the first of these that is available)",
    )
    parser.add_argument(
        "--native",
        action="store_true",
        help="record the allocations of any dynamically linked program, by LD_PRELOAD; with --memory: of a "
        "Python script, with call sites in compiled code, by memray",
    )
    parser.add_argument(
        "--accesses",
        action="store_true",
        help="with --native: accesses to memory, sampled by page protection (may disturb the program)",
    )
    parser.add_argument(
        "--suggestions",
        action="store_true",
        help=(
            "with --live: let viewers suggest to look at, or to free, a block or call site; suggestions are "
            "only printed"
        ),
    )
    parser.add_argument(
        "--wait", action="store_true", help="with --live: begin the program when there is a viewer"
    )
    parser.add_argument("-q", "--quiet", action="store_true", help="print nothing at the end")
    parser.add_argument(
        "-m",
        dest="module",
        metavar="MODULE",
        nargs=argparse.REMAINDER,
        help="run a module with the arguments that follow, as 'python -m' does",
    )
    parser.add_argument("program", nargs=argparse.REMAINDER, metavar="SCRIPT", help="and its arguments")


def run(args: argparse.Namespace) -> None:
    """Become the recorded program: this process is replaced, so that signals and exit code are its own.

    Parameters
    ----------
    args : argparse.Namespace
        What :func:`add` has declared.

    Raises
    ------
    UsageError
        If options contradict each other, or the program or the output is missing.
    """
    program = args.program[1:] if args.program[:1] == ["--"] else args.program
    module = args.module
    if module is None and program[:1] == ["-m"]:
        module, program = program[1:], []
    if args.suggestions and not args.endpoint:
        raise UsageError("--suggestions goes with --live: suggestions come from viewers")
    if args.wait and not args.endpoint:
        raise UsageError("--wait goes with --live: it waits for a viewer")
    _check_name(args.output)
    args.memory = args.memory or bool(args.memory_engine) or bool(args.memory_frames)
    if args.native and not args.memory:
        _run_native(program, args)
    if module is not None and (not module or program):
        raise UsageError(
            "-m needs the name of a module, and must come last: tracevis3d record -o OUT -m MODULE"
        )
    if module is None and not program:
        raise UsageError("name the program to record: tracevis3d record -o OUT -- script.py")
    if not args.output and not args.endpoint:
        raise UsageError("name an output: -o OUT for a file, --live ENDPOINT for viewers, or both")
    if args.native and module is None and _is_native(program[0]):
        raise UsageError(
            f"{program[0]}: is not a Python script: leave --memory out; --native alone records allocations"
        )
    if args.accesses:
        raise UsageError(
            "--accesses needs --native without --memory: accesses to Python's own memory are not sampled"
        )
    if args.native and (args.memory_engine == "tracemalloc" or args.memory_frames):
        raise UsageError("--native with --memory needs memray: tracemalloc does not see compiled code")
    if not 0 <= args.memory_frames <= 64:
        raise UsageError(f"--memory-frames {args.memory_frames}: 1 to 64 are possible")
    if args.memory_frames and args.memory_engine == "memray":
        raise UsageError("--memory-frames is for tracemalloc: memray keeps all frames")
    by = args.memory_engine or (
        "memray"
        if args.native
        else choose_memory(args.engine, args.c_functions, bool(args.endpoint), args.memory_frames)
    )
    options = {
        "path": os.path.abspath(args.output) if args.output else "",
        "threads": args.threads,
        "io": args.io,
        "memory": by if args.memory else "",
        "native": args.native,
        "engine": args.engine,
        "c_functions": args.c_functions,
        "quiet": args.quiet,
        "interpreter": _interpreter(),
        "live": args.endpoint or "",
        "key": args.key,
        "peers": args.peers,
        "suggestions": args.suggestions,
        "wait": args.wait,
        "frames": args.memory_frames,
    }
    how = ["script", *program] if module is None else ["module", *module]
    _become(json.dumps(options), how)


def _check_name(path: str) -> None:
    """Raise UsageError for a name that says that the file has another format or packing than it gets."""
    if not path or path.lower().endswith((".json", ".json.gz")):
        return
    from ..formats.registry import for_writing

    try:
        for_writing(path)
    except UsageError:
        return  # No format has such names.
    recorded = os.path.splitext(path)[0].removesuffix(".json") + ".json.gz"
    raise UsageError(
        f"{path}: a recording is Chrome JSON: record to {recorded}, "
        f"then 'tracevis3d convert {recorded} {path}'"
    )


def _interpreter() -> list[str]:
    """Return the words that have started this interpreter, up to the program."""
    ours = len(sys.argv) - 1
    if sys.argv[1:] != sys.orig_argv[-ours:]:
        return [sys.executable]
    before = sys.orig_argv[:-ours]
    return before[:-2] if before[-2] == "-m" else before[:-1]


def _is_native(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            return file.read(4) == b"\x7fELF"
    except OSError:
        return False


def _run_native(program: list[str], args: argparse.Namespace) -> None:
    """Run a native program, and end as it ends."""
    if not args.output and not args.endpoint:
        raise UsageError("name an output: -o OUT for a file, --live ENDPOINT for viewers, or both")
    if not program:
        raise UsageError("--native needs a program: tracevis3d record --native -o OUT -- PROGRAM")
    if not sys.platform.startswith("linux"):
        raise UsageError("--native needs Linux: it uses LD_PRELOAD and /proc")
    given = [name for name in ("threads", "io", "c_functions", "wait") if getattr(args, name)]
    if given or args.engine != "auto":
        raise UsageError(
            "--native records allocations; --threads, --io, --wait and --engine are for Python: "
            "with --memory a Python script is recorded"
        )
    from ..native.recorder import Options, end_like, run
    from ..record.output.helper import Feed

    said = (args.endpoint, args.key, args.peers, args.suggestions)
    feed = Feed(*said) if args.endpoint else None
    end_like(run(program, Options(args.output, feed, args.accesses, args.quiet)))


def _become(options: str, program: list[str]) -> None:
    package = f"{__package__.rpartition('.')[0]}.record"
    root = __file__
    for _ in range(package.count(".") + 2):
        root = os.path.dirname(root)
    flags = subprocess._args_from_interpreter_flags()  # type: ignore[attr-defined]
    line = [sys.executable, *flags, "-c", _CODE.format(package=package), root, options, *program]
    sys.stdout.flush()
    sys.stderr.flush()
    if os.name == "posix":
        os.execv(sys.executable, line)
    sys.exit(subprocess.call(line))
