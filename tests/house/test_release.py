"""What a release says of itself agrees: versions, the files for visitors, the forge's workflows."""

import re
import subprocess
import sys
import tomllib
from fnmatch import fnmatch
from pathlib import PurePath

import pytest

import tracevis3d
from tests.conftest import ROOT

yaml = pytest.importorskip("yaml")

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
FORMS = sorted(p for p in (ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml") if p.stem != "config")


def read(path):
    return yaml.safe_load(path.read_text("utf-8"))


def test_there_is_one_version():
    citation = read(ROOT / "CITATION.cff")
    manifest = tomllib.loads((ROOT / "blender_manifest.toml").read_text("utf-8"))
    newest = re.search(
        r"^## (\d+\.\d+\.\d+) \((.*)\)$", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE
    )
    assert {citation["version"], manifest["version"], newest[1]} == {tracevis3d.__version__}
    assert citation["date-released"] == newest[2]


def test_the_citation_has_what_its_format_asks_for():
    citation = read(ROOT / "CITATION.cff")
    assert {"cff-version", "message", "title", "authors"} <= citation.keys()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert citation["license"] == project["license"]


def test_the_recipe_for_conda_asks_for_what_the_package_asks_for():
    recipe = read(ROOT / "tools" / "release" / "conda" / "recipe.yaml")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    facts = project["project"]
    assert recipe["context"]["version"] == tracevis3d.__version__
    assert recipe["about"]["license"] == facts["license"]
    needed = {f"python{facts['requires-python']}", *facts["dependencies"]}
    assert {one.replace(" ", "") for one in recipe["requirements"]["run"]} == needed
    assert set(project["build-system"]["requires"]) < {
        one.replace(" ", "") for one in recipe["requirements"]["host"]
    }
    ((name, program),) = facts["scripts"].items()
    assert recipe["build"]["python"]["entry_points"] == [f"{name} = {program}"]
    folder = ROOT / "tools" / "release" / "conda" / recipe["source"]["path"]
    named = {one.removesuffix("/**") for one in recipe["source"]["filter"]}
    assert {facts["readme"], *facts["license-files"], "pyproject.toml", name} == named
    assert all((folder / one).exists() for one in named)


def test_all_files_of_the_library_get_into_a_wheel():
    tool = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["setuptools"]
    setuptools = pytest.importorskip("setuptools")
    packages = set(setuptools.find_packages(str(ROOT), **tool["packages"]["find"]))
    tracked = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "tracevis3d"], cwd=ROOT, capture_output=True, text=True
    ).stdout
    files = [PurePath(name) for name in tracked.split("\0") if name]
    if not files:
        pytest.skip("these are no files of a repository")

    def is_taken(file):
        for up in file.parents:
            package = ".".join(up.parts)
            if package in packages:
                below = str(file.relative_to(up))
                patterns = tool["package-data"].get(package, [])
                is_module = file.suffix == ".py" and up == file.parent
                return is_module or any(fnmatch(below, pattern) for pattern in patterns)
        return False

    assert [str(file) for file in files if not is_taken(file)] == []
    patterns = [(package, one) for package, several in tool["package-data"].items() for one in several]
    for package, pattern in patterns:
        assert list(ROOT.joinpath(*package.split(".")).glob(pattern)), f"{package}: no {pattern}"


def test_all_extras_are_in_all_but_those_for_developers():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    named = set(re.fullmatch(r"tracevis3d\[(.*)\]", extras["all"][0])[1].split(","))
    # VizTracer is asked for by one engine alone; otf2 is no wheel.
    assert set(extras) - named == {"all", "bench", "dev", "docs", "mutate", "otf2", "record", "release"}


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_is_as_the_forge_wants_it(path):
    pytest.importorskip("check_jsonschema")
    words = ["--builtin-schema", "vendor.github-workflows", path]
    done = subprocess.run([sys.executable, "-m", "check_jsonschema", *words], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_runs_what_there_is(path):
    flow = read(path)
    targets = set(re.findall(r"^([a-z-]+):.*##", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    jobs = flow["jobs"]
    kept, fetched = set(), set()
    # Nothing gets more rights than it asks for.
    assert flow["permissions"] == {"contents": "read"}
    for job in jobs.values():
        needs = job.get("needs", [])
        assert set([needs] if isinstance(needs, str) else needs) <= set(jobs)
        for step in job["steps"]:
            assert ("uses" in step) != ("run" in step)
            if "uses" in step:
                assert re.fullmatch(r"[\w-]+/[\w-]+@[\w./-]+", step["uses"])
            for target in re.findall(r"\bmake ([a-z-]+)", step.get("run", "")):
                assert target in targets
            name = step.get("with", {}).get("name") or step.get("with", {}).get("pattern", "")
            (kept if "upload-artifact" in step.get("uses", "") else fetched).add(name.partition("-")[0])
    assert fetched - {""} <= kept


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.stem)
def test_an_issue_form_can_be_filled_in(path):
    form = read(path)
    assert {"name", "description", "body"} <= form.keys()
    ids = [one["id"] for one in form["body"]]
    assert len(set(ids)) == len(ids)
    for one in form["body"]:
        assert one["type"] in ("textarea", "input", "dropdown", "checkboxes", "markdown")
        assert one["attributes"]["label"]
