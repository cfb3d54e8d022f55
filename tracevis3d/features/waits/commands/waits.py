"""``tracevis3d waits``: who waits for whom, for what and for how long."""

from __future__ import annotations

import argparse
import os
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from ....command_line.arguments import load, print_json, reading
from ....command_line.terminal import Bar, columns, table
from ....errors import UsageError
from ....stories import findings_film
from ....units import duration, percentage
from ....web.report import is_page
from ..outcomes import KINDS_OF_WAITING

if TYPE_CHECKING:
    from ....trace.model import Trace

_MOST = 12
#: Findings of one kind.
_MOST_OF_KIND = 3
#: Facts of one object, and their headings.
_OF_OBJECTS = (
    ("waited_in", "waited for in"),
    ("waiters", "waited for by"),
    ("held_up_by", "held, when asked for, by"),
    ("held_in", "held in"),
    ("holders", "held by"),
)
#: Headings of what threads that wait do.
_SHORT = {
    "contention": "contended",
    "idle": "idle",
    "signal": "for signals",
    "sleep": "asleep",
    "timeout": "timed out",
}


#: Shown by --help.
EXAMPLES = (
    "tracevis3d waits run.json.gz",
    "tracevis3d waits run.json.gz -o waits.html",
    "tracevis3d waits run.json.gz --film waits.mp4",
)


def add(parser: argparse.ArgumentParser) -> None:
    """Declare its arguments."""
    parser.add_argument("trace", metavar="TRACE")
    parser.add_argument(
        "--rules",
        metavar="FILE",
        action="append",
        default=[],
        help=(
            "rules (TOML or JSON) that say which functions wait and release, in addition to the built-in ones"
        ),
    )
    parser.add_argument(
        "--end", metavar="THREAD", help="the thread whose end the critical path leads to: its name or id"
    )
    parser.add_argument(
        "--at", metavar="TIME", help="the time that the critical path leads to, such as 1.5s or 20 (in ms)"
    )
    parser.add_argument(
        "--object", metavar="NAME", help="report a single object: who waits for it, who holds it, and where"
    )
    parser.add_argument(
        "-o", "--output", metavar="DIR",
        help="write report.md, waits.json and a picture of each of the first five findings there; "
        "NAME.html: a page with all of it, for any browser",
    )  # fmt: skip
    parser.add_argument("--every", action="store_true", help="also list waits that did not block")
    findings_film.add(parser)
    parser.add_argument("--json", action="store_true", help="print the facts as JSON")
    reading(parser)


def run(args: argparse.Namespace) -> None:
    """Print the waits of one trace."""
    from ..summary import waits_facts

    findings_film.check(args)
    with Bar(args.quiet) as bar:
        trace = load(args.trace, args, bar)
        facts = waits_facts(trace, rules=args.rules, every=args.every, end=args.end, at=args.at, progress=bar)
        if is_page(args.output):
            from ..report import write_page

            write_page(trace, args.output, ",".join(args.rules), bar)
        elif args.output:
            from ....drawing.output import Output
            from ..report import write_report

            write_report(trace, facts, args.output, Output(engine="workbench"), ",".join(args.rules), bar)
        if args.film:
            from ..film import story_of

            film = story_of(trace, args.trace, ",".join(args.rules))
            findings_film.write(film, {args.trace: trace}, args, bar)
    if args.object is not None:
        facts = _about(facts, args.object)
    if args.json:
        print_json(facts)
    elif args.object is not None:
        print(_one_object(trace, facts))
    else:
        print(_text(trace, facts))
    if args.output and not args.json:
        print(f"\n{args.output}" if is_page(args.output) else f"\n{args.output}/report.md")


def _about(facts: dict[str, Any], name: str) -> dict[str, Any]:
    """Return the facts about the objects of a name, which may end at a blank; * matches anything.

    Raises
    ------
    UsageError
        If there is no such object.
    """
    names = [o["object"] for o in facts["objects"]]
    wanted = {o for o in names if fnmatchcase(o, name)} or {o for o in names if fnmatchcase(o, f"{name} *")}
    if not wanted:
        some = ", ".join(names[:_MOST]) or "none"
        raise UsageError(f"--object {name}: there is no such object; the objects most waited for are {some}")

    def is_wanted(objects: Any) -> bool:
        return bool(wanted.intersection([objects] if isinstance(objects, str) else objects or ()))

    return {
        **facts,
        "objects": [o for o in facts["objects"] if o["object"] in wanted],
        "waits": [w for w in facts["waits"] if is_wanted(w["object"])],
        "findings": [f for f in facts["findings"] if is_wanted(f["objects"])],
    }


