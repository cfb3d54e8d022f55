"""Looks for words that are spelled alike, and for words made of the same letters, among made-up ones."""

from collections import Counter

WORDS = 260
STARTS = ["ba", "ko", "mir", "ta", "lu", "sen", "dor", "fi"]
ENDS = ["lan", "ter", "mo", "rik", "sa", "nel", "dus"]


class Shelf:
    def __init__(self):
        self.words, self.groups = [], {}

    def put(self, word):
        self.words.append(word)

    def group(self, key, word):
        self.groups.setdefault(key, []).append(word)


def make_word(number):
    mixed = number * 6151 % 3571
    middle = chr(97 + mixed % 26) if mixed % 3 else ""
    return STARTS[mixed % len(STARTS)] + middle + ENDS[mixed // 8 % len(ENDS)]


def read_words():
    words = []
    for number in range(WORDS):
        words.append(clean(make_word(number)))
    return words


def clean(word):
    return word.strip().lower()


def letters_of(word):
    return "".join(sorted(word))


def distance(one, other):
    before = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        now = [i]
        for j, b in enumerate(other, 1):
            now.append(min(before[j] + 1, now[-1] + 1, before[j - 1] + (a != b)))
        before = now
    return before[-1]


def near(words):
    found = []
    ordered = sorted(set(words))
    for place, word in enumerate(ordered):
        for other in ordered[place + 1 : place + 6]:
            if distance(word, other) == 1:
                found.append((word, other))
    return found


def group_words(shelf, words):
    for word in words:
        shelf.put(word)
        shelf.group(letters_of(word), word)


def weigh(word):
    counted = Counter(word)
    return sum(n * n for n in counted.values())


def weigh_all(words):
    total = 0
    for word in words:
        total += weigh(word)
    return total


def describe(shelf, pairs, weight):
    lines = [f"{len(shelf.words)} words, {len(shelf.groups)} groups, weight {weight}"]
    for key in sorted(shelf.groups):
        lines.append(describe_group(key, shelf.groups[key]))
    lines += [f"{one} {other}" for one, other in pairs]
    return "\n".join(lines)


def describe_group(key, words):
    return f"{key}: {', '.join(sorted(set(words)))}"


def main():
    shelf, words = Shelf(), read_words()
    group_words(shelf, words)
    pairs = near(words)
    weight = weigh_all(words)
    return describe(shelf, pairs, weight)


for _ in range(3):
    main()
