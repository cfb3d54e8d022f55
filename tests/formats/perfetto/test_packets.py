"""Perfetto's protobuf: a recording against its JSON twin, and packets made up."""

import gzip
import json
import re
import sys
import zlib
from collections import Counter, defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import ROOT
from tracevis3d.errors import InputError, MissingDependency
from tracevis3d.formats import registry
from tracevis3d.formats.perfetto import format as perfetto
from tracevis3d.formats.perfetto.packets import PACKET_TAG, varint
from tracevis3d.kernels.formats.protobuf import track_events as kernels
from tracevis3d.kernels.formats.protobuf.bundles import find_bundles
from tracevis3d.progress import silent
from tracevis3d.trace.model import RELEASE, WAIT

pb2 = pytest.importorskip("perfetto.protos.perfetto.trace.perfetto_trace_pb2")

BEGIN, END, INSTANT, COUNTER = 1, 2, 3, 4


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


class Packets:
    """Writes packets, each of one sequence."""

    def __init__(self):
        self.trace = pb2.Trace()

    def packet(self, at=None, *, sequence=1, **fields):
        packet = self.trace.packet.add(trusted_packet_sequence_id=sequence, **fields)
        if at is not None:
            packet.timestamp = at
        return packet

    def thread(self, uuid, tid, name="", pid=1, **more):
        self.packet().track_descriptor.CopyFrom(
            pb2.TrackDescriptor(uuid=uuid, thread={"pid": pid, "tid": tid, "thread_name": name}, **more)
        )

    def event(self, at, kind, uuid=None, *, sequence=1, flags=0, packet=None, **fields):
        packet = packet or self.packet(at, sequence=sequence, sequence_flags=flags)
        packet.track_event.CopyFrom(pb2.TrackEvent(type=kind, **fields))
        if uuid is not None:
            packet.track_event.track_uuid = uuid
        return packet

    def save(self, path):
        path.write_bytes(self.trace.SerializeToString())
        return path


@pytest.fixture
def packets():
    return Packets()


def test_a_recording_has_the_calls_of_its_json(recorded):
    trace = read(recorded / "python_threads" / "thr_v311.pftrace")
    assert trace.source.format == "perfetto"
    assert (len(trace.calls), len(trace.threads)) == (5365, 6)
    assert not trace.problems
    slices, names = defaultdict(list), {}
    for event in json.loads((recorded / "python_threads" / "thr_v311.json").read_bytes())["traceEvents"]:
        if event["ph"] == "X":
            start = round(event["ts"] * 1000)
            slices[event["pid"], event["tid"]].append((event["name"], start, round(event["dur"] * 1000)))
        elif event["name"] == "thread_name":
            names[event["tid"]] = event["args"]["name"]
    found = rows(trace)
    assert set(found) == set(slices)
    for place, calls in slices.items():
        mine = [(name, start, end - start) for name, start, end, _ in found[place]]
        assert sorted(mine) == sorted(calls)
    assert dict(zip(trace.threads.tid, trace.threads.name, strict=True)) == names


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_slices_of_threads(tmp_path, packets, pack):
    packets.packet().track_descriptor.CopyFrom(
        pb2.TrackDescriptor(uuid=1, process={"pid": 1, "process_name": "prog"})
    )
    packets.thread(2, 20, "main", parent_uuid=1)
    packets.thread(3, 30)
    packets.event(100, BEGIN, 2, name="a")
    packets.event(110, BEGIN, 3, name="b")
    packets.event(120, BEGIN, 2, name="c")
    for at, uuid in ((130, 2), (140, 2), (150, 3)):
        packets.event(at, END, uuid)
    path = packets.save(tmp_path / "a")
    path.write_bytes(pack(path.read_bytes()))
    trace = read(path)
    assert rows(trace) == {(1, 20): [("a", 100, 140, 1), ("c", 120, 130, 2)], (1, 30): [("b", 110, 150, 1)]}
    assert trace.threads.name == ("main", "")
    assert trace.threads.process_name == ("prog", "prog")
    assert not trace.problems


