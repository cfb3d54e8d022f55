"""The parameters of the view interactions, declared once."""

from __future__ import annotations

from dataclasses import dataclass

from ....parameters import parameter
from ....views import common_parameters
from ..phases import LEAST

#: Values of a parameter ``palette``.
PALETTES = {
    "safe": "from blue at the caller to orange at the callee, safe with any colour vision",
    "paper": "from green at the caller to red at the callee, as in the paper",
}


@dataclass(frozen=True)
class Parameters:
    """Parameters of the view ``interactions``."""

    level: str = parameter(
        "auto", "Which elements call each other", group="Data",
        choices={
            "auto": "classes; modules if there are over 150, functions if there are fewer than 8 modules",
            "function": "functions",
            "class": "classes, and modules for functions outside of classes",
            "module": "modules",
        },
    )  # fmt: skip
    relation: str = parameter(
        "calls", "Which interactions between elements are drawn", group="Data",
        choices={
            "calls": "calls",
            "flows": "recorded flows: what one call triggers in another, such as a task in another thread",
        },
    )  # fmt: skip
    hierarchy: str = parameter(
        "auto", "What contains the elements", group="Data",
        choices={
            "auto": "packages, or folders where no packages are known",
            "packages": "packages, modules and classes",
            "folders": "the folders of the source files",
            "threads": "processes and threads",
        },
    )  # fmt: skip
    elements: int = parameter(
        400, "The maximum number of elements: beyond it, those called least are merged into their containers",
        low=2, high=2000, group="Data",
    )  # fmt: skip
    order: str = parameter(
        "short", "Order of elements in their containers", group="Data",
        choices={
            "short": "so that calls cover short distances",
            "layers": "from callers to callees, as far as there is such an order",
            "recorded": "as they are first mentioned",
            "name": "by name",
        },
    )  # fmt: skip
    color: str = parameter(
        "auto", "What the colour of calls shows", group="Data",
        choices={
            "direction": "from caller to callee",
            "time": "when they happen in the window",
            "layers": "whether they go against the layers that most calls follow",
            "difference": "of two traces, which calls only one of them makes, or makes more often",
            "auto": "difference where there are two traces, otherwise direction",
        },
    )  # fmt: skip
    own: bool = parameter(True, "Draw calls within an element, too, as small loops", group="Data")
    start: str = common_parameters.window_start()
    end: str = common_parameters.window_end()
    axis: str = parameter(
        "calls", "What the drum's axis counts", group="Window",
        choices={"calls": "calls in order, all with the same length", "time": "time"},
    )  # fmt: skip
    mark: str = parameter("", "Mark a time range and its repetitions, such as 12ms..15ms", group="Window")
    similarity: float = parameter(
        0.8,
        "Share of its calls that a repetition of the marked range must have",
        low=0.05,
        high=1.0,
        group="Window",
    )
    phases: float = parameter(
        100 * LEAST, "Part of the variation that the cut between two phases explains: smaller finds more; "
        "0: none", low=0.0, high=100.0, unit="%", group="Window",
    )  # fmt: skip
    unroll: float = parameter(
        0.7, "From the closed drum (0) to the Massive Sequence View (1)", low=0.0, high=1.0, group="Shape"
    )
    opening: float = parameter(
        1.0, "From the flat picture (0) to the full 3D picture (1); the flat picture of a closed drum "
        "is that "
        "of the Hierarchical Edge Bundles of the whole window", low=0.0, high=1.0, group="Shape",
    )  # fmt: skip
    direction: str = parameter(
        "auto", "Where time goes", group="Shape",
        choices={
            "auto": "to the right; down where the picture is flat and unrolled, as in the paper",
            "right": "to the right",
            "down": "down",
        },
    )  # fmt: skip
    beta: float = parameter(
        0.8, "Bundling strength: 0 straight, 1 along the hierarchy", low=0.0, high=1.0, group="Bundles"
    )
    common: bool = parameter(False, "Lead bundles through the lowest common ancestor too", group="Bundles")
    pull: str = parameter(
        "", "Pull calls out of their bundles: names of caller and callee with > between, * for anything, "
        "several with commas between; they are drawn straight and stand out", group="Bundles",
    )  # fmt: skip
    slices: int = parameter(
        48, "Number of slices of the window; in each, the calls of one pair of elements are drawn as one",
        low=1, high=1000, group="Bundles",
    )  # fmt: skip
    calls: int = parameter(
        900, "The maximum number of tubes: each pair of elements gets one before any gets two",
        low=0, high=100_000, group="Bundles",
    )  # fmt: skip
    thickness: float = parameter(1.0, "Thickness of the most frequent", low=0.0, high=5.0, group="Bundles")
    proportion: str = parameter(
        "area", "Which measure of a tube or bundle is proportional to the number of calls", group="Bundles",
        choices={
            "area": "the section's area: the thickness is the square root",
            "thickness": "the thickness: few calls are thinner, and large numbers distinguished more exactly",
        },
    )  # fmt: skip
    apart: float = parameter(
        0.35, "How far opposite directions lie apart, in slices", low=0.0, high=1.0, group="Bundles"
    )
    blend: str = parameter(
        "darkest", "How bundles in the flat picture meet", group="Bundles",
        choices={
            "darkest": "the lesser of both in each colour channel",
            "over": "the later over the earlier",
        },
    )  # fmt: skip
    fade: float = parameter(
        0.0, "How much paler long calls are than short ones, which lie above them in the flat picture",
        low=0.0, high=1.0, group="Bundles",
    )  # fmt: skip
    mantle: str = parameter(
        "inside", "Which part of the mantle shows the sequence", group="Sequence",
        choices={"inside": "where the camera sees its inner side", "whole": "all of it", "none": "nothing"},
    )  # fmt: skip
    power: float = parameter(
        -1.0, "Contribution power p: below 0 rare calls count more, 0 is linear antialiasing",
        low=-5.0, high=5.0, group="Sequence",
    )  # fmt: skip
    window: int = parameter(
        25,
        "How many calls around a call are counted to find out how rare it is",
        low=1,
        high=1001,
        group="Sequence",
    )
    contrast: float = parameter(
        0.6, "Exponent of a call's coverage of a row in the 3D picture; 1 is exact, as in the flat picture",
        low=0.2, high=1.0, group="Sequence",
    )  # fmt: skip
    outliers: int = parameter(
        3, "The maximum number of rare interactions marked; three are named by callouts, more by the legend",
        low=0, high=100, group="Sequence",
    )  # fmt: skip
    labels: int = common_parameters.labels(
        60, "The maximum number of names of elements and containers", 1000, group="Look"
    )
    relief: float = parameter(
        1.0, "Height of the ring's sectors, which shows how often an element calls or is called",
        low=0.0, high=3.0, group="Look",
    )  # fmt: skip
    turn: float = common_parameters.turn(20.0, side="left", group="Look")
    tilt: float = common_parameters.tilt(18.0, -20.0, 85.0, group="Look")
    palette: str = parameter("safe", "The colours of direction", choices=PALETTES, group="Look")
