"""OTF2 archives, written and read with OTF2's own library."""

import importlib.util
import shutil
import sys

import numpy as np
import pytest

import tracevis3d as tv
from tracevis3d.errors import InputError, MissingDependency
from tracevis3d.features.waits.waits import find_waits
from tracevis3d.formats import names
from tracevis3d.formats.otf2 import archive as rows
from tracevis3d.formats.otf2.events import fill
from tracevis3d.trace.model import Source
from tracevis3d.trace.recording import Recording

needs_otf2 = pytest.mark.skipif(importlib.util.find_spec("otf2") is None, reason="no otf2")


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    """Two processes: two threads with a lock in the first, a message and a barrier between both."""
    import otf2
    from otf2.enums import GroupType, LocationGroupType, Paradigm, RegionRole

    folder = tmp_path_factory.mktemp("otf2") / "archive"
    with otf2.writer.open(str(folder), timer_resolution=1_000_000) as trace:
        known = trace.definitions
        machine = known.system_tree_node("machine")
        groups = [
            known.location_group(f"rank {i}", location_group_type=LocationGroupType.PROCESS,
                                 system_tree_parent=machine)
            for i in range(2)
        ]  # fmt: skip
        places = [known.location(name, group=groups[i]) for name, i in (("A", 0), ("B", 0), ("C", 1))]
        known.group("MPI", group_type=GroupType.COMM_LOCATIONS, paradigm=Paradigm.MPI,
                    members=[places[0], places[2]])  # fmt: skip
        world = known.comm("WORLD", group=known.group(
            "all", group_type=GroupType.COMM_GROUP, paradigm=Paradigm.MPI, members=[0, 1]))  # fmt: skip
        threads = known.comm("threads", group=known.group(
            "t", group_type=GroupType.LOCATIONS, paradigm=Paradigm.PTHREAD, members=places[:2]))  # fmt: skip
        work = known.region("work", source_file="w.c", begin_line_number=3)
        lock, critical = known.region("pthread_mutex_lock"), known.region("critical")
        send, receive = known.region("MPI_Send"), known.region("MPI_Recv")
        barrier = known.region("MPI_Barrier", region_role=RegionRole.BARRIER)
        join, create = known.region("pthread_join"), known.region("pthread_create")
        a, b, c = (trace.event_writer_from_location(place) for place in places)
        model = Paradigm.PTHREAD

        a.enter(0, work)
        a.enter(10, create)
        a.thread_create(11, threads, 1)
        a.leave(12, create)
        a.enter(20, lock)
        a.thread_acquire_lock(21, model, 7, 1)
        a.leave(22, lock)
        a.thread_release_lock(500, model, 7, 1)
        a.enter(510, send)
        a.mpi_send(511, 1, world, 4, 100)
        a.leave(512, send)
        a.enter(600, barrier)
        a.mpi_collective_begin(600)
        a.mpi_collective_end(901, 0, world, 0, 0, 0)
        a.leave(902, barrier)
        a.enter(910, join)
        a.thread_wait(990, threads, 1)
        a.leave(991, join)
        a.leave(1000, work)

        b.thread_begin(15, threads, 1)
        b.enter(16, work)
        b.enter(100, critical)
        b.thread_acquire_lock(503, model, 7, 2)
        b.enter(504, work)
        b.leave(690, work)
        b.leave(700, critical)
        b.thread_release_lock(701, model, 7, 2)
        b.leave(980, work)
        b.thread_end(985, threads, 1)

        c.enter(50, work)
        c.enter(200, receive)
        c.mpi_recv(520, 0, world, 4, 100)
        c.leave(521, receive)
        c.enter(900, barrier)
        c.mpi_collective_begin(900)
        c.mpi_collective_end(901, 0, world, 0, 0, 0)
        c.leave(903, barrier)
        c.leave(950, work)
    return folder


