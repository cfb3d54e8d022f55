"""The differences between the two traces of a comparison, as a list to step through: the largest first."""

import json
import os
from collections.abc import Sequence
from typing import Any

import bpy
from bpy.props import BoolProperty, CollectionProperty, EnumProperty, IntProperty, StringProperty
from mathutils import Quaternion

from ...tracevis3d import api
from ...tracevis3d.drawing.primitives import Callout
from ...tracevis3d.errors import TraceVisError
from ...tracevis3d.layout.sight.affine import Box, box_around, transformed_box
from ...tracevis3d.layout.sight.framing import part_within
from ...tracevis3d.progress import Progress, part
from ...tracevis3d.views import registry as views
from ...tracevis3d.views.lists import FindingList, ListedFinding
from .. import preconditions
from ..explore import marks, overlay, pointer
from ..explore.motion import zoom
from ..mixin import OperatorMixin
from ..overlay import callouts, framing
from ..state import selection, settings, sources, trace_state
from ..views import make_view, viewport
from ..views.rebuild import Rebuilding

#: The 3D view shows at least this share of the drawing of a trace.
_NARROWEST = 0.15


class TRACEVIS3D_PG_difference(bpy.types.PropertyGroup):
    """A difference between two traces, worded when it was found."""

    share: StringProperty(description="Share of the longer run's time, or of the larger run's calls")
    title: StringProperty(description="What kind of difference it is")
    short: StringProperty(description="Which function it is about")
    sentence: StringProperty(description="What differs, in words and numbers")
    calls: StringProperty(
        description="Calls of the first and of the second trace that show it, separated by |"
    )
    spans: StringProperty(description="Its time in the first and in the second trace, separated by |")
    wanted: StringProperty(description="Parameters of the view that draw it, as JSON")


def store(collection: bpy.types.Collection, found: Sequence[ListedFinding]) -> None:
    """Store the list on a view, replacing the previous one."""
    rows = collection.tracevis3d_differences
    rows.clear()
    for finding in found:
        row = rows.add()
        row.share, row.title, row.short, row.sentence = (
            finding.share, finding.title, finding.short, finding.sentence,
        )  # fmt: skip
        row.calls = "|".join(" ".join(map(str, calls)) for calls in finding.calls)
        row.spans = "|".join(" ".join(map(str, span)) if span else "" for span in finding.spans)
        row.wanted = json.dumps(finding.wanted, ensure_ascii=False)
    with settings.quietly():
        collection.tracevis3d_difference = -1
        collection.tracevis3d_differences_sought = True


def of(collection: bpy.types.Collection | None) -> Any | None:
    """Return the difference of a view that one is at; None if there is none."""
    if collection is None:
        return None
    rows, at = collection.tracevis3d_differences, collection.tracevis3d_difference
    return rows[at] if 0 <= at < len(rows) else None


def _chosen(collection: bpy.types.Collection, context: bpy.types.Context) -> None:
    """A difference was clicked in the list."""
    if not settings.is_quiet():
        go(context, collection)


def go(context: bpy.types.Context, collection: bpy.types.Collection) -> bool:
    """Select the calls that show a view's difference, let the 3D view fly there, and say what it is.

    Returns
    -------
    bool
        Whether there is one.
    """
    difference = of(collection)
    if difference is None:
        return False
    scene = context.scene
    if settings.active_in(scene) != collection and collection in settings.all_in(scene):
        scene.tracevis3d_view = collection
    keys = trace_state.keys_of(collection)
    for key, text in zip(keys, difference.calls.split("|")):
        selection.select(key, list(map(int, text.split())))
    number = collection.tracevis3d_difference + 1
    overlay.announce(
        f"{number} of {len(collection.tracevis3d_differences)}   {difference.title}, {difference.share}",
        difference.sentence,
        keys,
    )
    area = viewport.area_of(context)
    if area is not None:
        _fly(area, collection, difference)
    return True


