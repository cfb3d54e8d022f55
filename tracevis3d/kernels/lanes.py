"""Arithmetic on four numbers at once, for loops too short for the compiler to find out by itself."""

from __future__ import annotations

from typing import Any

from .jit import intrinsic
from .llvm import cgutils, ir


def _i64() -> Any:
    return ir.IntType(64)


def _f32() -> Any:
    return ir.FloatType()


def _four() -> Any:
    return ir.VectorType(_f32(), 4)


def _at(builder: Any, address: Any, index: Any, element: Any) -> Any:
    """Return a pointer to the ``index``-th float32 from an address, as one to ``element``."""
    pointer = builder.gep(builder.inttoptr(address, _f32().as_pointer()), [index])
    return builder.bitcast(pointer, element.as_pointer())


def _splat(builder: Any, value: Any) -> Any:
    lanes = builder.insert_element(ir.Constant(_four(), ir.Undefined), value, ir.Constant(ir.IntType(32), 0))
    return builder.shuffle_vector(lanes, lanes, ir.Constant(ir.VectorType(ir.IntType(32), 4), [0] * 4))


def _all(value: float) -> Any:
    return ir.Constant(_four(), [ir.Constant(_f32(), value)] * 4)


@intrinsic("void", "int64", "int64", "int64", "int64")
def sample_piece(builder, control, place, out, count):  # type: ignore[no-untyped-def]
    """Write points of one piece of a uniform cubic B-spline.

    Parameters
    ----------
    control : int64
        Address of the first of its four control points: x, y and z as float32; one more float32 is read.
    place : int64
        Address of ``count`` float32 from 0 to 1.
    out : int64
        Address that ``count`` points of three float32 are written to; one more float32 is written.
    count : int64
    """
    points = []
    for k in range(4):
        value = builder.load(_at(builder, control, ir.Constant(_i64(), 3 * k), _four()))
        value.align = 4
        points.append(value)
    p0, p1, p2, p3 = points
    flags = ("contract",)

    def add(a: Any, b: Any) -> Any:
        return builder.fadd(a, b, flags=flags)

    def mul(a: Any, b: Any) -> Any:
        return builder.fmul(a, b, flags=flags)

    def sub(a: Any, b: Any) -> Any:
        return builder.fsub(a, b, flags=flags)

    sixth, half, rest = _all(1.0 / 6.0), _all(0.5), _all(2.0 / 3.0)
    ends = add(p0, p2)
    a = add(mul(sixth, ends), mul(rest, p1))
    b = mul(half, sub(p2, p0))
    c = sub(mul(half, ends), p1)
    d = add(mul(sixth, sub(p3, p0)), mul(half, sub(p1, p2)))
    with cgutils.for_range(builder, count) as loop:
        u = builder.load(_at(builder, place, loop.index, _f32()))
        u.align = 4
        t = _splat(builder, u)
        value = add(a, mul(t, add(b, mul(t, add(c, mul(t, d))))))
        store = builder.store(
            value, _at(builder, out, builder.mul(loop.index, ir.Constant(_i64(), 3)), _four())
        )
        store.align = 4
