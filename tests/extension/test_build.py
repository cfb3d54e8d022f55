"""The zips of the extension: what is in them, and what the build refuses."""

import base64
import csv
import ctypes
import hashlib
import json
import shutil
import struct
import subprocess
import sys
import tomllib
import zipfile

import pytest

from tests.extension.test_native_parts import pe
from tools.release import extension as build
from tools.release import slim
from tools.release.__main__ import main

LINUX = build.Target.parse("linux-x64-cp313")


def wheel(folder, name, requires=(), files=None):
    """Write a wheel that has its metadata, and these files."""
    path = folder / name
    project, version = name.split("-")[:2]
    lines = [f"Metadata-Version: 2.1\nName: {project}\nVersion: {version}\n"]
    lines += [f"Requires-Dist: {requirement}\n" for requirement in requires]
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(f"{project}-{version}.dist-info/METADATA", "".join(lines))
        archive.writestr(f"{project}-{version}.dist-info/RECORD", "")
        for path_in_it, content in (files or {}).items():
            archive.writestr(path_in_it, content)
    return path


def test_every_target_has_pinned_wheels_that_fit_it():
    lock = build._lock()
    assert set(lock) == set(build.TARGETS)
    for name, pinned in lock.items():
        target = build.Target.parse(name)
        projects = set()
        for file, digest in pinned.items():
            project, _, _, tags = build.parse_wheel_filename(file)
            projects.add(str(project))
            assert any(build._fits(tag.interpreter, tag.abi, tag.platform, target) for tag in tags), file
            assert len(digest) == 64
        assert projects == set(build.PACKAGES), name


@pytest.mark.parametrize(
    ("name", "target", "fits"),
    [
        ("numba-1.0-cp313-cp313-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl", "linux-x64-cp313", True),
        ("numba-1.0-cp313-cp313-manylinux_2_28_x86_64.whl", "linux-x64-cp311", False),
        ("numba-1.0-cp313-cp313-manylinux_2_28_aarch64.whl", "linux-x64-cp313", False),
        ("numba-1.0-cp313-cp313-win_amd64.whl", "linux-x64-cp313", False),
        ("numba-1.0-cp313-cp313-win_amd64.whl", "windows-x64-cp313", True),
        ("numba-1.0-cp311-cp311-macosx_12_0_arm64.whl", "macos-arm64-cp311", True),
        ("numba-1.0-cp311-cp311-macosx_12_0_arm64.whl", "macos-x64-cp311", False),
        ("numba-1.0-cp310-abi3-macosx_10_9_universal2.whl", "macos-arm64-cp313", True),
        ("numba-1.0-cp314-abi3-macosx_10_9_universal2.whl", "macos-arm64-cp313", False),
        ("numba-1.0-py3-none-any.whl", "windows-x64-cp311", True),
    ],
)
def test_a_wheel_of_another_platform_or_python_is_refused(tmp_path, name, target, fits):
    wheels = [wheel(tmp_path, name)]
    if fits:
        build.check_wheels(wheels, build.Target.parse(target))
    else:
        with pytest.raises(build.BuildError, match="is not for"):
            build.check_wheels(wheels, build.Target.parse(target))


def test_wheels_must_satisfy_each_other(tmp_path):
    tag = "cp313-cp313-manylinux_2_28_x86_64.whl"
    numba = wheel(
        tmp_path,
        f"numba-0.68-{tag}",
        ["llvmlite<0.51,>=0.50", "numpy>=1.22", 'old; python_version < "3.9"', 'extra; extra == "test"'],
    )
    with pytest.raises(build.BuildError, match=r"needs llvmlite.*not bundled"):
        build.check_wheels([numba], LINUX)
    with pytest.raises(build.BuildError, match=r"needs llvmlite.*but 0\.51\.0 is bundled"):
        build.check_wheels([numba, wheel(tmp_path, f"llvmlite-0.51.0-{tag}")], LINUX)
    build.check_wheels([numba, wheel(tmp_path, f"llvmlite-0.50.1-{tag}")], LINUX)


def test_numpy_is_never_bundled(tmp_path):
    own = wheel(tmp_path, "numpy-2.0.0-cp313-cp313-manylinux_2_28_x86_64.whl")
    with pytest.raises(build.BuildError, match="comes with Blender"):
        build.check_wheels([own], LINUX)


def test_a_file_that_is_not_the_pinned_one_is_refused(tmp_path, monkeypatch):
    name = "numba-1.0-py3-none-any.whl"
    monkeypatch.setattr(build, "WHEELS", tmp_path)
    monkeypatch.setattr(build, "_lock", lambda: {"linux-x64-cp313": {name: "0" * 64}})
    wheel(tmp_path, name)
    with pytest.raises(build.BuildError, match="SHA-256 differs"):
        build.fetch(LINUX)
    assert not (tmp_path / name).exists()


def test_the_zip_has_the_extension_and_nothing_else(tmp_path, monkeypatch):
    name = "numba-1.0-py3-none-any.whl"
    own = wheel(tmp_path, name)
    monkeypatch.setattr(build, "fetch", lambda target: [own])
    path = build.build(LINUX, tmp_path / "dist")
    assert path.name == f"tracevis3d-{git_manifest()['version']}-linux-x64-cp313.zip"
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        manifest = tomllib.loads(archive.read("blender_manifest.toml").decode())
        assert archive.read(f"wheels/{name}") == slim.slimmed(own)
    assert {n.split("/")[0] for n in names} == {*(top.split("/")[0] for top in build.CONTENT), "wheels"}
    assert [n for n in names if n.startswith("examples/")] == [build.EXAMPLE]
    assert not [n for n in names if "__pycache__" in n or n.endswith(".pyc") or "/." in n]
    assert "tracevis3d/trace/model.py" in names
    assert manifest["wheels"] == [f"./wheels/{name}"]
    assert manifest["platforms"] == ["linux-x64"]
    expected = {key: value for key, value in git_manifest().items() if key != "build"}
    assert {k: v for k, v in manifest.items() if k not in ("wheels", "platforms")} == expected
    # The same sources give the same zip.
    assert build.build(LINUX, tmp_path / "again").read_bytes() == path.read_bytes()
    with zipfile.ZipFile(build.build(LINUX, tmp_path / "next", version="9.8.7")) as archive:
        assert tomllib.loads(archive.read("blender_manifest.toml").decode())["version"] == "9.8.7"


