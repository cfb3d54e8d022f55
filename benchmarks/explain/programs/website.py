"""Turns made-up articles into HTML pages, checks them, and makes an index of their words."""

import html
import random
import re
from html.parser import HTMLParser

ARTICLES = 12
WORDS = ["light", "heat", "sound", "wave", "field", "force", "mass", "charge", "time", "energy"]


def write_article(number):
    chance = random.Random(number)
    parts = [f"# Article {number}"]
    for _ in range(8):
        words = chance.choices(WORDS, k=30)
        words[3] = f"*{words[3]}*"
        words[9] = f"[{words[9]}](article{chance.randrange(6)})"
        words[15] = "a < b & c"
        parts.append(" ".join(words))
    parts.append("\n".join(f"- {word}" for word in chance.choices(WORDS, k=5)))
    return "\n\n".join(parts)


class Links:
    def __init__(self):
        self.known = {}

    def find_target(self, name):
        if name in self.known:
            return self.known[name]
        target = self.look_up(name)
        self.known[name] = target
        return target

    def look_up(self, name):
        return [self.shorten(name, n) for n in range(12)][-1]

    def shorten(self, name, n):
        return f"pages/{name[: n + 8]}.html"


def split_blocks(text):
    return [block for block in text.split("\n\n") if block.strip()]


def escape(text):
    return html.escape(text)


def write_inline(text, links):
    parts = []
    for word in text.split(" "):
        if word.startswith("*"):
            parts.append(write_emphasis(word))
        elif word.startswith("["):
            parts.append(write_link(word, links))
        else:
            parts.append(escape(word))
    return " ".join(parts)


def write_emphasis(word):
    return f"<em>{escape(word.strip('*'))}</em>"


def write_link(word, links):
    label, target = re.match(r"\[(.*)\]\((.*)\)", word).groups()
    return f'<a href="{links.find_target(target)}">{escape(label)}</a>'


def write_block(block, links):
    if block.startswith("# "):
        return f"<h1>{write_inline(block[2:], links)}</h1>"
    if block.startswith("- "):
        return write_list(block, links)
    return f"<p>{write_inline(block, links)}</p>"


def write_list(block, links):
    items = [f"<li>{write_inline(line[2:], links)}</li>" for line in block.splitlines()]
    return "<ul>" + "".join(items) + "</ul>"


class Checker(HTMLParser):
    def __init__(self):
        super().__init__()
        self.open = []
        self.words = []

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words += data.split()


def check(page):
    checker = Checker()
    checker.feed(page)
    checker.close()
    assert not checker.open
    return checker.words


def make_page(number, links):
    text = normalize(write_article(number))
    blocks = split_blocks(text)
    return "\n".join(write_block(block, links) for block in blocks)


def normalize(text):
    return "\n".join(clean_line(line) for line in text.splitlines())


def clean_line(line):
    return " ".join(word for word in line.split(" ") if word)


def make_index(pages):
    index = {}
    for name, words in pages.items():
        for word in words:
            add_word(index, word, name)
    return sort_index(index)


def add_word(index, word, name):
    index.setdefault(word.lower(), set()).add(name)


def sort_index(index):
    return [(word, sorted(index[word])) for word in sorted(index)]


def make_feed(pages):
    return [write_entry(name, words) for name, words in pages.items()]


def write_entry(name, words):
    return f"<entry>{escape(name)}: {escape(' '.join(words[:40]))}</entry>"


def main():
    links = Links()
    pages = {}
    for number in range(ARTICLES):
        page = make_page(number, links)
        pages[f"article{number}"] = check(page)
    index = make_index(pages)
    feed = make_feed(pages)
    return index, feed


if __name__ == "__main__":
    main()
