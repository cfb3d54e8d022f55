"""Reading memory by address, many bytes at a time, for scanners of text.

Helpers that get addresses (int64) instead of arrays cost little to call and little to compile. Who uses
them keeps to the array's bounds; reading up to 32 bytes past the last character must be harmless.
"""

from __future__ import annotations

from typing import Any

from .jit import intrinsic
from .llvm import cgutils, ir

_LANES = 32


def _i64() -> Any:
    return ir.IntType(64)


def _bytes() -> Any:
    return ir.VectorType(ir.IntType(8), _LANES)


def _pointer(builder: Any, address: Any, element: Any, index: Any = None) -> Any:
    """Return a pointer to item ``index`` of the items of type ``element`` at ``address``."""
    pointer = builder.inttoptr(address, element.as_pointer())
    return pointer if index is None else builder.gep(pointer, [index])


def _load(builder: Any, pointer: Any) -> Any:
    """Load what may lie at any address."""
    value = builder.load(pointer)
    value.align = 1
    return value


@intrinsic("int64", "array")
def address(builder, array):  # type: ignore[no-untyped-def]
    """Return the address of the first item of a contiguous array.

    Parameters
    ----------
    array : array

    Returns
    -------
    int64
    """
    return builder.ptrtoint(array, _i64())


@intrinsic("int64", "int64")
def byte(builder, at):  # type: ignore[no-untyped-def]
    """Return the byte at an address.

    Parameters
    ----------
    at : int64
        Address.

    Returns
    -------
    int64
    """
    return builder.zext(builder.load(_pointer(builder, at, ir.IntType(8))), _i64())


@intrinsic("uint64", "int64")
def load64(builder, at):  # type: ignore[no-untyped-def]
    """Return the 8 bytes at an address as a little-endian uint64.

    Parameters
    ----------
    at : int64
        Address.

    Returns
    -------
    uint64
    """
    return _load(builder, _pointer(builder, at, _i64()))


@intrinsic("void", "int64", "uint64")
def store64(builder, at, word):  # type: ignore[no-untyped-def]
    """Write the uint64 ``word`` as 8 little-endian bytes to an address.

    Parameters
    ----------
    at : int64
        Address.
    word : uint64
    """
    store = builder.store(word, _pointer(builder, at, _i64()))
    store.align = 1


@intrinsic("int64", "int64", "int64")
def get(builder, at, index):  # type: ignore[no-untyped-def]
    """Return item ``index`` of the int64 at an address.

    Parameters
    ----------
    at, index : int64
        Address and item.

    Returns
    -------
    int64
    """
    return builder.load(_pointer(builder, at, _i64(), index))


@intrinsic("void", "int64", "int64", "int64")
def put(builder, at, index, value):  # type: ignore[no-untyped-def]
    """Write item ``index`` of the int64 at an address.

    Parameters
    ----------
    at, index : int64
        Address and item.
    value : int64
    """
    builder.store(value, _pointer(builder, at, _i64(), index))


@intrinsic("int64", "int64", "int64")
def get32(builder, at, index):  # type: ignore[no-untyped-def]
    """Return item ``index`` of the int32 at an address, as int64.

    Parameters
    ----------
    at, index : int64
        Address and item.

    Returns
    -------
    int64
    """
    return builder.sext(builder.load(_pointer(builder, at, ir.IntType(32), index)), _i64())


@intrinsic("void", "int64", "int64", "int64")
def put32(builder, at, index, value):  # type: ignore[no-untyped-def]
    """Write item ``index`` of the int32 (or uint32) at an address.

    Parameters
    ----------
    at, index : int64
        Address and item.
    value : int64
        Its lower 32 bits are written.
    """
    item = ir.IntType(32)
    builder.store(builder.trunc(value, item), _pointer(builder, at, item, index))


