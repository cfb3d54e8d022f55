"""Reading bytes many at a time: unaligned loads and bit masks, for scanners of text.

The callers see to it that reading up to 32 bytes past the end of the data is harmless.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

_LANES = 32


def _pointer(context: Any, builder: Any, signature: Any, args: Any, element: Any) -> Any:
    """Return a pointer to ``element`` at byte ``args[1]`` of the array ``args[0]``."""
    array = context.make_array(signature.args[0])(context, builder, args[0])
    at = builder.gep(array.data, [args[1]])
    return builder.bitcast(at, element.as_pointer())


def _lanes(builder: Any, pointer: Any) -> Any:
    lanes = builder.load(pointer)
    lanes.align = 1
    return lanes


def _splat(byte: int) -> Any:
    return ir.Constant(ir.VectorType(ir.IntType(8), _LANES), [byte] * _LANES)


def _first(context: Any, builder: Any, lanes: Any) -> Any:
    """Return the index of the first true lane of <32 x i1>; 32 if there is none."""
    mask = builder.zext(builder.bitcast(lanes, ir.IntType(_LANES)), ir.IntType(64))
    mask = builder.or_(mask, ir.Constant(ir.IntType(64), 1 << _LANES))
    return builder.cttz(mask, cgutils.true_bit)


@intrinsic
def load64(typingctx, data, index):  # type: ignore[no-untyped-def]
    """Return the 8 bytes from ``data[index]`` on as a little-endian uint64 (``data``: uint8, contiguous)."""

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        word = builder.load(_pointer(context, builder, signature, args, ir.IntType(64)))
        word.align = 1
        return word

    return types.uint64(data, types.int64), codegen


@intrinsic
def byte(typingctx, data, index):  # type: ignore[no-untyped-def]
    """Return ``data[index]`` as int64, without the look for a negative index."""

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        pointer = _pointer(context, builder, signature, args, ir.IntType(8))
        return builder.zext(builder.load(pointer), ir.IntType(64))

    return types.int64(data, types.int64), codegen


@intrinsic
def store64(typingctx, data, index, word):  # type: ignore[no-untyped-def]
    """Write the uint64 ``word`` as 8 little-endian bytes from ``data[index]`` on."""

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        store = builder.store(args[2], _pointer(context, builder, signature, args, ir.IntType(64)))
        store.align = 1
        return context.get_dummy_value()

    return types.void(data, types.int64, types.uint64), codegen


@intrinsic
def trailing_zeros(typingctx, word):  # type: ignore[no-untyped-def]
    """Return the number of zero bits below the lowest one of the uint64 ``word``; 64 for 0."""

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        return builder.cttz(args[0], cgutils.false_bit)

    return types.int64(types.uint64), codegen


def _each(byte: int) -> Any:
    return ir.Constant(ir.IntType(64), int.from_bytes(bytes([byte]) * 8, "little"))


@intrinsic
def count_digits(typingctx, word):  # type: ignore[no-untyped-def]
    """Return how many of the 8 characters in the uint64 ``word``, from the first on, are digits."""

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        # A digit becomes 0 to 9; adding 0x76 sets the high bit of anything from 10 on.
        folded = builder.xor(args[0], _each(0x30))
        other = builder.or_(builder.add(folded, _each(0x76)), folded)
        other = builder.and_(other, _each(0x80))
        return builder.lshr(builder.cttz(other, cgutils.false_bit), ir.Constant(ir.IntType(64), 3))

    return types.int64(types.uint64), codegen


@intrinsic
def value_of_digits(typingctx, word, count):  # type: ignore[no-untyped-def]
    """Return the number that the first ``count`` (1 to 8) characters in ``word``, digits, write."""

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        def number(value: int) -> Any:
            return ir.Constant(ir.IntType(64), value)

        # Pairs, fours, then all eight digits are added up within the word (Lemire 2018).
        unused = builder.sub(number(64), builder.shl(args[1], number(3)))
        word = builder.and_(builder.shl(args[0], unused), _each(0x0F))
        word = builder.lshr(builder.mul(word, number(10 * 2**8 + 1)), number(8))
        word = builder.mul(builder.and_(word, number(0x00FF00FF00FF00FF)), number(100 * 2**16 + 1))
        word = builder.and_(builder.lshr(word, number(16)), number(0x0000FFFF0000FFFF))
        return builder.lshr(builder.mul(word, number(10000 * 2**32 + 1)), number(32))

    return types.int64(types.uint64, types.int64), codegen


@intrinsic
def to_quote_or_escape(typingctx, data, index):  # type: ignore[no-untyped-def]
    r"""Return how far the first ``"`` or ``\`` in ``data[index:index + 32]`` is away; 32 if there is none."""

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        vector = ir.VectorType(ir.IntType(8), _LANES)
        lanes = _lanes(builder, _pointer(context, builder, signature, args, vector))
        quote = builder.icmp_unsigned("==", lanes, _splat(0x22))
        escape = builder.icmp_unsigned("==", lanes, _splat(0x5C))
        return _first(context, builder, builder.or_(quote, escape))

    return types.int64(data, types.int64), codegen


@intrinsic
def to_quote_or_bracket(typingctx, data, index):  # type: ignore[no-untyped-def]
    """Return how far the first of ``"{}[]`` in ``data[index:index + 32]`` is away; 32 if there is none."""

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        vector = ir.VectorType(ir.IntType(8), _LANES)
        lanes = _lanes(builder, _pointer(context, builder, signature, args, vector))
        # [ and { differ in one bit only, as do ] and }.
        folded = builder.or_(lanes, _splat(0x20))
        found = builder.icmp_unsigned("==", lanes, _splat(0x22))
        for byte in (0x7B, 0x7D):
            found = builder.or_(found, builder.icmp_unsigned("==", folded, _splat(byte)))
        return _first(context, builder, found)

    return types.int64(data, types.int64), codegen
