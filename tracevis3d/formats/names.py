"""What a recorded function name says: a short label, the containers, file and line.

Understood are the ways in which VizTracer (``f (/path/a.py:12)``), py-spy (``f (a.py:12)``), PyTorch
(``a.py(12): f``), C++ and Rust (``ns::Class::method(args)``), Java (``a.b.C.m``), Python's own C functions
(``builtins.len``) and async-profiler (``a/b/C.m_[j]``) write names. What is written in no such way is its
own label.
"""

from __future__ import annotations

import functools
import re
from typing import NamedTuple

#: Containers from the outside in: ``(kind, name)`` with a kind of ``CONTAINER_KINDS``.
ContainerPath = tuple[tuple[str, str], ...]


class Split(NamedTuple):
    """The parts of a recorded name.

    Attributes
    ----------
    label : str
        The short name for people: without path, line and containers other than the class.
    containers : tuple of (kind, name)
        From the outside in; packages, modules and classes are named in full (``a.b`` within ``a``).
    file : str
        As recorded; empty if unknown.
    line : int
        From 1; 0 if unknown.
    """

    label: str
    containers: ContainerPath = ()
    file: str = ""
    line: int = 0


_PYTORCH = re.compile(r"(?P<file>[^\s()]+\.pyx?)\((?P<line>\d{1,9})\): (?P<name>.+)", re.DOTALL)
_LINE = re.compile(r"(?P<file>.*?):(?P<line>\d{1,9})(?::\d{1,9})?", re.DOTALL)
_DOTTED = re.compile(r"[^\W\d][\w$-]*(?:\.(?:[^\W\d]|[$<])[\w$<>-]*)+")
_LIBRARY = re.compile(
    r".*/(?:site-packages|dist-packages)/|.*/(?:python|pypy)\d[\d.]*t?/(?:lib-dynload/)?|.*/python\d+\.zip/"
)
_ODD_IN_FILE = re.compile(r"[():]")
_FRAME_TYPE = re.compile(r"_\[[a-z0-9]\]$")
_RUST_HASH = re.compile(r"h[0-9a-f]{16}")
#: What compilers write behind the parts of a function, and callgrind behind one that calls itself.
_CLONE = re.compile(r"(?:\.(?:part|isra|constprop|lto_priv|llvm)\.\d+|\.cold)+(?:'\d+)?$")
_OFFSET = re.compile(r"\+0x[0-9a-f]+$")
_SUBSYSTEM = re.compile(r"([a-z]\w*):(\w+)")
_PYTHON_SUFFIX = re.compile(r"\.(?:pyx?|pyc|pyw|pyi|(?:[\w-]+\.)?(?:so|pyd))$")
_FILE_NAME = re.compile(r"[^/\\]*\.\w{1,5}$")
#: A program's own file: ``main (/usr/bin/ed)``.
_PROGRAM = re.compile(r"/[^\s()]+")
_BUILTIN_TYPES = frozenset(
    (
        *(
            "bool",
            "bytearray",
            "bytes",
            "complex",
            "dict",
            "float",
            "frozenset",
            "int",
            "list",
            "memoryview",
            "object",
            "range",
        ),
        *("set", "str", "tuple", "type", "generator", "coroutine", "method", "property", "slice", "super"),
    )
)


def split(name: str) -> Split:
    """Return the parts of a function's recorded name."""
    said = _PYTORCH.fullmatch(name)
    if said:
        return _in_file(said["name"], said["file"], int(said["line"]))
    place = _place_in_brackets(name)
    if place is not None:
        bare, file, line = place
        return _in_file(bare, file, line)
    bare = _FRAME_TYPE.sub("", _OFFSET.sub("", name))
    if "::" in bare:
        return _scoped(bare)
    if _CLONE.search(bare):
        return Split(bare)
    dotted = bare.partition("(")[0].replace("/", ".")
    if _DOTTED.fullmatch(dotted):
        return _dotted(dotted)
    subsystem = _SUBSYSTEM.fullmatch(bare)
    if subsystem:
        return Split(subsystem[2], (("category", subsystem[1]),))
    return Split(bare or name)


