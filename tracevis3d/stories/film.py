"""From a story to a film: drawings, frames, subtitles."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..atomic import replacing, write_text
from ..drawing.frame import Frame
from ..drawing.output import FILMS, Output
from ..drawing.primitives import Drawing
from ..errors import InputError, UsageError
from ..layout.sight.pose import Pose
from ..parameters import read as read_parameters
from ..places import check_folder
from ..progress import Progress, part, silent
from ..trace.model import Trace
from ..views import filtering, registry
from . import subtitles
from .cluster import render_on
from .drawings import playing, travel
from .drawings.targets import box_of
from .hands import ALONE, Hands
from .jobs import render_in
from .schedule import Look, Looks, Moment, Travel, moments
from .story import Picture, Selection, Story

if TYPE_CHECKING:
    from ..scene.films.staged import Scenery, Shown

#: A look at a film before it is made: its height in pixels, and its frames a second.
_PREVIEW, _PREVIEW_FPS = 480, 5
#: Height of a film's type as a share of its picture's: films are watched from further away than a page.
_TYPE = 1 / 45


def output_of(story: Story, preview: bool = False, **given: Any) -> Output:
    """Return the settings of a story's film.

    Parameters
    ----------
    story : Story
    preview : bool
        480 pixels high, few frames a second, without fine edges.
    **given : object
        What takes the place of what the story says: ``style``, ``engine``, ``size``, ``fps``; None: nothing.

    Returns
    -------
    Output

    Raises
    ------
    UsageError
        If one is no such setting.
    """
    said = {**story.settings, **{name: value for name, value in given.items() if value is not None}}
    fps = said.get("fps", 24)
    if isinstance(fps, bool) or not isinstance(fps, int) or not 1 <= fps <= 120:
        raise UsageError(f"fps: {fps}: a whole number from 1 to 120 is expected")
    frame = Frame.parse(str(said.get("size", "1280x720")))
    if preview:
        frame = Frame(2 * round(_PREVIEW * frame.width / frame.height / 2), _PREVIEW)
        fps = _PREVIEW_FPS
    frame = replace(frame, width=frame.width + frame.width % 2, height=frame.height + frame.height % 2)
    frame = replace(frame, points=_TYPE * frame.height * 72 / frame.dpi)
    return Output(
        style=str(said.get("style", "paper")),
        engine=str(said.get("engine", "auto")),
        frame=frame,
        seconds=min(story.seconds, 3600.0),
        fps=fps,
        draft=preview,
    )


def check(story: Story) -> None:
    """Raise unless the views of a story exist, with its parameters and as many traces; nothing is read.

    Parameters
    ----------
    story : Story

    Raises
    ------
    UsageError
    """
    for i, shot in enumerate(story.shots):
        for picture in [side.picture for side in shot.sides] or [shot.picture]:
            try:
                view = registry.find(picture.view)
                read_parameters(view.parameters, dict(picture.settings))
                least, most = view.traces
                if not least <= len(picture.traces) <= most:
                    raise UsageError(f"{view.name} takes {least} to {most} traces, not {len(picture.traces)}")
            except UsageError as error:
                raise UsageError(f"shot {i + 1} ({shot.kind}): {error}") from None


@dataclass(frozen=True, eq=False)
class _Sight:
    """See :class:`.schedule.Sight`."""

    scenery: Scenery
    traces: tuple[Trace, ...]

    @property
    def whole(self) -> Pose:
        return self.scenery.framing.whole

    @property
    def front(self) -> Pose:
        return self.scenery.framing.front

    @property
    def straight(self) -> bool:
        return self.scenery.framing.straight

    @property
    def window(self) -> tuple[int, int]:
        drawn = (getattr(element, "window", None) for element in self.scenery.drawing.elements)
        whole = 0, max(max((trace.span_ns for trace in self.traces), default=1), 1)
        return next((window for window in drawn if window is not None), whole)

    @property
    def timed(self) -> bool:
        return playing.is_timed(self.scenery.drawing)

    def pose_of(self, selection: Selection) -> Pose:
        return self.scenery.framing.around(*box_of(self.scenery.drawing, self.traces, selection))


class Film:
    """A story that is being made into a film.

    Parameters
    ----------
    story : Story
    traces : mapping of str to Trace
        Those of the story's files.
    output : Output
    progress : Progress
        Of drawing.
    """

    def __init__(
        self, story: Story, traces: Mapping[str, Trace], output: Output, progress: Progress = silent
    ) -> None:
        self.story, self.output, self._traces, self._progress = story, output, traces, progress
        self._drawings: dict[tuple[Picture, bool], Drawing] = {}
        self._groups: dict[tuple[str, bool], list[list[Picture]]] = {}
        self._travels: dict[tuple[Look, Look], travel.Travel] = {}
        self._sights: dict[tuple[Picture, bool, int | None], _Sight] = {}
        self.moments = moments(story, output.fps, lambda picture, half: self._sight(picture, half, 0))
        self.frames: list[Shown] = [self._shown(moment) for moment in self.moments]

    def _sight(self, picture: Picture, half: bool, callout: int | None) -> _Sight:
        from ..scene.films.staged import Scenery

        key = picture, half, callout
        if key not in self._sights:
            drawing = self._drawn(picture, half)
            if callout is not None:
                said = (one for one in drawing.callouts if one.text.partition(" ")[0] == f"{callout}")
                drawing = replace(drawing, callouts=tuple(said))
            # Those with callouts make room for them, whether they are shown or not.
            beside = [self._drawn(other, half) for other in (picture, *self._beside(picture, half))]
            traces = tuple(self._traces[name] for name in picture.traces)
            self._sights[key] = _Sight(Scenery.of(drawing, self.output, half, beside), traces)
        return self._sights[key]

    def _beside(self, picture: Picture, half: bool) -> list[Picture]:
        """Return the other pictures that are seen from the same place: nothing shifts from one to another."""
        from ..scene.films.staged import groups_of

        # Calls at other paces are where they were.
        picture = replace(picture, paces=())
        key = picture.view, half
        if key not in self._groups:
            many, drawings = [], []
            for one in self.story.pictures(half):
                # What can't be drawn is told with its own shot.
                with contextlib.suppress(UsageError):
                    if one.view == picture.view:
                        drawings.append(self._drawn(one, half))
                        many.append(one)
            self._groups[key] = [[many[i] for i in group] for group in groups_of(drawings, self.output, half)]
        group = next(group for group in self._groups[key] if picture in group)
        return [one for one in group if one != picture]

    def _drawn(self, picture: Picture, half: bool) -> Drawing:
        from ..scene.films.staged import frame_of

        if (picture, half) not in self._drawings and picture.paces:
            traces = [self._traces[name] for name in picture.traces]
            drawing = self._drawn(replace(picture, paces=()), half)
            self._drawings[picture, half] = playing.paced(drawing, traces, picture.paces)
        elif (picture, half) not in self._drawings:
            view = registry.find(picture.view)
            traces = [self._traces[name] for name in picture.traces]
            values: Any = read_parameters(view.parameters, dict(picture.settings))
            frame = frame_of(self.output.frame, half)
            if picture.filters.strip():
                drawing = filtering.draw(view, traces, values, picture.filters, frame, self._progress)
            else:
                drawing = view.draw(traces, values, frame, self._progress)
            if picture.title:
                drawing = replace(drawing, title=picture.title)
            self._drawings[picture, half] = drawing
        return self._drawings[picture, half]

    def _shown(self, moment: Moment) -> Shown:
        from ..scene.films.staged import Seen, Shown, Travelling

        def seen(look: Look) -> Seen:
            return Seen(self._sight(look.picture, look.half, look.callout).scenery, look.pose, look.now)

        def all_seen(looks: Looks) -> tuple[Seen | Travelling, ...]:
            return tuple(
                seen(look)
                if isinstance(look, Look)
                else Travelling(
                    seen(look.start), seen(look.goal), self._travel(look).drawing, travel.WIDTH, look.share
                )
                for look in looks
            )

        now, before = all_seen(moment.looks), all_seen(moment.before)
        return Shown(now, before, moment.share, moment.caption, moment.ink)

    def _travel(self, way: Travel) -> travel.Travel:
        """Return the calls that travel between two pictures; computed once."""
        key = way.start, way.goal
        if key not in self._travels:
            files = self.story.files
            ends = []
            for look in key:
                scenery = self._sight(look.picture, look.half, look.callout).scenery
                ends.append((scenery.drawing, [files.index(name) for name in look.picture.traces], look.pose))
            traces = [self._traces.get(name) for name in files]
            self._travels[key] = travel.Travel.between(ends[0], ends[1], traces)
        return self._travels[key]

    def make(
        self, path: str | os.PathLike[str], progress: Progress = silent, hands: Hands = ALONE
    ) -> dict[str, Any]:
        """Render the frames that are missing, and write the film and its subtitles.

        Parameters
        ----------
        path : path
            .mp4 or .mkv; a .srt is written beside it.
        progress : Progress
        hands : Hands
            Who renders.

        Returns
        -------
        dict
            ``frames`` of the film, ``rendered`` now, ``engine``, ``seconds``, ``subtitles``.

        Raises
        ------
        UsageError, InputError, MissingDependency, Cancelled
        """
        from ..scene.films.join import container_of, join
        from ..scene.films.staged import Frames
        from ..scene.output.verify import verify

        target = Path(path)
        container = container_of(target)
        if not hands.part:
            check_folder(target)
        with self._kept(target, hands) as folder:
            frames = Frames(self.output, folder)
            wanted = hands.wanted(frames.distinct(self.frames))
            missing = frames.missing(wanted)
            done = {"frames": len(self.frames), "rendered": len(missing), "engine": frames.engine}
            film = self.story, self.output, self.frames
            here = progress if hands.part else part(progress, 0.0, 0.93)
            try:
                if hands.scheduler:
                    render_on(hands.scheduler, hands.jobs, frames, missing, film, here)
                else:
                    render_in(frames, missing, folder, hands.jobs, film, here)
            finally:
                frames.close()
            if hands.part:
                progress(1.0, "done")
                return done
            files = [frames.path(shown) for shown in self.frames]
            with replacing(target) as partial:
                join(files, partial, container, self.output.fps, self.output.frame, part(progress, 0.93, 1.0))
                verify(partial, frames=len(files))
        written = ""
        if text := subtitles.as_text(self.story):
            written = str(target.with_suffix(".srt"))
            write_text(written, text)
        progress(1.0, "done")
        return {**done, "seconds": round(len(files) / self.output.fps, 3), "subtitles": written}

    def _kept(self, target: Path, hands: Hands) -> contextlib.AbstractContextManager[Path]:
        """Return the folder of the frames: one that others share stays."""
        from ..scene.films.frames import kept_frames
        from ..scene.films.staged import key_of

        if not hands.folder:
            return kept_frames(key_of(self.output), target)
        folder = Path(hands.folder) / key_of(self.output)[:16]
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"{hands.folder}: {error.strerror}") from None
        return contextlib.nullcontext(folder)


def make(
    story: Story,
    traces: Mapping[str, Trace],
    path: str | os.PathLike[str],
    output: Output,
    hands: Hands = ALONE,
    progress: Progress = silent,
) -> dict[str, Any]:
    """Make a story into a film.

    Parameters
    ----------
    story : Story
    traces : mapping of str to Trace
        Those of the story's files.
    path : path
        .mp4 or .mkv; a .srt is written beside it.
    output : Output
    hands : Hands
        Who renders.
    progress : Progress

    Returns
    -------
    dict
        See :meth:`Film.make`.

    Raises
    ------
    UsageError, InputError, MissingDependency, Cancelled
    """
    from ..scene.films.staged import working

    with working():
        film = Film(story, traces, output, part(progress, 0.0, 0.1))
        return film.make(path, part(progress, 0.1, 1.0), hands)


def check_path(path: str | os.PathLike[str]) -> None:
    """Raise unless a film can be written to ``path``.

    Parameters
    ----------
    path : path
        Of the film to be.

    Raises
    ------
    UsageError
        If its suffix is not that of a film.
    """
    if Path(path).suffix.lower() not in FILMS:
        raise UsageError(f"{path}: a film is written as {' or '.join(FILMS)}")
