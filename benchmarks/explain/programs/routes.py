"""Finds the shortest ways through a made-up network of stops, and writes them as a timetable."""

import heapq
import itertools
import math
import random

STOPS = 60
JOURNEYS = 24


class Stop:
    def __init__(self, name, x, y):
        self.name, self.x, self.y = name, x, y
        self.links = []


def distance(a, b):
    return math.hypot(a.x - b.x, a.y - b.y)


def make_stops(chance):
    return [Stop(f"stop {n}", chance.uniform(0, 100), chance.uniform(0, 100)) for n in range(STOPS)]


def join_stops(stops):
    for stop in stops:
        near = sorted(stops, key=lambda other: distance(stop, other))
        for other in near[1:4]:
            link(stop, other)


def link(a, b):
    if b not in a.links:
        a.links.append(b)
    if a not in b.links:
        b.links.append(a)


class Waiting:
    def __init__(self):
        self.items, self.count = [], 0

    def put(self, far, stop):
        self.count += 1
        heapq.heappush(self.items, (far, self.count, stop))

    def take(self):
        far, _, stop = heapq.heappop(self.items)
        return far, stop

    def is_empty(self):
        return not self.items


def find_way(start, goal):
    waiting, before, known = Waiting(), {start: None}, {start: 0.0}
    waiting.put(0.0, start)
    done = set()
    while not waiting.is_empty():
        _, stop = waiting.take()
        if stop in done:
            continue
        done.add(stop)
        if stop is goal:
            break
        for other in stop.links:
            relax(waiting, before, known, stop, other)
    return trace_back(before, goal)


def relax(waiting, before, known, stop, other):
    far = known[stop] + distance(stop, other)
    if far < known.get(other, math.inf):
        known[other], before[other] = far, stop
        waiting.put(far, other)


def trace_back(before, goal):
    way = []
    while goal is not None:
        way.append(goal)
        goal = before.get(goal)
    return way[::-1]


def minutes(way):
    return sum(ride_time(a, b) for a, b in itertools.pairwise(way))


def ride_time(a, b):
    return 1.5 + distance(a, b) / 4


def write_way(way):
    lines = [write_stop(n, stop) for n, stop in enumerate(way)]
    return "\n".join([write_head(way), *lines])


def write_head(way):
    return f"{way[0].name} to {way[-1].name}: {minutes(way):.0f} min"


def write_stop(n, stop):
    return f"{n:>3}. {stop.name} ({stop.x:.1f}, {stop.y:.1f})"


def check_way(way):
    return all(b in a.links for a, b in itertools.pairwise(way))


def main():
    chance = random.Random(7)
    stops = make_stops(chance)
    join_stops(stops)
    pages = []
    for _ in range(JOURNEYS):
        start, goal = chance.sample(stops, 2)
        way = find_way(start, goal)
        check_way(way)
        pages.append(write_way(way))
    return pages


if __name__ == "__main__":
    main()
