"""The part in C that groups what lives and samples what is allocated says what tracemalloc itself says."""

import _tracemalloc
import gc
import tracemalloc
from array import array
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tracevis3d.record.fast import BLOCKS
from tracevis3d.record.memory import sampled
from tracevis3d.record.memory.sampled import Allocations

pytestmark = pytest.mark.skipif(BLOCKS is None, reason="the part in C was not built")

STACKS = [((f"{name}.py", line),) for name in "ab" for line in (1, 2)]


def numbers(ours=()):
    """Return a table of call sites, and what numbers a new one."""
    sites = {}

    def number(stack):
        sites[stack] = -1 if stack in ours else len(sites)
        return sites[stack]

    return sites, number


def kinds_of(data, sites):
    """Return how many blocks there are of each stack and size."""
    n = len(data) // 20
    columns = array("I", data[: 4 * n]), array("q", data[4 * n : 12 * n]), array("q", data[12 * n :])
    back = {known: stack for stack, known in sites.items()}
    return {(back[site], size): count for site, size, count in zip(*columns, strict=True)}


@given(st.lists(st.tuples(st.sampled_from(STACKS), st.integers(0, 1 << 40), st.integers(1, 40)), max_size=40))
@settings(deadline=None)
def test_blocks_are_grouped_as_a_counter_does(kinds):
    listed = [(0, size, stack, 1) for stack, size, n in kinds for _ in range(n)]
    sites, number = numbers(ours=STACKS[:1])
    data = BLOCKS.group(list(listed), sites, number)
    found = kinds_of(data, sites)
    assert found == {
        (stack, size): count
        for (_, size, stack, _), count in Counter(listed).items()
        if stack != STACKS[0]
    }  # fmt: skip
    # In Python the same.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sampled, "BLOCKS", None)
        data = sampled._count(list(listed), dict(sites), lambda stack: pytest.fail("all are known"))
    assert kinds_of(data, sites) == found


def test_many_blocks_of_many_kinds():
    stacks = [(("a.py", line),) for line in range(3_000)]
    listed = [(0, 16 * (i % 7), stacks[i * 7919 % 3_000], 1) for i in range(100_000)]
    sites, number = numbers()
    found = kinds_of(BLOCKS.group(list(listed), sites, number), sites)
    assert found == Counter((stack, size) for _, size, stack, _ in listed)


@pytest.mark.parametrize(
    "wrong", [[None], [(0, 1)], [(0, "x", (), 1)], [(0, 1 << 70, (), 1)], [(0, 1, [], 1)]]
)
def test_what_is_no_list_of_blocks_is_refused(wrong):
    with pytest.raises((TypeError, OverflowError)):
        BLOCKS.group(wrong, *numbers())


@pytest.fixture
def traced():
    """Trace, with one frame of each call site."""
    assert not tracemalloc.is_tracing()
    tracemalloc.start(1)
    yield
    BLOCKS.stop_sampling()
    tracemalloc.stop()


def sampled_here(sites, number, most=1 << 20, least=0.0):
    """Return the bytes of each line of this file, by the sample."""
    data = BLOCKS.sampled(sites, number, most, least)
    n = len(data) // 12
    back = {known: stack for stack, known in sites.items()}
    pairs = zip(array("I", data[: 4 * n]), array("q", data[4 * n :]), strict=True)
    return {back[site][0][1]: size for site, size in pairs if back[site][0][0] == __file__}


def traced_here():
    """Return the bytes of each line of this file, by tracemalloc."""
    found = Counter()
    for _, size, stack, _ in _tracemalloc._get_traces():
        if stack[0][0] == __file__:
            found[stack[0][1]] += size
    return found


def some_bytes(size):
    return bytes(size)


def an_array(size):
    return bytearray(size)


def longer(block, size):
    block.extend(bytes(size))


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 9), st.integers(100, 5_000)), max_size=40))
@settings(deadline=None, max_examples=40)
def test_where_every_block_is_in_the_sample_it_is_what_lives(steps):
    """With a byte between two samples, on average, blocks of 100 bytes and more are all in it."""
    tracemalloc.start(1)
    try:
        sites, number = numbers()
        living = [None] * 10
        assert BLOCKS.start_sampling(1.0, 7)
        for what, at, size in steps:
            if what == 0:
                living[at] = some_bytes(size)
            elif what == 1:
                living[at] = an_array(size)
            elif what == 2 and isinstance(living[at], bytearray):
                longer(living[at], size)
            else:
                living[at] = None
        by_sample, by_trace = sampled_here(sites, number), traced_here()
        lines = [make.__code__.co_firstlineno + 1 for make in (some_bytes, an_array, longer)]
        # Objects without their bytes are smaller: one in e^56 is not in it.
        assert [by_sample.get(line, 0) for line in lines] == [by_trace[line] for line in lines]
    finally:
        BLOCKS.stop_sampling()
        tracemalloc.stop()


