"""Doing something to a module as soon as the program has imported it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

AfterImport = Callable[[ModuleType], None]


class ImportHooks:
    """Calls a function with each of some modules, at once or when it is imported.

    Modules are imported by the recorded program alone: none is loaded beforehand.

    Parameters
    ----------
    hooks : mapping of str to callable
        Function to call, by name of the module; it gets the module.
    after : callable
        Called without arguments after the hook of a module that was imported later.
    """

    def __init__(self, hooks: Mapping[str, AfterImport], after: Callable[[], None]) -> None:
        self._hooks = dict(hooks)
        self._after = after

    def install(self) -> None:
        """Call the hooks of modules that are loaded, and wait for the others."""
        for name in list(self._hooks):
            module = sys.modules.get(name)
            if module is not None:
                self._hooks.pop(name)(module)
        sys.meta_path.insert(0, self)

    def remove(self) -> None:
        """Stop waiting."""
        self._hooks.clear()
        if self in sys.meta_path:
            sys.meta_path.remove(self)

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """Find a module with the other finders, and have its hook called once it is loaded.

        Parameters
        ----------
        name, path, target
            As for each finder in ``sys.meta_path``.

        Returns
        -------
        ModuleSpec or None
            None: the module has no hook, or was not found.
        """
        if name not in self._hooks:
            return None
        for finder in sys.meta_path:
            find = getattr(finder, "find_spec", None)
            if finder is self or find is None:
                continue
            spec: ModuleSpec | None = find(name, path, target)
            if spec is not None:
                if spec.loader is not None and hasattr(spec.loader, "exec_module"):
                    _call_after(spec.loader, self._hooks.pop(name), self._after)
                return spec
        return None


def _call_after(loader: Any, hook: AfterImport, after: Callable[[], None]) -> None:
    execute = loader.exec_module

    def exec_module(module: ModuleType) -> None:
        try:
            execute(module)
        finally:
            # The loader is the module's own: only this one import goes through here.
            vars(loader).pop("exec_module", None)
        hook(module)
        after()

    if hasattr(loader, "__dict__"):
        loader.exec_module = exec_module
