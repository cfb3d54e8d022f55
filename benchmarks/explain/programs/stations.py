"""Fetches readings of weather stations from a made-up network, checks and sorts them, and sums them up."""

import difflib
import random
import statistics

STATIONS = 40
READINGS = 12
PLACES = ["harbour", "airport", "forest", "summit", "valley", "island", "bridge", "meadow"]
FAILING = 0


class Network:
    def __init__(self):
        self.asked = 0

    def ask(self, station):
        self.asked += 1
        self.connect(station)
        return self.receive(station)

    def connect(self, station):
        if FAILING and self.asked % FAILING == 0:
            raise ConnectionError(station)

    def receive(self, station):
        chance = random.Random(station)
        lines = [f"{PLACES[station % 8]} {station}"]
        for hour in range(READINGS):
            lines.append(write_reading(hour, chance.uniform(-20, 40)))
        return "\n".join(lines)


def write_reading(hour, value):
    return f"{hour:02};{value:.1f}"


def fetch(network, station):
    while True:
        try:
            return network.ask(station)
        except ConnectionError:
            back_off(station)


def back_off(station):
    return sum(pause(n) for n in range(3))


def pause(n):
    return 2**n


def fetch_all(network):
    return [fetch(network, station) for station in range(STATIONS)]


def parse_answer(answer):
    place, *lines = answer.splitlines()
    return [parse_line(place, line) for line in lines]


def parse_line(place, line):
    hour, _, text = line.partition(";")
    try:
        value = parse_value(text)
        check_value(value)
    except ValueError:
        value = repair_value(text)
    return place, int(hour), value


def parse_value(text):
    return float(text)


def check_value(value):
    if not -60 < value < 60:
        raise ValueError(value)


def repair_value(text):
    digits = [character for character in text if is_part_of_number(character)]
    return float("".join(digits).replace(",", "."))


def is_part_of_number(character):
    return character.isdigit() or character in "-.,"


def read_all(answers):
    readings = []
    for answer in answers:
        readings += parse_answer(answer)
    return readings


def is_before(left, right):
    return (left[2], left[0]) < (right[2], right[0])


def sort_readings(readings):
    if len(readings) < 2:
        return readings
    middle = len(readings) // 2
    return merge(sort_readings(readings[:middle]), sort_readings(readings[middle:]))


def merge(left, right):
    result = []
    while left and right:
        result.append(left.pop(0) if is_before(left[0], right[0]) else right.pop(0))
    return result + left + right


def find_place(name):
    return difflib.get_close_matches(name, PLACES, 1)


def summarize(readings):
    places = {}
    for place, _, value in readings:
        add_value(places, place, value)
    return [write_summary(place, places[place]) for place in sorted(places)]


def add_value(places, place, value):
    places.setdefault(place, []).append(value)


def write_summary(place, values):
    known = find_place(place.split()[0])
    return f"{known[0]:<10} {statistics.median(values):6.1f} {max(values):6.1f}"


def main():
    answers = fetch_all(Network())
    readings = sort_readings(read_all(answers))
    return summarize(readings)


if __name__ == "__main__":
    main()
