"""Visits pages of a made-up web with asyncio, finds links and words in them, and keeps these in SQLite."""

import asyncio
import random
import sqlite3
from html.parser import HTMLParser

SITES = 6
PAGES = 7
BATCH = 40
WORDS = ["stone", "river", "cloud", "light", "paper", "green", "north", "field", "house", "water"]


class LinkParser(HTMLParser):
    def __init__(self):
        super().__init__()
        self.links, self.words = [], []

    def handle_starttag(self, tag, attrs):
        if tag == "a":
            self.links += [value for name, value in attrs if name == "href"]

    def handle_data(self, data):
        self.words += split_words(data)


class Store:
    def __init__(self):
        self.base = sqlite3.connect(":memory:")
        self.base.execute("create table words (site, word, number)")
        self.waiting = []

    def add(self, site, word, number):
        self.waiting.append((site, word, number))
        if len(self.waiting) >= BATCH:
            self.flush()

    def flush(self):
        rows = prepare(self.waiting)
        self.base.executemany("insert into words values (?, ?, ?)", rows)
        self.waiting = []

    def totals(self):
        return self.base.execute("select word, sum(number) from words group by word").fetchall()


def prepare(rows):
    return sorted(set(rows))


def split_words(text):
    return [word.strip(".,").lower() for word in text.split() if is_word(word)]


def is_word(word):
    return len(word) > 2


def make_page(site, page):
    chance = random.Random(site * 100 + page)
    links = "".join(f'<a href="/{site}/{(page * 2 + step) % PAGES}">next</a>' for step in (1, 2))
    return f"<p>{' '.join(chance.choices(WORDS, k=60))}</p>{links}"


async def answer(site, page):
    await asyncio.sleep(0)
    return make_page(site, page)


async def fetch(site, page):
    text = await answer(site, page)
    check_answer(text)
    return text


def check_answer(text):
    if not text.startswith("<p>"):
        raise ValueError(text)


def parse(text):
    parser = LinkParser()
    parser.feed(text)
    parser.close()
    return parser.links, parser.words


def number_in(link):
    return int(link.rsplit("/", 1)[1])


def count(words):
    counts = {}
    for word in words:
        counts[word] = counts.get(word, 0) + 1
    return counts


def keep(store, site, words):
    for word, number in sorted(count(words).items()):
        store.add(site, word, number)


async def visit_site(store, site):
    seen, left = set(), [0]
    while left:
        page = left.pop()
        if page in seen:
            continue
        seen.add(page)
        links, words = parse(await fetch(site, page))
        keep(store, site, words)
        left += [number_in(link) for link in links]
    return len(seen)


async def visit_all(store):
    return await asyncio.gather(*(visit_site(store, site) for site in range(SITES)))


def write_report(store):
    return "\n".join(line_of(word, number) for word, number in store.totals())


def line_of(word, number):
    return f"{word:10} {number}"


def main():
    store = Store()
    visited = asyncio.run(visit_all(store))
    store.flush()
    return visited, write_report(store)


if __name__ == "__main__":
    main()
