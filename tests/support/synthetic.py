"""Traces made up for tests and benchmarks: like programs, and like nobody's program."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tracevis3d.kernels.jit import inline, kernel
from tracevis3d.trace.model import Calls


def program(
    n: int,
    *,
    threads: int = 1,
    functions: int = 1500,
    levels: int = 38,
    fresh: float = 0.01,
    seed: int = 1,
    run: int = 0,
) -> tuple[Calls, NDArray[np.int64], NDArray[np.int64]]:
    """Return ``n`` calls like a program's, with the first call and the number of calls of each thread.

    What a call does is settled by its function and its variant, so subtrees repeat; with the probability
    ``fresh`` a call takes a variant by chance, so not all do. ``seed`` is the program, ``run`` one of its
    runs.
    """
    count = np.full(threads, n // threads, np.int64)
    count[: n % threads] += 1
    first = np.cumsum(count) - count
    calls = _empty(n)
    stack = np.zeros((levels + 3, 6), np.int64)
    for t in range(threads):
        _simulate(
            first[t], count[t], t, functions, levels, fresh, np.uint64(seed),
            np.uint64(7919 * seed + 104729 * run + t), stack, calls.function, calls.parent, calls.depth,
            calls.start, calls.end, calls.extent, calls.thread,
        )  # fmt: skip
    return calls, first, count


def flat(n: int, *, functions: int = 7, duration: int = 10, gap: int = 2) -> Calls:
    """Return one call with ``n - 1`` leaves, ``duration`` ns long and ``gap`` ns apart."""
    calls = _empty(n)
    calls.function[:] = np.arange(n) % functions
    calls.parent[:] = 0
    calls.parent[0] = -1
    calls.depth[:] = 2
    calls.depth[0] = 1
    calls.start[1:] = np.arange(n - 1) * (duration + gap)
    calls.end[1:] = calls.start[1:] + duration
    calls.start[0] = 0
    calls.end[0] = calls.end[-1]
    calls.extent[:] = 1
    calls.extent[0] = n
    return calls


def chain(n: int, *, functions: int = 3) -> Calls:
    """Return ``n`` calls, each within the one before, 1 ns shorter at both ends."""
    calls = _empty(n)
    calls.function[:] = np.arange(n) % functions
    calls.parent[:] = np.arange(n) - 1
    calls.depth[:] = np.arange(n) + 1
    calls.start[:] = np.arange(n)
    calls.end[:] = 2 * n - np.arange(n)
    calls.extent[:] = n - np.arange(n)
    return calls


def from_depths(
    depths: NDArray[np.int32],
    function: NDArray[np.int32],
    before: NDArray[np.int64],
    after: NDArray[np.int64],
    thread_of_root: NDArray[np.int32] | None = None,
) -> Calls:
    """Return the calls whose depths in pre-order are ``depths`` (at most one deeper than the last).

    Time advances by ``before[i]`` ns before call ``i`` starts and by ``after[i]`` before it ends.
    ``thread_of_root[k]`` (never decreasing) is the thread of the k-th root call; time starts anew in each.
    """
    n = len(depths)
    calls = _empty(n)
    calls.function[:] = function
    threads = np.zeros(n, np.int32) if thread_of_root is None else thread_of_root.astype(np.int32)
    open_calls = np.empty(n + 1, np.int64)
    _lay(depths.astype(np.int32), before.astype(np.int64), after.astype(np.int64), threads, open_calls,
         calls.parent, calls.depth, calls.start, calls.end, calls.extent, calls.thread)  # fmt: skip
    return calls


def random_calls(seed: int, n: int, *, functions: int = 3, threads: int = 1, longest: int = 6) -> Calls:
    """Return ``n`` calls in any shape: a random walk in depth, times with many ties, few functions."""
    random = np.random.default_rng(seed)
    deeper = random.choice(np.array([0.3, 0.5, 0.9]))
    steps = np.where(random.random(n) < deeper, 1, -random.integers(0, 4, n))
    depths = np.empty(n, np.int32)
    depth = 0
    for i, step in enumerate(steps.tolist()):
        depth = max(1, depth + step)
        depths[i] = depth
    return from_depths(
        depths,
        random.integers(0, functions, n).astype(np.int32),
        random.integers(0, longest, n) * (random.random(n) < 0.5),
        random.integers(0, longest, n),
        np.sort(random.integers(0, threads, n)).astype(np.int32),
    )


def thread_slices(calls: Calls) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the first call and the number of calls of each thread."""
    count = np.bincount(calls.thread, minlength=1).astype(np.int64)
    return np.cumsum(count) - count, count