def test_names_and_defaults_belong_to_their_sequence(tmp_path, packets):
    packets.thread(2, 20)
    for sequence, name in ((1, "one"), (2, "two")):
        packet = packets.packet(sequence=sequence, sequence_flags=1)
        packet.interned_data.event_names.add(iid=5, name=name)
        packet.trace_packet_defaults.track_event_defaults.track_uuid = 2
    packets.event(10, BEGIN, sequence=1, flags=2, name_iid=5)
    packets.event(20, BEGIN, sequence=2, flags=2, name_iid=5)
    packets.event(30, BEGIN, sequence=2, flags=2, name_iid=6)
    # What was interned is forgotten, and no longer to be trusted after a loss.
    packets.packet(sequence=1, sequence_flags=1)
    packets.event(40, BEGIN, 2, sequence=1, flags=2, name_iid=5)
    packets.event(50, BEGIN, sequence=2, flags=2, name_iid=5).previous_packet_dropped = 1
    for at in range(60, 64):
        packets.event(at, END, 2, sequence=3)
    trace = read(packets.save(tmp_path / "a.pftrace"))
    assert rows(trace) == {
        (1, 20): [("one", 10, 63, 1), ("two", 20, 62, 2), ("(unnamed)", 30, 61, 3), ("(unnamed)", 40, 60, 4)]
    }
    assert trace.problems["no name"].count == 2
    assert trace.problems["lost"].count == 2


def test_clocks_are_brought_together(tmp_path, packets):
    packets.thread(2, 20)
    packet = packets.packet(sequence=1)
    for clock, shown, more in (
        (6, 1_000_000, {}),
        (3, 400_000, {}),
        (64, 7, {"unit_multiplier_ns": 1000, "is_incremental": True}),
    ):
        packet.clock_snapshot.clocks.add(clock_id=clock, timestamp=shown, **more)
    packets.event(1_000_500, BEGIN, 2, name="boottime")
    packets.event(400_600, BEGIN, 2, name="monotonic").timestamp_clock_id = 3
    packets.event(2, BEGIN, 2, name="own").timestamp_clock_id = 64
    packets.event(3, BEGIN, 2, name="later").timestamp_clock_id = 64
    packets.event(9, BEGIN, 2, name="never shown", sequence=2).timestamp_clock_id = 64
    trace = read(packets.save(tmp_path / "a.pftrace"))
    starts = {name: start for name, start, _, _ in rows(trace)[1, 20]}
    assert starts == {"boottime": 1_000_500, "monotonic": 1_000_600, "own": 1_002_000, "later": 1_005_000}
    assert trace.problems["bad time"].count == 1
    assert trace.problems["unmatched begin"].count == 4


def test_tracks_that_are_no_threads_have_timelines_of_their_own(tmp_path, packets):
    packets.packet().track_descriptor.CopyFrom(
        pb2.TrackDescriptor(uuid=1, process={"pid": 9, "cmdline": ["p", "-x"]})
    )
    packets.packet().track_descriptor.CopyFrom(pb2.TrackDescriptor(uuid=4, parent_uuid=1, name="queue"))
    for uuid in (1, 4, 5):
        packets.event(10 * uuid, BEGIN, uuid, name=f"on {uuid}")
        packets.event(10 * uuid + 5, END, uuid)
    trace = read(packets.save(tmp_path / "a.pftrace"))
    assert rows(trace) == {
        (9, 1): [("on 1", 10, 15, 1)],
        (9, 4): [("on 4", 40, 45, 1)],
        (0, 5): [("on 5", 50, 55, 1)],
    }
    assert trace.threads.name == ("", "queue", "")
    assert trace.threads.process_name == ("p -x", "p -x", "")


