"""Reads sheets of formulas, works out each cell from the cells it refers to, and prints them as tables."""

import random
import re

SHEETS = 5
ROWS, COLUMNS = 12, 6
TOKEN = re.compile(r"\s*(?:(\d+)|([A-Z]\d+)|(.))")


class Number:
    def __init__(self, value):
        self.value = value


class Reference:
    def __init__(self, name):
        self.name = name


class Operation:
    def __init__(self, sign, left, right):
        self.sign, self.left, self.right = sign, left, right


class Evaluator:
    def __init__(self, sheet):
        self.sheet = sheet

    def visit(self, node):
        return getattr(self, "visit_" + type(node).__name__.lower())(node)

    def visit_number(self, node):
        return node.value

    def visit_reference(self, node):
        return self.sheet.value(node.name)

    def visit_operation(self, node):
        return apply(node.sign, self.visit(node.left), self.visit(node.right))


class Sheet:
    def __init__(self, texts):
        self.texts, self.trees, self.values = texts, {}, {}
        self.widths = measure(texts)

    def tree(self, name):
        if name not in self.trees:
            self.trees[name] = parse(self.texts[name])
        return self.trees[name]

    def value(self, name):
        if name not in self.values:
            self.values[name] = Evaluator(self).visit(self.tree(name))
        return self.values[name]


def apply(sign, left, right):
    if sign == "+":
        return left + right
    return left - right if sign == "-" else left * right % 10_007


def tokens_of(text):
    return [match.group().strip() for match in TOKEN.finditer(text)]


def parse(text):
    tokens = tokens_of(text)
    node = parse_sum(tokens)
    check_rest(tokens)
    return node


def check_rest(tokens):
    if tokens:
        raise ValueError(tokens[0])


def parse_sum(tokens):
    node = parse_product(tokens)
    while tokens and tokens[0] in "+-":
        node = Operation(tokens.pop(0), node, parse_product(tokens))
    return node


def parse_product(tokens):
    node = parse_atom(tokens)
    while tokens and tokens[0] == "*":
        node = Operation(tokens.pop(0), node, parse_atom(tokens))
    return node


def parse_atom(tokens):
    token = tokens.pop(0)
    if token == "(":
        node = parse_sum(tokens)
        tokens.pop(0)
        return node
    return Number(int(token)) if token.isdigit() else Reference(token)


def name_of(row, column):
    return f"{'ABCDEFGH'[column]}{row}"


def make_texts(number):
    chance = random.Random(number)
    return {
        name_of(row, column): make_formula(chance, row, column)
        for row in range(ROWS)
        for column in range(COLUMNS)
    }


def make_formula(chance, row, column):
    if row == 0:
        return str(chance.randrange(100))
    above = name_of(row - 1, chance.randrange(COLUMNS))
    return f"({above} + {chance.randrange(9)}) * {name_of(row - 1, column)} - {chance.randrange(99)}"


def measure(texts):
    return {column: width_of(texts, column) for column in range(COLUMNS)}


def width_of(texts, column):
    return max(len(texts[name_of(row, column)]) for row in range(ROWS))


def show(sheet):
    lines = []
    for row in range(ROWS):
        lines.append(" ".join(show_cell(sheet, row, column) for column in range(COLUMNS)))
    return "\n".join(lines)


def show_cell(sheet, row, column):
    return pad(group_digits(sheet.value(name_of(row, column))), 12)


def group_digits(value):
    return f"{value:,}"


def pad(text, width):
    return text.rjust(width)


def sums_of(sheet):
    sums = []
    for row in range(ROWS):
        sums.append(sum_row(sheet, row))
    return sums


def sum_row(sheet, row):
    return sum(sheet.value(name_of(row, column)) for column in range(COLUMNS))


def work_out(number):
    sheet = Sheet(make_texts(number))
    return sums_of(sheet), show(sheet)


def main():
    return [work_out(number) for number in range(SHEETS)]


if __name__ == "__main__":
    main()
