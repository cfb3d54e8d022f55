"""The checked way to read a record of a Chrome trace: typed decoding with msgspec, any value of any type.

It takes over where the scanner (:mod:`tracevis3d.kernels.formats.scan.json`) does not understand a record,
and comes to the same result where both do.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from decimal import ROUND_FLOOR, Context, Decimal, InvalidOperation, Overflow
from typing import Any, NamedTuple

import msgspec

from ...kernels.formats.scan import json as kernels
from ...trace.recording import TIME_LIMIT
from .rows import Rows

Raw = msgspec.Raw
_ABSENT = Raw(b"")


class Record(msgspec.Struct):
    """The keys of a record that matter, as they stand in the file; the last of equal keys counts."""

    ph: Raw = _ABSENT
    ts: Raw = _ABSENT
    dur: Raw = _ABSENT
    pid: Raw = _ABSENT
    tid: Raw = _ABSENT
    name: Raw = _ABSENT
    cat: Raw = _ABSENT
    args: Raw = _ABSENT
    id: Raw = _ABSENT
    id2: Raw = _ABSENT
    bp: Raw = _ABSENT
    bind_id: Raw = _ABSENT
    flow_in: Raw = _ABSENT
    flow_out: Raw = _ABSENT


class Number(float):
    """A number of JSON that remembers how it was written."""

    text: str

    def __new__(cls, text: str) -> Number:
        """Make the number that ``text`` writes."""
        number = super().__new__(cls, text)
        number.text = text
        return number


_decode_one = msgspec.json.Decoder(Record).decode
_decode_list = msgspec.json.Decoder(list[Record]).decode
_decode_text = msgspec.json.Decoder(str).decode
# Enough digits for any valid time and 40 decimals; further ones don't affect rounding.
_EXACT = Context(prec=80, Emin=-(10**6), Emax=10**6, traps=[InvalidOperation, Overflow])
_HALF = Decimal("0.5")


def decode_json(text: bytes) -> Any:
    """Decode JSON leniently: NaN, control characters and broken UTF-8 are let pass; numbers stay exact.

    Parameters
    ----------
    text : bytes
        UTF-8.

    Returns
    -------
    object
        Dicts, lists, texts, numbers, bools and None.

    Raises
    ------
    ValueError
        If it is not JSON all the same.
    """
    try:
        return json.loads(
            text.decode("utf-8", "replace"),
            strict=False,
            parse_float=Number,
            parse_int=Number,
            parse_constant=Number,
        )
    except RecursionError as error:
        raise ValueError("too deeply nested") from error


def decode_records(texts: list[bytes]) -> list[Record | None]:
    """Decode records up to the first that is not a JSON object; it is there as None."""
    try:
        return list(_decode_list(b"[" + b",".join(texts) + b"]"))
    except (msgspec.MsgspecError, RecursionError, UnicodeError):
        records: list[Record | None] = []
        for text in texts:
            records.append(_decode_record(text))
            if records[-1] is None:
                break
        return records


def _decode_record(text: bytes) -> Record | None:
    try:
        return _decode_one(text)
    except RecursionError:
        # It is whole, or it had no end: what follows is read on.
        return Record()
    except (msgspec.MsgspecError, UnicodeError):
        pass
    try:
        fields = decode_json(text)
        if not isinstance(fields, dict):
            return None
        return Record(**{key: Raw(_dump(fields[key])) for key in Record.__struct_fields__ if key in fields})
    except (ValueError, RecursionError):
        return None


def _dump(value: Any) -> bytes:
    text = value.text if isinstance(value, Number) else json.dumps(value, ensure_ascii=False)
    return text.encode("utf-8", "replace")


#: Records of samples: their arguments are passed on like those of metadata, with the record's id.
PROFILES = ("Profile", "ProfileChunk")


class Metadata(NamedTuple):
    """What a metadata record says about a process or thread, ``None`` where it has no such id."""

    what: str
    process: str | None
    tid: str | None
    quoted: int
    arguments: dict[str, Any]


class Checked:
    """Appends decoded records to :class:`Rows`.

    Parameters
    ----------
    rows : Rows
        They are filled.
    metadata : callable
        Called with each metadata record.
    """

    def __init__(self, rows: Rows, metadata: Callable[[Metadata], None]) -> None:
        self._rows = rows
        self._metadata = metadata

    def add(self, record: Record, offset: int, base: int) -> bool:
        """Append a record that starts at ``base + offset``; return whether it is one of a trace.

        Parameters
        ----------
        record : Record
            As msgspec decoded it.
        offset : int
            Of the record within the piece, in bytes.
        base : int
            Of the piece within the unpacked file, in bytes.

        Returns
        -------
        bool
        """
        rows, byte = self._rows, base + offset
        phase = self._value(record.ph)
        if not isinstance(phase, str) or len(phase) != 1:
            return False
        rows.state[kernels.S_RECORDS] += 1
        if phase == "M":
            self._add_metadata(record, byte)
            return True
        if phase == "P" and self._value(record.name) in PROFILES:
            self._add_metadata(record, byte)
            return True
        is_call = phase in "XBE"
        if not is_call and phase not in "iIRstfbenSTFpC":
            rows.count_repair("unsupported", byte)
            return True
        time = self._time(record.ts)
        if time is None:
            rows.count_repair("bad time", byte)
            return True
        begin = _to_ns(time)
        stop = begin
        if phase == "X":
            stop = self._stop(record, time, byte)
        process, tid, quoted = self._ids(record, byte)
        # A counter belongs to a process.
        if process is None or (tid is None and phase != "C"):
            rows.count_repair("no thread", byte)
        thread = rows.owner(process, tid, quoted)
        name = self._name(record, phase not in "EeF", byte)
        category = self._text_of(record.cat, byte)
        arguments = self._arguments(record, byte)
        flags = self._flags(record)
        is_interned = arguments is not None and (phase == "C" or b'"kind"' in arguments)
        identity = -1
        if is_call:
            if flags & kernels.HAS_BIND:
                identity = self._identity(record.bind_id, byte)
        elif flags & kernels.HAS_ID2:
            identity = self._scoped_identity(record.id2, byte)
        elif flags & kernels.HAS_ID:
            identity = self._identity(record.id, byte)
        if identity < 0:
            flags &= ~(kernels.HAS_ID | kernels.HAS_ID2 | kernels.HAS_BIND)
        extra = byte
        if is_interned and arguments is not None:
            extra = rows.raw_text(arguments)
            flags |= kernels.F_KIND if phase != "C" else 0
        if is_call:
            at = rows.add_event(
                thread,
                "BEX".index(phase),
                name,
                begin,
                stop,
                offset | (kernels.HAS_ARGUMENTS if arguments is not None else 0),
            )
            if name > 0 and category >= 0 and rows.texts[name, kernels.T_CATEGORY] < 0:
                rows.texts[name, kernels.T_CATEGORY] = category
            if phase != "E" and (is_interned or flags & kernels.HAS_BIND):
                rows.add_row(kernels.CALL_ROW, name, at, thread, begin, identity, flags, extra)
        else:
            if phase == "C" and not is_interned:
                rows.count_repair("bad value", byte)
                return True
            rows.add_row(ord(phase), name, category, thread, begin, identity, flags, extra)
        return True

    # -- values --------------------------------------------------------------------------------

    def _value(self, raw: Raw) -> Any:
        """Return the value as str, Number, bool, None, or for brackets the bytes as they stand."""
        text = bytes(raw)
        first = text[:1]
        if first == b'"':
            try:
                return _decode_text(text)
            except (msgspec.MsgspecError, UnicodeError):
                return decode_json(text)
        if first in (b"t", b"f"):
            return first == b"t"
        if first in (b"{", b"["):
            return text
        if first in (b"n", b""):
            return None
        return Number(text.decode())

    def _time(self, raw: Raw) -> Decimal | None:
        """Return the exact nanoseconds that a number or a numeric string of microseconds writes."""
        value = self._value(raw)
        text = value.text if isinstance(value, Number) else value
        if not isinstance(text, str) or "_" in text:
            return None
        try:
            exact = Decimal(text.strip())
            if not exact.is_finite() or exact.adjusted() > 20:
                return None
            ns = _EXACT.scaleb(_EXACT.plus(exact), 3)
        except (InvalidOperation, Overflow, ValueError):
            return None
        return ns if abs(ns) < TIME_LIMIT - 1 else None

    def _stop(self, record: Record, time: Decimal, byte: int) -> int:
        begin = _to_ns(time)
        if self._value(record.dur) is None:
            self._rows.count_repair("no duration", byte)
            return begin
        duration = self._time(record.dur)
        if duration is not None:
            stop = _to_ns(_EXACT.add(time, duration))
            if abs(stop) < TIME_LIMIT:
                return stop
        self._rows.count_repair("bad value", byte)
        return begin

    def _id(self, raw: Raw, byte: int) -> tuple[str | None, bool]:
        """Return an id as text, and whether it was a string; no text where it has none."""
        value = self._value(raw)
        if isinstance(value, str):
            return value, True
        if isinstance(value, Number):
            return _integer_text(value), False
        if value is not None:
            self._rows.count_repair("bad value", byte)
        return None, False

    def _ids(self, record: Record, byte: int) -> tuple[str | None, str | None, int]:
        process, first = self._id(record.pid, byte)
        tid, second = self._id(record.tid, byte)
        return process, tid, first | second << 1

    def _name(self, record: Record, needed: bool, byte: int) -> int:
        text = bytes(record.name)
        if text[:1] == b'"':
            return self._rows.raw_text(text[1:-1])
        value = self._value(record.name)
        if isinstance(value, Number):
            return self._rows.text(value.text)
        if value is not None:
            self._rows.count_repair("bad value", byte)
        elif needed:
            self._rows.count_repair("no name", byte)
        return 0 if needed else -1

    def _text_of(self, raw: Raw, byte: int) -> int:
        text = bytes(raw)
        if text[:1] == b'"':
            return self._rows.raw_text(text[1:-1])
        if text not in (b"", b"null"):
            self._rows.count_repair("bad value", byte)
        return -1

    def _arguments(self, record: Record, byte: int) -> bytes | None:
        text = bytes(record.args)
        if text[:1] == b"{":
            return text if text[1:].lstrip()[:1] != b"}" else None
        if text not in (b"", b"null"):
            self._rows.count_repair("bad value", byte)
        return None

    def _identity(self, raw: Raw, byte: int) -> int:
        text, _ = self._id(raw, byte)
        return -1 if text is None else self._rows.text(text)

    def _scoped_identity(self, raw: Raw, byte: int) -> int:
        text = bytes(raw)
        if text[:1] == b"{":
            return self._rows.raw_text(text)
        self._rows.count_repair("bad value", byte)
        return -1

    def _flags(self, record: Record) -> int:
        flags = 0
        for k, key in enumerate(kernels.KEYS):
            if bytes(getattr(record, key)) not in (b"", b"null"):
                flags |= 1 << k
        flags |= kernels.F_ENCLOSING if self._value(record.bp) == "e" else 0
        flags |= kernels.F_IN if self._value(record.flow_in) is True else 0
        flags |= kernels.F_OUT if self._value(record.flow_out) is True else 0
        return flags

    def _add_metadata(self, record: Record, byte: int) -> None:
        name = self._value(record.name)
        process, tid, quoted = self._ids(record, byte)
        text = bytes(record.args)
        try:
            arguments = decode_json(text) if text else {}
            if isinstance(arguments, dict) and name in PROFILES:
                arguments["id"] = self._value(record.id)
        except ValueError:
            arguments = None
        if not isinstance(name, str) or not isinstance(arguments, dict):
            self._rows.count_repair("malformed", byte)
            return
        self._metadata(Metadata(name, process, tid, quoted, arguments))


def scoped_id(text: bytes) -> tuple[str, bool] | None:
    """Return the id that an ``id2`` object holds, and whether it is local to its process."""
    try:
        value = decode_json(text)
    except ValueError:
        return None
    if not isinstance(value, dict):
        return None
    for key in ("local", "global"):
        if isinstance(value.get(key), str):
            return value[key], key == "local"
        if isinstance(value.get(key), Number):
            return _integer_text(value[key]), key == "local"
    return None


def _integer_text(number: Number) -> str:
    """Write a whole number without point and exponent, another one as it is."""
    if number.is_integer() and abs(number) < 1e18:
        try:
            return str(int(Decimal(number.text)))
        except InvalidOperation:
            pass
    return number.text


def _to_ns(exact: Decimal) -> int:
    return int(_EXACT.add(exact, _HALF).to_integral_value(ROUND_FLOOR, _EXACT))