def test_instants_counters_and_flows(tmp_path, packets):
    packets.thread(2, 20)
    packets.thread(3, 30)
    packets.packet().track_descriptor.CopyFrom(
        pb2.TrackDescriptor(uuid=7, parent_uuid=2, name="bytes", counter={"unit_multiplier": 1024})
    )
    packets.packet().track_descriptor.CopyFrom(
        pb2.TrackDescriptor(uuid=8, name="sum", counter={"is_incremental": True})
    )
    packets.event(
        10, BEGIN, 2, name="send", flow_ids=[77], extra_counter_track_uuids=[8], extra_counter_values=[3]
    )
    packets.event(20, END, 2, extra_counter_track_uuids=[8], extra_counter_values=[4])
    packets.event(15, INSTANT, 2, name="now")
    packets.event(30, BEGIN, 3, name="receive", terminating_flow_ids=[77])
    packets.event(40, END, 3)
    packets.event(50, BEGIN, 3, name="again", flow_ids=[77])
    packets.event(60, END, 3)
    packets.event(12, COUNTER, 7, counter_value=2)
    packets.event(13, COUNTER, 7, double_counter_value=0.5)
    trace = read(packets.save(tmp_path / "a.pftrace"))
    names = list(trace.functions.name)
    assert [trace.instants.names[i] for i in trace.instants.name] == ["now"]
    assert trace.instants.time.tolist() == [5]
    series = dict(zip(trace.counters.name, range(len(trace.counters)), strict=True))
    values = {
        name: trace.counters.value[trace.counters.first[i] : trace.counters.first[i + 1]].tolist()
        for name, i in series.items()
    }
    assert values == {"bytes": [2048.0, 512.0], "sum": [3.0, 7.0]}
    ends = zip(trace.flows.source.tolist(), trace.flows.target.tolist(), strict=True)
    called = trace.calls.function
    assert [(names[called[a]], names[called[b]]) for a, b in ends] == [("send", "receive")]
    assert not trace.problems


def test_events_of_the_old_kind(tmp_path, packets):
    packet = packets.packet(sequence_flags=1)
    packet.thread_descriptor.pid, packet.thread_descriptor.tid = 1, 20
    packet.thread_descriptor.thread_name = "main"
    packet.thread_descriptor.reference_timestamp_us = 1000

    def legacy(phase, name="", **fields):
        more = {
            key: fields.pop(key) for key in ("timestamp_delta_us", "timestamp_absolute_us") if key in fields
        }
        packets.event(None, 0, name=name, legacy_event={"phase": ord(phase), **fields}, **more)

    legacy("X", "x", timestamp_delta_us=5, duration_us=100)
    legacy("B", "b", timestamp_delta_us=5)
    legacy("E", timestamp_delta_us=5)
    legacy("I", "i", timestamp_absolute_us=1017)
    legacy("b", "load", timestamp_absolute_us=1020, global_id=4)
    legacy("b", "step", timestamp_absolute_us=1030, global_id=4)
    legacy("e", "step", timestamp_absolute_us=1040, global_id=4)
    legacy("e", "load", timestamp_absolute_us=1050, global_id=4)
    legacy("X", "other", timestamp_absolute_us=1060, duration_us=1, pid_override=2, tid_override=3)
    legacy("V", "odd", timestamp_absolute_us=1061)
    trace = read(packets.save(tmp_path / "a.pftrace"))
    us = 1000
    assert rows(trace) == {
        (1, 20): [("x", 1005 * us, 1105 * us, 1), ("b", 1010 * us, 1015 * us, 2)],
        (2, 3): [("other", 1060 * us, 1061 * us, 1)],
    }
    assert trace.threads.name == ("main", "")
    assert [trace.spans.names[i] for i in trace.spans.name] == ["load", "step"]
    assert trace.spans.parent.tolist() == [-1, 0]
    assert (trace.spans.end - trace.spans.start).tolist() == [30 * us, 10 * us]
    assert len(trace.instants) == 1
    assert trace.problems["unsupported"].count == 1


def test_packed_packets_and_those_of_other_sources(tmp_path, packets):
    packets.thread(2, 20)
    packets.event(10, BEGIN, 2, name="a")
    inner = packets.trace.SerializeToString()
    outer = Packets()
    outer.packet().compressed_packets = zlib.compress(inner)
    outer.packet().compressed_packets = b"nonsense"
    # What the package has no message for.
    outer.packet().MergeFromString(bytes([0x82, 0x7D, 0x00]))
    outer.event(20, END, 2)
    outer.packet().process_tree.threads.add(tid=20, tgid=1, name="from the tree")
    trace = read(outer.save(tmp_path / "a.pftrace"))
    assert rows(trace) == {(1, 20): [("a", 10, 20, 1)]}
    assert trace.threads.name == ("from the tree",)
    assert trace.problems["malformed"].count == 1
    assert trace.problems["unsupported"].first.endswith("field 2000 of a packet")