def git_manifest():
    return tomllib.loads((build.ROOT / build.MANIFEST).read_text("utf-8"))


def test_the_manifest_in_git_names_no_wheels_and_the_librarys_version():
    import tracevis3d

    manifest = git_manifest()
    assert "wheels" not in manifest
    assert "platforms" not in manifest
    assert manifest["version"] == tracevis3d.__version__
    assert manifest["blender_version_min"] == "4.2.0"
    assert len(manifest["tagline"]) <= 64
    for sentence in manifest["permissions"].values():
        assert len(sentence) <= 64
        assert not sentence.endswith(".")


def test_an_unknown_target_is_reported_in_one_sentence(capsys):
    assert main(["extension", "--target", "amiga-cp311"]) == 1
    assert "amiga-cp311" in capsys.readouterr().err


def test_a_slim_wheel_lists_what_it_holds(tmp_path):
    path = tmp_path / "numba-1.0-py3-none-any.whl"
    kept = {"numba/core/a.py": b"a = 1\n", "numba/testing/b.py": b"", "numba/_c.so": b"\x7fELF no library"}
    left = ["numba/tests/t.py", "numba/cuda/driver.py", "numba/_c.c", "numba/core/a.pyi"]
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in {**kept, **dict.fromkeys(left, b"unused")}.items():
            archive.writestr(name, content)
        archive.writestr("numba-1.0.dist-info/RECORD", "".join(f"{name},,\n" for name in (*kept, *left)))
    slimmed = tmp_path / "slim.whl"
    slimmed.write_bytes(slim.slimmed(path))
    with zipfile.ZipFile(slimmed) as archive:
        assert set(archive.namelist()) == {*kept, "numba-1.0.dist-info/RECORD"}
        rows = list(csv.reader(archive.read("numba-1.0.dist-info/RECORD").decode().splitlines()))
        for name, digest, size in rows[:-1]:
            content = archive.read(name)
            assert content == kept[name]
            raw = base64.urlsafe_b64decode(digest.removeprefix("sha256=") + "=")
            assert (raw, int(size)) == (hashlib.sha256(content).digest(), len(content))
    assert rows[-1] == ["numba-1.0.dist-info/RECORD", "", ""]


@pytest.mark.skipif(not shutil.which("cc") or sys.platform != "linux", reason="no C compiler, or no ELF")
def test_a_library_without_its_symbols_does_what_it_did(tmp_path):
    source, library = tmp_path / "twice.c", tmp_path / "twice.so"
    source.write_text("static int hidden(int n) { return n + n; }\nint twice(int n) { return hidden(n); }\n")
    subprocess.run(["cc", "-g", "-shared", "-fPIC", "-o", library, source], check=True)
    whole = library.read_bytes()
    slimmed = slim.without_symbols(whole)
    assert len(slimmed) < len(whole)
    assert b"hidden" not in slimmed
    small = tmp_path / "small.so"
    small.write_bytes(slimmed)
    assert ctypes.CDLL(str(small)).twice(21) == 42
    assert slim.without_symbols(slimmed) == slimmed
    assert slim.without_symbols(b"MZ of Windows") == b"MZ of Windows"


def test_a_repository_lists_each_zip_for_its_platform_and_python(tmp_path, monkeypatch):
    pytest.importorskip("bpy", reason="no bpy")
    from tools.release import check, repository

    for_linux = {"msgspec/_core.so": struct.pack("<4s14xH44x", b"\x7fELF", 62)}
    own = wheel(tmp_path, "msgspec-1.0-cp313-cp313-manylinux_2_28_x86_64.whl", files=for_linux)
    other = wheel(tmp_path, "msgspec-1.0-cp314-cp314-win_amd64.whl", files={"msgspec/_core.pyd": pe()})
    windows = build.Target.parse("windows-x64-cp314")
    monkeypatch.setattr(build, "fetch", lambda target: [own if target == LINUX else other])
    zips = [build.build(target, tmp_path / "dist") for target in (LINUX, windows)]
    index = repository.make(tmp_path / "repository", zips)
    data = {one["archive_url"]: one for one in json.loads(index.read_text())["data"]}
    assert set(data) == {f"./{path.name}" for path in zips}
    for path in zips:
        one = data[f"./{path.name}"]
        assert one["archive_size"] == path.stat().st_size
        assert one["archive_hash"] == f"sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}"
    check.check_extension(index.parent)
    page = index.with_name("index.html").read_text()
    assert all(path.name in page for path in zips)
    assert f'src="{repository.ICON.name}"' in page
    assert (index.parent / repository.ICON.name).is_file()
    assert "${" not in page
    # Nothing that the tool refuses gets into a repository.
    broken = tmp_path / "broken.zip"
    with zipfile.ZipFile(broken, "w") as archive:
        archive.writestr("blender_manifest.toml", 'schema_version = "1.0.0"\nid = "x"\n')
    with pytest.raises(build.BuildError, match="name"):
        repository.validate(broken)
