"""Flamenco's job types, run with a plain form of what its manager offers to scripts."""

import json
import shutil
import subprocess

import pytest

from tests.conftest import ROOT
from tracevis3d.commands import all_commands
from tracevis3d.commands.batch import _Parser

FOLDER = ROOT / "examples" / "flamenco"
#: What the manager offers, after its documentation: tasks of commands, with the tasks that they wait for.
OFFERED = """
const author = {
    Task: (name, type) => ({name, type, commands: [], dependencies: [],
        addCommand(command) { this.commands.push(command); },
        addDependency(task) { this.dependencies.push(task.name); }}),
    Command: (name, parameters) => ({name, parameters}),
};
const frameChunker = (lines, size) => lines === "1-3,7" && size === 3 ? ["1-3", "7"] : ["1-3,7"];
const path = {};
"""
#: What Flamenco's interface knows of a setting, and its values.
KEYS = {
    "key", "type", "subtype", "choices", "propargs", "description", "default", "eval", "evalInfo", "visible",
    "required", "editable",
}  # fmt: skip


def compiled(name, settings):
    if shutil.which("node") is None:
        pytest.skip("needs node")
    script = (FOLDER / name).read_text("utf-8")
    job = f"const job = {{settings: {json.dumps(settings)}, tasks: []}};"
    add = "job.addTask = (task) => job.tasks.push(task);"
    say = "console.log(JSON.stringify([JOB_TYPE, job.tasks]));"
    text = "\n".join([OFFERED, script, job, add, "compileJob(job);", say])
    done = subprocess.run(["node", "-"], input=text, capture_output=True, text=True, check=True)
    kind, tasks = json.loads(done.stdout)
    assert set(kind) == {"label", "settings"}
    for setting in kind["settings"]:
        assert set(setting) <= KEYS
        assert setting["type"] in ("string", "int32", "float", "bool")
        assert setting.get("subtype", "file_path") in ("file_path", "dir_path", "file_name")
        assert setting["visible"] in ("visible", "hidden", "submission", "web")
    assert {setting["key"] for setting in kind["settings"]} == set(settings)
    return tasks


def words_of(task):
    """Return what our parser makes of a task's commands."""
    for command in task["commands"]:
        assert command["name"] == "exec"
        assert set(command["parameters"]) == {"exe", "args"}
        name, *words = command["parameters"]["args"]
        parser = _Parser(prog=name)
        all_commands()[name].add(parser)
        yield parser.parse_args(words)


def test_parts_of_a_film_are_joined_when_all_are_there():
    settings = {"story": "a.yaml", "film": "a.mp4", "frames_folder": "f", "parts": 3, "size": "", "fps": 5}
    settings["program"] = "tracevis3d"
    *parts, join = compiled("tracevis3d-film.js", settings)
    assert [next(words_of(task)).part for task in parts] == ["1/3", "2/3", "3/3"]
    assert join["dependencies"] == [task["name"] for task in parts]
    words = next(words_of(join))
    assert (words.story, words.output, words.folder) == ("a.yaml", "a.mp4", "f")
    assert (words.part, words.fps) == ("", 5)


def test_lines_of_a_batch_are_tasks():
    settings = {"batch": "/s/a.txt", "lines": "1-3,7", "chunk_size": 3, "only_new": True, "program": "x"}
    tasks = compiled("tracevis3d-batch.js", settings)
    assert [[words.lines for words in words_of(task)] for task in tasks] == [["1..3"], ["7"]]
    settings["chunk_size"], settings["only_new"] = 9, False
    (task,) = compiled("tracevis3d-batch.js", settings)
    assert [(words.lines, words.new) for words in words_of(task)] == [("1..3", False), ("7", False)]
