"""What an element of tracks says of itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .... import units
from ....drawing.picked import Description, PickedElement
from ....trace.model import Trace
from ....views.describe import StoredNames
from ....views.describe import describe as describe_element


def describe(
    element: PickedElement, traces: Sequence[Trace | StoredNames], parameters: Any = None
) -> list[Description]:
    """Return the description of a cell of a track: what it is about, when, and how much.

    Parameters
    ----------
    element : PickedElement
    traces : sequence of Trace or StoredNames
        One.
    parameters : object
        Those of the view.

    Returns
    -------
    list of Description
        Where a call is behind it, that comes second.
    """
    texts = dict(element.texts)
    if "track" not in texts:
        return describe_element(element, traces, parameters)
    said = Description(texts.pop("band", "") or texts["track"], texts["track"])
    if said.title == said.where:
        said.where = ""
    del texts["track"]
    if (span := element.span) is not None:
        said.rows.append(("from", f"{units.exact_duration(span[0])} for {units.duration(span[1] - span[0])}"))
    if texts.get("highest") == texts.get("mean"):
        texts.pop("highest", None)
    said.rows += [(title, text) for title, text in texts.items() if text]
    calls = [] if not element.calls else describe_element(element.as_call(), traces, parameters)
    return [said, *calls]
