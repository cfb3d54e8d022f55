"""Parameters that several views have in common."""

from __future__ import annotations

from typing import Any

from ..drawing.palettes import PALETTES
from ..parameters import parameter


def palette(sentence: str = "The set of colours", default: str = "muted") -> Any:
    """Declare the set of colours that a view uses.

    Parameters
    ----------
    sentence : str
        What the palette is for.
    default : str
        A key of :data:`~tracevis3d.drawing.palettes.PALETTES`.

    Returns
    -------
    field
        To be assigned in the class of parameters.
    """
    choices = {name: palette.words for name, palette in PALETTES.items()}
    return parameter(default, sentence, choices=choices, group="Look")


def threads(auto: str, default: str = "auto", of: str = "", group: str = "Data") -> Any:
    """Declare which threads a view shows: what :func:`.thread_selection.choose_threads` reads.

    Parameters
    ----------
    auto : str
        Which ones ``auto`` takes.
    default : str
    of : str
        What follows "Threads to draw".
    group : str

    Returns
    -------
    field
        To be assigned in the class of parameters.
    """
    sentence = (
        f"Threads to draw{of}: 'auto' ({auto}), 'all', 'busiest 8', or names and ids with commas between "
        "them, * for anything"
    )
    return parameter(default, sentence, group=group)


def window_start() -> Any:
    """Declare where the time window begins: what :func:`.time_window.time_window` reads."""
    sentence = "Start of the time window, such as 1.5s or 20 (in ms); empty: the first call's"
    return parameter("", sentence, group="Window")


def window_end() -> Any:
    """Declare where the time window ends."""
    return parameter("", "End of the time window, like the start; empty: the last call's", group="Window")


def first_depth() -> Any:
    """Declare the first stack depth."""
    return parameter(1, "First stack depth to draw; 1 is a root call", low=1, group="Window")


def last_depth() -> Any:
    """Declare the last stack depth."""
    return parameter(0, "Last stack depth to draw; 0: the deepest", low=0, group="Window")


def resolution(
    default: float,
    sentence: str = "Calls narrower than this are merged into clusters",
    low: float = 0.05,
    high: float = 1000.0,
) -> Any:
    """Declare the least width in pixels of elements that are drawn one by one.

    Parameters
    ----------
    default : float
        Pixels.
    sentence : str
        What happens to narrower things.
    low, high : float
        Bounds, in pixels.

    Returns
    -------
    field
        To be assigned in the class of parameters.
    """
    return parameter(default, sentence, low=low, high=high, unit="px", group="Detail")


def labels(
    default: int, sentence: str, high: int = 5000, group: str = "Detail", stage: int | None = None
) -> Any:
    """Declare the maximum number of names.

    Parameters
    ----------
    default : int
        How many.
    sentence : str
        Which names are written, and which first.
    high : int
        The upper bound.
    group : str
        The heading that it stands under.
    stage : int, optional
        How many on a screen in a hall; left out: as many.

    Returns
    -------
    field
        To be assigned in the class of parameters.
    """
    in_style = {} if stage is None else {"stage": stage}
    return parameter(default, sentence, low=0, high=high, group=group, in_style=in_style)


def entries(default: int, sentence: str = "The maximum number of colours in the legend") -> Any:
    """Declare the maximum number of kinds with a colour of their own.

    Parameters
    ----------
    default : int
        How many, 1 to 10.
    sentence : str
        What the colours are for.

    Returns
    -------
    field
        To be assigned in the class of parameters.
    """
    return parameter(default, sentence, low=1, high=10, group="Detail")


def taper(default: float) -> Any:
    """Declare how much lower levels are in which less time is spent."""
    sentence = "How much lower the levels with less time are drawn: 0 not at all, 1 in proportion"
    return parameter(default, sentence, low=0.0, high=1.0, group="Shape")


def turn(default: float, most: float = 80.0, side: str = "right", group: str = "Camera") -> Any:
    """Declare how far the camera stands to a side of straight ahead, at most ``most``, in degrees.

    Parameters
    ----------
    default : float
        Degrees.
    most : float
        The bound to either side, in degrees.
    side : str
        Which one positive angles lead to.
    group : str
        The heading that it stands under.

    Returns
    -------
    field
        To be assigned in the class of parameters.
    """
    sentence = f"How far the camera stands to the {side} of straight ahead"
    return parameter(default, sentence, low=-most, high=most, unit="degrees", group=group)


def tilt(default: float, low: float, high: float, when: str = "", group: str = "Camera") -> Any:
    """Declare how far the camera stands above straight ahead, in degrees; ``when`` ends the sentence.

    Parameters
    ----------
    default : float
        Degrees.
    low, high : float
        Bounds, in degrees.
    when : str
        On which condition it applies.
    group : str
        The heading that it stands under.

    Returns
    -------
    field
        To be assigned in the class of parameters.
    """
    sentence = f"How far the camera stands above straight ahead{when}"
    return parameter(default, sentence, low=low, high=high, unit="degrees", group=group)
