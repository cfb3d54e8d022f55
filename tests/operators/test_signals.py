"""Signals between files of the extension; they need no Blender."""

import importlib.util
from pathlib import Path

import pytest

_SPEC = importlib.util.spec_from_file_location(
    "signals_alone", Path(__file__).parents[2] / "operators" / "signals.py"
)
signals = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(signals)


def test_receivers_are_called_in_the_order_in_which_they_were_connected():
    signal, called = signals.Signal(), []
    for name in "abc":
        signal.connect(lambda value, name=name: called.append((name, value)))
    signal.send(7)
    assert called == [("a", 7), ("b", 7), ("c", 7)]


def test_to_register_twice_and_to_unregister_twice_is_to_do_it_once():
    signal, called = signals.Signal(), []
    connections = ((signal, called.append),)
    signals.connect(connections)
    signals.connect(connections)
    signal.send(1)
    assert called == [1]
    signals.disconnect(connections)
    signals.disconnect(connections)
    signal.send(2)
    assert called == [1]


def test_a_receiver_that_fails_stops_no_other_and_is_raised(capsys):
    signal, called = signals.Signal(), []

    def fail_first():
        raise ValueError("first")

    def fail_later():
        raise KeyError("later")

    for receiver in (fail_first, lambda: called.append("between"), fail_later, lambda: called.append("end")):
        signal.connect(receiver)
    with pytest.raises(ValueError, match="first"):
        signal.send()
    assert called == ["between", "end"]
    said = capsys.readouterr().err
    assert "later" in said
    assert "first" not in said


def test_a_receiver_may_disconnect_itself():
    signal, called = signals.Signal(), []

    def once():
        called.append("once")
        signal.disconnect(once)

    signal.connect(once)
    signal.connect(lambda: called.append("always"))
    signal.send()
    signal.send()
    assert called == ["once", "always", "always"]


def test_who_caused_a_signal_can_be_left_out_and_keeps_its_place():
    signal, called = signals.Signal(), []

    def follow():
        called.append("follow")

    signal.connect(follow)
    signal.connect(lambda: called.append("other"))
    with signal.without(follow):
        with signal.without(follow):
            signal.send()
        signal.send()
    signal.send()
    assert called == ["other", "other", "follow", "other"]
