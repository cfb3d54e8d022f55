"""What tests of recorded programs share."""

from functools import cache

import pytest

from tests.support.recorder import run


@pytest.fixture(scope="session")
def plainly(tmp_path_factory):
    """Return a function that runs a program by itself, once for all engines: its file, and how it ended."""

    @cache
    def run_once(python, text):
        program = tmp_path_factory.mktemp("plainly") / "program.py"
        program.write_text(text)
        return program, run(python, program)

    return run_once
