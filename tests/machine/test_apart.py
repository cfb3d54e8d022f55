"""Another process reads, so that its end is a sentence here."""

import os

import pytest

from tests.fuzz import forked
from tracevis3d.machine import apart

#: The library's, and the one that fuzzing has for more inputs a second.
WAYS = [apart.read_apart, *([forked.read_apart] if hasattr(os, "fork") else [])]

MAIN = """
import os, signal, sys
def main(path, block):
    block(b"A", path.encode())
    {body}
    block(b"B", b"")
"""


@pytest.mark.parametrize("read_apart", WAYS)
@pytest.mark.parametrize(
    ("body", "kinds", "reason"),
    [
        ("pass", "AB", ""),
        ("b'\\xff'.decode()", "A", "'utf-8' codec can't decode byte 0xff in position 0: invalid start byte"),
        ("raise ValueError()", "A", "ValueError"),
        ("print('Error: 1\\\\nError: 2', file=sys.stderr); sys.exit(3)", "A", "2"),
        ("sys.exit(3)", "A", "its reader ended with 3"),
        ("os.kill(os.getpid(), signal.SIGSEGV)", "", "its reader crashed (SIGSEGV)"),
    ],
)
def test_each_way_to_end_is_told(read_apart, body, kinds, reason, tmp_path, monkeypatch, capfd):
    (tmp_path / "a_reader_of_a_plugin.py").write_text(MAIN.format(body=body))
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)
    taken = []
    said = read_apart("a_reader_of_a_plugin", tmp_path / "ö.bin", lambda *block: taken.append(block))
    assert said == reason
    # What a process that crashes has not printed yet is lost.
    assert "".join(str(kind, "ascii") for kind, _ in taken) == kinds
    assert all(data == str(tmp_path / "ö.bin").encode() for kind, data in taken if kind == b"A")
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("read_apart", WAYS)
def test_whoever_takes_may_stop_it(read_apart, tmp_path, monkeypatch):
    (tmp_path / "an_endless_reader.py").write_text(
        "def main(path, block):\n    while True: block(b'A', bytes(1 << 20))"
    )
    monkeypatch.syspath_prepend(tmp_path)

    def take(kind, data):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        read_apart("an_endless_reader", tmp_path, take)