@needs_otf2
def test_locks_threads_messages_and_barriers(archive):
    trace = tv.load(str(archive), cache=False)
    assert trace.source.format == "otf2"
    assert not trace.problems
    assert sorted(trace.threads.name) == ["A", "B", "C"]
    assert set(trace.threads.process_name) == {"rank 0", "rank 1"}
    waits = find_waits(trace)
    ops = waits.ops
    name = [trace.threads.name[t] for t in range(3)] + [None]
    found = {
        (name[ops.thread[i]], ops.names[ops.name[i]]): (
            int(ops.start[i]) // 1000, int(ops.end[i]) // 1000, name[waits.woken_by[i]],
            name[waits.held_by[i]], ops.of(i),
        )
        for i in waits.own.tolist()
    }  # fmt: skip
    # The lock was free for A; B waits in its critical region until A lets go, and holds it to its end.
    assert found["B", "acquire lock"] == (100, 503, "A", "A", ["lock 7 of rank 0"])
    assert found["C", "MPI_Recv"] == (200, 521, "A", None, ["messages of A to C"])
    assert found["A", "MPI_Barrier"] == (600, 902, "C", None, ["WORLD"])
    assert found["A", "wait for thread"][2:] == ("B", None, ["Thread:B"])
    assert int(waits.held.end[waits.held.thread == name.index("B")][0]) == 701_000
    assert len(trace.flows) == 1
    assert (int(trace.flows.start[0]), int(trace.flows.end[0])) == (511_000, 520_000)
    assert name[trace.flows.source_thread[0]] == "A"
    # The wait in a region that goes on holding is a call of its own.
    inner = [
        i for i in range(len(trace)) if trace.functions.label[trace.calls.function[i]].startswith("(acq")
    ]
    assert [(int(trace.calls.start[i]), int(trace.calls.end[i])) for i in inner] == [(100_000, 503_000)]
    # The path from the end of A leads over B and C.
    who = [name[t] for t in waits.path(name.index("A")).thread.tolist()]
    assert set(who) == {"A", "B", "C"} or set(who) == {"A", "B"}


