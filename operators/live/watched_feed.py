"""The feed that is watched: a subscriber and its live view, driven by a timer; one at a time.

Only its last drawing is in the .blend: undo and other files can't break it. Undo takes the
live view's objects back to what they were, so they are written anew in the next tick; if it takes them away,
or another file is opened, incoming data is still kept, and the panel offers to show it again.
"""

import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import bpy

from ...tracevis3d import api
from ...tracevis3d.errors import TraceVisError
from ...tracevis3d.live.stream.alarms import AlarmWatch
from ...tracevis3d.live.subscriber import Subscriber
from ...tracevis3d.parameters import read
from ...tracevis3d.scene.live.live_view import LiveScene
from ...tracevis3d.views.registry import live_form, watchers
from .. import environment, handlers, signals
from ..views import viewport

#: Seconds between two ticks, and that taking messages may take in one.
_TICK_S, _DRAIN_S = 1 / 30, 0.005
#: Messages are taken between two pictures for as long as drawing took, and at most this many seconds: where
#: drawing is slow, one drain for each picture would fall ever further behind.
_CATCHING_UP_S = 1.0
#: Seconds between two redraws of the panel.
_PANEL_S = 0.25
#: Ticks and latencies that are reported: some seconds.
_REMEMBERED = 128

#: The live view has been changed to what has come.
on_picture: signals.Signal[[]] = signals.Signal()


