"""``tracevis3d doctor``: what this machine can do."""

from __future__ import annotations

import argparse

from ..command_line.arguments import print_json
from ..command_line.terminal import table

#: Shown by --help.
EXAMPLES = ("tracevis3d doctor",)


def add(parser: argparse.ArgumentParser) -> None:
    """Declare its arguments."""
    parser.add_argument("--json", action="store_true")


def run(args: argparse.Namespace) -> None:
    """Examine the machine and print the findings."""
    from .. import doctor
    from . import left_out

    findings = doctor.examine()
    findings += [doctor.Finding("plug-in", False, sentence, "rename it") for sentence in left_out()]
    if args.json:
        print_json([vars(finding) for finding in findings])
        return
    print(
        table(
            [
                (("ok      " if f.ok else "missing ") + f.what, f.found if f.ok else f"{f.found}. {f.remedy}")
                for f in findings
            ]
        )
    )
