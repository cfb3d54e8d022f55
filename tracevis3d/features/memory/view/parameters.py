"""The parameters of the view memory."""

from __future__ import annotations

from dataclasses import dataclass

from ....parameters import parameter
from ....views import common_parameters

_ORDERS = {
    "site": "by call site; packed: places of freed memory are reused, so the axis shows live bytes",
    "creation": "in the order of their creation, all that is ever allocated side by side, as in Memcov Viz",
    "lifetime": "by their end, then their beginning: blocks with the same lifetime lie together",
    "address": "by address; unused stretches are left out",
    "fit": "packed all together: each block in the first place that is free when it is allocated",
}


@dataclass(frozen=True)
class Parameters:
    """Parameters of the view ``memory``."""

    order: str = parameter("site", "How blocks lie side by side", choices=_ORDERS, group="Data")
    before: str = parameter(
        "creation", "The order that ``regroup`` comes from", choices=_ORDERS, group="Data"
    )
    regroup: float = parameter(
        1.0,
        "How far blocks have moved from the order ``before`` (0) to ``order`` (1), for films; blocks drawn "
        "alone slide to their new places, merged ones sink and rise",
        low=0.0, high=1.0, group="Data",
    )  # fmt: skip
    height: str = parameter(
        "age",
        "What the height shows",
        choices={
            "age": "time since the last access (since the allocation, if no accesses are recorded)",
            "size": "live bytes, on a square-root scale",
            "access": "allocations and accesses, on a logarithmic scale",
        },
        group="Data",
    )
    color: str = parameter(
        "site",
        "What the colour shows",
        choices={
            "site": "the call sites that allocate most",
            "thread": "the thread that allocates",
            "cohort": "the largest groups of blocks that live from about the same moment to the same moment",
            "turn": "nothing: alternately blue and green, as in Memcov Viz",
            "none": "nothing: all alike",
        },
        group="Data",
    )
    width: str = parameter(
        "bytes",
        "What the width shows; not for order=address, where it is always bytes",
        choices={"bytes": "its bytes", "sqrt": "the square root of bytes", "log": "the logarithm of bytes"},
        group="Data",
    )
    sites: str = parameter(
        "", "Only blocks of call sites whose name contains one of these texts, with commas between them",
        group="Data",
    )  # fmt: skip
    start: str = parameter("", "Where the window begins, such as 1.5s or 20 (in ms)", group="Window")
    end: str = parameter("", "Where the window ends", group="Window")
    left: float = parameter(
        0.0, "Where the picture begins, as a share of the bytes", low=0.0, high=1.0, group="Window"
    )
    right: float = parameter(
        1.0, "Where the picture ends, as a share of the bytes", low=0.0, high=1.0, group="Window"
    )
    resolution: float = common_parameters.resolution(
        3.0, "Narrower blocks are merged until they have this width", 0.25, 100.0
    )
    recent: float = parameter(
        0.05, "How long a touched block counts as accessed, as a share of the recording", low=0.0001,
        high=1.0, group="Detail",
    )  # fmt: skip
    merged: str = parameter(
        "kind",
        "The colour of merged blocks",
        choices={"kind": "that of their kind, if all are of one; else grey", "grey": "always grey"},
        group="Detail",
    )
    curves: bool = parameter(
        True, "Draw live bytes, allocations and the idle share along time, on the wall", group="Detail"
    )
    footprint: float = parameter(
        0.02,
        "Shade the ground of blocks with at least this share of the bytes all the time, also while they "
        "are not allocated; only where blocks are not packed. 0: none, not even in the flat picture",
        low=0.0, high=1.0, group="Detail",
    )  # fmt: skip
    finding: int = parameter(
        0, "The number of the one finding that the picture is about: its blocks alone have a colour, and its "
        "time alone is shown; 0: none", low=0, high=10_000, group="Detail",
    )  # fmt: skip
    findings: int = parameter(
        3, "The maximum number of findings marked (leaks, forgotten memory, saw-teeth, churn ...)", low=0,
        high=20, group="Detail",
    )  # fmt: skip
    labels: int = common_parameters.labels(40, "The maximum number of call site names", 500)
    entries: int = common_parameters.entries(4)
    opening: float = parameter(
        1.0,
        "From the flat picture seen from above (0) to the terrain (1)",
        low=0.0,
        high=1.0,
        group="Shape",
        in_style={"flat": 0.0},
    )
    relief: float = parameter(1.0, "How high the terrain is", low=0.0, high=4.0, group="Shape")
    turn: float = common_parameters.turn(5.0, 60.0)
    tilt: float = common_parameters.tilt(32.0, 5.0, 90.0)
    palette: str = common_parameters.palette()