@needs_otf2
def test_an_anchor_is_as_good_as_its_folder_and_damage_is_one_sentence(archive, tmp_path, capfd):
    whole = tv.load(str(archive), cache=False)
    same = tv.load(str(archive / "traces.otf2"), cache=False)
    assert np.array_equal(whole.calls.start, same.calls.start)
    for cut in ("traces.otf2", "traces.def"):
        broken = tmp_path / cut
        shutil.copytree(archive, broken)
        data = (broken / cut).read_bytes()
        (broken / cut).write_bytes(data[: len(data) // 2])
        with pytest.raises(InputError) as error:
            tv.load(str(broken), cache=False)
        assert len(str(error.value).splitlines()) == 1
        assert str(broken) in str(error.value)
    broken = tmp_path / "events"
    shutil.copytree(archive, broken)
    path = broken / "traces" / "0.evt"
    path.write_bytes(path.read_bytes()[:60])
    with pytest.raises(InputError, match="no event in this archive"):
        tv.load(str(broken), cache=False)
    assert capfd.readouterr().err == ""
    (broken / "traces.def").unlink()
    with pytest.raises(InputError, match=r"traces\.def, .* is missing: copy the whole folder"):
        tv.load(str(broken), cache=False)
    (tmp_path / "none").mkdir()
    (tmp_path / "none" / "one.otf2").write_bytes((archive / "traces.otf2").read_bytes())
    (tmp_path / "none" / "two.otf2").write_bytes(b"")
    with pytest.raises(InputError, match="holds 2 archives"):
        tv.load(str(tmp_path / "none"), cache=False)


def test_without_the_library_one_sentence_says_what_to_install(tmp_path, monkeypatch):
    (tmp_path / "traces.otf2").write_bytes(b"\x03\x42OTF2\0")
    monkeypatch.setitem(sys.modules, "otf2", None)
    monkeypatch.setattr("tracevis3d.formats.otf2.format.find_spec", lambda name: None)
    with pytest.raises(MissingDependency, match="pip install otf2"):
        tv.load(str(tmp_path / "traces.otf2"), cache=False)


def made(table, regions, ticks=1_000_000_000):
    """Return the trace of rows ``(location, kind, time, a, b, c)``, without OTF2's library."""
    columns = np.array(table, np.int64).reshape(-1, rows.STRIDE)
    columns = columns[np.argsort(columns[:, 2], kind="stable")]
    archive = rows.Archive(
        {i: [f"t{i}", 0] for i in range(4)}, regions, {0: "process"}, {}, {3: "data.bin"}, ticks, columns,
        {"Metric": 5}, "",
    )  # fmt: skip
    recording = Recording()
    place = fill(recording, archive)
    return recording.finish(Source(), names.split, place)


def test_teams_wait_for_their_last_thread_and_at_barriers():
    regions = {0: ["parallel", "", 0, "PARALLEL"], 1: ["barrier", "", 0, "IMPLICIT_BARRIER"]}
    table = []
    for thread, arrives in ((0, 50), (1, 90)):
        if thread == 0:
            table += [(0, rows.ENTER, 0, 0, 0, 0), (0, rows.FORK, 5, 0, 0, 0)]
        table += [(thread, rows.TEAM_BEGIN, 10, 0, 0, 0), (thread, rows.ENTER, 11, 0, 0, 0)]
        table += [(thread, rows.ENTER, arrives, 1, 0, 0), (thread, rows.LEAVE, 95, 1, 0, 0)]
        table += [(thread, rows.LEAVE, 96, 0, 0, 0), (thread, rows.TEAM_END, 97 + thread, 0, 0, 0)]
    table += [(0, rows.JOIN, 110, 0, 0, 0), (0, rows.LEAVE, 120, 0, 0, 0)]
    table += [(0, rows.FORK, 130, 0, 0, 0), (1, rows.TEAM_BEGIN, 135, 0, 0, 0)]
    # In microseconds.
    trace = made(table, regions, ticks=1_000_000)
    waits = find_waits(trace)
    ops = waits.ops
    result = {
        (int(ops.thread[i]), ops.names[ops.name[i]]): (
            int(ops.start[i]),
            int(ops.end[i]),
            int(waits.woken_by[i]),
        )
        for i in waits.own.tolist()
    }  # fmt: skip
    assert result[0, "barrier"] == (50_000, 95_000, 1)
    assert result[0, "join"] == (97_000, 110_000, 1)
    assert result[1, "wait for fork"] == (98_000, 135_000, 0)
    assert trace.problems["unsupported"].count == 5


def test_messages_arrive_in_their_order_and_files_tell_how_long():
    regions = {0: ["MPI_Waitall", "", 0, "FUNCTION"], 1: ["write", "", 0, "FILE_IO"]}
    table = [
        (0, rows.SEND, 10, 1, 5, 0), (0, rows.SEND, 60, 1, 5, 0), (0, rows.SEND, 70, 2, 5, 0),
        (1, rows.ENTER, 20, 0, 0, 0), (1, rows.RECEIVE, 30, 0, 5, 0), (1, rows.RECEIVE, 61, 0, 5, 0),
        (1, rows.LEAVE, 62, 0, 0, 0), (3, rows.RECEIVE, 80, 0, 9, 0),
        (2, rows.ENTER, 5, 1, 0, 0), (2, rows.IO_BEGIN, 6, 3, 1, 0), (2, rows.IO_END, 40, 3, 1, 9),
        (2, rows.LEAVE, 41, 1, 0, 0),
    ]  # fmt: skip
    trace = made(table, regions)
    # The third message was not received, the last one not sent.
    assert trace.problems["unmatched flow"].count == 2
    assert list(zip(trace.flows.start.tolist(), trace.flows.end.tolist())) == [(5, 25), (55, 56)]
    waits = find_waits(trace)
    ops = waits.ops
    (row,) = waits.own.tolist()
    assert (int(ops.start[row]), int(ops.end[row]), ops.names[ops.name[row]]) == (15, 57, "MPI_Waitall")
    assert trace.threads.name[waits.woken_by[row]] == "t0"
    io = np.flatnonzero(ops.kind == 2)
    assert [(ops.of(i), int(ops.start[i]), int(ops.end[i])) for i in io.tolist()] == [
        (["file:data.bin"], 1, 36)
    ]
