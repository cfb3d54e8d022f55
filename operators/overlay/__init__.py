"""What explains the views, over the scene in the window: title, legend, rulers, names, callouts, map."""

from . import draw, legend, minimap, mouse, page, picture


def register() -> None:
    """Draw overlays, and hide what is printed."""
    legend.register()
    draw.register()
    mouse.register()
    minimap.register()
    page.register()
    picture.register()


def unregister() -> None:
    """Undo :func:`register`."""
    picture.unregister()
    page.unregister()
    minimap.unregister()
    mouse.unregister()
    draw.unregister()
    legend.unregister()