def split_class(name: str) -> Split:
    """Return the parts of a Java class's name: packages, and the class itself, in which its objects are."""
    if not name or name.startswith("("):
        return Split(name)
    package = name.partition("<")[0].rpartition(".")[0]
    packages = _nested("package", package.split(".")) if package else ()
    return Split(name[len(package) + 1 :] if package else name, (*packages, ("class", name)))


def _place_in_brackets(name: str) -> tuple[str, str, int] | None:
    """Take ``f (file:line)`` apart; None if the name doesn't end so."""
    if not name.endswith(")"):
        return None
    opening = name.rfind(" (")
    while opening > 0 and name.count("(", opening) != name.count(")", opening):
        opening = name.rfind(" (", 0, opening)
    if opening <= 0:
        return None
    inside = name[opening + 2 : -1]
    said = _LINE.fullmatch(inside)
    if said and said["file"]:
        return name[:opening], said["file"], int(said["line"])
    if (
        _PYTHON_SUFFIX.search(inside)
        or _PROGRAM.fullmatch(inside)
        or (_FILE_NAME.search(inside) and "/" in inside)
    ):
        return name[:opening], inside, 0
    return None


def in_file(name: str, file: str) -> Split:
    """Return the parts of a function whose name and file are recorded: those of ``name (file:1)``.

    Parameters
    ----------
    name, file : str

    Returns
    -------
    Split
    """
    if is_plain(name) and (containers := plain_module_of(file)) is not None:
        return Split(name, containers, file, 1)
    return split(f"{name} ({file}:1)")


def is_plain(name: str) -> bool:
    """Return whether a name says nothing of what the function is in.

    Parameters
    ----------
    name : str

    Returns
    -------
    bool
    """
    # <module>, <lambda> and the like are names as well.
    return (name[1:-1] if name[:1] == "<" and name[-1:] == ">" else name).isidentifier()


def _in_file(name: str, file: str, line: int) -> Split:
    containers = module_of(file)
    # What follows the last <locals> are classes, then the function.
    scope, _, own = name.rpartition("<locals>.")
    label = scope.replace("<locals>.", "") + own
    if "::" in own:
        inner = _scoped(own)
        return Split(inner.label, containers + inner.containers, file, line)
    if file.endswith((".go", ".s")):
        # What stands before a function is its package: path/to/json.(*Decoder).Decode
        path, _, last = own.partition("[")[0].rpartition("/")
        package = f"{path}/{last.partition('.')[0]}" if path else last.partition(".")[0]
        outer = (("package", package),) if "." in last else ()
        return Split(label or name, (*outer, *containers), file, line)
    classes = _CLONE.sub("", own).split(".")[:-1]
    if not all(part.isidentifier() for part in classes):
        classes = []
    return Split(
        label or name, containers + _nested("class", classes, scope.replace("<locals>.", "")), file, line
    )


def _nested(kind: str, parts: list[str], prefix: str = "", joint: str = ".") -> ContainerPath:
    return tuple((kind, prefix + joint.join(parts[: k + 1])) for k in range(len(parts)))


def plain_module_of(file: str) -> ContainerPath | None:
    """Return what a file is in; None if it could be mistaken for more than a file's name.

    Parameters
    ----------
    file : str

    Returns
    -------
    ContainerPath or None
    """
    return None if _ODD_IN_FILE.search(file) else module_of(file)


@functools.lru_cache(1 << 12)
def module_of(file: str) -> ContainerPath:
    """Return packages and module of a Python file, or the file itself of another language."""
    path = file.replace("\\", "/")
    if path.startswith("<frozen ") and path.endswith(">"):
        return _module(path[8:-1].split("."))
    if path.startswith("<"):
        return (("module", path),)
    library = _LIBRARY.match(path)
    inside = path[library.end() :] if library else path
    parts = [part for part in inside.split("/") if part not in ("", ".", "..")]
    if not parts:
        return ()
    stem, is_python = _PYTHON_SUFFIX.subn("", parts[-1])
    if not is_python and "." in parts[-1]:
        return (("file", parts[-1]),)
    is_project = library is None and (path.startswith(("/", "../")) or path[1:2] == ":" or "://" in path)
    folders = parts[:-1]
    if is_project:
        # It is unknown where its packages start, so the file's name is used, or its folder's if that is not a
        # name.
        folders = folders[-1:] if stem in ("__init__", "__main__") else []
    if stem == "__init__" and folders:
        return (*_nested("package", folders), ("module", ".".join(folders)))
    return _module([*folders, stem])


