"""Large files of each format: real recordings of the tests, their samples, lines or records many times over.

Times go on from one repetition to the next; names and stacks stay those that were recorded.
"""

from __future__ import annotations

import gzip
import json
import marshal
import re
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.measure import ROOT

PROFILES = ROOT / "tests" / "data" / "profiles"
SPANS = ROOT / "tests" / "data" / "spans"
#: Bytes that a file is made to have, about.
SIZE = 24_000_000


def unpacked(path: Path) -> bytes:
    """Return what a file holds."""
    data = path.read_bytes()
    return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data


def _times(part: bytes | str | int) -> int:
    return max(1, SIZE // (part if isinstance(part, int) else len(part)))


def v8() -> bytes:
    """Return a profile of V8's."""
    said = json.loads(unpacked(PROFILES / "node20.cpuprofile.gz"))
    many = _times(12 * len(said["samples"]))
    said["samples"] *= many
    said["timeDeltas"] *= many
    said["endTime"] = said["startTime"] + sum(said["timeDeltas"])
    return json.dumps(said, separators=(",", ":")).encode()


def pprof() -> bytes:
    """Return a profile of Go's: its samples again and again, then all else."""
    fields = _fields(unpacked(PROFILES / "go_cpu.pprof"))
    first = next(at for at, (number, _) in enumerate(fields) if number == 2)
    last = max(at for at, (number, _) in enumerate(fields) if number == 2)
    some = b"".join(field for number, field in fields if number == 2)
    head, tail = fields[:first], fields[last + 1 :]
    return b"".join(field for _, field in head) + some * _times(some) + b"".join(field for _, field in tail)


def _fields(data: bytes) -> list[tuple[int, bytes]]:
    """Return the fields of a message: number and bytes."""
    found, at = [], 0
    while at < len(data):
        begin = at
        tag, at = _varint(data, at)
        value, at = _varint(data, at)
        at += value if tag & 7 == 2 else 0
        found.append((tag >> 3, data[begin:at]))
    return found


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7


def perf_script() -> bytes:
    """Return what perf script prints."""
    text = unpacked(PROFILES / "go.perf.txt.gz")
    return b"".join(
        re.sub(rb" (\d+)(\.\d{6}:)", lambda at, later=10 * turn: b" %d%b" % (int(at[1]) + later, at[2]), text)
        for turn in range(_times(text))
    )


def simpleperf() -> bytes:
    """Return simpleperf's records."""
    data = unpacked(PROFILES / "small.simpleperf")
    records, at = [], 12
    while at < len(data) - 4:
        size = struct.unpack_from("<I", data, at)[0]
        if not size:
            break
        records.append(data[at : at + 4 + size])
        at += 4 + size
    samples = b"".join(one for one in records if one[4] == 0x0A)
    others = b"".join(one for one in records if one[4] != 0x0A)
    return data[:12] + samples * _times(samples) + others + struct.pack("<I", 0)


def firefox() -> bytes:
    """Return a profile of Firefox's, raw."""
    said = json.loads(unpacked(PROFILES / "firefox.raw.json.gz"))
    many = _times(45 * sum(len(thread["samples"]["data"]) for thread in said["threads"]))
    for thread in said["threads"]:
        rows = thread["samples"]["data"]
        length = rows[-1][1] - rows[0][1] + 1 if rows else 0
        thread["samples"]["data"] = [
            [row[0], round(row[1] + turn * length, 6), *row[2:]] for turn in range(many) for row in rows
        ]
    return json.dumps(said, separators=(",", ":")).encode()


def firefox_processed() -> bytes:
    """Return a profile as profiler.firefox.com and samply write it."""
    said = json.loads(firefox())
    for thread in said["threads"]:
        for name in ("samples", "stackTable", "frameTable", "markers"):
            table = thread[name]
            columns = {
                key: [row[at] if at < len(row) else None for row in table["data"]]
                for key, at in table["schema"].items()
            }
            thread[name] = {**columns, "length": len(table["data"])}
        frames = thread["frameTable"]
        texts = len(thread["stringTable"])
        thread["funcTable"] = {"name": [*range(texts)], "length": texts}
        frames["func"] = frames.pop("location")
        thread["stringArray"] = thread.pop("stringTable")
    said["meta"]["preprocessedProfileVersion"] = 50
    return json.dumps(said, separators=(",", ":")).encode()


def callgrind() -> bytes:
    """Return a profile of callgrind's, with many parts."""
    text = unpacked(PROFILES / "small.instr.callgrind.gz")
    head, _, body = text.partition(b"\nfl=")
    body, _, tail = body.rpartition(b"\n\n")
    return head + (b"\nfl=" + body + b"\n") * _times(body) + b"\n\n" + tail


def xdebug() -> bytes:
    """Return a profile of Xdebug's."""
    text = unpacked(PROFILES / "php.cachegrind.gz")
    head, _, body = text.partition(b"\nfl=")
    body, _, tail = body.rpartition(b"\n\n")
    return head + (b"\nfl=" + body + b"\n") * _times(body) + b"\n\n" + tail


def austin() -> bytes:
    """Return Austin's lines."""
    text = unpacked(PROFILES / "words.austin.gz")
    head, _, body = text.partition(b"\n\n")
    return head + b"\n\n" + body * _times(body)


def mojo() -> bytes:
    """Return Austin's binary events."""
    data = unpacked(PROFILES / "words.mojo")
    number = rb"[\x80-\xff]*[\x00-\x7f]"
    event = re.compile(
        rb"\x01[^\0]*\0[^\0]*\0|\x02%b%b[^\0]*\0|\x03(?:%b){7}|[\x05\x09\x0a]%b|"
        rb"\x06[^\0]*\0|\x0b%b[^\0]*\0|[\x04\x07\x08]" % (number, number, number, number, number),
        re.DOTALL,
    )
    samples = [one[0] for one in event.finditer(data, 4) if one[0][0] not in (1, 3, 11)]
    # Names and frames are defined once.
    some = b"".join(samples)
    return data + some * _times(some)


def pyinstrument() -> bytes:
    """Return a session of pyinstrument's."""
    said = json.loads(unpacked(PROFILES / "words.pyisession.gz"))
    said["frame_records"] *= _times(json.dumps(said["frame_records"]))
    said["sample_count"] = len(said["frame_records"])
    return json.dumps(said).encode()


def cprofile() -> bytes:
    """Return a profile of Python's own, of a program with many modules."""
    said = marshal.loads(unpacked(PROFILES / "words.prof"))
    size = len(marshal.dumps(said))

    def of(key: tuple[Any, ...], turn: int) -> tuple[Any, ...]:
        # What is built in is the same in all modules.
        return key if key[0] == "~" else (f"{key[0]}.{turn}", *key[1:])

    made: dict[tuple[Any, ...], tuple[Any, ...]] = {}
    for turn in range(_times(2 * size)):
        for key, row in said.items():
            callers = {of(caller, turn): counts for caller, counts in row[4].items()}
            known = made.setdefault(of(key, turn), (*row[:4], {}))
            known[4].update(callers)
    return marshal.dumps(made)


def scalene() -> bytes:
    """Return a profile of Scalene's."""
    said = json.loads(unpacked(PROFILES / "words2.scalene.json.gz"))
    said["stacks"] *= _times(json.dumps(said["stacks"]))
    return json.dumps(said).encode()


def stackprof() -> bytes:
    """Return a profile of stackprof's, as JSON."""
    said = json.loads(unpacked(PROFILES / "ruby.stackprof.json.gz"))
    lists = [name for name in said if name.startswith("raw")]
    many = _times(json.dumps([said[name] for name in lists]))
    for name in lists:
        said[name] *= many
    return json.dumps(said).encode()


def stackprof_dump() -> bytes:
    """Return the same as Ruby marshals it."""
    return b"\x04\x08" + _marshalled(json.loads(stackprof()))


def _marshalled(value: Any) -> bytes:
    if value is None:
        return b"0"
    if isinstance(value, bool):
        return b"T" if value else b"F"
    if isinstance(value, int):
        if not -(1 << 30) <= value < 1 << 30:
            size = (value.bit_length() + 15) // 16
            sign = b"-" if value < 0 else b"+"
            return b"l" + sign + _packed(size) + abs(value).to_bytes(2 * size, "little")
        return b"i" + _packed(value)
    if isinstance(value, float):
        text = repr(value).encode()
        return b"f" + _packed(len(text)) + text
    if isinstance(value, str):
        text = value.encode()
        return b'"' + _packed(len(text)) + text
    if isinstance(value, list):
        return b"[" + _packed(len(value)) + b"".join(map(_marshalled, value))
    rows = b"".join(_key(key) + _marshalled(one) for key, one in value.items())
    return b"{" + _packed(len(value)) + rows


def _key(key: str) -> bytes:
    return _marshalled(int(key)) if key.isdecimal() else b":" + _packed(len(key)) + key.encode()


def _packed(value: int) -> bytes:
    """Return a number as Ruby marshals it."""
    if value == 0:
        return b"\0"
    if 0 < value < 123:
        return bytes([value + 5])
    if -124 < value < 0:
        return bytes([(value - 5) & 255])
    size = next(size for size in range(1, 5) if -(1 << 8 * size) <= value < 1 << 8 * size)
    count = size if value > 0 else 256 - size
    return bytes([count]) + (value & (1 << 8 * size) - 1).to_bytes(size, "little")


def jfr() -> bytes:
    """Return a flight recording of many chunks."""
    data = unpacked(PROFILES / "words25.jfr.gz")
    return data * _times(data)


def otlp() -> bytes:
    """Return spans of OpenTelemetry's as lines of JSON, each what is exported at once."""
    text = unpacked(SPANS / "shop.otlp.json.gz")
    line = json.dumps(json.loads(text), separators=(",", ":")).encode() + b"\n"
    return b"".join(
        _another(line, rb'"(?:traceId|spanId|parentSpanId)":"', rb'UnixNano":"(\d+)"', 1, turn)
        for turn in range(_times(line))
    )


def jaeger() -> bytes:
    """Return many traces of Jaeger's."""
    said = json.loads(unpacked(SPANS / "shop.jaeger.json.gz"))
    text = json.dumps(said["data"], separators=(",", ":")).encode()[1:-1]
    many = (
        _another(text, rb'"(?:traceID|spanID)":"', rb'"startTime":(\d+)', 1000, turn)
        for turn in range(_times(text))
    )
    return b'{"data":[' + b",".join(many) + b"]}"


def _another(text: bytes, before: bytes, time: bytes, unit_ns: int, turn: int) -> bytes:
    """Return JSON of spans with other ids, 100 ms later each turn."""
    text = re.sub(before + rb"[0-9a-f]{5}", lambda at: at[0][:-5] + b"%05x" % (turn & 0xFFFFF), text)
    later = turn * 100_000_000 // unit_ns
    return re.sub(time, lambda at: at[0].replace(at[1], b"%d" % (int(at[1]) + later)), text)


def otlp_protobuf() -> bytes:
    """Return spans of OpenTelemetry's, all exported at once."""
    data = unpacked(SPANS / "shop.otlp.pb")
    said = unpacked(SPANS / "shop.otlp.json.gz")
    ids = {bytes.fromhex(one.decode()) for one in re.findall(rb'Id": ?"([0-9a-f]+)"', said)}
    times = {int(one) for one in re.findall(rb'UnixNano": ?"(\d+)"', said)}
    made = []
    for turn in range(_times(data)):
        words = {one: turn.to_bytes(3, "big") + one[3:] for one in ids}
        words |= {struct.pack("<Q", t): struct.pack("<Q", t + turn * 100_000_000) for t in times}
        pattern = b"|".join(re.escape(one) for one in sorted(words, key=len, reverse=True))
        made.append(re.sub(pattern, lambda at, words=words: words[at[0]], data))
    return b"".join(made)


def art() -> bytes:
    """Return a method trace of Android's."""
    data = unpacked(PROFILES / "small.trace")
    at = data.index(b"SLOW")
    size, row = struct.unpack_from("<H", data, at + 6)[0], struct.unpack_from("<H", data, at + 16)[0]
    head, rows = data[: at + size], data[at + size :]
    form = "<HIII" if row == 14 else "<HII"
    words = [*struct.iter_unpack(form, rows)]
    last = words[-1][-1] + 1
    times = ((turn * last, one) for turn in range(_times(rows)) for one in words)
    return head + b"".join(
        struct.pack(form, *one[:-1], (one[-1] + later) % (1 << 32)) for later, one in times
    )


def go_trace() -> bytes:
    """Return an execution trace of Go's: its generation again and again, each later than the one before."""
    data = unpacked(ROOT / "tests" / "data" / "go" / "shop_1_26.go.trace.gz")
    batches, at = [], 16
    while data[at] == 1:
        _, at = _varint(data, at + 1)
        thread, at = _varint(data, at)
        time, at = _varint(data, at)
        size, at = _varint(data, at)
        batches.append((thread, time, data[at : at + size]))
        at += size
    times = [time for _, time, _ in batches if time]
    lasts = max(times) - min(times) + 10_000_000
    made = [data[:16]]
    for turn in range(min(_times(data), 100)):
        for thread, time, body in batches:
            numbers = (turn + 1, thread, time + turn * lasts, len(body))
            made.append(b"\1" + b"".join(map(_as_varint, numbers)) + body)
        made.append(data[at : at + 1])
    return b"".join(made)


def _as_varint(value: int) -> bytes:
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*found, value])


