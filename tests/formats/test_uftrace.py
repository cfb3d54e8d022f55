"""uftrace's folder: against its own Chrome dumps, and folders made up with arguments, forks and damage."""

import gzip
import io
import json
import struct
import tarfile
from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tracevis3d.errors import InputError
from tracevis3d.formats import registry
from tracevis3d.formats.uftrace import format, symbols
from tracevis3d.kernels.formats.scan import uftrace as s
from tracevis3d.progress import silent

ENTRY, EXIT, LOST, EVENT = range(4)
BASE = 0x5500_0000_0000


def read(path):
    return registry.open_trace(path)


def rows(trace):
    names = list(trace.functions.name)
    calls = trace.calls
    found = defaultdict(list)
    for t, f, start, end, depth in zip(
        calls.thread.tolist(),
        calls.function.tolist(),
        calls.start.tolist(),
        calls.end.tolist(),
        calls.depth.tolist(),
        strict=True,
    ):
        place = (trace.threads.process[t], trace.threads.tid[t])
        found[place].append((names[f], start + trace.origin_ns, end + trace.origin_ns, depth))
    return dict(found)


def chrome_calls(path):
    """Read uftrace's Chrome dump; times are in thousandths of a microsecond."""
    found, stacks = defaultdict(list), defaultdict(list)
    for event in json.loads(gzip.decompress(path.read_bytes()))["traceEvents"]:
        if event["ph"] not in "BE" or event["name"] == "linux:schedule":
            continue
        place = event["pid"], event.get("tid", event["pid"])
        ns = round(event["ts"] * 1000)
        if event["ph"] == "B":
            stacks[place].append(len(found[place]))
            found[place].append([event["name"], ns, None, len(stacks[place])])
        else:
            row = found[place][stacks[place].pop()]
            assert row[0] == event["name"]
            row[2] = ns
    return {place: [tuple(row) for row in calls] for place, calls in found.items()}


@pytest.mark.parametrize(
    ("name", "dump", "calls", "threads", "functions", "unsupported"),
    [
        ("uftrace_lua.data.tar.gz", "uftrace_lua.json.gz", 173_658, 1, 525, 132),
        ("lttng_mt/uftrace", "lttng_mt/uft.json.gz", 63_767, 5, 17, 726),
    ],
)
def test_recordings_have_the_calls_of_uftraces_own_dump(
    recorded, name, dump, calls, threads, functions, unsupported
):
    trace = read(recorded / name)
    assert trace.source.format == "uftrace"
    assert (len(trace.calls), len(trace.threads), len(trace.functions)) == (calls, threads, functions)
    assert rows(trace) == chrome_calls(recorded / dump)
    assert set(trace.problems) == {"unsupported"}
    assert trace.problems["unsupported"].count == unsupported


def test_functions_know_their_source_and_module(recorded):
    trace = read(recorded / "lttng_mt" / "uftrace")
    names = list(trace.functions.name)
    leaf = names.index("leaf")
    assert trace.files[trace.functions.file[leaf]] == "mt.c"
    assert trace.functions.line[leaf] == 7
    module = trace.functions.container[leaf]
    assert trace.containers.name[module] == "mt"
    assert trace.containers.name[trace.functions.container[names.index("fopen")]] == "PLT"
    assert set(trace.threads.process_name) == {"mt"}


# -- folders made up -------------------------------------------------------------------------------

SYM = """# symbols: 5
# path name: /bin/prog
0000000000001000 T main
0000000000001100 T text
0000000000001200 T number
0000000000001300 P puts
0000000000001400 ? __sym_end
"""
MAP = (
    f"{BASE:x}-{BASE + 0x5000:x} r-xp 00000000 00:00 0       /bin/prog build-id:00ff\n"
    "7ffd0000-7ffd9000 rw-p 0 00:00 0 [stack]\n"
)
INFO = (
    "exename:/bin/prog\nargspec:lines=2\nargspec:text@arg1/s,arg2/i32;^num@arg1/x,fparg1/80,arg3/c\n"
    "retspec:text@retval/s\npattern_type:regex\n"
)
MAIN, TEXT, NUMBER, PUTS = (BASE + at for at in (0x1013, 0x1104, 0x1204, 0x1300))


def record(time, kind, address, depth, data=None):
    word = kind | (4 if data is not None else 0) | 5 << 3 | depth << 6 | address << 16
    data = data or b""
    return struct.pack("<QQ", time, word) + data + b"\xaa" * (-len(data) % 8)


def string(text):
    data = struct.pack("<H", len(text)) + text
    return data + b"\xbb" * (-len(data) % 4)


