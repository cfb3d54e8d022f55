"""Pointing at the bars of a live view: they move, so the bar under the mouse is searched for all the time."""

from typing import Any

import bpy

from ....tracevis3d.drawing.picked import Description
from ....tracevis3d.scene.window.highlight import Highlight
from ....tracevis3d.views.registry import live_form
from ...live import feed_settings
from ...live.watched_feed import Feed
from .. import overlay

_LOOK = ((0.84, 0.37, 0.0, 0.35), (1.0, 0.75, 0.35, 1.0), 2.2)


class _State:
    pointed: Any = None
    drawn_for: Any = None
    batch: Any = None


_state = _State()


def view_in(scene: bpy.types.Scene) -> Any:
    """Return the live view (a LiveScene) that a scene shows; None: none."""
    feed = Feed.current
    shown = feed.shown if feed is not None else None
    if shown is None or shown.stale or shown.scene_name != scene.name:
        return None
    return shown


def describe_at(scene: bpy.types.Scene, ray: Any) -> list[Description]:
    """Return the description of the bar that ``ray`` meets, and highlight it. Empty: none."""
    shown = view_in(scene)
    _state.pointed = shown.point(ray) if shown is not None else None
    if _state.pointed is None:
        return []
    return [_state.pointed.description]


def leave() -> None:
    """Nothing is pointed at any more."""
    _state.pointed = _state.batch = _state.drawn_for = None


def pick() -> str:
    """Store the bar under the mouse for the panel *Live*; return its title, empty if there is none."""
    feed = Feed.current
    if feed is None or _state.pointed is None:
        return ""
    feed.picked = _state.pointed.description
    return str(feed.picked.title)


def zoom(scene: bpy.types.Scene, ray: Any, factor: float) -> bool:
    """Zoom a live view about the mouse; return whether there is one that can be zoomed."""
    shown, feed = view_in(scene), Feed.current
    wheel = live_form(feed.view).wheel if shown is not None and feed is not None else None
    if feed is None or wheel is None:
        return False
    feed_settings.assign(bpy.context, wheel(shown.view, _across(shown, ray), factor))
    return True


def zoom_back(scene: bpy.types.Scene) -> bool:
    """Let a live view show all again; return whether there is one that can be zoomed."""
    shown, feed = view_in(scene), Feed.current
    wheel = live_form(feed.view).wheel if shown is not None and feed is not None else None
    if feed is None or wheel is None:
        return False
    zoomed = wheel(shown.view, 0.0, 1.0)
    defaults = {p.name: p.default for p in feed_settings.own(feed.view)}
    feed_settings.assign(bpy.context, {name: defaults[name] for name in zoomed})
    return True


def _across(shown: Any, ray: Any) -> float:
    """Return where a ray meets a bar, or else the ground, across."""
    pointed = shown.point(ray)
    if pointed is not None:
        return float(pointed.across)
    down = float(ray.direction[2])
    far = -float(ray.origin[2]) / down if abs(down) > 1e-9 else 0.0
    return float(ray.origin[0] + far * ray.direction[0])


def draw(view: Any, scale: float) -> None:
    """Draw the highlight of the bar under the mouse; from a handler of the 3D view."""
    pointed = _state.pointed
    shown = bpy.data.objects.get(pointed.page) if pointed is not None else None
    if shown is None or not overlay.state.exploring:
        return
    if _state.drawn_for is not pointed:
        _state.drawn_for, _state.batch = pointed, Highlight(pointed.shape, *_LOOK)
    _state.batch.draw(shown.matrix_world, view, scale)


def register() -> None:
    """Highlight the bar under the mouse from now on."""
    overlay.on_lit.connect(draw)


def unregister() -> None:
    """Stop highlighting."""
    overlay.on_lit.disconnect(draw)
    leave()
