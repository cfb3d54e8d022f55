"""What is fuzzed of the recorder: what a program hands on, damaged, as one that crashes may leave it."""

from __future__ import annotations

import base64
import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.fuzz.damage import TOKENS, damaged
from tests.fuzz.readers import FINDS, ROOT, check
from tracevis3d.formats import registry
from tracevis3d.live.publisher import Publisher
from tracevis3d.live.recorded import Published
from tracevis3d.record.fast import MODULE
from tracevis3d.record.output import spool
from tracevis3d.record.output.writer import File, serve

#: It hands on a bit of everything, keeps a copy of that, and is killed.
_PROGRAM = """
import glob, os, shutil, signal, sys, tempfile, threading, time
lock = threading.Lock()
def leaf(i): return i
def work(n):
    for i in range(n):
        with lock: leaf(i)
threads = [threading.Thread(target=work, args=(30,), name=f"worker-{i}") for i in range(2)]
for thread in threads: thread.start()
for thread in threads: thread.join()
with open(os.devnull, "w") as file: file.write("x")
lock.acquire()
threading.Thread(target=lock.acquire, daemon=True).start()
(folder,) = glob.glob(tempfile.gettempdir() + "/tracevis3d-*")
def size(): return sum(os.path.getsize(path) for path in glob.glob(folder + "/spool-*"))
for _ in range(2):  # two flushes later all of it is there
    before = size()
    while size() == before: time.sleep(0.01)
shutil.copytree(folder, sys.argv[1])
os.kill(os.getpid(), signal.SIGKILL)
"""
#: No process has it.
_NOBODY = (1 << 30) - 1


class Recorder:
    """The process beside a recorded program, which writes the file and the feed."""

    name = "recorder"

    def seeds(self) -> list[tuple[str, bytes]]:
        """Return what small programs hand on, and earlier finds."""
        engines = ["monitoring" if hasattr(sys, "monitoring") else "profile", *(["fast"] if MODULE else [])]
        made = [
            _handed_on(engine, more)
            for engine in engines
            for more in ([], ["--memory-engine", "tracemalloc"])
        ]
        return [(".json", data) for data in made + [path.read_bytes() for path in FINDS.glob("recorder_*")]]

    def changed(self, data: bytes, others: list[tuple[str, bytes]], pick: random.Random) -> bytes:
        """Return it with damage within a section, or anywhere."""
        files = {name: (size, base64.b64decode(text)) for name, (size, text) in json.loads(data).items()}
        name = pick.choice(sorted(name for name, (_, content) in files.items() if content))
        size, content = files[name]
        if name.startswith("spool") and pick.random() < 0.7:
            parts = list(spool.sections(content))
            for _ in range(pick.choice((1, 1, 3))):
                at = pick.randrange(len(parts))
                kind, number, inner, _ = parts[at]
                what = pick.randrange(5)
                if what == 0:
                    del parts[at : at + pick.choice((1, 1, 5))]
                    parts = parts or [(kind, number, inner, 0)]
                elif what == 1:
                    parts.insert(pick.randrange(len(parts)), parts[at])
                elif what == 2:
                    parts[at] = kind, pick.choice((0, 1, min(number + 1, 2**32 - 1), 2**32 - 1)), inner, 0
                else:
                    parts[at] = kind, number, damaged(inner, [("", one) for one in TOKENS], pick), 0
            content = b"".join(spool.HEADER.pack(k, n, len(d)) + d for k, n, d, _ in parts)
        else:
            content = damaged(content, [("", one) for one in TOKENS], pick)
        files[name] = max(size, len(content)) if size else 0, content
        return _packed(files)

    def try_one(self, path: Path) -> None:
        """Let both be ended, and read the file."""
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as place:
            folder, output, said = Path(place) / "recording", Path(place) / "out.json", []
            folder.mkdir()
            for name, (size, text) in json.loads(path.read_bytes()).items():
                (folder / name).write_bytes(base64.b64decode(text))
                if size:
                    os.truncate(folder / name, size)
            publisher = Publisher("tcp://127.0.0.1:*")
            alive, other_end = os.pipe()
            os.close(other_end)
            try:
                sinks = [File(str(folder), str(output)), feed := Published(publisher, 0, str(folder))]
                serve(str(folder), alive, _NOBODY, sinks, said.append)
                assert "published" in feed.sentence()
            finally:
                publisher.close()
                os.close(alive)
            assert len(said) == 1
            assert "\n" not in said[0]
            json.loads(output.read_bytes())
            check(registry.open_trace(output))


def _handed_on(engine: str, more: list[str]) -> bytes:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as place:
        (program := Path(place) / "program.py").write_text(_PROGRAM)
        kept = Path(place) / "kept"
        words = ["--threads", "--io", "--engine", engine, *more, "-q", "-o", f"{place}/out.json", "--"]
        subprocess.run(
            [sys.executable, "-m", "tracevis3d", "record", *words, str(program), str(kept)],
            env={**os.environ, "TMPDIR": place, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            check=False,
            timeout=300,
        )
        files = {}
        for path in kept.iterdir():
            data = path.read_bytes()
            is_arena = path.name.startswith("arena")
            # No path of this machine is kept; lengths stay.
            for own in (str(ROOT), place, sys.prefix, sys.base_prefix):
                data = data.replace(own.encode(), b"/" + b"x" * (len(own) - 1))
            files[path.name] = (len(data), data.rstrip(b"\0")) if is_arena else (0, data)
        return _packed(files)


def _packed(files: dict[str, tuple[int, bytes]]) -> bytes:
    texts = {name: (size, base64.b64encode(data).decode()) for name, (size, data) in files.items()}
    return json.dumps(texts, indent=0).encode()
