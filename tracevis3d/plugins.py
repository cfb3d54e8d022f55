"""Registries of views, formats and filters: our own by a table, others as plug-ins.

A plug-in is a package whose entry points name what it adds, or a folder that holds such packages or single
modules (:func:`use_folders`). It imports ``tracevis3d``, also inside Blender, where the
library has another name.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib import import_module, invalidate_caches
from importlib.machinery import ModuleSpec
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from .errors import UsageError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

T = TypeVar("T")

#: The name that plug-ins import, independent of the library's name here.
PUBLIC = "tracevis3d"
#: The library's name here: inside Blender ``bl_ext.<repository>.tracevis3d.tracevis3d``.
_HERE = __name__.rpartition(".")[0]
#: A folder of plug-ins for programs without a window.
FOLDER_VARIABLE = "TRACEVIS3D_PLUGINS"

_lock = threading.RLock()


@dataclass(frozen=True)
class Contribution:
    """One thing that a plug-in adds.

    Attributes
    ----------
    name : str
        The word by which it is requested.
    origin : str
        Where it comes from, for messages.
    package : str
        The package that is imported for it.
    load : callable
        Imports and returns it.
    """

    name: str
    origin: str
    package: str
    load: Callable[[], Any]


class Registry(Generic[T]):
    """The things of one kind that there are; each is imported when it is requested.

    Parameters
    ----------
    word : str
        What one is called in messages, such as ``view``.
    kind : type
        What each must be an instance of.
    package : str
        The package of our own modules.
    own : mapping of str to str
        Name -> module of ``package`` that defines it under ``attribute``.
    attribute : str
    group : str
        The entry points' group in which other packages name theirs.
    check : callable, optional
        ``check(thing, name)`` raises :class:`~tracevis3d.errors.UsageError` if a plug-in's can't be used.
    complete : callable, optional
        ``complete(thing)`` returns what is offered in its place: with what all of the kind have.
    """

    def __init__(
        self,
        word: str,
        kind: type[T],
        package: str,
        own: Mapping[str, str],
        attribute: str,
        group: str,
        check: Callable[[T, str], None] = lambda thing, name: None,
        complete: Callable[[T], T] = lambda thing: thing,
    ) -> None:
        self.word, self.kind, self.package = word, kind, package
        self.own, self.attribute, self.group = own, attribute, group
        self._check, self._complete = check, complete
        self._found: dict[str, T] = {}
        self._refused: dict[str, UsageError] = {}
        self._others: dict[str, Contribution] | None = None
        _registries.append(self)

    def names(self) -> list[str]:
        """Return all names, ours first; none is imported."""
        return [*self.own, *sorted(name for name in self.others if name not in self.own)]

    def __contains__(self, name: object) -> bool:
        """Whether there is one of this name; plug-ins are searched only if it is none of ours."""
        return name in self.own or name in self.others

    def loadable(self) -> list[T]:
        """Return all that load; a plug-in that fails does not keep the others from working."""
        return list(self.each())

    def each(self) -> Iterator[T]:
        """Yield all that load, ours first; each is imported when its turn comes."""
        for name in self.own:
            yield self.find(name)
        for name in sorted(self.others):
            if name not in self.own:
                with suppress(UsageError):
                    yield self.find(name)

    def find(self, name: str) -> T:
        """Return the one called ``name``.

        Parameters
        ----------
        name : str

        Returns
        -------
        T
            What is registered under the name.

        Raises
        ------
        UsageError
            If there is none, or if a plug-in's can't be used.
        """
        with _lock:
            if name in self._refused:
                raise self._refused[name]
            if name not in self._found:
                try:
                    self._found[name] = self._complete(self._load(name))
                except UsageError as error:
                    if name in self.others:
                        self._refused[name] = error
                    raise
            return self._found[name]

    def broken(self) -> dict[str, str]:
        """Return name -> one sentence on why it can't be used, of each plug-in that is broken."""
        sentences = {}
        for name in self.names():
            if name not in self.own:
                try:
                    self.find(name)
                except UsageError as error:
                    sentences[name] = str(error)
        for name, contribution in self.others.items():
            if name in self.own:
                sentences[name] = (
                    f"the {self.word} {name!r} of {contribution.origin} is left out: the name is already "
                    "in use"
                )
        return sentences

    def forget(self) -> None:
        """Look for plug-ins again when one is requested."""
        with _lock:
            self._found.clear()
            self._refused.clear()
            self._others = None

    @property
    def others(self) -> dict[str, Contribution]:
        """The entry points of plug-ins, by name; the first of a name applies."""
        if self._others is None:
            found: dict[str, Contribution] = {}
            for contribution in _contributions(self.group, self.attribute):
                found.setdefault(contribution.name, contribution)
            self._others = found
        return self._others

    def _own_one(self, name: str) -> T:
        """Return one of our own."""
        return getattr(import_module(self.own[name], self.package), self.attribute)  # type: ignore[no-any-return]

    def _load(self, name: str) -> T:
        if name in self.own:
            return self._own_one(name)
        if name not in self.others:
            raise UsageError(f"there is no {self.word} {name!r}: choose one of {', '.join(self.names())}")
        contribution = self.others[name]
        what = f"the {self.word} {name!r} of {contribution.origin}"
        try:
            with _as_tracevis3d(contribution.package):
                loaded = contribution.load()
        except (Exception, SystemExit) as error:
            reason = str(error) or type(error).__name__
            raise UsageError(f"{what} can't be loaded: {' '.join(reason.split())}") from error
        if not isinstance(loaded, self.kind):
            raise UsageError(f"{what} is not a {self.kind.__name__} but a {type(loaded).__name__}")
        try:
            called = getattr(loaded, "name", name)
            if called != name:
                raise UsageError(f"its name is {called!r}")
            self._check(loaded, name)
        except UsageError as error:
            raise UsageError(f"{what} can't be used: {error}") from error
        return loaded


