"""What the panel *Live* asks for; kept with the window manager, where undo does not reach."""

from typing import Any

import bpy
from bpy.props import EnumProperty, FloatProperty, PointerProperty, StringProperty

from ...tracevis3d.views import registry as views
from ..state import settings

_VIEW_ITEMS = tuple((name, name.capitalize(), form.sentence) for name, form in views.live_forms().items())


def _changed(group: Any, _context: bpy.types.Context) -> None:
    from .watched_feed import Feed

    if Feed.current is not None:
        Feed.current.change(group.view, group.window, group.style)


def _arranged(group: Any, _context: bpy.types.Context) -> None:
    from .watched_feed import Feed

    if Feed.current is not None:
        Feed.current.arrange(group.order == "site", group.width == "log")


_quiet = False


def show_sight(context: bpy.types.Context, sight: tuple[float, float]) -> None:
    """Tell in the panel what a live view of memory shows; the view itself is told by who calls this."""
    global _quiet
    _quiet = True
    try:
        of(context).left, of(context).right = sight
    finally:
        _quiet = False


def _zoomed(group: Any, _context: bpy.types.Context) -> None:
    from .watched_feed import Feed

    if not _quiet and Feed.current is not None and group.left < group.right:
        Feed.current.zoom(group.left, group.right)


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
    order: EnumProperty(
        items=(
            ("creation", "By Creation", "Blocks lie in the order of their creation"),
            ("site", "By Call Site", "Blocks of a call site lie side by side, those with most bytes first"),
        ),
        name="Order",
        default="creation",
        update=_arranged,
    )
    width: EnumProperty(
        items=(
            ("bytes", "Bytes", "Blocks are as wide as their bytes"),
            ("log", "Logarithm of Bytes", "Blocks are as wide as the logarithm of their bytes"),
        ),
        name="Width",
        default="bytes",
        update=_arranged,
    )
    left: FloatProperty(
        name="From",
        description="Where along the bytes the view begins; in Explore mode Ctrl and the wheel zoom",
        default=0.0, min=0.0, max=1.0, precision=4, update=_zoomed,
    )  # fmt: skip
    right: FloatProperty(
        name="To",
        description="Where along the bytes the view ends, as a share",
        default=1.0, min=0.0, max=1.0, precision=4, update=_zoomed,
    )  # fmt: skip
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
