"""The inputs of a view, stored in the .blend on the view's collection: enough to rebuild it.

The groups of a view's parameters are made from the view's own declaration, so the panel, the stored
settings and the command line have the same names, ranges and words.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Any

import bpy
from bpy.props import (
    BoolProperty,
    CollectionProperty,
    EnumProperty,
    FloatProperty,
    FloatVectorProperty,
    IntProperty,
    PointerProperty,
    StringProperty,
)

from ...tracevis3d.drawing.frame import Frame
from ...tracevis3d.drawing.output import STYLES as STYLE_WORDS
from ...tracevis3d.errors import TraceVisError
from ...tracevis3d.parameters import Parameter, declared
from ...tracevis3d.views import registry as views
from .. import signals

#: Styles of the library, with descriptions.
STYLES = tuple((name, name.capitalize(), words) for name, words in STYLE_WORDS.items())
#: Engines of the library, with descriptions.
ENGINES = (
    ("auto", "Auto", "Cycles for the soft light of a picture, Workbench for the many frames of a film"),
    ("workbench", "Workbench", "Fast; colours without shadows"),
    ("eevee", "EEVEE", "Light and shadows on the graphics card"),
    ("cycles", "Cycles", "Soft light and shadows by path tracing"),
)
_INT_LIMIT = 2**31 - 1


def _mark_stale(group: bpy.types.PropertyGroup, _context: bpy.types.Context) -> None:
    """A parameter was changed: the scene shows the old ones until it is rebuilt."""
    collection = group.id_data
    if not is_quiet():
        of(collection).stale = True
        signals.on_change.send(collection)


def _settle(_group: bpy.types.PropertyGroup, _context: bpy.types.Context) -> None:
    """The placement of a view, the active view, or the way they are shown was changed."""
    if not is_quiet():
        signals.on_move.send()


class TRACEVIS3D_PG_fact(bpy.types.PropertyGroup):
    """A line of the panel, worded when the trace was read, so that drawing the panel computes nothing."""

    label: StringProperty(name="Label")
    text: StringProperty(name="Text")
    detail: StringProperty(name="Detail")


class TRACEVIS3D_PG_table(bpy.types.PropertyGroup):
    """Facts of one kind, such as how many calls are how similar; its name is its heading."""

    rows: CollectionProperty(type=TRACEVIS3D_PG_fact)


class TRACEVIS3D_PG_source(bpy.types.PropertyGroup):
    """The source of a trace, and its contents."""

    path: StringProperty(name="Path", description="The trace's file; // stands for the .blend's folder")
    format: StringProperty(name="Format")
    hash: StringProperty(name="SHA-256")
    size: StringProperty(name="Size", description="Bytes on disk")
    state: StringProperty(name="State", description="Where it was last found: FILE, CACHE or MISSING")
    facts: CollectionProperty(type=TRACEVIS3D_PG_fact)
    problems: CollectionProperty(type=TRACEVIS3D_PG_fact)


def property_of(parameter: Parameter, update: Any = _mark_stale) -> Any:
    """Return the Blender property that ``parameter`` is edited with; ``update`` is called when it changes."""
    common: dict[str, Any] = {
        "name": title_of(parameter),
        "description": parameter.sentence,
        "update": update,
    }
    default = parameter.default
    if isinstance(default, bool):
        return BoolProperty(default=default, **common)
    if isinstance(default, (int, float)):
        if parameter.low is not None:
            common["min"] = parameter.low
        if parameter.high is not None:
            common["max"] = parameter.high
        if parameter.unit == "px":
            common["subtype"] = "PIXEL"
        if isinstance(default, int):
            bounds = (parameter.low, parameter.high, default)
            if any(abs(bound) > _INT_LIMIT for bound in bounds if bound is not None):
                raise ValueError(f"{parameter.name}: Blender's whole numbers end at {_INT_LIMIT:,}")
            return IntProperty(
                default=default, **{k: int(v) if k in ("min", "max") else v for k, v in common.items()}
            )
        return FloatProperty(default=default, precision=3, step=10, **common)
    if parameter.choices:
        items = [
            (name, name.replace("-", " ").capitalize(), words) for name, words in parameter.choices.items()
        ]
        return EnumProperty(items=items, default=default, **common)
    return StringProperty(default=default, **common)


def title_of(parameter: Parameter) -> str:
    """Return the parameter's name for people, with its unit where Blender doesn't write one."""
    unit = f" ({parameter.unit})" if parameter.unit and parameter.unit != "px" else ""
    return parameter.name.replace("_", " ").title() + unit


def parameter_groups() -> dict[str, type]:
    """Return view name -> group of its parameters; views that can't be loaded here are left out."""
    groups = {}
    for name in views.names():
        try:
            parameters = declared(views.find(name).parameters)
        except TraceVisError:  # the page in the preferences says which
            continue
        members = {
            "__annotations__": {p.name: property_of(p) for p in parameters},
            "__doc__": f"Parameters of the view {name}.",
        }
        groups[name] = type(f"TRACEVIS3D_PG_view_{name}", (bpy.types.PropertyGroup,), members)
    return groups


