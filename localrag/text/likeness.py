# ruff: noqa: RUF001 - characters of many scripts are the subject
"""How alike two texts are, and what may not differ between texts that say the same.

Texts that are almost the same are found without comparing each with each: MinHash (Broder, On the
resemblance and containment of documents, 1997) in bands (Leskovec, Rajaraman, Ullman, Mining of
Massive Datasets, chapter 3). Of pairs with a resemblance of .8, 96 % share one of the `BANDS` keys;
at .9 it is all but one in 600.
"""

from __future__ import annotations

import re
from hashlib import blake2b
from itertools import pairwise
from typing import TYPE_CHECKING, Final
from zlib import crc32

import numpy as np

from localrag.text.folding import fold_word, normalise
from localrag.text.scripts import HIRAGANA
from localrag.text.stop_words import STOP_WORDS

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["LEAST_WORDS", "band_keys", "resemblance", "same_words_key", "weighty_words"]

BANDS: Final = 6
ROWS: Final = 4
"""Hashes per band: all of them must agree."""
LEAST_WORDS: Final = 20
"""A shorter text has its meaning from its headings: the same words need not say the same."""

_random = np.random.default_rng(2024)
_MULTIPLIERS = _random.integers(1, 2**63, (BANDS * ROWS, 1), dtype=np.uint64) | np.uint64(1)
_OFFSETS = _random.integers(0, 2**63, (BANDS * ROWS, 1), dtype=np.uint64)


def same_words_key(text: str) -> int:
    """Return a 64-bit key that texts share when only blanks and widths differ."""
    words = " ".join(normalise(text).split())
    digest = blake2b(words.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)


def band_keys(words: Sequence[str]) -> list[int]:
    """Return the keys under which texts of almost the same words meet; none for a short text."""
    if len(words) < LEAST_WORDS:
        return []
    pairs = {
        crc32(f"{one} {other}".encode("utf-8", "surrogatepass")) for one, other in pairwise(words)
    }
    hashes = np.fromiter(pairs, np.uint64, len(pairs))
    # Multiply-shift, modulo 2**64: the high half is as good as random. Shape (hashes, pairs).
    lowest = ((hashes * _MULTIPLIERS + _OFFSETS) >> np.uint64(32)).min(axis=1).astype(np.uint32)
    bands = lowest.reshape(BANDS, ROWS)
    return [band << 32 | crc32(bands[band].tobytes()) for band in range(BANDS)]


def resemblance(words: Sequence[str], others: Sequence[str]) -> float:
    """Return the Jaccard index of the pairs of neighbouring words, from 0 to 1."""
    own, other = set(pairwise(words)), set(pairwise(others))
    return len(own & other) / len(own | other) if own or other else 1.0


_PIECE = re.compile(r"[-+−]?\d[\w.,:/]*(?<![.,:/])|[^\W\d](?:[\w'’./-]*\w)?|[%€$£¥<>≤≥=]")
_UNCASED = re.compile(rf"[^{HIRAGANA}]+|なかった|ない|ません|まい|ずに")
_ROW = re.compile(r"\s*(?:[-*+•·]|#+|\(?\w{1,3}[.)])\s|.*[|\t]|\s*\S+(?:\s\S+){0,2}:")
_NEGATIONS: Final = frozenset(
    """not no nor never none nothing nobody neither without cannot unless except only
    nicht kein keine keinen keinem keiner keines nie niemals ohne weder nur
    ne pas non jamais sans rien ni aucun aucune sauf no nunca sin nada ni tampoco salvo
    non mai senza né niente não nunca sem nem niet geen nooit zonder
    не нет ни без никогда nie bez inte ingen ikke aldrig ei ilman""".split()  # noqa: SIM905 - readable
)
_SMALL: Final = frozenset().union(*STOP_WORDS.values()) - _NEGATIONS


def weighty_words(text: str, *, every_word: bool = False) -> tuple[str, ...]:
    """Return, in order, what makes a difference in meaning: figures, names, negations.

    Two texts with the same weighty words say the same where they are alike otherwise. A name is a
    word with a capital, or with a sign inside, that is no small word at the head of a sentence. In
    program code, headings, tables and lists every word counts, and so it does in a script without
    capitals, but for the hiragana between the words of Japanese.

    Args:
        text: as it stands in the document.
        every_word: whether all of it is program code, or a title.
    """
    everything = every_word or "```" in text
    found: list[str] = []
    for line in normalise(text).splitlines():
        strict = everything or _ROW.match(line) is not None
        for piece in _PIECE.findall(line):
            found += _weight(piece, every_word=strict)
    return tuple(found)


def _weight(piece: str, *, every_word: bool) -> list[str]:
    lower = piece.lower()
    if lower == piece.upper() and not piece.isascii():
        return _UNCASED.findall(piece)
    if lower in _SMALL and not (piece.isupper() and len(piece) > 1):
        return []
    is_name = piece != lower or not piece.isalpha()
    if every_word or is_name or lower in _NEGATIONS or lower.endswith(("n't", "n’t")):
        return [fold_word(piece)]
    return []
