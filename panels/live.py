"""The panel *Live*: where a program publishes, and how its feed goes."""

import bpy

from ..operators.live import feed_settings, watched_feed
from ..operators.live.watched_feed import STATES, Feed
from ..tracevis3d.units import duration
from . import parts


class TRACEVIS3D_PT_live(parts.SidebarPanel, bpy.types.Panel):
    bl_idname = "TRACEVIS3D_PT_live"
    bl_label = "Live"
    bl_options = {"DEFAULT_CLOSED"}  # noqa: RUF012

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = False
        if sentence := watched_feed.missing():
            parts.paragraph(layout, context, sentence + ".", "ERROR")
            return
        wanted, feed = feed_settings.of(context), Feed.current
        if feed is None:
            self._draw_asking(context, wanted)
        else:
            self._draw_watching(context, wanted, feed)

    def _draw_asking(self, context: bpy.types.Context, wanted: bpy.types.PropertyGroup) -> None:
        layout = self.layout
        layout.prop(wanted, "endpoint")
        header, body = layout.panel("tracevis3d_live_more", default_closed=True)
        header.label(text="View, Keys, Folder")
        if body is not None:
            body.prop(wanted, "view")
            body.prop(wanted, "window")
            body.prop(wanted, "style")
            body.prop(wanted, "key")
            body.prop(wanted, "peer")
            body.prop(wanted, "folder", placeholder="the extension's own")
        row = layout.row()
        row.scale_y = 1.3
        row.operator("tracevis3d.live_connect", icon="PLAY")

    def _draw_watching(self, context: bpy.types.Context, wanted: bpy.types.PropertyGroup, feed: Feed) -> None:
        layout, subscriber = self.layout, feed.subscriber
        waits = subscriber.state in ("waiting", "silent")
        icon = {"connected": "RADIOBUT_ON", "ended": "CHECKMARK", "refused": "ERROR"}.get(
            subscriber.state, "SORTTIME" if waits else "INFO"
        )
        words = "Paused" if subscriber.paused else STATES[subscriber.state]
        if subscriber.state == "refused":
            words += f": {subscriber.why}"
        parts.paragraph(layout, context, words + ".", "PAUSE" if subscriber.paused else icon)
        if subscriber.locked_out:
            parts.paragraph(layout, context, f"Refused by the publisher: {subscriber.locked_out}.", "ERROR")
        row = layout.row(align=True)
        row.scale_y = 1.2
        row.operator(
            "tracevis3d.live_pause",
            text="Resume" if subscriber.paused else "Pause",
            icon="PLAY" if subscriber.paused else "PAUSE",
            depress=subscriber.paused,
        )
        row.operator("tracevis3d.live_stop", icon="SNAP_FACE")
        if feed.out_of_sight:
            box = layout.box()
            parts.paragraph(box, context, feed.trouble or "Incoming data is stored but not shown.", "INFO")
            box.operator("tracevis3d.live_show", icon="HIDE_OFF")
        layout.prop(wanted, "view")
        layout.prop(wanted, "window")
        layout.prop(wanted, "style")
        self._draw_settings(context, wanted, feed)
        self._draw_picked(context, feed)
        self._draw_numbers(feed)
        if subscriber.bad and subscriber.why:
            parts.paragraph(layout, context, f"{subscriber.bad:,} invalid messages were left out, "
                            f"the last one: {subscriber.why}.", "ERROR")  # fmt: skip

    def _draw_settings(self, context: bpy.types.Context, wanted: bpy.types.PropertyGroup, feed: Feed) -> None:
        """Draw the live view's own settings, and its findings."""
        group = getattr(wanted.views, wanted.view)
        for name in feed.values:
            self.layout.prop(group, name)
        for alarm in feed.alarms.current:
            parts.paragraph(self.layout, context, f"{alarm.kind.capitalize()}: {alarm.sentence}", "ERROR")
        for text in feed.shown.view.findings() if feed.shown is not None else ():
            parts.paragraph(self.layout, context, text, "ERROR")

    def _draw_picked(self, context: bpy.types.Context, feed: Feed) -> None:
        """Draw the clicked element, and the possible suggestions."""
        picked = feed.picked
        if picked is None:
            return
        box = self.layout.box()
        parts.paragraph(box, context, picked.title, "RESTRICT_SELECT_OFF")
        if picked.subject is not None:
            row = box.row(align=True)
            row.operator("tracevis3d.live_suggest", text="Suggest to Look").what = "look"
            row.operator("tracevis3d.live_suggest", text="Suggest to Free").what = "free"
        column = box.column(align=True)
        column.scale_y = 0.8
        if picked.where:
            column.label(text=picked.where)
        for label, text in picked.rows:
            parts.worded_row(column, 0.4, label, text)

    def _draw_numbers(self, feed: Feed) -> None:
        subscriber, trace = feed.subscriber, feed.subscriber.trace
        rows = [
            ("Program", subscriber.program or "–"),
            ("Rows a Second", f"{subscriber.rate:,.0f}"),
            ("Received", f"{subscriber.rows:,}"),
            ("Lost", f"{subscriber.lost:,}" if subscriber.lost else "none"),
        ]
        if subscriber.gaps:
            rows.append(("Gaps", f"{len(subscriber.gaps):,}, the last: {subscriber.gaps[-1].words()}"))
        back, farthest = trace.went_back
        if back:
            rows.append(("Clock Went Back", f"{back:,} x, by {duration(farthest)} at most"))
        if subscriber.left_out:
            rows.append(("Left Out", f"{subscriber.left_out:,} while paused"))
        if trace.forgotten:
            rows.append(("Forgotten", f"{trace.forgotten:,} oldest"))
        if trace.sessions > 1:
            rows.append(("Runs", f"{trace.sessions:,}"))
        rows.append(("Latency", f"{duration(subscriber.latency_ns)} to here"))
        if feed.latency_s:
            drawn = sorted(feed.latency_s)[len(feed.latency_s) // 2]
            rows.append(("", f"{duration(1e9 * drawn)} to the picture"))
        if len(feed.updates) > 8:
            span = feed.updates[-1] - feed.updates[0]
            rows.append(("Updates a Second", f"{(len(feed.updates) - 1) / max(span, 1e-9):,.0f}"))
        if feed.tick_s:
            ticks = [1e9 * seconds for seconds in sorted(feed.tick_s)]
            usual, long = ticks[len(ticks) // 2], ticks[-min(2, len(ticks))]
            rows.append(("Time per Update", f"{duration(usual)}, 99 %: {duration(long)}"))
        if feed.shown is not None:
            rows.append(("Bars Shown", f"{feed.shown.ring.bars:,}"))
        column = self.layout.column(align=True)
        column.scale_y = 0.85
        for label, text in rows:
            line = column.split(factor=0.45)
            left = line.row()
            left.alignment = "RIGHT"
            left.active = False
            left.label(text=label)
            line.row().label(text=text)


CLASSES = (TRACEVIS3D_PT_live,)
