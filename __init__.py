"""Blender extension entry point; the library is the tracevis3d sub-package."""


def register() -> None:
    """Register the operators and panels."""
    from . import operators, panels

    operators.register()
    panels.register()


def unregister() -> None:
    """Remove what :func:`register` added, in reverse order."""
    from . import operators, panels

    panels.unregister()
    operators.unregister()
