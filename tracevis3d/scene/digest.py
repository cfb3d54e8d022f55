"""Digests of inputs: short texts that are equal only for equal inputs."""

from __future__ import annotations

import hashlib
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np


def digest(*things: Any) -> str:
    """Return a hash of arrays, dataclasses, sequences and plain values, by content."""
    whole = hashlib.blake2b(digest_size=16)
    _add(whole, things)
    return whole.hexdigest()


def _add(whole: Any, thing: Any) -> None:
    if isinstance(thing, np.ndarray):
        whole.update(f"{thing.dtype.str}{thing.shape}".encode())
        whole.update(np.ascontiguousarray(thing).data if thing.size else b"")
    elif is_dataclass(thing):
        whole.update(type(thing).__name__.encode())
        for field in fields(thing):
            _add(whole, getattr(thing, field.name))
    elif isinstance(thing, (tuple, list)):
        whole.update(f"({len(thing)}".encode())
        for item in thing:
            _add(whole, item)
    else:
        whole.update(f"{type(thing).__name__}{thing!r};".encode())
