"""Replacements in the recorded program, made at once or as soon as the program imports a module."""

from __future__ import annotations

import _thread
import json
from collections.abc import Callable
from dataclasses import asdict

from .engines.engine import Engine, Hooks
from .imports import ImportHooks
from .options import Options
from .patches import Patches
from .subprocesses.child import serving, spawning, starting
from .waits import greenlets


def patch(
    patches: Patches, options: Options, engine: Engine, folder: str, patched: Callable[[], None]
) -> ImportHooks:
    """Replace what is to be recorded, and let other interpreters that the program starts be recorded too.

    Parameters
    ----------
    patches : Patches
        What is replaced is put here, to be undone.
    options : Options
    engine : Engine
        The engine that is at work.
    folder : str
        The recording's.
    patched : callable
        Called when a module that was imported has been patched.

    Returns
    -------
    ImportHooks
        What waits for modules that the program may still import.
    """
    hooks = engine.patch(patches)
    hooks["greenlet"] = lambda module: greenlets.patch_greenlets(patches, module, engine.follows_greenlets)
    if options.threads:
        hooks |= _waits(patches)
    if options.io:
        hooks |= _transfers(patches)
    # Of memory by memray the first process has all; a feed wants the engine that it has itself.
    memory = "" if options.memory == "memray" else options.memory
    more = {"live": "", "memory": memory, "native": False, "engine": engine.name}
    said = json.dumps({**asdict(options), **more})
    hooks["subprocess"] = lambda module: patches.wrap(module.Popen, "__init__", starting(said, folder))
    hooks["multiprocessing.spawn"] = lambda module: patches.wrap(
        module, "get_command_line", spawning(said, folder)
    )
    hooks["multiprocessing.util"] = lambda module: patches.wrap(
        module, "spawnv_passfds", serving(said, folder)
    )
    found = ImportHooks(hooks, patched)
    found.install()
    return found


def _waits(patches: Patches) -> Hooks:
    """Replace what threads, tasks and processes wait for."""
    import threading

    from .shims import locks, pauses
    from .waits import processes, synchronization, tasks

    hooks: Hooks = {}
    patches.set(_thread, "allocate_lock", locks.Lock)
    patches.set(_thread, "allocate", locks.Lock)
    patches.set(_thread, "LockType", locks.Lock)
    patches.set(_thread, "RLock", locks.RLock)
    patches.set(threading, "Lock", locks.Lock)
    patches.set(threading, "_CRLock", locks.RLock)
    patches.set(threading, "RLock", locks.make_rlock)
    synchronization.patch_threading(patches, threading)
    pauses.patch_pauses(patches)
    hooks["queue"] = lambda module: synchronization.patch_queue(patches, module)
    hooks["concurrent.futures._base"] = lambda module: synchronization.patch_futures(patches, module)
    hooks["concurrent.futures"] = lambda module: synchronization.patch_futures_package(patches, module)
    hooks["asyncio"] = lambda module: tasks.patch_asyncio(patches, module)
    hooks["multiprocessing.process"] = lambda module: processes.patch_process(patches, module)
    hooks["multiprocessing.synchronize"] = lambda module: processes.patch_locks(patches, module)
    hooks["multiprocessing.queues"] = lambda module: processes.patch_queues(patches, module)
    hooks["multiprocessing.connection"] = lambda module: processes.patch_connection(patches, module)
    return hooks


def _transfers(patches: Patches) -> Hooks:
    """Replace what reads and writes files and sockets."""
    from .shims import files, sockets
    from .waits import audit

    hooks: Hooks = {}
    files.patch_files(patches)
    hooks["socket"] = lambda module: sockets.patch_socket(patches, module)
    hooks["ssl"] = lambda module: sockets.patch_ssl(patches, module)
    hooks["selectors"] = lambda module: sockets.patch_selectors(patches, module)
    audit.watch(True)
    return hooks
