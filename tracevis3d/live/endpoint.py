"""Endpoints of feeds, and the keys that endpoints of other machines need."""

from __future__ import annotations

import ipaddress
import os
import re
import stat
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import InputError, MissingDependency, UsageError

#: Short names of a feed in the user's own folder: ipc, or ipc:NAME if there are several.
_OWN = re.compile(r"ipc(?::([\w.-]{1,60}))?")
_TCP = re.compile(r"tcp://(\[[0-9a-fA-F:.%]+\]|[\w.*-]+):(\d{1,5}|\*)")


@dataclass(frozen=True)
class Keys:
    """CURVE keys of one side, as files that :func:`make_keys` writes.

    Attributes
    ----------
    own : str
        Our secret key file.
    others : str
        For a publisher the folder of the viewers' public keys that are let in; for a viewer the publisher's
        public key file.
    """

    own: str = ""
    others: str = ""

    @property
    def given(self) -> bool:
        """Whether there are any."""
        return bool(self.own or self.others)

    def check_both(self, others: str) -> None:
        """Check that both keys are given, or none.

        Parameters
        ----------
        others : str
            What the second key has to be, for the message.

        Raises
        ------
        UsageError
            If one of the two is missing.
        """
        if self.given and not (self.own and self.others):
            given, missing = ("--key", "--peers") if self.own else ("--peers", "--key")
            what = others if self.own else "your secret key file"
            raise UsageError(
                f"{given} needs {missing} beside it, {what}: 'tracevis3d live keygen FOLDER NAME' makes keys"
            )


def zmq() -> Any:
    """Return the module ``zmq``, imported now if it was not yet.

    Returns
    -------
    module

    Raises
    ------
    MissingDependency
        If it can't be imported.
    """
    try:
        import zmq as module
    except ImportError as error:
        raise MissingDependency(
            f"ZeroMQ can't be imported ({error}): install it with 'pip install pyzmq', or install the "
            "extension's zip for this platform and Python version, which brings it along."
        ) from error
    return module


def check(endpoint: str, keys: Keys = Keys()) -> str:
    """Return the address to bind or connect to, if the endpoint can be used.

    Parameters
    ----------
    endpoint : str
        ``tcp://HOST:PORT``, ``ipc://PATH``, or ``ipc`` or ``ipc:NAME`` for a socket in the user's own folder.
    keys : Keys
        Needed for addresses that other machines can reach.

    Returns
    -------
    str
        The endpoint, with the path in place of ``ipc`` and ``ipc:NAME``.

    Raises
    ------
    UsageError
        If it is no endpoint, or other machines can reach it and there are no keys.
    """
    if own := _OWN.fullmatch(endpoint):
        if os.name != "posix":
            raise UsageError(f"{endpoint}: this system has no such sockets: use tcp://127.0.0.1:5570")
        return f"ipc://{_own_folder()}/{own[1] or 'feed'}"
    if endpoint.startswith("ipc://") and len(endpoint) > 6:
        return endpoint
    match = _TCP.fullmatch(endpoint)
    if not match or (match[2] != "*" and not 0 < int(match[2]) < 65536):
        raise UsageError(
            f"{endpoint}: not an endpoint: ipc, tcp://127.0.0.1:5570 or ipc:///tmp/feed is expected"
        )
    if not is_loopback(endpoint) and not (keys and keys.own and keys.others):
        raise UsageError(
            f"{endpoint}: other machines can reach this address, so both sides need keys: make them with "
            "'tracevis3d live keygen FOLDER NAME' and give --key and --peers"
        )
    return endpoint


def _own_folder() -> str:
    """Return the folder for feeds that nobody else gets to."""
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    if runtime and os.path.isdir(runtime):
        return os.path.join(runtime, "tracevis3d")
    return os.path.join(tempfile.gettempdir(), f"tracevis3d-{os.getuid()}")


def _path_of(endpoint: str) -> Path | None:
    """Return the socket's file; None where there is none."""
    is_file = os.name == "posix" and endpoint.startswith("ipc://") and endpoint[6] not in "@*"
    return Path(endpoint[6:]) if is_file else None


