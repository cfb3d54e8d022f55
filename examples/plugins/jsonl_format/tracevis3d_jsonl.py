"""A format: calls as JSON lines, such as ``{"thread": "main", "name": "parse", "start_us": 1, "end_us": 5}``.

Lines with ``stack`` and ``weight_us`` in place of ``name`` are samples.
"""

import json

from tracevis3d.formats.registry import LIKELY, NO, Format
from tracevis3d.formats.text import read_lines

_EXPECTED = 'lines look like {"thread": "main", "name": "parse", "start_us": 1, "end_us": 5}'


def sniff(head, name):
    """Say how sure it is that a file is in this format: its first line decides."""
    first = head.lstrip().split(b"\n", 1)[0]
    if (
        first.startswith(b"{")
        and first.rstrip().endswith(b"}")
        and (b'"start_us"' in first or b'"stack"' in first)
    ):
        return LIKELY
    return NO


def take(line, recording):
    """Add what one line says; a ValueError or KeyError means that it is malformed."""
    row = json.loads(line)
    if "stack" in row:
        recording.sample(row["stack"], 1000 * row["weight_us"], row["thread"])
    else:
        recording.call(1000 * row["start_us"], 1000 * row["end_us"], row["thread"], row["name"])


def read(path, progress):
    """Read a file; packed ones (.gz, .zst) too."""
    return read_lines(path, take, _EXPECTED, progress)


FORMAT = Format(
    name="jsonl",
    title="JSON lines",
    suffixes=(".jsonl",),
    sniff=sniff,
    read=read,
    programs="anything that can print JSON",
)
