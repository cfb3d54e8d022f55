"""What the panel *Live* asks for; kept with the window manager, where undo does not reach."""

from typing import Any

import bpy
from bpy.props import EnumProperty, FloatProperty, PointerProperty, StringProperty

from ..tracevis3d.live.flows import VIEWS
from . import settings

_VIEW_ITEMS = tuple((name, name.capitalize(), words) for name, words in VIEWS.items())


def _changed(group: Any, _context: bpy.types.Context) -> None:
    from .live_feed import Feed

    if Feed.current is not None:
        Feed.current.change(group.view, group.window, group.style)


class TRACEVIS3D_PG_live(bpy.types.PropertyGroup):
    """Where to connect to, and what to show of it."""

    endpoint: StringProperty(
        name="Endpoint",
        description="Where the program publishes, such as tcp://127.0.0.1:5570 or ipc:///tmp/feed",
        default="tcp://127.0.0.1:5570",
    )
    key: StringProperty(
        name="Key",
        description="Your secret key file; needed for endpoints on other machines",
        subtype="FILE_PATH",
    )
    peer: StringProperty(
        name="Publisher's Key",
        description="The publisher's public key file; needed for endpoints on other machines",
        subtype="FILE_PATH",
    )
    view: EnumProperty(items=_VIEW_ITEMS, name="View", default="icicle", update=_changed)
    window: FloatProperty(
        name="Window",
        description="Seconds that the view reaches back from now",
        default=10.0,
        min=0.1,
        max=3600.0,
        soft_max=60.0,
        precision=1,
        update=_changed,
    )
    style: EnumProperty(items=settings.STYLES[:2], name="Style", default="stage", update=_changed)
    folder: StringProperty(
        name="Folder",
        description="Where Stop keeps what was received; empty: the extension's own folder",
        subtype="DIR_PATH",
    )


def of(context: bpy.types.Context) -> Any:
    """Return the settings."""
    return context.window_manager.tracevis3d_live


def register() -> None:
    """Register the group and hang it on the window manager."""
    bpy.utils.register_class(TRACEVIS3D_PG_live)
    bpy.types.WindowManager.tracevis3d_live = PointerProperty(type=TRACEVIS3D_PG_live)


def unregister() -> None:
    """Undo :func:`register`."""
    del bpy.types.WindowManager.tracevis3d_live
    bpy.utils.unregister_class(TRACEVIS3D_PG_live)
