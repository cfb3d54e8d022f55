"""What fuzzing found once is read without a traceback from then on (see tests/fuzz/run.py)."""

from pathlib import Path

import pytest

from tracevis3d.errors import TraceVisError
from tracevis3d.formats import registry
from tracevis3d.progress import silent

FINDS = sorted(path for path in (Path(__file__).parents[1] / "data" / "fuzz").glob("*_*") if path.is_file())


@pytest.mark.parametrize("path", FINDS, ids=lambda path: path.name)
def test_finds_are_read_or_refused(path):
    form = registry.find(path.name.rpartition("_")[0])
    error = ""
    try:
        trace = registry.open_trace(path, silent, form)
        assert (trace.calls.start <= trace.calls.end).all()
    except TraceVisError as refused:
        error = str(refused)
    assert "\n" not in error


def test_there_are_finds():
    assert FINDS
