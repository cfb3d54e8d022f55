"""The parameters of the view compare, declared once."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ....parameters import parameter
from ....views import common_parameters
from ..matching import defaults
from ..matching.many_traces import CELLS
from .matches import MATCHES

#: Values of a parameter ``color``.
COLORS = {
    "group": "by group of matches, the ones that take most time in colours of their own",
    "permutation": "how far apart in time the two calls start: grey if together, red if far",
    "position": "when the match happens within its group, seen from the trace that is the viewpoint: what "
    "stands out from the run of colours happens earlier or later in the other trace",
    "difference": "what differs: grey is the same and in its place; what is only in one run, moved, called "
    "more or less often, slower or faster has a hue of its own; stronger is more important; with three or "
    "more traces like 'group'",
}
#: Values of a parameter ``walls``.
WALLS = {
    "similarity": "similarity with the most similar call of the other trace; calls without a match stand out",
    "group": "by the group of their own match",
    "none": "all alike, except for those without a match",
    "difference": "what differs, as color=difference shows it; with three or more traces like 'similarity'",
}
#: Parameters that only move the points of tubes and lines.
MOVING = frozenset({"beta", "thin", "lift", "thickness"})


@dataclass(frozen=True)
class Parameters:
    """Parameters of the view ``compare``."""

    tau: float = parameter(defaults.TAU, defaults.TAU_SENTENCE, low=0.0, high=1.0, group="Data")
    measure: str = parameter(
        defaults.MEASURE, defaults.MEASURE_SENTENCE, choices=defaults.MEASURES, group="Data"
    )
    identity: str = parameter(
        defaults.IDENTITY, defaults.IDENTITY_SENTENCE, choices=defaults.IDENTITIES, group="Data"
    )
    rewrite: str = parameter(
        "", "Regular expressions and their replacements, applied to the recorded names before they are "
        'compared: pairs, such as [["^old_", "new_"]]', group="Data",
    )  # fmt: skip
    renamed: str = parameter(
        "", 'Different names of one function in two traces: pairs, such as [["load", "read"]]', group="Data"
    )
    fuzzy: float = parameter(
        0.0, "Pair names that only one of two traces has, if their similarity is at least this; 0: none",
        low=0.0, high=100.0, group="Data",
    )  # fmt: skip
    matches: str = parameter("best", "Which matches are drawn", choices=MATCHES, group="Data")
    divide: bool = parameter(
        True, "Divide a group that takes most of the time into the groups below its root", group="Data"
    )
    threads: str = common_parameters.threads(
        "as many of the busiest as fit", default="busiest 1", of=" of each trace"
    )
    focus: str = parameter(
        "", "Colour only matches within the call stacks of these functions: a name, * for anything, or "
        "a call "
        "path with > between names, or a call's number such as A:120; the others turn grey. Where the "
        "focus has matches the ground of the other trace's overview is highlighted", group="Data",
    )  # fmt: skip
    mark: str = parameter(
        "", "Frame these calls and write their names: in the format of focus, several with commas between; "
        "with 'itself' after it, such as 'A:12 itself', the longest time in which a call runs and calls "
        "nothing",
        group="Data",
    )  # fmt: skip
    caption: str = parameter(
        "", "A sentence to show above the picture instead of the traces' names and sizes", group="Data"
    )
    start_a: str = parameter(
        "", "Start of A's time window, such as 1.5s or 20 (in ms); empty: its first call", group="Window"
    )
    end_a: str = parameter("", "End of A's time window", group="Window")
    start_b: str = parameter("", "Start of B's time window", group="Window")
    end_b: str = parameter("", "End of B's time window", group="Window")
    moment: str = parameter(
        "own", "Which window B gets if it has none of its own",
        choices={
            "own": "all of B",
            "same": "as long after B's start as A's window is after A's",
            "share": "the same part of the run",
            "matches": "where the best matches of A's window are",
        },
        group="Window",
    )  # fmt: skip
    context: bool = parameter(
        True, "Let the overview show the whole trace, with the window as a slab, where the walls show a part",
        group="Window",
    )  # fmt: skip
    scale: str = parameter(
        "auto", "How the two windows share the width",
        choices={
            "auto": "one scale, unless one window is more than six times as long",
            "same": "one scale: what is twice as wide takes twice as long",
            "fit": "each window takes the whole width",
        },
        group="Window",
    )  # fmt: skip
    align: str = parameter(
        "", "Move B so that the matches within the call stacks of these functions start together (least "
        "squares); in the format of focus, or the number of a group in the legend, or a call of each side, "
        "such as A:12=B:34", group="Window",
    )  # fmt: skip
    first_depth: int = common_parameters.first_depth()
    last_depth: int = common_parameters.last_depth()
    resolution: float = common_parameters.resolution(1.0)
    tubes: int = parameter(
        400,
        "The maximum number of matches drawn as tubes, the most important first",
        low=0,
        high=200_000,
        group="Detail",
    )
    lines: int = parameter(
        3000, "The maximum number of other matches drawn as lines", low=0, high=200_000, group="Detail"
    )
    labels: int = common_parameters.labels(
        300, "The maximum number of names written on boxes, the widest first"
    )
    entries: int = common_parameters.entries(
        6,
        "The maximum number of groups with a colour of their own; of three and more traces, half as many",
    )
    overview: bool = parameter(
        True, "Draw how much is matched over time, as bars behind each wall", group="Detail",
        in_style={"stage": False},
    )  # fmt: skip
    annotate: int = parameter(
        2, "The maximum number of captioned bars of each kind: without matches, in place, moved", low=0,
        high=20, group="Detail", in_style={"stage": 0},
    )  # fmt: skip
    callouts: int = parameter(
        3, "The maximum number of the largest differences that are named in the picture, with lines to them",
        low=0, high=10, group="Detail",
    )  # fmt: skip
    repeats: int = parameter(
        4, "The maximum number of repetitions framed in red on each wall, the longest first", low=0, high=200,
        group="Detail", in_style={"stage": 0},
    )  # fmt: skip
    multiples: int = parameter(
        0, "The maximum number of calls on each wall whose matches are counted at their end", low=0, high=200,
        group="Detail",
    )  # fmt: skip
    color: str = parameter(
        "difference", "What the colour of a tube shows; with palette=paper or focus 'difference' is 'group'",
        choices=COLORS, group="Look", also={"groups": "group"},
    )  # fmt: skip
    viewpoint: str = parameter(
        "A",
        "The trace from which color=position is seen",
        choices={"A": "colours are positions in B", "B": "colours are positions in A"},
        group="Look",
    )
    walls: str = parameter(
        "difference", "What the colour of a call shows; with palette=paper 'difference' is "
        "'similarity'", choices=WALLS, group="Look",
    )  # fmt: skip
    plates: str = parameter(
        "unmatched", "What the thickness of a call's box shows",
        choices={
            "unmatched": "calls without a match stand out",
            "coverage": "the share of its time within calls that have a match",
        },
        group="Look",
    )  # fmt: skip
    fade: bool = parameter(
        True,
        "The less similar two calls are, the paler is their tube or, if it is wider than 16 px, the darker "
        "is its crest",
        group="Look",
    )
    palette: str = common_parameters.palette()
    opening: float = parameter(
        140.0, "Angle between the walls: 180 is flat, as in the paper, 0 face to face", low=0.0, high=180.0,
        unit="degrees", group="Shape", in_style={"paper": 165.0, "flat": 180.0},
    )  # fmt: skip
    gap: float = parameter(
        1.7, "Free space between the walls, in scene units (the longer window is 16 wide)", low=0.1,
        high=20.0, group="Shape",
    )  # fmt: skip
    height: float = parameter(
        0.0,
        "Height of the higher wall in scene units; 0: as the picture allows",
        low=0.0,
        high=12.0,
        group="Shape",
    )
    taper: float = common_parameters.taper(0.8)
    spacing: float = parameter(
        1.0, "Free height between the threads of a wall, in levels", low=0.0, high=20.0, unit="levels",
        group="Shape",
    )  # fmt: skip
    apart: float = parameter(
        0.0, "How far the calls of the last module stand out of their wall, in scene units (the longer "
        "window is 16 wide); those of modules with more self time less, in equal steps; of two traces only",
        low=0.0, high=8.0, group="Shape",
    )  # fmt: skip
    bundling: str = parameter(
        "modified", "How matches are bundled",
        choices={
            "modified": "TraceDiff's way: along calls wider than a pixel and outside the band, clamped",
            "heb": "Holten's original: along all calls",
        },
        group="Bundles",
    )  # fmt: skip
    beta: float = parameter(
        0.85, "How closely tubes follow the bundles: 0 is straight", low=0.0, high=1.0, group="Bundles"
    )
    band: float = parameter(
        1.0, "Thickness of the band in which matches are bundled, as a multiple of the gap", low=0.1,
        high=5.0, group="Bundles",
    )  # fmt: skip
    common: bool = parameter(True, "Lead bundles through the lowest common ancestor too", group="Bundles")
    thin: float = parameter(
        0.2, "Width of tubes in their middle, as a share (the paper's λ)", low=0.0, high=1.0, group="Bundles"
    )
    thickness: float = parameter(
        0.12,
        "Thickness of a tube, as a share of the height of its calls' stacks",
        low=0.0,
        high=1.0,
        group="Bundles",
    )
    lift: float = parameter(
        0.5, "How far tubes rise whose calls have moved in the order of calls, as a share of the gap",
        low=0.0, high=2.0, group="Bundles",
    )  # fmt: skip
    camera: str = parameter(
        "overview", "Which camera takes the picture; both are in the scene",
        choices={"overview": "sees all", "focus": "sees the matches of focus, or of the largest group"},
        group="Camera",
    )  # fmt: skip
    turn: float = common_parameters.turn(0.0)
    tilt: float = common_parameters.tilt(
        66.0, 5.0, 90.0,
        " at an opening of 140; it stands higher where walls are steeper, above where they are flat, and low "
        "before those that nearly face each other",
    )  # fmt: skip
    pairs: str = parameter(
        "neighbours", "With three or more traces: which are joined by tubes: 'neighbours', 'all', or "
        "pairs such as "
        "A-C,B-D (or 0-2,1-3)", group="Many",
    )  # fmt: skip
    order: str = parameter(
        "given", "Order of three or more traces, from the back",
        choices={"given": "as given", "similarity": "the most similar are neighbours"}, group="Many",
    )  # fmt: skip
    matrix: str = parameter(
        "best", "Show on the floor how similar three or more traces are to each other",
        choices={**CELLS, "none": "no matrix"}, group="Many",
    )  # fmt: skip
    fan: float = parameter(
        45.0, "With three or more traces: how steep the wall at the back is; those in front of it are less "
        "steep, in equal steps; 0: all lie in one plane", low=0.0, high=85.0, unit="degrees", group="Many",
    )  # fmt: skip


def as_drawn(p: Parameters, traces: int = 2) -> Parameters:
    """Return the parameters with colours by groups where differences aren't shown.

    What has the focus would be grey where it is the same, as what does not have it.

    Parameters
    ----------
    p : Parameters
        They stay as they are.
    traces : int
        How many are compared: differences are between two. The palette ``paper`` stands for the paper's own
        colours.

    Returns
    -------
    drawn : Parameters
    """
    if p.palette != "paper" and traces == 2:
        return replace(p, color="group") if p.focus and p.color == "difference" else p
    color = "group" if p.color == "difference" else p.color
    return replace(p, color=color, walls="similarity" if p.walls == "difference" else p.walls)