def folder(path, data, *, info=INFO, tasks="", maps=MAP):
    path.mkdir(exist_ok=True)
    header = b"Ftrace!\0" + struct.pack("<IHBBQQHHI", 4, 40, 1, 2, 0, 0, 1024, 0, 0)
    (path / "info").write_bytes(header + info.encode())
    (path / "prog.sym").write_text(SYM)
    (path / "sid-ab.map").write_text(maps)
    (path / "task.txt").write_text(
        'SESS timestamp=0.000000001 pid=7 sid=ab exename="/bin/prog"\n'
        "TASK timestamp=0.000000002 tid=7 pid=7\n" + tasks
    )
    for tid, content in data.items():
        (path / f"{tid}.dat").write_bytes(content)
    return path


GOOD = [
    record(10, ENTRY, MAIN, 0),
    record(20, ENTRY, TEXT, 1, string(b"hello") + struct.pack("<i", 5)),
    record(30, EXIT, TEXT, 1, string(b"")),
    record(40, ENTRY, NUMBER, 1, struct.pack("<Q", 1 << 40) + b"\x28" * 10 + b"..\x28..."),
    record(45, EVENT, 100001, 0, struct.pack("<H", 24) + b"\x28" * 24),
    record(50, EXIT, NUMBER, 1),
    record(60, EXIT, MAIN, 0),
]
GOOD_CALLS = {(7, 7): [("main", 10, 60, 1), ("text", 20, 30, 2), ("number", 40, 50, 2)]}


def test_arguments_and_events_are_passed_over(tmp_path):
    trace = read(folder(tmp_path / "d", {7: b"".join(GOOD)}))
    assert rows(trace) == GOOD_CALLS
    at = sum(map(len, GOOD[:4]))
    assert trace.problems.as_dict() == {"unsupported": {"count": 1, "first": f"7.dat, byte {at}"}}


def test_debug_data_tells_arguments_and_lines(tmp_path):
    path = folder(tmp_path / "d", {7: b"".join(GOOD)}, info="argspec:main@arg1\n")
    (path / "prog.dbg").write_text(
        "# path name: /bin/prog\nF: 1100 text\nL: 12 src/a b.c\nA: @arg1/s,arg2/i32\nR: @retval/s\n"
        "F: 1200 number\nA: @arg1,fparg1/80,arg3/c\n"
    )
    trace = read(path)
    assert rows(trace) == GOOD_CALLS
    assert "malformed" not in trace.problems
    text = list(trace.functions.name).index("text")
    assert trace.files[trace.functions.file[text]] == "src/a b.c"
    assert trace.functions.line[text] == 12


def test_unknown_arguments_are_looked_over_and_counted(tmp_path):
    trace = read(folder(tmp_path / "d", {7: b"".join(GOOD)}, info="exename:/bin/prog\n"))
    assert rows(trace) == GOOD_CALLS
    assert (trace.problems["malformed"].count, trace.problems["malformed"].first) == (3, "7.dat, byte 16")


def test_lost_and_broken_records_are_counted(tmp_path):
    data = [*GOOD[:2], record(21, LOST, 9, 0), b"\x00" * 24, *GOOD[2:], b"\x01" * 13]
    trace = read(folder(tmp_path / "d", {7: b"".join(data)}))
    assert rows(trace) == GOOD_CALLS
    assert trace.problems["lost"].count == 9
    assert trace.problems["malformed"].count == 1
    assert trace.problems["truncated"].first == "7.dat is truncated within a record"


def test_processes_sessions_and_libraries(tmp_path):
    library = 0x7F00_0000_0000
    tasks = (
        "TASK timestamp=0.000000003 tid=8 pid=7\nFORK timestamp=0.000000100 pid=9 ppid=7\n"
        'SESS timestamp=0.000000200 pid=9 sid=cd exename="/bin/other prog"\n'
        f"DLOP timestamp=0.000000050 tid=7 sid=ab base={library:x} libname=/lib/plug.so\n"
        "nonsense\nTASK timestamp=x\n"
    )
    data = {
        7: record(10, ENTRY, MAIN, 0) + record(60, ENTRY, library + 9, 1) + record(61, EXIT, library + 9, 1),
        8: record(20, ENTRY, TEXT, 0) + record(30, EXIT, TEXT, 0),
        9: record(110, ENTRY, MAIN, 0) + record(120, EXIT, MAIN, 0) + record(210, ENTRY, MAIN, 0)
        + record(220, EXIT, MAIN, 0) + record(230, ENTRY, 0x1234, 0) + record(240, EXIT, 0x1234, 0),
    }  # fmt: skip
    path = folder(tmp_path / "d", data, tasks=tasks)
    (path / "plug.so.sym").write_text("0000000000000000 00000020 T run\n0000000000000020 00000010 T stop\n")
    (path / "sid-cd.map").write_text(f"{BASE:x}-{BASE + 0x2000:x} r-xp 00000000 00:00 0 /bin/other prog\n")
    (path / "other prog.sym").write_text("0000000000001000 T start\n0000000000001800 ? __func_end\n")
    trace = read(path)
    assert rows(trace) == {
        (7, 7): [("main", 10, 61, 1), ("run", 60, 61, 2)],
        (7, 8): [("text", 20, 30, 1)],
        (9, 9): [("main", 110, 120, 1), ("start", 210, 220, 1), ("<1234>", 230, 240, 1)],
    }
    assert trace.threads.process_name == ("prog", "prog", "other prog")


