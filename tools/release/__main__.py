"""Build a release into ``dist/``, or a part of it: ``python -m tools.release [PART]``.

``dist/library`` has the source archive and the wheels, ``dist/repository`` the zips for Blender and their
listing.
"""

from __future__ import annotations

import argparse
import sys

from . import check, extension, library, repository

REPOSITORY = extension.DIST / "repository"


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.release", description="Build a release into dist/."
    )
    parts = parser.add_subparsers(dest="part", metavar="PART")
    extension.add(parts.add_parser("extension", help="the zips for Blender"))
    parts.add_parser("library", help="the source archive and the wheels")
    parts.add_parser("repository", help="all zips, as a repository that Blender installs from")
    parts.add_parser("check", help="install and use what was built")
    words = parser.parse_args(arguments)
    try:
        if words.part == "extension":
            extension.run(words)
        if words.part in (None, "library"):
            for path in library.build():
                print(f"{path}  {path.stat().st_size / 1e6:.1f} MB", flush=True)
        if words.part in (None, "repository"):
            _repository()
        if words.part in (None, "check"):
            check.check_extension(REPOSITORY)
            check.check_library(library.OUTPUT)
    except extension.BuildError as error:
        print(f"release: {error}", file=sys.stderr)
        return 1
    return 0


def _repository() -> None:
    zips = []
    for name in extension.TARGETS:
        zips.append(extension.build(extension.Target.parse(name), extension.DIST))
        print(f"{zips[-1]}  {zips[-1].stat().st_size / 1e6:.1f} MB", flush=True)
    print(repository.make(REPOSITORY, zips))
    for path in zips:
        path.unlink()


if __name__ == "__main__":
    sys.exit(main())
