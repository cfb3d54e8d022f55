"""Recorded names, taken apart as a person would."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracevis3d.formats.names import in_file, module_of, split, split_class
from tracevis3d.trace.model import CONTAINER_KINDS

LIBRARY = "/usr/local/lib/python-3.11.7/lib/python3.11"
SITE = "/home/user/project/venv/lib/python3.11/site-packages"


def written(containers):
    return " > ".join(f"{kind} {name}" for kind, name in containers)


@pytest.mark.parametrize(
    ("name", "label", "containers", "line"),
    [
        (f"_compile ({LIBRARY}/re/__init__.py:272)", "_compile", "package re > module re", 272),
        (f"compile ({LIBRARY}/re/_compiler.py:740)", "compile", "package re > module re._compiler", 740),
        (f"Lock.acquire ({LIBRARY}/threading.py:5)", "Lock.acquire", "module threading > class Lock", 5),
        (
            f"PyLinter.check ({SITE}/pylint/lint/run.py:5)",
            "PyLinter.check",
            "package pylint > package pylint.lint > module pylint.lint.run > class PyLinter",
            5,
        ),
        ("Run.do (pylint/run.py:9)", "Run.do", "package pylint > module pylint.run > class Run", 9),
        ("Outer.Inner.m (a.py:1)", "Outer.Inner.m", "module a > class Outer > class Outer.Inner", 1),
        ("make.<locals>.inner (a.py:12)", "make.inner", "module a", 12),
        ("C.f.<locals>.<lambda> (a.py:12)", "C.f.<lambda>", "module a", 12),
        ("<module> (/home/user/project/tool.py:1)", "<module>", "module tool", 1),
        ("<module> (/home/user/venv/bin/markdown_py:1)", "<module>", "module markdown_py", 1),
        ("<lambda> (<string>:1)", "<lambda>", "module <string>", 1),
        (
            "_find_spec (<frozen importlib._bootstrap>:921)",
            "_find_spec",
            "package importlib > module importlib._bootstrap",
            921,
        ),
        (r"m (C:\Program Files (x86)\tool.py:3)", "m", "module tool", 3),
        ("main (src/main.c:12)", "main", "file main.c", 12),
        (
            "runtime.mallocgc (/go/src/runtime/malloc.go:9)",
            "runtime.mallocgc",
            "package runtime > file malloc.go",
            9,
        ),
        (
            "a.org/b/json.(*Decoder).Decode (/src/json/stream.go:4)",
            "a.org/b/json.(*Decoder).Decode",
            "package a.org/b/json > file stream.go",
            4,
        ),
        (
            "slices.sort[go.shape.[]a.org/b.T] (/go/src/slices/sort.go:7)",
            "slices.sort[go.shape.[]a.org/b.T]",
            "package slices > file sort.go",
            7,
        ),
        (
            "runtime.memmove (/go/src/runtime/memmove.s:9)",
            "runtime.memmove",
            "package runtime > file memmove.s",
            9,
        ),
        ("memmove (/go/src/runtime/memmove.go:1)", "memmove", "file memmove.go", 1),
        ("sort.part.0'2 (qsort.c:12)", "sort.part.0'2", "file qsort.c", 12),
        ("sort.isra.0.cold (qsort.c:12)", "sort.isra.0.cold", "file qsort.c", 12),
        ("sort.cold", "sort.cold", "", 0),
        ("sort.part.0", "sort.part.0", "", 0),
        ("Store.part", "Store.part", "class Store", 0),
        ("render (http://site.org/js/app.js:12:5)", "render", "file app.js", 12),
        (
            "torch/nn/module.py(1194): call",
            "call",
            "package torch > package torch.nn > module torch.nn.module",
            1194,
        ),
        ("builtins.len", "len", "module builtins", 0),
        ("set.discard", "set.discard", "module builtins > class set", 0),
        ("re.Pattern.findall", "Pattern.findall", "module re > class Pattern", 0),
        ("_io.TextIOWrapper.isatty", "TextIOWrapper.isatty", "module _io > class TextIOWrapper", 0),
        ("Semaphore.release", "Semaphore.release", "class Semaphore", 0),
        (
            "weka.core.FastVector.elementAt",
            "FastVector.elementAt",
            "package weka > package weka.core > class FastVector",
            0,
        ),
        ("java/util/HashMap.get_[j]", "HashMap.get", "package java > package java.util > class HashMap", 0),
        ("NioSocketImpl$1.read_[j]", "NioSocketImpl$1.read", "class NioSocketImpl$1", 0),
        ("ns::Class::method(int, std::vector<int>)", "Class::method", "module ns > class Class", 0),
        ("void cutlass::Kernel<a::b<c> >(x::y)", "Kernel", "module cutlass", 0),
        ("ThreadControllerImpl::RunTask", "ThreadControllerImpl::RunTask", "class ThreadControllerImpl", 0),
        ("aten::mul", "mul", "module aten", 0),
        ("(anonymous namespace)::run(int)", "run", "module (anonymous namespace)", 0),
        ("std::operator<<(std::ostream&, int)", "operator<<", "module std", 0),
        (
            "core::ptr::drop_in_place<T>::h0123456789abcdef",
            "drop_in_place",
            "module core > module core::ptr",
            0,
        ),
        ("linux:schedule", "schedule", "category linux", 0),
        ("luaV_execute", "luaV_execute", "", 0),
        ("Thread-8 (process_request_thread)", "Thread-8 (process_request_thread)", "", 0),
        ("with spaces, 1.5 and (brackets", "with spaces, 1.5 and (brackets", "", 0),
        ("../../etc/passwd (../../../../etc/passwd:1)", "../../etc/passwd", "module passwd", 1),
    ],
)
def test_what_names_say(name, label, containers, line):
    said = split(name)
    assert (said.label, written(said.containers), said.line) == (label, containers, line)


def test_the_file_is_kept_as_recorded():
    assert split(f"f ({LIBRARY}/re/__init__.py:2)").file == f"{LIBRARY}/re/__init__.py"
    assert split("f (a.py)") == ("f", (("module", "a"),), "a.py", 0)


def test_modules_of_compiled_and_packaged_files():
    assert (
        written(module_of("/usr/lib/python3.11/lib-dynload/_json.cpython-311-x86_64-linux-gnu.so"))
        == "module _json"
    )
    assert written(module_of("/x/pkg/__init__.py")) == "package pkg > module pkg"
    assert written(module_of("/x/pkg/__main__.py")) == "package pkg > module pkg.__main__"
    assert module_of("") == ()


@given(st.one_of(st.text(max_size=60), st.text("ab:.()<> ,/$_1[]\\-", max_size=60)))
def test_any_name_can_be_split(name):
    said = split(name)
    assert said.label or not name
    assert said.line >= 0
    for kind, container in said.containers:
        assert kind in CONTAINER_KINDS
        assert container


def test_long_hostile_names_take_no_time():
    for name in (
        "(" * 50_000,
        " (" * 25_000 + ")",
        "::" * 50_000,
        "<" * 50_000 + "::x",
        "a." * 50_000,
        "a(:1)" * 20_000,
    ):
        split(name)


@given(
    st.text("ab_.<>(): 1", min_size=1, max_size=6),
    st.text("ab/.(): 1<>py", min_size=1, max_size=8)
    | st.sampled_from([f"{LIBRARY}/re.py", "C:\\a.py", "a:3"]),
)
def test_a_name_and_its_file_say_what_both_in_one_text_say(name, file):
    assert in_file(name, file) == split(f"{name} ({file}:1)")


@pytest.mark.parametrize(
    ("name", "label", "containers"),
    [
        ("a.b.Note", "Note", "package a > package a.b > class a.b.Note"),
        ("a.b.Note$Part", "Note$Part", "package a > package a.b > class a.b.Note$Part"),
        ("java.lang.Object[]", "Object[]", "package java > package java.lang > class java.lang.Object[]"),
        ("byte[]", "byte[]", "class byte[]"),
        ("a.Class<b.c.D>", "Class<b.c.D>", "package a > class a.Class<b.c.D>"),
        ("(reached by no root)", "(reached by no root)", ""),
        ("", "", ""),
    ],
)
def test_classes_are_taken_apart(name, label, containers):
    said = split_class(name)
    assert (said.label, written(said.containers)) == (label, containers)
