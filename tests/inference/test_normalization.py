"""The normaliser against the library whose normalisation it repeats."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers

from localrag.inference.normalization import Normalizer

if TYPE_CHECKING:
    from collections.abc import Sequence

DELETED = "[\x00-\x08\x0b\x0e-\x1f\x7f\x8f\x9f]"
BLANK = "[\u200b-\u200f\u2581\ufeff\ufffd]"
KEPT, STAND_IN = "\uff5e", "\U000f0000"
# What of the characters below NFKC changes, reorders, or composes with the one before.
CHANGING = (
    "[\u00a8-\u00b4\u0300-\u0345\u0591-\u05c7\u09be\u0958\u1161-\u11ff\ufb01\ufdfa\uff01-\uff9f]"
)
CHARACTERS = (
    "ae\u00e9 \u00a8\u00b4\u0301\u0323\u0344\u0345\u05b0\u05c1\u09c7\u09be\u0958\u1100\u1161\u11a8"
    "\uac00\ufb01\ufdfa\uff21\uff76\uff9e\uff5e\u3042\U000f0000\u200b\ufffd\x00\x1f\n本"
)
NEWER = "\u32ff"
"""The library's version of Unicode does not know it: NFKC leaves it as it is there."""


@pytest.fixture(scope="module")
def normalizer() -> Normalizer:
    return Normalizer(
        {
            "deleted": DELETED,
            "blank": BLANK,
            "kept": KEPT,
            "stand_in": STAND_IN,
            "changing": CHANGING,
        }
    )


def library() -> Tokenizer:
    """Return a tokenizer with the same normalisation and a token for every character."""
    tokenizer = Tokenizer(models.WordLevel({"?": 0}, unk_token="?"))  # noqa: S106 - a word
    tokenizer.normalizer = normalizers.Sequence(
        [
            normalizers.Replace(Regex(DELETED), ""),
            normalizers.Replace(Regex(BLANK), " "),
            normalizers.Replace(KEPT, STAND_IN),
            normalizers.NFKC(),
            normalizers.Replace(STAND_IN, KEPT),
        ]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex(r"[\s\S]"), "isolated")
    return tokenizer


LIBRARY = library()


def reference(text: str) -> tuple[str, list[int]]:
    """Return the normalised text, and the place in `text` of each of its characters."""
    encoding = LIBRARY.encode(text)
    return LIBRARY.normalizer.normalize_str(text), [start for start, _ in encoding.offsets]


@given(st.text(st.sampled_from(CHARACTERS), max_size=12))
def test_text_and_places_are_the_librarys(normalizer: Normalizer, text: str) -> None:
    normalised, places = reference(text)
    assert normalizer.text(text) == normalised
    assert list(normalizer.origins(text)) == places


@pytest.mark.parametrize(
    ("text", "normalised", "places"),
    [
        ("plain", "plain", [0, 1, 2, 3, 4]),
        ("a\x00b\ufeffc", "ab c", [0, 2, 3, 4]),
        ("e\u0301x", "\u00e9x", [0, 2]),
        ("\ufb01x", "fix", [0, 0, 1]),
        ("\uff5e\uff01", "\uff5e!", [0, 1]),
        ("\uff76\uff9e本", "\u30ac本", [0, 2]),
        ("\x01\uff21", "A", [1]),
    ],
)
def test_examples(
    normalizer: Normalizer, text: str, normalised: str, places: Sequence[int]
) -> None:
    assert normalizer.text(text) == normalised
    assert list(normalizer.origins(text)) == places
    assert reference(text) == (normalised, list(places))


@pytest.mark.parametrize("text", [NEWER, f"a{NEWER}\u0301", f"{NEWER}\uff21"])
def test_characters_that_the_library_does_not_know_stay(normalizer: Normalizer, text: str) -> None:
    normalised, places = reference(text)
    assert NEWER in normalised
    assert normalizer.text(text) == normalised
    assert list(normalizer.origins(text)) == places


def test_every_character_under_test_is_covered() -> None:
    changed = {one for one in CHARACTERS if reference(one)[0] != one} - set(STAND_IN)
    assert all(re.match(f"{CHANGING}|{DELETED}|{BLANK}", one) for one in changed)
