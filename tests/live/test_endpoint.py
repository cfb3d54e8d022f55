"""Feeds over sockets that are files: for one's own programs alone."""

import os
import stat
from pathlib import Path

import numpy as np
import pytest

from tests.live.test_feed import rows, until
from tracevis3d.errors import UsageError
from tracevis3d.live import endpoint as endpoints
from tracevis3d.live.endpoint import check, is_loopback
from tracevis3d.live.publisher import Publisher
from tracevis3d.live.subscriber import Subscriber

pytest.importorskip("zmq")
pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs sockets that are files")


@pytest.mark.parametrize("runtime", [True, False])
def test_a_feed_of_ones_own(tmp_path, monkeypatch, runtime) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path) if runtime else "")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    folder = tmp_path / ("tracevis3d" if runtime else f"tracevis3d-{os.getuid()}")
    assert check("ipc") == f"ipc://{folder}/feed"
    assert is_loopback("ipc:other")
    before = os.umask(0)
    try:
        with Publisher("ipc:other") as publisher, Subscriber("ipc:other") as viewer:
            assert publisher.endpoint == viewer.endpoint == f"ipc://{folder}/other"
            assert stat.S_IMODE(folder.stat().st_mode) == 0o700
            assert stat.S_IMODE((folder / "other").stat().st_mode) == 0o600
            assert until(lambda: publisher.viewers, doing=lambda: viewer.drain(0.01))
            publisher.put("calls", **rows(10))
            assert until(lambda: viewer.rows == 10, doing=lambda: viewer.drain(0.01))
            assert np.all(viewer.trace.events == 10)
    finally:
        os.umask(before)


def test_a_folder_that_others_own_or_may_write_to_is_refused(tmp_path, monkeypatch) -> None:
    endpoint = f"ipc://{tmp_path}/feeds/one"
    (tmp_path / "feeds").mkdir()
    (tmp_path / "feeds").chmod(0o777)
    with pytest.raises(UsageError, match="all users may write there: 'chmod 700"):
        Publisher(endpoint)
    # As /tmp is: nobody can take another's file away there.
    (tmp_path / "feeds").chmod(0o1777)
    Publisher(endpoint).close(0)
    (tmp_path / "feeds").chmod(0o700)
    real = Path.stat

    def other(path, **more):
        about = list(real(path, **more))
        about[stat.ST_UID] = os.getuid() + 1
        return os.stat_result(about)

    monkeypatch.setattr(endpoints.Path, "stat", other)
    with pytest.raises(UsageError, match="another user owns this folder"):
        Publisher(endpoint)
    with pytest.raises(UsageError, match="another user owns it: feeds of others need tcp:// and keys"):
        Subscriber(endpoint)
