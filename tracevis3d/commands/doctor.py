"""``tracevis3d doctor``: what this machine can do."""

from __future__ import annotations

import argparse

from ..command_line.arguments import Subcommands, command, print_json
from ..command_line.terminal import table


def add(commands: Subcommands) -> None:
    """Add the command to the parser."""
    parser = command(commands, "doctor", run, "show what this machine can do, and what to install")
    parser.add_argument("--json", action="store_true")


def run(words: argparse.Namespace) -> None:
    """Examine the machine and print the findings."""
    from .. import doctor

    findings = doctor.examine()
    if words.json:
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
