"""Source files on this machine: where they are, and what comments say of functions."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tracevis3d.views.calls.source_file import comment_in, find_file


def said(tmp_path, text, name="a.py"):
    """Return what is said of the function in the line that ends in ``<<``."""
    lines = text.splitlines()
    line = next(i for i, one in enumerate(lines, 1) if one.endswith("<<"))
    file = tmp_path / name
    file.write_text("\n".join(one.removesuffix("<<") for one in lines), "utf-8")
    return comment_in(str(file), line, "", "")


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ('def f(a):<<\n    """Add it up."""\n', "Add it up."),
        ('@cached\ndef f(a):<<\n    """\n    Add it up.\n    """\n', "Add it up."),
        # The recorded line may be the decorator's.
        ('@cached<<\n@twice\ndef f(a):\n    r\'\'\'Add it up.\n\n    More.\'\'\'\n', "Add it up."),
        ('async def f(<<\n    a,\n    b,\n) -> int:\n    "Add it up."\n', "Add it up."),
        ("# Adds it up.\n# And more.\ndef f(a):<<\n    return a\n", "Adds it up."),
        ("x = 1\n\ndef f(a):<<\n    return a\n", ""),
        ("def f(a):<<\n    return a\n\ndef g():\n    '''Another.'''\n", ""),
        ("/**\n * Adds it up.\n * @param a what\n */\n@Override\nint f(int a) {<<\n}\n", "Adds it up."),
        ("/// \\brief Adds it up.\ntemplate <class T>\nint f(T a) {<<\n", "Adds it up."),
        ("// <summary>Adds it up.</summary>\nint F(int a)<<\n{\n", "Adds it up."),
        ("#include <a.h>\nint f(int a) {<<\n", ""),
        ("-- Adds it up.\nlocal function f(a)<<\n", "Adds it up."),
        ("# ------\n# Adds it up.\ndef f(a)<<\n", "Adds it up."),
        ("# " + "x" * 300 + "\ndef f(a):<<\n", "x" * 99 + "…"),
    ],
)  # fmt: skip
def test_the_first_line_of_a_comment(tmp_path, text, wanted):
    assert said(tmp_path, text) == wanted


def test_a_file_is_found_by_the_end_of_its_path(tmp_path):
    (tmp_path / "pack").mkdir()
    file = tmp_path / "pack" / "a.py"
    file.write_text('def f():\n    "One."\n')
    recorded = "C:\\build\\pack\\a.py"
    assert find_file(recorded, "", "") is None
    assert find_file(recorded, str(tmp_path), "") == file
    assert find_file(recorded, "", str(tmp_path)) == file
    assert comment_in(recorded, 1, "", str(tmp_path)) == "One."
    # What is changed is read again.
    file.write_text('def f():\n    "Another one."\n')
    os.utime(file, ns=(1, 1))
    assert comment_in(recorded, 1, "", str(tmp_path)) == "Another one."


@pytest.mark.parametrize("recorded", ["", "a\0b", "nowhere.py", "\\\\host\\share\\a.py", "//host/share/a.py"])
def test_what_is_not_here_says_nothing(tmp_path, recorded):
    assert comment_in(recorded, 1, "", str(tmp_path)) == ""


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
def test_only_plain_files_of_a_common_size_are_read(tmp_path):
    os.mkfifo(tmp_path / "pipe.py")
    assert comment_in(str(tmp_path / "pipe.py"), 1, "", "") == ""
    large = tmp_path / "large.py"
    with open(large, "wb") as file:
        file.write(b"# One.\ndef f(): pass\n")
        file.truncate(5 << 20)
    assert comment_in(str(large), 2, "", "") == ""
    assert comment_in(str(Path(__file__)), 10_000_000, "", "") == ""
