"""A plain, slow reader of Chrome traces for the tests: json and Python lists, written from the rules alone.

It gives the rows that the reader hands to the builder, before any call tree: what is read from each record.
"""

import json
from decimal import MAX_EMAX, MIN_EMIN, ROUND_FLOOR, Context, Decimal

UNNAMED = "(unnamed)"
#: More digits than any number here has: nothing is rounded.
EXACT = Context(prec=10_000, Emin=MIN_EMIN, Emax=MAX_EMAX, traps=[])
HALF = Decimal("0.5")


class Exact:
    """A number as it is written: files hold millions that nothing asks for."""

    __slots__ = ("text",)

    def __init__(self, text):
        self.text = text


def load(text):
    return json.loads(text, strict=False, parse_float=Exact, parse_int=Exact, parse_constant=Exact)


def nanoseconds(value):
    """The exact nanoseconds of a number or numeric string of microseconds; None if bad."""
    text = value.text if isinstance(value, Exact) else value
    if not isinstance(text, str) or "_" in text:
        return None
    try:
        number = Decimal(text.strip())
    except ArithmeticError:
        return None
    if not number.is_finite() or number.adjusted() > 20:
        return None
    exact = number.scaleb(3, EXACT)
    return exact if exact.copy_abs() < 2**62 - 1 else None


def rounded(exact):
    return int(EXACT.add(exact, HALF).to_integral_value(ROUND_FLOOR, EXACT))


def clean(text):
    return text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")


def id_text(value):
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, Exact):
        number = float(value.text)
        if number.is_integer() and abs(number) < 1e18:
            return str(int(Decimal(value.text)))
        return value.text
    return None


def read(events):
    """Return calls [(thread, kind, name, begin, end)], marks and the problems' counts."""
    calls, marks, counters, sync = [], [], [], []
    problems = {}

    def count_repair(kind):
        problems[kind] = problems.get(kind, 0) + 1

    for number, event in enumerate(events):
        if event is None and number + 1 < len(events):
            count_repair("malformed")  # the last one stands there for the comma before it
        if event is None or event == {}:
            continue
        if not isinstance(event, dict):
            count_repair("malformed")
            continue
        phase = event.get("ph")
        if not isinstance(phase, str) or len(phase) != 1:
            count_repair("malformed")
            continue
        if phase == "M":
            for key in ("pid", "tid"):
                if not isinstance(event.get(key), (str, Exact, type(None))):
                    count_repair("bad value")
            if not isinstance(event.get("name"), str) or not isinstance(event.get("args", {}), dict):
                count_repair("malformed")
            continue
        if phase == "P" and event.get("name") in ("Profile", "ProfileChunk"):
            continue
        if phase not in "XBEiIRstfbenSTFpC":
            count_repair("unsupported")
            continue
        time = nanoseconds(event.get("ts"))
        if time is None:
            count_repair("bad time")
            continue
        begin = end = rounded(time)
        if phase == "X":
            if event.get("dur") is None:
                count_repair("no duration")
            else:
                duration = nanoseconds(event["dur"])
                if duration is not None and abs(rounded(EXACT.add(time, duration))) < 2**62:
                    end = rounded(EXACT.add(time, duration))
                else:
                    count_repair("bad value")
        ids = []
        for key in ("pid", "tid"):
            ids.append(id_text(event.get(key)))
            if ids[-1] is None and event.get(key) is not None:
                count_repair("bad value")
        if None in ids:
            count_repair("no thread")
        process = "0" if ids[0] is None else ids[0]
        thread = process, process if ids[1] is None else ids[1]
        name = event.get("name")
        if isinstance(name, Exact):
            name = name.text
        if not isinstance(name, str):
            if name is not None:
                count_repair("bad value")
            elif phase not in "EeF":
                count_repair("no name")
            name = None if phase in "EeF" else UNNAMED
        else:
            name = clean(name)
        if (event.get("cat") is not None and not isinstance(event["cat"], (str, Exact))) or isinstance(
            event.get("cat"), Exact
        ):
            count_repair("bad value")
        arguments = event.get("args")
        if not isinstance(arguments, dict):
            if arguments is not None:
                count_repair("bad value")
            arguments = {}
        if phase in "XBE":
            identity = event.get("bind_id")
        elif event.get("id2") is not None:
            identity = None if isinstance(event["id2"], dict) else []
        else:
            identity = event.get("id")
        if identity is not None and id_text(identity) is None:
            count_repair("bad value")
        waits = None
        if phase in "XBiI":
            kind, objects = arguments.get("kind"), arguments.get("objects")
            if (
                isinstance(kind, str)
                and kind in ("wait", "release", "io")
                and isinstance(objects, list)
                and all(isinstance(item, str) for item in objects)
            ):
                blocked = arguments.get("contended")
                blocked = int(blocked) if isinstance(blocked, bool) else -1
                waits = (thread, begin, kind, blocked, name, tuple(map(clean, objects)))
                sync.append(waits)
        if phase in "XBE":
            calls.append((thread, "BEX".index(phase), name, begin, end, bool(arguments)))
        elif phase == "C":
            if not arguments:
                count_repair("bad value")
            for key, value in arguments.items():
                try:
                    text = value.text if isinstance(value, Exact) else value
                    number = float(text) if isinstance(text, str) else float("nan")
                except ValueError:
                    number = float("nan")
                if abs(number) <= 1.7976931348623157e308:
                    counters.append((name, clean(key), process, begin, number))
                else:
                    count_repair("bad value")
        elif phase in "iIRnTp" and waits is None:
            marks.append((thread, name, begin))
    return calls, marks, counters, sync, problems