def test_every_cut_is_read_packet_by_packet(tmp_path, packets):
    packets.thread(2, 20)
    for i in range(10):
        packets.event(10 * i, BEGIN, 2, name=f"f{i}")
        packets.event(10 * i + 5, END, 2)
    path = packets.save(tmp_path / "a.pftrace")
    data = path.read_bytes()
    ends, at = [], 0
    for packet in packets.trace.packet:
        at += 2 + packet.ByteSize()
        ends.append(at)
    assert at == len(data)
    for size in range(ends[2], len(data)):
        path.write_bytes(data[:size])
        trace = perfetto.read(path, silent)
        whole = sum(end <= size for end in ends)
        assert len(trace.calls) == whole // 2
        assert ("truncated" in trace.problems) == (size not in ends)


def test_a_damaged_packet_is_left_out(tmp_path, packets):
    packets.thread(2, 20)
    packets.event(10, BEGIN, 2, name="a")
    packets.event(20, END, 2)
    data = packets.trace.SerializeToString()
    (tmp_path / "a.pftrace").write_bytes(
        data + b"\x0a\x03\x42\x42\x42" + data[-2 - packets.trace.packet[2].ByteSize() :]
    )
    trace = read(tmp_path / "a.pftrace")
    assert rows(trace) == {(1, 20): [("a", 10, 20, 1)]}
    assert trace.problems["malformed"].first == f"the packet at byte {len(data)} (DecodeError)"


def test_names_that_are_no_utf8_are_read(tmp_path, packets):
    # Found by fuzzing: protobuf hands them over as bytes.
    packets.thread(2, 20, "main")
    packets.event(10, BEGIN, 2, name="name")
    packets.event(20, END, 2)
    path = packets.save(tmp_path / "a.pftrace")
    path.write_bytes(path.read_bytes().replace(b"name", b"na\xffe").replace(b"main", b"m\xfein"))
    trace = read(path)
    assert rows(trace) == {(1, 20): [("na\ufffde", 10, 20, 1)]}
    assert trace.threads.name == ("m\ufffdin",)


@pytest.mark.parametrize("data", [b"\x0a\xff", b"\x0a\x05\x42", b"\n\n\n", b"\xff\xff"])
def test_what_holds_no_packet_is_refused_in_one_sentence(tmp_path, data):
    path = tmp_path / "a.pftrace"
    path.write_bytes(data)
    with pytest.raises(InputError, match=r"a\.pftrace: byte 0: no packet of a Perfetto trace can be read"):
        perfetto.read(path, silent)


def test_without_the_package_a_sentence_says_what_to_install(tmp_path, packets, monkeypatch):
    packets.thread(2, 20)
    path = packets.save(tmp_path / "a.pftrace")
    monkeypatch.setitem(sys.modules, "perfetto.protos.perfetto.trace", None)
    with pytest.raises(MissingDependency, match="pip install perfetto"):
        perfetto.read(path, silent)


@pytest.mark.parametrize(
    "text", [b'\n{"traceEvents": []}', b"\n\nmain;a 1\n", b"\n" * 500, b"\n\x05hello\n\x05world"]
)
def test_text_is_not_taken_for_packets(text):
    assert perfetto.sniff(text, "a.json") == registry.NO


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=200), st.integers(0, 400))
def test_any_bytes_end_in_a_trace_or_a_sentence(tmp_path_factory, noise, at):
    packets = Packets()
    packets.thread(2, 20)
    for i in range(8):
        packets.event(10 * i, BEGIN if i % 2 == 0 else END, 2, name="f")
    data = packets.trace.SerializeToString()
    path = tmp_path_factory.getbasetemp() / "noise.pftrace"
    path.write_bytes(data[:at] + noise + data[at:])
    try:
        trace = perfetto.read(path, silent)
    except InputError:
        pass
    else:
        assert len(trace.calls) <= 8 + len(noise)