_registries: list[Registry[Any]] = []
#: Folders of plug-ins in addition to those of the environment.
_folders: list[Path] = []
#: Those of them that modules are imported from.
_reached: set[str] = set()


def use_folders(folders: Sequence[str | os.PathLike[str]]) -> None:
    """Take plug-ins from these folders too, in place of those given before.

    A folder holds packages as ``pip install --target FOLDER`` puts them there, or modules and packages that
    define ``VIEW``, ``FORMAT`` or ``FILTER``. What is in it runs with all rights of this program.

    Parameters
    ----------
    folders : sequence of path
        Those that are absent add nothing.
    """
    with _lock:
        _folders[:] = [Path(folder).expanduser().resolve() for folder in folders if os.fspath(folder)]
        # Imported modules stay usable, but are not found again.
        sys.path[:] = [place for place in sys.path if place not in _reached]
        _reached.clear()
        invalidate_caches()
        for registry in _registries:
            registry.forget()


def broken() -> list[str]:
    """Return one sentence for each view, format or filter of a plug-in that can't be used."""
    return [sentence for registry in _registries for sentence in registry.broken().values()]


def _all_folders() -> list[Path]:
    named = os.environ.get(FOLDER_VARIABLE, "")
    given = [Path(folder).expanduser().resolve() for folder in named.split(os.pathsep) if folder]
    return [folder for folder in dict.fromkeys([*_folders, *given]) if folder.is_dir()]


def _contributions(group: str, attribute: str) -> Iterator[Contribution]:
    """Yield what plug-ins add to a group: those of folders first."""
    # Importing this would take a tenth of the time to read a small trace.
    import importlib.metadata

    for folder in _all_folders():
        packaged: set[str] = set()
        for distribution in importlib.metadata.distributions(path=[str(folder)]):
            packaged |= {str(file).split("/", 1)[0] for file in distribution.files or ()}
            for entry in distribution.entry_points:
                packaged.add(entry.module.partition(".")[0])
                if entry.group == group:
                    yield _entry(entry, folder)
        yield from _modules(folder, packaged, attribute)
    for entry in importlib.metadata.entry_points(group=group):
        yield _entry(entry, None)


