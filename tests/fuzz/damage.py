"""Damage: small and large changes of bytes."""

from __future__ import annotations

import random

#: What formats have, or choke on.
TOKENS = [
    *(
        b'"',
        b"{",
        b"}",
        b"[",
        b"]",
        b",",
        b":",
        b"\\",
        b"\n",
        b" ",
        b"\0",
        b"\xff",
        b"\xed\xa0\x80",
        b"\xef\xbb\xbf",
    ),
    *(
        b"NaN",
        b"-Infinity",
        b"1e999",
        b"-1",
        b"0",
        b"-0",
        b"1e-400",
        b"0.00049999999999999999",
        b"9" * 19,
        b"9" * 40,
    ),
    *(
        b"18446744073709551616",
        b"4611686018427387.904",
        b"1.",
        b".5",
        b"01",
        b"+1",
        b"null",
        b"true",
        b'""',
        b"{}",
        b"[]",
    ),
    *(
        b'"\\ud800"',
        b'"\\u0000"',
        b'"ph":"X",',
        b'"ph":"E",',
        b'"ts":"',
        b'"dur":-5,',
        b'"args":{"kind":"wait","objects":["a"]},',
    ),
    *(
        b'"id2":{"local":1},',
        b'"bind_id":1,"flow_in":true,',
        b'"name":null,',
        b"{" * 300,
        b"[" * 5000,
        b";" * 50,
        b"\t",
    ),
    *(bytes(8), b"\xff" * 8, b"\x7f" * 4, b"\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01"),
]


def damaged(data: bytes, others: list[tuple[str, bytes]], pick: random.Random) -> bytes:
    """Return ``data`` with one to eight changes."""
    out = bytearray(data)
    if pick.random() < 0.6 and len(out) > 3000:
        # A part from the middle, behind the start of the file.
        cut = pick.randrange(len(out))
        out = out[: pick.randrange(40, 400)] + out[cut : cut + pick.randrange(200, 2500)]
    for _ in range(pick.choice((1, 1, 2, 3, 8))):
        if not out:
            break
        at = pick.randrange(len(out))
        what = pick.randrange(9)
        if what == 0:
            out[at] = pick.randrange(256)
        elif what == 1:
            out[at] ^= 1 << pick.randrange(8)
        elif what == 2:
            del out[at : at + pick.choice((1, 2, 8, 60, 600))]
        elif what in (3, 4):
            token = pick.choice(TOKENS)
            out[at : at + (len(token) if pick.random() < 0.5 else 0)] = token
        elif what == 5:
            del out[at:]
        elif what == 6:
            length = pick.choice((1, 8, 100, 1000))
            out[at:at] = out[pick.randrange(len(out)) :][:length] * pick.choice((1, 1, 3))
        elif what == 7:
            other = pick.choice(others)[1]
            start = pick.randrange(len(other) + 1)
            out[at:at] = other[start : start + pick.choice((20, 400))]
        else:
            digits = [k for k in range(at, min(at + 300, len(out))) if 48 <= out[k] <= 57]
            if digits:
                out[digits[0]] = pick.choice(b"0123456789-.eE")
    return bytes(out)