TRACKS = st.sampled_from((0, 2, 3, 2**64 - 1))
EVENTS = st.fixed_dictionaries(
    {"type": st.sampled_from((BEGIN, BEGIN, END, END, INSTANT, COUNTER, 0))},
    optional={
        "track_uuid": TRACKS,
        "name": st.sampled_from(("", "a", "b", "a long name of a function")),
        "name_iid": st.integers(1, 3),
        "counter_value": st.integers(-5, 2**40),
        "double_counter_value": st.floats(-1, 1),
        "flow_ids": st.lists(st.integers(1, 3), max_size=2),
        "terminating_flow_ids": st.lists(st.integers(1, 3), max_size=1),
        "flow_ids_old": st.lists(st.integers(1, 3), max_size=1),
        "category_iids": st.just([1]),
        "timestamp_delta_us": st.integers(0, 9),
        "extra_counter_values": st.just([7]),
        "timestamp_absolute_us": st.integers(0, 9),
        "legacy_event": st.fixed_dictionaries(
            {},
            optional={
                "phase": st.sampled_from([*map(ord, "XBEIinRstfbeSFbeV"), 0]),
                "name_iid": st.integers(1, 3),
                "duration_us": st.sampled_from([0, 3, 2**60, -1]),
                "unscoped_id": st.integers(0, 2),
                "global_id": st.sampled_from([1, 2**64 - 1]),
                "local_id": st.integers(1, 2),
                "id_scope": st.just("x"),
                "bind_id": st.integers(0, 2),
                "flow_direction": st.integers(0, 3),
                "pid_override": st.sampled_from([0, 1, -1]),
                "tid_override": st.integers(3, 4),
            },
        ),
    },
)
INTERNED = st.lists(st.tuples(st.integers(1, 3), st.sampled_from("abcd")), max_size=2)
PACKETS = st.fixed_dictionaries(
    {},
    optional={
        "trusted_packet_sequence_id": st.integers(0, 2),
        "timestamp": st.integers(0, 100) | st.sampled_from((2**40, 2**62, 2**64 - 1)),
        "timestamp_clock_id": st.sampled_from((1, 6, 64)),
        "sequence_flags": st.integers(0, 3),
        "previous_packet_dropped": st.integers(0, 1),
        "trusted_uid": st.integers(0, 9),
        "track_event": EVENTS,
        "interned_data": INTERNED.map(
            lambda named: {"event_names": [{"iid": i, "name": n} for i, n in named]}
        ),
        "trace_packet_defaults": st.fixed_dictionaries(
            {"timestamp_clock_id": st.sampled_from((0, 1, 64, 65))},
            optional={"track_event_defaults": st.fixed_dictionaries({"track_uuid": TRACKS})},
        ),
    },
)
OTHERS = st.one_of(
    st.builds(
        lambda pid, us: {
            "thread_descriptor": {"pid": pid, "tid": 4, "reference_timestamp_us": us},
            "trusted_packet_sequence_id": 1,
        },
        st.integers(0, 2),
        st.sampled_from((0, 100, 2**61, -5)),
    ),
    st.builds(
        lambda unit, runs: {
            "clock_snapshot": {
                "clocks": [
                    {"clock_id": 6, "timestamp": 50},
                    {"clock_id": 64, "timestamp": 10, "unit_multiplier_ns": unit, "is_incremental": runs},
                    {"clock_id": 1, "timestamp": 2**61},
                ]
            },
            "trusted_packet_sequence_id": 1,
        },
        st.sampled_from((1, 1000, 2**40)),
        st.booleans(),
    ),
    st.builds(
        lambda uuid, runs: {
            "track_descriptor": {
                "uuid": uuid,
                "counter": {"unit_multiplier": 3, "is_incremental": runs},
                "name": "count",
            }
        },
        TRACKS,
        st.booleans(),
    ),
)


def content(path):
    """Return all that is read of a file, in a form that can be compared; or the sentence that refuses it."""
    try:
        trace = read(path)
    except InputError as error:
        return str(error)
    names = ("calls", "counters", "flows", "spans", "instants")
    tables = {
        name: {
            k: np.asarray(v).tolist() for k, v in vars(getattr(trace, name)).items() if hasattr(v, "dtype")
        }
        for name in names
    }
    return (
        tables, list(trace.functions.name), trace.threads.tid, trace.threads.name, trace.origin_ns,
        trace.problems.as_dict(),
    )  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(
    st.lists(PACKETS | PACKETS | PACKETS | OTHERS, max_size=25),
    st.binary(max_size=6),
    st.integers(0, 2000),
    st.booleans(),
)
def test_the_kernel_reads_what_the_typed_messages_say(tmp_path_factory, packets, noise, at, packed):
    trace = pb2.Trace(packet=[pb2.TracePacket(**packet) for packet in packets])
    data = trace.SerializeToString()
    if packed:
        packed_packets = pb2.TracePacket(compressed_packets=zlib.compress(data))
        event = pb2.TracePacket(timestamp=3, track_event=pb2.TrackEvent(type=BEGIN, name="b", track_uuid=2))
        data = pb2.Trace(packet=[event, packed_packets, event]).SerializeToString()
    data = data[:at] + noise + data[at:]
    path = tmp_path_factory.mktemp("twin") / "a.pftrace"
    path.write_bytes(data)
    found = content(path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernels, "scan_track_events", typed_only)
        assert content(path) == found


