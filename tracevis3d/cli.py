"""The command line: ``tracevis3d …``, ``python -m tracevis3d …`` and ``blender --command tracevis3d …``.

Only the parser is imported to show help; each command imports what it needs.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from .errors import TraceVisError, UsageError
from .terminal import Bar, table
from .version import __version__

INTERRUPTED = 130


class _Parser(argparse.ArgumentParser):
    """A parser that raises :class:`UsageError` where argparse would exit."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message} (try '{self.prog} --help')")


def main(arguments: Sequence[str] | None = None, prog: str = "tracevis3d") -> int:
    """Run one command.

    Parameters
    ----------
    arguments : sequence of str, optional
        The words after the program's name; those of the process by default.
    prog : str
        What the help calls the program.

    Returns
    -------
    int
        0 done, 1 the input can't be used, 2 the words are off, 130 interrupted.
    """
    try:
        words = _parser(prog).parse_args(arguments)
        run: Callable[[argparse.Namespace], None] = words.run
        run(words)
        sys.stdout.flush()
    except SystemExit as leave:  # argparse's --help and --version
        return leave.code if isinstance(leave.code, int) else 0
    except TraceVisError as error:
        _complain(f"{prog}: {error}")
        return error.exit_code
    except KeyboardInterrupt:
        _complain(f"{prog}: interrupted")
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of our output has gone (head, less): not an error; keep Python's exit from complaining.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except MemoryError:
        _complain(f"{prog}: there is not enough memory for this: close other programs, or read a part")
        return 1
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        _complain(f"{prog}: {place}{error.strerror or error}")
        return 1
    return 0


def _complain(sentence: str) -> None:
    print(sentence.replace("\n", " "), file=sys.stderr)


