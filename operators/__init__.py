"""The extension's hands: each operator calls the library, and says what came of it."""

from . import (
    arrange,
    command,
    environment,
    import_trace,
    rebuild,
    remove_view,
    render,
    save_trace,
    selection,
    settings,
    sources,
    trace_state,
)

_MODULES = (
    settings,
    sources,
    trace_state,
    selection,
    import_trace,
    rebuild,
    render,
    save_trace,
    remove_view,
    arrange,
    command,
)


def register() -> None:
    """Register everything, in order."""
    environment.use_own_cache()
    for module in _MODULES:
        module.register()


def unregister() -> None:
    """Remove everything, in reverse order."""
    for module in reversed(_MODULES):
        module.unregister()
