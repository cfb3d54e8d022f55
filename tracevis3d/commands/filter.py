"""``tracevis3d filter``: apply filters, and write the remaining trace."""

from __future__ import annotations

import argparse
from typing import Any

from .. import units
from ..command_line.arguments import check_apart, complain, load, print_json, reading
from ..command_line.terminal import Bar, table
from ..errors import UsageError
from ..filters import registry


def _facts_of(one: dict[str, Any]) -> str:
    """Write the scope of a filter and its effect."""
    if "hint" in one:
        return str(one["hint"]).removeprefix(one["filter"]).strip()
    done = {"hide": "hides", "fade": "fades", "sink": "sinks"}[one["effect"]]
    below = ", with all below" if one["what"] == "subtree" else " alone"
    scope = "the whole trace" if one["within"] is None else f"call {one['within']:,}"
    return (
        f"in {scope}: marks {units.counted(one['marked_calls'], 'call')} "
        f"({units.counted(one['marked_subtrees'], 'distinct subtree')}), "
        f"{done} {one['settled_calls']:,}{below}"
    )


class _Push(argparse.Action):
    """Put a filter on the stack: its option's name, and its settings."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        args: argparse.Namespace,
        value: Any,
        option: str | None = None,
    ) -> None:
        stack: list[str] = args.stack
        stack.append(f"{self.metavar_name}({value or ''})" if option != "--with" else value)

    @property
    def metavar_name(self) -> str:
        """Return the filter's name."""
        return self.option_strings[0].removeprefix("--")


#: Shown by --help.
EXAMPLES = ("tracevis3d filter run.json.gz --utilities --constructors -o less.json.gz",)


def add(parser: argparse.ArgumentParser) -> None:
    """Declare its arguments."""
    parser.add_argument("trace", metavar="TRACE")
    parser.add_argument("-o", "--output", metavar="OUT", help="write the remaining trace; see 'formats'")
    for name in registry.names():
        parser.add_argument(
            f"--{name}",
            action=_Push,
            nargs="?",
            dest="stack",
            default=[],
            metavar="NAME=VALUE,...",
            help=f"see 'filters {name}'",
        )
    parser.add_argument(
        "--with", action=_Push, dest="stack", default=[], metavar="STACK",
        help="filters with ; between them, such as 'utilities; name(pattern=log, what=call)'",
    )  # fmt: skip
    parser.add_argument("--json", action="store_true", help="print what each filter did as JSON")
    reading(parser)


def run(args: argparse.Namespace) -> None:
    """Apply the stack in the order of the words, report what each filter did, write the rest.

    Parameters
    ----------
    args : argparse.Namespace
        What :func:`add` has declared.

    Raises
    ------
    UsageError
        If no filter is given.
    """
    from ..filters.facts import Facts
    from ..filters.reduce import reduced
    from ..filters.stack import apply, parse, summary
    from ..formats.files import check_writable, save

    if not args.stack:
        raise UsageError(f"no filter is given: choose from {', '.join('--' + n for n in registry.names())}")
    stack = parse("; ".join(args.stack))
    if args.output:
        check_writable(args.output, False)
        check_apart(args.trace, args.output)
    with Bar(args.quiet) as bar:
        trace = load(args.trace, args, bar)
        bar(0.5, "filtering")
        filtered = apply(stack, Facts(trace))
        if args.output:
            for sentence in save(reduced(trace, filtered), args.output, progress=bar):
                bar.close()
                complain(f"{args.output}: {sentence}")
    facts = summary(stack, filtered)
    if args.json:
        print_json({"file": args.trace, **facts})
        return
    rows = [(one["filter"], _facts_of(one)) for one in facts["filters"]]
    rows += [(applied.as_text(), "off") for applied in stack if not applied.on]
    rows += [(name, f"{facts[name]:,}") for name in ("calls", "shown", "hidden", "faded", "sunk")]
    print(table(rows))
