"""The parameters of the view tracks."""

from __future__ import annotations

from dataclasses import dataclass

from ....parameters import parameter
from ....views import common_parameters


@dataclass(frozen=True)
class Parameters:
    """Parameters of the view ``tracks``."""

    form: str = parameter(
        "wall",
        "What is built of the series",
        choices={
            "wall": "strips along time, one for each track",
            "tube": "a polygon swept along time, with a corner for each thread (or module, or counter): it "
            "bends towards what is loaded most",
            "mural": "all calls at once: each moment a column, each depth a row, as dark as calls take of it",
            "path": "two series against each other, with time as the third axis: a phase portrait",
        },
        group="Data",
    )
    tracks: str = parameter(
        "auto",
        "Tracks to draw: 'auto' (what varies), 'all', or names with commas between them: running, waits, io, "
        "memory, allocations, calls, modules, depth, or names of counters; * for anything",
        group="Data",
    )
    spokes: str = parameter(
        "auto",
        "What the corners of the tube stand for",
        choices={
            "auto": "threads if there are three or more that run, else modules",
            "threads": "the share of time in which each thread runs",
            "modules": "the share of time in which each module runs",
            "waits": "how many threads wait, by what they do",
            "tracks": "each track, in proportion to its highest value",
        },
        group="Data",
    )
    start: str = common_parameters.window_start()
    end: str = common_parameters.window_end()
    resolution: float = common_parameters.resolution(
        4.0, "Width of a cell of time: series are averaged in it", 0.5, 200.0
    )
    strips: str = parameter(
        "bands",
        "How strips of the wall show their value",
        choices={
            "bands": "in full height, one band upon the other",
            "horizon": "folded into layers, darker and further out the higher: strips need little room",
        },
        group="Detail",
    )
    layers: int = parameter(
        3, "Into how many layers a horizon strip is folded", low=2, high=6, group="Detail"
    )
    peaks: bool = parameter(
        True, "Also show the highest value within each cell, where it exceeds the mean", group="Detail"
    )
    findings: int = parameter(3, "The maximum number of findings marked", low=0, high=10, group="Detail")
    opening: float = parameter(
        1.0, "From the flat picture (0) to the full 3D one (1)", low=0.0, high=1.0, group="Shape"
    )
    recede: float = parameter(
        1.0, "How far the strips of the wall step back", low=0.0, high=3.0, group="Shape"
    )
    bend: float = parameter(
        0.6, "How far the tube bends towards what is loaded most", low=0.0, high=2.0, group="Shape"
    )
    roll: float = parameter(
        0.0,
        "How far the tube is turned about its axis",
        low=-180.0,
        high=180.0,
        unit="degrees",
        group="Shape",
    )
    turn: float = common_parameters.turn(-10.0, group="Look")
    tilt: float = common_parameters.tilt(26.0, -20.0, 85.0, group="Look")
    palette: str = common_parameters.palette()
