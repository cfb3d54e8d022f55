"""How a picture was made, inside it and beside it; captions."""

from __future__ import annotations

import json
import struct
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracevis3d.cli import main
from tracevis3d.errors import InputError, UsageError
from tracevis3d.figures import caption, recipe

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


def png() -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + head + chunk(b"IDAT", zlib.compress(b"\0\0")) + chunk(b"IEND", b"")


@given(st.dictionaries(st.text(max_size=5), JSON, max_size=3))
def test_what_is_kept_is_read(tmp_path_factory, words) -> None:
    folder = tmp_path_factory.mktemp("recipe")
    made = words | {"view": "icicle"}
    text = recipe.as_text(made)
    (folder / "x.png").write_bytes(png())
    recipe.into_png(folder / "x.png", text)
    (folder / "x.svg").write_text(f"<svg>{recipe.as_element(text)}</svg>", "utf-8")
    (folder / "x.pdf").write_bytes(b"%PDF (" + recipe.as_word(text).encode() + b") %%EOF")
    recipe.write_beside(folder / "x.mp4", made)
    for name in ("x.png", "x.svg", "x.pdf", "x.mp4", "x.mp4.json"):
        assert recipe.read(folder / name) == json.loads(text)


@pytest.mark.parametrize(
    ("name", "data", "why"),
    [
        ("x.png", png(), "contains no recipe"),
        ("x.png", b"", "contains no recipe"),
        ("x.png", png()[:40], "contains no recipe"),
        ("x.png", png()[:33] + struct.pack(">I", 30) + b"iTXttracevis3d\0\1\0\0\0garbage", "can't be read"),
        ("x.svg", b"\xff\xfe", "can't be read"),
        ("x.svg", b"<svg/>", "contains no recipe"),
        ("x.pdf", b"tracevis3d-recipe:%%%", "contains no recipe"),
        ("x.pdf", b"tracevis3d-recipe:abcde", "can't be read"),
        ("x.json", b"[1]", "contains no recipe"),
        ("x.json", b'{"view": "icicle"}', "is incomplete: 'output'"),
        ("x.json", b'{"view": "icicle", "output": 5}', "is incomplete"),
        ("x.mp4", b"film", "x.mp4.json: there is no such file"),
    ],
)
def test_damage_is_told(tmp_path, name, data, why, capsys) -> None:
    (tmp_path / name).write_bytes(data)
    assert main(["again", str(tmp_path / name), "--quiet"]) in (1, 2)
    said = capsys.readouterr().err
    assert why in said
    assert said.count("\n") == 1


def test_captions(tmp_path) -> None:
    said = caption.sentences("9 threads & 50 % <idle>", "who waits for whom", ["levels_a are lower", ""])
    assert said == "9 threads & 50 % <idle>. Who waits for whom. Levels_a are lower."
    for suffix, wanted in (
        (".tex", "\\caption{9 threads \\& 50 \\% \\textless{}idle\\textgreater{}. Who waits for whom. "
                 "Levels\\_a are lower.}\n"),
        (".md", "9 threads & 50 % \\<idle\\>. Who waits for whom. Levels\\_a are lower.\n"),
        (".txt", said + "\n"),
    ):  # fmt: skip
        caption.write(tmp_path / f"x{suffix}", said)
        assert (tmp_path / f"x{suffix}").read_text("utf-8") == wanted
    with pytest.raises(UsageError, match=r"one of .tex, .md, .txt is expected"):
        caption.check("x.doc")
    with pytest.raises(InputError):
        caption.check(tmp_path / "none" / "x.md")
