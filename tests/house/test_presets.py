"""Presets of parameters as files."""

import pytest

from tracevis3d.errors import UsageError
from tracevis3d.parameters import declared
from tracevis3d.presets import names, read, write
from tracevis3d.views import registry

ICICLE = registry.find("icicle").parameters


def test_what_was_written_is_read(tmp_path):
    defaults = {p.name: p.default for p in declared(ICICLE)}
    path = tmp_path / "icicle" / "deep.json"
    assert names(path.parent) == []
    write(path, {**defaults, "first_depth": 3})
    write(path.with_name("a.json"), {})
    assert names(path.parent) == ["a", "deep"]
    assert read(path, ICICLE) == {**defaults, "first_depth": 3}


def test_a_preset_of_another_version_fits_as_far_as_it_can(tmp_path):
    path = tmp_path / "old.json"
    path.write_text('{"first_depth": 3, "gone": 7}')
    found = read(path, ICICLE)
    assert found["first_depth"] == 3
    assert set(found) == {p.name for p in declared(ICICLE)}


@pytest.mark.parametrize("text", ["", "{", "[1, 2]", '{"first_depth": "deep"}', '{"first_depth": -1}'])
def test_what_can_not_be_read_is_said_in_one_sentence(tmp_path, text):
    path = tmp_path / "bad.json"
    path.write_text(text)
    with pytest.raises(UsageError) as caught:
        read(path, ICICLE)
    assert "\n" not in str(caught.value)
    with pytest.raises(UsageError, match="can't be read"):
        read(tmp_path / "none.json", ICICLE)


def test_a_folder_that_can_not_be_made_is_said(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="can't be written"):
        write(tmp_path / "file" / "a.json", {})
