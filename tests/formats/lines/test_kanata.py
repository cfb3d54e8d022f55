"""Kanata logs: instructions and their stages, against a plain twin that reads line by line."""

from __future__ import annotations

import gzip
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.conftest import ROOT
from tracevis3d.errors import InputError
from tracevis3d.features.ramp.rounds import find_rounds
from tracevis3d.formats import registry
from tracevis3d.formats.lines.kanata import sniff

#: Fuzzing begins with it too.
SMALL = (ROOT / "tests" / "data" / "profiles" / "small.kanata").read_text()


def read(tmp_path, text, name="run.kanata"):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return registry.open_trace(path)


def operations(trace):
    """Return the operations as (name, begin, end in cycles, parent's name)."""
    spans, names = trace.spans, trace.spans.names
    return [
        (names[n], start + trace.origin_ns, end + trace.origin_ns, names[spans.name[p]] if p >= 0 else "")
        for n, start, end, p in zip(
            spans.name.tolist(), spans.start.tolist(), spans.end.tolist(), spans.parent.tolist(), strict=True
        )
    ]


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_instructions_have_their_stages(tmp_path, pack):
    trace = read(tmp_path, pack(SMALL.encode()))
    add, jump = "40: add r1,r2", "44: jump (flushed)"
    assert sorted(operations(trace)) == sorted(
        [(add, 100, 103, ""), (jump, 101, 104, ""), ("F", 100, 101, add), ("X", 101, 103, add),
         ("F", 101, 104, jump)]
    )  # fmt: skip
    assert trace.threads.tid == (0, 3)
    assert len(trace.flows) == 1
    assert trace.problems["unsupported"].count == 1
    assert trace.problems["cycles"].count == 1
    assert "times are a processor's cycles" in trace.problems.note()


def test_its_first_line_is_recognised():
    assert sniff(SMALL.encode(), "a.log") == registry.SURE
    assert sniff(b"Kanata or not", "a.log") == registry.NO


@pytest.mark.parametrize("text", ["Kanata\t0004\n", "Kanata\t0004\nS\t0\t0\tF\n"])
def test_a_log_without_instructions_is_refused_in_a_sentence(tmp_path, text):
    with pytest.raises(InputError, match="no line is an instruction: lines look like"):
        read(tmp_path, text)


def test_what_does_not_fit_is_counted_with_its_line(tmp_path):
    trace = read(tmp_path, SMALL + "S\t9\t0\tF\nC\tx\nQ\t1\nL\t0\nR\t0\n")
    assert trace.problems["malformed"].count == 3
    assert trace.problems["malformed"].first == "line 21"
    assert trace.problems["unknown"].count == 1
    assert trace.problems["unsupported"].count == 2


def twin(text):
    """Return what :func:`operations` does, of a log without errors, from the format's description."""
    now, known = 0, {}
    for line in text.splitlines():
        command, *fields = line.split("\t")
        if command == "C=":
            now = int(fields[0])
        elif command == "C":
            now += int(fields[0])
        elif command == "I":
            known[int(fields[0])] = {"label": "", "start": now, "last": now, "end": None, "stages": []}
        elif command in "LSER":
            if command == "L" and fields[1] != "0":
                continue  # a tooltip's text: passed over
            one = known[int(fields[0])]
            one["last"] = max(one["last"], now)
            if command == "L":
                one["label"] += fields[2]
            elif command == "S" and fields[1] == "0":
                if one["stages"] and one["stages"][-1][2] is None:
                    one["stages"][-1][2] = now
                one["stages"].append([fields[2], now, None])
            elif command == "E" and fields[1] == "0":
                if one["stages"] and one["stages"][-1][2] is None:
                    one["stages"][-1][2] = now
            elif command == "R":
                one["end"], one["flushed"] = now, fields[2] == "1"
    found = []
    for one in known.values():
        end = one["last"] if one["end"] is None else one["end"]
        name = (one["label"] or "(unnamed)") + " (flushed)" * one.get("flushed", False)
        found.append((name, one["start"], end, ""))
        found += [(s, start, end if stop is None else stop, name) for s, start, stop in one["stages"]]
    return found


@st.composite
def logs(draw):
    """Return a log in which each instruction begins before it goes on, and says nothing after its end."""
    out, alive, count = ["Kanata\t0004", f"C=\t{draw(st.integers(0, 50))}"], [], 0
    for step in draw(st.lists(st.sampled_from("CCIILSSSER"), max_size=40)):
        if step == "C":
            out.append(f"C\t{draw(st.integers(0, 3))}")
        elif step == "I":
            out.append(f"I\t{count}\t0\t{draw(st.integers(0, 1))}")
            alive.append(count)
            count += 1
        elif alive:
            one = draw(st.sampled_from(alive))
            if step == "L":
                out.append(f"L\t{one}\t{draw(st.integers(0, 2))}\t{draw(st.sampled_from(('a', 'b c')))}")
            elif step == "R":
                out.append(f"R\t{one}\t0\t{draw(st.integers(0, 1))}")
                alive.remove(one)
            else:
                out.append(f"{step}\t{one}\t{draw(st.integers(0, 1))}\t{draw(st.sampled_from('FXR'))}")
    return "\n".join(out) + "\n"


@settings(max_examples=60, deadline=None)
@given(logs())
@example("Kanata\t0004\nC=\t0\nI\t0\t0\t0\nC\t1\nL\t0\t1\ta\n")
def test_any_log_is_read_as_by_the_twin(tmp_path_factory, text):
    wanted = twin(text)
    folder = tmp_path_factory.mktemp("kanata")
    if not wanted:
        with pytest.raises(InputError):
            read(folder, text)
    else:
        assert sorted(operations(read(folder, text))) == sorted(wanted)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, len(SMALL)), st.binary(max_size=5))
def test_damage_ends_in_a_trace_or_a_sentence(tmp_path_factory, at, noise):
    data = SMALL.encode()
    with suppress(InputError):
        trace = read(tmp_path_factory.mktemp("kanata"), b"Kanata\t" + data[:at] + noise + data[at:])
        assert (trace.spans.end >= trace.spans.start).all()


def test_each_instruction_is_a_round_of_the_ramp(tmp_path):
    lines = ["Kanata\t0004", "C=\t0"]
    for i in range(40):
        lines += [
            f"I\t{i}\t0\t0",
            f"L\t{i}\t0\t{i:x}: op{i}",
            f"S\t{i}\t0\tF",
            "C\t1",
            f"S\t{i}\t0\tX",
            "C\t2",
        ]
        lines.append(f"R\t{i}\t0\t0")
    trace = read(tmp_path, "\n".join(lines) + "\n")
    rounds = find_rounds(trace, "auto", "")
    assert len(rounds) == 40
    assert rounds.name == "all operations"
    assert set(rounds.duration.tolist()) == {3.0}
    assert np.bincount(rounds.stage).tolist() == [40, 40]