def typed_only(data, state, *rest):
    """Stop at each packet."""
    return kernels.DONE if state[kernels.AT] >= len(data) else kernels.OTHER


NUMBERS = st.integers(0, 3) | st.sampled_from((2**32 - 1, 2**32, 2**64 - 1))
QUIET = st.lists(st.tuples(st.sampled_from((3, 10, 10, 79, 98, 98, 8)), NUMBERS), max_size=3)
BUNDLES = st.tuples(st.binary(max_size=5), QUIET, st.sampled_from((1, 1, 1, 1, 2, 11)))


def numbered(*numbers):
    """Return numbers of seven bits a byte."""
    found = bytearray()
    for number in numbers:
        while number > 0x7F:
            found.append(number & 0x7F | 0x80)
            number >>= 7
        found.append(number)
    return bytes(found)


def bundles_of(data, at):
    """Return begin, end and sequence of the bundles from a place on, and where the last one's packet ends."""
    found = []
    while at < len(data) and data[at] == PACKET_TAG:
        size, p = varint(data, at + 1)
        stop = p + size
        packet = data[:stop]
        if size < 1 or stop > len(data) or data[p] != 0x0A:
            break
        size, begin = varint(packet, p + 1)
        p, sequence = begin + size, 0
        if size < 0 or p > stop:
            break
        while p < stop:
            tag, p = varint(packet, p)
            value, p = varint(packet, p)
            if tag not in (3 << 3, 10 << 3, 79 << 3, 98 << 3) or not 0 <= value < 1 << 32:
                return found, at
            sequence = value if tag == 10 << 3 else sequence
        found.append((begin, begin + size, sequence))
        at = stop
    return found, at


@settings(max_examples=200, deadline=None)
@given(st.lists(BUNDLES, max_size=6), st.binary(max_size=6), st.integers(0, 120), st.integers(0, 3))
def test_bundles_are_found_as_by_a_loop(packets, noise, at, begin):
    data = b""
    for bundle, rest, field in packets:
        packet = numbered(field << 3 | 2, len(bundle)) + bundle
        packet += b"".join(numbered(number << 3, value) for number, value in rest)
        data += numbered(PACKET_TAG, len(packet)) + packet
    data = bytes(begin) + data[:at] + noise + data[at:]
    first, stop, sequence = np.zeros((3, 20), np.int64)
    column = np.frombuffer(memoryview(data or b"\0"), np.uint8)
    count, after = find_bundles(column, begin, first, stop, sequence)
    found = list(zip(*(column[:count].tolist() for column in (first, stop, sequence)), strict=True))
    assert (found, after) == bundles_of(memoryview(data or b"\0"), begin)
    room = max(count - 1, 0)
    some, after = find_bundles(column, begin, first[:room], stop[:room], sequence[:room])
    rest, _ = find_bundles(column, after, first, stop, sequence)
    assert (some, some + rest) == (room, count)


# -- the scheduler -----------------------------------------------------------------------------------

LOCKS = ROOT / "tests" / "data" / "profiles" / "locks.ftrace.gz"
SWITCH = re.compile(
    r"\s*\S.*-(\d+)\s+\[(\d+)\] (\S+)\s+([\d.]+): sched_switch: prev_comm=(.*) prev_pid=(\d+) prev_prio=\d+ "
    r"prev_state=(\S+) ==> next_comm=(.*) next_pid=(\d+) next_prio=\d+"
)
WAKING = re.compile(r"\s*\S.*-(\d+)\s+\[(\d+)\] (\S+)\s+([\d.]+): sched_waking: comm=(.*) pid=(\d+) prio.*")
STATES = {"R": 0, "R+": 256, "S": 1, "D": 2, "T": 4, "X": 16, "Z": 32, "I": 128}


