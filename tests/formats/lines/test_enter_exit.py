"""Enter/exit logs: recordings, damaged text, and the scanner against a plain one."""

import gzip
import re
from collections import defaultdict

import numpy as np
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from tracevis3d.errors import InputError
from tracevis3d.formats import registry
from tracevis3d.formats.lines import enter_exit
from tracevis3d.progress import silent

LOG = b"".join(
    line + b"\n"
    for line in (
        b"# tid\tdir\tname\tns",
        b"# thread 7 worker one",
        b"7\t+\tmain\t100",
        b"7\t+\tf(int, char)\t110",
        b"8\t+\tg\t115",
        b"7\t-\tf(int, char)\t150",
        b"7\t-\tmain\t200",
        b"8\t-\tg\t130",
    )
)

RECORDED = [
    # file, calls, threads, functions, depth
    ("weka_J48_weather.tsv.gz", 103_140, 1, 283, 18),
    ("weka_OneR_iris_0.4M.tsv.gz", 380_314, 1, 202, 22),
    ("weka_parallel_9t.tsv.gz", 132_498, 9, 267, 16),
]


def read(path):
    return registry.open_trace(path)


def rows(trace):
    """Return the calls as tuples that mean the same whatever the numbering."""
    names = list(trace.functions.name)
    calls = trace.calls
    return [
        (str(trace.threads.tid[t]), names[f], start + trace.origin_ns, end + trace.origin_ns, depth)
        for t, f, start, end, depth in zip(
            calls.thread.tolist(),
            calls.function.tolist(),
            calls.start.tolist(),
            calls.end.tolist(),
            calls.depth.tolist(),
        )
    ]


def plain_calls(text):
    """Read a whole log that has tabs only, with one stack per thread."""
    stacks, found, order = defaultdict(list), defaultdict(list), {}
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        tid, way, name, ns = line.split("\t")
        order.setdefault(tid, len(order))
        if way == "+":
            stacks[tid].append(len(found[tid]))
            found[tid].append([tid, name, int(ns), None, len(stacks[tid])])
        else:
            row = found[tid][stacks[tid].pop()]
            assert row[1] == name
            row[3] = int(ns)
    return [tuple(row) for tid in order for row in found[tid]]


@pytest.mark.parametrize(("name", "calls", "threads", "functions", "depth"), RECORDED)
def test_recordings_are_read_whole(recorded, name, calls, threads, functions, depth):
    trace = read(recorded / name)
    assert trace.source.format == "enter_exit"
    assert (len(trace.calls), len(trace.threads), len(trace.functions)) == (calls, threads, functions)
    assert trace.calls.depth.max() == depth
    assert not trace.problems


def test_calls_of_many_threads_are_those_of_a_plain_reader(recorded):
    path = recorded / "weka_parallel_9t.tsv.gz"
    trace = read(path)
    assert rows(trace) == plain_calls(gzip.decompress(path.read_bytes()).decode())
    assert trace.threads.tid[:3] == (1, 13, 15)
    assert trace.threads.name[:2] == ("main", "pool-1-thread-1")


def test_a_log_that_starts_in_the_middle_is_mended_and_counted(recorded):
    trace = read(recorded / "damaged" / "tsv_unmatched.tsv")
    lines = (recorded / "damaged" / "tsv_unmatched.tsv").read_text().splitlines()
    assert len(trace.calls) == sum("\t+\t" in line for line in lines)
    assert set(trace.problems) == {"unmatched begin", "mismatched end"}
    first = trace.problems["mismatched end"].first
    assert "\t-\t" in lines[int(re.fullmatch(r"line ([\d,]+)", first)[1].replace(",", "")) - 1]


@pytest.mark.parametrize(
    "pack",
    [
        bytes,
        gzip.compress,
        zstandard.ZstdCompressor().compress,
        lambda text: b"\xef\xbb\xbf" + text,
        lambda text: text.decode().encode("utf-16"),
        lambda text: text.decode().encode("utf-16-be"),
        lambda text: text.replace(b"\n", b"\r\n"),
        lambda text: re.sub(rb"\t(?=[-+]\t)|(?<=[-+])\t|\t(?=\d+\n)", b", ", text),
        lambda text: re.sub(rb"\t", b"  ", text),
        lambda text: text.replace(b"\t+\t", b" ENTER ").replace(b"\t-\t", b" exit "),
    ],
)
def test_the_same_log_however_it_is_written(tmp_path, pack):
    path = tmp_path / "a"
    path.write_bytes(pack(LOG))
    trace = read(path)
    assert rows(trace) == plain_calls(LOG.decode())
    assert trace.threads.name == ("worker one", "")
    assert not trace.problems


def test_bad_lines_are_counted_with_their_lines(tmp_path):
    path = tmp_path / "a.tsv"
    path.write_bytes(LOG + b"7\t*\tmain\t300\nnothing\n7\t+\tmain\tsoon\n7\t+\t\t400\n7\t-\t410\n")
    trace = read(path)
    assert trace.problems.as_dict() == {
        "malformed": {"count": 2, "first": "line 9"},
        "bad time": {"count": 1, "first": "line 11"},
        "no name": {"count": 1, "first": "line 12"},
    }
    assert rows(trace)[2] == ("7", "(unnamed)", 400, 410, 1)