def kanata() -> bytes:
    """Return a log of a processor's pipeline, of ever other instructions."""
    lines = unpacked(PROFILES / "small.kanata").decode().splitlines()
    head, rest = lines[:2], lines[2:]
    many = sum(line.startswith("I\t") for line in rest)
    made = list(head)
    for turn in range(_times("\n".join(rest))):
        for line in rest:
            words = line.split("\t")
            if words[0] in "ILSER":
                words[1] = str(int(words[1]) + turn * many)
            elif words[0] == "W":
                words[1:3] = [str(int(word) + turn * many) for word in words[1:3]]
            made.append("\t".join(words))
    return ("\n".join(made) + "\n").encode()


def bpftrace() -> bytes:
    """Return bpftrace's stacks."""
    head, at, body = unpacked(PROFILES / "words.bpftrace").partition(b"@[")
    return head + (at + body) * _times(body)


def heaptrack() -> bytes:
    """Return heaptrack's lines: what is allocated and freed, again and again."""
    text = unpacked(ROOT / "tests" / "data" / "blends" / "heaptrack_lua.gz")
    lines = text.splitlines(keepends=True)
    again = [line for line in lines if line[:1] in b"+-c" and line[1:2] == b" "]
    known = b"".join(line for line in lines if line[:1] not in b"+-c" or line[1:2] != b" ")
    return known + b"".join(line for line in again if line[:1] != b"c") * _times(text)


