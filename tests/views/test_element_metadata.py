"""The metadata of elements: which functions a .blend has to name."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.support.walked_traces import walked_trace
from tracevis3d.views.element_metadata import ElementMetadata, functions_of

TRACES = [walked_trace(seed, steps=60) for seed in (1, 2)]
#: Calls, some of them absent (-1) or of another version of the trace.
calls = st.lists(st.integers(-1, 130), max_size=8)
parts = st.none() | st.dictionaries(st.integers(0, 1), calls, max_size=2)


@given(st.lists(parts, max_size=4))
def test_functions_are_those_of_the_calls_that_there_are(given_parts):
    metadata = [
        None
        if part is None
        else ElementMetadata({source: np.array(own, np.int64) for source, own in part.items()})
        for part in given_parts
    ]
    wanted = {}
    for part in given_parts:
        for source, own in (part or {}).items():
            functions = TRACES[source].calls.function
            found = {int(functions[call]) for call in own if 0 <= call < len(functions)}
            wanted[source] = wanted.get(source, set()) | found
    assert functions_of(metadata, TRACES) == wanted