def test_a_cut_file_is_read_up_to_the_cut(tmp_path):
    whole = LOG * 500
    path = tmp_path / "a.tsv.gz"
    packed = gzip.compress(whole)
    path.write_bytes(packed[: len(packed) // 2])
    trace = read(path)
    assert "truncated" in trace.problems
    assert 0 < len(trace.calls) < 1500
    path = tmp_path / "b.tsv"
    path.write_bytes(LOG + b"7\t+\tlate\t21")  # of 210
    trace = read(path)
    assert trace.problems.as_dict() == {
        "truncated": {"count": 1, "first": "line 9, which is the last, has no end"}
    }
    assert rows(trace) == plain_calls(LOG.decode())


@pytest.mark.parametrize("text", [b"# thread 1 main\n", b"1 + f soon\n", b"\n\n \n"])
def test_a_log_without_calls_is_refused_in_one_sentence(tmp_path, text):
    path = tmp_path / "a.tsv"
    path.write_bytes(text)
    with pytest.raises(
        InputError, match=r"a\.tsv: no line is an entry or exit of a function: lines look like .*"
    ):
        enter_exit.read(path, silent)


def test_many_names_grow_the_table(tmp_path):
    path = tmp_path / "a.tsv"
    path.write_text("".join(f"{i % 7}\t+\tf{i}\t{i}\n{i % 7}\t-\tf{i}\t{i}\n" for i in range(20_000)))
    trace = read(path)
    assert len(trace.functions) == 20_000
    assert sorted(rows(trace)) == sorted((str(i % 7), f"f{i}", i, i, 1) for i in range(20_000))


def test_written_logs_are_read_back(recorded, tmp_path):
    trace = read(recorded / "weka_parallel_9t.tsv.gz")
    for name in ("a.tsv", "a.tsv.gz", "a.tsv.zst"):
        enter_exit.write(trace, tmp_path / name, silent)
        again = read(tmp_path / name)
        assert rows(again) == rows(trace)
        assert again.threads.name == trace.threads.name
        assert not again.problems
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.tsv", "a.tsv.gz", "a.tsv.zst"]


# -- the scanner against a plain one ---------------------------------------------------------------

_LIMIT = 922337203685477579


def plain_number(token):
    match = re.fullmatch(rb"([+-]?)(\d*)(\.?)(\d*)", token)
    if match is None or not match[2] + match[4]:
        return None
    value = 0
    for digit in match[2]:
        if value > _LIMIT:
            return None
        value = value * 10 + digit - 48
    return -value if match[1] == b"-" else value


def plain_scan(text):
    """Return (thread, kind, name or None, time) of each line that fits, and the lines of the others."""
    good, malformed, bad_time = [], [], []
    for number, line in enumerate(text.split(b"\n"), 1):
        tokens = [match.span() for match in re.finditer(rb"[^\t,; \r]+", line)]
        if not tokens or line[tokens[0][0]] == ord("#"):
            continue
        way = None
        if len(tokens) >= 3:
            word = line[slice(*tokens[1])]
            way = {b"+": 0, b">": 0, b"-": 1, b"<": 1}.get(word)
            if len(word) > 1:
                way = {b"en": 0, b"ex": 1}.get(word[:2].lower())
        if way is None:
            malformed.append(number)
            continue
        when = plain_number(line[slice(*tokens[-1])])
        if when is None:
            bad_time.append(number)
            continue
        name = line[tokens[2][0] : tokens[-2][1]] if len(tokens) > 3 else (None if way else b"")
        good.append((line[slice(*tokens[0])], way, name, when))
    return good, malformed, bad_time


_numbers = b"12|-5|3.7|.5|.|9223372036854775807|99999999999999999999"
_piece = st.sampled_from((b"1|2|t a|+|-|>|enter|exit|f|g h|g,h|#|# x|\xff||" + _numbers).split(b"|"))
_line = st.one_of(
    st.builds(
        lambda separator, pieces: separator.join(pieces),
        st.sampled_from([b"\t", b",", b" ", b";  "]),
        st.lists(_piece, max_size=6),
    ),
    st.tuples(
        st.sampled_from([b"1", b"22"]),
        st.sampled_from([b"+", b"-"]),
        st.sampled_from([b"f", b"g h"]),
        st.integers(-5, 10**19).map(lambda n: b"%d" % n),
    ).map(b"\t".join),
    st.binary(max_size=12).filter(lambda b: b"\n" not in b),
)


@settings(max_examples=300, deadline=None)
@given(st.lists(_line, max_size=12), st.sampled_from([b"\n", b"\r\n"]), st.booleans())
def test_the_scanner_reads_what_a_plain_one_reads(lines, end, ends):
    text = end.join(lines) + (end if ends else b"")
    if not text:
        return
    log = enter_exit._Log(text)
    log.scan()
    data = np.frombuffer(text, np.uint8)
    names = [
        data[low : low + length].tobytes()
        for low, length in zip(log._names.starts.tolist(), log._names.lengths.tolist(), strict=True)
    ]
    found = [
        (names[t], k, names[f] if f >= 0 else None, ns)
        for t, k, f, ns in zip(
            log.thread[: log.rows].tolist(),
            log.kind[: log.rows].tolist(),
            log.function[: log.rows].tolist(),
            log.time[: log.rows].tolist(),
            strict=True,
        )
    ]
    good, malformed, bad_time = plain_scan(text)
    assert found == good
    problems = {kind: (count, line) for kind, count, line in log.problems() if count}
    expected = {}
    if malformed:
        expected["malformed"] = (len(malformed), malformed[0])
    if bad_time:
        expected["bad time"] = (len(bad_time), bad_time[0])
    assert problems == expected
