"""What lies over the scene in the window: title, legend, rulers, names, callouts, map, lens."""

from . import draw, legend, lens, minimap, mouse, page, picture, whole


def register() -> None:
    """Draw overlays, and hide what is printed."""
    legend.register()
    draw.register()
    mouse.register()
    whole.register()
    minimap.register()
    lens.register()
    page.register()
    picture.register()


def unregister() -> None:
    """Undo :func:`register`."""
    picture.unregister()
    page.unregister()
    lens.unregister()
    minimap.unregister()
    whole.unregister()
    mouse.unregister()
    draw.unregister()
    legend.unregister()
