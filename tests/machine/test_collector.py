"""The garbage collector rests while files are read, and works again afterwards."""

import gc
from threading import Barrier, Thread

import pytest

from tracevis3d.errors import InputError
from tracevis3d.formats import registry
from tracevis3d.machine.collector import paused


def test_it_is_as_before_when_the_last_one_is_done():
    with paused():
        with pytest.raises(ValueError, match="x"), paused():
            raise ValueError("x")
        assert not gc.isenabled()
    assert gc.isenabled()
    gc.disable()
    try:
        with paused():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_threads_may_ask_at_once():
    both, seen = Barrier(2), []

    def work(first):
        with paused():
            both.wait()
            if not first:
                both.wait()
        if first:
            seen.append(gc.isenabled())
            both.wait()

    threads = [Thread(target=work, args=(first,)) for first in (True, False)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [False]
    assert gc.isenabled()


def test_reading_what_is_no_trace_leaves_it_on(tmp_path):
    path = tmp_path / "a.cpuprofile"
    path.write_text('{"nodes": [{"callFrame": {}}], "timeDeltas": []}')
    with pytest.raises(InputError):
        registry.open_trace(path)
    assert gc.isenabled()
