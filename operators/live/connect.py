"""Connect to a live feed, pause it, show it again, stop it and keep what came as an ordinary trace."""

from pathlib import Path
from typing import Any

import bpy
from bpy.props import EnumProperty

from ...tracevis3d import api
from ...tracevis3d.errors import TraceVisError
from ...tracevis3d.live.endpoint import Keys, check, is_loopback
from ...tracevis3d.progress import Progress, part
from ...tracevis3d.scene.build import show_colors_as_data
from ...tracevis3d.scene.live.live_view import LIVE
from ...tracevis3d.views import registry as views
from .. import preconditions
from ..overlay import framing
from ..state import settings
from ..task import LongOperator
from ..views import make_view
from . import feed_settings, overlay, watched_feed
from .watched_feed import Feed


def may_connect(endpoint: str) -> str:
    """Return one sentence on why Blender's settings forbid an endpoint; empty if they don't.

    The setting *Allow Online Access* is about the network: this machine's own addresses need no leave.
    """
    if is_loopback(endpoint) or bpy.app.online_access:
        return ""
    if bpy.app.online_access_override:
        return "Blender was started in offline mode: only feeds of this machine can be watched"
    return "Allow Online Access in the preferences (System) to watch feeds of other machines"


def _watched() -> Feed:
    """Return the feed that is being watched; for what runs only where there is one, as after ``poll``."""
    assert Feed.current is not None
    return Feed.current


def _is_watched(operator: Any) -> bool:
    """Return whether a feed is being watched, and let ``operator`` say so if not."""
    if Feed.current is None:
        operator.poll_message_set("No feed is being watched")
    return Feed.current is not None