def _one_object(trace: Trace, facts: dict[str, Any]) -> str:
    """Return who waits for objects and who holds them, and in which functions."""
    title = _titles(trace)
    parts = []
    if facts["findings"]:
        parts.append(f"Findings\n{table(_findings(facts['findings']))}")
    for o in facts["objects"]:
        lines = [
            f"{o['object']}: {o['waits']:,} waits of {duration(o['waited_ns'])}, the longest "
            f"{duration(o['longest_ns'])}; {o['acquisitions']:,} acquisitions, up to "
            f"{o['longest_queue']} queue"
        ]
        for key, head in _OF_OBJECTS:
            rows = [(head, "times", "time")]
            rows += [
                (one["function"] if "function" in one else title[one["thread"]],
                 f"{one.get('waits', one.get('holds')):,}",
                 duration(one.get("waited_ns", one.get("held_ns"))))
                for one in o[key][:_MOST]
            ]  # fmt: skip
            if len(rows) > 1:
                lines.append(columns(rows))
        parts.append("\n\n".join(lines))
    parts.append(_longest(title, facts["waits"]))
    return "\n\n".join(parts)


def _place(site: dict[str, Any]) -> str:
    """Return file and line, as far as they are known."""
    line = f":{site['line']}" if site["line"] else ""
    return f"{os.path.basename(site['file'])}{line}" if site["file"] else ""


def _titles(trace: Trace) -> dict[Any, str]:
    title: dict[Any, str] = {tid: trace.threads.title(t) for t, tid in enumerate(trace.threads.tid)}
    title[None] = "(unknown)"
    return title


def _longest(title: dict[Any, str], waits: list[dict[str, Any]]) -> str:
    """Return the longest waits."""
    longest = sorted((w for w in waits if not w["nested"]), key=lambda w: w["start_ns"] - w["end_ns"])
    long: list[tuple[str, ...]] = [("at", "thread", "waits", "for", "by", "in", "ended", "held by")]
    for w in longest[:_MOST]:
        what = w["object"] if isinstance(w["object"], str) else ", ".join(w["object"] or ("(unknown)",))
        long.append(
            (duration(w["start_ns"]), title[w["thread"]], duration(w["end_ns"] - w["start_ns"]), what,
             w["kind"], w["function"] or "", _ended(title, w), _holder(title, w))
        )  # fmt: skip
    return f"The longest waits{_more(longest)}\n{columns(long)}"


def _text(trace: Trace, facts: dict[str, Any]) -> str:
    """Return the facts as text: findings, threads, objects, the longest waits, the critical path."""
    if not facts["waits"]:
        return _without_waits(trace)
    title = _titles(trace)
    parts = []
    if facts["findings"]:
        parts.append(f"Findings\n{table(_findings(facts['findings']))}")
    if facts["blame"]:
        delays: list[tuple[str, ...]] = [("thread", "made others wait for", "waits", "by holding in", "at")]
        delays += [
            (title[one["thread"]], duration(one["delay_ns"]), f"{one['waits']:,}", one["function"] or "",
             _place(one))
            for one in facts["blame"][:_MOST]
        ]  # fmt: skip
        parts.append(f"Who made others wait{_more(facts['blame'])}\n{columns(delays)}")
    threads = sorted((t for t in facts["threads"] if t["waits"]), key=lambda t: -t["waited_ns"])
    kinds = [kind for kind in KINDS_OF_WAITING if any(t["waited_by_state"][kind] for t in threads)]
    waiting: list[tuple[str, ...]] = [
        ("thread", "waits", "waited", *(_SHORT[kind] for kind in kinds), "most for", "")
    ]
    for thread in threads[:_MOST]:
        most = thread["waits_for"][0]
        by = thread["waited_by_state"]
        waiting.append(
            (title[thread["thread"]], f"{thread['waits']:,}", duration(thread["waited_ns"]),
             *(duration(by[kind]) if by[kind] else "" for kind in kinds), title[most["thread"]],
             duration(most["waited_ns"]))
        )  # fmt: skip
    parts.append(f"Threads that wait{_more(threads)}\n{columns(waiting)}")
    objects = [o for o in facts["objects"] if o["waits"] and not o["part_of_another"]]
    wanted: list[tuple[str, ...]] = [
        (
            "object",
            "waits",
            "waited",
            "longest",
            "queue",
            "had to wait",
            "waited for in",
            "held most by",
            "in",
        )
    ]
    for o in objects[:_MOST]:
        holder = title[o["holders"][0]["thread"]] if o["holders"] else ""
        place, holding = (o[key][0]["function"] if o[key] else "" for key in ("waited_in", "held_in"))
        wanted.append(
            (o["object"], f"{o['waits']:,}", duration(o["waited_ns"]), duration(o["longest_ns"]),
             f"{o['longest_queue']}", percentage(o['contention']), place, holder, holding)
        )  # fmt: skip
    if objects:
        parts.append(f"Objects that are waited for{_more(objects)}\n{columns(wanted)}")
    parts.append(_longest(title, facts["waits"]))
    share: dict[tuple[str, str], int] = {}
    for step in facts["critical_path"]:
        key = (title[step["thread"]], step["what"])
        share[key] = share.get(key, 0) + step["end_ns"] - step["start_ns"]
    steps = [("thread", "", "time")]
    steps += [
        (who, what, duration(ns)) for (who, what), ns in sorted(share.items(), key=lambda i: -i[1])[:_MOST]
    ]
    parts.append(f"The critical path, {len(facts['critical_path']):,} steps\n{columns(steps)}")
    return "\n\n".join(parts)


