"""Long steps of the library run in a thread, so that Blender's window stays alive; ESC stops them."""

import sys
import textwrap
import threading
import traceback
from collections.abc import Callable
from typing import Any

import bpy

from ..tracevis3d.errors import Cancelled, TraceVisError
from ..tracevis3d.progress import Progress, silent
from . import signals
from .mixin import OperatorMixin

_TICK = 0.05  # seconds between two looks at the thread
_POPUP = 100  # characters in a line of an error's pop-up
_PATIENCE = 10.0  # seconds that a closing Blender waits for the thread


class Task:
    """A call of the library that runs in a thread of its own.

    Only the library's kernels and NumPy run in it, never bpy.

    Parameters
    ----------
    work : callable
        ``work(progress)``; its value becomes ``result``, what it raises becomes ``error``.
    """

    #: The task that runs now, for the panel's progress bar.
    current: "Task | None" = None

    def __init__(self, work: Callable[[Progress], Any]) -> None:
        self.done = 0.0
        self.what = "starting"
        self.result: Any = None
        self.error: BaseException | None = None
        self._stop = threading.Event()
        self._work = work
        self._thread = threading.Thread(target=self._run, name="tracevis3d", daemon=True)

    def start(self) -> None:
        """Begin."""
        Task.current = self
        self._thread.start()

    def stop(self) -> None:
        """Ask the work to end at its next step."""
        self._stop.set()

    def wait(self) -> None:
        """Wait for the end, some seconds at most."""
        self._thread.join(_PATIENCE)

    @property
    def state(self) -> str:
        """The current task, in a few words."""
        if self.stopping:
            return "stopping …"
        return f"{self.what}: compiling (first run)" if _compiling() else self.what

    @property
    def stopping(self) -> bool:
        """Whether it was asked to end."""
        return self._stop.is_set()

    @property
    def running(self) -> bool:
        """Whether it has not ended yet."""
        return self._thread.is_alive()

    def _run(self) -> None:
        try:
            self.result = self._work(self._progress)
        except BaseException as error:
            self.error = error

    def _progress(self, done: float, what: str) -> None:
        self.done, self.what = done, what
        if self._stop.is_set():
            raise Cancelled("stopped")


#: Preparations done since the extension was enabled; they hold for all files.
_prepared: set[Callable[[], None]] = set()


class LongOperator(OperatorMixin):
    """An operator whose work runs beside the window, or straight through where there is none to wait in.

    A subclass calls :meth:`carry_out` from ``execute``.
    """

    #: Slow preparations for the end of the task: done one by one while the work runs.
    preparations: tuple[Callable[[], None], ...] = ()

    def carry_out(
        self,
        context: bpy.types.Context,
        work: Callable[[Progress], Any],
        finish: Callable[[bpy.types.Context, Any], set[str]],
    ) -> set[str]:
        """Do ``work(progress)`` without bpy, then ``finish(context, result)`` with it.

        Returns
        -------
        set of str
            What ``execute`` is to return.
        """
        self._finish = finish
        if not self._may_wait(context):
            try:
                result = work(silent)
            except TraceVisError as error:
                return self._give_up(error)
            return self._end(context, result)
        self._task, self._shown = Task(work), ""
        self._to_prepare = [prepare for prepare in self.preparations if prepare not in _prepared]
        manager = context.window_manager
        self._timer = manager.event_timer_add(_TICK, window=context.window)
        manager.modal_handler_add(self)
        manager.progress_begin(0, 100)
        self._task.start()
        return {"RUNNING_MODAL"}

    def _may_wait(self, context: bpy.types.Context) -> bool:
        """Whether a person started it: a script, and Blender's redo, expect it to be done on return."""
        asked = self.options.is_invoke and not self.options.is_repeat
        return asked and not bpy.app.background and context.window is not None

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        task = self._task
        if event.type == "ESC" and event.value == "PRESS":
            task.stop()
            return {"RUNNING_MODAL"}
        if event.type != "TIMER":
            return {"PASS_THROUGH"}
        if task.running:
            state = task.state if task.stopping else f"{task.state}  {task.done:.0%}      ESC: stop"
            # Drawing takes time from the work: only what is new is drawn.
            if state != self._shown:
                self._shown = state
                context.window_manager.progress_update(int(task.done * 100))
                context.workspace.status_text_set(f"TraceVis3D: {state}")
                _redraw_panels(context)
                return {"RUNNING_MODAL"}
        if self._to_prepare and task.error is None:
            prepare = self._to_prepare.pop(0)
            prepare()
            _prepared.add(prepare)
            return {"RUNNING_MODAL"}
        if task.running:
            return {"RUNNING_MODAL"}
        self._leave(context)
        if isinstance(task.error, TraceVisError):
            return self._give_up(task.error)
        if task.error is not None:
            traceback.print_exception(task.error)
            reason = f"{type(task.error).__name__}: {task.error}".splitlines()[0]
            self.report(
                {"ERROR"}, f"An internal error of TraceVis3D, printed in full on the console: {reason}"
            )
            return {"CANCELLED"}
        return self._end(context, task.result)

    def cancel(self, context: bpy.types.Context) -> None:
        """Blender ends the operator: another file is opened, or the window is closed."""
        # Nothing runs yet when a file dialog is called off.
        if getattr(self, "_task", None) is None:
            return
        self._task.stop()
        self._task.wait()
        self._leave(context)

    def _leave(self, context: bpy.types.Context) -> None:
        Task.current = None
        manager = context.window_manager
        manager.event_timer_remove(self._timer)
        manager.progress_end()
        free_status_bar()
        signals.on_task_end.send(context)
        _redraw_panels(context)

    def _end(self, context: bpy.types.Context, result: Any) -> set[str]:
        try:
            return self._finish(context, result)
        except TraceVisError as error:
            return self._give_up(error)

    def _give_up(self, error: TraceVisError) -> set[str]:
        if isinstance(error, Cancelled):
            self.report({"INFO"}, "TraceVis3D: stopped, nothing was changed")
        else:
            # Blender's pop-up cuts long lines off.
            width = 10_000 if bpy.app.background else _POPUP
            self.report({"ERROR"}, textwrap.fill(str(error), width, break_long_words=False))
        return {"CANCELLED"}


def free_status_bar() -> None:
    """Let the status bar show Blender's own hints again, in all workspaces."""
    for workspace in bpy.data.workspaces:
        workspace.status_text_set(None)


def unregister() -> None:
    """Stop what runs: the extension is being disabled, and Blender sends the operator no event."""
    _prepared.clear()
    if (task := Task.current) is not None:
        task.stop()
        Task.current = None
        free_status_bar()


def _compiling() -> bool:
    """Return whether a kernel is being compiled; nothing is loaded to find that out."""
    dispatchers = sys.modules.get(__package__.rpartition(".")[0] + ".tracevis3d.kernels.dispatchers")
    # Another thread may be importing it just now.
    asked = getattr(dispatchers, "compiling", None)
    return asked is not None and bool(asked())


def idle() -> bool:
    """Return whether no task runs: only one at a time may change the scene."""
    return Task.current is None


def _redraw_panels(context: bpy.types.Context) -> None:
    for window in context.window_manager.windows:
        for area in window.screen.areas:
            if area.type == "VIEW_3D":
                for region in area.regions:
                    if region.type == "UI":
                        region.tag_redraw()
