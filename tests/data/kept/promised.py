"""What users' scripts can hold on to, as JSON: words of the command line, shapes of JSON, names of Python."""

import argparse
import inspect
import io
import json
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from pathlib import Path

import tracevis3d as tv
from tracevis3d import api, cli
from tracevis3d.commands import all_commands
from tracevis3d.filters import registry as filters
from tracevis3d.parameters import declared
from tracevis3d.views import registry as views

KEPT = Path(__file__).resolve().parent
#: A trace with something in every table, and two small runs that differ.
TABLES, OLD, NEW = (str(KEPT / name) for name in ("plain.tv3", "runs/old.json", "runs/new.json"))
PRINTED = {
    "info": ["info", TABLES],
    "search": ["search", OLD, "parse"],
    "tree": ["tree", OLD, "--levels", "3"],
    "nodes": ["nodes", OLD],
    "nodes --patterns": ["nodes", OLD, "--patterns"],
    "nodes --sequences": ["nodes", OLD, "--sequences"],
    "waits": ["waits", TABLES],
    "memory": ["memory", TABLES],
    "phases": ["phases", OLD],
    "patterns": ["patterns", OLD],
    "match": ["match", OLD, NEW],
    "similarity": ["similarity", OLD, NEW],
    "explain": ["explain", OLD, NEW],
    "filter": ["filter", OLD, "--with", "name(pattern=check, what=call)"],
    "views icicle": ["views", "icicle"],
    "filters name": ["filters", "name"],
    "formats chrome": ["formats", "chrome"],
}


@cache
def command_words():
    """Return for each command its options, with how many values each takes, and its arguments in order."""
    found = {}
    for name in all_commands():
        (commands,) = [
            action
            for action in cli._parser("tracevis3d", [name])._actions
            if isinstance(action, argparse._SubParsersAction)
        ]
        actions = commands.choices[name]._actions
        options = {word: str(a.nargs) for a in actions for word in a.option_strings}
        others = [[a.metavar or a.dest, str(a.nargs)] for a in actions if not a.option_strings]
        choices = {a.option_strings[0]: list(a.choices) for a in actions if a.option_strings and a.choices}
        found[name] = {"options": options, "arguments": others, "choices": choices}
    return found


def printed_shapes():
    """Return what each command prints with ``--json``: its keys, and what kind of value each has."""
    return {name: shape(printed(words)) for name, words in PRINTED.items()}


def printed(words):
    """Return what a command prints as JSON."""
    out = io.StringIO()
    with redirect_stdout(out), redirect_stderr(io.StringIO()):
        assert cli.main([*words, "--json"]) == 0, words
    return json.loads(out.getvalue())


def shape(value):
    """Return the kinds of a value's parts in their place; of a list the part that says most."""
    if isinstance(value, dict):
        return {key: shape(one) for key, one in value.items()}
    if isinstance(value, list):
        shapes = [shape(one) for one in value]
        return [max(shapes, key=lambda one: len(json.dumps(one)))] if shapes else []
    if value is None:
        return "null"
    return {bool: "bool", str: "text"}.get(type(value), "number")


@cache
def python_names():
    """Return the functions and methods of the API with their parameters: name, kind, default."""
    functions = {name: getattr(tv, name) for name in tv._API if name != "Figure"}
    functions |= {f"Figure.{name}": getattr(api.Figure, name) for name in ("render", "drawing", "of")}
    return {
        name: [
            [one.name, one.kind.name, _default(one)]
            for one in inspect.signature(function).parameters.values()
        ]
        for name, function in functions.items()
    }


def _default(one):
    if one.default is one.empty:
        return ""
    return getattr(one.default, "__qualname__", repr(one.default))


@cache
def parameters():
    """Return the parameters of views and filters: their kinds, and the texts that each can be."""
    found = {f"view {name}": views.find(name).parameters for name in views.names()}
    found |= {f"filter {name}": filters.find(name).parameters for name in filters.names()}
    return {
        name: {
            one.name: {
                "kind": type(one.default).__name__,
                "choices": sorted({*one.choices, *one.also}),
                "unit": one.unit,
            }
            for one in declared(kind)
        }
        for name, kind in found.items()
    }


def promised():
    """Return all of it."""
    return {
        "command line": command_words(),
        "json": printed_shapes(),
        "python": python_names(),
        "parameters": parameters(),
    }
