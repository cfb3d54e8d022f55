"""What docs/promises.md says: what version 1.0 had is there, and means the same; more may be there too."""

import json

import pytest

from tests.data.kept import promised as promises

KEPT = json.loads((promises.KEPT / "1.0" / "promised.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("command", KEPT["command line"])
def test_a_command_takes_the_words_that_it_took(command):
    kept, found = KEPT["command line"][command], promises.command_words()[command]
    assert kept["options"].items() <= found["options"].items()
    # More arguments could come behind these, if they may be left out.
    number = len(kept["arguments"])
    assert found["arguments"][:number] == kept["arguments"]
    assert all(nargs in ("?", "*") for _, nargs in found["arguments"][number:])
    for option, choices in kept["choices"].items():
        assert set(choices) <= set(found["choices"].get(option, choices))


def lost(kept, found, where=""):
    """Return where values are missing or are of another kind."""
    if isinstance(kept, dict):
        if not isinstance(found, dict):
            return [where]
        return [
            place for key in kept for place in lost(kept[key], found.get(key, "missing"), f"{where}.{key}")
        ]
    if isinstance(kept, list):
        if not isinstance(found, list):
            return [where]
        return lost(kept[0], found[0], f"{where}[]") if kept and found else [where] if kept else []
    return [] if kept in ("null", found) else [where]


@pytest.mark.parametrize("name", KEPT["json"])
def test_what_is_printed_as_json_has_the_keys_that_it_had(name):
    found = promises.shape(promises.printed(promises.PRINTED[name]))
    assert lost(KEPT["json"][name], found) == []


def test_losses_are_noticed():
    kept = {"a": [{"b": "number"}], "c": "text", "d": "null"}
    assert lost(kept, {"a": [{"b": "number", "x": "text"}], "c": "text", "d": "number"}) == []
    assert lost(kept, {"a": [{}], "c": "number", "d": "null"}) == [".a[].b", ".c"]


@pytest.mark.parametrize("name", KEPT["python"])
def test_a_function_takes_the_parameters_that_it_took(name):
    kept, found = KEPT["python"][name], promises.python_names()[name]
    known = {parameter: rest for parameter, *rest in found}
    assert {parameter: rest for parameter, *rest in kept}.items() <= known.items()
    by_place = [one[0] for one in kept if one[1] == "POSITIONAL_OR_KEYWORD"]
    assert [one[0] for one in found if one[1] == "POSITIONAL_OR_KEYWORD"][: len(by_place)] == by_place
    # What is new can be left out.
    new = [one for one in found if one[0] not in {p for p, *_ in kept}]
    assert all(default or kind.startswith("VAR") for _, kind, default in new)


@pytest.mark.parametrize("name", KEPT["parameters"])
def test_a_view_or_filter_has_the_parameters_that_it_had(name):
    kept, found = KEPT["parameters"][name], promises.parameters()[name]
    for parameter, one in kept.items():
        assert (found[parameter]["kind"], found[parameter]["unit"]) == (one["kind"], one["unit"])
        assert set(one["choices"]) <= set(found[parameter]["choices"])