def test_a_folder_without_maps_has_addresses_for_names(tmp_path):
    path = tmp_path / "d"
    folder(path, {7: b"".join(GOOD)})
    for name in ("task.txt", "sid-ab.map"):
        (path / name).unlink()
    names = set(read(path).functions.name)
    assert names == {f"<{address:x}>" for address in (MAIN, TEXT, NUMBER)}


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (lambda path: (path / "7.dat").unlink(), "contains no records of a thread"),
        (lambda path: (path / "7.dat").write_bytes(b"abc"), "none of its 1 threads has a record"),
        (lambda path: (path / "info").write_bytes(b"Ftrace!\0"), "'info' is missing or not uftrace's"),
        (
            lambda path: (path / "info").write_bytes(b"Ftrace!\0" + b"\4\0\0\0\x28\0\2\2" + b"\0" * 30),
            "byte order",
        ),
    ],
)
def test_what_is_no_recording_is_refused_in_one_sentence(tmp_path, spoil, reason):
    path = folder(tmp_path / "d", {7: b"".join(GOOD)})
    spoil(path)
    with pytest.raises(InputError, match=reason):
        format.read(path, silent)


def tar_of(path, prefix="d/", **modes):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", **modes) as tar:
        for file in sorted(path.iterdir()):
            tar.add(file, prefix + file.name)
    return out.getvalue()


@pytest.mark.parametrize("prefix", ["d/", "./d/", "../../d/", "/tmp/d/", ""])
def test_a_tar_is_read_where_it_lies(tmp_path, prefix):
    path = folder(tmp_path / "d", {7: b"".join(GOOD)})
    before = sorted(p.name for p in tmp_path.iterdir())
    (tmp_path / "a.tar.gz").write_bytes(gzip.compress(tar_of(path, prefix)))
    trace = read(tmp_path / "a.tar.gz")
    assert trace.source.format == "uftrace"
    assert rows(trace) == GOOD_CALLS
    assert sorted(p.name for p in tmp_path.iterdir()) == [*["a.tar.gz"], *before]


def test_links_in_a_tar_are_not_followed(tmp_path):
    path = folder(tmp_path / "d", {7: b"".join(GOOD)})
    (path / "7.dat").unlink()
    (path / "7.dat").symlink_to("/etc/passwd")
    (tmp_path / "a.tar").write_bytes(tar_of(path))
    with pytest.raises(InputError, match="no records of a thread"):
        read(tmp_path / "a.tar")


