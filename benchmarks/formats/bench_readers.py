"""Readers but Chrome's: from an unpacked file to a trace, against a plain reader of the same file in Python.

The plain readers do the least that gives the same calls: lists of function, start, end and depth. Of formats
whose recordings are small, samples or records are repeated (``large_files.py``); their peer does no more than
decode the file: JSON by orjson, lines and bytes by a loop, marshalled data by Python. Times are those of the
processor, so they say something on a busy machine, too.

``python -m benchmarks.formats.bench_readers --write`` puts the table into ``docs/speeds.md``.
"""

from __future__ import annotations

import gzip
import marshal
import re
import resource
import shutil
import struct
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.formats import large_files, perfetto_trace
from benchmarks.formats.bench_chrome import perfetto
from benchmarks.measure import RECORDED, ROOT
from tracevis3d.formats import registry
from tracevis3d.formats.speedscope import format
from tracevis3d.progress import silent

PAGE = ROOT / "docs" / "speeds.md"
BEGIN, END = "<!-- table of speeds -->\n", "<!-- end -->"
LOCKS = ROOT / "tests" / "data" / "profiles" / "locks.ftrace.gz"


def rows() -> list[dict[str, Any]]:
    """Measure; MB/s of the unpacked file. Empty where the recordings are absent."""
    if not RECORDED.is_dir():
        return []
    with tempfile.TemporaryDirectory() as folder:
        return _rows(Path(folder))


def _rows(folder: Path) -> list[dict[str, Any]]:
    found = []
    log = folder / "weka.tsv"
    log.write_bytes(gzip.decompress((RECORDED / "weka_OneR_iris_0.4M.tsv.gz").read_bytes()))
    found.append(_row("enter/exit log, 0.76 million lines", log, plain_log, "Python line loop"))
    stacks = folder / "pylint.collapsed"
    stacks.write_bytes(gzip.decompress((RECORDED / "pyspy_pylint.collapsed.txt.gz").read_bytes()) * 20)
    found.append(
        _row("collapsed stacks, 5,900 of mean depth 73", stacks, plain_collapsed, "Python line loop")
    )
    evented = folder / "weka.speedscope.json"
    format.write(registry.open_trace(log), evented, silent)
    found.append(_row("speedscope, 0.76 million events", evented, plain_evented, "orjson to lists"))
    sampled = folder / "sphinx.speedscope.json"
    sampled.write_bytes(
        many_samples(gzip.decompress((RECORDED / "pyspy_sphinx.speedscope.json.gz").read_bytes()))
    )
    found.append(_row("speedscope, 40,700 samples", sampled, plain_sampled, "orjson to lists"))
    with tarfile.open(RECORDED / "uftrace_lua.data.tar.gz") as tar:
        tar.extractall(folder, filter="data")
    data = folder / "lua.data"
    found.append(
        _row("uftrace folder, 0.35 million records", data, plain_records, "struct.iter_unpack", "*.dat")
    )
    if shutil.which("uftrace"):
        found.append(
            _row("uftrace folder, 0.35 million records", data, uftrace_dump, "uftrace dump --chrome", "*.dat")
        )
    for title, (file, make) in large_files.FILES.items():
        path = folder / file
        path.write_bytes(make())
        name, plain = _DECODERS[_kind(file)]
        found.append(_row(title, path, plain, name))
        path.unlink()
    pftrace = folder / "thr.pftrace"
    pftrace.write_bytes((RECORDED / "python_threads" / "thr_v311.pftrace").read_bytes())
    found.append(_row("Perfetto protobuf, 10,736 packets", pftrace, plain_packets, "protobuf to lists"))
    events = folder / "locks.ftrace"
    events.write_bytes(many_switches(gzip.decompress(LOCKS.read_bytes()), 40_000_000))
    if (engine := perfetto(events)) is not None:
        size = events.stat().st_size / 1e6
        _, ours = _best(3, lambda: len(registry.open_trace(events).calls))
        # Its table of slices has neither sleeps nor system calls, so there is nothing to compare.
        name, peer = "ftrace, 0.3 million switches and wake-ups", size / engine["cpu"]
        found.append(_speeds(name, size, size / ours, peer, "Perfetto's engine (wasm)"))
    large = folder / "large.pftrace"
    for title, has_slices, make in _PERFETTO:
        make(large)
        if (engine := perfetto(large)) is not None:
            found.append(_against_engine(title, large, engine, has_slices))
    return found


#: What a large trace of Perfetto's has, whether its engine makes the same slices of that, and what writes it.
_PERFETTO: tuple[tuple[str, bool, Callable[[Path], None]], ...] = (
    ("4 million events", True, lambda path: perfetto_trace.write(path, 4_000_000)),
    ("0.5 million of Chrome's events", True, lambda path: perfetto_trace.write_legacy(path, 500_000)),
    (
        "0.5 million switches and wake-ups",
        False,
        lambda path: perfetto_trace.write_switches(path, 500_000, compact=False),
    ),
    (
        "the same as columns",
        False,
        lambda path: perfetto_trace.write_switches(path, 500_000, compact=True),
    ),
)


