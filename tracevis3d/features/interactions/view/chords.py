"""Calls between elements as bundled tubes, and as the flat picture of a whole window."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase

import numpy as np
from numpy.typing import NDArray

from ....drawing.frame import Frame
from ....drawing.primitives import Image, Tubes
from ....errors import UsageError
from ....kernels.interactions.chord_image import draw_darkest
from ....layout.bundle import bundle
from ....trace.names import lane_title
from ....units import percentage
from .layout import Drum, Floats, Ints, Layout
from .parameters import Parameters
from .radial import control_points, petals

#: Points of a route.
SAMPLES = 48
#: Radius in scene units of the thickest tube and of the thinnest, and how much of it the callee's end has.
THICKEST, THINNEST, TAPER = 0.085, 0.008, 0.35
OUTLIER = 0.04
#: How far the uppermost of flat tubes lies above the lowest.
_ABOVE = 0.8
#: How much of the width of an edge in an image the tube behind it has, and how far behind it is at least.
_INSIDE, _BEHIND = 0.8, 0.1
#: Share of all calls that threads make of which is said how much of them is shown; threads named at most.
_OF_ALL, _NAMED = 0.01, 3


@dataclass(frozen=True, eq=False)
class Chosen:
    """The calls between elements that are drawn: one row for a pair in a slice of time.

    Attributes
    ----------
    pair : int32 (n,)
    count : int64 (n,)
        Calls that each represents.
    place : float64 (n,)
        Their middle along the axis, 0 to 1.
    call : int64 (n,)
        The first of them, in ``Trace.calls``.
    calls, of : int
        Calls that the drawn ones represent, and all in the window.
    rows : int
        How many there were to choose from.
    covered : bool (window,) or (0,)
        Which calls of the window they represent.
    """

    pair: NDArray[np.int32]
    count: Ints
    place: Floats
    call: Ints
    calls: int
    of: int
    rows: int
    covered: NDArray[np.bool_] = field(default_factory=lambda: np.empty(0, np.bool_))

    def __len__(self) -> int:
        return len(self.pair)

    def only(self, which: NDArray[np.bool_]) -> Chosen:
        """Return the rows ``which`` (n,)."""
        return replace(
            self,
            pair=self.pair[which],
            count=self.count[which],
            place=self.place[which],
            call=self.call[which],
        )


def choose(drum: Drum, p: Parameters, first_of_all: NDArray[np.bool_] | None = None) -> Chosen:
    """Sum the calls of each slice by pair, and choose those that are drawn.

    ``first_of_all``: pairs (pairs,) that are drawn in any case.

    Parameters
    ----------
    drum : Drum
    p : Parameters
        ``slices`` says into how many the window is cut.
    first_of_all : bool (pairs,), optional
        None: the busiest alone.

    Returns
    -------
    Chosen
    """
    found, n = drum.found, drum.high - drum.low
    pair = found.pair[drum.low : drum.high]
    slice_ = np.minimum((drum.place * p.slices).astype(np.int64), p.slices - 1)
    code = slice_ * max(found.pairs, 1) + pair
    size = p.slices * max(found.pairs, 1)
    count = np.bincount(code, minlength=size)
    where = np.bincount(code, drum.place, minlength=size)
    first = np.zeros(size, np.int64)
    first[code[::-1]] = np.arange(n - 1, -1, -1)
    own = np.tile(found.caller == found.callee, p.slices) if found.pairs else np.zeros(size, np.bool_)
    rows = np.flatnonzero((count > 0) & (p.own | ~own))
    of_pair = rows % max(found.pairs, 1)
    # Each pair's busiest slice comes before any pair's second one.
    order = np.lexsort((rows, -count[rows]))
    _, peak = np.unique(of_pair[order], return_index=True)
    is_peak = np.zeros(len(rows), np.bool_)
    is_peak[order[peak]] = True
    wanted = first_of_all[of_pair] if first_of_all is not None else np.zeros(len(rows), np.bool_)
    most = max(p.calls, int(wanted.sum()))
    chosen = rows[np.lexsort((rows, -count[rows], ~is_peak, ~wanted))][:most]
    chosen.sort()
    is_chosen = np.zeros(size, np.bool_)
    is_chosen[chosen] = True
    return Chosen(
        (chosen % max(found.pairs, 1)).astype(np.int32),
        count[chosen],
        where[chosen] / np.maximum(count[chosen], 1),
        found.call[drum.low + first[chosen]] if n else np.empty(0, np.int64),
        int(count[chosen].sum()),
        int(count[rows].sum()),
        len(rows),
        is_chosen[code],
    )


def less_of_threads(drum: Drum, every: Chosen, least: float, p: Parameters) -> list[str]:
    """Say of which threads tubes show a smaller share of the calls: threads that make a hundredth of all.

    Parameters
    ----------
    drum : Drum
    every : Chosen
        What is drawn.
    least : float
        The share that tubes are to show.
    p : Parameters
        ``own`` says whether calls within an element count.

    Returns
    -------
    list of str
        One sentence at most.
    """
    found = drum.found
    counts = p.own | (found.caller != found.callee)[found.pair[drum.low : drum.high]]
    thread = drum.trace.calls.thread[found.call[drum.low : drum.high]][counts]
    all_of = np.bincount(thread)
    shown = np.bincount(thread, every.covered[counts], len(all_of))
    few = np.flatnonzero((all_of > 0) & (all_of >= _OF_ALL * len(thread)) & (shown < least * all_of))
    if len(few) == 0 or np.count_nonzero(all_of) < 2:
        return []
    few = few[np.argsort(-all_of[few], kind="stable")]
    named = [
        f"{lane_title(drum.trace, int(t))} {percentage(float(shown[t] / all_of[t]))}" for t in few[:_NAMED]
    ]
    more = f" and {len(few) - _NAMED} more threads" if len(few) > _NAMED else ""
    return [f"tubes show less of the {p.relation} of {', '.join(named)}{more}"]


def below_bundles(
    picture: Layout, drum: Drum, color: NDArray[np.int32], p: Parameters
) -> tuple[Chosen, Tubes]:
    """Return tubes for pointing at the edges of an image of bundles: it covers them.

    Parameters
    ----------
    picture : Layout
    drum : Drum
    color : int32 (2, pairs)
        Palette indices at the caller's and the callee's end of each pair.
    p : Parameters

    Returns
    -------
    (Chosen, Tubes)
        One row for each pair that is drawn, and its tube.
    """
    every = choose(drum, replace(p, slices=1, calls=max(drum.found.pairs, 1)))
    most = max(int(d.counts.max(initial=0)) for d in picture.drums)
    radius = _INSIDE * radii(every.count, most, p)
    made = tubes(picture, drum, every, radius, (color[0, every.pair], color[1, every.pair]), "interaction", p)
    behind = np.array(picture.camera.direction) * -(_ABOVE + _BEHIND)
    return every, replace(made, point=(made.point + behind).astype(np.float32))


def pulled(picture: Layout, drum: Drum, p: Parameters) -> NDArray[np.bool_]:
    """Return which pairs are to be pulled out of their bundles, bool (pairs,).

    Parameters
    ----------
    picture : Layout
    drum : Drum
    p : Parameters
        ``pull`` names them.

    Returns
    -------
    bool (pairs,)

    Raises
    ------
    UsageError
        If no pair of elements is called so.
    """
    found, h = drum.found, picture.hierarchy
    which = np.zeros(found.pairs, np.bool_)
    names = [h.name[i] for i in h.node.tolist()]
    for word in filter(None, (word.strip() for word in p.pull.split(","))):
        ends = [side.strip() for side in word.split(">")]
        if len(ends) != 2 or not all(ends):
            raise UsageError(
                f"pull={p.pull}: caller > callee is expected, such as 'Window > Log' or '* > Log'"
            )
        callers, callees = (np.array([fnmatchcase(name, end) for name in names]) for end in ends)
        hits = callers[found.caller] & callees[found.callee] if found.pairs else which
        if not hits.any() and len(picture.drums) == 1:
            raise UsageError(f"pull={p.pull}: no element {ends[0]!r} calls an element {ends[1]!r}")
        which |= hits
    return which


def routes(picture: Layout, drum: Drum, p: Parameters, straight: bool = False) -> tuple[Floats, Floats]:
    """Return the curve of each pair in the closed drum's cross-section, (pairs, samples, 2), and its ends.

    Where ``straight`` they are not bundled.

    Parameters
    ----------
    picture : Layout
    drum : Drum
    p : Parameters
        ``beta`` says how closely they follow the hierarchy.
    straight : bool
        Whether they go straight.

    Returns
    -------
    (float64 (pairs, samples, 2), float64 (pairs, 2))
    """
    h, sectors, found = picture.hierarchy, picture.sectors, drum.found
    radius = drum.bend.radius
    middle = sectors.middle
    point = control_points(h.parent, h.element, middle, radius)
    a, b = h.node[found.caller], h.node[found.callee]
    ends = np.stack([middle[a], middle[b]], axis=1) if found.pairs else np.empty((0, 2))
    curve = np.empty((found.pairs, SAMPLES, 2))
    apart = a != b
    if apart.any():
        way = bundle(
            h.parent, point, a[apart], b[apart], beta=0.0 if straight else p.beta,
            drop_common=not p.common, samples=SAMPLES,
        )  # fmt: skip
        curve[apart] = way.point.reshape(-1, SAMPLES, 3)[..., :2]
    if not apart.all():
        own = a[~apart]
        width = 0.7 * (sectors.high - sectors.low)[own]
        curve[~apart] = petals(middle[own], width, radius, SAMPLES)
        ends[~apart] = np.stack([middle[own] - width / 2, middle[own] + width / 2], axis=1)
    return curve, ends


def radii(count: Ints, most: int, p: Parameters, least: float = THINNEST) -> Floats:
    """Return the radius at the caller's end, by the number of calls.

    ``most`` has the greatest radius.

    Parameters
    ----------
    count : int64 (n,)
        Calls.
    most : int
        The largest number.
    p : Parameters
        ``thickness`` scales all, ``proportion`` says what of a tube is in proportion to the calls.
    least : float
        The least radius that is seen, in scene units.

    Returns
    -------
    float64 (n,)
        Scene units.
    """
    exponent = 0.5 if p.proportion == "area" else 1.0
    thick = THICKEST * p.thickness * (count / float(max(most, 1))) ** exponent
    return np.asarray(np.maximum(thick, max(least, THINNEST) if p.thickness > 0 else 0.0))


def opacities(curve: Floats, p: Parameters) -> Floats:
    """Return how much each of ``curve`` (n, samples, 2) covers: the longer, the less (Holten 2006, 4.2).

    That of the longest one is ``1 - fade``.

    Parameters
    ----------
    curve : float64 (n, samples, 2)
        In the drum's cross-section.
    p : Parameters
        ``fade`` says how far.

    Returns
    -------
    float64 (n,)
        0 to 1.
    """
    length = np.linalg.norm(np.diff(curve, axis=1), axis=2).sum(axis=1)
    return np.asarray(1.0 - p.fade * np.minimum(length / max(float(length.max(initial=0.0)), 1e-9), 1.0))


def tubes(
    picture: Layout,
    drum: Drum,
    chosen: Chosen,
    radius: Floats,
    colors: tuple[NDArray[np.int32], NDArray[np.int32]],
    kind: str,
    p: Parameters,
    straight: bool = False,
) -> Tubes:
    """Return the tubes of ``chosen`` with radii at the caller's end and colours of both ends.

    Parameters
    ----------
    picture : Layout
    drum : Drum
    chosen : Chosen
        The pairs, slice by slice.
    radius : float64 (n,)
        At the caller's end.
    colors : (int32 (n,), int32 (n,))
        At the caller's end and at the callee's.
    kind : str
        What the tubes are called.
    p : Parameters
    straight : bool
        Whether they are not bundled.

    Returns
    -------
    Tubes
    """
    curve, ends = routes(picture, drum, p, straight)
    bend, n = drum.bend, len(chosen)
    flat = bend.chords(curve[chosen.pair], ends[chosen.pair])
    # Opposite directions lie on either side of their slice's middle.
    found = drum.found
    side = np.sign(found.callee[chosen.pair].astype(np.int64) - found.caller[chosen.pair])
    t = chosen.place + side * (0.5 * p.apart / p.slices)
    point = bend.space(flat, np.repeat(np.clip(t, 0, 1)[:, None], SAMPLES, axis=1))
    if bend.length <= 0 and n:
        # Nothing lies apart in time: short ones above long ones.
        rank = np.argsort(np.argsort(opacities(curve, replace(p, fade=1.0))[chosen.pair], kind="stable"))
        point = point + np.multiply.outer(_ABOVE * rank / n, np.array(picture.camera.direction))[:, None]
    taper = np.linspace(1.0, TAPER, SAMPLES)
    width = (radius[:, None] * taper).reshape(-1, 1)
    return Tubes(
        kind,
        point.reshape(-1, 3).astype(np.float32),
        np.repeat(width, 2, axis=1).astype(np.float32),
        np.arange(n + 1, dtype=np.int64) * SAMPLES,
        colors[0],
        np.arange(n, dtype=np.int64),
        side=(0.0, 0.0, 0.0),
        end_color=colors[1],
        time=np.clip(chosen.place, 0, 1).astype(np.float32),
        source=drum.source,
    )


def flat_bundles(
    picture: Layout,
    drum: Drum,
    colors: tuple[NDArray[np.float32], NDArray[np.float32]],
    p: Parameters,
    frame: Frame,
) -> Image:
    """Return the Hierarchical Edge Bundles of the window as an image, drawn with the blending of the paper.

    Parameters
    ----------
    picture : Layout
    drum : Drum
    colors : float32 (pairs, 3), (pairs, 3)
        sRGB, 0 to 1, at the caller's and the callee's end of each pair.
    p : Parameters
    frame : Frame
        Of the picture: how fine the image is.

    Returns
    -------
    Image
    """
    curve, _ = routes(picture, drum, p)
    radius = drum.bend.radius
    side = int(min(max(0.8 * frame.height, 128), 1400))
    shown = np.flatnonzero((drum.counts > 0) & (p.own | (drum.found.caller != drum.found.callee)))
    shown = shown[np.argsort(drum.counts[shown], kind="stable")]
    reach = 1.01 * radius
    x, y = curve[shown][..., 0], curve[shown][..., 1]
    pixel = np.stack([(x + reach) * side / (2 * reach), (reach - y) * side / (2 * reach)], axis=-1)
    most = max(int(d.counts.max(initial=0)) for d in picture.drums)
    width = 2 * radii(drum.counts[shown], most, p) * side / (2 * reach)
    color = np.stack([c[shown] for c in colors], axis=1) * 255
    opacity = opacities(curve[shown], p)
    image = np.full((side, side, 4), 255, np.uint8)
    image[..., 3] = 0
    draw_darkest(
        np.ascontiguousarray(pixel.reshape(-1, 2), np.float32),
        np.arange(len(shown) + 1, dtype=np.int64) * SAMPLES,
        width.astype(np.float32),
        np.ascontiguousarray(color, np.float32),
        opacity.astype(np.float32),
        image,
    )
    # It was drawn on white: the colours alone, as alpha says how much is covered.
    alpha = image[..., 3:4].astype(np.float32) / 255
    alone = (image[..., :3].astype(np.float32) - 255 * (1 - alpha)) / np.maximum(alpha, 1e-3)
    image[..., :3] = np.clip(np.rint(alone), 0, 255).astype(np.uint8)
    grid = (np.arange(side) + 0.5) / side * 2 * reach - reach
    place = np.stack(np.meshgrid(grid, -grid), axis=-1)
    turn = drum.bend.roll
    c, s = np.cos(turn), np.sin(turn)
    return Image(
        "bundles",
        drum.bend.space(place @ np.array([[c, s], [-s, c]]), np.zeros(place.shape[:2])).astype(np.float32),
        image,
        source=drum.source,
    )