def _empty(n: int) -> Calls:
    def column(dtype: type) -> NDArray[np.generic]:
        return np.zeros(n, dtype)

    return Calls(
        function=column(np.int32), parent=column(np.int64), depth=column(np.int32), start=column(np.int64),
        end=column(np.int64), extent=column(np.int64), thread=column(np.int32), record=np.empty(0, np.int64),
    )  # fmt: skip


@inline
def _random(state):  # type: ignore[no-untyped-def]
    """Return 64 bits from a counter (SplitMix64's finaliser)."""
    x = state * np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@inline
def _below(bits, limit):  # type: ignore[no-untyped-def]
    """Return an integer in [0, limit) from 64 random bits."""
    return np.int64((bits >> np.uint64(33)) % np.uint64(limit))


@kernel
def _simulate(  # type: ignore[no-untyped-def]
    first, count, thread, functions, levels, fresh, program_seed, run_seed, stack,
    function, parent, depth, start, end, extent, thread_of,
):  # fmt: skip
    # A row of the stack: call, state of its variant, statements left, callee, repetitions left, its variant.
    per_level = max(functions // levels, 1)
    fresh_below = np.uint64(fresh * 18446744073709549568.0)
    run = run_seed * np.uint64(1000003)
    clock = 0
    height = 0
    next_call = first
    stop = first + count
    while True:
        call_function = -1
        variant = np.uint64(0)
        if height == 0:
            if next_call == stop:
                break
            call_function = 0
            run += np.uint64(1)
        else:
            top = stack[height - 1]
            if next_call < stop and top[4] == 0 and top[2] > 0:
                top[2] -= 1
                state = np.uint64(top[1]) + np.uint64(1)
                top[1] = np.int64(state)
                bits = _random(state)
                u = _below(bits, 1000)
                level = min(height, levels - 1)
                rank = (u * u * per_level) // 1000000
                top[3] = (level * per_level + rank) % functions
                shape = _below(_random(bits), 100)
                top[4] = (
                    1 if shape < 97 else 2 + _below(_random(bits + np.uint64(1)), 6 if shape < 99 else 18)
                )
                top[5] = np.int64(_random(bits + np.uint64(2)) & np.uint64(7))
            if next_call < stop and top[4] > 0:
                top[4] -= 1
                call_function = top[3]
                variant = np.uint64(top[5])
                run += np.uint64(1)
                if _random(run) < fresh_below:
                    variant = _random(run + np.uint64(0x5555555555)) & np.uint64(0xFFFF)
        if call_function >= 0:
            i = next_call
            next_call += 1
            function[i] = call_function
            parent[i] = stack[height - 1, 0] if height else -1
            depth[i] = height + 1
            thread_of[i] = thread
            clock += _below(_random(np.uint64(clock) + run_seed), 200)
            start[i] = clock
            seed = _random((np.uint64(call_function) * np.uint64(65536) + variant) ^ program_seed)
            stack[height, 0] = i
            stack[height, 1] = np.int64(seed >> np.uint64(1))
            leaf = height >= levels or (height > 0 and _below(_random(seed), 100) < 51)
            stack[height, 2] = 0 if leaf else 1 + _below(_random(seed + np.uint64(1)), 3)
            stack[height, 4] = 0
            if height == 0:  # main goes on to the end
                stack[height, 2] = count
            height += 1
        else:
            height -= 1
            i = stack[height, 0]
            clock += 20 + _below(_random(np.uint64(clock) + run_seed), 400)
            end[i] = clock
            extent[i] = next_call - i


@kernel
def _lay(depths, before, after, thread_of_root, open_calls, parent, depth, start, end, extent, thread):  # type: ignore[no-untyped-def]
    clock = 0
    roots = 0
    height = 0
    n = len(depths)
    for i in range(n + 1):
        wanted = min(depths[i], height + 1) if i < n else 1
        while height >= max(wanted, 1):
            height -= 1
            c = open_calls[height]
            clock += after[c]
            end[c] = clock
            extent[c] = i - c
        if i == n:
            break
        parent[i] = open_calls[height - 1] if height else -1
        depth[i] = height + 1
        if height == 0:
            thread[i] = thread_of_root[roots]
            if i > 0 and thread[i] != thread[i - 1]:
                clock = 0
            roots += 1
        else:
            thread[i] = thread[i - 1]
        clock += before[i]
        start[i] = clock
        open_calls[height] = i
        height += 1
