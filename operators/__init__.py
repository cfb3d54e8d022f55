"""The operators of the extension: each calls the library and reports the result."""

from . import (
    command,
    environment,
    explore,
    film,
    handlers,
    immersion,
    keys,
    overlay,
    preferences,
    task,
    templates_menu,
    workspace,
)
from .lists import call_tree, differences, filters, go_to, lists, rows, search
from .live import connect, feed_settings, watched_feed
from .live import overlay as live_overlay
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
    film,
    immersion,
    feed_settings,
    connect,
    watched_feed,
    live_overlay,
    keys,
    overlay,
    explore,
    workspace,
    templates_menu,
    command,
)


def register() -> None:
    """Register everything, in order."""
    environment.use_own_cache()
    preferences.register()
    register_operators()


def unregister() -> None:
    """Remove everything, in reverse order."""
    unregister_operators()
    preferences.unregister()


def register_operators() -> None:
    """Register everything but the page in the preferences, which may be open while plug-ins are renewed."""
    for module in _MODULES:
        module.register()


def unregister_operators() -> None:
    """Remove what :func:`register_operators` added."""
    for module in reversed(_MODULES):
        module.unregister()
    task.unregister()