def _module(parts: list[str]) -> ContainerPath:
    return (*_nested("package", parts[:-1]), ("module", ".".join(parts)))


def _dotted(name: str) -> Split:
    """Split ``package.module.Class.function``: classes begin with a capital letter, or are built in."""
    *parts, function = name.split(".")
    lower = 0
    while lower < len(parts) and not _is_class(parts[lower]):
        lower += 1
    if len(parts) == 1 and parts[0] in _BUILTIN_TYPES:
        return Split(name, (("module", "builtins"), ("class", parts[0])))
    outer, classes = parts[:lower], parts[lower:]
    # Java's packages hold classes; a Python function lies in a module, as does a class of a C module.
    is_package = bool(classes) and lower > 1
    containers = _nested("package", outer) if is_package else _module(outer) if outer else ()
    return Split(".".join([*classes, function]), containers + _nested("class", classes))


def _is_class(part: str) -> bool:
    return part.lstrip("_")[:1].isupper() or "$" in part or part.startswith("<")


def _scoped(name: str) -> Split:
    """Split ``type ns::Class<T>::method(arguments)``; namespaces begin with a small letter."""
    parts = _scopes(name)
    if len(parts) > 2 and _RUST_HASH.fullmatch(parts[-1]):
        parts.pop()
    last = _without_arguments(parts[-1])
    names = [_without_arguments(part) for part in parts[:-1]]
    outer = 0
    while outer < len(names) and (names[outer][:1].islower() or names[outer][:1] in "_("):
        outer += 1
    modules, classes = names[:outer], names[outer:]
    containers = _nested("module", modules, joint="::") + _nested("class", classes, joint="::")
    label = "::".join([*classes, last]) or name
    return Split(label, containers)


_OPENING, _CLOSING = "<([{", ">)]}"


def _scopes(name: str) -> list[str]:
    """Cut at each ``::`` outside of brackets; leave out the return type."""
    parts: list[str] = []
    depth = 0
    start = 0
    i = 0
    while i < len(name):
        c = name[i]
        if name.startswith("operator", i) and name[i + 8 : i + 9] in ("<", ">", "-", "(", "["):
            # The symbols of an operator are not brackets.
            i += 8
            while i < len(name) and name[i] in "<>-=()[]":
                i += 1
                if name[i - 1] in ")]":
                    break
                if name[i : i + 1] == "(" and name[i - 1] not in "(":
                    break
            continue
        if c in _OPENING:
            depth += 1
        elif c in _CLOSING and not (c == ">" and name[i - 1 : i] == "-"):
            depth = max(0, depth - 1)
        elif depth == 0:
            if c == " " and not parts and "::" in name[i:] and "(" not in name[start:i]:
                start = i + 1
            elif name.startswith("::", i):
                if i > start:
                    parts.append(name[start:i])
                i += 2
                start = i
                continue
        i += 1
    parts.append(name[start:])
    return [part for part in parts if part] or [name]


def _without_arguments(part: str) -> str:
    """Leave out the arguments, and those of templates; keep ``(lambda)`` and operators."""
    if part.startswith(("operator", "(", "<", "{")):
        if part.startswith("operator()"):
            return "operator()"
        return part.partition("(")[0] if part.startswith("operator") else part
    end = min((at for at in (part.find("<"), part.find("(")) if at > 0), default=len(part))
    return part[:end].rstrip() or part


def module_of_function(name: str) -> str:
    """Return the module (or file, or category) of a function's name; its label if it names none."""
    found = split(name)
    for kind in ("module", "file", "category", "package"):
        inside = [text for what, text in found.containers if what == kind]
        if inside:
            return inside[-1]
    return found.containers[0][1] if found.containers else found.label
