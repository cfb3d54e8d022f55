"""Reading memory by address, many bytes at a time, for scanners of text.

Helpers that get addresses (int64) instead of arrays cost little to call and little to compile. Who uses
them keeps to the array's bounds; reading up to 32 bytes past the last character must be harmless.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

_LANES = 32
_I64 = ir.IntType(64)
_BYTES = ir.VectorType(ir.IntType(8), _LANES)


def _pointer(builder: Any, address: Any, element: Any, index: Any = None) -> Any:
    """Return a pointer to item ``index`` of the items of type ``element`` at ``address``."""
    pointer = builder.inttoptr(address, element.as_pointer())
    return pointer if index is None else builder.gep(pointer, [index])


def _load(builder: Any, pointer: Any) -> Any:
    """Load what may lie at any address."""
    value = builder.load(pointer)
    value.align = 1
    return value


@intrinsic
def address(typingctx, array):  # type: ignore[no-untyped-def]
    """Return the address of the first item of a contiguous array."""

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        pointer = context.make_array(signature.args[0])(context, builder, args[0]).data
        return builder.ptrtoint(pointer, _I64)

    return types.int64(array), codegen


@intrinsic
def byte(typingctx, at):  # type: ignore[no-untyped-def]
    """Return the byte at an address."""

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        return builder.zext(builder.load(_pointer(builder, args[0], ir.IntType(8))), _I64)

    return types.int64(types.int64), codegen


@intrinsic
def load64(typingctx, at):  # type: ignore[no-untyped-def]
    """Return the 8 bytes at an address as a little-endian uint64."""

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        return _load(builder, _pointer(builder, args[0], _I64))

    return types.uint64(types.int64), codegen


@intrinsic
def store64(typingctx, at, word):  # type: ignore[no-untyped-def]
    """Write the uint64 ``word`` as 8 little-endian bytes to an address."""

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        store = builder.store(args[1], _pointer(builder, args[0], _I64))
        store.align = 1
        return context.get_dummy_value()

    return types.void(types.int64, types.uint64), codegen


@intrinsic
def get(typingctx, at, index):  # type: ignore[no-untyped-def]
    """Return item ``index`` of the int64 at an address."""

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        return builder.load(_pointer(builder, args[0], _I64, args[1]))

    return types.int64(types.int64, types.int64), codegen


@intrinsic
def put(typingctx, at, index, value):  # type: ignore[no-untyped-def]
    """Write item ``index`` of the int64 at an address."""

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        builder.store(args[2], _pointer(builder, args[0], _I64, args[1]))
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64), codegen


@intrinsic
def get32(typingctx, at, index):  # type: ignore[no-untyped-def]
    """Return item ``index`` of the int32 at an address, as int64."""

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        return builder.sext(builder.load(_pointer(builder, args[0], ir.IntType(32), args[1])), _I64)

    return types.int64(types.int64, types.int64), codegen


@intrinsic
def put32(typingctx, at, index, value):  # type: ignore[no-untyped-def]
    """Write item ``index`` of the int32 (or uint32) at an address."""

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        item = ir.IntType(32)
        builder.store(builder.trunc(args[2], item), _pointer(builder, args[0], item, args[1]))
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64), codegen


@intrinsic
def trailing_zeros(typingctx, word):  # type: ignore[no-untyped-def]
    """Return the number of zero bits below the lowest one of the uint64 ``word``; 64 for 0."""

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        return builder.cttz(args[0], cgutils.false_bit)

    return types.int64(types.uint64), codegen


def _each(character: int) -> Any:
    return ir.Constant(_I64, int.from_bytes(bytes([character]) * 8, "little"))


@intrinsic
def count_digits(typingctx, word):  # type: ignore[no-untyped-def]
    """Return how many of the 8 characters in the uint64 ``word``, from the first on, are digits."""

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        # A digit becomes 0 to 9; adding 0x76 sets the high bit of anything from 10 on.
        folded = builder.xor(args[0], _each(0x30))
        other = builder.or_(builder.add(folded, _each(0x76)), folded)
        other = builder.and_(other, _each(0x80))
        return builder.lshr(builder.cttz(other, cgutils.false_bit), ir.Constant(_I64, 3))

    return types.int64(types.uint64), codegen


@intrinsic
def value_of_digits(typingctx, word, count):  # type: ignore[no-untyped-def]
    """Return the number that the first ``count`` (1 to 8) characters in ``word``, digits, write."""

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        def number(value: int) -> Any:
            return ir.Constant(_I64, value)

        # Pairs, fours, then all eight digits are added up within the word (Lemire 2018).
        unused = builder.sub(number(64), builder.shl(args[1], number(3)))
        word = builder.and_(builder.shl(args[0], unused), _each(0x0F))
        word = builder.lshr(builder.mul(word, number(10 * 2**8 + 1)), number(8))
        word = builder.mul(builder.and_(word, number(0x00FF00FF00FF00FF)), number(100 * 2**16 + 1))
        word = builder.and_(builder.lshr(word, number(16)), number(0x0000FFFF0000FFFF))
        return builder.lshr(builder.mul(word, number(10000 * 2**32 + 1)), number(32))

    return types.int64(types.uint64, types.int64), codegen


def _splat(character: int) -> Any:
    return ir.Constant(_BYTES, [character] * _LANES)


def _first(builder: Any, lanes: Any) -> Any:
    """Return the index of the first true lane of <32 x i1>; 32 if there is none."""
    mask = builder.zext(builder.bitcast(lanes, ir.IntType(_LANES)), _I64)
    return builder.cttz(builder.or_(mask, ir.Constant(_I64, 1 << _LANES)), cgutils.true_bit)


@intrinsic
def to_quote_or_escape(typingctx, at):  # type: ignore[no-untyped-def]
    r"""Return how far the first ``"`` or ``\`` of the 32 bytes at an address is away; 32 if there is none."""

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        lanes = _load(builder, _pointer(builder, args[0], _BYTES))
        quote = builder.icmp_unsigned("==", lanes, _splat(0x22))
        escape = builder.icmp_unsigned("==", lanes, _splat(0x5C))
        return _first(builder, builder.or_(quote, escape))

    return types.int64(types.int64), codegen


@intrinsic
def to_quote_or_bracket(typingctx, at):  # type: ignore[no-untyped-def]
    """Return how far the first of ``"{}[]`` in the 32 bytes at an address is away; 32 if there is none."""

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        lanes = _load(builder, _pointer(builder, args[0], _BYTES))
        # [ and { differ in one bit only, as do ] and }.
        folded = builder.or_(lanes, _splat(0x20))
        found = builder.icmp_unsigned("==", lanes, _splat(0x22))
        for character in (0x7B, 0x7D):
            found = builder.or_(found, builder.icmp_unsigned("==", folded, _splat(character)))
        return _first(builder, found)

    return types.int64(types.int64), codegen
