"""What tools say of their recordings, beside what is read: the table in docs/totals.md.

``python -m tests.formats.totals.table`` writes the page; a test checks that it is up to date, and that both
columns are the same. Where a tool has no words of its own, a few plain lines here count the recording.
"""

from __future__ import annotations

import gzip
import io
import json
import marshal
import os
import pstats
import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from tests.support.profile_facts import weights_of
from tracevis3d.formats import registry
from tracevis3d.trace import profile

ROOT = Path(__file__).resolve().parents[3]
PAGE = ROOT / "docs" / "totals.md"
DATA = ROOT / "tests" / "data"
RECORDED = Path(os.environ.get("TRACEVIS3D_SHARED", ROOT.parent / "shared")) / "traces" / "recorded"
_HEAD = """# Totals: what tools say, and what is read

For each format a recording, made with the tool itself: what the tool says of it, and what TraceVis3D reads.
Where the tool prints nothing, a few plain lines count the file. A test holds both columns together. Profiles
are samples: where a row counts them, it says so.

"""

#: What is counted, what the tool says, and what is read.
Rows = Iterator[tuple[str, Any, Any]]
_OF: list[tuple[str, str, str, Callable[[Any, bytes], Rows]]] = []


class Row(NamedTuple):
    """A line of the table."""

    format: str
    recording: str
    said_by: str
    what: str
    theirs: str
    ours: str


def _of(form: str, name: str, said_by: str) -> Callable[[Callable[[Any, bytes], Rows]], Any]:
    def add(rows: Callable[[Any, bytes], Rows]) -> Callable[[Any, bytes], Rows]:
        _OF.append((form, name, said_by, rows))
        return rows

    return add


def rows() -> list[Row]:
    """Return the table."""
    found = []
    for form, name, said_by, count in _OF:
        path = next(p for folder in (DATA, RECORDED) for p in sorted(folder.rglob(name)))
        trace = registry.open_trace(path)
        assert trace.source.format == form, (name, trace.source.format)
        data = b"" if path.is_dir() else path.read_bytes()
        data = gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
        title = registry.find(form).title
        found += [
            Row(title, path.name, said_by, what, _shown(theirs), _shown(ours))
            for what, theirs, ours in count(trace, data)
        ]
    return found


#: Formats that have no row, and why.
_WITHOUT = {
    "perf_data": "perf itself reads it: what is read is its perf script",
    "art": "Android records it: its file is made by the format's definition",
    "ctf": "a test holds its calls, locks and allocations to what is known of the recorded program",
    "otf2": "its own library reads it",
    "memray": "memray itself reads it: see its records as text",
    "compact": "the printed example of its paper is a test",
    "parquet": "TraceVis3D writes it: what is read is what was written",
    "tv3": "TraceVis3D writes it: what is read is what was written",
}


def without(table: list[Row]) -> list[str]:
    """Return a line for each format that has no row in the table."""
    there = {row.format for row in table}
    missing = [form for form in registry.readable() if form.title not in there]
    return [f"- {form.title}: {_WITHOUT[form.name]}." for form in missing]


def page(table: list[Row]) -> str:
    """Return the page."""
    lines = ["| format | recording | said by | counted | the tool | read |", "|---|---|---|---|---|---|"]
    before = None
    for row in table:
        first = row[:3] if row[:3] != before else ("", "", "")
        before = row[:3]
        lines.append("| " + " | ".join([*first, *row[3:]]) + " |")
    return _HEAD + "\n".join([*lines, "", "Without a row:", "", *without(table)]) + "\n"


def _shown(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)


def _lines(name: str) -> list[str]:
    data = next(DATA.rglob(name)).read_bytes()
    return (gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data).decode().splitlines()


def _own(trace: Any, kind: int = 0, named: Callable[[str], str] | None = None) -> Counter[str]:
    weights = weights_of(trace, kind, named) if named else weights_of(trace, kind)
    return +Counter({name: weight for name, (weight, _) in weights.items()})


def _top(said: Counter[str], found: Counter[str], unit: str) -> tuple[str, int, int]:
    """Return what the tool's heaviest function has, there and here."""
    name = max(sorted(said), key=said.__getitem__)
    return f"{unit} in `{name.partition(' (')[0] or name}`", said[name], found[name]


def _total(trace: Any, kind: int = 0) -> int:
    return list(profile.totals(trace).values())[kind]


def _calls(trace: Any) -> Counter[str]:
    names = trace.functions.name
    return Counter(names[number] for number in trace.calls.function.tolist())


