"""The shape of a speedscope file, for msgspec; imported when a file is decoded."""

from __future__ import annotations

import msgspec

#: Value of a missing field: no bytes.
_ABSENT = msgspec.Raw()


class File(msgspec.Struct):
    """The outermost object."""

    profiles: list[msgspec.Raw] = []
    shared: msgspec.Raw = _ABSENT


class Shared(msgspec.Struct):
    """The shared part of the profiles."""

    frames: list[msgspec.Raw] = []


class Frame(msgspec.Struct):
    """A function, or a place in one."""

    name: str
    file: str | None = None
    line: int | None = None


class Profile(msgspec.Struct):
    """A profile of events or of samples; which, ``type`` says."""

    type: str = ""
    name: str | None = ""
    unit: str = "none"
    startValue: int | float = 0  # noqa: N815 (the file's word)
    endValue: int | float = 0  # noqa: N815
    events: msgspec.Raw = _ABSENT
    samples: msgspec.Raw = _ABSENT
    weights: msgspec.Raw = _ABSENT


class Event(msgspec.Struct, gc=False):
    """A frame is opened (``O``) or closed (``C``)."""

    type: str
    frame: int
    at: int | float
