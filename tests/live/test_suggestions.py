"""Suggestions from a viewer: checked, bounded, refused where nobody wants any; nothing acts by itself."""

import json
import shutil
import subprocess
import sys
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracevis3d.errors import InputError, UsageError
from tracevis3d.live import protocol as p
from tracevis3d.live.publisher import MOST_SUGGESTIONS, Publisher
from tracevis3d.live.subscriber import Subscriber


def waited(subscriber, condition, seconds=10.0) -> bool:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        subscriber.drain(0.01, wait=0.02)
        if condition():
            return True
    return False


def pair(**more):
    publisher = Publisher("tcp://127.0.0.1:*", "program", **more)
    subscriber = Subscriber(publisher.endpoint)
    assert waited(subscriber, lambda: subscriber.state == "connected")
    return publisher, subscriber


def test_a_program_that_wants_suggestions_gets_them_and_nothing_else_happens() -> None:
    came = []
    publisher, subscriber = pair(suggestions=came.append)
    with publisher, subscriber:
        assert subscriber.takes_suggestions
        number = subscriber.suggest("free", 0x7F00, 4096, "app.load:10")
        assert waited(subscriber, lambda: subscriber.answers)
        assert subscriber.answers[-1] == p.Answer(number, True)
        (one,) = came
        assert (one.what, one.address, one.size, one.site) == ("free", 0x7F00, 4096, "app.load:10")
        assert one.sentence == ("a viewer suggests to free the block at 0x7f00 (4,096 bytes) of app.load:10")
        subscriber.suggest("look", site="app.load:10")
        assert waited(subscriber, lambda: len(came) == 2)
        assert came[1].sentence == "a viewer suggests to look at what app.load:10 allocates"
        assert subscriber.state == "connected"


def test_one_that_was_not_asked_takes_none() -> None:
    publisher, subscriber = pair()
    with publisher, subscriber:
        assert not subscriber.takes_suggestions
        with pytest.raises(UsageError, match="program takes no suggestions"):
            subscriber.suggest("look", 1, 1)
        # Also not from a viewer that says it all the same.
        subscriber._say(p.Suggest(5, "free", 1, 1))
        assert waited(subscriber, lambda: subscriber.answers)
        assert subscriber.answers[-1] == p.Answer(5, False, "this program takes no suggestions")
        assert subscriber.state == "connected"


def test_who_suggests_too_much_learns_so_and_the_feed_goes_on() -> None:
    came = []

    def take(suggestion):
        came.append(suggestion)
        raise ZeroDivisionError("the program's own mistake")

    publisher, subscriber = pair(suggestions=take)
    with publisher, subscriber:
        for _ in range(MOST_SUGGESTIONS + 3):
            subscriber.suggest("look", 1, 1)
        assert waited(subscriber, lambda: len(subscriber.answers) == MOST_SUGGESTIONS + 3)
        assert len(came) == MOST_SUGGESTIONS
        assert not any(answer.taken for answer in subscriber.answers)
        assert "ZeroDivisionError" in subscriber.answers[0].why
        assert "at most 10" in subscriber.answers[-1].why
        publisher.put("counters", series=[publisher.number("counters", "c")], time=[1], value=[2.0])
        assert waited(subscriber, lambda: subscriber.rows == 1)


@pytest.mark.parametrize(
    ("field", "value"),
    [("what", "corrupt"), ("what", ["free"]), ("what", None), ("address", 1 << 64), ("address", -2),
     ("address", 1.5),
     ("address", True), ("size", "1"), ("size", 1 << 63), ("site", 5), ("site", "x" * 301), ("number", -1)],
)  # fmt: skip
def test_nonsense_is_refused_in_one_sentence(field, value) -> None:
    said = {"t": "suggest", "number": 1, "what": "look", "address": 1, "size": 1, "site": "", field: value}
    with pytest.raises(InputError, match=f'suggest.?, field "{field}"') as caught:
        p.decode_from_viewer([json.dumps(said).encode()])
    assert "\n" not in str(caught.value)


