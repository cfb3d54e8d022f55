"""``tracevis3d query``: a question to traces, in SQL."""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from ..command_line.arguments import load, print_json, reading
from ..command_line.terminal import Bar, aligned, exact_output, table
from ..errors import UsageError

if TYPE_CHECKING:
    from ..queries.database import Answer

_SUFFIXES = (".csv", ".json", ".parquet")


#: Shown by --help.
EXAMPLES = (
    'tracevis3d query run.json.gz "SELECT function, count(*) FROM calls GROUP BY function"',
    "tracevis3d query --list",
)


def add(parser: argparse.ArgumentParser) -> None:
    """Declare its arguments."""
    parser.add_argument(
        "words", metavar="TRACE… SQL", nargs="*", help="traces, then a SELECT or the name of a ready query"
    )
    parser.add_argument("--list", action="store_true", help="list the tables and the ready queries")
    forms = parser.add_mutually_exclusive_group()
    forms.add_argument("--csv", action="store_true", help="print the result as CSV")
    forms.add_argument("--json", action="store_true", help="print the result as JSON")
    forms.add_argument("-o", "--output", metavar="OUT", help=f"write the result: {' '.join(_SUFFIXES)}")
    parser.add_argument(
        "--limit",
        type=int,
        default=100,
        metavar="N",
        help="the maximum number of rows printed (default 100); 0: all",
    )
    reading(parser)


def run(args: argparse.Namespace) -> None:
    """Read the traces, run the query, print or write its result.

    Parameters
    ----------
    args : argparse.Namespace
        What :func:`add` has declared.

    Raises
    ------
    UsageError
        If there is no query, or its result can't be written or limited as the options say.
    """
    from ..queries import database, ready, results

    if args.list:
        print(_listed())
        return
    if len(args.words) < 2:
        raise UsageError(
            "query: one or more traces and then a query are expected; 'query --list' has examples"
        )
    if args.output and Path(args.output).suffix.lower() not in _SUFFIXES:
        raise UsageError(f"{args.output}: the result is written as {', '.join(_SUFFIXES)}")
    if args.limit < 0:
        raise UsageError(f"--limit {args.limit}: 0 is the minimum")
    *paths, sql = args.words
    ready.written_out(sql, len(paths))
    with Bar(args.quiet) as bar:
        traces = [load(path, args, bar) for path in paths]
        answer = database.run(sql, traces, bar)
    if args.output:
        results.write(answer, args.output)
    elif args.csv:
        exact_output().write(results.csv(answer))
    elif args.json:
        print_json(answer.rows)
    else:
        print(_page(answer, args.limit))


def _listed() -> str:
    from ..queries import ready, sources

    tables = [
        (t.name, t.sentence + (" (of two traces)" if t.traces > 1 else ""))
        for t in sources.declared().values()
    ]
    queries = [(query.name, query.sentence) for query in ready.READY]
    return "\n".join(
        (
            "Tables, and what each row describes:",
            "",
            table(tables),
            "",
            "Ready queries:",
            "",
            table(queries),
            "",
            "With several traces, each table has the rows of all of them, and a column trace: A, B, …",
            "'query TRACE \"DESCRIBE calls\"' lists the columns of a table.",
        )
    )


def _page(answer: Answer, limit: int) -> str:
    from ..queries import results

    shown = results.texts(answer, limit or len(answer))
    width = shutil.get_terminal_size((120, 24)).columns if sys.stdout.isatty() else None
    lines = [aligned(answer.columns, shown, results.is_number(answer), width)]
    if len(shown) < len(answer):
        lines.append(f"and {len(answer) - len(shown):,} more rows: --limit 0 prints all")
    return "\n".join(lines)
