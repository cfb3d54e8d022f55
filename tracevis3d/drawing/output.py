"""The settings of a picture file: style, engine, size, length. Checked before any work is done."""

from __future__ import annotations

import importlib.util
import os
import sys
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

from ..errors import MissingDependency, UsageError
from ..places import check_folder
from .frame import Frame

if TYPE_CHECKING:
    from .primitives import Drawing

Style = Literal["paper", "stage", "flat"]
Engine = Literal["auto", "workbench", "eevee", "cycles"]

#: Styles, with descriptions.
STYLES: dict[str, str] = {
    "paper": "White ground and soft light; prints well",
    "stage": "Dark ground, few and large words, one light on the first finding: for a screen in a hall",
    "flat": "The exact two-dimensional twin, seen straight from the front",
}
ENGINES: tuple[str, ...] = get_args(Engine)
#: What Cycles computes with: the processor, any graphics card that it finds, or one by its interface.
DEVICES = ("cpu", "gpu", "optix", "cuda", "hip", "oneapi", "metal")
#: How pictures for two eyes lie in one file.
STEREO = ("side-by-side", "top-bottom", "anaglyph")
#: What lies ahead: a share of a panorama's width, 90 of 360 degrees, and a share of that in height.
_AHEAD, _SHAPE = 1 / 4, 2 / 3
#: The lens in mm that sees 90 degrees.
_WIDE_LENS = 18.0

#: Height of the type of `stage` where none is given, as a share of the picture's: read from ten metres.
_FAR_TYPE = 1 / 36

#: Suffixes of output files, by kind of file.
STILLS = (".png", ".jpg", ".jpeg", ".exr", ".webp")
#: Figures: the data as a picture, explanations as shapes and texts.
FIGURES = (".svg", ".pdf")
FILMS = (".mp4", ".mkv")
SCENES = (".blend", ".glb", ".usdc")
#: Pages for browsers, which need no Blender.
PAGES = (".html",)
#: Python versions for which Blender's module exists: see pyproject.toml.
MODULE_PYTHONS = ("3.11", "3.13")
PYTHON = "{}.{}".format(*sys.version_info)
_WITH_ALPHA = (".png", ".exr", ".webp", *FIGURES)


@dataclass(frozen=True)
class Output:
    """The settings for rendering a drawing.

    Attributes
    ----------
    style : {"paper", "stage", "flat"}
    engine : {"auto", "workbench", "eevee", "cycles"}
    frame : Frame
    samples : int
        Per pixel; 0 leaves it to the engine.
    transparent : bool
        No background.
    seconds : float
        Length of a film.
    fps : int
        Frames a second of a film.
    draft : bool
        A quick look: Workbench where it works, with fewer triangles and samples.
    stereo : {"", "side-by-side", "top-bottom", "anaglyph"}
        Two pictures for two eyes, each of the frame's size; anaglyph: one, for red and cyan glasses.
    panorama : bool
        All directions around a place before the data, twice as wide as high, for a headset.
    sound : bool
        What begins is heard, in films and scenes of Blender.
    device : str
        What Cycles computes with: one of :data:`DEVICES`.
    """

    style: str = "paper"
    engine: str = "auto"
    frame: Frame = field(default_factory=Frame)
    samples: int = 0
    transparent: bool = False
    seconds: float = 8.0
    fps: int = 24
    draft: bool = False
    stereo: str = ""
    panorama: bool = False
    sound: bool = False
    device: str = "cpu"

    def __post_init__(self) -> None:
        frame = replace(self.frame, straight=self.style == "flat")
        # The type of a panorama is that of what lies ahead, which is composed.
        if self.style == "stage" and not frame.points and not self.panorama:
            frame = replace(frame, points=_FAR_TYPE * frame.height * 72 / frame.dpi)
        object.__setattr__(self, "frame", frame)

    @property
    def composed(self) -> Output:
        """The settings that the drawing is composed for: of a panorama, the part that lies ahead."""
        if not self.panorama:
            return self
        width = max(round(_AHEAD * self.frame.width), 16)
        ahead = replace(self.frame, width=width, height=max(round(_SHAPE * width), 16))
        return replace(self, frame=ahead, panorama=False, engine="cycles")

    def ahead(self, drawing: Drawing) -> Drawing:
        """Return a drawing as this output looks at it: a panorama stands near it.

        Parameters
        ----------
        drawing : Drawing

        Returns
        -------
        Drawing
        """
        if not self.panorama:
            return drawing
        eye = replace(drawing.camera, lens=_WIDE_LENS, projection="perspective")
        return replace(drawing, camera=eye)

    def is_picture(self, path: str | os.PathLike[str]) -> bool:
        """Return whether the file is a picture, and not a film or a scene, which are for a screen.

        Parameters
        ----------
        path : path
            Of the file to be.

        Returns
        -------
        bool

        Examples
        --------
        >>> Output().is_picture("run.pdf"), Output().is_picture("run.blend")
        (True, False)
        """
        return Path(path).suffix.lower() in (*STILLS, *FIGURES)


