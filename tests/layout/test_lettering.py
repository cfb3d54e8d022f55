"""Texts: cleaned, shortened, set."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tracevis3d.layout.lettering import (
    ELLIPSIS,
    FEWEST,
    Glyph,
    Typeface,
    clean,
    set_texts,
    shorten,
    whole_phrase,
)


class Blocks(Typeface):
    """Every character is a block; capitals are wider."""

    def load(self, characters):
        def block(c: str) -> Glyph:
            w = 0.0 if c == " " else 0.9 if c.isupper() else 0.5
            outline = (
                np.array([[0, 0], [w, 0], [w, 1], [0, 1]], np.float32) if w else np.empty((0, 2), np.float32)
            )
            triangle = np.array([[0, 1, 2], [0, 2, 3]], np.int32) if w else np.empty((0, 3), np.int32)
            return Glyph(outline, triangle, w + 0.1 if w else 0.3)

        return {c: block(c) for c in characters}


FACE = Blocks()


@given(st.text(max_size=60))
def test_cleaned_texts_are_one_printable_line(text):
    made = clean(text)
    assert made.isprintable()
    assert made == made.strip()
    assert clean(made) == made


@given(st.text("ab;:,( )[]", max_size=40), st.integers(0, 40))
def test_what_a_sentence_is_shortened_to_ends_with_a_phrase_and_fits(text, room):
    made = whole_phrase(text, room, len)
    if len(text) <= room:
        assert made == text
    elif made:
        start = made.removesuffix(ELLIPSIS)
        assert room / 2 <= len(made) <= room
        assert text.startswith(start)
        assert text[len(start) :][:2] in ({"; "} if start == made else {", ", ": ", " ("})
        assert sum(map(start.count, "([")) <= sum(map(start.count, ")]"))


def test_what_cleaning_shows_and_strips():
    assert clean("a\n\tb\r\n c") == "a b c"
    assert clean("a\x00b\x07") == "a\ufffdb\ufffd"
    assert clean("a\u202eb\u200d") == "ab"  # what turns the writing direction
    assert clean("\ud800") == "\ufffd"
    assert len(clean("x" * 10_000_000)) == 400
    assert clean("std::vector<λ→日本>") == "std::vector<λ→日本>"


@given(st.text("abcXYZ. ", max_size=40).map(clean), st.floats(0, 30))
def test_shortened_texts_fit(text, room):
    made = shorten(text, room, FACE)
    assert FACE.width(made) <= room + 1e-4
    if FACE.width(text) <= room:
        assert made == text
    elif made:
        assert made.endswith(ELLIPSIS)
        assert text.startswith(made[:-1])


def test_too_little_room_leaves_a_text_out():
    assert shorten("abcdefgh", 0.6 * FEWEST, FACE) == ""
    assert shorten("abcdefgh", 0.6 * (FEWEST + 1) + 0.01, FACE) == "abcd" + ELLIPSIS
    assert shorten("x" * 100_000, 5.0, FACE).startswith("xxxx")


@given(st.lists(st.text("ab Z", max_size=8), max_size=6), st.integers(0, 100))
def test_set_texts_are_glyphs_one_after_the_other(texts, seed):
    rng = np.random.default_rng(seed)
    n = len(texts)
    start, size = rng.normal(size=(n, 3)), rng.uniform(0.5, 2, n)
    right, up = np.tile([1.0, 0, 0], (n, 1)), np.tile([0, 0, 1.0], (n, 1))
    made = set_texts(texts, start, right, up, size, FACE)
    at, slow = 0, []
    for i, text in enumerate(texts):
        pen = 0.0
        for c in text:
            glyph = FACE.glyph(c)
            for x, y in glyph.outline.tolist():
                slow.append(start[i] + np.array([(x + pen) * size[i], 0, y * size[i]]))
            pen += glyph.advance
        assert made.vertices[i] == len(slow) - at
        at = len(slow)
    assert np.allclose(made.position, np.array(slow).reshape(-1, 3), atol=1e-4)
    assert len(made.corner) == 3 * sum(len(FACE.glyph(c).triangle) for t in texts for c in t)
    if len(made.corner):
        assert made.corner.max() < len(made.position)
