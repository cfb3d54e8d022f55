"""The comparison of two traces as one scene with a viewpoint for each finding."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....drawing.frame import Frame
from ....drawing.output import Output
from ....drawing.palettes import OTHER
from ....drawing.primitives import Boxes, Camera, Drawing, Lines, Tubes
from ....drawing.viewpoints import Viewpoint
from ....progress import Progress, part, silent
from ..findings.evidence import Finding
from ..findings.find import KINDS
from .aim import of_comparison, windows
from .explained import Explained
from .sentences import sentence
from .staging import Flags, Stage, Target, below, shares
from .tour import steps

#: Kinds of elements that matches are drawn as, and their twins that are context.
_MATCHES = ("tube", "line")
_GHOST = "context"
_FRAME = "callout"
_THINNER = 0.8
#: A viewpoint shows at least this share of the scene's width.
_NARROWEST = 0.2


def default_settings(story: Explained, walk: bool = False) -> dict[str, Any]:
    """Return the parameters of the comparison with the viewpoints, whose calls are framed.

    Parameters
    ----------
    story : Explained
    walk : bool
        For a tour along matches: nothing is framed but its calls.

    Returns
    -------
    dict
    """
    found: dict[str, Any] = {
        **of_comparison(story.comparison), "annotate": 0, "repeats": 0, "context": False,
    }  # fmt: skip
    framed = [
        f"{name}:{call}"
        for finding in story.findings.found
        if finding.kind not in ("pace", "alike")
        for name, call in zip("AB", finding.examples)
        if call >= 0
    ]
    if framed and not walk:
        found["mark"] = ", ".join(dict.fromkeys(framed))
    return found


def with_viewpoints(
    story: Explained, frame: Frame, walk: str = "", settings: dict[str, Any] | None = None,
    progress: Progress = silent,
) -> tuple[Drawing, list[Viewpoint]]:  # fmt: skip
    """Return the comparison with all that its viewpoints show, and the viewpoints.

    Parameters
    ----------
    story : Explained
    frame : Frame
    walk : str
        See :meth:`.story.Story.write`; empty: a stop for each finding.
    settings : dict, optional
        Parameters of the comparison; :func:`default_settings` if left out.
    progress : Progress

    Returns
    -------
    (Drawing, list of Viewpoint)
    """
    settings = default_settings(story, bool(walk)) if settings is None else settings
    stage = Stage.of(story, frame, settings, progress)
    if walk:
        targets = steps(story, stage, walk)
        # Drawn again, with the calls of the walk framed: matches have the same ids.
        called = [f"{n}:{c}" for step in targets for n, ids in zip("AB", step.calls) for c in ids.tolist()]
        stage = Stage.of(story, frame, {**settings, "mark": ", ".join(dict.fromkeys(called))}, progress)
    else:
        targets = [_target(story, stage, i) for i in range(len(story))]
    return _staged(stage, targets, targets[0].inside if walk else None)


def _target(story: Explained, stage: Stage, index: int) -> Target:
    finding = story[index]
    functions = [name for name in dict.fromkeys(finding.functions) if name]
    title = f"{index + 1}. {KINDS[finding.kind]}"
    calls = tuple(np.array([c] if c >= 0 else [], np.int64) for c in finding.examples)
    return Target(
        f"{title}: {', '.join(functions)}" if functions else title,
        sentence(finding).replace("`", ""),
        _matches(story, stage, finding),
        (calls[0], calls[1]),
        shares(story, windows(story.findings.evidence, finding)),
    )


def _matches(story: Explained, stage: Stage, finding: Finding) -> Flags:
    if finding.kind in ("pace", "alike"):
        return np.ones(len(stage.a), np.bool_)
    evidence = story.findings.evidence
    chosen = np.zeros(len(stage.a), np.bool_)
    if len(finding.nodes):
        inside = evidence.within(finding.nodes)
        for ids, of_call in zip((stage.a, stage.b), evidence.paths.of_call):
            chosen |= inside[of_call[ids]]
        return chosen
    for s, (ids, call) in enumerate(zip((stage.a, stage.b), finding.examples)):
        if call >= 0:
            chosen |= below(story, s, call, ids)
    return chosen


def _staged(
    stage: Stage, targets: Sequence[Target], without: Flags | None = None
) -> tuple[Drawing, list[Viewpoint]]:
    """Add what the viewpoints show to a drawing; return the viewpoints, the first with everything in colour.

    The matches ``without`` (m,) are no context: they would hide the coarser ones that they explain.
    """
    drawing = stage.drawing
    grey = len(drawing.palette)
    palette = np.concatenate([drawing.palette, (OTHER * np.array([1, 1, 1, 0.45], np.float32))[None]])
    matches = [e for e in drawing.elements if isinstance(e, (Tubes, Lines)) and e.kind in _MATCHES]
    frames = [e for e in drawing.elements if isinstance(e, Lines) and e.kind == _FRAME]
    # Frames are shown only at their viewpoints, whose captions name the calls.
    elements = [e for e in drawing.elements if e.kind not in (_FRAME, "tag")]
    labels = tuple(group for group in drawing.labels if group.kind != _FRAME)
    meaning = dict(drawing.meaning)
    for element in matches:
        context = _ghost(element, grey)
        meaning[context.kind] = drawing.meaning[element.kind]
        if without is not None:
            context = _only(context, ~without[context.id], context.kind)
        elements.append(context)
    viewpoints = [Viewpoint("Overview", drawing.title, None, _MATCHES)]
    for i, words in enumerate(targets, 1):
        shows = [f"{_FRAME} {i}"]
        for element in frames:
            chosen = np.isin(element.id, words.calls[element.source])
            elements.append(_only(element, chosen, shows[0]))
        if words.matches.all():
            shows += _MATCHES
        else:
            shows += [f"match {i}", *(f"{_GHOST} {kind}" for kind in _MATCHES)]
            elements += [_only(element, words.matches[element.id], f"match {i}") for element in matches]
            if "tube" in drawing.meaning:
                meaning[f"match {i}"] = drawing.meaning["tube"]
        viewpoints.append(Viewpoint(words.name, words.caption, _look(stage, words), tuple(shows)))
    kept = tuple(element for element in elements if len(element))
    return replace(drawing, palette=palette, elements=kept, labels=labels, meaning=meaning), viewpoints


def _ghost(element: Tubes | Lines, color: int) -> Tubes | Lines:
    """Return the twin of an element that is context: thinner, so that coloured ones cover it."""
    same: dict[str, Any] = {
        "kind": f"{_GHOST} {element.kind}",
        "color": np.full(len(element), color, np.int32),
        "look": "ghost",
    }
    if isinstance(element, Tubes):
        return replace(element, radius=(_THINNER * element.radius).astype(np.float32), **same)
    return replace(element, width=(_THINNER * element.width).astype(np.float32), **same)


def _only(element: Tubes | Lines, which: Flags, kind: str) -> Tubes | Lines:
    """Return some of an element's tubes or lines, as another kind."""
    rows = np.flatnonzero(which)
    length = np.diff(element.first)[rows]
    first = np.concatenate(([0], np.cumsum(length)))
    point = np.arange(int(first[-1])) + np.repeat(element.first[rows] - first[:-1], length)
    same: dict[str, Any] = {
        "kind": kind,
        "point": element.point[point],
        "first": first.astype(np.int64),
        "color": element.color[rows],
        "id": element.id[rows],
    }
    if isinstance(element, Tubes):
        return replace(element, radius=element.radius[point], **same)
    return replace(element, width=element.width[rows], **same)


