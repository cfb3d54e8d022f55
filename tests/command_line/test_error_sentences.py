"""Sentences about input that can't be used end with what to do next."""

import ast
import re

import pytest

from tests.conftest import ROOT
from tracevis3d.errors import SEE_INFO, InputError
from tracevis3d.formats import registry

#: A command in quotes, or what to do: a verb behind a colon, semicolon or comma.
_COMMAND = re.compile(r"'(?:tracevis3d|trace-cmd|uftrace|heaptrack|pip) [^']+'")
_VERBS = (
    "add|allow|ask|check|choose|convert|copy|correct|divide|give|install|leave|let|link|lines look like|"
    "make|name|promote|put|read|record|remove|render|replay|run|save|say|set|show|take|there is no field|"
    "try|update|use|wait|write|is it|is a publisher|is not one of|the file that ends in"
)
_REMEDY = re.compile(rf"(?:^|[:;,] |or |and )(?:{_VERBS})\b")
#: What to do is put in, or the reason is the system's or the publisher's, or what may be written is listed.
_GIVEN = (
    "strerror", "reason(", "{reason}", "remedy", "subscriber.", "self.summary", "{why}", "{expected}",
    "_how_to_record(", "_meant(", "is not one of", "{place}: {error}",
)  # fmt: skip
#: Messages of other programs' feeds: no user wrote them.
_OTHERS = ("live/protocol.py",)


def sentences(text: str, constants: dict[str, str]) -> list[tuple[int, str]]:
    """Return lines and sentences of what is raised in a module; what is put in is {source}."""
    tree = ast.parse(text)
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant):
            constants[ast.unparse(node.targets[0])] = str(node.value.value)

    def words(node: ast.expr) -> str:
        if isinstance(node, ast.Constant):
            return str(node.value)
        if isinstance(node, ast.JoinedStr):
            return "".join(map(words, node.values))
        source = ast.unparse(node.value if isinstance(node, ast.FormattedValue) else node)
        return constants.get(source, f"{{{source}}}")

    return [
        (node.lineno, words(node.args[0]))
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "InputError"
    ]


def ends_with_what_to_do(sentence: str) -> bool:
    return bool(
        _COMMAND.search(sentence) or _REMEDY.search(sentence) or any(word in sentence for word in _GIVEN)
    )


def test_sentences_say_what_to_do_next():
    lacking = [
        f"{path.relative_to(ROOT)}:{line}: {sentence}"
        for path in sorted((ROOT / "tracevis3d").rglob("*.py"))
        if not path.as_posix().endswith(_OTHERS)
        for line, sentence in sentences(path.read_text("utf-8"), {"SEE_INFO": SEE_INFO})
        if not ends_with_what_to_do(sentence)
    ]
    assert not lacking, "\n".join(lacking)


def test_a_sentence_without_it_is_found():
    raised = (
        'WHAT = "write it anew"\nraise InputError(f"{path}: is wrong")\nraise InputError(f"{path}: {WHAT}")'
    )
    assert [ends_with_what_to_do(sentence) for _, sentence in sentences(raised, {})] == [False, True]


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("kanata", "Kanata\t0004\nC=\t1\n", "'tracevis3d formats kanata' says how to record one"),
        ("rsf", "call\n", "'tracevis3d formats rsf' describes it"),
    ],
)
def test_a_reader_is_followed_by_how_to_record(tmp_path, name, text, said):
    path = tmp_path / "a.txt"
    path.write_text(text)
    with pytest.raises(InputError, match=re.escape(said) + "$"):
        registry.open_trace(path, form=registry.find(name))