def test_a_sample_of_many_small_blocks_tells_about_how_much_lives(traced):
    sites, number = numbers()
    assert BLOCKS.start_sampling(1024.0, 7)
    kept = []
    for _ in range(40_000):
        kept.append(bytes(267))  # 300 bytes
        bytes(967)
    line = test_a_sample_of_many_small_blocks_tells_about_how_much_lives.__code__.co_firstlineno + 5
    # More than twice as many as are kept, so fewer were taken; some 8,000 are left: 1.1 %.
    assert sampled_here(sites, number)[line] == pytest.approx(12e6, rel=0.06)
    assert sampled_here(sites, number, least=1e8) == {}
    del kept[10_000:]
    assert sampled_here(sites, number)[line] == pytest.approx(3e6, rel=0.12)
    kept.clear()
    gc.collect()
    assert sampled_here(sites, number).get(line, 0) == 0


def test_only_so_many_call_sites_are_asked_for_at_once(traced):
    sites, number = numbers()
    assert BLOCKS.start_sampling(1.0, 7)
    kept = [bytes(967) for _ in range(100)]
    line = test_only_so_many_call_sites_are_asked_for_at_once.__code__.co_firstlineno + 3
    assert sampled_here(sites, number, most=0) == {}
    assert 0 < sampled_here(sites, number, most=30).get(line, 0) <= 30_000
    # Those that this has made are asked for, too.
    for _ in range(20):
        sampled_here(sites, number, most=30)
    assert sampled_here(sites, number)[line] >= 100_000
    assert len(kept) == 100


def test_what_was_there_before_and_what_comes_after_is_not_in_the_sample(traced):
    before = [some_bytes(967) for _ in range(100)]
    line = some_bytes.__code__.co_firstlineno + 1
    sites, number = numbers()
    assert BLOCKS.start_sampling(1.0, 7)
    assert line not in sampled_here(sites, number)
    before.clear()
    between = some_bytes(967)
    assert sampled_here(sites, number)[line] == 1000
    BLOCKS.stop_sampling()
    after = [some_bytes(967) for _ in range(100)]
    assert BLOCKS.sampled(sites, number, 100, 0.0) == b""
    assert BLOCKS.start_sampling(1.0, 7)
    after.clear()
    del between
    assert line not in sampled_here(sites, number)


def test_a_program_that_ends_tracemalloc_ends_the_sample_too(traced):
    sites, number = numbers()
    assert BLOCKS.start_sampling(1.0, 7)
    kept = [bytes(967) for _ in range(100)]
    tracemalloc.stop()
    kept.clear()
    BLOCKS.sampled(sites, number, 1000, 0.0)
    BLOCKS.stop_sampling()
    tracemalloc.start(1)
    assert BLOCKS.start_sampling(1.0, 7)
    kept.append(some_bytes(967))
    assert sampled_here(sites, number)[some_bytes.__code__.co_firstlineno + 1] == 1000


def test_under_a_tracemalloc_that_the_program_starts_anew_the_sample_goes_on(traced):
    """The program's own lies above: what is below it stays when it ends."""
    sites, number = numbers()
    line = some_bytes.__code__.co_firstlineno + 1
    tracemalloc.stop()
    assert BLOCKS.start_sampling(1.0, 7)
    tracemalloc.start(1)
    kept = [some_bytes(967)]
    BLOCKS.stop_sampling()
    assert BLOCKS.start_sampling(1.0, 7)
    kept.append(some_bytes(1967))
    assert sampled_here(sites, number)[line] == 2000
    kept.clear()
    assert line not in sampled_here(sites, number)


def test_an_error_in_what_numbers_call_sites_is_passed_on(traced):
    def fails(stack):
        raise KeyError(stack)

    assert BLOCKS.start_sampling(1.0, 7)
    kept = [bytes(967) for _ in range(100)]
    with pytest.raises(KeyError):
        BLOCKS.sampled({}, fails, 1000, 0.0)
    with pytest.raises(KeyError):
        BLOCKS.group([(0, 1, STACKS[0], 1)], {}, fails)
    with pytest.raises(ValueError, match="at least a byte"):
        BLOCKS.start_sampling(0.5, 7)
    assert len(kept) == 100


def test_looks_at_the_sample_take_a_twentieth_of_the_time_at_most(monkeypatch):
    now, took, looked = [100.0], [0.001], []
    monkeypatch.setattr(sampled.time, "perf_counter", lambda: now[0])
    monkeypatch.setattr(sampled.time, "thread_time", lambda: now[0])

    class Slow:
        start_sampling = staticmethod(lambda *_: True)
        stop_sampling = staticmethod(lambda: None)

        @staticmethod
        def sampled(*_):
            now[0] += took[0]
            looked.append(now[0])
            return b""

    monkeypatch.setattr(sampled, "BLOCKS", Slow)
    found = Allocations(sample=True)
    try:
        for took[0], least, most in ((0.001, 20, 26), (0.01, 8, 10)):
            looked.clear()
            until = now[0] + 2
            while now[0] < until:
                found.sample()
                now[0] += 0.01
            assert least <= len(looked) <= most
        assert Allocations(sample=False).sample() is None
    finally:
        found.stop()