def _go_to_callout(context: bpy.types.Context, collection: bpy.types.Collection, callout: Callout) -> bool:
    """Go to the difference of a view that a callout is about; returns whether it is in the list."""
    for i, row in enumerate(collection.tracevis3d_differences):
        calls = [set(text.split()) for text in row.calls.split("|")]
        if callout.calls and all(str(call) in calls[source] for source, call in callout.calls):
            with settings.quietly():
                collection.tracevis3d_difference = i
            return go(context, collection)
    return False


def _fly(area: bpy.types.Area, collection: bpy.types.Collection, difference: Any) -> None:
    """Let a 3D view fly to the times of a difference, below its words, looking as the view's camera does."""
    spans = [selection.read_range(text) for text in difference.spans.split("|")]
    about = [source for source, calls in enumerate(difference.calls.split("|")) if calls]
    box = box_of(collection, spans, about or list(range(len(spans))))
    if box is None:
        return
    eye = next((o for o in collection.objects if o.type == "CAMERA"), None)
    turned: Quaternion | None = eye.matrix_world.to_quaternion() if eye is not None else None
    zoom.fly_to_box(area, box, rotation=turned, above=overlay.banner_height())


def box_of(
    collection: bpy.types.Collection, spans: list[tuple[int, int] | None], about: list[int]
) -> Box | None:
    """Return the box in the scene around what a view draws in these times of some of its traces.

    Parameters
    ----------
    collection : Collection
    spans : list of (int, int) or None
        Nanoseconds, for each trace; None: all of it.
    about : list of int
        Which of the traces.
    """
    boxes = []
    for holder, shown, pickable in pointer.shown_in(bpy.context.scene):
        if holder != collection or pickable.source not in about or marks.with_times(shown) is None:
            continue
        span = spans[pickable.source]
        ends = [marks.place_of(shown, time) or 0.0 for time in span] if span is not None else None
        low, high = pickable.bounds()
        low, high = part_within(low, high, (ends[0], ends[1]) if ends else None, _NARROWEST)
        if len(low):
            boxes.append(transformed_box(shown.matrix_world, low, high))
    return box_around(boxes)


class _OnComparison(OperatorMixin):
    """Base of the operators on the differences of the active view."""

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        needs = preconditions.REBUILD
        if not preconditions.poll(cls, context, *needs):
            return False
        if findings_of(settings.active(context)) is None:
            cls.poll_message_set("Differences are between two traces: compare two first")
            return False
        return True


class _OnList(_OnComparison):
    """... which need the list."""

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if not super().poll(context):
            return False
        if not len(settings.require_active(context).tracevis3d_differences):
            cls.poll_message_set("The list is empty: find the differences first")
            return False
        return True


def findings_of(collection: bpy.types.Collection | None) -> FindingList | None:
    """Return what finds something in a view's traces; None if its view doesn't, or in this many traces."""
    if collection is None or not settings.is_view(collection):
        return None
    stored = settings.of(collection)
    try:
        found = views.find(stored.view).findings
    except TraceVisError:
        return None
    return found if found is not None and len(stored.sources) == found.traces else None


class TRACEVIS3D_OT_find_differences(_OnComparison, Rebuilding, bpy.types.Operator):
    """Find what differs between the two traces, and list it, the largest difference first"""

    bl_idname = "tracevis3d.find_differences"
    bl_label = "Find Differences"
    bl_options = {"REGISTER", "UNDO"}
    preparations = ()

    def execute(self, context: bpy.types.Context) -> set[str]:
        collection = settings.require_active(context)
        name, values, look = collection.name, settings.values(collection), sources.finder(collection)
        findings = findings_of(collection)
        assert findings is not None

        def work(progress: Progress) -> Any:
            traces = look(part(progress, 0.0, 0.5))
            return traces, findings.find(traces, values, part(progress, 0.5, 1.0))

        def finish(context: bpy.types.Context, result: Any) -> set[str]:
            # Looked up again: undo may have replaced it since the work began.
            target = bpy.data.collections.get(name)
            if not settings.is_view(target):
                self.report({"ERROR"}, "The view was removed meanwhile")
                return {"CANCELLED"}
            traces, found = result
            for trace in traces:
                sources.remember(trace)
            store(target, found)
            return {"FINISHED"}

        return self.carry_out(context, work, finish)