@intrinsic("int64", "uint64")
def trailing_zeros(builder, word):  # type: ignore[no-untyped-def]
    """Return the number of zero bits below the lowest one of the uint64 ``word``; 64 for 0.

    Parameters
    ----------
    word : uint64

    Returns
    -------
    int64
    """
    return builder.cttz(word, cgutils.false_bit)


def _each(character: int) -> Any:
    return ir.Constant(_i64(), int.from_bytes(bytes([character]) * 8, "little"))


@intrinsic("int64", "uint64")
def count_digits(builder, word):  # type: ignore[no-untyped-def]
    """Return how many of the 8 characters in the uint64 ``word``, from the first on, are digits.

    Parameters
    ----------
    word : uint64

    Returns
    -------
    int64
    """
    # A digit becomes 0 to 9; adding 0x76 sets the high bit of anything from 10 on.
    folded = builder.xor(word, _each(0x30))
    other = builder.or_(builder.add(folded, _each(0x76)), folded)
    other = builder.and_(other, _each(0x80))
    return builder.lshr(builder.cttz(other, cgutils.false_bit), ir.Constant(_i64(), 3))


@intrinsic("int64", "uint64", "int64")
def value_of_digits(builder, word, count):  # type: ignore[no-untyped-def]
    """Return the number that the first ``count`` (1 to 8) characters in ``word``, digits, write.

    Parameters
    ----------
    word : uint64
    count : int64

    Returns
    -------
    int64
    """

    def number(value: int) -> Any:
        return ir.Constant(_i64(), value)

    # Pairs, fours, then all eight digits are added up within the word (Lemire 2018).
    unused = builder.sub(number(64), builder.shl(count, number(3)))
    word = builder.and_(builder.shl(word, unused), _each(0x0F))
    word = builder.lshr(builder.mul(word, number(10 * 2**8 + 1)), number(8))
    word = builder.mul(builder.and_(word, number(0x00FF00FF00FF00FF)), number(100 * 2**16 + 1))
    word = builder.and_(builder.lshr(word, number(16)), number(0x0000FFFF0000FFFF))
    return builder.lshr(builder.mul(word, number(10000 * 2**32 + 1)), number(32))


def _splat(character: int) -> Any:
    return ir.Constant(_bytes(), [character] * _LANES)


def _first(builder: Any, lanes: Any) -> Any:
    """Return the index of the first true lane of <32 x i1>; 32 if there is none."""
    mask = builder.zext(builder.bitcast(lanes, ir.IntType(_LANES)), _i64())
    return builder.cttz(builder.or_(mask, ir.Constant(_i64(), 1 << _LANES)), cgutils.true_bit)


@intrinsic("int64", "int64")
def to_quote_or_escape(builder, at):  # type: ignore[no-untyped-def]
    r"""Return how far the first ``"`` or ``\`` of the 32 bytes at an address is away; 32 if there is none.

    Parameters
    ----------
    at : int64
        Address.

    Returns
    -------
    int64
    """
    lanes = _load(builder, _pointer(builder, at, _bytes()))
    quote = builder.icmp_unsigned("==", lanes, _splat(0x22))
    escape = builder.icmp_unsigned("==", lanes, _splat(0x5C))
    return _first(builder, builder.or_(quote, escape))


@intrinsic("int64", "int64")
def to_quote_or_bracket(builder, at):  # type: ignore[no-untyped-def]
    """Return how far the first of ``"{}[]`` in the 32 bytes at an address is away; 32 if there is none.

    Parameters
    ----------
    at : int64
        Address.

    Returns
    -------
    int64
    """
    lanes = _load(builder, _pointer(builder, at, _bytes()))
    # [ and { differ in one bit only, as do ] and }.
    folded = builder.or_(lanes, _splat(0x20))
    found = builder.icmp_unsigned("==", lanes, _splat(0x22))
    for character in (0x7B, 0x7D):
        found = builder.or_(found, builder.icmp_unsigned("==", folded, _splat(character)))
    return _first(builder, found)
