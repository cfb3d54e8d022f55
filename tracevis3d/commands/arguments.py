"""What several commands share: declaring one, reading a trace, printing facts."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..terminal import Bar

if TYPE_CHECKING:
    from ..live.endpoint import Keys
    from ..trace.model import Trace

#: What ``ArgumentParser.add_subparsers`` returns; argparse has no public name for it.
Subcommands = Any


def command(
    commands: Subcommands, name: str, run: Callable[[argparse.Namespace], None], sentence: str
) -> argparse.ArgumentParser:
    """Declare a command: its name, what does it, and what it does in half a sentence."""
    parser: argparse.ArgumentParser = commands.add_parser(
        name, help=sentence, description=sentence[:1].upper() + sentence[1:] + "."
    )
    parser.set_defaults(run=run)
    return parser


def reading(parser: argparse.ArgumentParser) -> None:
    """Add the options of every command that reads traces."""
    parser.add_argument(
        "--no-cache", action="store_true", help="read the file itself, and don't keep the result"
    )
    parser.add_argument("--quiet", action="store_true", help="no progress bar")


def feed(parser: argparse.ArgumentParser, option: str | None, required: bool = True) -> None:
    """Add the endpoint of a live feed, as an option or as a word, and the keys."""
    names = (option,) if option else ("endpoint",)
    more: dict[str, Any] = {"dest": "endpoint", "required": required} if option else {}
    parser.add_argument(*names, metavar="ENDPOINT", help="such as tcp://127.0.0.1:5570", **more)
    parser.add_argument("--key", default="", metavar="FILE", help="our secret key; see 'live keygen'")
    parser.add_argument(
        "--peers", default="", metavar="PATH",
        help="public keys: of a publisher the folder of its viewers', of a viewer the publisher's file",
    )  # fmt: skip


def read_keys(words: argparse.Namespace) -> Keys:
    """Return the keys that :func:`feed` asked for."""
    from ..live.endpoint import Keys

    return Keys(words.key, words.peers)


def load(path: str, words: argparse.Namespace, bar: Bar) -> Trace:
    """Read a trace, and say on standard error what had to be mended or left out."""
    from .. import api

    trace = api.load(path, cache=not words.no_cache, progress=bar)
    bar.close()
    for sentence in trace.problems.sentences():
        complain(f"{path}: {sentence}")
    return trace


def complain(sentence: str) -> None:
    """Print one sentence, in one line, on standard error."""
    print(sentence.replace("\n", " "), file=sys.stderr)


def print_json(facts: object) -> None:
    """Print facts as JSON on standard output."""
    print(json.dumps(facts, indent=2, ensure_ascii=False, default=str))