def scheduled(*, whole):
    """Return what a recording says of switches and wake-ups, each at a time of its own.

    With ``whole``, the recorded threads alone are on each processor: what runs there is what was switched to.
    """
    said, runs = [], {}
    for line in gzip.decompress(LOCKS.read_bytes()).decode().splitlines():
        if found := SWITCH.fullmatch(line):
            _, cpu, _, time, prev_comm, prev, state, comm, following = found.groups()
            before = runs.get(cpu, ("swapper", 0)) if whole else (prev_comm, int(prev))
            what = ("switch", *before, STATES[state], comm, int(following))
            runs[cpu] = comm, int(following)
        elif found := WAKING.fullmatch(line):
            tid, cpu, flags, time, comm, woken = found.groups()
            if whole and cpu not in runs:
                continue
            by = runs[cpu][1] if whole else int(tid)
            what = ("waking", comm, int(woken), by, 8 if flags[2] in "hHsZz" else 0, "")
        else:
            continue
        said.append((int(cpu), int(time.replace(".", "")) * 1000 + len(said) % 1000, *what))
    return said


def as_text(said):
    """Write it as ftrace does."""
    lines = []
    for cpu, time, kind, name, pid, a, b, c in said:
        at = f"{time // 10**9}.{time % 10**9:09d}"
        if kind == "switch":
            state = "R" if not a & 0xFF else "S"
            event = (
                f"sched_switch: prev_comm={name} prev_pid={pid} prev_prio=120 prev_state={state} ==> "
                f"next_comm={b} next_pid={c} next_prio=120"
            )
            lines.append(f"{name}-{pid} [{cpu:03d}] d..2. {at}: {event}")
        else:
            flags = "d.h2." if b else "d..2."
            event = f"sched_waking: comm={name} pid={pid} prio=120 target_cpu=000"
            lines.append(f"x-{a} [{cpu:03d}] {flags} {at}: {event}")
    return "\n".join(lines) + "\n"


def in_packets(packets, said, compact):
    """Write what was recorded as packets, 20 events of a processor in each."""
    for cpu in sorted({row[0] for row in said}):
        mine = [row for row in said if row[0] == cpu]
        for low in range(0, len(mine), 20):
            bundle = packets.packet().ftrace_events
            bundle.cpu = cpu
            if compact:
                in_columns(bundle.compact_sched, mine[low : low + 20])
                continue
            for _, time, kind, name, pid, a, b, c in mine[low : low + 20]:
                event = bundle.event.add(timestamp=time)
                if kind == "switch":
                    event.pid = pid
                    event.sched_switch.prev_comm, event.sched_switch.prev_pid = name, pid
                    event.sched_switch.prev_state = a
                    event.sched_switch.next_comm, event.sched_switch.next_pid = b, c
                else:
                    event.pid, event.common_flags = a, b
                    event.sched_waking.comm, event.sched_waking.pid = name, pid


def in_columns(out, rows):
    names, last = [], {"switch": 0, "waking": 0}
    for _, time, kind, name, pid, a, b, c in rows:
        text = b if kind == "switch" else name
        if text not in names:
            names.append(text)
        if kind == "switch":
            out.switch_timestamp.append(time - last[kind])
            out.switch_prev_state.append(a)
            out.switch_next_pid.append(c)
            out.switch_next_comm_index.append(names.index(text))
        else:
            out.waking_timestamp.append(time - last[kind])
            out.waking_pid.append(pid)
            out.waking_comm_index.append(names.index(text))
            out.waking_common_flags.append(b)
        last[kind] = time
    out.intern_table.extend(names)


def said_of(trace):
    """Return sleeps and wake-ups with their threads and times, and how often each function is called."""
    sync, tids = trace.sync, trace.threads.tid
    found = Counter()
    for row in range(len(sync)):
        whose = sync.objects[sync.object[sync.first[row]]]
        at = int(sync.start[row]) + trace.origin_ns, int(sync.end[row]) + trace.origin_ns
        found[int(sync.kind[row]), tids[sync.thread[row]], whose, *at] += 1
    return found


@pytest.mark.parametrize("compact", [False, True])
def test_the_scheduler_says_what_it_says_in_text(tmp_path, packets, compact):
    said = scheduled(whole=compact)
    assert len(said) > 100
    (tmp_path / "a.ftrace").write_text(as_text(said))
    text = registry.open_trace(tmp_path / "a.ftrace")
    in_packets(packets, said, compact)
    trace = read(packets.save(tmp_path / "a.pftrace"))
    assert not trace.problems
    assert said_of(trace) == said_of(text)
    if not compact:
        # What a thread is called that only wakes others is written in the text alone.
        assert rows(trace).keys() == rows(text).keys()


