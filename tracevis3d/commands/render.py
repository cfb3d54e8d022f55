"""``tracevis3d render``: a view of traces into a file."""

from __future__ import annotations

import argparse

from ..command_line.arguments import completed_by, load, reading
from ..command_line.terminal import Bar
from ..drawing.frame import Frame
from ..drawing.output import PAGES, need_blender
from ..errors import UsageError
from ..views import own

#: Shown by --help.
EXAMPLES = (
    "tracevis3d render icicle run.json.gz -o run.png --draft",
    "tracevis3d render compare old.json.gz new.json.gz -o difference.png --style stage",
    "tracevis3d render icicle run.json.gz -o run.pdf --style flat --columns 1 --font 'Liberation Sans'",
    "tracevis3d render icicle run.json.gz -o run.html",
    "tracevis3d render icicle run.json.gz -o run.mp4 --seconds 5 --set color=function",
)


def add(parser: argparse.ArgumentParser) -> None:
    """Declare its arguments."""
    completed_by(parser.add_argument("view", metavar="VIEW", help="see 'views'"), lambda: own.OWN)
    parser.add_argument("traces", metavar="TRACE", nargs="+")
    _add_output(parser)
    _add_films(parser)
    _add_data(parser)
    _add_records(parser)
    reading(parser)


def _add_output(parser: argparse.ArgumentParser) -> None:
    """Declare what the picture is and how it is rendered."""
    parser.add_argument(
        "-o",
        "--output",
        metavar="OUT",
        required=True,
        help=".png .jpg .exr .webp .svg .pdf .mp4 .mkv .blend .glb .usdc .html",
    )
    parser.add_argument("--style", default="paper", help="paper (default), stage or flat")
    parser.add_argument("--engine", default="auto", help="auto (default), workbench, eevee or cycles")
    parser.add_argument(
        "--draft", action="store_true", help="a quick look, at 1280x720 unless --size says otherwise"
    )
    parser.add_argument("--size", default=None, help="1920x1080 (default), 180mmx100mm, 7inx4in")
    parser.add_argument(
        "--columns",
        metavar="N",
        help="size of a figure for 1 (88 mm), 1.5 (134 mm) or 2 (180 mm) columns of a page, such as 2x60mm, "
        "in type of 7 points",
    )
    parser.add_argument("--font-size", metavar="SIZE", default="", help="of the type, such as 7pt")
    parser.add_argument(
        "--font", default="", help="a font's family, or its file (.ttf .otf .woff2); default Noto Sans"
    )
    parser.add_argument(
        "--device",
        default="cpu",
        help="what cycles computes with: cpu (default), gpu (any card), optix, cuda, hip, oneapi or metal",
    )
    parser.add_argument("--dpi", type=float, help="dots per inch (default 300 for sizes in mm, cm or in)")
    parser.add_argument("--samples", type=int, default=0, help="per pixel; 0 (default): by engine")
    parser.add_argument("--transparent", action="store_true", help="transparent background (.png .exr .webp)")
    parser.add_argument(
        "--stereo",
        metavar="HOW",
        default="",
        help="for two eyes: side-by-side or top-bottom (--size is that of one eye), or anaglyph (red, cyan)",
    )
    parser.add_argument(
        "--panorama",
        action="store_true",
        help="all directions around, 4096x2048, for headsets (.png .jpg .mp4 …, engine cycles)",
    )


def _add_films(parser: argparse.ArgumentParser) -> None:
    """Declare what a film is."""
    parser.add_argument(
        "--sound",
        action="store_true",
        help="hear what begins: its colour is the pitch (.mp4 .mkv; in a .blend a strip of the sequencer)",
    )
    parser.add_argument("--seconds", type=float, default=8.0, help="length of a film (default 8)")
    parser.add_argument("--fps", type=int, default=24, help="frames per second of a film (default 24)")
    parser.add_argument(
        "--animate",
        metavar="NAME=FROM..TO",
        action="append",
        default=[],
        help="a number or a time that changes during a film, such as opening=180..60",
    )


