"""Parses, checks, simplifies and runs scripts of a small language."""

import random
import re

SCRIPTS = 10
TOKEN = re.compile(r"\s*(?:(\d+)|([a-z]\w*)|(.))")


def write_script(number):
    chance = random.Random(number)
    names = [f"v{n}" for n in range(8)]
    lines = [f"{name} = {n + 1}" for n, name in enumerate(names)]
    for _ in range(25):
        a, b, c = chance.choices(names, k=3)
        lines.append(
            f"{c} = ({a} + {chance.randrange(9)}) * {b} - {a} * (1 + {chance.randrange(5)}) + twice({b})"
        )
    return "\n".join(lines)


class Tokens:
    def __init__(self, line):
        self.items = [self.word(found) for found in TOKEN.finditer(line)]
        self.place = 0

    def word(self, found):
        return found.group(found.lastindex)

    def peek(self):
        return self.items[self.place] if self.place < len(self.items) else ""

    def take(self):
        self.place += 1
        return self.items[self.place - 1]


def parse_script(text):
    return [parse_line(line) for line in text.splitlines()]


def parse_line(line):
    tokens = Tokens(line)
    name = tokens.take()
    tokens.take()
    return name, parse_sum(tokens)


def parse_sum(tokens):
    left = parse_product(tokens)
    while tokens.peek() in ("+", "-"):
        left = (tokens.take(), left, parse_product(tokens))
    return left


def parse_product(tokens):
    left = parse_atom(tokens)
    while tokens.peek() == "*":
        left = (tokens.take(), left, parse_atom(tokens))
    return left


def parse_atom(tokens):
    word = tokens.take()
    if word == "(":
        inner = parse_sum(tokens)
        tokens.take()
        return inner
    if word.isdigit():
        return int(word)
    if tokens.peek() == "(":
        tokens.take()
        argument = parse_sum(tokens)
        tokens.take()
        return ("call", word, argument)
    return word


def check_names(lines):
    known = set()
    for name, tree in lines:
        check_tree(tree, known)
        known.add(name)


def check_tree(tree, known):
    if isinstance(tree, str):
        assert tree in known
    elif isinstance(tree, tuple) and tree[0] == "call":
        check_tree(tree[2], known)
    elif isinstance(tree, tuple):
        check_tree(tree[1], known)
        check_tree(tree[2], known)


def simplify(lines):
    return [(name, fold(tree)) for name, tree in lines]


def fold(tree):
    if not isinstance(tree, tuple) or tree[0] == "call":
        return tree
    left, right = fold(tree[1]), fold(tree[2])
    if isinstance(left, int) and isinstance(right, int):
        return apply(tree[0], left, right)
    return (tree[0], left, right)


def apply(sign, left, right):
    return (left + right if sign == "+" else left - right if sign == "-" else left * right) % 1000003


class Machine:
    def __init__(self):
        self.names = {}
        self.doubles = {}

    def run(self, lines):
        for name, tree in lines:
            self.store(name, self.evaluate(tree))
        return self.names

    def store(self, name, value):
        self.names[name] = value

    def load(self, name):
        return self.names[name]

    def evaluate(self, tree):
        if isinstance(tree, int):
            return tree
        if isinstance(tree, str):
            return self.load(tree)
        if tree[0] == "call":
            return self.double(self.evaluate(tree[2]))
        return apply(tree[0], self.evaluate(tree[1]), self.evaluate(tree[2]))

    def double(self, value):
        return 2 * value % 1000003


def run_script(text):
    lines = parse_script(text)
    check_names(lines)
    lines = simplify(lines)
    return Machine().run(lines)


def describe(names):
    return ", ".join(write_value(name, names[name]) for name in sorted(names))


def write_value(name, value):
    return f"{name} = {value:,}"


def main():
    return [describe(run_script(write_script(number))) for number in range(SCRIPTS)]


if __name__ == "__main__":
    main()
