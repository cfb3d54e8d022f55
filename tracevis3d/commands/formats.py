"""``tracevis3d formats``: the formats, and of one what is read of it and how to record it."""

from __future__ import annotations

import argparse
import inspect
import re
import sys
import textwrap

from ..command_line.arguments import completed_by, print_json
from ..command_line.terminal import table
from ..formats import registry

_WIDTH = 100
#: Maximum number of lines of a text.
_LINES = 3


#: Shown by --help.
EXAMPLES = (
    "tracevis3d formats",
    "tracevis3d formats perf",
)


def add(parser: argparse.ArgumentParser) -> None:
    """Declare its arguments."""
    name = parser.add_argument(
        "name",
        metavar="NAME",
        nargs="?",
        help="describe one format: what is read of it, and how to record it",
    )
    completed_by(name, registry.names)
    parser.add_argument("--json", action="store_true")


def run(args: argparse.Namespace) -> None:
    """List them, or tell about one."""
    if args.name:
        form = registry.find(args.name)
        if args.json:
            print_json(_facts(form) | {"recipe": list(form.recipe), "left_out": form.left_out})
        else:
            print("\n".join(about(form)))
        return
    formats = registry.readable()
    if args.json:
        print_json([_facts(form) for form in formats])
        return
    print(
        table(
            [
                (f.name, f"{f.title}  {' '.join(f.suffixes)}{'  (also written)' if f.write else ''}")
                for f in formats
            ]
        )
    )


def _facts(form: registry.Format) -> dict[str, object]:
    return {
        "name": form.name,
        "title": form.title,
        "suffixes": list(form.suffixes),
        "writes": form.write is not None,
    }


def about(form: registry.Format) -> list[str]:
    """Return lines about a format: who writes it, what is read of it and what is not, how to record it.

    Parameters
    ----------
    form : Format

    Returns
    -------
    list of str
    """
    rows = [
        ("format", f"{form.title}: {' '.join(form.suffixes)}{' (also written)' if form.write else ''}"),
        ("from", form.programs),
        ("read", what_is_read(form)),
        ("not read", form.left_out),
    ]
    rows += [("record" if not number else "", command) for number, command in enumerate(form.recipe)]
    rows.append(("show", f"tracevis3d info {file_of(form)}"))
    return [line for title, text in rows if text for line in _wrapped(title, text)]


def file_of(form: registry.Format) -> str:
    """Return the name of the file that the first recipe makes.

    Parameters
    ----------
    form : Format

    Returns
    -------
    str
    """
    named = re.search(r"\brun(?:\.\w+)+", " ".join(form.recipe[:1]))
    return named[0] if named else f"run{form.suffixes[0]}"


def what_is_read(form: registry.Format) -> str:
    """Return what the format's reader says of itself.

    Parameters
    ----------
    form : Format

    Returns
    -------
    str
        Empty for a format that is not read.
    """
    if form.read is None:
        return ""
    said = inspect.getdoc(form.read) or inspect.getdoc(sys.modules[form.read.__module__]) or ""
    said = said.partition("\nParameters\n")[0].partition("\n\nSource: ")[0]
    return " ".join(said.split()).replace("``", "")


def _wrapped(title: str, text: str) -> list[str]:
    """Return a title and a text behind it, in lines; commands stay whole."""
    if title in ("record", "", "show"):
        return [f"{title:10}{text}"]
    while True:
        lines = textwrap.wrap(text, _WIDTH, initial_indent=f"{title:10}", subsequent_indent=" " * 10)
        shorter = text.removesuffix(".").rpartition(". ")[0]
        if len(lines) <= _LINES or not shorter:
            return lines
        # The last sentences are the least important.
        text = f"{shorter}."
