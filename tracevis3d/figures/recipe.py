"""How a picture was made, kept inside it: enough to make the same one again.

A recipe is a JSON object. It names traces by where they lie from the picture, not by folders of a machine.
"""

from __future__ import annotations

import base64
import html
import json
import os
import re
import struct
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..atomic import write_text
from ..errors import InputError
from ..machine.bounds import check_regular

#: Kinds of files that contain their recipe; for others it is a file beside them.
WITHIN = (".png", ".svg", ".pdf")
#: Maximum number of bytes searched for it.
_MOST_BYTES = 1 << 30
_MOST_TEXT = 1 << 24
_WORD = "tracevis3d-recipe:"
_PNG = b"\x89PNG\r\n\x1a\n"
_KEY = b"tracevis3d"
_IN_SVG = re.compile(r'<metadata id="tracevis3d">(.*?)</metadata>', re.DOTALL)
_IN_PDF = re.compile((_WORD + r"([A-Za-z0-9_=\s\\-]*)").encode())


def beside(path: str | os.PathLike[str]) -> Path:
    """Return the file that holds the recipe of a picture that can't: ``run.mp4.json``."""
    return Path(f"{os.fspath(path)}.json")


def write_beside(path: str | os.PathLike[str], recipe: Mapping[str, Any]) -> None:
    """Write the recipe of a picture beside it.

    Parameters
    ----------
    path : path
        The picture.
    recipe : mapping
        Ready for JSON.

    Raises
    ------
    InputError
        If the file can't be written.
    """
    write_text(beside(path), json.dumps(recipe, indent=2, ensure_ascii=False) + "\n")


def as_text(recipe: Mapping[str, Any]) -> str:
    """Return a recipe as one line of JSON."""
    return json.dumps(recipe, ensure_ascii=False, sort_keys=True)


def as_element(text: str) -> str:
    """Return a recipe as an element of an SVG."""
    return f'<metadata id="tracevis3d">{html.escape(text, quote=False)}</metadata>' if text else ""


def as_word(text: str) -> str:
    """Return a recipe as a keyword of a PDF: letters and digits alone."""
    return _WORD + base64.urlsafe_b64encode(text.encode()).decode() if text else ""


def read(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the recipe of a picture.

    Parameters
    ----------
    path : path
        The picture, or a .json with its recipe.

    Returns
    -------
    dict

    Raises
    ------
    InputError
        If it can't be read, or has none.
    """
    place = Path(path)
    try:
        if place.suffix.lower() not in (*WITHIN, ".json"):
            place = beside(place)
        check_regular(place)
        if place.stat().st_size > _MOST_BYTES:
            raise InputError(f"{path}: is too large for a picture: name one that TraceVis3D wrote")
        text = _found(place.suffix.lower(), place.read_bytes())
        recipe = json.loads(text) if text else None
    except FileNotFoundError:
        raise InputError(
            f"{place}: there is no such file; it would contain the recipe of {path}: copy it, too, or make "
            "the picture with 'tracevis3d render'"
        ) from None
    except (OSError, ValueError, zlib.error, struct.error, RecursionError) as error:
        raise InputError(
            f"{path}: its recipe can't be read: {error}: make the picture with 'tracevis3d render'"
        ) from None
    if not isinstance(recipe, dict) or "view" not in recipe:
        raise InputError(
            f"{path}: contains no recipe: it was not written by TraceVis3D, or by an old version: make it "
            "with 'tracevis3d render'"
        )
    return recipe


def _found(suffix: str, data: bytes) -> str:
    if suffix == ".json":
        return data.decode("utf-8")
    if suffix == ".svg":
        inside = _IN_SVG.search(data.decode("utf-8"))
        return html.unescape(inside[1]) if inside else ""
    if suffix == ".pdf":
        word = _IN_PDF.search(data)
        return base64.urlsafe_b64decode(re.sub(rb"[\s\\]", b"", word[1])).decode() if word else ""
    return _chunk_of(data)


def into_png(path: Path, text: str) -> None:
    """Write a recipe into a PNG, in a chunk of its own (iTXt, packed) behind the header.

    Parameters
    ----------
    path : Path
        A whole PNG that nobody else reads yet.
    text : str
        Of :func:`as_text`.
    """
    data = path.read_bytes()
    body = b"iTXt" + _KEY + b"\0\1\0\0\0" + zlib.compress(text.encode())
    chunk = struct.pack(">I", len(body) - 4) + body + struct.pack(">I", zlib.crc32(body))
    header = len(_PNG) + 25
    path.write_bytes(data[:header] + chunk + data[header:])


def _chunk_of(data: bytes) -> str:
    at = len(_PNG)
    while data.startswith(_PNG) and at + 8 <= len(data):
        length, kind = struct.unpack(">I4s", data[at : at + 8])
        body = data[at + 8 : at + 8 + length]
        if kind == b"iTXt" and body.startswith(_KEY + b"\0\1\0"):
            return zlib.decompressobj().decompress(body[len(_KEY) + 5 :], _MOST_TEXT).decode()
        if kind == b"IDAT":
            break
        at += 12 + length
    return ""
