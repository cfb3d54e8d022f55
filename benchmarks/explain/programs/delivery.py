"""Loads parcels into vans, bikes and trucks, plans their rounds through a made-up town, and writes bills."""

import random
from contextlib import contextmanager

PARCELS = 160
DAYS = 4
STREETS = 30


class Parcel:
    def __init__(self, number, weight, place):
        self.number, self.weight, self.place = number, weight, place

    def volume(self):
        return self.weight * 3 + self.number % 4


class Vehicle:
    room, speed = 60, 10

    def __init__(self, name):
        self.name, self.parcels = name, []

    def takes(self, parcel):
        return self.load() + parcel.volume() <= self.room

    def load(self):
        return sum(parcel.volume() for parcel in self.parcels)

    def add(self, parcel):
        self.parcels.append(parcel)

    def time_of(self, way):
        return sum(distance(*leg) for leg in legs_of(way)) / self.speed + self.stops(way)

    def stops(self, way):
        return 2 * len(way)


class Bike(Vehicle):
    room, speed = 20, 15


class Van(Vehicle):
    room, speed = 90, 30


class Truck(Vehicle):
    room, speed = 200, 20

    def stops(self, way):
        return 5 * len(way)


def distance(one, other):
    return abs(one[0] - other[0]) + abs(one[1] - other[1])


def legs_of(way):
    return list(zip([(0, 0), *way], [*way, (0, 0)]))


def length_of(way):
    return sum(distance(*leg) for leg in legs_of(way))


def make_parcels(day):
    chance = random.Random(day)
    return [
        Parcel(number, chance.randrange(1, 5), (chance.randrange(STREETS), chance.randrange(STREETS)))
        for number in range(PARCELS // DAYS)
    ]


def make_fleet():
    return [Bike("red"), Bike("blue"), Van("one"), Van("two"), Truck("big")]


def load_all(fleet, parcels):
    left = []
    for parcel in parcels:
        choose_vehicle(fleet, parcel, left)
    return left


def choose_vehicle(fleet, parcel, left):
    for vehicle in fleet:
        if vehicle.takes(parcel):
            vehicle.add(parcel)
            return
    left.append(parcel)


def nearest(place, places):
    return min(places, key=lambda other: distance(place, other))


def plan_round(vehicle):
    places, way, here = {parcel.place for parcel in vehicle.parcels}, [], (0, 0)
    while places:
        here = nearest(here, sorted(places))
        places.remove(here)
        way.append(here)
    return improve(way)


def improve(way):
    for first in range(0, len(way) - 2, 2):
        turned = way[:first] + way[first : first + 3][::-1] + way[first + 3 :]
        if length_of(turned) < length_of(way):
            way = turned
    return way


@contextmanager
def ledger_of(book, day):
    page = book.setdefault(day, [])
    yield page
    page.sort()


def price_of(parcel):
    return 3 + parcel.weight * 2 + toll(parcel.place)


def toll(place):
    return 1 if place[0] > STREETS // 2 else 0


def write_bills(book, day, fleet):
    with ledger_of(book, day) as page:
        for vehicle in fleet:
            for parcel in vehicle.parcels:
                page.append((parcel.number, price_of(parcel)))


def report(book):
    return "\n".join(format_line(day, page) for day, page in sorted(book.items()))


def format_line(day, page):
    return f"day {day}: {len(page)} parcels, {sum(price for _, price in page)}"


def run_day(day, book):
    fleet = make_fleet()
    load_all(fleet, make_parcels(day))
    times = [vehicle.time_of(plan_round(vehicle)) for vehicle in fleet]
    write_bills(book, day, fleet)
    return max(times)


def main():
    book = {}
    times = [run_day(day, book) for day in range(DAYS)]
    return times, report(book)


if __name__ == "__main__":
    main()
