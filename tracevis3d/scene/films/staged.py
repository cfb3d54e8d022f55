"""The frames of a story: what cameras see of built drawings, put together with captions."""

from __future__ import annotations

import contextlib
import signal
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import bpy
import numpy as np
from numpy.typing import NDArray

from ... import interrupts
from ...atomic import replacing
from ...drawing.frame import Frame
from ...drawing.output import Output
from ...drawing.primitives import Drawing
from ...layout.sight.flight import eased
from ...layout.sight.pose import Pose
from ...progress import Progress, part, silent
from ...trace.storage.cache import code_version
from ..digest import digest
from ..geometry.forms import Purpose
from ..output import engines, pixels
from . import caption
from .eye import Eye
from .join import is_whole
from .stage import Framing, Stage, alike, fineness, name_of

#: How many drawings stay built.
_KEPT = 4
#: zlib's level for frames: they are read once.
_QUICK = 1
#: Pixels of a divided frame between its halves.
_GAP = 2


@dataclass(frozen=True, eq=False)
class Scenery:
    """A drawing, as the camera moves through it.

    Attributes
    ----------
    drawing : Drawing
    frame : Frame
        Of its picture: the film's, or half of it.
    framing : Framing
    name : str
        Equal only where pictures are.
    """

    drawing: Drawing
    frame: Frame
    framing: Framing
    name: str

    @classmethod
    def of(cls, drawing: Drawing, output: Output, half: bool, beside: Sequence[Drawing] = ()) -> Scenery:
        """Prepare a drawing for the frames of a film; notes are left out, which nobody could read.

        Parameters
        ----------
        drawing : Drawing
        output : Output
        half : bool
            It takes half of the frame.
        beside : sequence of Drawing
            Others whose pictures are seen from the same place.

        Returns
        -------
        Scenery
        """
        frame = frame_of(output.frame, half)
        drawing, *beside = (replace(one, notes=()) for one in (drawing, *beside))
        framing = Framing(drawing, output.style, frame, caption.height(frame), beside)
        view, region = framing.framed
        place = view.eye, view.tangent, view.centre, region
        return cls(drawing, frame, framing, name_of(drawing, output.style, frame, *place))


def groups_of(drawings: Sequence[Drawing], output: Output, half: bool) -> list[list[int]]:
    """Return which drawings are seen from one place; see :func:`.stage.alike`.

    Parameters
    ----------
    drawings : sequence of Drawing
    output : Output
    half : bool
        Each takes half of the frame.

    Returns
    -------
    list of list of int
    """
    frame = frame_of(output.frame, half)
    bare = [replace(one, notes=()) for one in drawings]
    return alike(bare, output.style, frame, caption.height(frame))


def key_of(output: Output) -> str:
    """Return what all frames of a film depend on beyond their names."""
    return digest("story", output.frame, bpy.app.version_string, code_version("drawing", "scene"))


