"""Reads a server's log by a configuration file, counts by user and by page, and sends daily reports."""

import configparser
import json
import re
import string
import tempfile
from pathlib import Path

DAYS, LINES = 6, 260
SETTINGS = """
[read]
pattern = ^(?P<hour>\\d+):(?P<minute>\\d+) (?P<user>\\w+) (?P<page>\\S+) (?P<status>\\d+) (?P<size>\\d+)$
[report]
title = Day $day
least = 3
"""
USERS = ["anna", "ben", "carla", "dora", "emil", "frida", "gustav"]
PAGES = ["/", "/news", "/shop/cart", "/shop/pay", "/help", "/news/12", "/news/13", "/img/logo"]


class Refused(Exception):
    pass


class Post:
    def __init__(self, folder):
        self.folder, self.sent = folder, 0

    def connect(self, day):
        return {"day": day, "open": True}

    def send(self, day, text):
        line = self.connect(day)
        self.sent += len(text)
        return line


def read_settings(path):
    found = configparser.ConfigParser(interpolation=None)
    found.read(path)
    return found


def make_line(day, number):
    mixed = (number * 7919 + day * 104729) % 10007
    hour, minute = divmod(number * 1440 // LINES, 60)
    user, page = USERS[mixed % len(USERS)], PAGES[mixed // 7 % len(PAGES)]
    if mixed % 41 == 0:
        return f"{hour:02}:{minute:02} {user} broken"
    status = 404 if mixed % 29 == 0 else 200
    return f"{hour:02}:{minute:02} {user} {page} {status} {mixed}"


def write_log(folder, day):
    path = folder / f"day{day}.log"
    path.write_text("\n".join(make_line(day, number) for number in range(LINES)))
    return path


def parse_line(pattern, line):
    found = pattern.match(line)
    return found.groupdict() if found else None


def section_of(page):
    parts = [part for part in page.split("/") if part]
    for part in parts:
        if part in ("news", "shop", "help"):
            return part
    return "other"


def add_entry(table, key, entry):
    row = table.setdefault(key, {"count": 0, "size": 0, "lost": 0})
    row["count"] += 1
    row["size"] += int(entry["size"])
    row["lost"] += entry["status"] == "404"


def read_entries(settings, path):
    pattern = re.compile(settings["read"]["pattern"])
    entries = []
    for line in path.read_text().splitlines():
        entry = parse_line(pattern, line)
        if entry is not None:
            entries.append(entry)
    return entries


def count(entries):
    users, sections = {}, {}
    for entry in entries:
        add_entry(users, entry["user"], entry)
        add_entry(sections, section_of(entry["page"]), entry)
    return users, sections


def make_report(settings, day, users, sections):
    least = int(settings["report"]["least"])
    title = string.Template(settings["report"]["title"]).substitute(day=day)
    kept = {user: row for user, row in sorted(users.items()) if row["count"] >= least}
    return json.dumps({"title": title, "users": kept, "sections": sections}, indent=1)


def deliver(post, day, text):
    return post.send(day, text)


def main():
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        (folder / "settings.ini").write_text(SETTINGS)
        settings = read_settings(folder / "settings.ini")
        post = Post(folder)
        for day in range(DAYS):
            entries = read_entries(settings, write_log(folder, day))
            users, sections = count(entries)
            deliver(post, day, make_report(settings, day, users, sections))
    return post.sent


main()