class Feed:
    """The state of one connection.

    Parameters
    ----------
    endpoint : str
    keys : Keys
    view : str
    window_s : float
    style : str
    values : dict
        The live view's own settings.

    Attributes
    ----------
    current : Feed or None
        The one there is.
    subscriber : Subscriber
    alarms : AlarmWatch
    shown : LiveScene or None
        None while nothing has come, or the scene no longer exists.
    trouble : str
        One sentence on what went wrong in drawing; the feed continues.
    tick_s, latency_s : list of float
        Of the last ticks; from the time of the newest event to when its picture was drawn.
    """

    current: "Feed | None" = None

    def __init__(
        self, endpoint: str, keys: Any, view: str, window_s: float, style: str, values: dict[str, Any]
    ) -> None:
        self.subscriber = Subscriber(endpoint, keys=keys)
        self.alarms = AlarmWatch(lambda: watchers(self.subscriber.trace))
        self.view, self.window_ns, self.style = view, int(window_s * 1e9), style
        self.values = values
        self.shown: Any = None
        self.trouble = ""
        self.tick_s: list[float] = []
        self.latency_s: list[float] = []
        self.updates: list[float] = []
        self._lost_sight = False
        self._titled = ""
        self._panel_at = 0.0
        self._hold = 0
        self._newest = self._marked = 0
        self._drawn: Any = None
        # When the scene was changed, and drawn; for how long to take messages before the next picture.
        self._shown_at = self._drawn_at = self._catching_up_s = 0.0
        #: The element clicked last.
        self.picked: Any = None
        #: Texts of the legend's entries that are chosen: everything else is muted.
        self.chosen: frozenset[str] = frozenset()

    # -- a tick -------------------------------------------------------------------------------------------

    def tick(self) -> bool:
        """Process messages for some milliseconds, and show the result.

        Returns False if more has come than there was time for, and it is not shown yet: the next tick is due
        at once. So as much time goes into taking what comes as into drawing it, in small bites between which
        Blender attends to the person.
        """
        started = time.perf_counter()
        subscriber = self.subscriber
        subscriber.drain(_DRAIN_S)
        if subscriber.behind and started - self._drawn_at < self._catching_up_s:
            self._remember(self.tick_s, time.perf_counter() - started)
            return False
        # Results of a click are also shown while time is paused.
        moves = self.shown is not None and self.shown.view.moving
        if subscriber.rows and not self._lost_sight and (moves or not subscriber.paused):
            try:
                self._show(started)
            except TraceVisError as error:
                self.trouble, self._lost_sight = str(error), True
            except (ReferenceError, KeyError, RuntimeError) as error:
                # The user has removed the live scene.
                self.trouble = f"The live view could not be drawn: {error}"
                self._lost_sight, self.shown = True, None
        spent = time.perf_counter()
        self._remember(self.tick_s, spent - started)
        if spent - self._panel_at > _PANEL_S:
            self._panel_at = spent
            redraw_panels()
        self._shown_at, self._catching_up_s = spent, 0.0
        return True

    def _show(self, clock: float) -> None:
        if self.shown is None:
            self.show_in(bpy.context.scene)
        shown = self.shown
        if shown.stale and not shown.find():
            self.shown, self._lost_sight = None, True
            return
        if self.program() != self._titled:
            # The program has said its name, or another one publishes now.
            self._show_again()
            shown = self.shown
            if shown is None:
                return
        if not self.subscriber.paused:
            self.alarms.look(self.now(), clock)
        shown.view.alarms, shown.chosen = self.alarms.current, self.chosen
        shown.tick(self.now(), clock, self.status())
        on_picture.send()
        if (newest := self.subscriber.newest_since_1970()) != self._marked:
            self._newest = self._marked = newest
        self._remember(self.updates, clock)

    def choose(self, entries: frozenset[str]) -> None:
        """Mute everything but some entries of the legend, also while time is paused; none: mute nothing."""
        self.chosen = entries
        if self.shown is not None and not self._lost_sight:
            self._show(time.perf_counter())

    def now(self) -> int:
        """Return the time at the front edge: it never goes back, and stands still while paused."""
        if not self.subscriber.paused:
            self._hold = max(self._hold, self.subscriber.clock())
        return self._hold

    def status(self) -> str:
        """Return what the foot of the picture says about the feed."""
        subscriber = self.subscriber
        words = f"{subscriber.rate:,.0f} rows a second"
        if subscriber.lost:
            words += f", {subscriber.lost:,} lost, the last {subscriber.gaps[-1].words()}"
        if back := subscriber.trace.clock_words():
            words += f", {back}"
        return words if subscriber.state == "connected" else f"{STATES[subscriber.state]}; {words}"

    @staticmethod
    def _remember(values: list[float], value: float) -> None:
        values.append(value)
        del values[:-_REMEMBERED]

    # -- what is shown ------------------------------------------------------------------------------------

    @property
    def out_of_sight(self) -> bool:
        """Whether incoming data is kept but not shown."""
        return self._lost_sight

    def show_in(self, scene: bpy.types.Scene) -> None:
        """Show the live view in a scene."""
        self._lost_sight, self.trouble = False, ""
        made = live_form(self.view).make(self.subscriber.trace, self.window_ns)
        self._apply(made)
        self._titled = self.program()
        self.shown = LiveScene(made, scene, self.style, self._titled)
        self._watch_drawing()

    def program(self) -> str:
        """Return what the program is called in the picture."""
        return self.subscriber.name or "program"

    def _show_again(self) -> None:
        scene = bpy.data.scenes.get(self.shown.scene_name)
        if scene is None:
            return
        with viewport.through_camera(scene):
            self.shown.remove()
            self.shown = None
            self.show_in(scene)

    def change(self, view: str, window_s: float, style: str, values: dict[str, Any]) -> None:
        """Show another view, another length of time, another style, or other settings of the view."""
        window_ns = int(window_s * 1e9)
        other = (view, style) != (self.view, self.style)
        longer, changed = window_ns != self.window_ns, values != self.values
        self.view, self.window_ns, self.style, self.values = view, window_ns, style, values
        if self.shown is None or (self.shown.stale and not self.shown.find()):
            return
        if other or (longer and live_form(view).remade):
            self._show_again()
            return
        if changed:
            self._apply(self.shown.view)
        if longer:
            self.shown.view.window_ns = window_ns
            self.shown.rescale(self.now())

    def _apply(self, made: Any) -> None:
        """Give a live view its own settings."""
        form = live_form(self.view)
        if form.settings is not None:
            form.apply(made, read(form.settings, self.values))

    def _watch_drawing(self) -> None:
        """Note when the 3D view has drawn the newest event."""
        if self._drawn is None and not bpy.app.background:
            self._drawn = bpy.types.SpaceView3D.draw_handler_add(self._was_drawn, (), "WINDOW", "POST_PIXEL")

    def _was_drawn(self) -> None:
        if not self._catching_up_s:
            self._drawn_at = time.perf_counter()
            self._catching_up_s = min(self._drawn_at - self._shown_at, _CATCHING_UP_S)
        if self._newest:
            self._remember(self.latency_s, max(time.time_ns() - self._newest, 0) / 1e9)
            self._newest = 0

    def lose_sight(self) -> None:
        """Another file is open: incoming data is kept, and shown on request."""
        self.shown, self._lost_sight = None, bool(self.subscriber.rows)

    def mark_stale(self) -> None:
        """Referenced objects may be gone."""
        if self.shown is not None:
            self.shown.stale = True

    # -- the end ------------------------------------------------------------------------------------------

    def close(self) -> None:
        """Leave the publisher, and Blender's handlers."""
        if self._drawn is not None:
            bpy.types.SpaceView3D.draw_handler_remove(self._drawn, "WINDOW")
            self._drawn = None
        self.subscriber.close()


