"""Inflected words become their stem (Snowball), in the language that their script suggests.

Latin script counts as English. A guess by function words was measured and lost: a question is too
short to guess from, and a passage and its question that are stemmed in two languages miss each
other, while the English stemmer harms German or Spanish little (XQuAD nDCG@10 with the guess .920
de and .945 es, without it .925 and .954, without stems .915 and .951).
"""

from __future__ import annotations

import threading
from functools import lru_cache
from typing import Protocol, cast

__all__ = ["stem"]

_SHORTEST = 3

# The first code point of a block, and the language of its words.
_BLOCKS = (
    (0x0600, 0x077F, "arabic"),
    (0x0400, 0x052F, "russian"),
    (0x0370, 0x03FF, "greek"),
    (0x0000, 0x024F, "english"),
)


class _Stemmer(Protocol):
    def stemWord(self, word: str) -> str: ...  # noqa: N802 - the library's name


@lru_cache(maxsize=100_000)
def stem(word: str) -> str:
    """Return the stem of a folded word; a word with digits or of one or two letters stays."""
    language = _language(word)
    if len(word) < _SHORTEST or not word.isalpha() or not language:
        return word
    return _stemmer(language).stemWord(word) or word


def _language(word: str) -> str:
    letter = ord(word[0]) if word else -1
    return next((name for first, last, name in _BLOCKS if first <= letter <= last), "")


_OWN = threading.local()
"""A stemmer keeps the word that it works on in itself: each thread has its own."""


def _stemmer(language: str) -> _Stemmer:
    made: _Stemmer | None = getattr(_OWN, language, None)
    if made is None:
        # Imported late: the package loads some thirty algorithms.
        import snowballstemmer  # noqa: PLC0415

        made = cast("_Stemmer", snowballstemmer.stemmer(language))
        setattr(_OWN, language, made)
    return made