def _without_waits(trace: Trace) -> str:
    """Return what is known of threads without known waits."""
    from ....trace.names import label_of_call
    from ..running import longest_quiet, shares
    from ..waits import Waits

    none = (
        "No thread waits, according to this recording and the rules: 'tracevis3d record --threads' records "
        "waits, --rules names functions that wait."
    )
    if not len(trace):
        return none
    waits, calls, threads = Waits(trace), trace.calls, trace.threads
    quiet = longest_quiet(waits)
    begins = {t: int(calls.start[f]) for t, f in enumerate(threads.first.tolist()) if threads.count[t]}
    rows: list[tuple[str, ...]] = [("thread", "from", "to", "calls", "calls nothing for", "at", "in")]
    for t in sorted(begins, key=lambda t: begins[t])[:_MOST]:
        first, count = int(threads.first[t]), int(threads.count[t])
        call = int(quiet.call[t])
        rows.append(
            (threads.title(t), duration(begins[t]), duration(int(calls.end[first : first + count].max())),
             f"{count:,}", duration(int(quiet.end[t] - quiet.start[t])), duration(int(quiet.start[t])),
             label_of_call(trace, call) if call >= 0 else "")
        )  # fmt: skip
    found = enumerate(shares(waits, min(begins.values()), int(calls.end.max())))
    many = [(f"{n}", percentage(share)) for n, share in found if share >= 0.005]
    return "\n\n".join(
        (
            none,
            f"Threads{_more(list(begins))}; a thread that calls nothing may wait or compute\n{columns(rows)}",
            f"Number of threads that are within a call at "
            f"once\n{columns([('threads', 'of the time'), *many])}",
        )
    )


def _findings(found: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """Return kind and sentence of the first few findings of each kind, and the number of the others."""
    rows: list[tuple[str, str]] = []
    of_kind: dict[str, list[dict[str, Any]]] = {}
    for finding in found:
        of_kind.setdefault(finding["kind"], []).append(finding)
        if len(of_kind[finding["kind"]]) <= _MOST_OF_KIND:
            rows.append((finding["kind"], finding["sentence"]))
    for kind, all_ in of_kind.items():
        if rest := all_[_MOST_OF_KIND:]:
            longest = duration(max(finding["score_ns"] for finding in rest))
            rows.append((kind, f"… and {len(rest):,} more, of {longest} at most (--json lists all)"))
    return rows


def _ended(title: dict[Any, str], wait: dict[str, Any]) -> str:
    """Return how a wait ended: by whom, and whether that is only inferred."""
    if wait["outcome"] == "woken":
        return f"by {title[wait['woken_by']]}" + (" (inferred)" if wait["how"] == "inferred" else "")
    return str(wait["outcome"] or "at once").replace("unknown", "(unknown)")


def _holder(title: dict[Any, str], wait: dict[str, Any]) -> str:
    """Return who held what a wait is for, and whether that is only inferred."""
    if wait["held_by"] is None:
        return ""
    return title[wait["held_by"]] + (" (inferred)" if wait["held_by_source"] == "inferred" else "")


def _more(rows: list[Any]) -> str:
    return f" (the first {_MOST} of {len(rows):,})" if len(rows) > _MOST else ""
