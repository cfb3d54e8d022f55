"""What two profiles of a program say, by loops over the files' own text: no reader of ours is used.

A frame is its function's short name and its place. Formats of callers and callees have no stacks: of them
each function's own weight and that with all below it are taken.
"""

import gzip
import json
import marshal
import re
from collections import Counter, defaultdict

#: A stack from the root down, and what it weighs.
Stacks = Counter[tuple[tuple[str, str], ...]]


def text_of(path):
    """Return a file's bytes, unpacked."""
    data = path.read_bytes()
    return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def fields(data):
    """Return the fields of a protobuf message: number to values."""
    found, at = defaultdict(list), 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 2:
            size, at = varint(data, at)
            found[key >> 3].append(data[at : at + size])
            at += size
        else:
            assert key & 7 == 0
            value, at = varint(data, at)
            found[key >> 3].append(value)
    return found


def packed(values):
    """Return numbers that are written one by one or together."""
    found = []
    for value in values:
        at = 0
        if isinstance(value, int):
            found.append(value)
            continue
        while at < len(value):
            number, at = varint(value, at)
            found.append(number)
    return found


def pprof(data):
    whole = fields(data)
    names = [one.decode() for one in whole[6]]
    functions, locations = {}, {}
    for one in map(fields, whole[5]):
        place = f"{names[one[4][0]] if one[4] else ''}:{one[5][0] if one[5] else 0}"
        functions[one[1][0]] = names[one[2][0]], place
    for one in map(fields, whole[4]):
        # Inlined functions are written from the inside out.
        locations[one[1][0]] = [functions[fields(line)[1][0]] for line in reversed(one[4])]
    stacks = Stacks()
    for one in map(fields, whole[2]):
        frames = [frame for number in reversed(packed(one[1])) for frame in locations[number]]
        stacks[tuple(frames)] += packed(one[2])[1]
    return stacks


def cpuprofile(data):
    said = json.loads(data)
    nodes = {node["id"]: node for node in said["nodes"]}
    above = {child: node["id"] for node in said["nodes"] for child in node.get("children", ())}
    stacks, last = Stacks(), ()
    for number in said["samples"]:
        frames = []
        while number in above:
            frame = nodes[number]["callFrame"]
            place = f"{frame['url']}:{frame['lineNumber']}:{frame['columnNumber']}"
            frames.append((frame["functionName"] or "(anonymous)", place))
            number = above[number]
        if frames[0][0] == "(garbage collector)":
            # It runs inside the function that it interrupts.
            last = (*(frame for frame in last if frame != frames[0]), frames[0])
        else:
            last = tuple(reversed(frames))
        if frames[0][0] != "(idle)":
            stacks[last] += 1
    return stacks


def perf(data):
    stacks = Stacks()
    for block in data.decode().strip().split("\n\n"):
        head, *lines = block.split("\n")
        period = int(re.search(r"(\d+) cpu-clock", head)[1])
        frames = []
        for line in reversed(lines):
            symbol, library = re.fullmatch(r"\s*[0-9a-f]+ (.*) \((.*)\)", line).groups()
            frames.append((re.sub(r"\+0x[0-9a-f]+$", "", symbol), library))
        stacks[tuple(frames)] += period
    return stacks


def stackprof(data):
    said = json.loads(data)
    raw, stacks, at = said["raw"], Stacks(), 0
    while at < len(raw):
        size = raw[at]
        frames = [said["frames"][str(number)] for number in raw[at + 1 : at + 1 + size]]
        key = tuple((frame["name"], f"{frame['file']}:{frame.get('line')}") for frame in frames)
        stacks[key] += raw[at + 1 + size]
        at += size + 2
    return stacks


def jfr(data):
    stacks = Stacks()
    for event in json.loads(data)["recording"]["events"]:
        frames = []
        for frame in reversed(event["values"]["stackTrace"]["frames"]):
            kind = frame["method"]["type"]["name"]
            name = f"{kind.rpartition('/')[2]}.{frame['method']['name']}"
            frames.append((name, kind + frame["method"]["descriptor"]))
        stacks[tuple(frames)] += 1
    return stacks