def claim(endpoint: str) -> None:
    """Make the folder of an ``ipc://`` endpoint if there is none, for its owner alone.

    Parameters
    ----------
    endpoint : str
        As :func:`check` returns it; nothing is done for ``tcp://``.

    Raises
    ------
    UsageError
        If others can put a socket of theirs in its place: the folder is another user's, or all may write
        there. Also if the folder can't be made.
    """
    path = _path_of(endpoint)
    if path is None:
        return
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        about = path.parent.stat()
    except OSError as error:
        raise UsageError(f"{path.parent}: can't be made: {error.strerror or error}") from None
    if about.st_uid not in (os.getuid(), 0):
        raise UsageError(f"{path.parent}: another user owns this folder: choose one of your own for the feed")
    if about.st_mode & stat.S_IWOTH and not about.st_mode & stat.S_ISVTX:
        raise UsageError(
            f"{path.parent}: all users may write there: 'chmod 700 {path.parent}', or choose another"
        )


def keep_private(endpoint: str) -> None:
    """Make the file of a bound ``ipc://`` endpoint accessible to its owner alone."""
    if path := _path_of(endpoint):
        path.chmod(0o600)


def check_owner(endpoint: str) -> None:
    """Check that an ``ipc://`` endpoint is the user's own or root's, and no imitation by another user.

    Parameters
    ----------
    endpoint : str
        As :func:`check` returns it; nothing is checked for ``tcp://``.

    Raises
    ------
    UsageError
        If the socket or its folder is another user's.
    """
    path = _path_of(endpoint)
    if path is None:
        return
    for what in (path.parent, path):
        try:
            owner = what.stat().st_uid
        except OSError:
            continue  # it may come later
        if owner not in (os.getuid(), 0):
            raise UsageError(f"{what}: another user owns it: feeds of others need tcp:// and keys")


def is_loopback(endpoint: str) -> bool:
    """Return whether an endpoint can be reached from this machine alone."""
    if endpoint.startswith(("ipc://", "inproc://")) or _OWN.fullmatch(endpoint):
        return True
    match = _TCP.fullmatch(endpoint)
    if not match:
        return False
    host = match[1].strip("[]")
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def make_keys(folder: str | os.PathLike[str], name: str) -> tuple[Path, Path]:
    """Write a pair of key files: ``NAME.key`` to give away, ``NAME.key_secret`` to keep.

    Parameters
    ----------
    folder : path
        Made if there is none.
    name : str
        Letters, digits, ``-``, ``_`` and ``.``; at most 100, and no dot in front.

    Returns
    -------
    tuple of Path
        The public and the secret key's file.

    Raises
    ------
    UsageError
        If the name can't be used, or there are such files already.
    MissingDependency
        If ZeroMQ can't be imported.
    """
    zmq()
    from zmq.auth import create_certificates

    if not re.fullmatch(r"[\w.-]{1,100}", name) or name.startswith("."):
        raise UsageError(f"{name!r}: a name of letters, digits, - and _ is expected")
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for suffix in (".key", ".key_secret"):
        if (folder / f"{name}{suffix}").exists():
            raise UsageError(f"{folder / (name + suffix)}: already exists: choose another name, or remove it")
    before = os.umask(0o077)
    try:
        public, secret = create_certificates(str(folder), name)
    finally:
        os.umask(before)
    return Path(public), Path(secret)


def read_key(path: str | os.PathLike[str], secret: bool) -> tuple[bytes, bytes]:
    """Return the public and the secret key of a file.

    Parameters
    ----------
    path : path
    secret : bool
        Whether a secret key is needed.

    Returns
    -------
    tuple of bytes
        The secret key is empty if the file has none.

    Raises
    ------
    InputError
        If the file is no key file, or lacks the secret key that is needed.
    MissingDependency
        If ZeroMQ can't be imported.
    """
    zmq()
    from zmq.auth import load_certificate

    try:
        public, hidden = load_certificate(str(path))
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: not a key file: {error}: 'tracevis3d live keygen' makes some") from None
    if secret and not hidden:
        raise InputError(f"{path}: contains no secret key: the file that ends in .key_secret is expected")
    return public, hidden or b""


def read_viewers(folder: str | os.PathLike[str]) -> set[bytes]:
    """Return the public keys of the files in a folder.

    Parameters
    ----------
    folder : path
        With files ``*.key``.

    Returns
    -------
    set of bytes

    Raises
    ------
    InputError
        If there is no folder, no file in it, or one that is no key.
    MissingDependency
        If ZeroMQ can't be imported.
    """
    files = sorted(Path(folder).glob("*.key")) if Path(folder).is_dir() else []
    if not files:
        raise InputError(f"{folder}: contains no *.key file: put the public keys of the viewers there")
    return {read_key(file, secret=False)[0] for file in files}