def _parser(prog: str) -> argparse.ArgumentParser:
    parser = _Parser(
        prog=prog,
        description="Turns execution traces into 3D scenes.",
        epilog="Exit codes: 0 done, 1 the input can't be used, 2 the words are off, 130 interrupted.",
    )
    parser.add_argument("--version", action="version", version=f"TraceVis3D {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)

    info = _command(commands, "info", _info, "say what is in a trace")
    info.add_argument("trace", metavar="TRACE")
    info.add_argument("--json", action="store_true", help="print the facts as JSON")
    _reading(info)

    render = _command(commands, "render", _render, "draw a view of one or more traces into a file")
    render.add_argument("view", metavar="VIEW", help="see 'views'")
    render.add_argument("traces", metavar="TRACE", nargs="+")
    render.add_argument(
        "-o",
        "--output",
        metavar="OUT",
        required=True,
        help=".png .jpg .exr .webp .mp4 .mkv .blend .glb .usdc",
    )
    render.add_argument("--style", default="paper", help="paper (default), stage or flat")
    render.add_argument("--engine", default="auto", help="auto (default), workbench, eevee or cycles")
    render.add_argument("--size", default=None, help="1920x1080 (default), 180mmx100mm, 7inx4in")
    render.add_argument("--dpi", type=float, help="dots per inch (default 300 for sizes in mm, cm or in)")
    render.add_argument("--samples", type=int, default=0, help="per pixel; 0 (default): by engine")
    render.add_argument("--transparent", action="store_true", help="no background (.png .exr .webp)")
    render.add_argument("--seconds", type=float, default=8.0, help="length of a film (default 8)")
    render.add_argument("--fps", type=int, default=24, help="frames a second of a film (default 24)")
    render.add_argument(
        "--set",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        dest="settings",
        help="a parameter; see 'views VIEW'",
    )
    render.add_argument("--report", metavar="R.json", help="write what was drawn")
    _reading(render)

    match = _command(commands, "match", _match, "say what two traces have in common")
    match.add_argument("a", metavar="A")
    match.add_argument("b", metavar="B")
    match.add_argument("--tau", default="0.3", help="calls match above this similarity, 0 to 1 (default 0.3)")
    match.add_argument(
        "--identity", default="auto", help="of functions: exact, name (no path and line) or auto (default)"
    )
    match.add_argument("--measure", default="jaccard", help="jaccard (default), duration, multiset or order")
    match.add_argument(
        "--rewrite",
        metavar=("PATTERN", "REPLACEMENT"),
        nargs=2,
        action="append",
        default=[],
        help="a regular expression, applied to the recorded names before they are compared",
    )
    match.add_argument(
        "--fuzzy", metavar="SCORE", type=float, help="pair names with at least this similarity, up to 100"
    )
    match.add_argument(
        "--renamed", metavar="R.json", help='pairs of names, as --json prints them: [{"a": ..., "b": ...}]'
    )
    match.add_argument("--json", action="store_true", help="print the facts as JSON")
    _reading(match)

    convert = _command(
        commands, "convert", _convert, "write a trace in another format, chosen by OUT's suffix"
    )
    convert.add_argument("trace", metavar="IN")
    convert.add_argument("output", metavar="OUT", help="see 'formats'")
    convert.add_argument("--packed", action="store_true", help="for .tv3: small rather than instantly loaded")
    _reading(convert)

    views = _command(commands, "views", _views, "list the views, or the parameters of one")
    views.add_argument("view", metavar="VIEW", nargs="?")
    views.add_argument("--json", action="store_true")

    formats = _command(commands, "formats", _formats, "list the formats that can be read and written")
    formats.add_argument("--json", action="store_true")

    doctor = _command(commands, "doctor", _doctor, "say what this machine can do, and what to install")
    doctor.add_argument("--json", action="store_true")

    cache = _command(commands, "cache", _cache, "show the cache of loaded traces, or clear it")
    cache.add_argument("action", choices=("show", "clear"), nargs="?", default="show")
    return parser


def _command(
    commands: Any, name: str, run: Callable[[argparse.Namespace], None], sentence: str
) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = commands.add_parser(
        name, help=sentence, description=sentence.capitalize() + "."
    )
    parser.set_defaults(run=run)
    return parser


def _reading(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--no-cache", action="store_true", help="read the file itself, and don't keep the result"
    )
    parser.add_argument("--quiet", action="store_true", help="no progress bar")


def _load(path: str, words: argparse.Namespace, bar: Bar) -> Any:
    from . import api

    trace = api.load(path, cache=not words.no_cache, progress=bar)
    bar.close()
    for sentence in trace.problems.sentences():
        _complain(f"{path}: {sentence}")
    return trace


def _info(words: argparse.Namespace) -> None:
    from . import api, warm

    warm.begin()
    with Bar(words.quiet) as bar:
        trace = _load(words.trace, words, bar)
        facts = api.info(trace)
    if words.json:
        _print_json(facts)
        return
    rows = [
        (name.replace("_", " "), f"{value:,}" if isinstance(value, int) else str(value))
        for name, value in facts.items()
        if name != "problems"
    ]
    rows.append(
        ("problems", str(sum(p.count for p in trace.problems.values())) if trace.problems else "none")
    )
    print(table(rows))


def _render(words: argparse.Namespace) -> None:
    from . import api, warm
    from .drawing.frame import Frame
    from .views import registry

    view = registry.find(words.view)
    least, most = view.traces
    if not least <= len(words.traces) <= most:
        wanted = str(least) if least == most else f"{least} to {most}"
        raise UsageError(f"the view {view.name!r} takes {wanted} trace(s), {len(words.traces)} were given")
    settings = dict(_setting(text) for text in words.settings)
    frame = Frame.parse(words.size, words.dpi) if words.size else Frame()
    # Whatever can be wrong with the words is told before minutes are spent on reading.
    figure = api.Figure(view.name, (), settings)
    options = api.Output(
        style=words.style,
        engine=words.engine,
        frame=frame,
        samples=words.samples,
        transparent=words.transparent,
        seconds=words.seconds,
        fps=words.fps,
    )
    api.check_output(words.output, options)
    warm.begin()
    with Bar(words.quiet) as bar:
        started = bar.now()
        traces = [_load(path, words, bar) for path in words.traces]
        figure = figure.of(*traces)
        figure.stages["read"] = bar.now() - started
        report = figure.render(words.output, options, progress=bar)
    if words.report:
        api.write_report(report, words.report)


def _match(words: argparse.Namespace) -> None:
    from . import api
    from .analysis.identity import read_renamed
    from .analysis.match import check_settings
    from .analysis.summary import sentences, summary

    settings: dict[str, Any] = {
        "tau": words.tau,
        "identity": words.identity,
        "measure": words.measure,
        "rewrite": words.rewrite,
        "renamed": read_renamed(words.renamed) if words.renamed else [],
        "fuzzy": words.fuzzy,
    }
    check_settings(settings["tau"], settings["identity"], settings["measure"], settings["rewrite"])
    with Bar(words.quiet) as bar:
        a, b = (_load(path, words, bar) for path in (words.a, words.b))
        facts = summary(api.match(a, b, **settings, cache=not words.no_cache, progress=bar))
    if words.json:
        _print_json(facts)
    else:
        print(table(sentences(facts)))


def _convert(words: argparse.Namespace) -> None:
    from . import api

    api.check_writable(words.output, words.packed)
    with Bar(words.quiet) as bar:
        trace = _load(words.trace, words, bar)
        for sentence in api.save(trace, words.output, packed=words.packed, progress=bar):
            bar.close()
            _complain(f"{words.output}: {sentence}")


def _views(words: argparse.Namespace) -> None:
    from .views import registry
    from .views.parameters import declared

    chosen = [registry.find(words.view)] if words.view else registry.loadable()
    if words.json:
        _print_json(
            [
                {
                    "name": view.name,
                    "sentence": view.sentence,
                    "traces": list(view.traces),
                    "parameters": [vars(p) for p in declared(view.parameters)],
                }
                for view in chosen
            ]
        )
        return
    if not words.view:
        print(table([(view.name, view.sentence) for view in chosen]))
        return
    view = chosen[0]
    print(f"{view.name}: {view.sentence}\n")
    print(table([(f"{p.name}={_shown(p.default)}", p.described()) for p in declared(view.parameters)]))


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _formats(words: argparse.Namespace) -> None:
    from .formats import registry

    formats = registry.readable()
    if words.json:
        _print_json(
            [
                {
                    "name": f.name,
                    "title": f.title,
                    "suffixes": list(f.suffixes),
                    "writes": f.write is not None,
                }
                for f in formats
            ]
        )
        return
    print(
        table(
            [
                (f.name, f"{f.title}  {' '.join(f.suffixes)}{'  (also written)' if f.write else ''}")
                for f in formats
            ]
        )
    )


def _doctor(words: argparse.Namespace) -> None:
    from . import doctor

    findings = doctor.examine()
    if words.json:
        _print_json([vars(finding) for finding in findings])
        return
    print(
        table(
            [
                (("ok      " if f.ok else "missing ") + f.what, f.found if f.ok else f"{f.found}. {f.remedy}")
                for f in findings
            ]
        )
    )


def _cache(words: argparse.Namespace) -> None:
    from .places import cache_root
    from .trace import cache

    if words.action == "clear":
        print(f"{cache.clear():,} bytes freed in {cache_root()}")
    else:
        print(f"{cache.size():,} bytes in {cache_root()}")


def _setting(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise UsageError(f"--set {text}: NAME=VALUE is wanted")
    return name.strip(), value.strip()


def _print_json(facts: object) -> None:
    print(json.dumps(facts, indent=2, ensure_ascii=False, default=str))


if __name__ == "__main__":
    sys.exit(main())
