"""Functions that are added together are those that are added in turn."""

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from tracevis3d.formats.names import split
from tracevis3d.formats.profiles.documents import add_function, add_functions
from tracevis3d.trace.model import Source
from tracevis3d.trace.recording import Recording

TEXTS = (
    "", "run", "<module>", "Shop.sell", "sell.<locals>.find", "f(x)", "g (y", "/a/shop.py", "/b/a(b.py",
    "lib/site-packages/pip/_vendor/rich.py", "<frozen os>", "~",
)  # fmt: skip
rows = st.sampled_from(range(len(TEXTS)))
functions = st.lists(st.tuples(rows, rows, st.sampled_from([-1, 0, 1, 7, 1 << 31])), max_size=12)


def read(recording, index):
    """Return what a trace in which all are called says of functions."""
    thread = recording.thread(0, "main")
    for function in index:
        time = [2 * function, 2 * function + 1]
        recording.add_events(kind=[0, 1], thread=[thread] * 2, function=[function] * 2, time=time)
    trace = recording.finish(Source(format="made", path=""), split=split)
    texts = (trace.functions.name, trace.functions.label, trace.files, trace.containers.name)
    columns = (getattr(trace.functions, name).tolist() for name in ("container", "file", "line"))
    return [*map(list, texts), *columns, trace.containers.parent.tolist(), trace.containers.kind.tolist()]


@given(functions)
@example([(3, 7, 7), (1, 7, 7), (3, 7, 7)])
def test_functions_of_columns_are_those_added_in_turn(said) -> None:
    one, other = Recording(), Recording()
    wanted = [add_function(one, TEXTS[name], TEXTS[file], line) for name, file, line in said]
    name, file, line = (np.array([row[k] for row in said], np.int64) for k in range(3))
    assert add_functions(other, TEXTS, name, file, line).tolist() == wanted
    if said:
        assert read(other, wanted) == read(one, wanted)
