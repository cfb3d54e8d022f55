"""``tracevis3d panels``: several views as the panels of one figure."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...command_line.arguments import load, reading
from ...command_line.terminal import Bar
from ...drawing.frame import Frame
from ...errors import UsageError
from ...figures import settings_file
from ...figures.panels import cells
from ...views import own

if TYPE_CHECKING:
    from ...trace.model import Trace

#: Shown by --help.
EXAMPLES = (
    "tracevis3d panels 'icicle old.json.gz' 'icicle new.json.gz' -o both.pdf --columns 2",
    "tracevis3d panels 'icicle run.json.gz color=function' 'threads run.json.gz' -o both.svg",
    "tracevis3d panels figure.yaml -o figure.pdf",
)
#: How much higher each further row makes a figure of which only the width is said, as a share of one row;
#: its greatest height, in mm; and the pixels in which rows are counted.
_ROW, _TALLEST, _GRID = 0.6, 230.0, 1000
#: What a file may set for the whole figure, with the options that set the same.
_WORDS = ("style", "engine", "size", "columns", "dpi", "font", "font-size", "across", "title", "transparent")
_SAME = ("same-scale", "same-legend")
_OF_PANEL = ("view", "traces", "set", "filters", "span")


@dataclass
class _Panel:
    """A panel as it is asked for."""

    view: str
    traces: list[str]
    settings: dict[str, str] = field(default_factory=dict)
    filters: str = ""
    span: int = 0


def add(parser: argparse.ArgumentParser) -> None:
    """Declare its arguments."""
    parser.add_argument(
        "panels",
        metavar="PANEL",
        nargs="+",
        help="'VIEW TRACE… [NAME=VALUE…]' in quotes, or one file (.yaml .toml .json) that describes all",
    )
    parser.add_argument("-o", "--output", metavar="OUT", required=True, help=".svg .pdf .png")
    parser.add_argument("--across", type=int, help="panels beside each other (default 2)")
    parser.add_argument("--title", help="a line above the panels")
    parser.add_argument(
        "--own-scale", action="store_true", help="do not draw panels of one view in one scale"
    )
    parser.add_argument("--own-legend", action="store_true", help="each panel has its own legend and colours")
    parser.add_argument("--style", help="paper (default), stage or flat")
    parser.add_argument("--engine", help="auto (default), workbench, eevee or cycles")
    parser.add_argument("--draft", action="store_true", help="a quick look")
    parser.add_argument("--columns", metavar="N", help="1, 1.5 or 2 columns of a page (default 2)")
    parser.add_argument("--size", help="of the whole figure, such as 180mmx120mm")
    parser.add_argument("--dpi", type=float, help="dots per inch (default 300)")
    parser.add_argument("--font", help="a font's family, or its file")
    parser.add_argument("--font-size", metavar="SIZE", help="of the type, such as 7pt")
    parser.add_argument("--transparent", action="store_true", default=None, help="transparent background")
    parser.add_argument("--caption", metavar="FILE", help="write a caption for the figure: .tex, .md or .txt")
    parser.add_argument("--report", metavar="R.json", help="write what was drawn")
    reading(parser)


def run(args: argparse.Namespace) -> None:
    """Read what each panel shows, then the traces, and draw them.

    Parameters
    ----------
    args : argparse.Namespace
        What :func:`add` has declared.

    Raises
    ------
    UsageError
        If the file's suffix is none that panels are written as.
    """
    from ... import api
    from ...command_line import warm_up
    from ...figures import caption
    from ...scene.output.panels import SUFFIXES

    panels, words = _asked(args.panels)
    for name in _WORDS:
        given = getattr(args, name.replace("-", "_"))
        if given is not None:
            words[name] = given
    # Of size and columns, the command line's counts alone.
    for name, other in (("size", "columns"), ("columns", "size")):
        if getattr(args, name) and not getattr(args, other):
            words.pop(other, None)
    if Path(args.output).suffix.lower() not in SUFFIXES:
        raise UsageError(f"{args.output}: panels are written as {' '.join(SUFFIXES)}")
    across = _whole(words.get("across", min(2, len(panels))), "across")
    spans = [panel.span or 1 for panel in panels]
    rows = len({cell.bottom for cell in cells(spans, across, _GRID, _GRID)})
    output = api.Output(
        style=str(words.get("style", "paper")),
        engine=str(words.get("engine", "auto")),
        frame=_frame(words, rows),
        transparent=bool(words.get("transparent", False)),
        draft=args.draft,
    )
    api.check_output(args.output, output)
    if args.caption:
        caption.check(args.caption)
    figures = [api.Figure(panel.view, (), panel.settings, filters=panel.filters) for panel in panels]
    warm_up.begin()
    with Bar(args.quiet) as bar:
        traces: dict[str, Trace] = {}
        for path in (path for panel in panels for path in panel.traces):
            if path not in traces:
                traces[path] = load(path, args, bar)
        report = api.panels(
            [figure.of(*(traces[path] for path in panel.traces)) for figure, panel in zip(figures, panels)],
            args.output,
            output,
            across=across,
            spans=spans if any(panel.span for panel in panels) else (),
            same_scale=not args.own_scale and bool(words.get("same-scale", True)),
            same_legend=not args.own_legend and bool(words.get("same-legend", True)),
            title=str(words.get("title", "")),
            progress=bar,
        )
    if args.caption:
        caption.write(args.caption, report["caption"])
    if args.report:
        api.write_report(report, args.report)


def _frame(words: Mapping[str, Any], rows: int) -> Frame:
    dpi = words.get("dpi")
    size, columns = words.get("size"), words.get("columns")
    if size and columns:
        raise UsageError("size and columns both set the width: leave one of them out")
    try:
        resolution = None if dpi is None else float(dpi)
    except (TypeError, ValueError):
        raise UsageError(f"dpi: {dpi} is not a number") from None
    frame = Frame.parse(str(size), resolution) if size else Frame.of_columns(str(columns or 2), resolution)
    if not size and "x" not in str(columns):
        tallest = max(round(_TALLEST / 25.4 * frame.dpi), frame.height)
        frame = replace(frame, height=min(round(frame.height * (1 + _ROW * (rows - 1))), tallest))
    return frame.set_in(words.get("font-size", 0.0), str(words.get("font", "")))


def _asked(given: Sequence[str]) -> tuple[list[_Panel], dict[str, Any]]:
    """Return the panels and the settings of the figure, from the words or from the file."""
    alone = Path(given[0])
    if (
        len(given) == 1
        and alone.suffix.lower() in settings_file.SUFFIXES
        and (alone.is_file() or " " not in given[0])
    ):
        return _from_file(given[0])
    return [_of_words(words) for words in given], {}


def _of_words(text: str) -> _Panel:
    try:
        view, *rest = shlex.split(text)
    except ValueError as error:
        raise UsageError(f"{text}: {error}") from None
    # A file may have an equals sign in its name, but no parameter has a dot or a slash.
    settings = [word for word in rest if word.partition("=")[0].isidentifier() and "=" in word]
    traces = [word for word in rest if word not in settings]
    values = dict(word.split("=", 1) for word in settings)
    filters = values.pop("filters", "")
    return _checked(_Panel(view, traces, values, filters), text)


def _from_file(path: str) -> tuple[list[_Panel], dict[str, Any]]:
    found = settings_file.read(path)
    listed = found.pop("panels", None)
    if not isinstance(listed, list) or not listed:
        raise UsageError(f"{path}: a list 'panels' is expected")
    known = (*_WORDS, *_SAME)
    for name in found:
        if name not in known:
            raise UsageError(f"{path}: {name!r} is not one of panels, {', '.join(known)}")
    folder = Path(path).parent
    panels = []
    for i, row in enumerate(listed):
        where = f"{path}: panel {i + 1}"
        if not isinstance(row, dict) or "view" not in row:
            raise UsageError(f"{where}: 'view' is expected")
        for name in row:
            if name not in _OF_PANEL:
                raise UsageError(f"{where}: {name!r} is not one of {', '.join(_OF_PANEL)}")
        traces, settings = row.get("traces", []), row.get("set") or {}
        traces = [traces] if isinstance(traces, str) else traces
        if not isinstance(traces, list) or not isinstance(settings, dict):
            raise UsageError(f"{where}: 'traces' is a list of files, 'set' holds parameters and their values")
        panel = _Panel(
            str(row["view"]),
            # Beside the file, wherever the command runs.
            [str(folder / str(trace)) for trace in traces],
            {str(name): _plain(value) for name, value in settings.items()},
            str(row.get("filters", "")),
            _whole(row.get("span", 0), f"{where}: span"),
        )
        panels.append(_checked(panel, where))
    return panels, found


def _plain(value: Any) -> str:
    return ("yes" if value else "no") if isinstance(value, bool) else str(value)


def _whole(value: Any, name: str) -> int:
    try:
        return int(value)
    except (TypeError, ValueError, OverflowError):
        raise UsageError(f"{name}: {value} is not a whole number") from None


def _checked(panel: _Panel, where: str) -> _Panel:
    """Raise if the view does not take so many traces; the view of a plug-in is looked at later."""
    if not panel.traces:
        raise UsageError(f"{where}: no trace is named; such as 'icicle run.json.gz'")
    if panel.view in own.OWN:
        from ...views import registry

        least, most = registry.find(panel.view).traces
        if not least <= len(panel.traces) <= most:
            wanted = str(least) if least == most else f"{least} to {most}"
            raise UsageError(f"{where}: {panel.view} takes {wanted} trace(s), not {len(panel.traces)}")
    return panel
