"""Runs tests of Roman numerals and of fractions with unittest."""

import io
import unittest
from fractions import Fraction

TESTS = 11
SIGNS = [
    (1000, "M"),
    (900, "CM"),
    (500, "D"),
    (400, "CD"),
    (100, "C"),
    (90, "XC"),
    (50, "L"),
    (40, "XL"),
    (10, "X"),
    (9, "IX"),
    (5, "V"),
    (4, "IV"),
    (1, "I"),
]


def write_roman(number):
    text = ""
    for value, sign in SIGNS:
        while number >= value:
            text += sign
            number -= value
    return text


def read_roman(text):
    total, last = 0, 0
    for sign in reversed(text):
        value = value_of(sign)
        total += value if value >= last else -value
        last = max(last, value)
    return total


def value_of(sign):
    return {"M": 1000, "D": 500, "C": 100, "L": 50, "X": 10, "V": 5, "I": 1}[sign]


def harmonic(n):
    total = Fraction(0)
    for i in range(1, n + 1):
        total += Fraction(1, i)
    return total


class Store:
    def __init__(self):
        self.rows = []

    def fill(self):
        for number in range(40):
            self.add(number)

    def add(self, number):
        self.rows.append((number, write_roman(number)))

    def empty(self):
        while self.rows:
            self.remove()

    def remove(self):
        self.rows.pop()


class Roman(unittest.TestCase):
    def setUp(self):
        self.store = Store()
        self.store.fill()

    def tearDown(self):
        self.store.empty()

    def there_and_back(self, first):
        for number in range(first, first + 40):
            assert read_roman(write_roman(number)) == number

    def sums(self, n):
        assert harmonic(n) - harmonic(n - 1) == Fraction(1, n)


def add_test(name, test):
    setattr(Roman, name, test)


for i in range(TESTS):
    if i % 2:
        add_test(f"test_{i:02}", lambda self, i=i: self.there_and_back(10 * i + 1))
    else:
        add_test(f"test_{i:02}", lambda self, i=i: self.sums(i + 10))


def main():
    suite = unittest.defaultTestLoader.loadTestsFromTestCase(Roman)
    result = unittest.TextTestRunner(stream=io.StringIO()).run(suite)
    assert result.wasSuccessful()


if __name__ == "__main__":
    main()