class TRACEVIS3D_OT_difference_step(_OnList, bpy.types.Operator):
    """Go to the next or previous difference: look at it, and select the calls that show it"""

    bl_idname = "tracevis3d.difference_step"
    bl_label = "Go to Difference"
    bl_options = {"REGISTER", "UNDO"}

    step: EnumProperty(
        items=(
            ("NEXT", "Next", "The next, smaller difference"),
            ("PREVIOUS", "Previous", "The previous, larger difference"),
            ("THIS", "This One", "The difference selected in the list"),
        ),
        name="Step",
        options={"SKIP_SAVE"},
    )

    @classmethod
    def description(cls, _context: bpy.types.Context, properties: Any) -> str:
        which = {"NEXT": "the next, smaller", "PREVIOUS": "the previous, larger", "THIS": "the chosen"}
        return f"Look at {which[properties.step]} difference, and select the calls that show it"

    def execute(self, context: bpy.types.Context) -> set[str]:
        collection = settings.require_active(context)
        last = len(collection.tracevis3d_differences) - 1
        at = collection.tracevis3d_difference + {"NEXT": 1, "PREVIOUS": -1, "THIS": 0}[self.step]
        if self.step != "THIS" and not 0 <= at <= last:
            self.report({"INFO"}, "That was the last difference" if at > last else "This is the largest one")
            return {"CANCELLED"}
        with settings.quietly():
            collection.tracevis3d_difference = min(max(at, 0), last)
        go(context, collection)
        return {"FINISHED"}


class TRACEVIS3D_OT_difference_draw(_OnList, Rebuilding, bpy.types.Operator):
    """Draw only the time of the selected difference, with its calls framed"""

    bl_idname = "tracevis3d.difference_draw"
    bl_label = "Draw This Alone"
    bl_options = {"REGISTER", "UNDO"}

    whole: BoolProperty(name="Whole Traces", description="Draw the whole traces again", options={"SKIP_SAVE"})

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if not super().poll(context):
            return False
        if of(settings.active(context)) is None:
            cls.poll_message_set("Click a difference in the list first")
            return False
        return True

    @classmethod
    def description(cls, _context: bpy.types.Context, properties: Any) -> str:
        if properties.whole:
            return "Draw both whole traces again"
        return "Draw only the time of the selected difference, with its calls framed"

    def execute(self, context: bpy.types.Context) -> set[str]:
        collection = settings.require_active(context)
        findings = findings_of(collection)
        assert findings is not None
        chosen = None if self.whole else json.loads(of(collection).wanted)  # type: ignore[union-attr]
        each = [json.loads(row.wanted) for row in collection.tracevis3d_differences]
        values = findings.drawn(chosen, each, settings.values(collection))
        return self.rebuild(context, collection, values, assign=True, then=framing.look)


