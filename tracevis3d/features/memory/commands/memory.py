"""``tracevis3d memory``: what a program keeps, wastes and forgets in its memory."""

from __future__ import annotations

import argparse
from typing import Any

from ....command_line.arguments import load, print_json, reading
from ....command_line.terminal import Bar, columns, table
from ....errors import UsageError
from ....progress import in_steps
from ....stories import findings_film
from ....units import byte_size, counted, duration
from ....web.report import is_page

_MOST = 12
#: Findings of each kind that are printed.
_EACH = 3

#: Shown by --help.
EXAMPLES = (
    "tracevis3d memory run.bin",
    "tracevis3d memory run.bin -o memory.html",
    "tracevis3d memory run.bin --film memory.mp4",
)


def add(parser: argparse.ArgumentParser) -> None:
    """Declare its arguments."""
    parser.add_argument("trace", metavar="TRACE")
    parser.add_argument(
        "--most",
        metavar="N",
        type=int,
        default=_MOST,
        help=f"the maximum number of call sites listed (default {_MOST})",
    )
    parser.add_argument(
        "-o", "--output", metavar="DIR",
        help="write report.md, memory.json and a picture of each of the first five findings there; "
        "NAME.html: a page with all of it, for any browser",
    )  # fmt: skip
    findings_film.add(parser)
    parser.add_argument("--json", action="store_true", help="print the facts as JSON")
    reading(parser)


def run(args: argparse.Namespace) -> None:
    """Print the facts about the memory of one trace.

    Parameters
    ----------
    args : Namespace
        As the parser read them.

    Raises
    ------
    UsageError
        If ``--most`` is below 1.
    """
    from ..summary import memory_facts
    from ..view.arrangement import memory_use

    if args.most < 1:
        raise UsageError(f"--most {args.most} is not 1 or more")
    findings_film.check(args)
    with Bar(args.quiet) as bar:
        trace = load(args.trace, args, bar)
        use = memory_use(trace)
        in_steps(
            bar,
            ("finding blocks", 4, lambda: use.blocks),
            ("finding call sites", 2, lambda: use.sites),
            ("counting by call site", 2, lambda: use.table),
            ("looking for leaks and churn", 2, lambda: use.findings),
        )
        facts = memory_facts(use, args.most)
        if is_page(args.output):
            from ..report import write_page

            write_page(trace, args.output, bar)
        elif args.output:
            from ....drawing.output import Output
            from ..report import write_report

            write_report(trace, facts, args.output, Output(engine="workbench"), bar)
        if args.film:
            if not len(use.blocks):
                raise UsageError(f"--film {args.film}: no allocations are recorded in {args.trace}")
            from ..film import story_of

            findings_film.write(story_of(trace, args.trace), {args.trace: trace}, args, bar)
    if args.json:
        print_json(facts)
    else:
        print(_text(facts))
        if args.output:
            print(f"\n{args.output}" if is_page(args.output) else f"\n{args.output}/report.md")


def _text(facts: dict[str, Any]) -> str:
    if not facts["blocks"]:
        return "No allocations are recorded here: 'tracevis3d record --memory', memray and heaptrack do that."
    time = duration if facts["has_times"] else (lambda n: counted(round(n), "record"))
    kept = f"{facts['kept_blocks']:,} blocks, {byte_size(facts['kept_bytes'])}"
    head = [
        ("blocks", f"{facts['blocks']:,} from {facts['call_sites']:,} call sites"),
        ("allocated", byte_size(facts["allocated_bytes"])),
        ("peak", f"{byte_size(facts['peak_bytes'])} after {time(facts['peak_ns'])}"),
        ("not freed", kept),
        ("mean lifetime", time(facts["mean_lifetime_ns"])),
    ]
    head += [(name.replace("_", " "), f"{odd['count']:,}") for name, odd in facts["odd"].items()]
    parts = [table(head)]
    if facts["findings"]:
        rows = []
        for kind in dict.fromkeys(finding["kind"] for finding in facts["findings"]):
            of = [finding for finding in facts["findings"] if finding["kind"] == kind]
            rows += [(kind, finding["sentence"]) for finding in of[:_EACH]]
            if len(of) > _EACH:
                most = byte_size(of[_EACH]["bytes"])
                rows.append((kind, f"… and {len(of) - _EACH:,} more, of {most} at most (--json lists all)"))
        parts.append(f"Findings\n{table(rows)}")
    sites: list[tuple[str, ...]] = [("call site", "blocks", "allocated", "peak", "not freed", "lifetime")]
    for site in facts["sites"]:
        sites.append(
            (site["site"], f"{site['blocks']:,}", byte_size(site["allocated_bytes"]),
             byte_size(site["peak_bytes"]), byte_size(site["kept_bytes"]), time(site["mean_lifetime_ns"]))
        )  # fmt: skip
    parts.append(f"Call sites\n{columns(sites)}")
    return "\n\n".join(parts)