def test_a_cut_tar_is_read_as_far_as_it_goes(recorded, tmp_path):
    whole = gzip.decompress((recorded / "uftrace_lua.data.tar.gz").read_bytes())
    with tarfile.open(fileobj=io.BytesIO(whole)) as tar:
        parts = [(m, tar.extractfile(m).read()) for m in tar if m.isreg()]
    parts.sort(key=lambda part: part[0].name.endswith("16995.dat"))
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for member, data in parts:
            tar.addfile(member, io.BytesIO(data))
    (tmp_path / "a.tar").write_bytes(out.getvalue()[: len(whole) // 2])
    trace = read(tmp_path / "a.tar")
    assert "truncated" in trace.problems
    assert 80_000 < len(trace.calls) < 100_000


def test_a_pattern_that_could_take_for_ever_is_left_alone():
    specs = symbols.ArgumentSpecs("argspec:(a+)+b@arg1/s;^x.*y@arg1/i8;" + "a*" * 9 + "c@arg2\n")
    module = symbols.Module("m", b"")
    assert specs.of(symbols.Symbol(0, 1, "a" * 5000), module) is None
    assert specs.of(symbols.Symbol(0, 1, "x1y"), module) == ((1,), ())


def test_arguments_and_results_may_be_told_in_different_places():
    specs = symbols.ArgumentSpecs(
        "argspec:run@arg1/i32\nargauto:run@arg1/s;_ZdlPv@arg1/x\nretauto:run@retval/s\n"
    )
    module = symbols.Module(
        "m", b"10 T run\n20 T _ZdlPvm\n", b"F: 10 run\nA: @arg1/i64,arg2/t12:s%RDI\nR: @retval/c\n"
    )
    run, delete = module.symbols
    assert specs.of(run, module) == ((4,), (1,))
    assert delete.name == "operator delete"
    assert specs.of(delete, module) == ((8,), ())
    assert module.arguments[run.low] == ((8, 12), (1,))


def test_symbols_beyond_all_addresses_do_no_harm(tmp_path):
    # Found by fuzzing: sizes and addresses that leave int64.
    path = folder(tmp_path / "d", {7: b"".join(GOOD)})
    (path / "prog.sym").write_text(
        SYM + "0000000000001500 ffffffffffffffff T text\n"
        "ffffffffffffffff ffffffff T number\n0000fffffffffff0 T text\n"
    )
    (path / "sid-ab.map").write_text(MAP + "ffffffffffff0000-ffffffffffffffff r-xp 0 00:00 0 /bin/prog2\n")
    assert rows(read(path)) == GOOD_CALLS


# -- the scanner against a plain one ---------------------------------------------------------------

SPECS = {TEXT: ((-1, 4), (-1,)), NUMBER: ((8, 10, 1), ())}


def scan(data, keys=1 << 12):
    """Run the kernel with ``SPECS`` over bytes; return (kind, address, time) and the state."""
    words = np.frombuffer(data[: len(data) // 8 * 8], "<u8")
    room = len(words) // 2
    columns = np.empty(room, np.uint8), np.empty(room, np.int32), np.empty(room, np.int64)
    lists = [sizes for address in sorted(SPECS) for sizes in SPECS[address]]
    spec = (
        np.array(sorted(SPECS), np.int64),
        np.array(sorted(SPECS), np.int64) + 1,
        np.cumsum([0] + [len(sizes) for sizes in lists]).astype(np.int64),
        np.array([size for sizes in lists for size in sizes], np.int64),
    )
    state = np.zeros(s.STATE_SIZE, np.int64)
    state[s.LAST_TIME], state[s.LAST_DEPTH] = -1, 1023
    table = np.full(2 * keys, -1, np.int32)
    known, specs = np.zeros(keys, np.int64), np.zeros(keys, np.int64)
    zero = np.zeros(1, np.int64)
    arguments = np.zeros(len(words) // 2, np.uint64), np.zeros(len(words) // 2, np.uint64)
    assert (
        s.scan_records(words, state, zero, zero, *columns, *arguments, table, known, specs, *spec) == s.DONE
    )
    count = int(state[s.ROWS])
    found = list(
        zip(
            columns[0][:count].tolist(),
            known[columns[1][:count]].tolist(),
            columns[2][:count].tolist(),
            strict=True,
        )
    )
    return found, state


_call = st.tuples(
    st.sampled_from([MAIN, TEXT, NUMBER, PUTS]),
    st.sampled_from([ENTRY, EXIT, EVENT]),
    st.booleans(),
    st.binary(max_size=40),
)


@settings(max_examples=300, deadline=None)
@given(st.lists(_call, max_size=20))
def test_well_formed_records_are_all_found(events):
    data, expected = b"", []
    for time, (address, kind, more, payload) in enumerate(events):
        arguments = None
        if more and kind == EVENT:
            arguments = struct.pack("<H", len(payload)) + payload
        elif more and address in SPECS:
            sizes = SPECS[address][kind]
            arguments = b""
            for size in sizes:
                arguments += string(payload) if size < 0 else b"\x2d" * size
                arguments += b"\x2d" * (-len(arguments) % 4)
        data += record(time, kind, address, 0, arguments)
        if kind != EVENT:
            expected.append((kind, address, time))
    found, state = scan(data)
    assert found == expected
    assert state[s.GUESSED] == state[s.BROKEN] == 0
    assert state[s.EVENTS] == sum(kind == EVENT for _, kind, _, _ in events)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.one_of(st.binary(max_size=24), st.sampled_from(GOOD)), max_size=12).map(b"".join))
def test_any_bytes_end_and_times_are_those_of_the_file(data):
    found, _ = scan(data)
    assert len(found) <= len(data) // 16
    times = {struct.unpack_from("<q", data, at)[0] for at in range(0, len(data) - 15, 8)}
    assert {time for _, _, time in found} <= times
