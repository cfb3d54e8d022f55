"""Reads orders from JSON by the decoder in Python, prices and sorts them, and prints a report."""

import json
import json.decoder
import json.scanner
import random

ORDERS = 150
GOODS = [f"item {n}" for n in range(25)]


def write_orders():
    chance = random.Random(1)
    orders = []
    for number in range(ORDERS):
        lines = [{"goods": chance.choice(GOODS), "count": chance.randrange(1, 9)} for _ in range(4)]
        orders.append({"number": number, "customer": f"customer {chance.randrange(30)}", "lines": lines})
    return json.dumps(orders)


class Decoder(json.JSONDecoder):
    def __init__(self):
        super().__init__()
        self.parse_string = json.decoder.py_scanstring
        self.scan_once = json.scanner.py_make_scanner(self)


class Prices:
    def __init__(self):
        self.known = {}

    def find(self, goods):
        price = self.known.get(goods)
        if price is None:
            price = self.known[goods] = self.work_out(goods)
        return price

    def work_out(self, goods):
        price = 0
        for part in split_name(goods):
            price += weigh(part)
        return price % 97 + 3


def split_name(goods):
    return list(goods)


def weigh(part):
    return sum(ord(part) * n % 7 for n in range(20))


def read(text):
    return Decoder().decode(text)


def check_order(order):
    return all(check_line(line) for line in order["lines"])


def check_line(line):
    return line["goods"] in GOODS and line["count"] > 0


def price_order(order, prices):
    order["sum"] = sum(price_line(line, prices) for line in order["lines"])


def price_line(line, prices):
    return prices.find(line["goods"]) * line["count"]


def goes_before(left, right):
    return (left["sum"], left["number"]) < (right["sum"], right["number"])


def sort_orders(orders):
    if len(orders) < 2:
        return orders
    middle = len(orders) // 2
    return merge(sort_orders(orders[:middle]), sort_orders(orders[middle:]))


def merge(left, right):
    result = []
    i = j = 0
    while i < len(left) and j < len(right):
        if goes_before(left[i], right[j]):
            result.append(left[i])
            i += 1
        else:
            result.append(right[j])
            j += 1
    return result + left[i:] + right[j:]


def group(orders):
    groups = {}
    for order in orders:
        add_to_group(groups, order)
    return groups


def add_to_group(groups, order):
    groups.setdefault(order["customer"], []).append(order)


def write_report(groups):
    lines = []
    for customer in sorted(groups):
        lines.append(write_heading(customer, groups[customer]))
        lines += [write_line(order) for order in groups[customer]]
    return "\n".join(lines)


def write_heading(customer, orders):
    return f"{customer:<20} {sum(order['sum'] for order in orders):>10,}"


def write_line(order):
    return f"  {order['number']:>6}  {pad(order['sum'])}"


def pad(value):
    return f"{value:>12,}"


def audit(orders):
    return [digest(order) for order in orders]


def digest(order):
    total = 7
    for character in order["customer"] * 40:
        total = (total * 31 + ord(character)) % 65521
    return total


def main():
    orders = read(write_orders())
    orders = [order for order in orders if check_order(order)]
    prices = Prices()
    for order in orders:
        price_order(order, prices)
    orders = sort_orders(orders)
    marks = audit(orders)
    groups = group(orders)
    return write_report(groups), marks


if __name__ == "__main__":
    main()
