"""Makes letters with attachments, writes them as text, reads them again, and sorts them into folders."""

import email
import email.policy
import random
import re
from email.message import EmailMessage

LETTERS = 14
FOLDERS = {"bills": r"\b(bill|sum|pay)\b", "friends": r"\b(party|dinner)\b", "lists": r"\b(vote|patch)\b"}
WORDS = ["bill", "sum", "pay", "party", "dinner", "vote", "patch", "green", "blue", "stone", "house"]


def make_letter(number):
    chance = random.Random(number)
    letter = EmailMessage()
    letter["Subject"] = f"Letter {number}: " + " ".join(chance.choices(WORDS, k=4)) + " \u00e9t\u00e9"
    letter["From"] = f"person{number % 5}@example.org"
    letter["To"] = "reader@example.org"
    letter.set_content("\n".join(" ".join(chance.choices(WORDS, k=10)) for _ in range(30)))
    letter.add_attachment(bytes(chance.randrange(256) for _ in range(400)), maintype="image", subtype="png")
    return letter


def send(letter):
    return letter.as_string()


def receive(text):
    return email.message_from_string(text, policy=email.policy.default)


def read_body(letter):
    return letter.get_body(("plain",)).get_content()


def read_sender(letter):
    return str(letter["From"])


def find_folder(text):
    for name, pattern in FOLDERS.items():
        if matches(pattern, text):
            return name
    return "rest"


def matches(pattern, text):
    return len(re.findall(pattern, text)) > 12


def summarize(letter, body):
    return [shorten(line) for line in body.splitlines()]


def shorten(line):
    return " ".join(line.split()[:4])


def file_letter(folders, letter, body):
    folders.setdefault(find_folder(body), []).append(letter)


def count_words(body):
    counts = {}
    for line in body.splitlines():
        for word in split_line(line):
            counts[word] = counts.get(word, 0) + 1
    return counts


def split_line(line):
    return [word for word in line.split(" ") if word]


def handle(text, folders):
    letter = receive(text)
    body = read_body(letter)
    file_letter(folders, letter, body)
    return read_sender(letter), summarize(letter, body), count_words(body)


def main():
    texts = [send(make_letter(number)) for number in range(LETTERS)]
    folders = {}
    results = [handle(text, folders) for text in texts]
    return folders, results


if __name__ == "__main__":
    main()