class TRACEVIS3D_OT_live_connect(bpy.types.Operator):
    """Watch a running program: connect to its live feed and show it as it arrives"""

    bl_idname = "tracevis3d.live_connect"
    bl_label = "Connect"
    # No step of undo: live data can't be undone.
    bl_options = {"REGISTER"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if sentence := watched_feed.missing():
            cls.poll_message_set(sentence)
            return False
        if Feed.current is not None:
            cls.poll_message_set("A feed is being watched already: stop it first")
            return False
        return preconditions.poll(cls, context, preconditions.IDLE, preconditions.OBJECT_MODE)

    def execute(self, context: bpy.types.Context) -> set[str]:
        wanted = feed_settings.of(context)
        keys = Keys(bpy.path.abspath(wanted.key), bpy.path.abspath(wanted.peer))
        try:
            endpoint = check(wanted.endpoint.strip(), keys)
            if sentence := may_connect(endpoint):
                self.report({"ERROR"}, sentence)
                return {"CANCELLED"}
            values = feed_settings.values(wanted)
            feed = Feed(endpoint, keys, wanted.view, wanted.window, wanted.style, values)
        except TraceVisError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        scene = _own_scene(context, feed)
        watched_feed.start(feed)
        feed.show_in(scene)
        feed.shown.tick(0, 0.0, feed.status())
        overlay.look(context)
        return {"FINISHED"}


class TRACEVIS3D_OT_live_show(bpy.types.Operator):
    """Show the feed here, after undo has removed its objects or another file was opened"""

    bl_idname = "tracevis3d.live_show"
    bl_label = "Show Here"
    bl_options = {"REGISTER"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return _is_watched(cls) and preconditions.poll(cls, context, preconditions.OBJECT_MODE)

    def execute(self, context: bpy.types.Context) -> set[str]:
        feed = _watched()
        feed.show_in(_own_scene(context, feed))
        feed.shown.tick(feed.now(), 0.0, feed.status())
        overlay.look(context)
        return {"FINISHED"}


def _own_scene(context: bpy.types.Context, feed: Feed) -> bpy.types.Scene:
    """Return a scene for the live view: the one that an earlier one left behind, or a new one."""
    name = "TraceVis3D Live"
    scene = bpy.data.scenes.get(name)
    if scene is None:
        scene = bpy.data.scenes.new(name)
    for collection in list(scene.collection.children):
        if LIVE in collection:
            remains = set(collection.objects)
            for shown in remains:
                bpy.data.objects.remove(shown)
            bpy.data.collections.remove(collection)
    show_colors_as_data(scene)
    scene.render.resolution_x, scene.render.resolution_y = 1920, 1080
    scene.render.engine = "BLENDER_WORKBENCH"
    shading = scene.display.shading
    shading.light, shading.color_type = "FLAT", "VERTEX"
    shading.show_object_outline = shading.show_cavity = shading.show_shadows = False
    if context.window is not None:
        context.window.scene = scene
    return scene


class TRACEVIS3D_OT_live_pause(bpy.types.Operator):
    """Pause, or resume; what is received meanwhile is counted but not shown"""

    bl_idname = "tracevis3d.live_pause"
    bl_label = "Pause"
    bl_options = {"REGISTER"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return _is_watched(cls)

    def execute(self, context: bpy.types.Context) -> set[str]:
        _watched().subscriber.paused = not _watched().subscriber.paused
        watched_feed.redraw_panels()
        return {"FINISHED"}


class TRACEVIS3D_OT_live_suggest(bpy.types.Operator):
    """Send the program a suggestion about what was clicked; it alone decides what to do"""

    bl_idname = "tracevis3d.live_suggest"
    bl_label = "Suggest"
    bl_options = {"REGISTER"}

    what: EnumProperty(
        items=(
            ("look", "Look at It", "Suggest that someone look at this block or call site"),
            ("free", "Free It", "This block, or what this call site allocates, could be freed"),
        ),
        name="What",
    )

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if not _is_watched(cls):
            return False
        if not _watched().subscriber.takes_suggestions:
            cls.poll_message_set("This program takes no suggestions: it was published without --suggestions")
            return False
        picked = _watched().picked
        if picked is None or picked.subject is None:
            cls.poll_message_set("Click a block or a call site of the live memory view in Explore mode first")
            return False
        return True

    def execute(self, context: bpy.types.Context) -> set[str]:
        feed = _watched()
        subject = feed.picked.subject
        try:
            feed.subscriber.suggest(self.what, subject.address, subject.size, subject.site)
        except TraceVisError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        self.report({"INFO"}, f"Suggested: {self.what} {feed.picked.title}")
        return {"FINISHED"}


class TRACEVIS3D_OT_live_stop(LongOperator, bpy.types.Operator):
    """Stop watching, save all that was received as a trace, and draw it in an ordinary view"""

    bl_idname = "tracevis3d.live_stop"
    bl_label = "Stop and Keep"
    bl_options = {"REGISTER", "UNDO"}
    preparations = make_view.PREPARATIONS

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return _is_watched(cls) and preconditions.poll(
            cls, context, preconditions.IDLE, preconditions.OBJECT_MODE
        )

    def execute(self, context: bpy.types.Context) -> set[str]:
        wanted = feed_settings.of(context)
        given = bpy.path.abspath(wanted.folder)
        folder = Path(given) if given else watched_feed.recordings_folder()
        feed = watched_feed.stop()
        assert feed is not None
        if not feed.subscriber.rows:
            self._leave_scene(context, feed)
            self.report({"INFO"}, "Nothing was received")
            return {"FINISHED"}
        path = watched_feed.free_name(folder, feed.subscriber.program)
        view, frame = feed.view, settings.frame_of(context.scene)

        def work(progress: Progress) -> Any:
            folder.mkdir(parents=True, exist_ok=True)
            progress(0.0, "assembling received data")
            trace = feed.subscriber.finish()
            try:
                lost = api.save(trace, path, progress=part(progress, 0.2, 0.5))
            except (TraceVisError, OSError):
                watched_feed.keep(feed)
                raise
            try:
                made = make_view.read_and_draw(
                    str(path), _drawable(trace, view), frame, part(progress, 0.5, 1.0)
                )
            except TraceVisError as error:
                # It is kept all the same, and can be imported.
                return None, [*lost, f"The received data could not be drawn: {error}"]
            return made, lost

        def finish(context: bpy.types.Context, result: Any) -> set[str]:
            made, lost = result
            self._leave_scene(context, feed)
            if made is not None:
                trace, figure, drawing = made
                make_view.new_view(context, [trace], figure, drawing, wanted.style, "OWN")
                framing.look(context)
            for sentence in lost:
                self.report({"WARNING"}, sentence)
            self.report({"INFO"}, f"The received data is saved in {path}")
            return {"FINISHED"}

        return self.carry_out(context, work, finish)

    @staticmethod
    def _leave_scene(context: bpy.types.Context, feed: Feed) -> None:
        """Take the live view's scene out of the file, if it holds nothing else."""
        shown = feed.shown
        if shown is None:
            return
        scene = bpy.data.scenes.get(shown.scene_name)
        shown.remove()
        feed.shown = None
        if scene is None or scene.collection.all_objects or len(bpy.data.scenes) < 2:
            return
        window = context.window
        if window is not None and window.scene == scene:
            window.scene = next(other for other in bpy.data.scenes if other != scene)
        bpy.data.scenes.remove(scene)


def _drawable(trace: Any, view: str) -> str:
    """Return the ordinary view for the received data: the watched one, if it has any."""
    return view if views.find(view).suits(trace) else views.suited(trace)


_CLASSES = (
    TRACEVIS3D_OT_live_connect,
    TRACEVIS3D_OT_live_show,
    TRACEVIS3D_OT_live_pause,
    TRACEVIS3D_OT_live_suggest,
    TRACEVIS3D_OT_live_stop,
)

register, unregister = bpy.utils.register_classes_factory(_CLASSES)
