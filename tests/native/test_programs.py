"""Native programs under the interposer: what is recorded, and that they live on as they would without it."""

import gzip
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import tracevis3d as tv
from tests.conftest import ROOT
from tracevis3d.features.memory.blocks import find_blocks
from tracevis3d.features.memory.call_sites import find_sites
from tracevis3d.native.elf import Module
from tracevis3d.trace.model import ACCESS, ALLOC

pytestmark = [
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="LD_PRELOAD is Linux's"),
    pytest.mark.skipif(not (shutil.which("cc") or shutil.which("gcc")), reason="no C compiler"),
]

SOURCE = r"""
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

void *kept[100];
volatile int caught;
static __attribute__((noinline)) void keep(int i) { kept[i] = malloc(5000 + i); memset(kept[i], 1, 5000); }
static __attribute__((noinline)) void *churn(void *n)
{
    for (long i = 0; i < (long)n; i++) { char *p = calloc(3, 100); p = realloc(p, 700); free(p); }
    return NULL;
}
static __attribute__((noinline)) void odd(void)
{
    void *p; if (posix_memalign(&p, 64, 640)) abort();
    void *q = aligned_alloc(256, 512), *r = reallocarray(NULL, 11, 13);
    void *m = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    munmap(m, 1 << 20); free(p); free(q); free(r); free(strdup("a text that is copied"));
}
static void on_fault(int n) { caught++; (void)n; write(1, "fault\n", 6); _exit(40); }
/* Not malloc: that may not be called from a handler, with or without an interposer. */
static void on_alarm(int n)
{
    void *m = mmap(NULL, 1 << 18, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    munmap(m, 1 << 18); caught += n;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    if (!strcmp(what, "exec")) { keep(0); execl(argv[0], argv[0], "kept", NULL); }
    if (!strcmp(what, "threads")) {
        pthread_t t[4];
        for (int i = 0; i < 4; i++) pthread_create(&t[i], NULL, churn, (void *)500);
        for (int i = 0; i < 4; i++) pthread_join(t[i], NULL);
    }
    if (!strcmp(what, "kept")) { for (int i = 0; i < 100; i++) keep(i); usleep(50000); }
    if (!strcmp(what, "odd")) odd();
    if (!strcmp(what, "fork")) {
        int status; pid_t child = fork();
        if (!child) { churn((void *)1000L); execl("/bin/true", "true", NULL); }
        waitpid(child, &status, 0); keep(1);
        printf("child %d\n", WEXITSTATUS(status));
    }
    if (!strcmp(what, "close")) { for (int fd = 3; fd < 1024; fd++) close(fd); keep(2); }
    if (!strcmp(what, "signals")) {
        signal(SIGALRM, on_alarm);
        ualarm(200, 200);
        for (int i = 0; i < 100000 && caught < 20 * SIGALRM; i++) churn((void *)20L);
        printf("%d\n", caught > 0);
    }
    if (!strcmp(what, "killed")) { keep(3); kill(getpid(), SIGKILL); }
    if (!strcmp(what, "fault")) { signal(SIGSEGV, on_fault); keep(4); *(volatile int *)8 = 1; }
    if (!strcmp(what, "crash")) { keep(5); *(volatile int *)8 = 1; }
    if (!strcmp(what, "errno")) { errno = 77; free(malloc(9)); printf("%d\n", errno); }
    if (!strcmp(what, "touch")) {
        for (int i = 0; i < 100; i++) keep(i);
        char *large = malloc(1 << 20); FILE *file = tmpfile();
        for (int i = 0; i < 60; i++) {
            for (int k = 0; k < 100; k += 3) ((char *)kept[k])[i] = (char)i;
            large[i * 4096] = 1;
            fwrite(large, 1, 1 << 16, file); rewind(file);
            if (fread(large, 1, 1 << 16, file) != 1 << 16) return 5;
            int ends[2];
            if (pipe(ends) || write(ends[1], large, 4096) != 4096) return 6;
            if (read(ends[0], large, 4096) != 4096) return 7;
            close(ends[0]); close(ends[1]); usleep(10000);
        }
    }
    return 3;
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    folder = tmp_path_factory.mktemp("native")
    (folder / "program.c").write_text(SOURCE)
    subprocess.run(
        ["cc", "-g", "-O1", "-fno-builtin", "-o", folder / "program", folder / "program.c", "-lpthread"],
        check=True,
    )
    return folder / "program"


def recorded(path, *words, options=(), **more):
    return subprocess.run(
        [sys.executable, "-m", "tracevis3d", "record", "--native", "-o", str(path), *options, "--",
         *map(str, words)],
        capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(ROOT)}, timeout=60, **more,
    )  # fmt: skip


def sites_of(trace):
    blocks = find_blocks(trace.memory, trace.span_ns)
    sites = find_sites(trace, blocks)
    return blocks, [sites.name[s] for s in sites.of_block.tolist()]


def test_blocks_have_sizes_and_call_sites(program, tmp_path):
    path = tmp_path / "out.json.gz"
    done = recorded(path, program, "kept")
    assert done.returncode == 3
    assert re.search(r"tracevis3d: .*out.json.gz: .* MB: 1\d\d allocations", done.stderr)
    trace = tv.load(path, cache=False)
    assert not trace.problems
    blocks, names = sites_of(trace)
    line = SOURCE[: SOURCE.index("kept[i] = malloc")].count("\n") + 1
    ours = [i for i, name in enumerate(names) if name == f"keep (program.c:{line})"]
    assert blocks.size[ours].tolist() == [5000 + i for i in range(100)]
    assert (blocks.free_row[ours] == -1).all()
    outer = trace.stacks.parent[trace.memory.stack[blocks.row[ours[0]]]]
    assert trace.functions.label[trace.stacks.function[outer]] == "main"
    assert trace.threads.process_name[0] == "program"
    assert "resident memory (bytes)" in " ".join(trace.counters.name)


def test_threads_that_come_and_go(program, tmp_path):
    path = tmp_path / "out.json"
    assert recorded(path, program, "threads").returncode == 3
    trace = tv.load(path, cache=False)
    blocks, names = sites_of(trace)
    churned = np.array([name.startswith("churn") for name in names])
    assert churned.sum() == 4 * 500 * 2
    assert sorted(set(blocks.size[churned].tolist())) == [300, 700]
    assert (blocks.free_row[churned] >= 0).all()
    assert len(set(trace.memory.thread[blocks.row[churned]].tolist())) == 4
    assert blocks.unknown_frees.count == blocks.double_frees.count == blocks.overwritten.count == 0


def test_every_way_to_allocate(program, tmp_path):
    path = tmp_path / "out.json"
    assert recorded(path, program, "odd").returncode == 3
    blocks, names = sites_of(tv.load(path, cache=False))
    ours = [i for i, name in enumerate(names) if name.startswith("odd ")]
    assert blocks.size[ours].tolist() == [640, 512, 143, 1 << 20, 22]
    assert (blocks.free_row[ours] >= 0).all()


@pytest.mark.parametrize(
    ("what", "said", "status"),
    [
        ("fork", "child 0\n", 3), ("close", "", 3), ("signals", "1\n", 3), ("killed", "", -signal.SIGKILL),
        ("fault", "fault\n", 40), ("crash", "", -signal.SIGSEGV), ("errno", "77\n", 3),
    ],
)  # fmt: skip
@pytest.mark.parametrize("options", [(), ("--accesses",)], ids=["", "accesses"])
def test_programs_go_on_as_they_would(program, tmp_path, what, said, status, options):
    path = tmp_path / "out.json"
    done = recorded(path, program, what, options=options)
    assert (done.stdout, done.returncode) == (said, status), done.stderr
    trace = tv.load(path, cache=False)
    _, names = sites_of(trace)
    if what == "fork":
        # The child's own are not the program's.
        assert not any(name.startswith("churn") for name in names)
    if what in ("fork", "close", "killed", "fault", "crash"):
        assert any(name.startswith("keep") for name in names)


def test_a_program_that_replaces_itself_is_recorded_on(program, tmp_path):
    path = tmp_path / "out.json"
    assert recorded(path, program, "exec").returncode == 3
    blocks, names = sites_of(tv.load(path, cache=False))
    ours = [i for i, name in enumerate(names) if name.startswith("keep")]
    assert len(ours) == 101
    # What lived before is gone with the program that it was in.
    assert blocks.free_row[ours[0]] >= 0
    assert (blocks.free_row[ours[1:]] == -1).all()
    assert blocks.overwritten.count == 0


def test_accesses_are_sampled_and_the_program_lives(program, tmp_path):
    path = tmp_path / "out.json"
    done = recorded(path, program, "touch", options=["--accesses"])
    assert done.returncode == 3, (done.stdout, done.stderr)
    trace = tv.load(path, cache=False)
    memory = trace.memory
    assert set(memory.kind.tolist()) >= {ALLOC, ACCESS}
    blocks, names = sites_of(trace)
    touched = np.flatnonzero(np.diff(blocks.first_access))
    assert {names[i].split(" ")[0] for i in touched} >= {"keep", "main"}
    # Every third one is touched, all along.
    kept = [i for i, name in enumerate(names) if name.startswith("keep")]
    late = blocks.access[blocks.access > trace.span_ns // 2]
    assert len(late) > 10
    counts = np.diff(blocks.first_access)[kept]
    assert counts[::3].sum() > 3 * (counts[1::3].sum() + counts[2::3].sum()) / 2
    assert blocks.unknown_accesses.count <= len(blocks.access) // 10


def test_what_can_not_be_recorded_is_said(program, tmp_path):
    path = tmp_path / "out.json"
    done = recorded(path, tmp_path / "nothing")
    assert done.returncode != 0
    assert "can't be started: No such file" in done.stderr
    (tmp_path / "static.c").write_text("int main(void) { return 0; }")
    linked = subprocess.run(
        ["cc", "-static", "-o", tmp_path / "static", tmp_path / "static.c"], capture_output=True
    )
    if linked.returncode == 0:
        done = recorded(path, tmp_path / "static")
        assert "linked statically" in done.stderr
    for options, why in ((["--memory"], "is not a Python script"), ([], "")):
        done = recorded(path, *([program, "x"] if why else []), options=options)
        assert (why or "--native needs a program") in done.stderr
        assert "Traceback" not in done.stderr


def test_without_a_compiler(monkeypatch, tmp_path):
    from tracevis3d.errors import InputError, MissingDependency
    from tracevis3d.native import build

    monkeypatch.setenv("TRACEVIS3D_CACHE", str(tmp_path))
    monkeypatch.setattr(build.shutil, "which", lambda name: None)
    with pytest.raises(MissingDependency, match="apt-get install gcc"):
        build.library()
    monkeypatch.setattr(build.shutil, "which", lambda name: "/bin/false")
    with pytest.raises(InputError, match="can't build the interposer"):
        build.library()
    assert not list(tmp_path.rglob("*.so"))


def test_a_native_program_is_watched_live(program, tmp_path):
    pytest.importorskip("zmq")
    from tracevis3d.live.subscriber import Subscriber
    from tracevis3d.live.watch import watch

    process = subprocess.Popen(
        [sys.executable, "-m", "tracevis3d", "record", "--native", "--live", "tcp://127.0.0.1:*", "--",
         "sh", "-c", f"sleep 1.5; exec {program} kept"],
        stderr=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    endpoint = process.stderr.readline().split()[-1]
    with Subscriber(endpoint) as subscriber:
        watch(subscriber, seconds=30)
        assert (subscriber.state, subscriber.lost, subscriber.lost_batches) == ("ended", 0, 0)
        trace = subscriber.finish()
    assert process.wait() == 3
    assert "rows published" in process.stderr.read()
    _, names = sites_of(trace)
    assert sum(name.startswith("keep") for name in names) == 100


def test_the_ring_drops_when_it_is_full(program):
    from tracevis3d.native.build import library
    from tracevis3d.native.ring import Ring

    ring = Ring(slots=1 << 8)
    try:
        environment = {**os.environ, "LD_PRELOAD": str(library()), "TRACEVIS3D_RING": ring.path}
        started = time.monotonic()
        assert subprocess.run([program, "threads"], env=environment).returncode == 3
        assert time.monotonic() - started < 20  # nobody reads, and nobody waits
        assert len(ring.take()) == 1 << 8
        assert ring.dropped > 5000
        assert ring.dropped + (1 << 8) >= 4 * 500 * 4
    finally:
        ring.close()


def test_functions_of_files_without_names(program, tmp_path):
    """What the table for exceptions tells agrees with the names that were stripped."""
    stripped = tmp_path / "stripped"
    if subprocess.run(["strip", "-o", stripped, program]).returncode:
        pytest.skip("no strip")
    module, bare = Module(str(program)), Module(str(stripped))
    named = dict(zip(module._starts, module._names, strict=True))
    for name in ("keep", "churn", "odd", "on_alarm", "main"):
        start = next(at for at, text in named.items() if text == name)
        offset = next(
            low + start - address
            for low, high, address in module._loads
            if address <= start < address + high - low
        )
        assert module.find(offset + 3) == (name, start)
        assert bare.find(offset + 3) == ("", start)
        assert module.callers(start) == bare.callers(start)
    assert bare.callers(next(at for at, text in named.items() if text == "keep")) == 8
    assert bare.lines == ""
    assert module.lines == str(program)
    path = tmp_path / "out.json"
    assert recorded(path, stripped, "kept").returncode == 3
    _, names = sites_of(tv.load(path, cache=False))
    assert sum(bool(re.fullmatch(r"function at 0x[0-9a-f]+ \(stripped\)", name)) for name in names) >= 100


def test_files_that_are_no_elf(tmp_path):
    whole = Path(shutil.which("sh")).read_bytes()
    for k, data in enumerate(
        [b"", b"\x7fELF", whole[:100], whole[: len(whole) // 2], os.urandom(5000), b"#!/bin/sh\n"]
    ):
        path = tmp_path / str(k)
        path.write_bytes(data)
        assert Module(str(path)).find(64) is not None
    assert Module(str(tmp_path / "none")).find(64) == ("", -1)


def test_rows_of_memory_that_make_no_sense_are_counted(tmp_path):
    from tracevis3d.record.memory.blocks import lost_line, memory_line

    good = {"kind": b"\0", "thread": b"\1\0\0\0", "time": bytes(8), "address": bytes(7) + b"\1",
            "size": b"\x10" + bytes(7), "stack": b"\xff\xff\xff\xff"}  # fmt: skip
    lines = [
        memory_line(7, good),
        lost_line(7, 12),
        memory_line(7, {**good, "kind": b"\7"}),
        memory_line(7, {**good, "size": b"\xff" * 8}),
        memory_line(7, {**good, "stack": b"abc"}),
        b'{"ph":"M","pid":7,"tid":7,"name":"memory","args":{"address":"!!"}}',
        b'{"ph":"M","pid":7,"tid":7,"name":"memory_frames","args":{"first":0,"frames":[["f",3,1],[1,2]]}}',
        b'{"ph":"M","pid":7,"tid":7,"name":"memory_frames","args":{"first":-4,"frames":7}}',
    ]
    path = tmp_path / "odd.json.gz"
    path.write_bytes(gzip.compress(b'{"traceEvents":[\n' + b",\n".join(lines) + b"\n]}"))
    trace = tv.load(path, cache=False)
    assert trace.memory.size.tolist() == [16]
    assert trace.problems["bad value"].count == 6
    assert trace.problems["lost"].count == 12
    assert json.loads(lines[0])["args"]["sampled"] is False
