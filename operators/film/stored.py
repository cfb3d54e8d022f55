"""What a scene stores of its film."""

from typing import Any

import bpy
from bpy.props import (
    BoolProperty,
    CollectionProperty,
    FloatProperty,
    FloatVectorProperty,
    IntProperty,
    IntVectorProperty,
    PointerProperty,
    StringProperty,
)

from ...tracevis3d.stories.timeline import CameraPose, Span, Take, read_back
from .. import signals
from ..state import settings
from ..views.bookmarks import TRACEVIS3D_PG_bookmark
from . import laying


def _changed(shot: bpy.types.PropertyGroup, _context: bpy.types.Context) -> None:
    """A shot was changed in the list."""
    if not settings.is_quiet():
        read(shot.id_data)
        lay(shot.id_data)


class TRACEVIS3D_PG_shot(bpy.types.PropertyGroup):
    """A shot of the film."""

    seconds: FloatProperty(
        name="Duration",
        description="How long the shot lasts, in seconds, with the flight to its place",
        default=5.0,
        min=0.1,
        soft_max=60.0,
        max=3600.0,
        precision=1,
        step=50,
        update=_changed,
    )
    caption: StringProperty(
        name="Caption",
        description="What is written at the foot of the picture while the camera stands still; may be empty",
        update=_changed,
    )
    flies: BoolProperty(
        name="Fly",
        description="The camera flies from the shot before; otherwise the shot begins with a cut",
        default=True,
        update=_changed,
    )
    place: PointerProperty(type=TRACEVIS3D_PG_bookmark)
    width: FloatProperty(description="Width that the picture shows at the focus, in scene units", default=1.0)
    tangent: FloatProperty(description="Half the picture's width at distance 1", default=0.36)
    shift: FloatVectorProperty(size=2, description="Of the lens, as a share of the picture's width")
    laid: IntVectorProperty(size=3, description="First frame, first at rest, last")
    marked: StringProperty(description="The name that its marker was given")


TRACEVIS3D_PG_shot.__annotations__["name"] = StringProperty(name="Name", update=_changed)


class TRACEVIS3D_PG_film(bpy.types.PropertyGroup):
    """The film of a scene."""

    shots: CollectionProperty(type=TRACEVIS3D_PG_shot)
    index: IntProperty(name="Shot")
    camera: PointerProperty(type=bpy.types.Object, description="The film's camera")
    before: IntVectorProperty(size=2, description="The scene's first and last frame without the film")


def of(scene: bpy.types.Scene) -> Any:
    """Return the film of a scene."""
    return scene.tracevis3d_film


def active(scene: bpy.types.Scene) -> Any:
    """Return the shot that is chosen in the list; None if there is none."""
    film = of(scene)
    return film.shots[film.index] if 0 <= film.index < len(film.shots) else None


def read(scene: bpy.types.Scene) -> None:
    """Take over what a person has done to the markers of the shots: moved or renamed them."""
    film = of(scene)
    laid = [Span(*shot.laid) for shot in film.shots]
    markers = [(m.name, m.frame) for m in scene.timeline_markers if film.camera and m.camera == film.camera]
    found = read_back([shot.marked for shot in film.shots], laid, markers)
    if found is None:
        return
    fps, chosen = laying.fps_of(scene), film.index
    places = list(range(len(film.shots)))
    with settings.quietly():
        for i, mark in enumerate(found):
            at = places.index(mark.shot)
            film.shots.move(at, i)
            places.insert(i, places.pop(at))
            shot = film.shots[i]
            if mark.name != shot.marked:
                shot.name = mark.name
            if mark.frames:
                shot.seconds = mark.frames / fps
        film.index = places.index(chosen) if chosen in places else 0


def lay(scene: bpy.types.Scene) -> None:
    """Make markers, keyframes and captions of the shots anew; without shots nothing is left of the film."""
    film = of(scene)
    if not len(film.shots):
        laying.remove(scene, film)
        return
    takes = [Take(shot.seconds, pose_of_shot(shot), shot.flies) for shot in film.shots]
    with settings.quietly():
        laying.lay(scene, film, takes)


def pose_of_shot(shot: Any) -> CameraPose:
    """Return how the camera stands in a shot."""
    w, x, y, z = shot.place.rotation
    focus, shift = shot.place.focus, shot.shift
    return CameraPose(
        (focus[0], focus[1], focus[2]), (w, x, y, z), shot.width, shot.tangent, (shift[0], shift[1])
    )


def _lay_again(scene: bpy.types.Scene, *_: Any) -> None:
    """A view was drawn again: its title and legends are other objects, and its time may last longer."""
    if len(of(scene).shots):
        read(scene)
        lay(scene)


_CONNECTIONS = ((signals.on_show, _lay_again),)
_register, _unregister = bpy.utils.register_classes_factory((TRACEVIS3D_PG_shot, TRACEVIS3D_PG_film))


def register() -> None:
    """Register what scenes store."""
    _register()
    bpy.types.Scene.tracevis3d_film = PointerProperty(type=TRACEVIS3D_PG_film)
    signals.connect(_CONNECTIONS)


def unregister() -> None:
    """Undo :func:`register`."""
    signals.disconnect(_CONNECTIONS)
    del bpy.types.Scene.tracevis3d_film
    _unregister()