@_of("chrome", "vt_markdown_repeat1.json.gz", "the JSON, counted")
def _chrome(trace: Any, data: bytes) -> Rows:
    events = [event for event in json.loads(data)["traceEvents"] if event["ph"] == "X"]
    yield "calls", len(events), len(trace.calls)
    yield _top(Counter(event["name"] for event in events), _calls(trace), "calls")
    yield "threads", len({(event["pid"], event["tid"]) for event in events}), len(trace.threads)


@_of("speedscope", "pyspy_sphinx.speedscope.json.gz", "py-spy")
def _speedscope(trace: Any, data: bytes) -> Rows:
    said = json.loads(data)
    frames, profiles = said["shared"]["frames"], said["profiles"]
    yield "samples", sum(len(one["samples"]) for one in profiles), len(trace.samples)
    functions = {(frame["name"], frame["file"], frame["line"]) for frame in frames}
    yield "functions", len(functions), len(trace.functions)
    yield "threads", len(profiles), len(trace.threads)


@_of("v8", "node12.cpuprofile.gz", "V8 of Node 12")
@_of("v8", "node20.cpuprofile.gz", "V8 of Node 20")
def _v8(trace: Any, data: bytes) -> Rows:
    said = json.loads(data)
    names = {node["id"]: node["callFrame"]["functionName"] or "(anonymous)" for node in said["nodes"]}
    yield "samples", len(said["samples"]), _total(trace)
    hits = Counter(names[node] for node in said["samples"])
    yield _top(hits, _own(trace, named=lambda name: name.partition(" (")[0] or name), "samples")


@_of("pprof", "go_cpu.pprof", "pprof -top")
def _pprof(trace: Any, data: bytes) -> Rows:
    text = "\n".join(_lines("go_cpu.top.txt"))
    yield "nanoseconds", int(re.search(r"Total samples = (\d+)ns", text)[1]), _total(trace)  # type: ignore[index]
    own = Counter({name: int(ns) for ns, name in re.findall(r"^ *(\d+)ns .*%  (\S+)$", text, re.MULTILINE)})
    yield _top(own, _own(trace), "nanoseconds")


@_of("pprof", "datadog_wall.pprof", "pprof -top")
def _datadog(trace: Any, data: bytes) -> Rows:
    text = "\n".join(_lines("datadog_wall.top.txt"))
    own = Counter({name: int(ns) for ns, name in re.findall(r"^ *(\d+)ns .*%  (.*)$", text, re.MULTILINE)})
    places = Counter({re.sub(r" \((?:partial-)?inline\)$", "", name): ns for name, ns in own.items()})
    yield "nanoseconds", int(re.search(r"of (\d+)ns total", text)[1]), _total(trace)  # type: ignore[index]
    yield _top(places, _own(trace), "nanoseconds")