def loadable_views() -> list[Any]:
    """Return the views that can be loaded here, in order."""
    found = []
    for name in views.names():
        with suppress(TraceVisError):
            found.append(views.find(name))
    return found


def frame_of(scene: bpy.types.Scene) -> Frame:
    """Return the frame of the scene's pictures, which determines the level of detail."""
    view = active_in(scene)
    straight = view is not None and of(view).style == "flat"
    return Frame(max(16, scene.render.resolution_x), max(16, scene.render.resolution_y), straight=straight)


def of(collection: bpy.types.Collection) -> Any:
    """Return the settings kept on ``collection``."""
    return collection.tracevis3d


def is_view(collection: bpy.types.Collection | None) -> bool:
    """Return whether ``collection`` holds a view."""
    return collection is not None and bool(of(collection).view)


def active(context: bpy.types.Context) -> bpy.types.Collection | None:
    """Return the view's collection that panel and operators are about: the chosen one, or the only one."""
    return active_in(context.scene)


def require_active(context: bpy.types.Context) -> bpy.types.Collection:
    """Return the active view; for what runs only where there is one, as after ``poll``."""
    collection = active(context)
    assert collection is not None
    return collection


def active_in(scene: bpy.types.Scene) -> bpy.types.Collection | None:
    """Return the active view of ``scene``."""
    # Blender asks panels whether they are shown while the extension is being removed, too.
    if not hasattr(scene, "tracevis3d_view"):
        return None
    chosen = scene.tracevis3d_view
    # Panels ask dozens of times for each picture: most views lie in the scene's own collection.
    if is_view(chosen) and scene.collection.children.get(chosen.name) == chosen:
        return chosen
    present = all_in(scene)
    if chosen in present:
        return chosen
    return present[0] if present else None


def all_in(scene: bpy.types.Scene) -> list[bpy.types.Collection]:
    """Return the collections of the scene's views."""
    return [collection for collection in scene.collection.children_recursive if is_view(collection)]


def parameters(collection: bpy.types.Collection) -> bpy.types.PropertyGroup | None:
    """Return the group with the parameters of the collection's view; None if this Blender lacks the view."""
    settings = of(collection)
    return getattr(settings, settings.view, None)


def require_parameters(collection: bpy.types.Collection) -> bpy.types.PropertyGroup:
    """Return the group with the parameters of a view that this Blender has."""
    group = parameters(collection)
    assert group is not None
    return group


def values(collection: bpy.types.Collection) -> dict[str, Any]:
    """Return the parameters' values, as :class:`tracevis3d.api.Figure` takes them.

    Blender keeps numbers in single precision; they are returned as the decimal that was typed.
    """
    return values_in(parameters(collection), declared(views.find(of(collection).view).parameters))


def values_in(group: Any, wanted: Iterable[Parameter]) -> dict[str, Any]:
    """Return the values that a group has of some parameters."""
    found = {}
    for parameter in wanted:
        value = getattr(group, parameter.name)
        found[parameter.name] = float(f"{value:.7g}") if isinstance(value, float) else value
    return found


def _number(scene: bpy.types.Scene) -> int:
    collection = active_in(scene)
    return next((i for i, other in enumerate(bpy.data.collections) if other == collection), -1)


def _choose(scene: bpy.types.Scene, number: int) -> None:
    if 0 <= number < len(bpy.data.collections) and bpy.data.collections[number] in all_in(scene):
        scene.tracevis3d_view = bpy.data.collections[number]


_by_us: ContextVar[bool] = ContextVar("the extension itself is changing settings", default=False)


def is_quiet() -> bool:
    """Return whether the extension itself is changing settings, not by a person."""
    return _by_us.get()


