"""Texts of a fan: which trace each wall shows, and the ruler of time at the front."""

from __future__ import annotations

import numpy as np

from .... import units
from ....drawing.primitives import Axis, Labels
from ....trace import profile
from ....views.calls.ruler_ticks import ruler_ticks
from ....views.time_window import WIDTH
from .stage import MARGIN, Stage


def fan_names(stage: Stage) -> list[Labels]:
    """Return the names of the traces beside their walls, which are the names of the matrix' rows as well."""
    n, text = len(stage.walls), stage.text
    step = min(1.3 * text, 0.5 * stage.floor.pitch)
    made = []
    for words, height, shift, rank in (
        ([f"{letter}  {name}" for letter, name in zip(stage.letters, stage.names)], 1.2 * text, 0.5, 1e9),
        ([_facts(stage, k) for k in range(n)], 0.9 * text, -0.5, 1e6),
    ):
        anchor = np.zeros((n, 3), np.float32)
        anchor[:, 0] = WIDTH + MARGIN
        anchor[:, 1] = stage.floor.row + shift * step
        height = min(height, 0.9 * step)
        made.append(
            Labels(
                "trace",
                tuple(words),
                anchor,
                np.full(n, height, np.float32),
                np.full(n, stage.floor.left - WIDTH - MARGIN, np.float32),
                np.full(n, rank, np.float32),
                align=-1,
                up=(0.0, 1.0, 0.0),
            )
        )
    return made


def _facts(stage: Stage, k: int) -> str:
    wall = stage.walls[k]
    if profile.untimed_kind(wall.trace):
        return profile.amount(wall.trace)
    calls = profile.counted_calls(wall.trace, len(wall.trace.calls))
    lasts = f"{units.duration(wall.window[1] - wall.window[0])}, "
    return calls if profile.length_kind(wall.trace) else lasts + calls


def fan_ruler(stage: Stage) -> Axis:
    """Return the ruler at the front: time from the start of each window, or its share where scales differ."""
    longest = max(stage.walls, key=lambda w: w.width)
    length = longest.width
    found, what = ruler_ticks(longest.trace, (0, longest.window[1] - longest.window[0]), 10)
    if stage.same_scale:
        at = tuple(t * longest.per_ns for t in found.at)
        minor = tuple(t * longest.per_ns for t in found.minor)
        unit = f" in {found.unit}" if found.unit else ""
        text, title = found.text, f"{what}{unit} from the start of each"
    else:
        at, minor = tuple(length * k / 4 for k in range(5)), ()
        text, title = ("0", "25 %", "50 %", "75 %", "100 %"), f"share of each trace's {what}"
    return Axis(
        origin=(0.0, -0.6 * stage.text, 0.0),
        direction=(1.0, 0.0, 0.0),
        length=length,
        tick=at,
        text=text,
        minor=minor,
        title=title,
        outward=(0.0, -1.0, 0.0),
        height=stage.text,
    )