def austin(data):
    stacks = Stacks()
    for line in data.decode().splitlines():
        if not line or line.startswith("#"):
            continue
        stack, _, weight = line.rpartition(" ")
        # A frame that Austin could not read is called so.
        frames = [
            ("", frame, "") if frame == ":INVALID:" else frame.rsplit(":", 2)
            for frame in stack.split(";")[2:]
        ]
        stacks[tuple((name, file) for file, name, _ in frames)] += 1000 * int(weight)
    return stacks


def collapsed(data):
    stacks = Stacks()
    for line in data.decode().splitlines():
        stack, _, weight = line.rpartition(" ")
        frames = [re.fullmatch(r"(.*) \((.*?)(?::\d+)?\)", frame).groups() for frame in stack.split(";")]
        stacks[tuple(frames)] += int(weight)
    return stacks


def speedscope(data):
    said = json.loads(data)
    frames = [(frame["name"], frame["file"]) for frame in said["shared"]["frames"]]
    stacks = Stacks()
    for one in said["profiles"]:
        for sample, weight in zip(one["samples"], one["weights"], strict=True):
            stacks[tuple(frames[number] for number in sample)] += round(weight * 1e9)
    return stacks


def pyinstrument_session(data):
    stacks = Stacks()
    end = 0.0
    for frames, seconds in json.loads(data)["frame_records"]:
        start, end = end, end + seconds
        named = []
        for frame in frames:
            place, *said = frame.split("\1")
            name, file, line = (*place.split("\0"), "")[:3]
            inside = next((one[1:] + "." for one in said if one[0] == "c"), "")
            if not name.startswith("[self]"):
                named.append((inside + name, f"{file}:{line}"))
        stacks[tuple(named)] += round(end * 1e9) - round(start * 1e9)
    return stacks


def pyinstrument_tree(data):
    stacks = Stacks()

    def walk(node, above):
        here = (*above, (node["function"], f"{node['file_path']}:{node['line_no']}"))
        own = node["time"]
        for child in node["children"]:
            own -= child["time"]
            walk(child, here if node["function"] != "[self]" else above)
        if own > 0:
            stacks[above if node["function"] == "[self]" else here] += round(own * 1e9)

    walk(json.loads(data)["root_frame"], ())
    return stacks


def sums(stacks):
    """Return what each function weighs by itself, and with all that it calls, by its short name."""
    own, whole = Counter(), Counter()
    for stack, weight in stacks.items():
        own[stack[-1][0] if stack else ""] += weight
        for name in {name for name, _ in stack}:
            whole[name] += weight
    return own, whole


def callgrind(data):
    """Return each function's own instructions, and those with all below it; None of what calls itself."""
    own, below, called, names = Counter(), Counter(), defaultdict(set), {}
    name, is_of_call = "", False

    def named(said):
        number, _, text = said.partition(" ")
        if text:
            names[number] = text
        return names[number]

    callee = ""
    for line in data.decode().splitlines():
        key, is_set, said = line.partition("=")
        if is_set and key == "fn":
            name = named(said)
        elif is_set and key == "cfn":
            callee = named(said)
            called[name].add(callee)
        elif key == "calls":
            is_of_call = True
        elif re.match(r"[\d+*-]", line):
            cost = int(line.split()[-1])
            if is_of_call:
                below[name] += cost
            else:
                own[name] += cost
            is_of_call = False
    return own, Counter({n: own[n] + below[n] for n in {*own, *below} if n not in reached(called, n)})


def cprofile(data):
    """Return each function's own nanoseconds, and those with all below it."""
    own, whole = Counter(), Counter()
    for (_, _, name), (_, _, mine, together, _) in marshal.loads(data).items():
        own[name] += round(1e9 * mine)
        whole[name] += round(1e9 * together)
    return own, whole


def reached(called, name):
    """Return all functions below one."""
    found, waiting = set(), [name]
    while waiting:
        new = called[waiting.pop()] - found
        found |= new
        waiting += new
    return found
