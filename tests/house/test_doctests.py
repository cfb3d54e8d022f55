"""The examples in the docstrings of the API, of layout and of the builders say what really happens."""

from __future__ import annotations

import doctest
import inspect
import pkgutil
from importlib import import_module

import pytest

from tracevis3d import api, layout, overlay
from tracevis3d.formats.names import split
from tracevis3d.trace.model import Source
from tracevis3d.trace.recording import Recording

LAYOUT = [
    found.name for found in pkgutil.walk_packages(layout.__path__, "tracevis3d.layout.") if not found.ispkg
]
WITH_EXAMPLES = [f"{overlay.__name__}.{name}" for name in ("items", "rulers")]
MODULES = (
    "tracevis3d.api",
    "tracevis3d.drawing.builder",
    "tracevis3d.formats.files",
    "tracevis3d.trace.recording",
    "tracevis3d.units",
    *LAYOUT,
    *WITH_EXAMPLES,
)

#: Two runs of a program; the second one parses once less, and writes longer.
RUN = "1\t+\tmain\t0\n1\t+\tparse\t100\n1\t-\tparse\t300\n1\t+\tparse\t400\n1\t-\tparse\t600\n"
RUN += "1\t+\twrite\t700\n1\t-\twrite\t900\n1\t-\tmain\t1000\n"
NEW = "1\t+\tmain\t0\n1\t+\tparse\t100\n1\t-\tparse\t300\n"
NEW += "1\t+\twrite\t700\n1\t-\twrite\t2900\n1\t-\tmain\t3000\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Work in a folder with the files that examples read: two runs, and a recording of memory."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "run.tsv").write_text(RUN)
    (tmp_path / "new.tsv").write_text(NEW)
    recording = Recording()
    thread = recording.thread(1, 1)
    site = recording.add_stacks(function=[recording.function("load")], parent=[-1])
    recording.add_memory(
        thread=[thread] * 3, time=[0, 10, 20], kind=[0, 0, 1], address=[1, 2, 1], size=[64, 32, 0],
        stack=[site, site, -1],
    )  # fmt: skip
    api.save(recording.finish(Source(), split), "memory.tv3")
    return tmp_path


@pytest.mark.parametrize("name", MODULES)
def test_examples_say_what_happens(name, folder) -> None:
    found = doctest.testmod(import_module(name), optionflags=doctest.NORMALIZE_WHITESPACE)
    assert found.attempted
    assert not found.failed


@pytest.mark.parametrize("name", api.__all__)
def test_each_function_of_the_api_has_an_example(name) -> None:
    if name != "Output":  # a record of settings
        assert ">>> " in (getattr(api, name).__doc__ or "")


def test_each_function_of_layout_has_an_example() -> None:
    """As has each class that can do something."""
    missing = []
    for name in LAYOUT:
        module = import_module(name)
        for word, thing in vars(module).items():
            if word.startswith("_") or getattr(thing, "__module__", "") != name:
                continue
            texts = [thing.__doc__ or ""]
            if inspect.isclass(thing):
                own = [method for method in vars(thing) if not method.startswith("_")]
                methods = [inspect.unwrap(getattr(thing, method)) for method in own]
                methods = [method for method in methods if inspect.isroutine(method)]
                texts += [method.__doc__ or "" for method in methods]
                if not methods:
                    continue
            elif not callable(thing) or thing.__name__ == "warm":  # it only compiles
                continue
            if not any(">>> " in text for text in texts):
                missing.append(f"{name}.{word}")
    assert missing == []
