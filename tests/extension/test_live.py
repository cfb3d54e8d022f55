"""Watching a live feed in Blender's module."""

import pytest

from tests.extension.test_differences import blender  # noqa: F401


@pytest.mark.blender
@pytest.mark.slow
def test_a_feed_through_undo_other_files_nonsense_and_disabling(blender, tmp_path):  # noqa: F811
    pytest.importorskip("zmq")
    assert "LIVE" in blender.script("live.py", tmp_path / "out")