def _entry(entry: EntryPoint, folder: Path | None) -> Contribution:
    def load() -> Any:
        if folder is not None and str(folder) not in sys.path:
            # Behind all others; a plug-in may import its own modules later, so it stays.
            sys.path.append(str(folder))
            _reached.add(str(folder))
        return entry.load()

    return Contribution(entry.name, entry.value, entry.module.partition(".")[0], load)


def _modules(folder: Path, packaged: set[str], attribute: str) -> Iterator[Contribution]:
    """Yield what the modules of a folder define that belong to no installed package."""
    for path in sorted(folder.iterdir()):
        module = path.stem if path.suffix == ".py" else path.name
        is_module = path.suffix == ".py" or (path / "__init__.py").is_file()
        if not is_module or not module.isidentifier() or {path.name, module} & packaged:
            continue
        name = module.removeprefix("tracevis3d_")
        if not _defines(path, attribute):
            continue

        def load(path: Path = path, module: str = module) -> Any:
            return getattr(_import_file(path, module), attribute.removesuffix("S"))

        yield Contribution(name, str(path), f"_tracevis3d_plugin_{module}", load)


def _defines(path: Path, attribute: str) -> bool:
    """Whether a module assigns the attribute that names its contribution, without importing it."""
    import ast

    source = path if path.is_file() else path / "__init__.py"
    try:
        tree = ast.parse(source.read_bytes())
    except (OSError, SyntaxError, ValueError):
        # It is reported where views are requested, once.
        return attribute == "VIEW"
    wanted = attribute.removesuffix("S")
    names: set[str] = set()
    for node in tree.body:
        if isinstance(node, ast.Assign):
            names |= {target.id for target in node.targets if isinstance(target, ast.Name)}
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            names.add(node.target.id)
        elif isinstance(node, ast.ImportFrom):
            names |= {alias.asname or alias.name for alias in node.names}
    return wanted in names


def _import_file(path: Path, module: str) -> ModuleType:
    """Import one module of a folder under a name of its own: what else is called like it is left alone."""
    name = f"_tracevis3d_plugin_{module}"
    source = path if path.is_file() else path / "__init__.py"
    spec = spec_from_file_location(
        name, source, submodule_search_locations=None if path.is_file() else [str(path)]
    )
    if spec is None or spec.loader is None:
        raise ImportError(f"{source} is not a module")
    made = module_from_spec(spec)
    sys.modules[name] = made
    try:
        spec.loader.exec_module(made)
    except BaseException:
        del sys.modules[name]
        raise
    return made


class _Alias:
    """Lets plug-ins import this copy of the library as ``tracevis3d``."""

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> ModuleSpec | None:
        if not _within(fullname, PUBLIC):
            return None
        return ModuleSpec(fullname, self, is_package=True)  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = import_module(_HERE + spec.name.removeprefix(PUBLIC))
        # The import system gives the module the alias' spec next: exec_module puts its own back.
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        spec = module.__spec__
        loader: Any = spec.loader if spec is not None else None
        if spec is not None and loader is self:
            module.__spec__ = spec.loader_state


_alias = _Alias()


def _within(module: str, package: str) -> bool:
    return module == package or module.startswith(f"{package}.")


@contextmanager
def _as_tracevis3d(package: str) -> Iterator[None]:
    """Let ``import tracevis3d`` mean this copy of the library while ``package`` is imported.

    Where another copy is loaded too, that and what has imported it are put aside meanwhile. Where there is
    none, the name stays this copy's.
    """
    if _HERE == PUBLIC:
        yield
        return
    library = sys.modules.get(PUBLIC)
    if library is None or library is sys.modules[_HERE]:
        if _alias not in sys.meta_path:
            sys.meta_path.insert(0, _alias)
        yield
        return

    def taken() -> dict[str, ModuleType]:
        ours = [name for name in sys.modules if _within(name, PUBLIC) or _within(name, package)]
        return {name: sys.modules.pop(name) for name in ours}

    aside = taken()
    sys.meta_path.insert(0, _alias)
    try:
        yield
    finally:
        sys.meta_path.remove(_alias)
        taken()
        sys.modules.update(aside)