@_of("perf_script", "go.perf.txt.gz", "perf report")
def _perf(trace: Any, data: bytes) -> Rows:
    rows = [re.fullmatch(r" *[\d.]+% +(\d+) +\[.\] (.*)", line) for line in _lines("go.perf.report.txt")]
    said = Counter({row[2].strip(): int(row[1]) for row in rows if row})
    period = int(trace.samples.weight[trace.samples.kind == 0][0])
    own = _own(trace, named=lambda name: name.rpartition(" (")[0] if name.endswith(")") else name)
    yield "samples", said.total(), int((trace.samples.kind == 0).sum())
    yield _top(said, Counter({name: weight // period for name, weight in own.items()}), "samples")


@_of("firefox", "firefox.raw.json.gz", "Firefox")
def _firefox(trace: Any, data: bytes) -> Rows:
    said = json.loads(data)
    yield "samples", sum(len(one["samples"]["data"]) for one in said["threads"]), _total(trace)
    yield "threads", len(said["threads"]), len(trace.threads)


@_of("simpleperf", "words.simpleperf", "simpleperf report-sample")
def _simpleperf(trace: Any, data: bytes) -> Rows:
    said = "\n".join(_lines("words.simpleperf.txt.gz"))
    yield "nanoseconds", 5_000_000 * said.count("  event_type: cpu-clock\n  time:"), _total(trace)
    own = Counter(re.findall(r"event_type: cpu-clock\n.*\n.*\n.*\n.*\n.*\n.*\n  symbol: ([^*\n]+)\n", said))
    name, count, found = _top(own, _own(trace), "samples")
    yield name.replace("samples", "nanoseconds"), 5_000_000 * count, found


@_of("firefox", "words.samply.json.gz", "samply 0.13")
def _samply(trace: Any, data: bytes) -> Rows:
    threads = json.loads(data)["threads"]
    yield "samples", sum(thread["samples"]["length"] for thread in threads), _total(trace)
    sampled = sum(thread["samples"]["length"] > 0 for thread in threads)
    yield "threads with samples", sampled, len({*trace.samples.thread.tolist()})


@_of("firefox", "words_315.gecko.json.gz", "profiling.sampling, Python 3.15")
def _gecko(trace: Any, data: bytes) -> Rows:
    yield "samples", sum(len(one["samples"]["stack"]) for one in json.loads(data)["threads"]), _total(trace)


@_of("callgrind", "small.callgrind.gz", "callgrind_annotate")
def _callgrind(trace: Any, data: bytes) -> Rows:
    rows = [line.split(maxsplit=1) for line in _lines("small.annotate.txt.gz")]
    yield "instructions", int(rows[0][0].replace(",", "")), _total(trace)
    said: Counter[str] = Counter()
    for count, name in rows[1:]:
        said[name.strip().rpartition(":")[2].removesuffix("'2")] += int(count.replace(",", ""))
    own: Counter[str] = Counter()
    for name, weight in _own(trace).items():
        own[name.removesuffix("'2")] += weight
    yield _top(said, own, "instructions")


@_of("callgrind", "words.gperftools.callgrind", "google-pprof --text")
def _gperftools(trace: Any, data: bytes) -> Rows:
    head, *lines = _lines("words.gperftools.txt")
    yield "samples", int(head.split()[1]), _total(trace)
    own = Counter({line.split()[5]: int(line.split()[0]) for line in lines})
    yield _top(own, _own(trace), "samples")


@_of("callgrind", "php.cachegrind.gz", "the lines, counted")
def _xdebug(trace: Any, data: bytes) -> Rows:
    # Its summary adds what Xdebug itself took.
    yield "calls", len(re.findall(rb"^fn=", data, re.MULTILINE)), len(trace.calls)
    yield "functions", len(set(re.findall(rb"^fn=\((\d+)\)", data, re.MULTILINE))), len(trace.functions)


@_of("austin", "words.mojo", "mojo2austin")
def _austin(trace: Any, data: bytes) -> Rows:
    lines = [line for line in _lines("words.mojo.austin.gz") if line and not line.startswith("#")]
    yield "samples", len(lines), len(trace.samples)
    own: Counter[str] = Counter()
    for line in lines:
        stack, _, metric = line.rpartition(" ")
        if stack.count(";") > 1:
            own[stack.rpartition(";")[2].rsplit(":", 2)[1]] += 1000 * int(metric.partition(",")[0])
    yield _top(own, _own(trace), "nanoseconds")
    yield "threads", len({line.rpartition(" ")[0].split(";")[1] for line in lines}), len(trace.threads)


@_of("pyinstrument", "words.pyisession.gz", "pyinstrument")
def _pyinstrument(trace: Any, data: bytes) -> Rows:
    said = json.loads(data)
    yield "samples", said["sample_count"], len(trace.samples)


@_of("cprofile", "words.prof", "pstats")
def _cprofile(trace: Any, data: bytes) -> Rows:
    said = pstats.Stats(str(DATA / "profiles" / "words.prof"), stream=io.StringIO())
    yield "calls", said.total_calls, profile.totals(trace)["calls"]  # type: ignore[attr-defined]
    yield "functions", len(said.stats), len({*trace.stacks.function.tolist()})  # type: ignore[attr-defined]


@_of("scalene", "words2.scalene.json.gz", "Scalene")
def _scalene(trace: Any, data: bytes) -> Rows:
    said = json.loads(data)
    samples = trace.samples.weight[trace.samples.kind == 1]
    yield "samples", sum(stack[1]["count"] for stack in said["stacks"]), int(samples.sum())


@_of("cprofile", "words_315.pstats", "pstats of profiling.sampling, Python 3.15")
def _sampled(trace: Any, data: bytes) -> Rows:
    said = {key: row for key, row in marshal.loads(data).items() if len(key) == 3}
    yield "samples", sum(row[0] for row in said.values()), _total(trace, 1)
    # Lines of a function have a row each.
    own: Counter[str] = Counter()
    for (_, _, name), row in said.items():
        own[name] += row[0]
    yield _top(own, _own(trace, 1), "samples")


def _stackprof(name: str, version: str) -> None:
    @_of("stackprof", f"{name}.stackprof.dump", f"stackprof {version}")
    def count(trace: Any, data: bytes) -> Rows:
        said = json.loads("\n".join(_lines(f"{name}.stackprof.json.gz")))
        # Its own number of samples has a last round, in which no stack was written.
        yield "samples with a stack", len(said["raw_timestamp_deltas"]), _total(trace)
        own = Counter({frame["name"]: frame["samples"] for frame in said["frames"].values()})
        yield _top(own, _own(trace), "samples")


_stackprof("ruby", "0.2.21")
_stackprof("ruby_0_2_28", "0.2.28")


def _jfr(version: int) -> None:
    @_of("jfr", f"words{version}.jfr.gz", f"jfr print, JDK {version}")
    def count(trace: Any, data: bytes) -> Rows:
        events = json.loads("\n".join(_lines(f"words{version}.jfr.json.gz")))["recording"]["events"]
        kinds = Counter(event["type"] for event in events)
        yield (
            "samples",
            kinds["jdk.ExecutionSample"] + kinds["jdk.NativeMethodSample"],
            int((trace.samples.kind == 0).sum()),
        )
        allocated = sum(e["values"]["weight"] for e in events if e["type"] == "jdk.ObjectAllocationSample")
        yield "bytes allocated", allocated, _total(trace, 2)
        waits = ("jdk.JavaMonitorEnter", "jdk.JavaMonitorWait", "jdk.ThreadPark", "jdk.ThreadSleep")
        files = ("jdk.FileRead", "jdk.FileWrite")
        yield "waits and transfers", sum(kinds[name] for name in waits + files), len(trace.sync)
        yield (
            "collections and pauses",
            kinds["jdk.GarbageCollection"] + kinds["jdk.GCPhasePause"],
            len(trace.instants),
        )


_jfr(17)
_jfr(25)


def _bpftrace(name: str, version: str) -> None:
    @_of("bpftrace", name, f"bpftrace {version}")
    def count(trace: Any, data: bytes) -> Rows:
        yield "samples", int(re.search(rb"@samples\"?: (\d+)", data)[1]), _total(trace)  # type: ignore[index]


_bpftrace("words.bpftrace", "0.17")
_bpftrace("words_0_27.bpftrace", "0.27")
_bpftrace("words_0_27_json.bpftrace", "0.27, JSON")


@_of("otlp", "shop.otlp.json.gz", "OpenTelemetry's SDK")
def _otlp(trace: Any, data: bytes) -> Rows:
    groups = json.loads(data)["resourceSpans"]
    spans = [span for group in groups for scope in group["scopeSpans"] for span in scope["spans"]]
    yield "spans", len(spans), len(trace.calls)
    calls: Counter[str] = Counter()
    for name, count in _calls(trace).items():
        calls[name.partition(": ")[2]] += count
    yield _top(Counter(span["name"] for span in spans), calls, "spans")


@_of("jaeger", "shop.jaeger.json.gz", "Jaeger's form of the same")
def _jaeger(trace: Any, data: bytes) -> Rows:
    yield "spans", sum(len(one["spans"]) for one in json.loads(data)["data"]), len(trace.calls)


@_of("go", "shop_1_26.go.trace.gz", "go tool trace, Go 1.26")
def _go(trace: Any, data: bytes) -> Rows:
    states = json.loads("\n".join(_lines("totals.json")))["shop_1_26"]["states"]
    sync = trace.sync
    names = Counter(sync.names[number].removeprefix("runtime: ") for number in sync.name.tolist())
    for name in ("select", "sleep", "chan receive", "chan send", "network"):
        yield f"waits: {name}", states[name][0], names[name]


@_of("kanata", "small.kanata", "the lines, counted")
def _kanata(trace: Any, data: bytes) -> Rows:
    lines = data.decode().splitlines()
    yield "instructions", sum(line.startswith("I\t") for line in lines), int((trace.spans.parent < 0).sum())


@_of("perfetto", "thr_v311.pftrace", "Perfetto's protobuf, counted")
def _perfetto(trace: Any, data: bytes) -> Rows:
    from perfetto.protos.perfetto.trace import perfetto_trace_pb2

    packets = perfetto_trace_pb2.Trace.FromString(data).packet
    begins = sum(packet.track_event.type == 1 for packet in packets)
    yield "calls", begins, len(trace.calls)


@_of("perfetto", "heap.pftrace.gz", "Perfetto's engine")
def _heap_graph(trace: Any, data: bytes) -> Rows:
    said = json.loads("\n".join(_lines("heap.json")))["classes"]
    yield "objects", sum(row[0] for row in said.values()), _total(trace, 1)
    yield _top(Counter({name: row[1] for name, row in said.items()}), _own(trace), "bytes")


@_of("collapsed", "pyspy_pylint.collapsed.txt.gz", "py-spy")
def _collapsed(trace: Any, data: bytes) -> Rows:
    # py-spy also counts rounds in which there was no stack.
    lines = [line.rpartition(" ") for line in data.decode().splitlines() if line.rpartition(" ")[0]]
    yield "samples", sum(int(count) for _, _, count in lines), _total(trace)
    own: Counter[str] = Counter()
    for stack, _, count in lines:
        own[re.sub(r" \([^()]*\)$", "", stack.rpartition(";")[2])] += int(count)
    yield _top(own, _own(trace), "samples")


@_of("collapsed", "words_315.collapsed", "profiling.sampling, Python 3.15")
def _stacks(trace: Any, data: bytes) -> Rows:
    lines = [line.rpartition(" ") for line in data.decode().splitlines()]
    yield "samples", sum(int(count) for _, _, count in lines), _total(trace)
    yield "threads", len({stack.partition(";")[0] for stack, _, _ in lines}), len(trace.threads)


@_of("enter_exit", "weka_J48_weather.tsv.gz", "the lines, counted")
def _enter_exit(trace: Any, data: bytes) -> Rows:
    lines = [line.split("\t") for line in data.decode().splitlines() if not line.startswith("#")]
    yield "calls", sum(line[1] == "+" for line in lines), len(trace.calls)
    yield _top(Counter(line[2] for line in lines if line[1] == "+"), _calls(trace), "calls")
    yield "threads", len({line[0] for line in lines}), len(trace.threads)


@_of("uftrace", "uftrace_lua.data.tar.gz", "uftrace dump --chrome")
def _uftrace(trace: Any, data: bytes) -> Rows:
    events = json.loads(gzip.decompress((RECORDED / "uftrace_lua.json.gz").read_bytes()))["traceEvents"]
    begins = Counter(event["name"] for event in events if event["ph"] == "B")
    yield "calls", begins.total(), len(trace.calls)
    yield _top(begins, _calls(trace), "calls")


@_of("rsf", "extravis_J48_weather.rsf.gz", "the lines, counted")
def _rsf(trace: Any, data: bytes) -> Rows:
    words = [line.split() for line in data.decode().splitlines()]
    called = Counter(f"{row[2]}.{row[5]}" for row in words if row[:1] == ["call"] and len(row) > 5)
    names = {name: name.partition("(")[0] for name in trace.functions.name}
    found: Counter[str] = Counter()
    for name, count in _calls(trace).items():
        found[names[name]] += count
    yield _top(called, found, "calls")


@_of("ftrace", "locks.ftrace.gz", "the lines, counted")
def _ftrace(trace: Any, data: bytes) -> Rows:
    lines = [line for line in data.decode().splitlines() if not line.startswith("#")]
    # A call that never returned is one, too.
    enters = Counter(found[1] for line in lines if (found := re.search(r": sys_(\w+)\(", line)))
    yield _top(enters, _calls(trace), "calls")


@_of("ftrace", "words_3_4.ftrace.gz", "the lines of trace-cmd report 3.4, counted")
def _trace_cmd(trace: Any, data: bytes) -> Rows:
    enters = Counter(re.findall(r": sys_enter_(\w+):", data.decode()))
    yield _top(enters, _calls(trace), "calls")


@_of("heaptrack", "heaptrack_lua.gz", "heaptrack")
def _heaptrack(trace: Any, data: bytes) -> Rows:
    allocations = int((trace.memory.kind == 0).sum())
    yield "allocations", data.count(b"\n+ "), allocations
    leaked = data.count(b"\n+ ") - data.count(b"\n- ")
    yield "not freed", leaked, allocations - int((trace.memory.kind == 1).sum())


@_of("memray_records", "memray_markdown.records.tsv.gz", "memray's own reader")
def _memray(trace: Any, data: bytes) -> Rows:
    lines = [line.split("\t") for line in data.decode().splitlines() if not line.startswith("#")]
    yield "records", len(lines), len(trace.memory)
    freed = sum(line[4] in ("FREE", "MUNMAP") for line in lines)
    yield "frees", freed, int((trace.memory.kind == 1).sum())
    yield "threads", len({line[1] for line in lines}), len(trace.threads)


if __name__ == "__main__":
    PAGE.write_text(page(rows()), "utf-8")