class TRACEVIS3D_OT_compare_traces(Rebuilding, bpy.types.Operator):
    """Draw two traces face to face, join what matches, and list what differs"""

    bl_idname = "tracevis3d.compare_traces"
    bl_label = "Compare Two Traces"
    bl_options = {"REGISTER", "UNDO"}

    a: StringProperty(
        name="First",
        description="Hash of the first trace; empty: the one imported first",
        options={"SKIP_SAVE"},
    )
    b: StringProperty(
        name="Second", description="Hash of the second trace; empty: the next one", options={"SKIP_SAVE"}
    )

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if not preconditions.poll(cls, context, *preconditions.DRAW):
            return False
        if len(known_in(context.scene)) < 2:
            cls.poll_message_set("There is one trace: import another one to compare it with")
            return False
        return True

    def invoke(self, context: bpy.types.Context, _event: bpy.types.Event) -> set[str]:
        return self.execute(context)

    def execute(self, context: bpy.types.Context) -> set[str]:
        known = known_in(context.scene)
        keys = list(known)
        first = self.a or keys[0]
        second = self.b or next((key for key in keys if key != first), "")
        if first not in known or second not in known or first == second:
            self.report({"ERROR"}, "Two traces of this scene are compared: import another one first")
            return {"CANCELLED"}
        look = [sources.finder_of(known[key]) for key in (first, second)]
        frame, style = settings.frame_of(context.scene), settings.of(settings.active(context)).style

        def work(progress: Progress) -> Any:
            traces = [one(part(progress, 0.2 * i, 0.2 * i + 0.2)) for i, one in enumerate(look)]
            return traces, *drawn(traces, frame, part(progress, 0.4, 1.0))

        def finish(context: bpy.types.Context, made: Any) -> set[str]:
            traces, figure, drawing, found = made
            store(make_view.new_view(context, traces, figure, drawing, style, "AUTO"), found)
            framing.look(context)
            self.report({"INFO"}, f"{len(found)} differences: click one in the list")
            return {"FINISHED"}

        return self.carry_out(context, work, finish)


def drawn(traces: list[Any], frame: Any, progress: Progress) -> tuple[Any, Any, list[ListedFinding]]:
    """Return figure and drawing of a comparison of two traces, and what differs between them."""
    view = views.comparing(len(traces))
    assert view.findings is not None
    figure = api.view(view.name, *traces)
    drawing = make_view.drawing_of(figure, frame, part(progress, 0.0, 0.6))
    found = view.findings.find(traces, vars(figure.parameters), part(progress, 0.6, 1.0))
    return figure, drawing, found


def read(
    paths: list[str], frame: Any, progress: Progress
) -> tuple[list[Any], Any, Any, list[ListedFinding]] | None:
    """Return two traces read from files, and what :func:`drawn` returns; None if one of them has no calls."""
    traces = []
    for i, path in enumerate(paths):
        progress(0.3 * i, f"reading {os.path.basename(path)}")
        traces.append(api.load(path, progress=part(progress, 0.3 * i, 0.3 * i + 0.3)))
    if not all(len(trace.calls) for trace in traces):
        return None
    return traces, *drawn(traces, frame, part(progress, 0.6, 1.0))


def known_in(scene: bpy.types.Scene) -> dict[str, Any]:
    """Return key -> stored source of the traces that the scene's views show, in the order of the views."""
    found: dict[str, Any] = {}
    for collection in settings.all_in(scene):
        for source in settings.of(collection).sources:
            found.setdefault(trace_state.key_of(source), source)
    return found


def is_compared(scene: bpy.types.Scene) -> bool:
    """Return whether a view of the scene compares traces."""
    return any(len(settings.of(view).sources) > 1 for view in settings.all_in(scene))


_CLASSES = (
    TRACEVIS3D_PG_difference,
    TRACEVIS3D_OT_find_differences,
    TRACEVIS3D_OT_difference_step,
    TRACEVIS3D_OT_difference_draw,
    TRACEVIS3D_OT_compare_traces,
)
_register, _unregister = bpy.utils.register_classes_factory(_CLASSES)


def register() -> None:
    """Register the operators, and hang the list on collections."""
    _register()
    callouts.lists.append(_go_to_callout)
    bpy.types.Collection.tracevis3d_differences = CollectionProperty(type=TRACEVIS3D_PG_difference)
    bpy.types.Collection.tracevis3d_difference = IntProperty(
        name="Difference", description="The current difference", default=-1, update=_chosen
    )
    bpy.types.Collection.tracevis3d_differences_sought = BoolProperty(
        name="Sought", description="Whether differences were looked for"
    )


def unregister() -> None:
    """Undo :func:`register`."""
    callouts.lists.remove(_go_to_callout)
    del bpy.types.Collection.tracevis3d_differences_sought
    del bpy.types.Collection.tracevis3d_difference
    del bpy.types.Collection.tracevis3d_differences
    _unregister()