@contextmanager
def quietly() -> Iterator[None]:
    """Let settings be changed without marking the view stale, and without drawing it again."""
    before = _by_us.set(True)
    try:
        yield
    finally:
        _by_us.reset(before)


def assign(collection: bpy.types.Collection, wanted: dict[str, Any]) -> None:
    """Set parameters, quietly."""
    group = parameters(collection)
    with quietly():
        for name, value in wanted.items():
            setattr(group, name, value)


def fill(stored: Any, rows: Any) -> None:
    """Store rows of label, text and detail, as panels show them, replacing the previous ones."""
    stored.clear()
    for row in rows:
        fact = stored.add()
        for name, text in zip(("label", "text", "detail"), row):
            setattr(fact, name, text)


def _properties() -> dict[str, Any]:
    """Return the settings that all views have."""
    return {
        "view": StringProperty(name="View", description="Name of the view; empty for any other collection"),
        "style": EnumProperty(items=STYLES, default="paper", name="Style", update=_mark_stale),
        "filters": StringProperty(
            name="Filters",
            description="Filters that hide or fade calls, separated by semicolons, such as "
            "name(pattern=log). 'tracevis3d filters' lists them",
            update=_mark_stale,
        ),
        "engine": EnumProperty(
            items=ENGINES, default="auto", name="Engine", description="What renders pictures and films"
        ),
        "output": StringProperty(
            name="File",
            description="Where pictures and films are written; the suffix chooses the format; empty: ask",
            subtype="FILE_PATH",
        ),
        "seconds": FloatProperty(
            default=8.0,
            min=0.04,
            max=3600.0,
            precision=1,
            name="Film (s)",
            description="Length of the film in which the trace's time runs",
            update=_mark_stale,
        ),
        "place": FloatVectorProperty(
            name="Place",
            description="Where the view is placed in the scene",
            size=3,
            subtype="TRANSLATION",
            update=_settle,
        ),
        "low": FloatVectorProperty(name="Low", description="Lowest coordinates of the drawing", size=3),
        "high": FloatVectorProperty(name="High", description="Highest coordinates of the drawing", size=3),
        "sources": CollectionProperty(type=TRACEVIS3D_PG_source),
        "facts": CollectionProperty(type=TRACEVIS3D_PG_fact),
        "tables": CollectionProperty(type=TRACEVIS3D_PG_table),
        "stale": BoolProperty(name="Stale", description="Parameters were changed after the last rebuild"),
    }


#: The groups that were made at registration, for Blender to take away.
_registered: list[type] = []


def register() -> None:
    """Register the groups and hang them on collections and scenes."""
    groups = parameter_groups()
    for group in (TRACEVIS3D_PG_fact, TRACEVIS3D_PG_table, TRACEVIS3D_PG_source, *groups.values()):
        bpy.utils.register_class(group)
        _registered.append(group)
    annotations = _properties() | {name: PointerProperty(type=group) for name, group in groups.items()}
    settings = type("TRACEVIS3D_PG_settings", (bpy.types.PropertyGroup,), {"__annotations__": annotations})
    bpy.utils.register_class(settings)
    _registered.append(settings)
    bpy.types.Collection.tracevis3d = PointerProperty(type=settings)
    bpy.types.Scene.tracevis3d_own = BoolProperty(
        name="Own Scene", description="The scene was made for a view, and is removed with it"
    )
    bpy.types.Scene.tracevis3d_view_number = IntProperty(
        name="View", description="Number of the active view among all collections", get=_number, set=_choose
    )
    bpy.types.Scene.tracevis3d_overview = BoolProperty(
        name="All Views", description="Pictures show all views of the scene side by side", update=_settle
    )
    bpy.types.Scene.tracevis3d_view = PointerProperty(
        type=bpy.types.Collection,
        name="View",
        description="The view that the TraceVis panel shows",
        update=_settle,
        poll=lambda scene, collection: (
            is_view(collection) and collection in scene.collection.children_recursive
        ),
    )


def unregister() -> None:
    """Undo :func:`register`."""
    del bpy.types.Scene.tracevis3d_view
    del bpy.types.Scene.tracevis3d_overview
    del bpy.types.Scene.tracevis3d_view_number
    del bpy.types.Scene.tracevis3d_own
    del bpy.types.Collection.tracevis3d
    while _registered:
        bpy.utils.unregister_class(_registered.pop())
