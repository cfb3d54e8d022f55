"""The extension's hands: each operator calls the library, and says what came of it."""

from . import (
    add_view,
    arrange,
    bookmarks,
    command,
    details,
    differences,
    environment,
    explain,
    explore,
    filters,
    find_source,
    going,
    hiding,
    import_trace,
    keys,
    lists,
    live,
    live_connect,
    live_feed,
    live_settings,
    overview,
    presets,
    rebuild,
    remove_view,
    render,
    save_trace,
    search,
    selection,
    settings,
    sources,
    task,
    templates_menu,
    threads,
    trace_state,
    tree,
)

_MODULES = (
    settings,
    sources,
    trace_state,
    selection,
    details,
    hiding,
    overview,
    tree,
    going,
    lists,
    threads,
    filters,
    import_trace,
    find_source,
    rebuild,
    differences,
    explain,
    presets,
    render,
    save_trace,
    remove_view,
    arrange,
    live,
    add_view,
    search,
    bookmarks,
    live_settings,
    live_connect,
    live_feed,
    keys,
    explore,
    templates_menu,
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
    task.unregister()
