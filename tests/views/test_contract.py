"""What views declare is complete and consistent, and works without Blender on real traces."""

from __future__ import annotations

from argparse import ArgumentParser
from importlib import import_module
from types import SimpleNamespace

import pytest

from tests.conftest import ROOT
from tracevis3d import api
from tracevis3d.commands import all_commands, left_out
from tracevis3d.features.memory.live import settings as memory_settings
from tracevis3d.live.growing import GrowingTrace
from tracevis3d.parameters import declared, read
from tracevis3d.views import registry
from tracevis3d.views.own import OWN

VIEWS = [registry.find(name) for name in registry.names()]
EXAMPLES = ROOT / "examples"


@pytest.fixture(scope="module")
def trace():
    return api.load(EXAMPLES / "vt_markdown_repeat1.json.gz")


@pytest.mark.parametrize("view", VIEWS, ids=registry.names())
def test_a_view_declares_what_is_needed(view):
    assert view.name.isidentifier()
    assert view.title
    assert view.sentence[0].isupper()
    assert 1 <= view.traces[0] <= view.traces[1]
    assert not view.docs or (ROOT / "docs" / view.docs).is_file()
    if view.live is not None:
        assert view.live.sentence[0].isupper()


@pytest.mark.parametrize("name", OWN)
def test_the_table_of_our_views_says_where_their_commands_are(name):
    package = OWN[name].commands
    declared = import_module(package, registry.__package__).COMMANDS if package else ()
    assert registry.find(name).commands == declared


def test_our_commands_have_names_of_their_own_and_modules():
    assert len(all_commands()) == 30
    assert not left_out()
    for name, command in all_commands().items():
        parser = ArgumentParser(prog=name)
        command.add(parser)
        assert command.sentence[0].islower()
        assert parser.format_help().startswith(f"usage: {name}")


@pytest.mark.parametrize("name", registry.live_forms())
def test_a_live_form_makes_a_live_view_and_takes_its_settings(name):
    form = registry.live_form(name)
    view = form.make(GrowingTrace(), 1_000_000)
    assert view.window_ns == 1_000_000
    if form.settings is not None:
        assert declared(form.settings)
        form.apply(view, read(form.settings, {}))


def test_the_settings_of_live_memory_reach_it():
    form = registry.live_form("memory")
    view = form.make(GrowingTrace(), 1_000_000)
    form.apply(view, memory_settings.Settings(order="site", width="log", left=0.25, right=0.75))
    assert (view.by_site, view.logarithmic, view.sight) == (True, True, (0.25, 0.75))
    wanted = form.wheel(view, 7.5, 2.0)
    assert wanted["right"] - wanted["left"] == pytest.approx(0.25)
    form.apply(view, memory_settings.Settings(**wanted))
    assert view.sight == pytest.approx((0.375, 0.625))


def test_the_view_that_suits_a_trace_shows_something(trace):
    assert registry.suited(trace) == "icicle"
    heap = SimpleNamespace(calls=[], memory=[0])
    assert registry.suited(heap) == "memory"
    assert [view.name for view in VIEWS if view.suits(heap)] == ["memory"]
    both = SimpleNamespace(calls=[0], memory=[0])
    assert registry.suited(both) == "icicle"
    assert not any(view.suits(SimpleNamespace(calls=[], memory=[], counters=[])) for view in VIEWS)
    assert registry.suited(SimpleNamespace(calls=[], memory=[], counters=[0])) == "tracks"
