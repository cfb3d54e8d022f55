"""``tracevis3d film``: a story of several shots as a film."""

from __future__ import annotations

import argparse

from ...command_line.arguments import load, reading
from ...command_line.terminal import Bar
from ...drawing.output import need_blender
from ...stories import hands

#: Shown by --help.
EXAMPLES = (
    "tracevis3d film story.yaml -o talk.mp4",
    "tracevis3d film story.yaml -o talk.mp4 --preview",
    "tracevis3d film story.yaml -o talk.mp4 --scheduler tcp://host:8786",
)


def add(parser: argparse.ArgumentParser) -> None:
    """Declare its arguments."""
    parser.add_argument("story", metavar="STORY", help="its shots: .yaml .toml .json, see docs/films.md")
    parser.add_argument("-o", "--output", metavar="OUT", required=True, help=".mp4 .mkv")
    parser.add_argument("--style", help="paper (default), stage or flat")
    parser.add_argument("--engine", help="auto (default), workbench, eevee or cycles")
    parser.add_argument("--size", help="such as 1920x1080 (default 1280x720)")
    parser.add_argument("--fps", type=int, help="frames per second (default 24)")
    parser.add_argument("--preview", action="store_true", help="480 pixels high, 5 frames per second")
    hands.add(parser)
    hands.add_parts(parser)
    parser.add_argument("--report", metavar="R.json", help="write what was made")
    reading(parser)


def run(args: argparse.Namespace) -> None:
    """Read the story, then its traces, and make the film."""
    from ... import api
    from ...command_line import warm_up
    from ...stories import film
    from ...stories.read import read

    film.check_path(args.output)
    who = hands.given(args)
    story = read(args.story)
    film.check(story)
    words = {"style": args.style, "engine": args.engine, "size": args.size, "fps": args.fps}
    output = film.output_of(story, args.preview, **words)
    api.check_output(args.output, output)
    need_blender()
    warm_up.begin()
    with Bar(args.quiet) as bar:
        traces = {path: load(path, args, bar) for path in story.files}
        report = film.make(story, traces, args.output, output, who, bar)
    if args.report:
        api.write_report(report, args.report)
