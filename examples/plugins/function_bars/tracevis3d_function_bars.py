"""A view: which functions take time, and when. Bars along time, one row for each function.

Time runs along x in equal slices, functions stand behind each other, and a bar is as high as the self time of
the function's calls that start in its slice.
"""

from dataclasses import dataclass

import numpy as np

from tracevis3d.analysis.measures import self_time_of
from tracevis3d.command_line.arguments import load, reading
from tracevis3d.command_line.command import Command
from tracevis3d.command_line.terminal import Bar, table
from tracevis3d.drawing.builder import DrawingBuilder
from tracevis3d.drawing.palettes import BASE, PALETTES
from tracevis3d.drawing.primitives import Axis, Boxes, Camera, Labels, Legend, LegendEntry, Meaning
from tracevis3d.errors import InputError, UsageError
from tracevis3d.layout.ticks import time_ticks
from tracevis3d.parameters import parameter
from tracevis3d.units import duration
from tracevis3d.views.actions import Action, Change
from tracevis3d.views.calls.actions import with_actions
from tracevis3d.views.view import View

WIDTH, ROW, HIGHEST, TEXT = 16.0, 0.7, 5.0, 0.3


@dataclass(frozen=True)
class Parameters:
    """What can be set: ``--set``, Blender's panel, presets and the docs are made from this."""

    functions: int = parameter(12, "How many functions are shown, those that take most time", low=1, high=200)
    slices: int = parameter(80, "Into how many slices time is divided", low=1, high=2000)
    opening: float = parameter(
        1.0, "From the flat picture, seen from above (0), to bars in space (1)", low=0.0, high=1.0
    )


def sums(trace, functions, slices):
    """Return the chosen functions, the self time in each (function, slice), and the longest call of each."""
    own = self_time_of(trace).astype(np.float64)
    calls = trace.calls
    total = np.bincount(calls.function, own, len(trace.functions))
    chosen = np.argsort(-total, kind="stable")[:functions]
    row = np.full(len(total), -1)
    row[chosen] = np.arange(len(chosen))
    kept = np.flatnonzero(row[calls.function] >= 0)
    part = np.minimum(calls.start[kept] * slices // max(trace.span_ns, 1), slices - 1)
    cell = row[calls.function[kept]] * slices + part
    time = np.bincount(cell, own[kept], len(chosen) * slices)
    # Of calls in one cell the one with the most self time is written last.
    longest = np.full(len(time), -1, np.int64)
    order = np.argsort(own[kept], kind="stable")
    longest[cell[order]] = kept[order]
    return chosen, time, longest


def draw(traces, parameters, frame, progress):
    """Draw the bars of one trace."""
    (trace,) = traces
    p = parameters
    if not len(trace.calls):
        raise InputError(f"{trace.source.path or 'this trace'}: no calls are recorded in it")
    chosen, time, longest = sums(trace, p.functions, p.slices)
    shown = np.flatnonzero(time > 0)
    row, part = shown // p.slices, shown % p.slices

    drawing = DrawingBuilder()
    kinds = PALETTES["muted"].kinds
    first, ground = drawing.color(kinds), drawing.color(BASE)
    wide, most = WIDTH / p.slices, float(time.max())
    height = np.maximum(time[shown] / most * HIGHEST * p.opening, 0.02)
    low = np.stack([part * wide, row * ROW, np.zeros(len(shown))], axis=1)
    size = np.stack([np.full(len(shown), wide), np.full(len(shown), 0.8 * ROW), height], axis=1)
    color = (first + row % len(kinds)).astype(np.int32)
    drawing.add(Boxes("bar", low.astype(np.float32), size.astype(np.float32), color, np.arange(len(shown))))
    drawing.meaning["bar"] = Meaning(
        calls=((0, longest[shown]),), values=(("self time in the slice (ns)", time[shown]),)
    )
    rows = np.arange(len(chosen))
    plate = np.stack([np.zeros(len(rows)), rows * ROW, np.full(len(rows), -0.02)], axis=1)
    extent = np.tile([WIDTH, 0.8 * ROW, 0.02], (len(rows), 1))
    drawing.add(
        Boxes(
            "row", plate.astype(np.float32), extent.astype(np.float32),
            np.full(len(rows), ground, np.int32), rows,
        )
    )  # fmt: skip
    names = tuple(trace.functions.label[int(f)] for f in chosen)
    anchor = np.stack([np.full(len(rows), -0.15), (rows + 0.4) * ROW, np.zeros(len(rows))], axis=1)
    drawing.write(
        Labels(
            "function", names, anchor.astype(np.float32), np.full(len(rows), TEXT, np.float32),
            np.full(len(rows), 5.0, np.float32), np.arange(len(rows), 0, -1).astype(np.float32), align=1,
            up=(0.0, 1.0, 0.0),
        )
    )  # fmt: skip
    ticks = time_ticks(0, trace.span_ns, 9)
    places = tuple(at / trace.span_ns * WIDTH for at in ticks.at)
    drawing.measure(
        Axis(
            (0.0, 0.0, 0.0), (1.0, 0.0, 0.0), WIDTH, places, ticks.text, title=f"Time ({ticks.unit})",
            outward=(0.0, -1.0, 0.0), height=TEXT,
        )
    )  # fmt: skip
    drawing.explain(
        Legend("Height", (LegendEntry(f"self time; the highest bar is {duration(most)}", first),))
    )
    drawing.note(f"{len(chosen):,} of {len(trace.functions):,} functions", trace.problems.note())
    camera = Camera(
        (0.0, -p.opening, 1.0), (-5.0, -1.2, 0.0), (WIDTH, len(rows) * ROW, HIGHEST * p.opening),
        up=(0.0, 1.0, 0.0) if p.opening == 0 else (0.0, 0.0, 1.0),
    )  # fmt: skip
    busiest = f"{names[0]} takes {duration(float(time[: p.slices].sum()))}"
    return drawing.finish(camera, f"{trace.source.name}: {busiest} of {duration(trace.span_ns)}")


def more(state):
    """Show twice as many functions."""
    return Change({"functions": min(2 * state.parameters["functions"], 200)})


def add_busiest(parser):
    """Declare the arguments of the command ``tracevis3d busiest``."""
    parser.add_argument("trace", metavar="TRACE")
    parser.add_argument("--most", type=int, default=10, metavar="N", help="list so many (default 10)")
    reading(parser)


def busiest(words):
    """List the functions that take most time, with their self time."""
    if words.most < 1:
        raise UsageError(f"--most {words.most} is not 1 or more")
    with Bar(words.quiet) as bar:
        trace = load(words.trace, words, bar)
    chosen, time, _ = sums(trace, words.most, 1)
    print(table([(trace.functions.label[int(f)], duration(float(t))) for f, t in zip(chosen, time)]))


VIEW = View(
    name="function_bars",
    title="Function Bars",
    sentence="Which functions take time, and when: a row of bars for each function",
    traces=(1, 1),
    parameters=Parameters,
    draw=draw,
    actions=with_actions(
        Action(
            "more_functions", "More Functions", "Show twice as many functions", more, icon="ADD", about="view"
        )
    ),
    commands=(Command("busiest", "list the functions that take most time", add_busiest, busiest),),
    icon="SEQ_HISTOGRAM",
)
