"""``tracevis3d explain``: the differences between two traces that matter, with a figure of each."""

from __future__ import annotations

import argparse

from ....command_line.arguments import load, print_json, reading
from ....command_line.terminal import Bar, table
from ....drawing.frame import Frame
from ....drawing.output import Output, check, need_blender
from ....errors import UsageError
from ....stories import findings_film
from ....web.report import is_page
from .match import comparing, match_settings

#: Shown by --help.
EXAMPLES = (
    "tracevis3d explain old.json.gz new.json.gz",
    "tracevis3d explain old.json.gz new.json.gz -o explained",
    "tracevis3d explain old.json.gz new.json.gz -o difference.html",
    "tracevis3d explain old.json.gz new.json.gz --film difference.mp4",
)


def add(parser: argparse.ArgumentParser) -> None:
    """Declare its arguments."""
    parser.add_argument("a", metavar="A")
    parser.add_argument("b", metavar="B")
    parser.add_argument(
        "-o",
        "--output",
        metavar="DIR",
        help="write report.md, findings.json, a figure per finding and story.blend there; NAME.html: a page "
        "with the whole comparison and the first five findings, for any browser",
    )
    comparing(parser)
    parser.add_argument(
        "--renamed",
        metavar="R.json",
        help='pairs of names, as match --json prints them: [{"a": ..., "b": ...}]',
    )
    parser.add_argument(
        "--top", type=int, default=10, metavar="N", help="the maximum number of findings (default 10)"
    )
    parser.add_argument("--style", default="paper", help="of the figures: paper (default), stage or flat")
    parser.add_argument("--engine", default="auto", help="auto (default), workbench, eevee or cycles")
    parser.add_argument("--size", default=None, help="1920x1080 (default), 180mmx100mm, 7inx4in")
    parser.add_argument("--no-figures", action="store_true", help="no pictures, and a scene only with --walk")
    parser.add_argument(
        "--walk",
        metavar="GROUP|CALLPATH",
        default="",
        help="make the viewpoints of story.blend a tour from this match to the matches that explain "
        "it: the number of a group "
        "in the legend of 'render compare', or names with > between them",
    )
    findings_film.add(parser, size=False)
    parser.add_argument("--json", action="store_true", help="print the findings as JSON")
    reading(parser)


def run(args: argparse.Namespace) -> None:
    """Find, and write or print.

    Parameters
    ----------
    args : Namespace
        As the parser read them.

    Raises
    ------
    UsageError
        If the words don't go together, or a number is out of range.
    """
    from ....command_line import warm_up
    from ..report.story import explain, made_folder

    if args.top < 1:
        raise UsageError(f"--top {args.top}: 1 is the minimum")
    page = is_page(args.output)
    if args.walk and (page or not args.output):
        raise UsageError("--walk: the tour is in story.blend; name a folder for it with -o")
    findings_film.check(args)
    settings = match_settings(args)
    frame = Frame.parse(args.size) if args.size else Frame()
    output = Output(style=args.style, engine=args.engine, frame=frame)
    if args.output and not page:
        # Invalid arguments are reported before reading, which may take minutes.
        if not args.no_figures or args.walk:
            need_blender("drawing the findings, which --no-figures leaves out,")
        check(made_folder(args.output) / "01.png", output)
        warm_up.begin()
    with Bar(args.quiet) as bar:
        a, b = (load(path, args, bar) for path in (args.a, args.b))
        story = explain(a, b, top=args.top, **settings, cache=not args.no_cache, progress=bar)
        if args.output:
            drawn = not args.no_figures
            story.write(
                args.output,
                output,
                figures=drawn,
                scene=drawn or bool(args.walk),
                walk=args.walk,
                size=args.size,
                progress=bar,
            )
        if args.film:
            from ..report.film import story_of

            look = {"style": args.style, "engine": args.engine, "size": args.size}
            film = story_of(story, (args.a, args.b))
            findings_film.write(film, {args.a: a, args.b: b}, args, bar, **look)
    if args.json:
        print_json(story.facts())
        return
    rows = [
        (f"{i}. {finding.kind}", text)
        for i, (finding, text) in enumerate(zip(story.findings.found, story.sentences), 1)
    ]
    print(table(rows))
    if story.findings.left_out:
        print(f"and {story.findings.left_out:,} smaller findings")
    if args.output:
        print(f"\n{args.output}" if page else f"\n{args.output}/report.md")