#: States of a subscriber in words for people.
STATES = {
    "waiting": "Waiting for a publisher",
    "connected": "Connected",
    "silent": "The publisher is silent: waiting for it to return",
    "ended": "The program has ended",
    "refused": "The publisher refuses",
}


def _tick() -> float | None:
    feed = Feed.current
    if feed is None:
        return None
    started = time.perf_counter()
    if not feed.tick():
        return 0.0
    # Blender gets at least as much time for drawing as this takes.
    return max(_TICK_S - (time.perf_counter() - started), 0.004)


def start(feed: Feed) -> None:
    """Let ``feed`` be the one that is watched."""
    Feed.current = feed
    # It continues when another file is opened.
    bpy.app.timers.register(_tick, first_interval=_TICK_S, persistent=True)


def stop() -> Feed | None:
    """Stop watching; return the subscriber, which keeps all received data."""
    feed, Feed.current = Feed.current, None
    if bpy.app.timers.is_registered(_tick):
        bpy.app.timers.unregister(_tick)
    if feed is not None:
        feed.close()
    return feed


def redraw_panels() -> None:
    """Let the sidebar show the newest numbers."""
    for window in bpy.context.window_manager.windows:
        for area in window.screen.areas:
            if area.type == "VIEW_3D":
                for region in area.regions:
                    if region.type == "UI":
                        region.tag_redraw()


def missing() -> str:
    """Return one sentence on what is missing to connect; empty if nothing is."""
    if sentence := environment.missing_library():
        return sentence
    if find_spec("zmq") is None:
        return (
            "ZeroMQ (pyzmq) is missing: install the TraceVis3D zip for this platform and Python version, "
            "which brings it along"
        )
    return ""


def recordings_folder() -> Path:
    """Return the folder for recordings of live feeds, made if it is not there."""
    return Path(bpy.utils.extension_path_user(environment.EXTENSION, path="live", create=True))


def free_name(folder: Path, program: str) -> Path:
    """Return a file name in ``folder`` that is not taken, with the program and the time in it."""
    bare = "".join(c if c.isalnum() or c in "-_" else "_" for c in Path(program).stem)[:60] or "program"
    stamp = time.strftime("%Y%m%d-%H%M%S")
    path = folder / f"{bare}-{stamp}.tv3"
    number = 2
    while path.exists():
        path = folder / f"{bare}-{stamp}-{number}.tv3"
        number += 1
    return path


def _before_another_file() -> None:
    if Feed.current is not None:
        Feed.current.lose_sight()


def _after_undo() -> None:
    if Feed.current is not None:
        Feed.current.mark_stale()


_CONNECTIONS = ((handlers.before_loading, _before_another_file), (handlers.after_undo, _after_undo))


def register() -> None:
    """Follow what Blender does to the file."""
    signals.connect(_CONNECTIONS)


def unregister() -> None:
    """Undo :func:`register`; received data that was not saved is written to a file."""
    signals.disconnect(_CONNECTIONS)
    feed = stop()
    if feed is not None and feed.subscriber.rows:
        keep(feed)


def keep(feed: Feed) -> None:
    """Write the received data into the user's folder, as there is no user to ask."""
    try:
        path = free_name(recordings_folder(), feed.subscriber.program)
        api.save(feed.subscriber.finish(), path)
        print(f"TraceVis3D: the received data is saved in {path}")
    except (TraceVisError, OSError, ValueError) as error:
        print(f"TraceVis3D: the received data could not be saved: {error}")