def frame_of(frame: Frame, half: bool) -> Frame:
    """Return the frame of a picture, or of one half of it.

    Parameters
    ----------
    frame : Frame
        The film's.
    half : bool

    Returns
    -------
    Frame
    """
    return replace(frame, width=(frame.width - _GAP) // 2) if half else frame


@dataclass(frozen=True)
class Seen:
    """A scenery from a pose.

    Attributes
    ----------
    scenery : Scenery
    pose : Pose
    now : float
        What appears later than this share of the drawing's time is not seen.
    """

    scenery: Scenery
    pose: Pose
    now: float = 1.0

    @property
    def frame(self) -> Frame:
        """Of its picture."""
        return self.scenery.frame

    @property
    def stage(self) -> str:
        """The name of what is built for it."""
        return self.scenery.name

    def name(self, settings: tuple[object, ...]) -> str:
        """Return the name of its picture."""
        pose = self.pose
        focus = tuple(round(x, 6) for x in pose.focus)
        rounded = round(pose.width, 6), round(pose.turn, 4), round(pose.front, 6)
        # Whole pictures keep the names that they had before time could run.
        return digest(self.stage, focus, rounded, settings, *((self.now,) if self.now < 1.0 else ()))

    def drawing(self) -> Drawing:
        """Return what is drawn."""
        return self.scenery.drawing

    def eye(self) -> Eye:
        """Return the camera."""
        return self.scenery.framing.eye(self.pose)


@dataclass(frozen=True, eq=False)
class Travelling:
    """What two pictures both show, on its way from one to the other.

    Attributes
    ----------
    start, goal : Seen
    draw : callable
        ``draw(share) -> Drawing``, about the origin, in a picture of ``width``.
    width : float
    share : float
        Of the way, 0 to 1.
    now : float
        All of it is seen.
    """

    start: Seen
    goal: Seen
    draw: Callable[[float], Drawing]
    width: float
    share: float
    now: float = 1.0

    @property
    def frame(self) -> Frame:
        """Of its picture."""
        return self.goal.frame

    @property
    def stage(self) -> str:
        """The name of what is built for it."""
        return digest("travel", self.start.name(()), self.goal.name(()))

    def name(self, settings: tuple[object, ...]) -> str:
        """Return the name of its picture."""
        return digest(self.stage, round(self.share, 6), settings)

    def drawing(self) -> Drawing:
        """Return what is drawn."""
        return self.draw(self.share)

    def eye(self) -> Eye:
        """Return the camera."""
        start, goal = (
            replace(eye, focus=np.zeros(3), width=self.width) for eye in (self.start.eye(), self.goal.eye())
        )
        return start.towards(goal, eased(self.share))


@dataclass(frozen=True)
class Shown:
    """A frame.

    Attributes
    ----------
    now : tuple of Seen
        One, or the left and the right half.
    before : tuple of Seen
        What is seen through it; empty: nothing.
    share : float
        How much of ``now`` is seen.
    caption : str
    ink : float
        How much of the caption is seen.
    """

    now: tuple[Seen | Travelling, ...]
    before: tuple[Seen | Travelling, ...]
    share: float
    caption: str
    ink: float


class Frames:
    """Renders frames into a folder; what is there is not rendered again.

    Parameters
    ----------
    output : Output
    folder : Path
    """

    def __init__(self, output: Output, folder: Path) -> None:
        self._output, self._folder = output, folder
        self._purpose: Purpose = "draft" if output.draft else "film"
        self.engine = engines.suited(output.style, quick=True) if output.engine == "auto" else output.engine
        self._settings = (self.engine, self._purpose, output.samples)
        self._stages: OrderedDict[str, Stage] = OrderedDict()
        self._strips: dict[str, NDArray[np.uint8]] = {}
        self._pixels: OrderedDict[str, NDArray[np.uint8]] = OrderedDict()

    def path(self, shown: Shown) -> Path:
        """Return the file of a frame; equal frames are one file."""
        sides = [[seen.name(self._settings) for seen in looks] for looks in (shown.now, shown.before)]
        text = shown.caption if shown.ink else ""
        return self._folder / f"{digest(sides, shown.share, text, shown.ink if text else 0.0)}.png"

    def missing(self, frames: Sequence[Shown]) -> list[Shown]:
        """Return the frames that have no whole file, each once, in order."""
        return [
            shown for shown in self.distinct(frames) if not is_whole(self.path(shown), self._output.frame)
        ]

    def distinct(self, frames: Sequence[Shown]) -> list[Shown]:
        """Return frames that are not equal to one before, in order."""
        found: dict[Path, Shown] = {}
        for shown in frames:
            found.setdefault(self.path(shown), shown)
        return list(found.values())

    def make(self, frames: Sequence[Shown], progress: Progress = silent) -> None:
        """Render frames.

        Parameters
        ----------
        frames : sequence of Shown
            As :meth:`missing` returns them.
        progress : Progress
        """
        for i, shown in enumerate(frames):
            here = part(progress, i / len(frames), (i + 1) / len(frames))
            path = self.path(shown)
            whole = self._put_together(shown.now, _counting(here, i, len(frames)))
            if shown.before and shown.share < 1:
                other = self._put_together(shown.before, silent)
                whole = np.round(other + shown.share * (whole.astype(np.float32) - other)).astype(np.uint8)
            self._write_caption(whole, shown)
            with replacing(path) as partial:
                partial.write_bytes(pixels.as_png(whole, _QUICK))
            interrupts.check()

    def close(self) -> None:
        """Remove what was built."""
        for stage in self._stages.values():
            stage.close()
        self._stages.clear()

    def _put_together(self, looks: Sequence[Seen | Travelling], progress: Progress) -> NDArray[np.uint8]:
        """Return the pixels (rows, columns, 3) of a picture, or of two beside each other."""
        made = [self._seen(seen, progress) for seen in looks]
        if len(made) == 1:
            return made[0].copy()
        frame = self._output.frame
        # A grey line between the halves.
        whole = np.full((frame.height, frame.width, 3), 128, np.uint8)
        whole[:, : made[0].shape[1]] = made[0]
        whole[:, frame.width - made[1].shape[1] :] = made[1]
        return whole

    def _seen(self, seen: Seen | Travelling, progress: Progress) -> NDArray[np.uint8]:
        name = seen.name(self._settings)
        if name not in self._pixels:
            path = self._folder / f"{name}.png"
            finer = max(fineness(*self._settings), 1)
            frame = seen.frame
            large = replace(frame, width=finer * frame.width, height=finer * frame.height)
            if not is_whole(path, large):
                self._stage(seen).render(seen.eye(), path, progress, seen.now)
            self._pixels[name] = _reduced(pixels.read(path)[..., :3], finer)
            while len(self._pixels) > _KEPT:
                self._pixels.popitem(last=False)
        return self._pixels[name]

    def _stage(self, seen: Seen | Travelling) -> Stage:
        stage = self._stages.pop(seen.stage, None)
        if stage is None:
            while len(self._stages) >= _KEPT:
                self._stages.popitem(last=False)[1].close()
            output = self._output
            framed = seen.scenery.framing.framed if isinstance(seen, Seen) else None
            stage = Stage(
                seen.drawing(), output.style, seen.frame, self.engine, output.samples, self._purpose,
                caption.height(seen.frame), framed, silent,
            )  # fmt: skip
        elif isinstance(seen, Travelling):
            stage.redraw(seen.drawing())
        self._stages[seen.stage] = stage
        return stage

    def _write_caption(self, whole: NDArray[np.uint8], shown: Shown) -> None:
        output = self._output
        bare = self._strip("")
        strip = self._strip(shown.caption) if shown.caption and shown.ink else bare
        inked = bare + shown.ink * (strip.astype(np.float32) - bare) if strip is not bare else bare
        whole[output.frame.height - len(bare) :] = np.round(inked).astype(np.uint8)

    def _strip(self, text: str) -> NDArray[np.uint8]:
        if text not in self._strips:
            place = self._folder / f"caption-{digest(text)}.png"
            self._strips[text] = caption.strip(text, self._output.frame, self._output.style, place)
        return self._strips[text]


@contextlib.contextmanager
def working() -> Iterator[None]:
    """Hear Ctrl-C while Blender works: it swallows what is raised in its callbacks."""
    with interrupts.handled(signal.SIGINT), interrupts.held():
        yield


def _reduced(fine: NDArray[np.uint8], times: int) -> NDArray[np.uint8]:
    """Return a picture of fewer pixels, each the mean of ``times`` by ``times``."""
    if times == 1:
        return fine
    height, width, _ = fine.shape
    parts = fine.reshape(height // times, times, width // times, times, 3).astype(np.uint16)
    mean: NDArray[np.uint8] = ((parts.sum(axis=(1, 3)) + times * times // 2) // (times * times)).astype(
        np.uint8
    )
    return mean


def _counting(progress: Progress, i: int, frames: int) -> Progress:
    return lambda done, what: progress(done, f"rendering frame {i + 1} of {frames}")