#: What is read -> its file's name and what makes it.
FILES: dict[str, tuple[str, Callable[[], bytes]]] = {
    "V8 profile": ("run.cpuprofile", v8),
    "pprof profile": ("run.pprof", pprof),
    "perf script": ("run.perf.txt", perf_script),
    "simpleperf profile": ("run.simpleperf", simpleperf),
    "Firefox profile, raw": ("run.raw.json", firefox),
    "Firefox profile, processed": ("run.profile.json", firefox_processed),
    "callgrind profile": ("run.callgrind", callgrind),
    "Xdebug's profile": ("run.cachegrind", xdebug),
    "Austin samples": ("run.austin", austin),
    "Austin samples, binary": ("run.mojo", mojo),
    "pyinstrument profile": ("run.pyisession", pyinstrument),
    "cProfile file": ("run.prof", cprofile),
    "Scalene profile": ("run.scalene.json", scalene),
    "stackprof profile": ("run.stackprof.json", stackprof),
    "stackprof profile, marshalled": ("run.stackprof.dump", stackprof_dump),
    "Java Flight Recorder": ("run.jfr", jfr),
    "OpenTelemetry trace": ("run.otlp.jsonl", otlp),
    "OpenTelemetry trace, protobuf": ("run.otlp.pb", otlp_protobuf),
    "Jaeger trace": ("run.jaeger.json", jaeger),
    "Android method trace": ("run.trace", art),
    "Go execution trace": ("run.go.trace", go_trace),
    "Kanata pipeline log": ("run.kanata", kanata),
    "bpftrace stacks": ("run.bpftrace", bpftrace),
    "heaptrack recording": ("run.heaptrack", heaptrack),
}
