# ruff: noqa: RUF001 - quotation marks of prose are the subject
"""Abbreviations that texts in Latin script explain in brackets.

Schwartz and Hearst, A Simple Algorithm for Identifying Abbreviation Definitions in Biomedical Text,
Pacific Symposium on Biocomputing 2003. Their candidates, limits and right-to-left match are used as
published. What `is_doubtful` turns away is an addition, as is that a word for each letter is tried
first (docs/decisions.md has the precision).

===================================================  ==================================
text                                                 pair
===================================================  ==================================
``the World Health Organization (WHO)``              WHO, World Health Organization
``PCR (polymerase chain reaction)``                  PCR, polymerase chain reaction
``conditional random fields (CRFs; see below)``      CRF, conditional random fields
===================================================  ==================================
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from localrag.text.short_form import BRACKETS, ShortForm

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["latin_short_forms", "long_form"]


SHORTEST: Final = 2
LONGEST: Final = 10
"""Characters of a short form; also the limit of the paper."""
MOST_WORDS: Final = 2
"""Words of a short form."""
_SENTENCE_END = re.compile(r"[.!?][\"')\]]*\s+(?=[\"'(]?[A-Z])|[;:|()\[\]{}]\s*|\u3002")
_POSSESSIVE = re.compile("['’]s$")
_ASIDE = re.compile(r"[,;]\s")
_WORD_BEFORE = re.compile(r"([^\W_][\w&/.'+-]*)\s*$")


def latin_short_forms(paragraph: str) -> Iterator[ShortForm]:
    """Yield the pairs that one paragraph explains, in either order of writing."""
    for bracket in BRACKETS.finditer(paragraph):
        before = paragraph[: bracket.start()]
        # Without a blank it is a call, "new(P)", or the plural "form(s)"; "](" is a link.
        if before[-1:].isspace() and paragraph[bracket.end() : bracket.end() + 1] != "(":
            yield from _pairs(_sentence(before), bracket[1])


def _sentence(before: str) -> str:
    """Return what stands before a bracket in its own sentence."""
    before = before[-LONGEST_CONTEXT:]
    ends = [match.end() for match in _SENTENCE_END.finditer(before.rstrip())]
    return before[ends[-1] :].strip() if ends else before.strip()


LONGEST_CONTEXT: Final = 400
"""Characters: 20 words, the most that a short form of 10 characters can stand for, are fewer."""


def _pairs(before: str, inside: str) -> Iterator[ShortForm]:
    inside = _ASIDE.split(inside)[0]
    if len(inside) <= LONGEST and len(inside.split()) <= MOST_WORDS:
        short, long = inside, long_form(inside, before)
    else:
        word = _WORD_BEFORE.search(before)
        short = word[1] if word else ""
        long = long_form(short, inside)
    if long and not is_doubtful(short, long):
        yield ShortForm(_singular(short), long)


def long_form(short: str, candidate: str) -> str:
    """Return the words at the end of `candidate` that `short` abbreviates; empty if none do.

    The algorithm of the paper: every letter and digit of the short form, from the last to the
    first, is looked for from the end of the candidate; the first must begin a word.
    """
    if not is_short_form(short):
        return ""
    letters = [letter for letter in short.lower() if letter.isalnum()]
    words = candidate.split()[-min(len(letters) + 5, len(letters) * 2) :]
    if [word[0].lower() for word in words[-len(letters) :]] == letters:
        return _without_quotes(
            " ".join(words[-len(letters) :])
        )  # not in the paper, which stops short at a repeat
    text = " ".join(words)
    folded = text.lower()
    if len(folded) != len(text):  # a letter whose lower case is two: positions would not agree
        return ""
    position = len(text) - 1
    for number in range(len(letters) - 1, -1, -1):
        while position >= 0 and (
            folded[position] != letters[number]
            or (number == 0 and position > 0 and folded[position - 1].isalnum())
        ):
            position -= 1
        if position < 0:
            return ""
        position -= 1
    start = text.rfind(" ", 0, position + 1) + 1
    return _without_quotes(text[start:])


def _without_quotes(long: str) -> str:
    return _POSSESSIVE.sub("", long.strip(" \"'“”‘’,;:-"))


def is_short_form(text: str) -> bool:
    """Whether a text has the form of an abbreviation, by the rules of the paper."""
    return (
        SHORTEST <= len(text) <= LONGEST
        and len(text.split()) <= MOST_WORDS
        and text[0].isalnum()
        and any(letter.isalpha() for letter in text)
    )


def is_doubtful(short: str, long: str) -> bool:
    """Whether a match of letters is likely to be chance: not in the paper, see the module."""
    letters = [letter for letter in short if letter.isalnum()]
    capitals = sum(letter.isupper() for letter in letters)
    words = _WORDS.findall(long)
    return (
        # From the authors' own program.
        len(long) <= len(short)
        or len(words) > min(len(letters) + 5, len(letters) * 2)
        or short.lower() in (word.lower() for word in (*long.split(), *words))
        or (words[0].lower().startswith(short.lower()) and len(words[0]) <= len(short) + 1)
        # A name or a plain word in brackets, such as (Smith) or (see).
        or not capitals
        or (capitals == 1 and short.isalpha() and len(short) > SHORT_WITH_ONE_CAPITAL)
        or bool(_ROMAN.fullmatch(short))
        or bool(_ONE_LETTER_EACH.fullmatch(short))
        or not long[0].isalnum()
        or bool(_CODE.search(short + long))
        or bool(_CLAUSE.search(long))
        or words[0] in _SMALL_WORDS
        or words[-1] in _SMALL_WORDS
        or not _VERBS.isdisjoint(words)
        or _initials(short, words) * 2 < min(len(words), len(letters))
    )


SHORT_WITH_ONE_CAPITAL: Final = 4
_WORDS = re.compile(r"[^\W_]+")
_ROMAN = re.compile(r"[IVX]+[a-z]?")
_ONE_LETTER_EACH = re.compile(r"\w \w")
_CLAUSE = re.compile(r", (?:an?|the|that|which) ")
_CODE = re.compile(r"[<>=%{}\\]")
_VERBS: Final = frozenset(
    ("are", "be", "been", "can", "consists", "has", "have", "is", "was", "were", "which")
)
_SMALL_WORDS: Final = frozenset(
    ("a", "an", "and", "at", "by", "for", "from", "in", "is", "of", "on", "or", "that", "the", "to",
     "was", "were", "with")
)  # fmt: skip


def _initials(short: str, words: list[str]) -> int:
    """Return how many words begin with a letter of the short form; the first one does."""
    return sum(word[0].lower() in short.lower() for word in words)


def _singular(short: str) -> str:
    """Return a short form without the plural's ``s``."""
    stem = short.removesuffix("'s").removesuffix("s")
    return stem if len(stem) > 1 and stem[-1].isupper() else short
