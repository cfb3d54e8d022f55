"""The command line: ``tracevis3d …``, ``python -m tracevis3d …`` and ``blender --command tracevis3d …``.

Only the parser is imported to show help; a command's own code is imported when it is used.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Callable, Sequence
from typing import NoReturn

from . import interrupts
from .atomic import NO_ROOM
from .command_line.arguments import complain
from .command_line.terminal import plain_output
from .commands import all_commands, plugin_commands
from .errors import TraceVisError, UsageError
from .version import __version__


class _Parser(argparse.ArgumentParser):
    """A parser that raises :class:`UsageError` where argparse would exit."""

    def error(self, message: str) -> NoReturn:
        if (
            wrong := re.match(r"argument COMMAND: invalid choice: '(.*)' \(choose from (.*)\)$", message)
        ) is not None:
            from difflib import get_close_matches

            near = get_close_matches(wrong[1], re.findall(r"\w+", wrong[2]), n=1)
            meant = f": did you mean {near[0]!r}?" if near else ""
            raise UsageError(f"there is no command {wrong[1]!r}{meant} ('{self.prog} --help' lists them)")
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
        0 done, 1 the input can't be used, 2 the arguments are wrong, 130 interrupted, 143 ended by SIGTERM.
    """
    with interrupts.handled(), plain_output():
        return _main(arguments, prog)


def _main(arguments: Sequence[str] | None, prog: str) -> int:
    try:
        given = list(sys.argv[1:] if arguments is None else arguments)
        if "_ARGCOMPLETE" in os.environ:
            _complete(prog)
        args = _parser(prog, given).parse_args(given)
        run: Callable[[argparse.Namespace], None] = args.run
        run(args)
        sys.stdout.flush()
    except SystemExit as leave:  # argparse's --help and --version
        return leave.code if isinstance(leave.code, int) else 0
    except (Exception, KeyboardInterrupt) as error:
        if (code := _failed(error, prog)) is None:
            raise
        return code
    return 0


def _complete(prog: str) -> None:
    """Answer the shell, which asks what may follow, and end the process; see docs/install.md."""
    import argcomplete

    line = os.environ.get("COMP_LINE", "")
    args = line[: int(os.environ.get("COMP_POINT", len(line)))].split()[1:]
    # The word that is being typed is not given yet.
    given = args if line[-1:].isspace() else args[:-1]
    argcomplete.autocomplete(_parser(prog, given))


def _failed(error: BaseException, prog: str) -> int | None:
    """Say in one sentence what went wrong, and return the exit code; None for an error of the program."""
    # Libraries may turn an interrupt into errors of their own.
    if isinstance(error, KeyboardInterrupt) or interrupts.signal_received():
        complain(f"{prog}: interrupted")
        return interrupts.exit_code(error)
    if isinstance(error, TraceVisError):
        complain(f"{prog}: {error}")
        return error.exit_code
    if isinstance(error, BrokenPipeError):
        # The reader of our output has gone (head, less): not an error; keep Python's exit from complaining.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    if isinstance(error, MemoryError):
        complain(f"{prog}: there is not enough memory for this: close other programs, or read a part")
        return 1
    if isinstance(error, OSError):
        place, remedy = f"{error.filename}: " if error.filename else "", ""
        if not place and error.errno in NO_ROOM:
            # Only what is printed is written without a name of ours.
            place, remedy = "standard output: can't be written: ", ": make room, or print to another disk"
        complain(f"{prog}: {place}{error.strerror or error}{remedy}")
        return 1
    return None


def _parser(prog: str, given: Sequence[str]) -> argparse.ArgumentParser:
    """Return a parser for what is given: all commands, of which the one that is requested has arguments."""
    parser = _Parser(
        prog=prog,
        description="Turns execution traces into 3D scenes.",
        epilog="Views of plug-ins may have commands too: see 'views VIEW'. "
        "Exit codes: 0 done, 1 the input can't be used, 2 the arguments are wrong, "
        "130 interrupted (143 by SIGTERM).",
    )
    parser.add_argument("--version", action="version", version=f"TraceVis3D {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    known = all_commands()
    asked = next((word for word in given if not word.startswith("-")), None)
    if asked is not None and asked not in known:
        known = plugin_commands() | known
    for name, command in known.items():
        sub = commands.add_parser(
            name,
            help=command.sentence,
            description=command.sentence[:1].upper() + command.sentence[1:] + ".",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        if name == asked:
            command.add(sub)
            sub.set_defaults(run=command.run)
    return parser


if __name__ == "__main__":
    sys.exit(main())
