"""What is found about call sites in a live view, against plain twins."""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tracevis3d.features.memory.live import site_watch
from tracevis3d.features.memory.live.findings import SAMPLES, Found, SiteHistory, find_plateaus, in_turn
from tracevis3d.features.memory.live.site_watch import SiteWatch


def ramp(grown, *, freed=0, least=1000, steps=SAMPLES - 1):
    """Return samples that grow in so many even steps, in the middle of which something is freed again."""
    rises = np.zeros(SAMPLES - 1, np.int64)
    at = np.linspace(0, SAMPLES - 2, steps).astype(int)
    rises[at] += (grown + freed) // steps
    rises[at[-1]] += (grown + freed) % steps
    rises[SAMPLES // 2] -= freed
    return [least, *(least + np.cumsum(rises)).tolist()]


def teeth(many, high, fall=1.0, least=100):
    """Return samples that rise and fall so often."""
    found = []
    for _ in range(many):
        found += [least, least + high // 2, least + high, round(least + high * (1 - fall))]
    return (found + [found[-1]] * SAMPLES)[:SAMPLES]


def plain_teeth(values, fall):
    times, ends = 0, [values[0]]
    rising = False
    for value in values[1:]:
        ends.append(value)
        if not rising and value - min(ends) >= fall:
            rising, ends = True, [value]
        elif rising and max(ends) - value >= fall:
            times, rising, ends = times + 1, False, [value]
    return times


def plain_find(series, total):
    """Return (kind, site, bytes, times), the largest first."""
    found = []
    for site, values in enumerate(series):
        change = [b - a for a, b in pairwise(values)]
        grown, spread = values[-1] - values[0], max(values) - min(values)
        halves = values[SAMPLES // 2] - values[0], values[-1] - values[SAMPLES // 2]
        leaks = 10 * grown > values[-1] and 200 * grown > total
        leaks = leaks and 20 * sum(-c for c in change if c < 0) <= grown and 100 * min(halves) > 15 * grown
        if leaks and 10 * sum(c > 0 for c in change) >= 3 * len(change):
            found.append(("leak", site, grown, 0))
        elif 100 * spread > total and 10 * spread > 3 * max(values):
            times = plain_teeth(values, spread / 2)
            if times >= 3:
                found.append(("saw-tooth", site, spread, times))
    return sorted(found, key=lambda one: (-one[2], one[0], one[1]))


SERIES = st.one_of(
    st.builds(
        ramp, st.integers(0, 4000), freed=st.sampled_from([0, 0, 5, 100, 300]),
        least=st.sampled_from([0, 50, 1000, 40_000]), steps=st.sampled_from([1, 2, 9, 10, 11, 31]),
    ),
    st.builds(
        teeth, st.integers(1, 8), st.integers(0, 4000), st.sampled_from([0.4, 0.5, 0.6, 1.0]),
        st.sampled_from([0, 100, 9000]),
    ),
    st.lists(st.integers(0, 50), min_size=SAMPLES, max_size=SAMPLES),
)  # fmt: skip


@given(st.lists(SERIES, min_size=1, max_size=4), st.sampled_from([1, 1000, 100_000, 800_000]))
@example([ramp(1000)], 200_000)
@example([ramp(1000)], 199_999)
@example([ramp(1000, least=9000)], 1000)
@example([ramp(1001, least=9000)], 1000)
@example([ramp(2000, freed=100)], 1000)
@example([ramp(2000, freed=101)], 1000)
@example([ramp(2000, steps=9)], 1000)
@example([ramp(2000, steps=10)], 1000)
# A first or a last step may be what makes a half steady, and a step of a byte is one.
@example([[1000, *[1160] * 16, *(1160 + 57 * i for i in range(1, 16))]], 1)
@example([[*(1000 + 53 * i for i in range(17)), *[1848] * 14, 2008]], 1)
@example([list(range(SAMPLES))], 1)
@example([[*(1000 + 70 * i for i in range(16)), *(1950 + 70 * i for i in range(16))]], 1)
# What hardly grows in one half is a step.
@example([[*(1000 + 58 * i for i in range(17)), *(1928 + i for i in range(1, 16))]], 1)
@example([[*(1000 + i for i in range(17)), *(1016 + 58 * i for i in range(1, 16))]], 1)
@example([[1000, *[1150] * 16, *(1150 + 85 * min(i, 10) for i in range(1, 16))]], 1)
@example([[*(1000 + 85 * min(i, 10) for i in range(17)), *[1850] * 14, 2000]], 1)
# What was high at first has not risen before it falls.
@example([[*[1000, 0, 0] * 3, *[0] * (SAMPLES - 9)]], 1)
@example([teeth(3, 1000)], 100_000)
@example([teeth(3, 1000)], 99_999)
@example([teeth(2, 1000)], 1000)
@example([teeth(4, 300, least=700)], 1000)
@example([teeth(4, 301, least=700)], 1000)
@settings(deadline=None)
def test_sites_that_grow_or_rise_and_fall_are_those_of_the_plain_twin(series, total):
    history = SiteHistory(8)
    # What comes before the window is forgotten.
    history.add(np.array([10**9] * len(series)))
    for number, row in enumerate(zip(*series, strict=True)):
        assert history.is_full == (number == SAMPLES - 1 and number + 1 >= SAMPLES)
        assert number or history.find(total) == []
        history.add(np.array(row))
    assert history.series()[:, : len(series)].T.tolist() == series
    assert not history.series()[:, len(series) :].any()
    found = sorted(
        ((one.kind, one.site, one.bytes, one.times) for one in history.find(total)),
        key=lambda one: (-one[2], one[0], one[1]),
    )
    assert found == plain_find(series, total)
    sizes = [one.bytes for one in history.find(total)]
    assert sizes == sorted(sizes, reverse=True)
    assert history.find(0) == []


ITEMS = st.lists(
    st.tuples(st.sampled_from([0, 1, 5, 100]), st.sampled_from([9, 10, 11]), st.integers(-1, 2)), max_size=8
)


@given(ITEMS, st.sampled_from([0, 20, 100, 2000]))
@example([(5, 10, 0)], 100)
@example([(5, 10, 0)], 101)
def test_what_is_not_touched_for_a_window_is_a_plateau(items, total):
    live, idle, owner = np.array(items, np.int64).reshape(-1, 3).T
    found = find_plateaus(live, idle, owner, 10, total)
    of = defaultdict(list)
    for item, (size, since, site) in enumerate(items):
        if since >= 10 and size > 0:
            of[site].append((size, -item))
    expected = {
        ("plateau", site, sum(size for size, _ in mine), len(mine), -max(mine)[1])
        for site, mine in of.items() if 20 * sum(size for size, _ in mine) >= total
    }  # fmt: skip
    assert {(one.kind, one.site, one.bytes, one.times, one.item) for one in found} == expected
    assert [one.bytes for one in found] == sorted((one.bytes for one in found), reverse=True)


@given(st.lists(st.sampled_from("abc"), max_size=7), st.integers(0, 8))
def test_kinds_come_in_turn(kinds, most):
    found = [Found(kind, site, 0) for site, kind in enumerate(kinds)]
    turns = sorted(range(len(kinds)), key=lambda i: (kinds[:i].count(kinds[i]), kinds.index(kinds[i])))
    assert [one.site for one in in_turn(found, most)] == turns[:most]


class Blocks:
    """Items and call sites as the live blocks have them: alone, live, last touch, owner, living."""

    def __init__(self, items, sites, total=0):
        self.k = SimpleNamespace(ALONE=0, LIVE=1, LAST=2, OWNER=3, LIVING=4, SITE_LIVE=0, BYTES_NOW=0)
        self.items = np.array(items, np.int64).reshape(-1, 5)
        self.site_facts = np.array([[one] for one in sites], np.int64)
        self.totals = [total]
        self.blocks = self.items
        self.sites = SimpleNamespace(name=lambda site: f"site {site}")


def test_a_watch_samples_the_window_and_says_what_it_finds():
    blocks = Blocks([(1, 50, 0, 0, 1), (0, 900, 0, 1, 1), (1, 70, 0, 0, 1)], [0, 0, 0], 1000)
    watch = SiteWatch(blocks, 320)
    for step in range(SAMPLES):
        assert watch.found == []
        blocks.site_facts[1] = 100 + 20 * step
        watch.sample(10 * step + 10)
        # It is not time for another sample yet.
        watch.sample(10 * step + 19)
    # Two blocks of site 0 were not touched since 0; an item of several blocks is none of a site's own.
    assert watch.found == [Found("leak", 1, 620), Found("plateau", 0, 120, 2, 2)]
    texts = [watch.text_of(one) for one in watch.found]
    assert "plateau: site 0, 120 B in 2 blocks untouched for 320 ns" in texts
    assert any(text.startswith("leak? site 1: +") for text in texts)
    plateau = next(one for one in watch.found if one.kind == "plateau")
    leak = next(one for one in watch.found if one.kind == "leak")
    assert (watch.item_of(plateau), watch.item_of(leak)) == (2, 1)
    # Items have other numbers now, and one has been touched.
    blocks.items = blocks.items[[2, 1, 0]]
    watch.find_again(340)
    assert [one for one in watch.found if one.kind == "leak"] == [leak]
    assert [one.item for one in watch.found if one.kind == "plateau"] == [0]
    blocks.items[0, 2] = 339
    watch.find_again(340)
    assert [(one.bytes, one.item) for one in watch.found if one.kind == "plateau"] == [(50, 2)]
    # A call site that begins to be idle afterwards is no finding yet.
    blocks.items[1] = (1, 900, 0, 2, 1)
    watch.find_again(340)
    assert {one.site for one in watch.found if one.kind == "plateau"} == {0}


@pytest.mark.parametrize(
    ("items", "item"), [([], -1), ([(1, 5, 0, 1, 0)], -1), ([(1, 5, 0, 1, 1), (1, 9, 0, 1, 1)], 1)]
)
def test_the_item_of_a_leak_is_the_widest_that_lives(items, item):
    watch = SiteWatch(Blocks([(1, 99, 0, 0, 1), *items], [0, 0]), 320)
    assert watch.item_of(Found("leak", 1, 5)) == item + (item >= 0)
    assert watch.item_of(Found("plateau", 1, 5, 1, 0)) == 0
    assert watch.text_of(Found("saw-tooth", 1, 2048, 3)) == "saw-tooth, 3 × 2 KiB: site 1"
    assert watch.text_of(Found("plateau", 1, 2048, 1)) == "plateau: site 1, 2 KiB untouched for 320 ns"


def test_what_is_merged_is_in_no_plateau():
    watch = SiteWatch(Blocks([(1, 50, 0, 0, 1), (0, 900, 0, 0, 1)], [0, 0], 100), 320)
    assert watch._plateaus(400) == [Found("plateau", 0, 50, 1, 0)]


def test_a_leak_is_not_called_a_plateau_as_well():
    blocks = Blocks([(1, 800, 0, 1, 1)], [0, 0], 1000)
    watch = SiteWatch(blocks, 320)
    for step in range(SAMPLES + 2):
        blocks.site_facts[1] = 100 + 20 * step
        watch.sample(10 * step + 10)
    assert [(one.kind, one.site) for one in watch.found] == [("leak", 1)]
    assert site_watch._MOST_FOUND == 5
