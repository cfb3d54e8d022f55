"""A process of its own for a library that a damaged file may end, or that complains where the user sees it.

The helper process prints blocks: a letter, the length, and the data. The last one says what went wrong.
"""

from __future__ import annotations

import importlib
import json
import signal
import struct
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import IO

#: Takes a letter and the data of a block.
Blocks = Callable[[bytes, bytes], None]

_HEAD = struct.Struct("<cQ")
_END = b"."
_CODE = (
    "import json, sys; sys.path += [p for p in json.loads(sys.argv[1]) if p not in sys.path]; "
    "from {package}.machine.apart import run; run(sys.argv[2], sys.argv[3])"
)


def read_apart(module: str, path: Path, take: Blocks) -> str:
    """Let a module's ``main(path, blocks)`` read a file in another process.

    Parameters
    ----------
    module : str
        Its name, as of ``__name__``.
    path : Path
        What is read.
    take : callable
        Is given each block.

    Returns
    -------
    str
        Why it could not be read to its end, in one line; empty if it was.
    """
    library = Path(__file__).resolve().parents[1]
    # Inside Blender, ours have longer names.
    ours = __name__.removesuffix(".machine.apart")
    name = f"{library.name}{module.removeprefix(ours)}" if module.startswith(f"{ours}.") else module
    words = [sys.executable, "-c", _CODE.format(package=library.name)]
    words += [json.dumps([str(library.parent), *sys.path]), name, str(path)]
    with tempfile.TemporaryFile() as complaints:
        process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=complaints, stdin=subprocess.DEVNULL)
        assert process.stdout is not None
        try:
            reason = _receive(process.stdout, take)
        except BaseException:
            process.kill()
            raise
        finally:
            process.stdout.close()
            status = process.wait()
        if reason is None:
            complaints.seek(0)
            reason = _why(complaints.read(1 << 16).decode("utf-8", "replace"), status)
    return reason


def _receive(stream: IO[bytes], take: Blocks) -> str | None:
    """Hand on what comes; return the text of the last block, None if that never came."""
    while len(head := stream.read(_HEAD.size)) == _HEAD.size:
        kind, size = _HEAD.unpack(head)
        data = stream.read(size)
        if len(data) < size:
            break
        if kind == _END:
            return str(data, "utf-8", "replace")
        take(kind, data)
    return None


def _why(said: str, status: int) -> str:
    """Return why the process gave up, in one line."""
    if status < 0:
        names = {int(one): one.name for one in signal.Signals}
        return f"its reader crashed ({names.get(-status, -status)})"
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    return lines[-1].rpartition("Error: ")[2][:200] if lines else f"its reader ended with {status}"


def run(module: str, path: str) -> None:
    """Read a file and print it: what the other process does.

    Parameters
    ----------
    module : str
    path : str
    """
    out = sys.stdout.buffer

    def block(kind: bytes, data: bytes) -> None:
        out.write(_HEAD.pack(kind, len(data)))
        out.write(data)

    broken = ""
    try:
        importlib.import_module(module).main(path, block)
    except BrokenPipeError:
        return
    except Exception as error:  # libraries raise many kinds of errors for unexpected data
        # The library's message follows the place in its source.
        broken = " ".join(str(error).rpartition(" error: ")[2].split()) or type(error).__name__
    block(_END, broken.encode("utf-8", "replace"))
    out.flush()
