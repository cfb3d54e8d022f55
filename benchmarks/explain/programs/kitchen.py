"""Reads recipes as text, works out amounts for more people, lists what is to be bought, and files it all."""

import json
import re

RECIPES = 30
UNITS = {"g": 1.0, "kg": 1000.0, "ml": 1.0, "l": 1000.0, "spoon": 15.0, "cup": 240.0, "pinch": 0.4}
GOODS = [
    "flour",
    "sugar",
    "butter",
    "milk",
    "salt",
    "rice",
    "oil",
    "honey",
    "oats",
    "cream",
    "beans",
    "stock",
]


class Shelf:
    def __init__(self):
        self.filed, self.opened = {}, 0

    def open(self):
        self.opened += 1
        return self.filed

    def write(self, name, text):
        self.open()[name] = text

    def write_all(self, texts):
        self.open().update(texts)


class Recipe:
    def __init__(self, name, people, parts, steps):
        self.name, self.people, self.parts, self.steps = name, people, parts, steps

    def amount(self, goods):
        return sum(part[0] for part in self.parts if part[1] == goods)


def make_text(number):
    lines = [f"Recipe {number}", f"for {2 + number % 4}"]
    for n in range(4 + number % 5):
        unit = list(UNITS)[(number + n) % len(UNITS)]
        lines.append(f"- {1 + (number * n) % 9} {unit} {GOODS[(number + 3 * n) % len(GOODS)]}")
    lines += [
        f"{n}. Stir the {GOODS[(number + n) % len(GOODS)]} and wait {n + 2} minutes." for n in range(1, 5)
    ]
    return "\n".join(lines)


def read_recipe(text):
    name, people, *rest = text.splitlines()
    parts = [read_part(line) for line in rest if line.startswith("- ")]
    steps = [read_step(line) for line in rest if not line.startswith("- ")]
    recipe = Recipe(name, int(people.split()[1]), parts, steps)
    check_recipe(recipe)
    return recipe


def read_part(line):
    amount, unit, goods = line[2:].split(" ", 2)
    return to_grams(float(amount), unit), goods


def read_step(line):
    found = re.match(r"(\d+)\. (.*)", line)
    return int(found[1]), found[2]


def to_grams(amount, unit):
    return amount * UNITS[unit]


def check_recipe(recipe):
    for amount, goods in recipe.parts:
        check_part(amount, goods)


def check_part(amount, goods):
    if amount <= 0 or goods not in GOODS:
        raise ValueError(goods)


def scale(recipe, people):
    parts = [scale_part(part, people / recipe.people) for part in recipe.parts]
    return Recipe(recipe.name, people, parts, recipe.steps)


def scale_part(part, factor):
    return round_amount(part[0] * factor), part[1]


def round_amount(amount):
    return round(amount / 5) * 5 if amount > 20 else round(amount, 1)


def shopping(recipes):
    return {goods: total(recipes, goods) for goods in GOODS}


def total(recipes, goods):
    return sum(recipe.amount(goods) for recipe in recipes)


def time_of(recipe):
    return sum(minutes_of(step) for step in recipe.steps)


def minutes_of(step):
    return int(re.search(r"(\d+) minutes", step[1])[1])


def write_recipe(recipe):
    return json.dumps({"name": recipe.name, "parts": recipe.parts, "minutes": time_of(recipe)})


def write_list(bought):
    return "\n".join(write_item(goods, amount) for goods, amount in sorted(bought.items()))


def write_item(goods, amount):
    return f"{goods:<10} {amount / 1000:6.2f} kg"


def main():
    recipes = [scale(read_recipe(make_text(n)), 12) for n in range(RECIPES)]
    shelf = Shelf()
    listed = write_list(shopping(recipes))
    shelf.write_all({recipe.name: write_recipe(recipe) for recipe in recipes})
    shelf.write("list", listed)
    return shelf


if __name__ == "__main__":
    main()
