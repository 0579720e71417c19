"""Terms of several words: how they are compared with a query, and looked up in the index.

=========================  ================================  =========================
term                       key                               expression for the index
=========================  ================================  =========================
``World Banks``            ``world bank``                    ``"world bank"``
``IL-6``                   ``il 6``                          ``"il 6"``
``国連総会``                ``国 連 総 会``                      ``"国連 連総 総会"``
=========================  ================================  =========================
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING

from localrag.text.analysis import analyse
from localrag.text.folding import fold_word, normalise
from localrag.text.scripts import MARKS, UNSPACED, one_of
from localrag.text.stemming import stem

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Unit", "instead_expression", "long_key", "phrase_expression", "short_key", "units"]

_UNIT = re.compile(rf"[{UNSPACED}]|[^\W_{UNSPACED}](?:[^\W_{UNSPACED}]|[{MARKS}])*")


@dataclass(frozen=True, slots=True)
class Unit:
    """A word of a text, or one character of a script without blanks."""

    text: str
    """As written."""
    start: int
    end: int
    folded: str
    """Without case and accents."""
    stem: str
    """The folded word without its ending."""


def units(text: str) -> list[Unit]:
    """Return the units of a text that was normalised, in order."""
    return [_unit(match) for match in _UNIT.finditer(text)]


def _unit(match: re.Match[str]) -> Unit:
    folded = fold_word(match[0])
    return Unit(match[0], match.start(), match.end(), folded, stem(folded))


def short_key(text: str) -> str:
    """Return the form under which a short form is found: without case, hyphens and blanks' kind."""
    return " ".join(unit.folded for unit in units(normalise(text)))


def long_key(text: str) -> str:
    """Return the form under which a long form is found: that of `short_key`, with stems."""
    return " ".join(unit.stem for unit in units(normalise(text)))


def phrase_expression(text: str) -> str:
    """Return the FTS5 expression for a text as one phrase; empty where it has no word.

    A phrase counts as one term in BM25: its weight is that of how rare it is as a whole. Where
    scripts with and without blanks follow each other, each part is a phrase and all must be there.
    """
    parts = [part for part in map(_phrases, _part().findall(normalise(text))) if part]
    return parts[0] if len(parts) == 1 else " AND ".join(f"({part})" for part in parts)


def instead_expression(alternatives: Iterable[tuple[str, str]]) -> str:
    """Return the FTS5 expression for other words where one's own are not; empty for none.

    Args:
        alternatives: pairs of one's own words with others that may stand for them. Of several for
            the same words, each counts where none before it is.
    """
    before: dict[str, str] = {}
    parts = []
    for word, text in alternatives:
        own = before.setdefault(word, phrase_expression(word))
        other = phrase_expression(text)
        if own and other:
            parts.append(f"(({other}) NOT ({own}))")
            before[word] = f"({own}) OR ({other})"
    return " OR ".join(parts)


@cache
def _part() -> re.Pattern[str]:
    return re.compile(rf"[{UNSPACED}]+|[^\s{UNSPACED}]+(?:\s+[^\s{UNSPACED}]+)*")


def _phrases(part: str) -> str:
    if one_of(UNSPACED).match(part):
        spellings = [[first + second for first, second in pairwise(part)] or [part]]
    else:
        # The index holds a name with hyphens whole, then its parts: between words that is another
        # phrase than the same written without hyphens.
        spellings = [[unit.stem for unit in units(part)]]
        if " " in part:
            spellings.append(analyse(part))
    phrases = (" ".join(tokens) for tokens in spellings if tokens)
    return " OR ".join(f'"{phrase}"' for phrase in dict.fromkeys(phrases))