def test_slices_and_the_scheduler_share_threads(tmp_path, packets):
    packets.thread(2, 20, "main", pid=7)
    packets.event(1000, BEGIN, 2, name="work")
    packets.event(9000, END, 2)
    events = [
        (0, 2000, "switch", "main", 20, 1, "idle", 0),
        (1, 2500, "switch", "idle", 0, 0, "other", 30),
        (1, 3000, "waking", "main", 20, 30, 0, ""),
        (0, 4000, "switch", "idle", 0, 0, "main", 20),
    ]
    in_packets(packets, events, False)
    bundle = packets.packet().ftrace_events
    bundle.cpu = 1
    for at, text in ((2600, "B|30|mark\n"), (2900, "E|30\n"), (2950, "C|30|n|4\n")):
        event = bundle.event.add(timestamp=at, pid=30)
        event.print.buf = text
    trace = read(packets.save(tmp_path / "a.pftrace"))
    found = rows(trace)
    assert found[7, 20] == [("work", 1000, 9000, 1), ("linux:schedule", 2000, 4000, 2)]
    assert ("mark", 2600, 2900, 2) in found[30, 30]
    (wait,) = np.flatnonzero(trace.sync.kind == WAIT)
    assert trace.functions.name[trace.calls.function[trace.sync.call[wait]]] == "linux:schedule"
    assert [trace.threads.tid[t] for t in trace.sync.thread[trace.sync.kind == RELEASE]] == [30]


def test_memory_frequencies_and_frames(tmp_path, packets):
    packets.thread(2, 20, "main", pid=20)
    packets.event(1000, BEGIN, 2, name="work")
    packets.event(9000, END, 2)
    for at, kb in ((1500, 40), (2500, 60)):
        packets.packet(at).process_stats.processes.add(pid=20, vm_rss_kb=kb)
    stats = packets.packet(3000).sys_stats
    stats.meminfo.add(key=pb2.MEMINFO_MEM_FREE, value=7)
    stats.cpufreq_khz.extend([1000, 2000])
    for at, frame in (
        (2000, b"\x1a\x04\x08\x05\x20\x14"),
        (2100, b"\x22\x0b\x08\x06\x20\x14\x2a\x03App\x48\x40"),
        (4000, b"\x2a\x02\x08\x05"),
        (6000, b"\x2a\x02\x08\x06"),
    ):
        packets.packet(at).MergeFromString(b"\xe2\x04" + bytes([len(frame)]) + frame)
    trace = read(packets.save(tmp_path / "a.pftrace"))
    assert not trace.problems
    counters = trace.counters
    said = {
        (counters.process[k], name): counters.value[counters.first[k] : counters.first[k + 1]].tolist()
        for k, name in enumerate(counters.name)
    }
    assert said == {
        (20, "memory, resident (bytes)"): [40 * 1024, 60 * 1024],
        (0, "machine, mem free (bytes)"): [7 * 1024],
        (0, "processor 0 (kHz)"): [1000],
        (0, "processor 1 (kHz)"): [2000],
    }
    spans = trace.spans
    assert [
        (spans.names[n], int(a) + trace.origin_ns, int(b) + trace.origin_ns)
        for n, a, b in zip(spans.name, spans.start, spans.end)
    ] == [("expected surface frame", 2000, 4000), ("actual surface frame, late: App", 2100, 6000)]


def test_a_frame_whose_number_is_a_text_is_counted(tmp_path, packets):
    packets.event(1000, BEGIN, 2, name="work")
    packets.event(9000, END, 2)
    packets.packet(2000).MergeFromString(b"\xe2\x04\x06\x1a\x04\x0a\x02ab")
    trace = read(packets.save(tmp_path / "a.pftrace"))
    assert list(trace.problems) == ["malformed"]
    assert not len(trace.spans)


def test_a_recording_of_the_scheduler_in_packets():
    trace = read(ROOT / "tests" / "data" / "profiles" / "locks.pftrace")
    assert set(trace.problems) <= {"out of order"}
    kinds = Counter(trace.sync.kind.tolist())
    assert kinds[WAIT] > 40
    assert kinds[RELEASE] > 40
    assert list(trace.counters.name) == ["memory, resident (bytes)"]
    assert [trace.spans.names[k] for k in trace.spans.name] == ["actual surface frame, late: App"]
