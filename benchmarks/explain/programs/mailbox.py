"""Writes letters, reads them again, sorts them into folders, and makes threads and a digest."""

import email.message
import email.parser
import email.policy
import email.utils

LETTERS = 36
PEOPLE = [
    "Anna Berg <anna@hill.example>",
    "Ben <ben@sea.example>",
    '"Carla, B." <carla@sea.example>',
    "dora@wood.example",
]
RULES = [("bill", "money"), ("meeting", "work"), ("photo", "family")]
TOPICS = ["The bill for May", "Meeting on Monday", "A photo of us", "Nothing special", "Bill again"]


class Box:
    def __init__(self):
        self.folders, self.known = {}, {}

    def file(self, folder, letter):
        self.folders.setdefault(folder, []).append(letter)

    def address(self, text):
        if text not in self.known:
            self.known[text] = read_address(text)
        return self.known[text]


def read_address(text):
    name, place = email.utils.parseaddr(text)
    return name or place.partition("@")[0], place


def make_body(number):
    lines = [f"Line {n} of letter {number}: {'word ' * (n % 7)}" for n in range(6 + number % 9)]
    return "\n".join(lines) + "\n"


def sign(letter):
    text = letter.get_payload()
    letter["X-Sign"] = f"{checksum(text):08x}"


def checksum(text):
    total = 0
    for line in text.splitlines():
        total = add_line(total, line)
    return total


def add_line(total, line):
    return (total * 31 + sum(line.encode())) % 2**32


def compose(number):
    letter = email.message.Message()
    letter["From"] = PEOPLE[number % len(PEOPLE)]
    letter["To"] = PEOPLE[(number + 1) % len(PEOPLE)]
    letter["Subject"] = ("Re: " if number % 5 > 2 else "") + TOPICS[number % len(TOPICS)]
    letter["Message-ID"] = f"<{number}@hill.example>"
    letter.set_payload(make_body(number))
    sign(letter)
    return letter


def send(letter):
    return letter.as_string()


def receive(text):
    return email.parser.Parser(policy=email.policy.compat32).parsestr(text)


def count_words(letter):
    return sum(len(line.split()) for line in letter.get_payload().splitlines())


def folder_of(letter):
    subject = letter["Subject"].lower()
    for word, folder in RULES:
        if word in subject:
            return folder
    return "other"


def thread_of(letter):
    return letter["Subject"].removeprefix("Re: ").lower()


def sort_letters(box, letters):
    for letter in letters:
        box.file(folder_of(letter), letter)


def make_threads(box, letters):
    threads = {}
    for letter in letters:
        sender, receiver = box.address(letter["From"]), box.address(letter["To"])
        threads.setdefault(thread_of(letter), []).append((sender, receiver, count_words(letter)))
    return threads


def digest(threads):
    rows = []
    for name, entries in sorted(threads.items()):
        rows.append(write_row(name, entries))
    return "\n".join(rows)


def write_row(name, entries):
    people = sorted({person for sender, receiver, _ in entries for person, _ in (sender, receiver)})
    return f"{name}: {len(entries)} letters, {sum(words for *_, words in entries)} words, {', '.join(people)}"


def main():
    box = Box()
    letters = [receive(send(compose(number))) for number in range(LETTERS)]
    sort_letters(box, letters)
    return digest(make_threads(box, letters))


main()
