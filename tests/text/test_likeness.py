from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from localrag.text.likeness import (
    LEAST_WORDS,
    band_keys,
    resemblance,
    same_words_key,
    weighty_words,
)

WORDS = [f"word{number}" for number in range(100)]


def changed(words: list[str], count: int, seed: int) -> list[str]:
    """Return the words with some of them replaced."""
    places = random.Random(seed).sample(range(len(words)), count)  # noqa: S311 - no secret
    return [f"other{seed}" if place in places else word for place, word in enumerate(words)]


def test_blanks_and_widths_make_no_other_text() -> None:
    assert same_words_key("Ｐｒｉｃｅ:\n 20") == same_words_key("Price: 20 ")
    assert same_words_key("Price: 20") != same_words_key("price: 20")
    assert same_words_key("\ud800") != same_words_key("x")


def test_a_short_text_has_no_bands() -> None:
    assert band_keys(WORDS[: LEAST_WORDS - 1]) == []
    assert len(band_keys(WORDS[:LEAST_WORDS])) == 6


def test_texts_that_are_almost_the_same_share_a_key() -> None:
    keys = set(band_keys(WORDS))
    found = 0
    for seed in range(100):
        other = changed(WORDS, 5, seed)
        assert resemblance(WORDS, other) == pytest.approx(0.82, abs=0.05)
        found += not keys.isdisjoint(band_keys(other))
    assert found >= 90


def test_texts_that_share_half_of_their_words_rarely_meet() -> None:
    keys = set(band_keys(WORDS))
    met = [not keys.isdisjoint(band_keys(changed(WORDS, 40, seed))) for seed in range(100)]
    assert sum(met) < 10


@given(st.lists(st.text()), st.lists(st.text()))
def test_resemblance_is_a_share_and_symmetric(one: list[str], other: list[str]) -> None:
    assert 0 <= resemblance(one, other) == resemblance(other, one) <= 1
    assert resemblance(one, one) == 1
    assert band_keys(one) == band_keys(list(one))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The price is 20 euros.", "The price is 21 euros."),
        ("The price is 20 €.", "The price is 20 $."),
        ("It fell by -3 degrees.", "It fell by 3 degrees."),
        ("Ask Miller about it.", "Ask Smith about it."),
        ("the file max_seq_len", "the file max_seq_size"),
        ("Keys may be copied.", "Keys may not be copied."),
        ("Keys can be copied.", "Keys can't be copied."),
        ("mit Gebühr", "ohne Gebühr"),
        ("KX-1234 is sold", "KX-2200 is sold"),
        ("- apples: cheap", "- pears: cheap"),
        ("apples | cheap", "pears | cheap"),
        ("# Alopecia areata", "# Alopecia totalis"),
        ("```\nfoo = bar\n```", "```\nfoo = baz\n```"),
        ("東京支店は休みです", "大阪支店は休みです"),
        ("送料は無料です", "送料は無料ではない"),
        ("US law", "us law"),
        ("x < 5", "x > 5"),
    ],
)
def test_a_figure_a_name_or_a_negation_makes_a_difference(one: str, other: str) -> None:
    assert weighty_words(one) != weighty_words(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The keys are kept in the drawer.", "The keys are stored in the drawer."),
        ("The price is 20 euros.", "This price was 20 euros"),
        ("Call Ann in May.", "Call  Ann,\nin May"),
        ("鍵を交換します", "鍵が交換しました"),
    ],
)
def test_wording_makes_none(one: str, other: str) -> None:
    assert weighty_words(one) == weighty_words(other)


def test_in_code_every_word_counts() -> None:
    assert weighty_words("foo = bar", every_word=True) != weighty_words(
        "foo = baz", every_word=True
    )
    assert weighty_words("foo bar") == weighty_words("foo baz")
