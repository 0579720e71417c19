# ruff: noqa: RUF001 - Greek and Cyrillic letters are meant
"""Words that a misspelled one may have been meant for.

Most misspelled words are one letter away: one too many, one missing, one other, or two neighbours
exchanged (Damerau, A technique for computer detection and correction of spelling errors, CACM
1964). All words at that distance are made and looked up, so that the time does not depend on how
many words there are. The index holds stems, so the edited words are stemmed.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from localrag.text.folding import fold_word
from localrag.text.scripts import MARKS
from localrag.text.stemming import stem

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["SHORTEST", "distance", "neighbour_stems", "plain_words"]

SHORTEST: Final = 4
"""Letters: a shorter word has more neighbours than meanings."""
LONGEST: Final = 32
"""Letters: what is longer is no word, and has neighbours without end."""

_ALPHABETS: Final = (
    "abcdefghijklmnopqrstuvwxyz",
    "абвгдежзийклмнопрстуфхцчшщъыьэюяіїєґўјљњћџђ",
    "αβγδεζηθικλμνξοπρστυφχψωάέήίόύώϊϋ",
)
# Not a part of a name such as foo_bar, a.b or x/y; words may be joined by hyphens.
_WORD = re.compile(rf"(?<![\w.@/\\:+&=~#'])[^\W\d_]+(?![\w{MARKS}@/\\+&=~#]|[.:]\w|-\d)")


def plain_words(query: str) -> list[str]:
    """Return the distinct words of a normalised query that could be misspelled, as written.

    Names, numbers, abbreviations in capitals, words that are too short or too long, and what is in
    a script that has no alphabet, are left out.
    """
    return [word for word in dict.fromkeys(_WORD.findall(query)) if _is_plain(word)]


def _is_plain(word: str) -> bool:
    folded = fold_word(word)
    return (
        SHORTEST <= len(folded) <= LONGEST
        and (word.islower() or word.istitle())
        and any(set(folded) <= set(alphabet) for alphabet in _ALPHABETS)
    )


def neighbour_stems(word: str) -> dict[str, str]:
    """Return the stems of all words one edit away from a folded `word`, with one word of each."""
    own = stem(word)
    found: dict[str, str] = {}
    endings: dict[tuple[int, int, str], tuple[int, str]] = {}
    for at, letter, edited in _edits(word):
        kind = "vowel" if letter in _VOWELS else "y" if letter in _SEMIVOWELS else "consonant"
        key = (at, len(edited), kind if letter else edited)
        if at >= len(word) - ENDING:
            edited_stem = stem(edited)
        elif key in endings:
            taken, put = endings[key]
            edited_stem = edited[: len(edited) - taken] + put
        else:
            edited_stem = stem(edited)
            endings[key] = _ending(edited, edited_stem)
        found.setdefault(edited_stem, edited)
    found.pop(own, None)
    return found


ENDING: Final = 5
"""Letters at the end of a word that are stemmed letter by letter. Before them a stemmer only asks
where the vowels are, so that one letter of each kind shows what it does to all."""
_VOWELS: Final = frozenset("aeiouаеиоуыэюяіїєαεηιουωάέήίόύώ")
_SEMIVOWELS: Final = frozenset("yйў")


def _ending(word: str, its_stem: str) -> tuple[int, str]:
    """Return how many letters stemming took off a word, and what it put there."""
    pairs = enumerate(zip(word, its_stem, strict=False))
    common = next((at for at, (one, other) in pairs if one != other), min(len(word), len(its_stem)))
    return len(word) - common, its_stem[common:]


def _edits(word: str) -> Iterator[tuple[int, str, str]]:
    """Yield every word one edit away: its place, the letter that was put there, the word.

    Likely ones come first.
    """
    alphabet = next(alphabet for alphabet in _ALPHABETS if word[0] in alphabet)
    for at in range(len(word) - 1):
        if word[at] != word[at + 1]:
            yield at, "", word[:at] + word[at + 1] + word[at] + word[at + 2 :]
    for at in range(len(word)):
        yield at, "", word[:at] + word[at + 1 :]
    for at in range(len(word) + 1):
        for letter in alphabet:
            yield at, letter, word[:at] + letter + word[at:]
            if at < len(word) and letter != word[at]:
                yield at, letter, word[:at] + letter + word[at + 1 :]


def distance(one: str, other: str) -> int:
    """Return how many edits apart two words are, an exchange of neighbours being one.

    The restricted form of Damerau's distance (optimal string alignment).
    """
    before: list[int] = []
    previous = list(range(len(other) + 1))
    for row, letter in enumerate(one, 1):
        current = [row]
        for column, theirs in enumerate(other, 1):
            cost = min(
                previous[column] + 1,
                current[-1] + 1,
                previous[column - 1] + (letter != theirs),
            )
            if row > 1 and column > 1 and letter == other[column - 2] and one[row - 2] == theirs:
                cost = min(cost, before[column - 2] + 1)
            current.append(cost)
        before, previous = previous, current
    return previous[-1]
