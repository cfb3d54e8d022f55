"""The operators of the extension: each calls the library and reports the result."""

from . import command, environment, explore, handlers, keys, preferences, task, templates_menu
from .lists import call_tree, differences, filters, go_to, lists, rows, search
from .live import connect, feed_settings, watched_feed
from .state import details, filter_stacks, selection, settings, sources, trace_state
from .views import (
    add_view,
    arrange,
    automatic_rebuild,
    bookmarks,
    explain,
    find_source,
    import_trace,
    make_view,
    overview,
    presets,
    rebuild,
    remove_view,
    render,
    save_trace,
)

_MODULES = (
    preferences,
    handlers,
    settings,
    sources,
    trace_state,
    selection,
    details,
    filter_stacks,
    overview,
    call_tree,
    go_to,
    lists,
    rows,
    filters,
    make_view,
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
    automatic_rebuild,
    add_view,
    search,
    bookmarks,
    feed_settings,
    connect,
    watched_feed,
    keys,
    explore,
    templates_menu,
    command,
)


def register(but: str = "") -> None:
    """Register everything, in order, but the module of that name."""
    environment.use_own_cache()
    for module in _MODULES:
        if module.__name__ != but:
            module.register()


def unregister(but: str = "") -> None:
    """Remove everything, in reverse order, but the module of that name."""
    for module in reversed(_MODULES):
        if module.__name__ != but:
            module.unregister()
    task.unregister()
