"""Reads measurements of weather stations, fills gaps, smooths and sums them up; writes a page for each."""

import csv
import datetime
import io
import statistics
import string
import textwrap

STATIONS, DAYS = 5, 48
NAMES = ["Harbour", "Ridge", "Old Mill", "Forest", "Airfield"]
PAGE = string.Template("== $name ==\n$summary\n$rows\n")


class Gap(Exception):
    pass


class Station:
    def __init__(self, name, rows):
        self.name, self.rows, self.filled = name, rows, 0

    def value(self, day):
        text = self.rows[day]["rain"]
        return float(text)

    def fill(self, day):
        self.filled += 1
        near = [self.rows[other]["rain"] for other in neighbours(day) if 0 <= other < len(self.rows)]
        return average([float(text) for text in near if text])


def neighbours(day):
    return [day - 2, day - 1, day + 1, day + 2]


def average(values):
    return sum(values) / len(values) if values else 0.0


def make_table(number):
    start = datetime.date(2024, 3, 1)
    lines = ["date,rain,wind"]
    for day in range(DAYS):
        mixed = (day * 7919 + number * 104729) % 1009
        lines.append(f"{start + datetime.timedelta(day)},{mixed / 37:.2f},{mixed % 17}")
    return "\n".join(lines)


def read_table(number, text):
    return Station(NAMES[number], list(csv.DictReader(io.StringIO(text))))


def value_of(station, day):
    try:
        return station.value(day)
    except ValueError:
        return station.fill(day)


def series_of(station):
    return [value_of(station, day) for day in range(len(station.rows))]


def smooth(series, width=3):
    return [average(window(series, place, width)) for place in range(len(series))]


def window(series, place, width):
    return series[max(0, place - width) : place + width + 1]


def choose(series, every=6):
    return [(place, series[place]) for place in range(0, len(series), every)]


def describe_day(place, value):
    kind = "dry" if value < 5 else "wet" if value < 20 else "very wet"
    return f"day {place} was {kind}, {value:.1f} mm"


def summary_of(series):
    mean, spread = statistics.mean(series), statistics.pstdev(series)
    return f"mean {mean:.2f}, spread {spread:.2f}, median {statistics.median(series):.2f}"


def write_rows(chosen):
    text = "; ".join(describe_day(place, value) for place, value in chosen)
    return textwrap.fill(text, 60)


def make_page(station):
    series = smooth(series_of(station))
    return PAGE.substitute(name=station.name, summary=summary_of(series), rows=write_rows(choose(series)))


def make_pages(stations):
    return [make_page(station) for station in stations]


def main():
    stations = [read_table(number, make_table(number)) for number in range(STATIONS)]
    return "".join(make_pages(stations))


main()
