"""Tubes: elliptical sections swept along polylines with rotation-minimising frames."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..jit import kernel
from ..vectors import across, cross, dot, step, unit

_F0, _F1, _F2 = np.float32(0.0), np.float32(1.0), np.float32(2.0)
_TINY = np.float32(1e-20)
# How much of ``side`` must be left across the path for the section to follow it wholly, and not at all.
_FOLLOW, _LOOSE = np.float32(0.35), np.float32(0.08)


@kernel
def sweep_frames(
    point: NDArray[np.float32],
    first: NDArray[np.int64],
    side: NDArray[np.float32],
    begin: int,
    end: int,
    frame: NDArray[np.float32],
) -> None:
    """Compute a frame at each point of each polyline: the tangent and the direction of the section's width.

    From point to point the frame is carried by two reflections (Wang, Jüttler, Zheng, Liu 2008, "Computation
    of rotation minimizing frames", section 4), and then turned towards ``side`` as far as the path leaves
    any of it across.

    Parameters
    ----------
    point : float32 (m, 3)
    first : int64 (n + 1,)
    side : float32 (3,)
        Unit vector, or zero for frames that only minimise rotation.
    begin, end : int
        The polylines that are done.
    frame : float32 (m, 6)
        Written: tangent, width.
    """
    a, b, c = side[0], side[1], side[2]
    for i in range(begin, end):
        low, high = first[i], first[i + 1]
        tx, ty, tz = _F0, _F0, _F1
        rx, ry, rz = _F0, _F0, _F0
        started = False
        for j in range(low, high):
            # The step behind, and the tangent from the point before to the one after; where points
            # coincide the tangent stays.
            back, on = max(j - 1, low), min(j + 1, high - 1)
            if not started:
                # Points that repeat the first have no direction yet: look for the first step that has one.
                while on < high - 1 and (
                    point[on, 0] == point[low, 0]
                    and point[on, 1] == point[low, 1]
                    and point[on, 2] == point[low, 2]
                ):
                    on += 1
            ux, uy, uz = step(point, back, on)
            ux, uy, uz, n = unit(ux, uy, uz)
            if n == _F0:
                ux, uy, uz = tx, ty, tz
            if not started:
                started = True
                rx, ry, rz = across(a, b, c, ux, uy, uz)
                rx, ry, rz, n = unit(rx, ry, rz)
                if n < _LOOSE:
                    # Any direction across the path: the axis least parallel to it.
                    x = _F1 if abs(ux) <= abs(uy) and abs(ux) <= abs(uz) else _F0
                    y = _F1 if x == _F0 and abs(uy) <= abs(uz) else _F0
                    z = _F1 - x - y
                    rx, ry, rz = across(x, y, z, ux, uy, uz)
                    rx, ry, rz, n = unit(rx, ry, rz)
            else:
                # Reflect in the plane between the two points, ...
                x, y, z = step(point, j - 1, j)
                d = dot(x, y, z, x, y, z)
                if d > _TINY:
                    f = _F2 * dot(x, y, z, rx, ry, rz) / d
                    rx, ry, rz = rx - f * x, ry - f * y, rz - f * z
                    f = _F2 * dot(x, y, z, tx, ty, tz) / d
                    tx, ty, tz = tx - f * x, ty - f * y, tz - f * z
                # ... then in the one that brings the reflected tangent to the next.
                x, y, z = ux - tx, uy - ty, uz - tz
                d = dot(x, y, z, x, y, z)
                if d > _TINY:
                    f = _F2 * dot(x, y, z, rx, ry, rz) / d
                    rx, ry, rz = rx - f * x, ry - f * y, rz - f * z
                x, y, z = across(a, b, c, ux, uy, uz)
                x, y, z, kept = unit(x, y, z)
                if kept > _LOOSE:
                    # An ellipse turned by half a turn is itself: take the nearer of the two ways.
                    w = min((kept - _LOOSE) / (_FOLLOW - _LOOSE), _F1)
                    f = w if dot(x, y, z, rx, ry, rz) >= _F0 else -w
                    w = _F1 - w
                    rx, ry, rz = w * rx + f * x, w * ry + f * y, w * rz + f * z
                # Rounding takes r off the right angle.
                rx, ry, rz = across(rx, ry, rz, ux, uy, uz)
                rx, ry, rz, n = unit(rx, ry, rz)
            tx, ty, tz = ux, uy, uz
            frame[j, 0] = tx
            frame[j, 1] = ty
            frame[j, 2] = tz
            frame[j, 3] = rx
            frame[j, 4] = ry
            frame[j, 5] = rz


@kernel
def sweep_rings(
    point: NDArray[np.float32],
    radius: NDArray[np.float32],
    first: NDArray[np.int64],
    frame: NDArray[np.float32],
    circle: NDArray[np.float32],
    begin: int,
    end: int,
    position: NDArray[np.float32],
) -> None:
    """Write the vertices of tubes: per tube a cap's ring, a ring at each point, and the other cap's ring.

    Parameters
    ----------
    point : float32 (m, 3)
    radius : float32 (m, 2)
        Along the frame's width, and across it.
    first : int64 (n + 1,)
    frame : float32 (m, 6)
        From :func:`sweep_frames`.
    circle : float32 (k, 2)
        Cosine and sine of each vertex of a ring.
    begin, end : int
        The tubes that are done.
    position : float32 (m + 2 n, k, 3)
        Written.
    """
    ring = first[begin] + 2 * begin
    for i in range(begin, end):
        low, high = first[i], first[i + 1]
        for place in range(low - 1, high + 1):
            j = min(max(place, low), high - 1)
            rx, ry, rz = frame[j, 3], frame[j, 4], frame[j, 5]
            sx, sy, sz = cross(frame[j, 0], frame[j, 1], frame[j, 2], rx, ry, rz)
            a, b = radius[j, 0], radius[j, 1]
            sx, sy, sz = b * sx, b * sy, b * sz
            rx, ry, rz = a * rx, a * ry, a * rz
            x, y, z = point[j, 0], point[j, 1], point[j, 2]
            for k in range(len(circle)):
                c, s = circle[k, 0], circle[k, 1]
                position[ring, k, 0] = x + c * rx + s * sx
                position[ring, k, 1] = y + c * ry + s * sy
                position[ring, k, 2] = z + c * rz + s * sz
            ring += 1


@kernel
def sweep_light(
    radius: NDArray[np.float32],
    first: NDArray[np.int64],
    frame: NDArray[np.float32],
    circle: NDArray[np.float32],
    light: NDArray[np.float32],
    color: NDArray[np.float32],
    begin: int,
    end: int,
    shaded: NDArray[np.float32],
) -> None:
    """Write the colours of tubes with light on them, for the vertices of :func:`sweep_rings`.

    Light falls as on a round tube however flat the section is: a cushion (van Wijk and van de Wetering 1999),
    so that wide tubes within each other are distinguished.

    Parameters
    ----------
    radius, first, frame, circle
        As there.
    light : float32 (6,)
        Direction to the light (3), ambient share, factor of the light's cosine, share that shines by itself.
    color : float32 (n, 3)
        Linear colour of each tube.
    begin, end : int
        The tubes that are done.
    shaded : float32 (m + 2 n, k, 4)
        Written: alpha is 1.
    """
    lx, ly, lz, ambient, key, own = light[0], light[1], light[2], light[3], light[4], light[5]
    ring = first[begin] + 2 * begin
    for i in range(begin, end):
        low, high = first[i], first[i + 1]
        red, green, blue = color[i, 0], color[i, 1], color[i, 2]
        for place in range(low - 1, high + 1):
            j = min(max(place, low), high - 1)
            tx, ty, tz = frame[j, 0], frame[j, 1], frame[j, 2]
            rx, ry, rz = frame[j, 3], frame[j, 4], frame[j, 5]
            sx, sy, sz = cross(tx, ty, tz, rx, ry, rz)
            # On a cap the normal is the tangent.
            on_r = dot(rx, ry, rz, lx, ly, lz)
            on_s = dot(sx, sy, sz, lx, ly, lz)
            on_t = dot(tx, ty, tz, lx, ly, lz)
            if place < low or place >= high:
                lit = on_t if place >= high else -on_t
                bright = own + (_F1 - own) * (ambient + key * max(lit, _F0))
                for k in range(len(circle)):
                    shaded[ring, k, 0] = red * bright
                    shaded[ring, k, 1] = green * bright
                    shaded[ring, k, 2] = blue * bright
                    shaded[ring, k, 3] = _F1
            else:
                # Without a branch, so that several vertices are done at once.
                for k in range(len(circle)):
                    c, s = circle[k, 0], circle[k, 1]
                    lit = c * on_r + s * on_s
                    bright = own + (_F1 - own) * (ambient + key * max(lit, _F0))
                    shaded[ring, k, 0] = red * bright
                    shaded[ring, k, 1] = green * bright
                    shaded[ring, k, 2] = blue * bright
                    shaded[ring, k, 3] = _F1
            ring += 1


@kernel
def sweep_faces(
    first: NDArray[np.int64],
    sides: int,
    begin: int,
    end: int,
    edge: NDArray[np.int32],
    corner: NDArray[np.int32],
    corner_edge: NDArray[np.int32],
    face: NDArray[np.int32],
    owner: NDArray[np.int32],
) -> None:
    """Write the topology of the tubes' meshes, whose vertices :func:`sweep_rings` writes.

    Parameters
    ----------
    first : int64 (n + 1,)
        No tube is empty.
    sides : int64
        Vertices of a ring, k.
    begin, end : int
        The tubes that are done.
    edge : int32 ((2 m + n) k, 2)
        Written: k along each ring, caps included, and k between neighbouring rings.
    corner, corner_edge : int32 (4 (m - n) k + 2 n k,)
        Written: vertex and edge of each corner.
    face : int32 ((m - n) k + 2 n,)
        Written: first corner of each face; each tube's two caps come first.
    owner : int32 ((m - n) k + 2 n,)
        Written: the tube of each face.
    """
    rings = first[begin]
    v, e = (rings + 2 * begin) * sides, (2 * rings + begin) * sides
    c, f = (4 * (rings - begin) + 2 * begin) * sides, (rings - begin) * sides + 2 * begin
    for i in range(begin, end):
        rings = first[i + 1] - first[i]
        ring_edge = e
        for ring in range(rings + 2):
            for k in range(sides):
                edge[e, 0] = v + ring * sides + k
                edge[e, 1] = v + ring * sides + (k + 1 if k + 1 < sides else 0)
                e += 1
        along = e
        for ring in range(1, rings):
            for k in range(sides):
                edge[e, 0] = v + ring * sides + k
                edge[e, 1] = v + (ring + 1) * sides + k
                e += 1
        face[f] = c
        owner[f] = i
        f += 1
        for k in range(sides):
            turn = sides - 1 - k
            corner[c] = v + turn
            # A corner's edge leads on to the next corner.
            corner_edge[c] = ring_edge + (turn - 1 if turn > 0 else sides - 1)
            c += 1
        face[f] = c
        owner[f] = i
        f += 1
        for k in range(sides):
            corner[c] = v + (rings + 1) * sides + k
            corner_edge[c] = ring_edge + (rings + 1) * sides + k
            c += 1
        for ring in range(1, rings):
            for k in range(sides):
                n = k + 1 if k + 1 < sides else 0
                low, high = v + ring * sides, v + (ring + 1) * sides
                face[f] = c
                owner[f] = i
                f += 1
                corner[c], corner_edge[c] = low + k, ring_edge + ring * sides + k
                corner[c + 1], corner_edge[c + 1] = low + n, along + (ring - 1) * sides + n
                corner[c + 2], corner_edge[c + 2] = high + n, ring_edge + (ring + 1) * sides + k
                corner[c + 3], corner_edge[c + 3] = high + k, along + (ring - 1) * sides + k
                c += 4
        v += (rings + 2) * sides
