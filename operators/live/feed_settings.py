"""The settings of the panel *Live*; stored with the window manager, where undo does not reach."""

from typing import Any

import bpy
from bpy.props import EnumProperty, FloatProperty, PointerProperty, StringProperty

from ...tracevis3d.parameters import Parameter, declared
from ...tracevis3d.views.registry import live_forms
from ..state import settings
from .watched_feed import Feed


def _changed(group: Any, _context: bpy.types.Context) -> None:
    if Feed.current is not None:
        Feed.current.change(group.view, group.window, group.style, values(group))


def _changed_setting(_group: Any, context: bpy.types.Context) -> None:
    if not settings.is_quiet():
        _changed(of(context), context)


def own(view: str) -> tuple[Parameter, ...]:
    """Return the settings that a live view declares for itself alone."""
    declares = live_forms()[view].settings
    return declared(declares) if declares is not None else ()


def values(group: Any) -> dict[str, Any]:
    """Return the own settings of the live view that is chosen."""
    return settings.values_in(getattr(group.views, group.view), own(group.view))


def assign(context: bpy.types.Context, wanted: dict[str, Any]) -> None:
    """Change own settings of the live view that is chosen, and let it take them all at once."""
    group = of(context)
    with settings.quietly():
        for name, value in wanted.items():
            setattr(getattr(group.views, group.view), name, value)
    _changed(group, context)


def _view_items() -> tuple[tuple[str, str, str], ...]:
    return tuple((name, name.capitalize(), form.sentence) for name, form in live_forms().items())


class TRACEVIS3D_PG_live(bpy.types.PropertyGroup):
    """The endpoint, and the settings of the view."""

    endpoint: StringProperty(
        name="Endpoint",
        description="Where the program publishes: ipc, or such as tcp://127.0.0.1:5570 or ipc:///tmp/feed",
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
    window: FloatProperty(
        name="Window",
        description="Length of the view's time window, in seconds",
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
        description="Folder where Stop saves received data; empty: the extension's own folder",
        subtype="DIR_PATH",
    )


def of(context: bpy.types.Context) -> Any:
    """Return the settings."""
    return context.window_manager.tracevis3d_live


_registered: list[type] = []


def _group(name: str, annotations: dict[str, Any], of: str) -> type:
    """Register a group with these properties."""
    members = {"__annotations__": annotations, "__doc__": f"Settings of {of}."}
    made = type(name, (bpy.types.PropertyGroup,), members)
    bpy.utils.register_class(made)
    _registered.append(made)
    return made


def register() -> None:
    """Register the groups, one for each live view's own settings, and hang them on the window manager."""
    pointers: dict[str, Any] = {}
    for name in live_forms():
        properties = {p.name: settings.property_of(p, _changed_setting) for p in own(name)}
        group = _group(f"TRACEVIS3D_PG_live_{name}", properties, f"the live view {name}")
        pointers[name] = PointerProperty(type=group)
    views = _group("TRACEVIS3D_PG_live_views", pointers, "each live view")
    TRACEVIS3D_PG_live.__annotations__ |= {
        "view": EnumProperty(items=_view_items(), name="View", update=_changed),
        "views": PointerProperty(type=views),
    }
    bpy.utils.register_class(TRACEVIS3D_PG_live)
    bpy.types.WindowManager.tracevis3d_live = PointerProperty(type=TRACEVIS3D_PG_live)


def unregister() -> None:
    """Undo :func:`register`."""
    del bpy.types.WindowManager.tracevis3d_live
    bpy.utils.unregister_class(TRACEVIS3D_PG_live)
    while _registered:
        bpy.utils.unregister_class(_registered.pop())
