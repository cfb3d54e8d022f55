"""The words of commands that take or give a live feed: its endpoint and keys."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ...live.endpoint import Keys


def feed(parser: argparse.ArgumentParser, option: str | None, required: bool = True) -> None:
    """Add the endpoint of a live feed, as an option or as a word, and the keys.

    Parameters
    ----------
    parser : argparse.ArgumentParser
    option : str or None
        The option's name; None: the endpoint is a word.
    required : bool
        There is no default.
    """
    names = (option,) if option else ("endpoint",)
    more: dict[str, Any] = {"dest": "endpoint", "required": required} if option else {}
    parser.add_argument(
        *names,
        metavar="ENDPOINT",
        help=(
            "ipc (only this user's programs), or an address such as tcp://127.0.0.1:5570 (all users of "
            "this machine)"
        ),
        **more,
    )
    parser.add_argument("--key", default="", metavar="FILE", help="your secret key file; see 'live keygen'")
    parser.add_argument(
        "--peers", default="", metavar="PATH",
        help="public keys: of a publisher the folder of its viewers', of a viewer the publisher's file",
    )  # fmt: skip


def read_keys(args: argparse.Namespace) -> Keys:
    """Return the keys that :func:`feed` asked for."""
    from ...live.endpoint import Keys

    return Keys(args.key, args.peers)
