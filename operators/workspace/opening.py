"""When the workspace opens: with the first import, or by its button."""

from collections.abc import Callable, Iterator
from typing import Any

import bpy
from bpy.props import BoolProperty

from .. import areas, preferences, signals
from ..overlay import framing
from ..state import settings
from ..views import overview, viewport
from . import screen

NAME = "TraceVis"
#: The custom property that tells our workspace, whatever it is called.
_MARK = "tracevis3d"
#: Seconds between two looks whether Blender has changed the window's workspace, and how many looks.
_WAIT, _LOOKS = 0.02, 100


def find() -> bpy.types.WorkSpace | None:
    """Return the workspace of this file, if it has ours."""
    return next((one for one in bpy.data.workspaces if one.get(_MARK)), None)


def is_open(context: bpy.types.Context) -> bool:
    """Return whether the window shows our workspace."""
    return context.workspace is not None and bool(context.workspace.get(_MARK))


def go(window: bpy.types.Window, then: Callable[[], None]) -> None:
    """Let a window show the workspace, which is made if the file has none, then call ``then()``."""
    workspace = find()
    new = workspace is None
    if workspace is None:
        before = {one.name for one in bpy.data.workspaces}
        with bpy.context.temp_override(window=window):
            bpy.ops.workspace.duplicate()
        (workspace,) = (one for one in bpy.data.workspaces if one.name not in before)
        workspace.name = NAME
        workspace[_MARK] = True
    else:
        window.workspace = workspace
    name, looks = workspace.name, iter(range(_LOOKS))
    steps: list[Iterator[None]] = []

    # Blender changes the workspace when all events are handled.
    def wait() -> float | None:
        windows = bpy.context.window_manager.windows
        shown = next((one for one in windows if one.workspace.name == name), None)
        if shown is None:
            return _WAIT if next(looks, None) is not None else None
        if new and not steps:
            steps.append(screen.lay_out(shown))
        with bpy.context.temp_override(window=shown):
            for _ in steps[0] if steps else ():
                return _WAIT
            then()
        return None

    bpy.app.timers.register(wait, first_interval=_WAIT)


class TRACEVIS3D_OT_workspace(bpy.types.Operator):
    """Show the workspace for traces: a large 3D view, calls, what is selected, and the time strip"""

    bl_idname = "tracevis3d.workspace"
    bl_label = "TraceVis Workspace"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if context.window is None or bpy.app.background:
            cls.poll_message_set("It needs a window")
            return False
        return True

    def execute(self, context: bpy.types.Context) -> set[str]:
        go(context.window, _look)
        return {"FINISHED"}


def _look() -> None:
    """Look at what the scene shows, and list its calls."""
    context = bpy.context
    if settings.active_in(context.scene) is None:
        # The camera of a scene without a trace looks at nothing of ours.
        viewport.show_tab(context)
        return
    framing.look(context)
    _list_calls(context)


def _list_calls(context: bpy.types.Context) -> None:
    """List the calls of the active view where the screen has an editor for them."""
    collection = settings.active_in(context.scene)
    area = next((one for one in context.screen.areas if areas.kind_of(one) == areas.CALLS), None)
    if area is None or collection is None or not overview.of(collection).calls:
        return
    with bpy.context.temp_override(area=area, region=area.regions[-1]):
        if not len(collection.tracevis3d_tree_rows) and bpy.ops.tracevis3d.tree_show.poll():
            bpy.ops.tracevis3d.tree_show("INVOKE_DEFAULT")


def _imported(context: bpy.types.Context, asked: bool) -> None:
    """Look at what was imported: in our workspace, if a person imports for the first time."""
    stored = preferences.stored()
    wanted = asked and stored is not None and stored.workspace and find() is None
    if wanted and TRACEVIS3D_OT_workspace.poll(context):
        go(context.window, _look)
    else:
        framing.look(context)
        if asked and context.window is not None:
            _list_calls(context)


_CONNECTIONS: tuple[tuple[signals.Signal[Any], Callable[..., object]], ...] = (
    (signals.on_import, _imported),
)


def register() -> None:
    """Register the button, and which parts of the tab are open."""
    bpy.types.WindowManager.tracevis3d_parameters = BoolProperty(
        name="Parameters", description="Show the parameters of the active view"
    )
    bpy.utils.register_class(TRACEVIS3D_OT_workspace)
    signals.connect(_CONNECTIONS)


def unregister() -> None:
    """Undo :func:`register`."""
    signals.disconnect(_CONNECTIONS)
    bpy.utils.unregister_class(TRACEVIS3D_OT_workspace)
    del bpy.types.WindowManager.tracevis3d_parameters