def test_what_is_about_nothing_or_steers_a_terminal() -> None:
    said = {"t": "suggest", "number": 1, "what": "look", "address": -1, "size": -1, "site": " "}
    with pytest.raises(InputError, match="neither a block nor a call site"):
        p.decode_from_viewer([json.dumps(said).encode()])
    said["site"] = "a\x1b[2Jb\r\nc\u202e"
    found = p.decode_from_viewer([json.dumps(said).encode()])
    assert found.site == "a?[2Jb??c?"
    assert found.sentence.isprintable()
    with pytest.raises(InputError, match="frames too many"):
        p.decode_from_viewer([json.dumps(said).encode(), b"more"])


@given(st.sampled_from(p.SUGGESTIONS), st.integers(0, (1 << 64) - 1), st.integers(-1, p.MOST_NS),
       st.text(st.characters(categories=["L", "N"]), max_size=300))  # fmt: skip
def test_there_and_back(what, address, size, site) -> None:
    message = p.Suggest(3, what, address, size, site)
    assert p.decode_from_viewer(p.encode(message)) == message
    for answer in (p.Answer(1, True), p.Answer(2, False, "no")):
        assert p.decode(p.encode(answer)) == answer


PROGRAM = """
import sys, time
import tracevis3d
came = []
print(tracevis3d.live.start("tcp://127.0.0.1:*", threads=False, io=False, suggestions=came.append),
flush=True)
until = time.time() + 30
while not came and time.time() < until:
    time.sleep(0.01)
print(came[0]["what"], came[0]["address"], came[0]["sentence"], flush=True)
said = tracevis3d.live.stop()
print(said, flush=True)
"""


def suggested(process, endpoint) -> None:
    with Subscriber(endpoint) as subscriber:
        assert waited(subscriber, lambda: subscriber.takes_suggestions)
        number = subscriber.suggest("look", 0xABC, 10, "f")
        assert waited(subscriber, lambda: subscriber.answers)
        assert subscriber.answers[-1] == p.Answer(number, True)


def test_a_running_program_gets_them_by_its_callback() -> None:
    with subprocess.Popen([sys.executable, "-c", PROGRAM], stdout=subprocess.PIPE, text=True) as process:
        suggested(process, process.stdout.readline().strip())
        rest, _ = process.communicate(timeout=60)
    lines = rest.splitlines()
    assert lines[0] == "look 2748 a viewer suggests to look at the block at 0xabc (10 bytes) of f"
    assert "rows published" in lines[1]
    assert process.returncode == 0


@pytest.mark.parametrize("wanted", [True, False])
def test_a_recorded_program_prints_them_if_asked_to(wanted, tmp_path) -> None:
    script = tmp_path / "script.py"
    script.write_text("import sys\nfor line in sys.stdin: print(line, end='')\n")
    words = ["record", "--live", "tcp://127.0.0.1:*", *["--suggestions"][: int(wanted)], "--", str(script)]
    with subprocess.Popen(
        [sys.executable, "-m", "tracevis3d", *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        endpoint = process.stderr.readline().strip().rpartition(" ")[2]
        if wanted:
            suggested(process, endpoint)
            assert process.stderr.readline().strip() == (
                "tracevis3d: a viewer suggests to look at the block at 0xabc (10 bytes) of f"
            )
        else:
            with Subscriber(endpoint) as subscriber:
                assert waited(subscriber, lambda: subscriber.state == "connected")
                assert not subscriber.takes_suggestions
        out, rest = process.communicate("over\n", timeout=60)
    assert out == "over\n"
    assert "rows published" in rest
    assert process.returncode == 0


def test_suggestions_need_a_feed(tmp_path) -> None:
    words = [
        sys.executable,
        "-m",
        "tracevis3d",
        "record",
        "--suggestions",
        "-o",
        str(tmp_path / "a.json"),
        "x.py",
    ]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "--suggestions goes with --live" in done.stderr


@pytest.mark.skipif(
    not sys.platform.startswith("linux") or shutil.which("cc") is None, reason="needs Linux and cc"
)
def test_a_native_program_s_recorder_prints_them() -> None:
    words = ["record", "--native", "--live", "tcp://127.0.0.1:*", "--suggestions", "--", "cat"]
    with subprocess.Popen(
        [sys.executable, "-m", "tracevis3d", *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        suggested(process, process.stderr.readline().strip().rpartition(" ")[2])
        out, rest = process.communicate("over\n", timeout=60)
    assert out == "over\n"
    assert "a viewer suggests to look at the block at 0xabc (10 bytes) of f\n" in rest
    assert process.returncode == 0