def many_switches(text: bytes, size: int) -> bytes:
    """Return the file again and again, each time 10 s later."""
    lines = text.splitlines(keepends=True)
    head = [line for line in lines if line.startswith(b"#")]
    rest = b"".join(line for line in lines if not line.startswith(b"#"))
    again = (
        re.sub(rb" (\d+)(\.\d{6}:)", lambda at, later=10 * turn: b" %d%b" % (int(at[1]) + later, at[2]), rest)
        for turn in range(-(-size // len(rest)))
    )
    return b"".join([*head, *again])


def _against_engine(title: str, path: Path, first: dict[str, Any], has_slices: bool) -> dict[str, Any]:
    """Return how fast a Perfetto trace is read, and by Perfetto's own engine, in turns."""
    runs, ours, calls = [first], [], 0
    for _ in range(3):
        # The first one behind another program gets its memory from the system anew.
        calls, took = _best(2, lambda: len(registry.open_trace(path).calls))
        ours.append(took)
        runs.append(perfetto(path) or first)
    if has_slices and calls != first["calls"]:
        raise AssertionError(f"Perfetto found {first['calls']:,} calls, we {calls:,}")
    size = path.stat().st_size / 1e6
    peer = size / min(run["cpu"] for run in runs)
    return _speeds(f"Perfetto protobuf, {title}", size, size / min(ours), peer, "Perfetto's engine (wasm)")


def _row(
    name: str, path: Path, plain: Callable[[Path], int], peer_name: str, measured: str = ""
) -> dict[str, Any]:
    size = sum(p.stat().st_size for p in path.glob(measured)) if measured else path.stat().st_size
    calls, ours = _best(5, lambda: len(registry.open_trace(path).calls))
    others, peer = _best(3, lambda: plain(path))
    assert others in (calls, -1), (name, calls, others)
    return _speeds(name, size / 1e6, size / ours / 1e6, size / peer / 1e6, peer_name)


def _speeds(name: str, size: float, ours: float, peer: float, peer_name: str) -> dict[str, Any]:
    return {
        "size": size,
        "name": name,
        "ours": ours,
        "peer": peer,
        "peer_name": peer_name,
        "unit": "MB/s",
        "ratio": ours / peer,
    }


#: Seconds that are measured at least.
_LEAST = 0.3


def _best(runs: int, work: Callable[[], int]) -> tuple[int, float]:
    seconds: list[float] = []
    result = 0
    # What takes milliseconds is measured more often: some of the first runs are disturbed.
    while len(seconds) < runs or sum(seconds) < _LEAST:
        started = _processor()
        result = work()
        seconds.append(_processor() - started)
    return result, min(seconds)


def _processor() -> float:
    """Return seconds of the processor, those of programs that were run included."""
    spent = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in spent)


def _kind(file: str) -> str:
    if file.endswith(("json", "jsonl", ".cpuprofile", ".pyisession")):
        return "json"
    if file.endswith((".pprof", ".otlp.pb", ".simpleperf", ".jfr", ".mojo", ".trace", ".dump")):
        return "binary"
    return "marshal" if file.endswith(".prof") else "lines"


def plain_json(path: Path) -> int:
    import orjson

    for line in path.read_bytes().splitlines():
        orjson.loads(line)
    return -1


def plain_lines(path: Path) -> int:
    seen: dict[bytes, int] = {}
    with open(path, "rb") as file:
        for line in file:
            words = line.split()
            if words:
                seen[words[0]] = seen.get(words[0], 0) + len(words)
    return -1


def plain_marshal(path: Path) -> int:
    marshal.loads(path.read_bytes())
    return -1


def plain_varints(path: Path) -> int:
    """Read all bytes as numbers of seven bits a byte, the least that any reader of binary records does."""
    value = shift = 0
    seen = 0
    for byte in path.read_bytes():
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            seen += value != 0
            value = shift = 0
    return -1


#: Kind of a file -> what its peer is called, and the peer.
_DECODERS: dict[str, tuple[str, Callable[[Path], int]]] = {
    "json": ("orjson, decoding alone", plain_json),
    "lines": ("Python line loop, words alone", plain_lines),
    "marshal": ("marshal, decoding alone", plain_marshal),
    "binary": ("Python byte loop, numbers alone", plain_varints),
}


class Columns:
    """Calls as lists, from begins and ends."""

    def __init__(self) -> None:
        self.function: list[Any] = []
        self.start: list[float] = []
        self.end: list[float] = []
        self.depth: list[int] = []
        self.stack: list[int] = []

    def begin(self, function: Any, time: float) -> None:
        self.stack.append(len(self.function))
        self.function.append(function)
        self.start.append(time)
        self.end.append(time)
        self.depth.append(len(self.stack))

    def finish(self, time: float) -> None:
        self.end[self.stack.pop()] = time


def plain_log(path: Path) -> int:
    threads: dict[str, Columns] = {}
    with open(path) as file:
        for line in file:
            if line[0] == "#":
                continue
            tid, way, name, ns = line.split("\t")
            columns = threads.get(tid)
            if columns is None:
                columns = threads[tid] = Columns()
            if way == "+":
                columns.begin(name, int(ns))
            else:
                columns.finish(int(ns))
    return sum(len(columns.function) for columns in threads.values())


def _lay(columns: Columns, before: list[Any], frames: list[Any], now: float) -> None:
    shared = 0
    for old, new in zip(before, frames):
        if old != new:
            break
        shared += 1
    for _ in range(len(before) - shared):
        columns.finish(now)
    for frame in frames[shared:]:
        columns.begin(frame, now)


def plain_collapsed(path: Path) -> int:
    """Count what each call path weighs, as a dict of dicts."""
    names, weights = [""], [0]
    below: list[dict[str, int]] = [{}]
    with open(path) as file:
        for line in file:
            stack, _, count = line.rpartition(" ")
            if stack:
                at, weight = 0, int(count)
                for frame in stack.split(";"):
                    number = below[at].setdefault(frame, len(names))
                    if number == len(names):
                        names.append(frame)
                        weights.append(0)
                        below.append({})
                    at = number
                    weights[at] += weight
    return len(names) - 1


def plain_evented(path: Path) -> int:
    import orjson

    columns = Columns()
    for profile in orjson.loads(path.read_bytes())["profiles"]:
        for event in profile["events"]:
            if event["type"] == "O":
                columns.begin(event["frame"], event["at"])
            else:
                columns.finish(event["at"])
    return len(columns.function)


def many_samples(text: bytes) -> bytes:
    """Return the file with its samples a hundred times over; frames alike become one."""
    import orjson

    file = orjson.loads(text)
    index: dict[tuple[Any, ...], int] = {}
    same = [index.setdefault((f["name"], f["file"], f["line"]), len(index)) for f in file["shared"]["frames"]]
    file["shared"]["frames"] = [dict(zip(("name", "file", "line"), key)) for key in index]
    for profile in file["profiles"]:
        profile["samples"] = [[same[i] for i in sample] for sample in profile["samples"]] * 100
        profile["weights"] *= 100
    return orjson.dumps(file)


def plain_sampled(path: Path) -> int:
    import orjson

    columns = Columns()
    for profile in orjson.loads(path.read_bytes())["profiles"]:
        before: list[int] = []
        now = 0.0
        for frames, weight in zip(profile["samples"], profile["weights"]):
            _lay(columns, before, frames, now)
            before = frames
            now += weight
    return len(columns.function)


def plain_records(path: Path) -> int:
    columns = Columns()
    for data in path.glob("[0-9]*.dat"):
        for time_ns, word in struct.iter_unpack("<QQ", data.read_bytes()):
            if word & 3 == 0:
                columns.begin(word >> 16, time_ns)
            elif word & 3 == 1:
                columns.finish(time_ns)
    return len(columns.function)


def uftrace_dump(path: Path) -> int:
    subprocess.run(
        ["uftrace", "dump", "-d", str(path), "--chrome"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=True,
    )
    return -1


def plain_packets(path: Path) -> int:
    from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace

    tracks: dict[int, Columns] = {}
    trace = Trace.FromString(path.read_bytes())
    for packet in trace.packet:
        if packet.HasField("track_event"):
            event = packet.track_event
            columns = tracks.get(event.track_uuid)
            if columns is None:
                columns = tracks[event.track_uuid] = Columns()
            if event.type == 1:
                columns.begin(event.name, packet.timestamp)
            elif event.type == 2:
                columns.finish(packet.timestamp)
    return sum(len(columns.function) for columns in tracks.values())


def table(found: list[dict[str, Any]]) -> str:
    """Return the rows as a table in Markdown; megabytes are millions of bytes."""
    lines = [
        ("what is read", "MB", "MB/s", "against", "its MB/s", "times as fast"),
        ("---", *("---:",) * 2, "---", *("---:",) * 2),
    ]
    for row in found:
        size = f"{row['size']:,.0f}" if row["size"] >= 10 else f"{row['size']:.1f}"
        speeds = f"{row['ours']:,.0f}", f"{row['peer']:,.0f}" if row["peer"] >= 10 else f"{row['peer']:.1f}"
        lines.append((row["name"], size, speeds[0], row["peer_name"], speeds[1], f"{row['ratio']:.1f}"))
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def main(words: list[str]) -> None:
    """Measure, print, and write if that is asked for."""
    found = table(rows())
    print(found)
    if "--write" in words:
        before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
        PAGE.write_text(f"{before}{BEGIN}{found}\n{END}{rest.partition(END)[2]}", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
