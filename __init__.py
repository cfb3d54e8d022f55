"""Blender extension entry point; the library is the tracevis3d sub-package."""


def register() -> None:
    """Register the operators and panels."""
    from . import operators, panels
    from .operators import signals

    operators.register()
    panels.register()
    signals.on_plugins.connect(_renew)


def unregister() -> None:
    """Remove what :func:`register` added, in reverse order."""
    from . import operators, panels
    from .operators import signals

    signals.on_plugins.disconnect(_renew)
    panels.unregister()
    operators.unregister()


def _renew() -> None:
    """Register everything anew with the plug-ins that there are now: settings are made from the views."""
    from . import operators, panels

    panels.unregister()
    operators.unregister_operators()
    operators.preferences.use_folder()
    operators.register_operators()
    panels.register()
