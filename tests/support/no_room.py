"""Disks without room: a real one of 40 kB where mounting is allowed, and a limit on files everywhere."""

import contextlib
import subprocess
import sys

import pytest


@contextlib.contextmanager
def small_disk(folder):
    """Mount a file system of 40 kB at ``folder``; skips where that isn't allowed."""
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=40k", "tmpfs", str(folder)]
    try:
        done = subprocess.run(mount, capture_output=True, check=False)
    except OSError:
        pytest.skip("no mount here")
    if done.returncode:
        pytest.skip("mounting is not allowed")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


@contextlib.contextmanager
def small_files(most):
    """Let no file of this process grow beyond ``most`` bytes."""
    if sys.platform == "win32":
        pytest.skip("Windows has no such limit")
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    with pytest.MonkeyPatch.context() as patch:
        # Python would keep what it could write of a module compiled meanwhile, and stumble over it later.
        patch.setattr(sys, "dont_write_bytecode", True)
        patch.setenv("PYTHONDONTWRITEBYTECODE", "1")
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, hard))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