def _look(stage: Stage, target: Target) -> Camera:
    """Return the camera of a viewpoint, which sees its time windows on its walls."""
    whole = stage.drawing.camera
    low, high = np.array(whole.low, np.float64), np.array(whole.high, np.float64)
    boxes = [e for e in stage.drawing.elements if isinstance(e, Boxes) and e.kind in ("call", "cluster")]
    about = [s for s in range(2) if len(target.calls[s])] or [0, 1]
    near, far = high.copy(), low.copy()
    for s in about:
        mine = [element for element in boxes if element.source == s]
        x0, x1 = _across(mine, target.spans[s])
        near[0], far[0] = min(near[0], x0), max(far[0], x1)
        for element in mine:
            end = element.low + element.size
            here = (end[:, 0] >= x0) & (element.low[:, 0] <= x1)
            if here.any():
                near[1:] = np.minimum(near[1:], element.low[here, 1:].min(axis=0))
                far[1:] = np.maximum(far[1:], end[here, 1:].max(axis=0))
    if not (far > near).all():
        return whole
    middle = (near[0] + far[0]) / 2
    half = max(far[0] - near[0], _NARROWEST * (high[0] - low[0])) / 2
    near[0], far[0] = max(middle - half, low[0]), min(middle + half, high[0])
    margin = 0.1 * (far[1] - near[1]) + 0.05
    near[1], far[1] = max(near[1] - margin, low[1]), min(far[1] + margin, high[1])
    return replace(whole, low=_vector(near), high=_vector(far))


def _vector(point: NDArray[np.float64]) -> tuple[float, float, float]:
    return float(point[0]), float(point[1]), float(point[2])


def _across(boxes: Sequence[Boxes], span: tuple[float, float] | None) -> tuple[float, float]:
    """Return from where to where along x a time window lies; all of the wall without one.

    Parameters
    ----------
    boxes : sequence of Boxes
        Of one wall; their ``time`` is a share of the trace that is drawn.
    span : (float, float) or None
        Shares of the trace.
    """
    low = min((float(e.low[:, 0].min()) for e in boxes if len(e)), default=0.0)
    high = max((float((e.low + e.size)[:, 0].max()) for e in boxes if len(e)), default=1.0)
    if span is None:
        return low, high
    return low + span[0] * (high - low), low + span[1] * (high - low)


def write_scene(
    story: Explained,
    path: str | os.PathLike[str],
    output: Output,
    walk: str = "",
    progress: Progress = silent,
) -> None:
    """Write the scene with its viewpoints as a .blend.

    Parameters
    ----------
    story : Explained
    path : path
        The .blend.
    output : Output
        Style, engine and size.
    walk : str
        See :meth:`.story.Story.write`.
    progress : Progress

    Raises
    ------
    UsageError
        If ``walk`` names no match.
    InputError, MissingDependency, Cancelled
    """
    from ....scene.output.produce import produce

    drawing, viewpoints = with_viewpoints(story, output.frame, walk, progress=part(progress, 0.0, 0.4))
    produce(drawing, path, output, viewpoints=viewpoints, progress=part(progress, 0.4, 1.0))
