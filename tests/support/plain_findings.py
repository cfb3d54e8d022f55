"""What is reported of two traces, word for word and slowly, from the common call paths."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from statistics import median

from tests.support.plain_match import gamma, jaccard

ALIKE, RECOUNTED, ALONE, BELOW = range(4)


def rounded(value):
    """Return the size of a sum of times to a thousandth of a nanosecond: sums differ in their last digits."""
    return round(1024 * abs(value))


def plain_median(pairs):
    """Return the value of (value, weight) below which half of the weight lies."""
    pairs, total = sorted(pairs, key=lambda pair: pair[0]), 0.0
    sums = []
    for _, weight in pairs:
        total += weight
        sums.append(total)
    return next(value for (value, _), at in zip(pairs, sums, strict=True) if at >= (1 - 1e-12) * total / 2)


class Trace:
    """One of two traces, as lists."""

    def __init__(self, trace, ids, of_call) -> None:
        calls = trace.calls
        self.trace, self.ids, self.node = trace, ids, of_call.tolist()
        self.n = len(calls)
        self.start, self.end, self.parent = calls.start.tolist(), calls.end.tolist(), calls.parent.tolist()
        self.extent, self.thread = calls.extent.tolist(), calls.thread.tolist()
        self.function = [int(ids[f]) for f in calls.function.tolist()]
        self.lasted = [end - start for start, end in zip(self.start, self.end, strict=True)]
        self.own = self.lasted.copy()
        for i, up in enumerate(self.parent):
            if up >= 0:
                self.own[up] -= self.lasted[i]
        self.time = sum(self.own)

    def stack(self, i):
        return range(i, i + self.extent[i])

    def heads(self, nodes):
        """Return the calls of some paths that their own path's calls don't call."""
        return [
            i
            for i in range(self.n)
            if self.node[i] in nodes and (self.parent[i] < 0 or self.node[self.parent[i]] != self.node[i])
        ]

    def gaps(self, i):
        """Return how long a call runs itself before, between and after those that it makes."""
        made = [j for j in self.stack(i) if self.parent[j] == i]
        begins = [self.start[i], *(self.end[j] for j in made)]
        return [
            end - begin
            for begin, end in zip(begins, [*(self.start[j] for j in made), self.end[i]], strict=True)
        ]

    def shape(self, i):
        """Return the functions of a call and all below it, and how they lie."""
        depth = {}
        for j in self.stack(i):
            depth[j] = depth.get(self.parent[j], 0) + 1 if j != i else 0
        return tuple((self.function[j], depth[j]) for j in self.stack(i))


class Plain:
    """The findings about two traces; ``evidence`` gives the common paths and the traces alone."""

    def __init__(self, evidence) -> None:
        self.evidence = evidence
        comparison, paths = evidence.comparison, evidence.paths
        self.comparison, self.identity, self.tau = comparison, comparison.identity, comparison.settings.tau
        self.n, self.parent = len(paths), paths.parent.tolist()
        self.function, self.calls = paths.function.tolist(), paths.calls.tolist()
        self.self_time, self.time = paths.self_time.tolist(), paths.time.tolist()
        self.below, self.longest, self.around = paths.below.tolist(), paths.longest.tolist(), paths.detours
        ids = (comparison.identity.a, comparison.identity.b)
        self.traces = [Trace(*each) for each in zip(comparison.traces, ids, paths.of_call, strict=True)]
        self.most_time = max(*(t.time for t in self.traces), 1)
        self.most_calls = max(t.n for t in self.traces)
        self.judge()
        self.measure()
        self.labels = [""] * len(self.identity)
        for t in reversed(self.traces):
            for label, common in zip(t.trace.functions.label, t.ids.tolist(), strict=True):
                self.labels[common] = label
        self.of_function = [Counter(t.function) for t in self.traces]
        self.calm()

    # -- what all are drawn from --

    def judge(self):
        """As often as is to be expected: as in A, or as many times more often as the caller."""
        self.state, self.before, self.factor = [], [], []
        for node, up in enumerate(self.parent):
            a, b = self.calls[0][node], self.calls[1][node]
            if up >= 0 and self.state[up] in (ALONE, BELOW):
                self.state.append(BELOW)
                self.before.append(1.0)
                self.factor.append(1.0)
                continue
            expected = min((1.0, self.factor[up] if up >= 0 else 1.0), key=lambda factor: abs(b - factor * a))
            apart = abs(b - expected * a)
            recounted = a and b and apart > 0.5 and apart > 0.1 * max(b, expected * a)
            self.before.append(expected)
            self.factor.append(b / a if recounted else expected)
            self.state.append(RECOUNTED if recounted else ALIKE if a and b else ALONE)

    def measure(self):
        """The pace, and how far paths are from it."""
        self.pace, self.noise, ratios = 1.0, 0.0, []
        for node in range(self.n):
            a, b = self.self_time[0][node], self.self_time[1][node]
            if self.state[node] in (ALIKE, RECOUNTED) and a > 0 and b > 0:
                share = a / max(self.traces[0].time, 1) + b / max(self.traces[1].time, 1)
                ratios.append((math.log(b / (self.factor[node] * a)), min(share / 2, 0.0005)))
        if ratios:
            middle = plain_median(ratios)
            self.pace = math.exp(middle)
            self.noise = plain_median([(abs(ratio - middle), weight) for ratio, weight in ratios])

    def calm(self):
        """Own times without stalls: of each call, and of each path with all below."""
        usual, beyond = {}, []
        for f in range(len(self.identity)):
            own = sorted(t.own[i] for t in self.traces for i in range(t.n) if t.function[i] == f)
            usual[f] = own[-2 - len(own) // 20] if len(own) >= 10 and not self.exact else math.inf
        for t in self.traces:
            beyond.append([max(own - usual[f], 0) for own, f in zip(t.own, t.function, strict=True)])
        both = set(self.of_function[0]) & set(self.of_function[1])
        largest = max(
            (more for t, of in zip(self.traces, beyond, strict=True)
             for more, f in zip(of, t.function, strict=True) if f in both), default=0,
        )  # fmt: skip
        self.calm_self, self.calm_time = [], []
        for t, of in zip(self.traces, beyond, strict=True):
            t.calm = [
                own - more if 0.01 * self.most_time <= more <= 4 * largest else own
                for own, more in zip(t.own, of, strict=True)
            ]
            row = [0] * self.n
            for i in range(t.n):
                row[t.node[i]] += t.calm[i]
            self.calm_self.append(row)
            self.calm_time.append([sum(row[n] for n in self.under([node])) for node in range(self.n)])

    def share(self, time, calls):
        return min(1.0, max(abs(time) / self.most_time, abs(calls) / self.most_calls))

    def label(self, node, s=None):
        if s is None:
            s = 0 if self.calls[0][node] else 1
        return self.labels[self.function[s][node]]

    def way(self, node):
        return (*self.way(self.parent[node]), self.label(node)) if node >= 0 else ()

    def under(self, nodes):
        """Return the paths that are some of ``nodes`` or lie below them."""
        found = set(nodes)
        for node in range(self.n):
            if self.parent[node] in found:
                found.add(node)
        return found

    def about(self, nodes):
        result = {"nodes": list(nodes)}
        for name, table in (("calls", self.calls), ("time_ns", self.time), ("below", self.below)):
            result[name] = tuple(sum(side[node] for node in nodes) for side in table)
        ranges, examples = [], []
        for s, t in enumerate(self.traces):
            here = [node for node in nodes if self.calls[s][node]]
            mine = [i for i in range(t.n) if t.node[i] in here]
            ranges.append((min(t.start[i] for i in mine), max(t.end[i] for i in mine)) if here else None)
            longest = [self.longest[s][node] for node in here]
            examples.append(max(longest, key=lambda i, t=t: t.lasted[i], default=-1))
        return {**result, "ranges": tuple(ranges), "examples": tuple(examples)}

    def finding(self, kind, score, functions, path=(), details=None, **about):
        usual = {
            "calls": (0, 0), "time_ns": (0, 0), "below": (0, 0), "ranges": (None, None), "examples": (-1, -1),
            "nodes": [], "certainty": "certain",
        }  # fmt: skip
        return {
            "kind": kind, "score": score, "functions": functions, "path": path, "details": details or {},
            "group": None, **usual, **about,
        }  # fmt: skip

    def both(self, node):
        return self.label(node, 0), self.label(node, 1)

    @staticmethod
    def one_sided(value, s, empty=""):
        return (value, empty) if s == 0 else (empty, value)

    # -- what is called --

    def by_function(self, nodes, s):
        groups = defaultdict(list)
        for node in sorted(nodes, key=lambda node: (-self.time[s][node], node)):
            groups[self.function[s][node]].append(node)
        return [groups[f] for f in sorted(groups)]

    def repetitions(self):
        found = []
        for nodes in self.by_function([n for n in range(self.n) if self.state[n] == RECOUNTED], 0):
            before, now = self.calm_time
            time = sum(now[n] - self.pace * self.before[n] * before[n] for n in nodes)
            calls = sum(self.below[1][n] - self.before[n] * self.below[0][n] for n in nodes)
            more = sum(self.calls[1][n] - self.before[n] * self.calls[0][n] for n in nodes)
            contrary = abs(calls) > 1e-6 < abs(more) and (calls > 0) != (more > 0)
            nodes = self.told_by(nodes)
            about = self.about(nodes)
            parts = [n / max(t.time, 1) for n, t in zip(about["time_ns"], self.traces, strict=True)]
            parts += [n / max(t.n, 1) for n, t in zip(about["below"], self.traces, strict=True)]
            in_all = [of[self.function[s][nodes[0]]] for s, of in enumerate(self.of_function)]
            details = {
                "paths": len(nodes), "unit": max(parts) >= 0.1 and not contrary, "with": [],
                "calls_of_function": in_all,
            }  # fmt: skip
            score = self.share(0, more) if contrary else self.share(time, calls)
            found.append(
                self.finding(
                    "repetitions", score, self.both(nodes[0]), self.way(nodes[0]), details,
                    **self.about(nodes),
                )
            )  # fmt: skip
        return found

    def told_by(self, nodes, sides=(0, 1)):
        """Code without a name is told by the function that makes nine tenths of the calls below it."""
        while self.label(nodes[0], sides[0]).endswith("<genexpr>"):
            inside = [
                n for n in range(self.n)
                if self.parent[n] in nodes and (self.state[n] == ALIKE or len(sides) == 1)
                and all(self.calls[s][n] for s in sides)
            ]  # fmt: skip
            held = {s: sum(self.below[s][n] - self.calls[s][n] for n in nodes) for s in sides}
            large = [
                of for of in self.by_function(inside, sides[0])
                if all(sum(self.below[s][n] for n in of) >= 0.9 * held[s] for s in sides)
            ]  # fmt: skip
            if not large:
                break
            nodes = max(large, key=lambda of: sum(self.below[s][n] for s in sides for n in of))
        return nodes

    def recursions(self):
        """What calls itself more or less often, by more than a tenth of what is to be expected."""
        inner = [[0] * self.n, [0] * self.n]
        for s, t in enumerate(self.traces):
            raw = t.trace.calls.function.tolist()
            for i, up in enumerate(t.parent):
                if up >= 0 and t.node[up] == t.node[i] and raw[up] == raw[i]:
                    inner[s][t.node[i]] += 1
        wanted = [self.factor[n] * inner[0][n] for n in range(self.n)]
        chosen = [
            n for n in range(self.n)
            if self.state[n] == ALIKE and self.calls[0][n] and self.calls[1][n]
            and max(inner[1][n], wanted[n]) > 1.1 * min(inner[1][n], wanted[n])
        ]  # fmt: skip
        found = []
        for nodes in self.by_function(chosen, 0):
            more = sum(inner[1][n] - wanted[n] for n in nodes)
            below = sum(self.below[1][n] - self.factor[n] * self.below[0][n] for n in nodes)
            about, itself = self.about(nodes), [sum(row[n] for n in nodes) for row in inner]
            about["calls"] = tuple(a + b for a, b in zip(about["calls"], itself, strict=True))
            in_all = [of[self.function[s][nodes[0]]] for s, of in enumerate(self.of_function)]
            details = {
                "paths": len(nodes), "unit": False, "with": [], "calls_of_function": in_all, "itself": itself,
            }  # fmt: skip
            found.append(
                self.finding(
                    "repetitions", self.share(0, max(abs(more), abs(below))), self.both(nodes[0]),
                    self.way(nodes[0]), details, **about,
                )
            )  # fmt: skip
        return found

    def mere_wrappers(self):
        """What is stepped over is marked so, unless it takes a hundredth of the time."""
        return {
            node
            for detour in self.around
            for node in detour.wrappers
            if max(self.time[0][node], self.time[1][node]) < 0.01 * self.most_time
        }

    def alone(self):
        found = []
        for s in range(2):
            nodes = [
                n
                for n in range(self.n)
                if self.state[n] == ALONE and self.calls[s][n] and n not in self.mere_wrappers()
            ]
            for group in self.by_function(nodes, s):
                group = self.told_by(group, (s,))
                about = self.about(group)
                elsewhere = self.of_function[1 - s][self.function[1 - s][group[0]]]
                details = {"trace": "AB"[s], "paths": len(group), "elsewhere": elsewhere}
                score = self.share(sum(self.calm_time[s][n] for n in group), about["below"][s])
                names = self.one_sided(self.label(group[0], s), s)
                found.append(self.finding("alone", score, names, self.way(group[0]), details, **about))
        return found

    def new_functions(self):
        found = []
        for s in range(2):
            new = {
                n
                for n in range(self.n)
                if self.calls[s][n] and not self.of_function[1 - s][self.function[1 - s][n]]
            } - self.mere_wrappers()
            for group in self.by_function(new, s):
                if self.told_by(group, (s,)) != group:
                    new -= set(group)
            outermost = [n for n in new if self.parent[n] not in self.under(new)]
            for group in self.by_function(outermost, s):
                about = self.about(group)
                callers = Counter()
                for n in group:
                    if self.parent[n] >= 0:
                        callers[self.label(self.parent[n], s)] += self.calls[s][n]
                most = sorted(callers, key=lambda name: (-callers[name], name))
                details = {
                    "trace": "AB"[s], "paths": len(group), "callers": most[:3], "caller_count": len(most),
                }  # fmt: skip
                score = self.share(sum(self.calm_time[s][n] for n in group), about["below"][s])
                names = self.one_sided(self.label(group[0], s), s)
                found.append(self.finding("only", score, names, self.way(group[0]), details, **about))
        return found

    def detours(self):
        found = []
        for detour in self.around:
            node, about = detour.node, self.about([detour.node])
            own, calls = [side[node] for side in self.self_time], max(about["calls"])
            if not detour.a and not detour.b:
                score, kind, details = self.share(max(own), calls), "renamed", {}
                about["certainty"] = "likely"
            else:
                over = [[self.labels[f] for f in side] for side in (detour.a, detour.b)]
                kind, details = "wrapped", {"through": over}
                score = self.share(0, calls * max(len(side) for side in over))
            found.append(self.finding(kind, score, self.both(node), self.way(node), details, **about))
        for f, g in self.evidence.paths.renamed:
            nodes = [
                n for n in range(self.n)
                if (self.function[0][n], self.function[1][n]) == (f, g) and all(of[n] for of in self.calls)
            ]  # fmt: skip
            if nodes:
                nodes.sort(key=lambda n: (-self.time[0][n], n))
                about = self.about(nodes)
                own = max(sum(side[n] for n in nodes) for side in self.self_time)
                score = self.share(own, max(about["calls"]))
                names, way = (self.labels[f], self.labels[g]), self.way(nodes[0])
                found.append(self.finding("renamed", score, names, way, certainty="likely", **about))
        for pair in self.identity.renamed:
            nodes = [n for n in range(self.n) if self.identity.names[self.function[0][n]] == pair.b]
            if nodes:
                nodes.sort(key=lambda n: (-self.time[0][n] - self.time[1][n], n))
                about = self.about(nodes)
                own = max(sum(side[n] for n in nodes) for side in self.self_time)
                score = self.share(own, max(about["calls"]))
                details = {"name_score": pair.score}
                found.append(
                    self.finding("renamed", score, (pair.a, pair.b), self.way(nodes[0]), details, **about)
                )
        return found

    # -- how long it takes --

    def known(self, node):
        return self.state[node] in (ALIKE, RECOUNTED)

    def expected(self, node):
        return self.pace * self.factor[node] * self.self_time[0][node] if self.known(node) else 0.0

    def extra(self, node):
        return self.self_time[1][node] - self.expected(node) if self.known(node) else 0.0

    @property
    def exact(self):
        return self.noise < 1e-3

    def log_ratio(self, was, now):
        return math.log(max(now, 1) / max(was, 1)) - math.log(self.pace)

    def in_place(self):
        """Return (call of A, call of B): each call of B on a common path, and A's in its place."""
        found = []
        for node in (n for n in range(self.n) if self.known(n)):
            a, b = ([i for i in range(t.n) if t.node[i] == node] for t in self.traces)
            if len(a) != len(b):  # the one of the same rank by own time
                a, b = (
                    sorted(of, key=lambda i, t=t: (t.own[i], i))
                    for of, t in zip((a, b), self.traces, strict=True)
                )
            found += [(a[math.floor((k + 0.5) * len(a) / len(b))], j) for k, j in enumerate(b)]
        return found

    def groups(self):
        """Return the calls that are judged together: of one path, or of a function's rarely called paths."""
        groups = defaultdict(list)
        for i, j in self.in_place():
            node = self.traces[1].node[j]
            enough = all(t.node.count(node) >= 3 for t in self.traces)
            groups[(1, node) if enough else (0, self.function[0][node])].append((i, j))
        return [self.judged(sorted(groups[key], key=lambda pair: pair[1])) for key in sorted(groups)]

    def judged(self, pairs):
        a, b = self.traces
        group = {
            "pairs": pairs, "function": self.function[0][b.node[pairs[0][1]]], "low": 0.0, "high": 0.0,
            "change": 0.0, "ratio": 0.0, "extra": [b.own[j] - self.pace * a.own[i] for i, j in pairs],
        }  # fmt: skip
        if self.exact:
            before = sum(self.pace * a.own[i] for i, _ in pairs)
            change = sum(group["extra"])
            ratio = math.log(max(before + change, 1) / max(before, 1))
            return {**group, "low": -math.inf, "high": math.inf, "change": change, "ratio": ratio}
        if len(pairs) >= 3:
            rows = [(a.own[i], b.own[j]) for i, j in pairs]
            # One call in twenty of either trace, and one more; one of A may have several counterparts.
            most, times = (len(rows) - 1) // 2, Counter(i for i, _ in pairs)
            out = min(1 + len(rows) // 20, most)
            out_a = min((1 + len(times) // 20) * max(times.values()), most)
            seen = self.without_stalls(rows, out, out_a, [times[i] for i, _ in pairs])
            if len(rows) < 10:
                # All but the outliers have to agree: the smallest change that one of them shows counts.
                ratios = sorted(self.log_ratio(was, now) for was, now in rows)
                within = ratios[out_a : len(ratios) - out]
                up, down = all(r > 0 for r in within), all(r < 0 for r in within)
                seen["ratio"] = within[0] if up else within[-1] if down else 0.0
            return {**group, **seen}
        if abs(sum(group["extra"])) < 0.01 * self.most_time:
            return group
        gaps = [(a.gaps(i), b.gaps(j)) for i, j in pairs]
        rows = [row for x, y in gaps if len(x) == len(y) for row in zip(x, y, strict=True)]
        if len(rows) < 8:
            return group
        seen = self.without_stalls(rows, 1 + len(rows) // 20, 1 + len(rows) // 20)
        end = "high" if seen["change"] > 0 else "low"
        return {
            **group, "change": seen["change"], "ratio": seen["ratio"], end: seen["change"] / len(pairs),
        }  # fmt: skip

    def without_stalls(self, rows, out, out_a, times=None):
        """Judge times of A and B beside each other, the most extreme of B and of A cut back.

        Less time counts once for each call of A, which may stand for several: as often as ``times``.
        """
        every = [now - self.pace * was for was, now in rows]
        extra = sorted(every)
        low, high = extra[out_a], extra[len(extra) - 1 - out]
        usual = [min(max(each, low), high) for each in every]
        change = sum(usual)
        if change < 0 and times:
            change = min(sum(each / n for each, n in zip(usual, times, strict=True)), 0.0)
        return {
            "low": low, "high": high, "change": change,
            "ratio": median(self.log_ratio(was, now) for was, now in rows),
        }  # fmt: skip

    def spread(self):
        """Return (path, logarithm of how many times as long B takes, weight)."""
        found = []
        for node in range(self.n):
            a, b = self.self_time[0][node], self.self_time[1][node]
            if self.known(node) and a > 0 and b > 0:
                share = a / max(self.traces[0].time, 1) + b / max(self.traces[1].time, 1)
                found.append((node, math.log(b / (self.factor[node] * a)), min(share / 2, 0.0005)))
        return found

    def hull(self, node, s):
        t = self.traces[s]
        mine = [i for i in range(t.n) if t.node[i] == node]
        return min(t.start[i] for i in mine), max(t.end[i] for i in mine)

    def meanwhile(self, function, groups):
        """How much longer other functions take meanwhile."""
        if self.exact:
            return 0.0
        t = self.traces[1]
        mine = [j for g in groups for _, j in g["pairs"]]
        low, high = min(t.start[j] for j in mine), max(t.end[j] for j in mine)
        others = [
            (ratio, weight)
            for node, ratio, weight in self.spread()
            if self.function[0][node] != function
            and low <= self.hull(node, 1)[0]
            and self.hull(node, 1)[1] <= high
        ]
        return plain_median(others) - math.log(self.pace) if len(others) >= 5 else 0.0

    def changed(self, groups):
        """Return the functions that are slower or faster, each with the groups that show it."""
        least = max(3 * self.noise, math.log(1.15))
        passing = [g for g in groups if abs(g["ratio"]) > least and g["ratio"] * g["change"] > 0]
        found = []
        for f in range(len(self.identity)):
            total = sum(g["change"] for g in passing if g["function"] == f)
            if abs(total) < 0.01 * self.most_time:
                continue
            of = [g for g in passing if g["function"] == f and g["change"] * total > 0]
            of.sort(key=lambda g: -rounded(g["change"]))
            apart = of[0]["ratio"] - self.meanwhile(f, of)
            if abs(apart) > least and apart * of[0]["ratio"] > 0:
                found.append((f, of))
        return found

    def times(self, groups):
        found = []
        for f, of in self.changed(groups):
            pairs = [pair for g in of for pair in g["pairs"]]
            nodes = list(dict.fromkeys(self.traces[1].node[j] for _, j in pairs))
            change = sum(g["change"] for g in of)
            details = {
                "change_ns": round(change), "pace": self.pace, "factor": self.factor[nodes[0]],
                "cause": self.labels[f], "cause_share": 1.0, "paths": len(nodes),
                "cause_self_ns": [sum(side[n] for n in nodes) for side in self.self_time],
                "median_ns": [median(t.own[pair[s]] for pair in pairs) for s, t in enumerate(self.traces)],
            }  # fmt: skip
            found.append(
                self.finding(
                    "slower" if change > 0 else "faster", self.share(change, 0), self.both(nodes[0]),
                    self.way(nodes[0]), details, certainty="certain" if len(pairs) >= 5 else "likely",
                    **self.about(nodes),
                )
            )  # fmt: skip
        return found

    def stalls(self, groups, start=()):
        """Return what took long once, in each trace, but on paths that are reported as slow at the start."""
        found = []
        for s, t in enumerate(self.traces):
            rows = []
            for g in groups:
                for pair, extra in zip(g["pairs"], g["extra"], strict=True):
                    over = extra - max(g["high"], 0) if s else min(g["low"], 0) - extra
                    if self.traces[1].node[pair[1]] in start or self.exact:
                        continue
                    if over >= 0.02 * self.most_time:
                        rows.append((-over, pair[s], pair, len(g["pairs"]) <= 2))
            if not rows:
                continue
            rows.sort(key=lambda row: (-rounded(row[0]), row[1]))
            rows = [row for k, row in enumerate(rows) if row[1] not in [r[1] for r in rows[:k]]]
            pairs = [pair for _, _, pair, _ in rows]
            nodes = list(dict.fromkeys(t.node[pair[s]] for pair in pairs))
            change = -sum(row[0] for row in rows)
            details = {
                "trace": "AB"[s], "count": len(rows), "change_ns": round(change if s else -change),
                "longest_ns": round(-rows[0][0]), "single": rows[0][3],
                "stalls": [
                    {
                        "call": i, "function": self.label(t.node[i], s), "start_ns": t.start[i],
                        "own_ns": t.own[i], "beyond_ns": round(-row[0]),
                    }
                    for row in rows
                    for i in [row[2][s]]
                ],
            }  # fmt: skip
            found.append(
                self.finding(
                    "stall", self.share(change, 0), self.both(nodes[0]), self.way(nodes[0]), details,
                    certainty="unsure" if rows[0][3] else "likely", calls=(len(rows),) * 2, nodes=nodes,
                    time_ns=tuple(sum(t.own[pair[k]] for pair in pairs) for k, t in enumerate(self.traces)),
                    ranges=tuple(
                        (min(t.start[pair[k]] for pair in pairs), max(t.end[pair[k]] for pair in pairs))
                        for k, t in enumerate(self.traces)
                    ),
                    examples=pairs[0],
                )
            )  # fmt: skip
        return found

    def drifts(self, groups):
        """Return parts of the run in which everything takes longer, or less long."""
        if self.exact:
            return []
        known = [g for _, of in self.changed(groups) for g in of]
        total, usual = [0.0] * self.n, [0.0] * self.n
        for g in groups:
            for (i, j), extra in zip(g["pairs"], g["extra"], strict=True):
                for node in self.above(self.traces[1].node[j]):
                    usual[node] += self.pace * self.traces[0].own[i]
                    if g not in known and len(g["pairs"]) >= 3:
                        total[node] += min(max(extra, g["low"]), g["high"])
                    elif g not in known and abs(extra) < 0.02 * self.most_time:
                        total[node] += extra
        found, reported = [], set()
        for node in sorted(range(self.n), key=lambda n: (-rounded(total[n]), n)):
            factor = (usual[node] + total[node]) / max(usual[node], 1)
            if not self.known(node) or abs(total[node]) < 0.01 * self.most_time or 1 / 1.15 < factor < 1.15:
                continue
            inside = self.under([node])
            here = [(ratio, weight) for n, ratio, weight in self.spread() if n in inside]
            if len(found) == 2 or reported & (inside | set(self.above(node))) or len(here) < 5:
                continue
            drift = plain_median(here) - math.log(self.pace)
            if drift * total[node] <= 0 or abs(drift) < math.log(1.15):
                continue
            reported |= inside
            details = {"change_ns": round(total[node]), "factor": math.exp(drift), "start": False}
            found.append(
                self.finding(
                    "drift", self.share(total[node], 0), self.both(node), self.way(node), details,
                    certainty="likely", **self.about([node]),
                )
            )  # fmt: skip
        return found

    def above(self, node):
        """Return a path and those that lead to it."""
        return [node, *self.above(self.parent[node])] if node >= 0 else []

    def same_pace(self):
        before = sum(self.factor[n] * self.self_time[0][n] for n in range(self.n) if self.known(n))
        now = sum(self.self_time[1][n] for n in range(self.n) if self.known(n))
        if max(self.pace, 1 / self.pace) < 1.15 or not all(t.time for t in self.traces):
            return []
        roots = [n for n in range(self.n) if self.parent[n] < 0 and self.calls[0][n] and self.calls[1][n]]
        about = {
            **self.about(roots),
            "calls": (0, 0),
            "time_ns": (round(before), round(now)),
            "below": (0, 0),
        }
        score = min(abs(self.pace - 1) * before / self.most_time, 1.0)
        details = {"factor": self.pace, "varies": math.expm1(self.noise)}
        return [self.finding("pace", score, ("", ""), (), details, **about)]

    # -- when it is done --

    def pairs(self):
        """Return (call of A, call of B, path) of what corresponds one to one, in the order of A."""

        def worth(n):
            for s, t in enumerate(self.traces):
                if self.longest[s][n] >= 0 and t.lasted[self.longest[s][n]] >= max(0.002 * t.time, 1):
                    return True
                share = max(self.time[s][n] / max(t.time, 1), self.below[s][n] / max(t.n, 1))
                if share >= 0.002 and self.calls[s][n] <= 5000:
                    return True
            return False

        chosen = [
            n for n in range(self.n) if self.known(n) and self.calls[0][n] == self.calls[1][n] and worth(n)
        ]
        heads = [t.heads(chosen) for t in self.traces]
        found = []

        def in_turn(key):
            rows = [defaultdict(list), defaultdict(list)]
            for s, t in enumerate(self.traces):
                for i in heads[s]:
                    if not any(pair[s] == i for pair in found):
                        rows[s][key(t, i)].append(i)
            for name in rows[0]:
                if len(rows[0][name]) == len(rows[1][name]):
                    found.extend(zip(rows[0][name], rows[1][name], strict=True))

        in_turn(lambda t, i: (t.node[i], t.shape(i)))
        in_turn(lambda t, i: t.node[i])
        a, b = self.traces
        partner, paired = dict(found), {j for _, j in found}

        def callers(t, call):
            return [] if t.parent[call] < 0 else [t.parent[call], *callers(t, t.parent[call])]

        def caller(t, call, among):
            return next((i for i in callers(t, call) if i in among), None)

        above = {i: (caller(a, i, partner), caller(b, j, paired)) for i, j in found}
        apart = {i for i, (p, q) in above.items() if None not in (p, q) and partner[p] != q}
        found = [(i, j) for i, j in found if not apart & {i, *callers(a, i)}]
        return [(i, j, a.node[i]) for i, j in sorted(found, key=lambda pair: (a.start[pair[0]], pair[0]))]

    def most_in_order(self, pairs):
        """Return how many pairs a longest sequence has that rises in both traces."""
        t = self.traces[1]
        key = [(t.start[b], b) for _, b, _ in pairs]
        best = []
        for i, one in enumerate(key):
            best.append(1 + max((best[j] for j in range(i) if key[j] < one), default=0))
        return max(best, default=0)

    def out_of_order(self, pairs, in_order):
        a = self.traces[0]

        def before(s, k):
            """Return the last of the same caller before a pair that keeps its place; None: there is none."""
            t, one = self.traces[s], pairs[k][s]
            rows = [
                (pairs[j][s], j)
                for j in range(len(pairs))
                if in_order[j] and pairs[j][s] < one and t.parent[pairs[j][s]] == t.parent[one]
                and t.thread[pairs[j][s]] == t.thread[one]
            ]  # fmt: skip
            return max(rows)[1] if rows else None

        moved = [k for k in range(len(pairs)) if not in_order[k] and before(0, k) != before(1, k)]
        moved = [k for k in moved if not any(pairs[k][0] in a.stack(pairs[j][0])[1:] for j in moved)]
        runs = []
        for k in moved:
            last = runs[-1][-1] if runs else None
            if (
                last is not None
                and a.parent[pairs[last][0]] == a.parent[pairs[k][0]]
                and not any(in_order[last:k])
            ):
                runs[-1].append(k)
            else:
                runs.append([k])
        again, found = defaultdict(list), []
        for run in runs:
            again[self.parent[pairs[run[0]][2]], tuple(sorted({pairs[k][2] for k in run}))].append(run)
        for same in again.values():
            run = [k for one in same for k in one]
            calls = [[pairs[k][s] for k in run] for s in range(2)]
            time = tuple(sum(t.lasted[i] for i in of) for t, of in zip(self.traces, calls, strict=True))
            below = tuple(sum(t.extent[i] for i in of) for t, of in zip(self.traces, calls, strict=True))
            first = max(run, key=lambda k: (a.lasted[pairs[k][0]], -k))
            one = same[0][0]
            last = [before(s, one) for s in range(2)]
            after = ["" if k is None else self.label(pairs[k][2]) for k in last]
            node = pairs[first][2]
            details = {
                "after": after, "functions": sorted({self.label(pairs[k][2]) for k in run}),
                "times": len(same),
            }  # fmt: skip
            if after[0] == after[1]:
                details["after_calls"] = [
                    sum(
                        t.node[i] == pairs[last[s]][2] and t.parent[i] == t.parent[pairs[one][s]]
                        and t.thread[i] == t.thread[pairs[one][s]]
                        for i in range(pairs[one][s])
                    )
                    for s, t in enumerate(self.traces)
                ]  # fmt: skip
            found.append(
                self.finding(
                    "order", self.share(min(time), min(below)), self.both(node), self.way(node),
                    details, calls=(len(run),) * 2, time_ns=time, below=below, examples=pairs[first][:2],
                    ranges=tuple(
                        (min(t.start[i] for i in of), max(t.end[i] for i in of))
                        for t, of in zip(self.traces, calls, strict=True)
                    ),
                )
            )  # fmt: skip
        return found

    def offsets(self, pairs, in_order):
        if not self.exact:
            return []
        kept = [pair for pair, flag in zip(pairs, in_order, strict=True) if flag]
        found = []

        def wait(s, k):
            """Return the time before a call in which its caller calls nothing, what was before, if surely."""
            t, i = self.traces[s], kept[k][s]
            siblings = [
                (t.start[other[s]], other[s], j)
                for j, other in enumerate(kept)
                if t.parent[other[s]] == t.parent[i] and t.thread[other[s]] == t.thread[i]
                and (t.start[other[s]], other[s]) < (t.start[i], i)
            ]  # fmt: skip
            if siblings:
                _, before, j = max(siblings)
                return t.start[i] - t.end[before], j, before + t.extent[before] == i
            up = t.parent[i]
            return (t.start[i] - t.start[up], -1, up + 1 == i) if up >= 0 else (t.start[i], -1, True)

        for k, (i, j, node) in enumerate(kept):
            (was, before, sure), (now, before_b, sure_b) = wait(0, k), wait(1, k)
            same = (kept[before][2] if before >= 0 else -1) == (kept[before_b][2] if before_b >= 0 else -1)
            change = now - self.pace * was
            large = abs(change) >= 0.01 * self.most_time
            if not (sure and sure_b and same and max(was, now) >= 1.5 * min(was, now) and large):
                continue
            a, b = self.traces
            up = self.parent[node]
            details = {
                "change_ns": round(change), "after": self.label(kept[before][2]) if before >= 0 else "",
                "within": self.label(up) if up >= 0 else "", "starts_ns": [a.start[i], b.start[j]],
            }  # fmt: skip
            one = self.finding(
                "offset", self.share(change, 0), self.both(node), self.way(node), details, calls=(1, 1),
                time_ns=(was, now), below=(0, 0), examples=(i, j),
                ranges=((a.start[i] - was, a.end[i]), (b.start[j] - now, b.end[j])),
            )  # fmt: skip
            found.append((rounded(change), one))
        return [one for _, one in sorted(found, key=lambda pair: -pair[0])]

    # -- what has no match --

    def stretches(self):
        found = []
        for s, t in enumerate(self.traces):
            matched = self.comparison.matched(s).tolist()
            bare = [not any(matched[j] for j in t.stack(i)) for i in range(t.n)]
            runs = []
            for i in range(t.n):
                if not bare[i] or (t.parent[i] >= 0 and bare[t.parent[i]]):
                    continue
                last = runs[-1][1] if runs else -1
                if (
                    runs and t.parent[last] == t.parent[i] and t.thread[last] == t.thread[i]
                    and last + t.extent[last] == i
                ):  # fmt: skip
                    runs[-1][1] = i
                else:
                    runs.append([i, i])
            groups = defaultdict(list)
            for run in runs:
                groups[t.node[run[0]], t.node[run[1]]].append(run)
            rows = []
            for key in sorted(groups):
                of = groups[key]
                renamed = [
                    self.function[0][n] != self.function[1][n] and all(row[n] for row in self.calls)
                    for n in key
                ]
                if all(renamed):
                    continue
                time = sum(t.end[last] - t.start[first] for first, last in of)
                below = sum(last + t.extent[last] - first for first, last in of)
                calm = sum(sum(t.calm[first : last + t.extent[last]]) for first, last in of)
                first, last = max(of, key=lambda run: (t.end[run[1]] - t.start[run[0]], -run[0]))
                names = [self.label(t.node[i], s) for i in (first, last)]
                hull = (min(t.start[run[0]] for run in of), max(t.end[run[1]] for run in of))
                details = {
                    "trace": "AB"[s], "first": names[0], "last": names[1],
                    "longest_ns": t.end[last] - t.start[first], "longest_start_ns": t.start[first],
                    "new": names[0] == names[1]
                    and self.function[1 - s][t.node[first]] not in self.traces[1 - s].function,
                }  # fmt: skip
                weight = max(calm / self.most_time, below / self.most_calls)
                rows.append((weight, self.finding(
                    "unmatched", self.share(calm, below), self.one_sided(names[0], s),
                    self.way(t.node[first]), details, calls=self.one_sided(len(of), s, 0),
                    time_ns=self.one_sided(time, s, 0), below=self.one_sided(below, s, 0),
                    ranges=self.one_sided(hull, s, None), examples=self.one_sided(first, s, -1),
                    nodes=sorted(set(key)),
                )))  # fmt: skip
            found += [row for _, row in sorted(rows, key=lambda pair: -pair[0])[:20]]
        return found

    # -- what is most alike, and what was moved --

    def most_alike(self, s, call):
        t, other = self.traces[s], self.traces[1 - s]
        mine = gamma(t.trace, call, t.ids)
        share = [jaccard(mine, gamma(other.trace, j, other.ids)) for j in range(other.n)]
        share = [float(x) if x > self.tau else 0.0 for x in share]
        if not any(share):
            return None
        near = [j for j in range(other.n) if share[j] >= max(max(share) - 0.1, 1e-12)]
        f = self.function[s][t.node[call]]
        best = max([j for j in near if self.function[1 - s][other.node[j]] == f] or near,
                   key=lambda j: (other.lasted[j], -j))  # fmt: skip
        node = other.node[best]
        return {
            "call": best, "similarity": share[best], "function": self.label(node, 1 - s),
            "path": list(self.way(node)), "start_ns": other.start[best], "time_ns": other.lasted[best],
        }  # fmt: skip

    def add_most_similar(self, found):
        asked = Counter()
        for f in found:
            s = "AB".index(f["details"].get("trace", "A"))
            if f["kind"] not in ("alone", "only") or f["examples"][s] < 0 or asked[s] == 60:
                continue
            asked[s] += 1
            best = self.most_alike(s, f["examples"][s])
            f["details"] = {**f["details"], "most_alike": best}
            if best and f["kind"] == "only":
                f["score"] = self.share(sum(self.calm_self[s][n] for n in f["nodes"]), f["calls"][s])
        return found

    def together(self, found):
        """Take calls that the same callers make alone, as often, as one finding."""

        def side(f):
            return "AB".index(f["details"]["trace"])

        def where(f):
            s = side(f)
            return s, sorted((self.parent[n], self.calls[s][n]) for n in f["nodes"])

        result = []
        for i, f in enumerate(found):
            same = [g for g in found if f["kind"] == g["kind"] == "alone" and where(f) == where(g)]
            if len(same) < 2:
                result.append(f)
                continue
            s = side(f)
            longest = max(g["time_ns"][s] for g in same)
            new = [g for g in same if not g["details"]["elsewhere"]]
            if new:
                longest = max(g["time_ns"][s] for g in new)
            first = next(g for g in new or same if g["time_ns"][s] == longest)
            if first is not found[i]:
                continue
            others = [g for g in same if g is not first]
            others.sort(key=lambda g: (bool(g["details"]["elsewhere"]), -g["time_ns"][s]))
            nodes = [*first["nodes"], *(n for g in others for n in g["nodes"])]
            score = self.share(sum(self.calm_time[s][n] for n in nodes), sum(g["below"][s] for g in same))
            details = {**first["details"], "with": [g["functions"][s] for g in others]}
            result.append({**first, "score": score, "nodes": nodes, "details": details})
        return result

    def joined(self, found):
        lone = [f for f in found if f["kind"] == "alone"]
        group = {id(f): {id(f)} for f in lone}
        of_id = {id(f): f for f in lone}
        itself = {}

        def join(f, g):
            both = group[id(f)] | group[id(g)]
            for one in both:
                group[one] = both

        def top(node):
            """The path that one trace has alone, at or above a path; -1: none."""
            while node >= 0 and self.state[node] != ALONE:
                node = self.parent[node]
            return node

        def side(f):
            return "AB".index(f["details"]["trace"])

        def same_work(f, g):
            """Whether they have a function in common that is called on one other path at most."""
            inside = []
            for one in (f, g):
                s = side(one)
                inside.append([self.function[s][n] for n in self.under(one["nodes"])])
            s, t = side(f), side(g)
            same = self.function[s][f["nodes"][0]] == self.function[t][g["nodes"][0]]
            counts = [(f[name][s], g[name][t]) for name in ("calls", "below")]
            if same and all(min(a, b) >= 5 and abs(a - b) <= 0.1 * max(a, b) for a, b in counts):
                return True
            every = [f for n in range(self.n) for f in {self.function[0][n], self.function[1][n]}]
            return any(
                every.count(x) - inside[0].count(x) - inside[1].count(x) <= 1
                for x in set(inside[0]) & set(inside[1])
            )

        for i, f in enumerate(lone):
            named = [
                g for g in lone[:i]
                if self.function[side(f)][f["nodes"][0]] == self.function[side(g)][g["nodes"][0]]
            ]  # fmt: skip
            if named and same_work(f, named[0]):
                join(f, named[0])
            for g in lone[:i]:
                beside = [{self.parent[n] for n in one["nodes"]} for one in (f, g)]
                if side(f) == side(g) or beside[0] != beside[1]:
                    continue
                for inner, outer in ((f, g), (g, f)):
                    s, t = side(inner), side(outer)
                    called = [
                        n for n in range(self.n)
                        if self.parent[n] in outer["nodes"] and self.calls[t][n]
                        and self.function[t][n] == self.function[s][inner["nodes"][0]]
                    ]  # fmt: skip
                    if called:
                        join(f, g)
                        time = sum(self.calm_time[t][n] for n in outer["nodes"])
                        time -= sum(self.calm_time[t][n] for n in called)
                        calls = outer["below"][t] - sum(self.below[t][n] for n in called)
                        itself.setdefault(id(outer), []).append(self.share(time, calls))
            if best := f["details"].get("most_alike"):
                node = top(self.traces[1 - side(f)].node[best["call"]])
                for g in lone:
                    if node in g["nodes"] and same_work(f, g):
                        join(f, g)

        def callers(members, s):
            return {self.parent[f["nodes"][0]] for f in lone if id(f) in members and side(f) == s}

        # Calls that moved from one caller to the same other one moved together.
        between = [(f, callers(group[id(f)], 0), callers(group[id(f)], 1)) for f in lone]
        for i, (f, *ends) in enumerate(between):
            for g, *others in between[:i]:
                if ends == others and len(ends[0]) == len(ends[1]) == 1:
                    join(f, g)
        result, done = [], set()
        for f in found:
            members = [g for g in lone if id(g) in group.get(id(f), ())]
            below = [sum(g["below"][s] for g in members if side(g) == s) for s in range(2)]
            if 3 * min(below) < max(below) or not members:
                result.append({**f, "score": min(itself.get(id(f), [f["score"]]))})
            elif id(f) not in done:
                done |= {id(g) for g in members}
                result.append(self.moved(members, side))
        assert len(of_id) == len(lone)
        causes = [f for f in result if f["kind"] in ("moved", "alone")]
        return [f for f in result if not any(self.comes_of(f, cause) for cause in causes)]

    def merge_alone_into_only(self, found):
        """Leave out calls in one place of a function that the other never calls, where all are reported."""
        kept = []
        for f in found:
            same = [g for g in found if (g["details"].get("trace"), g["functions"]) ==
                    (f["details"].get("trace"), f["functions"])]  # fmt: skip
            places = [
                g for g in same
                if g["kind"] == "alone" and not g["details"]["elsewhere"] and not g["details"].get("with")
            ]  # fmt: skip
            every = [g for g in same if g["kind"] == "only"]
            if f["kind"] == "alone" and f in places and any(len(g["nodes"]) > len(f["nodes"]) for g in every):
                continue
            if f["kind"] == "only":
                more = [g["score"] for g in places if len(g["nodes"]) < len(f["nodes"])]
                f = {**f, "score": max([f["score"], *more])}
            kept.append(f)
        return kept

    def moved(self, members, side):
        sides = [[f for f in members if side(f) == s] for s in range(2)]
        largest = [max(of, key=lambda f: f["score"]) for of in sides]
        total = {
            name: tuple(sum(f[name][s] for f in of) for s, of in enumerate(sides))
            for name in ("calls", "time_ns", "below")
        }
        spans = [[f["ranges"][s] for f in of] for s, of in enumerate(sides)]
        details = {
            "parts": [
                [
                    {
                        "function": f["functions"][s],
                        **{name: f[name][s] for name in total},
                        "path": list(f["path"]),
                    }
                    for f in of
                ]
                for s, of in enumerate(sides)
            ],
            "path_b": list(largest[1]["path"]),
        }
        calm = [sum(self.calm_time[s][n] for f in of for n in f["nodes"]) for s, of in enumerate(sides)]
        return self.finding(
            "moved", self.share(min(calm), min(total["below"])),
            (largest[0]["functions"][0], largest[1]["functions"][1]), largest[0]["path"], details, **total,
            ranges=tuple((min(a for a, _ in of), max(b for _, b in of)) for of in spans),
            examples=(largest[0]["examples"][0], largest[1]["examples"][1]),
            nodes=[n for f in members for n in f["nodes"]], certainty="likely",
        )  # fmt: skip

    def comes_of(self, f, cause):
        """Whether calls are only missing because work was moved, or because they are made elsewhere."""
        if f["kind"] not in ("repetitions", "alone"):
            return False
        if f["kind"] == "repetitions" and cause["kind"] == "moved":
            more = sum(self.below[1][n] - self.before[n] * self.below[0][n] for n in f["nodes"])
            inside = self.under(f["nodes"])
            came = sum(self.below[1 if more > 0 else 0][n] for n in cause["nodes"] if n in inside)
            if more and came >= 0.5 * abs(more):
                return True
        function = self.function["AB".index(f["details"].get("trace", "A"))][f["nodes"][0]]
        a, b = (of[function] for of in self.of_function)
        under = set(self.under(cause["nodes"]))
        if abs(a - b) > 0.1 * max(a, b):
            return False
        if cause["kind"] == "alone":
            more, less = f["calls"] if cause["details"]["trace"] == "B" else f["calls"][::-1]
            s = "AB".index(cause["details"]["trace"])
            if f["kind"] == "alone":
                under -= set(cause["nodes"])
            there = sum(self.calls[s][n] for n in under if self.function[s][n] == function)
            return 2 * there >= more - less > 0
        if f["kind"] == "alone":
            return False
        callers = {self.parent[n] for n in cause["nodes"]}
        near = set(f["nodes"]) | {self.parent[n] for n in f["nodes"]}
        inside = any(function in (self.function[0][n], self.function[1][n]) for n in under)
        return bool(callers & near or inside)

    # -- all together --

    def goes_with(self, unit, f):
        if f["kind"] != "repetitions" or not unit["details"].get("unit"):
            return False
        more, less = (g["calls"][1] / g["calls"][0] for g in (unit, f))
        return (
            0.8 - 1e-9 <= more / less <= 1.25 + 1e-9 and (more > 1) == (less > 1) and more != 1 and less != 1
        )

    def explains(self, result, f):
        called = ("unmatched", "moved", "only", "alone", "repetitions")
        if f["kind"] in called and result["kind"] in called:
            as_often = all(self.calls[0][n] == self.calls[1][n] for n in f["nodes"])
            below = any(self.parent[n] in f["nodes"] for n in result["nodes"])
            if f["kind"] == "unmatched" and as_often and below:
                return True
            if result["kind"] == "repetitions" and "trace" in f["details"]:
                a, b = result["calls"]
                if f["details"]["trace"] != ("B" if b > a else "A"):
                    return False
                new = not f["details"].get("elsewhere") and not result["details"]["unit"]
                if new and max(f["calls"]) * min(a, b) >= 3 * max(a, b):
                    return False
            inside = set(result["nodes"]) if result["kind"] == "moved" else self.under(result["nodes"])
            if f["kind"] == "moved" and result["kind"] == "repetitions":
                for s in range(2):
                    here = [n for n in f["nodes"] if self.calls[s][n]]
                    weights = [max(self.time[s][n], 1) for n in here]
                    part = sum(w for n, w in zip(here, weights, strict=True) if n in inside)
                    if 2 * part < sum(weights):
                        return False
                return True
            weight = {n: max(self.time[0][n] + self.time[1][n], 1) for n in f["nodes"]}
            every = [weight[n] for n in f["nodes"]]
            return 2 * sum(weight[n] for n in f["nodes"] if n in inside) >= sum(every)
        if f["kind"] in ("slower", "faster") and result["kind"] == "offset":
            change = f["details"]["change_ns"]
            near = abs(change - result["details"]["change_ns"]) <= 0.5 * abs(change)
            return near and f["details"]["cause"] == result["details"]["within"]
        return False

    def alike(self):
        extra = [abs(self.extra(n)) for n in range(self.n)]
        largest = max(range(self.n), key=lambda n: (extra[n], -n), default=-1)
        most = extra[largest] if extra else 0.0
        shapes = [[(t.function[i], t.extent[i]) for i in range(t.n)] for t in self.traces]
        details = {
            "most": most / self.most_time, "most_ns": round(most),
            "most_function": self.label(largest) if extra else "", "same_calls": shapes[0] == shapes[1],
            "varies": math.expm1(self.noise),
        }  # fmt: skip
        roots = [n for n in range(self.n) if self.parent[n] < 0]
        return self.finding("alike", 0.0, ("", ""), (), details, **self.about(roots))