def _add_data(parser: argparse.ArgumentParser) -> None:
    """Declare what is drawn of the traces."""
    parser.add_argument(
        "--set",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        dest="settings",
        help="a parameter; see 'views VIEW'",
    )
    parser.add_argument(
        "--filters", metavar="STACK", default="", help="leave out what these filters hide; see 'filters'"
    )
    parser.add_argument(
        "--select",
        metavar="SQL",
        default="",
        help="draw as ghosts all calls except those whose id this query returns, such as 'SELECT id "
        "FROM calls WHERE self_ns > 1e6'",
    )


def _add_records(parser: argparse.ArgumentParser) -> None:
    """Declare what is written beside the picture."""
    parser.add_argument(
        "--recipe",
        action="store_true",
        help="write the recipe to OUT.json, for 'again'; .png, .svg and .pdf contain it",
    )
    parser.add_argument("--caption", metavar="FILE", help="write a caption for the figure: .tex, .md or .txt")
    parser.add_argument("--report", metavar="R.json", help="write what was drawn")


def run(args: argparse.Namespace) -> None:
    """Check the arguments, read the traces, draw, write.

    Parameters
    ----------
    args : argparse.Namespace
        What :func:`add` has declared.

    Raises
    ------
    UsageError
        If the view takes another number of traces, or two options set the width.
    """
    from .. import api
    from ..command_line import warm_up
    from ..figures import caption, recipe
    from ..views import registry

    view = registry.find(args.view)
    least, most = view.traces
    if not least <= len(args.traces) <= most:
        wanted = str(least) if least == most else f"{least} to {most}"
        raise UsageError(f"the view {view.name!r} takes {wanted} trace(s), {len(args.traces)} were given")
    settings = dict(setting(text) for text in args.settings)
    usual = Frame(1280, 720) if args.draft else Frame()
    if args.panorama:
        usual = Frame(2048, 1024) if args.draft else Frame(4096, 2048)
    if args.size and args.columns:
        raise UsageError("--columns and --size both set the width; --columns 2x60mm sets the height, too")
    if args.columns:
        frame = Frame.of_columns(args.columns, args.dpi)
    else:
        frame = Frame.parse(args.size, args.dpi) if args.size else usual
    frame = frame.set_in(args.font_size, args.font)
    # Invalid arguments are reported before reading, which may take minutes.
    figure = api.Figure(view.name, (), settings, filters=args.filters, select=args.select)
    animate = dict(setting(text, "--animate") for text in args.animate)
    figure.changes(args.output, animate)
    if args.filters.strip():
        from ..filters.stack import parse

        parse(args.filters)
    options = api.Output(
        style=args.style,
        engine=args.engine,
        frame=frame,
        samples=args.samples,
        transparent=args.transparent,
        seconds=args.seconds,
        fps=args.fps,
        draft=args.draft,
        stereo=args.stereo,
        panorama=args.panorama,
        sound=args.sound,
        device=args.device,
    )
    api.check_output(args.output, options)
    if not args.output.lower().endswith(PAGES):
        need_blender()
        api.check_font(args.output, frame)
    if args.caption:
        caption.check(args.caption)
    warm_up.begin()
    with Bar(args.quiet) as bar:
        started = bar.now()
        traces = [load(path, args, bar) for path in args.traces]
        figure = figure.of(*traces)
        figure.stages["read"] = bar.now() - started
        report = figure.render(args.output, options, animate=animate, progress=bar)
    if args.recipe:
        recipe.write_beside(args.output, figure.recipe(args.output, options, animate))
    if args.caption:
        caption.write(args.caption, report["caption"])
    if args.report:
        api.write_report(report, args.report)


def setting(text: str, option: str = "--set") -> tuple[str, str]:
    """Split ``NAME=VALUE``.

    Parameters
    ----------
    text : str
    option : str
        The option that it was given to, for the error's sentence.

    Returns
    -------
    (str, str)
        The name and the value.

    Raises
    ------
    UsageError
        If there is no ``=``.
    """
    name, equals, value = text.partition("=")
    if not equals:
        raise UsageError(f"{option} {text}: NAME=VALUE is expected")
    return name.strip(), value.strip()
