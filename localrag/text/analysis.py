"""Text becomes the tokens of the full-text index, and a query becomes the terms that look them up.

=======================  ===========================================================
text                     tokens
=======================  ===========================================================
``Rotating the keys``    ``rotat the key``
``max_seq_len is``       ``max seq len is``, then ``max_seq_len``: see `localrag.text.identifiers`
``東京都``                ``東京 京都``, then ``東 京 都``
``サーバーを``            ``サー ーバ バを``, then ``を``
``Rustの所有権🚀``         ``rust の所 所有 有権 🚀``, then ``所 有 権``
=======================  ===========================================================

First come the words and pairs in the order of the text, so that what follows each other there does
so in the index: phrases and distances can be looked up. What stands beside them comes at the end.

Scripts without spaces become overlapping pairs of characters. Ideographs stand alone as well, and
so does the last character of a run: every character begins some token, and a query of one character
looks up its prefix. Words are stored as their stems only. What each choice gains is measured by
``benchmarks/analysis.py``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

from localrag.text.folding import fold_word, normalise
from localrag.text.identifiers import parts, private, wholes
from localrag.text.scripts import IDEOGRAPHS, MARKS, PICTOGRAPHS, UNSPACED, one_of
from localrag.text.stemming import stem
from localrag.text.stop_words import without_stop_words

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "ANALYSER_VERSION",
    "Analyser",
    "Phrase",
    "QueryTerm",
    "analyse",
    "analyse_phrase",
    "analyse_query",
    "unwrapped",
]

ANALYSER_VERSION = "3"
"""Changes whenever the same text would give other tokens, or these in another order: the index must
then be rebuilt."""

_LONGEST_CACHED_NAME = 256

# Only single characters are repeated possessively: of groups, Python before 3.11.5 gets that wrong.
_WORD = rf"[^\W{UNSPACED}]++(?:[{MARKS}]++[^\W{UNSPACED}]*+)*"
_TOKEN = re.compile(
    rf"(?P<run>[{UNSPACED}]++)"
    rf"|(?P<name>(?:(?<![\w.])\.(?=[a-zA-Z]))?{_WORD}"
    rf"(?:(?:::|://|[-.@:+&=~/\\]|(?<=\d),(?=\d)){_WORD})*(?:\+\+|\#)?)"
    rf"|(?P<pictograph>[{PICTOGRAPHS}])"
)
_CONTRACTION = re.compile(r"(?<=[a-zA-Z])'(?:s|t|d|ll|re|ve|m)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class QueryTerm:
    """One token to look up."""

    term: str
    prefix: bool = False
    """Whether every token that begins with `term` is meant."""


@dataclass(frozen=True, slots=True)
class Phrase:
    """Tokens that must follow each other."""

    words: tuple[str, ...]
    """In this order, nothing between them; empty where the text has no word."""
    names: tuple[str, ...] = ()
    """Whole names in it, which must be there as well: ``C++`` is more than its word ``c``."""
    prefix: bool = False
    """Whether the last word need only be the beginning of one."""


@dataclass(frozen=True, slots=True)
class Analyser:
    """One way to take text apart: the product uses the defaults, the rest is for measuring."""

    stems: bool = True
    """Store words as their stems."""
    names: bool = True
    """Take names such as ``max_seq_len`` apart, beside keeping them whole."""
    ideographs: bool = True
    """Store ideographs on their own, beside the pairs."""
    stop_words: bool = True
    """Drop the words of the question from queries."""

    def analyse(self, text: str) -> list[str]:
        """Return the tokens of `text`, repeated as often as they occur."""
        words: list[str] = []
        beside: list[str] = []
        for kind, token in _lex(_prepared(text)):
            if kind != "run":
                names, parts_of_it = self._name(token)
                words += parts_of_it
                beside += names
            elif len(token) == 1:
                words.append(token)
            else:
                words += _pairs(token)
                beside += (*self._single(token), *self._last(token))
        return words + beside

    def analyse_query(self, text: str) -> list[QueryTerm]:
        """Return the distinct terms of a query, in its own order; empty where it has no word."""
        prepared = _prepared(text)
        kept = self._terms(without_stop_words(prepared)) if self.stop_words else []
        return kept or self._terms(prepared)

    def _terms(self, prepared: str) -> list[QueryTerm]:
        words: list[QueryTerm] = []
        beside: list[QueryTerm] = []
        for kind, token in _lex(prepared):
            if kind != "run":
                names, parts_of_it = self._name(token)
                words += map(QueryTerm, parts_of_it)
                beside += map(QueryTerm, names)
            elif len(token) == 1:
                words.append(QueryTerm(fold_word(token), prefix=True))
            else:
                words += map(QueryTerm, _pairs(token))
                beside += map(QueryTerm, self._single(token))
        return _without_particles(list(dict.fromkeys((*words, *beside))))

    def phrase(self, text: str) -> Phrase:
        """Return what `text` is where it stands word for word."""
        words: list[str] = []
        beside: list[str] = []
        prefix = False
        for kind, token in _lex(_prepared(text)):
            # A character alone may be the first one of what is a pair in the index.
            prefix = kind == "run" and len(token) == 1
            if kind != "run":
                names, parts_of_it = self._name(token)
                words += parts_of_it
                beside += names
            else:
                words += [token] if len(token) == 1 else _pairs(token)
        return Phrase(tuple(words), tuple(dict.fromkeys(beside)), prefix)

    def _last(self, run: str) -> list[str]:
        return [] if self.ideographs and one_of(IDEOGRAPHS).match(run[-1]) else [run[-1]]

    def _single(self, run: str) -> list[str]:
        return one_of(IDEOGRAPHS).findall(run) if self.ideographs else []

    def _name(self, name: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        # Without this a file that is one endless word would stay in the cache.
        tokens = _name_tokens if len(name) <= _LONGEST_CACHED_NAME else _name_tokens.__wrapped__
        return tokens(name, stems=self.stems, names=self.names)


_DEFAULT = Analyser()


def analyse(text: str) -> list[str]:
    """Return the tokens under which `text` is indexed, repeated as often as they occur.

    A token holds letters, digits, marks, pictographs and private-use characters; never white space
    or ASCII punctuation. Words and pairs come first, in the order of the text; whole names and
    single characters follow.
    """
    return _DEFAULT.analyse(text)


def analyse_query(text: str) -> list[QueryTerm]:
    """Return the distinct terms that look up what `text` asks for; empty where it has no word.

    Any of the terms may match. The words of a question ("what", "どのような") are dropped where
    something else remains.
    """
    return _DEFAULT.analyse_query(text)


def analyse_phrase(text: str) -> Phrase:
    """Return the tokens that follow each other where `text` stands, whatever its word forms."""
    return _DEFAULT.phrase(text)


def _prepared(text: str) -> str:
    return _CONTRACTION.sub("", unwrapped(normalise(text)))


def unwrapped(text: str) -> str:
    """Return `text` without the line breaks inside a word of a script without spaces."""
    return _wrapped().sub("", text) if "\n" in text else text


@cache
def _wrapped() -> re.Pattern[str]:
    return re.compile(rf"(?<=[{UNSPACED}])[ \t]*\n[ \t]*(?=[{UNSPACED}])")


def _lex(prepared: str) -> Iterator[tuple[str, str]]:
    for match in _TOKEN.finditer(prepared):
        yield match.lastgroup or "", match[0]


def _pairs(run: str) -> list[str]:
    return [first + second for first, second in pairwise(run)]


@lru_cache(maxsize=50_000)
def _name_tokens(name: str, *, stems: bool, names: bool) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the whole names in `name`, and its words."""
    whole = [fold_word(level) for level in wholes(name)] if names else []
    words = [fold_word(word) for word in parts(name)]
    tokens = [stem(word) if stems else word for word in words]
    return _private(whole), _private(tokens)


def _private(tokens: list[str]) -> tuple[str, ...]:
    return tuple(private(token) for token in tokens if token)


def _without_particles(terms: list[QueryTerm]) -> list[QueryTerm]:
    """Drop lone kana between other words: as a prefix, a particle would match everything."""
    kept = [term for term in terms if not term.prefix or one_of(IDEOGRAPHS).match(term.term)]
    return kept or terms
