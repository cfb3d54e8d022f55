"""``tracevis3d again``: the picture that a picture says how to make."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...command_line.arguments import complain, load, reading
from ...command_line.terminal import Bar
from ...errors import InputError
from ...version import __version__

if TYPE_CHECKING:
    from ...trace.model import Trace


#: Shown by --help.
EXAMPLES = (
    "tracevis3d again run.png -o again.png",
    "tracevis3d again run.png --show",
)


def add(parser: argparse.ArgumentParser) -> None:
    """Declare its arguments."""
    parser.add_argument("picture", metavar="PICTURE", help=".png .svg .pdf, or a .json of 'render --recipe'")
    parser.add_argument("-o", "--output", metavar="OUT", help="where it goes; by default PICTURE is replaced")
    parser.add_argument("--show", action="store_true", help="print the recipe, and make nothing")
    reading(parser)


def run(args: argparse.Namespace) -> None:
    """Read its recipe, read the traces, say what has changed, and make it.

    Parameters
    ----------
    args : argparse.Namespace
        What :func:`add` has declared.

    Raises
    ------
    InputError
        If the recipe is incomplete.
    """
    from ... import api
    from ...command_line.arguments import print_json
    from ...drawing.frame import Frame
    from ...figures import recipe

    made = recipe.read(args.picture)
    if args.show:
        print_json(made)
        return
    output = args.output or args.picture.removesuffix(".json")
    try:
        said = dict(made["output"])
        frame = Frame.parse(said.pop("size"), said.pop("dpi"))
        font = str(said.pop("font", ""))
        if (Path(args.picture).parent / font).is_file():
            font = str(Path(args.picture).parent / font)
        frame = frame.set_in(said.pop("font_size", 0.0), font)
        options = api.Output(frame=frame, **said)
        parts = [dict(part) for part in made.get("panels", [made])]
        figures = [
            api.Figure(p["view"], (), p["parameters"], filters=p["filters"], select=p["select"])
            for p in parts
        ]
        sources = [[(str(trace["file"]), str(trace["sha256"])) for trace in p["traces"]] for p in parts]
        layout = dict(made.get("layout", {}))
        animate = {n: v if isinstance(v, str) else tuple(v) for n, v in made["animate"].items()}
    except (KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{args.picture}: its recipe is incomplete: {error}: use 'render'") from None
    api.check_output(output, options)
    if made.get("tracevis3d") != __version__:
        complain(f"made by TraceVis3D {made.get('tracevis3d')}, this is {__version__}")
    with Bar(args.quiet) as bar:
        found = {one: _trace(args, *one, bar) for of in sources for one in of}
        ready = [figure.of(*(found[one] for one in of)) for figure, of in zip(figures, sources)]
        if layout:
            api.panels(ready, output, options, **layout, progress=bar)
        else:
            ready[0].render(output, options, animate=animate or None, progress=bar)


def _trace(args: argparse.Namespace, file: str, digest: str, bar: Any) -> Trace:
    """Read a trace from where it lay, or from beside the picture or here; say if it is another one now."""
    folder = Path(args.picture).parent
    places = [folder / file, Path(file), folder / Path(file).name, Path(Path(file).name)]
    found = next((place for place in places if file and place.exists()), None)
    if found is None:
        raise InputError(
            f"{args.picture}: the trace {file or 'of it'} was not found: put it into the folder of the "
            "picture"
        )
    trace = load(str(found), args, bar)
    if digest and trace.source.hash and trace.source.hash != digest:
        complain(f"{found}: has changed since the picture was made")
    return trace