def check(path: str | os.PathLike[str], output: Output) -> None:
    """Raise if ``output`` can't be written to ``path``; nothing is created.

    Parameters
    ----------
    path : path
        Of the file to be.
    output : Output
        What is wanted of it.

    Raises
    ------
    UsageError
        If the suffix, style, engine or a number is off.
    InputError
        If the folder is missing or can't be written to.

    Examples
    --------
    >>> check("run.png", Output(style="stage"))
    """
    suffix = Path(path).suffix.lower()
    known = (*STILLS, *FIGURES, *FILMS, *SCENES, *PAGES)
    if suffix not in known:
        raise UsageError(f"{path}: the suffix {suffix!r} is not one of {' '.join(known)}")
    if output.style not in STYLES:
        raise UsageError(f"--style {output.style}: one of {', '.join(STYLES)} is expected")
    if output.engine not in ENGINES:
        raise UsageError(f"--engine {output.engine}: one of {', '.join(ENGINES)} is expected")
    if not 0 <= output.samples <= 65_536:
        raise UsageError(f"--samples {output.samples}: 0 to 65,536 is expected")
    if output.transparent and suffix not in (*_WITH_ALPHA, *SCENES):
        raise UsageError(f"--transparent: {suffix} has no transparency; {' '.join(_WITH_ALPHA)} do")
    if output.draft and suffix in (*SCENES, *PAGES):
        drafts = " ".join((*STILLS, *FIGURES, *FILMS))
        raise UsageError(f"--draft: {suffix} is not rendered; drafts are {drafts}")
    if output.device not in DEVICES:
        raise UsageError(f"--device {output.device}: one of {', '.join(DEVICES)} is expected")
    if output.device != "cpu" and output.engine in ("workbench", "eevee"):
        raise UsageError(f"--device: is for the engine cycles, not for {output.engine}")
    if output.stereo and output.stereo not in STEREO:
        raise UsageError(f"--stereo {output.stereo}: one of {', '.join(STEREO)} is expected")
    for option, wanted in (("--stereo", bool(output.stereo)), ("--panorama", output.panorama)):
        if wanted and suffix not in (*STILLS, *FILMS):
            raise UsageError(f"{option}: {' '.join((*STILLS, *FILMS))} are pictures for it, {suffix} is not")
        if wanted and output.style == "flat":
            raise UsageError(f"{option}: the style flat has no depth; paper and stage have")
    if output.panorama and output.engine not in ("auto", "cycles"):
        raise UsageError(f"--panorama: the engine {output.engine} can't look around; cycles can")
    if output.panorama and output.stereo == "anaglyph":
        raise UsageError("--panorama: headsets take --stereo top-bottom or side-by-side")
    if output.panorama and output.frame.width != 2 * output.frame.height:
        raise UsageError("--panorama: it is twice as wide as high, such as --size 4096x2048")
    if output.sound and suffix not in (*FILMS, ".blend"):
        raise UsageError(f"--sound: {suffix} can't be heard; {' '.join(FILMS)} .blend can")
    if not 0.04 <= output.seconds <= 3600:
        raise UsageError(f"--seconds {output.seconds:g}: 0.04 to 3600 is expected")
    if not 1 <= output.fps <= 240:
        raise UsageError(f"--fps {output.fps}: 1 to 240 is expected")
    check_folder(path)


def need_blender(what: str = "rendering") -> None:
    """Raise unless Blender's module is there; it is not loaded.

    Parameters
    ----------
    what : str
        What it is needed for, to begin the sentence with.

    Raises
    ------
    MissingDependency
        If it is not installed.
    """
    if _has_blender():
        return
    module = (
        "install its module with 'pip install tracevis3d[bpy]'"
        if PYTHON in MODULE_PYTHONS
        else f"its module is for Python {' and '.join(MODULE_PYTHONS)}, this is {PYTHON}: "
        "install TraceVis3D there"
    )
    raise MissingDependency(
        f"{what} needs Blender: {module}, or install the extension in Blender and run "
        "'blender --background --command tracevis3d …'"
    )


def _has_blender() -> bool:
    return "bpy" in sys.modules or importlib.util.find_spec("bpy") is not None
