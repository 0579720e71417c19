"""Text becomes the tokens of the full-text index, and a query becomes the terms that look them up.

=======================  ===========================================================
text                     tokens
=======================  ===========================================================
``Rotating the keys``    ``rotat the key``
``max_seq_len``          whole and in parts, see `localrag.text.identifiers`
``東京都``                ``東京 京都 東 京 都``
``サーバーを``            ``サー ーバ バを を``
``Rustの所有権🚀``         ``rust の所 所有 有権 所 有 権 🚀``
=======================  ===========================================================

Scripts without spaces become overlapping pairs of characters. Ideographs stand alone as well, and
so does the last character of a run: every character begins some token, and a query of one character
looks up its prefix. Words are stored as their stems only. What each choice gains is measured by
``benchmarks/analysis.py``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

from localrag.text.folding import fold_word, normalise
from localrag.text.identifiers import parts, private, wholes
from localrag.text.scripts import IDEOGRAPHS, MARKS, PICTOGRAPHS, UNSPACED
from localrag.text.stemming import stem
from localrag.text.stop_words import without_stop_words

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["ANALYSER_VERSION", "Analyser", "QueryTerm", "analyse", "analyse_query"]

ANALYSER_VERSION = "1"
"""Changes whenever the same text would give other tokens: the index must then be rebuilt."""

_LONGEST_CACHED_NAME = 256

_WORD = rf"[^\W{UNSPACED}]++(?:[{MARKS}]++[^\W{UNSPACED}]*+)*+"
_TOKEN = re.compile(
    rf"(?P<run>[{UNSPACED}]++)"
    rf"|(?P<name>(?:(?<![\w.])\.(?=[a-zA-Z]))?{_WORD}"
    rf"(?:(?:::|://|[-.@:+&=~/\\]|(?<=\d),(?=\d)){_WORD})*+(?:\+\+|\#)?+)"
    rf"|(?P<pictograph>[{PICTOGRAPHS}])"
)
_IDEOGRAPH = re.compile(f"[{IDEOGRAPHS}]")
# Text that was wrapped inside a word of a script without spaces.
_WRAPPED = re.compile(rf"(?<=[{UNSPACED}])[ \t]*\n[ \t]*(?=[{UNSPACED}])")
_CONTRACTION = re.compile(r"(?<=[a-zA-Z])'(?:s|t|d|ll|re|ve|m)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class QueryTerm:
    """One token to look up."""

    term: str
    prefix: bool = False
    """Whether every token that begins with `term` is meant."""


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
        tokens: list[str] = []
        for kind, token in _lex(_prepared(text)):
            tokens += self._run(token) if kind == "run" else self._name(token)
        return tokens

    def analyse_query(self, text: str) -> list[QueryTerm]:
        """Return the distinct terms of a query, in its own order; empty where it has no word."""
        prepared = _prepared(text)
        kept = self._terms(without_stop_words(prepared)) if self.stop_words else []
        return kept or self._terms(prepared)

    def _terms(self, prepared: str) -> list[QueryTerm]:
        terms: list[QueryTerm] = []
        for kind, token in _lex(prepared):
            if kind != "run":
                terms += [QueryTerm(term) for term in self._name(token)]
            elif len(token) == 1:
                terms.append(QueryTerm(fold_word(token), prefix=True))
            else:
                terms += [QueryTerm(term) for term in (*_pairs(token), *self._single(token))]
        return _without_particles(list(dict.fromkeys(terms)))

    def _run(self, run: str) -> list[str]:
        last = [] if self.ideographs and _IDEOGRAPH.match(run[-1]) else [run[-1]]
        return [*_pairs(run), *self._single(run), *last]

    def _single(self, run: str) -> list[str]:
        return _IDEOGRAPH.findall(run) if self.ideographs else []

    def _name(self, name: str) -> tuple[str, ...]:
        # Without this a file that is one endless word would stay in the cache.
        tokens = _name_tokens if len(name) <= _LONGEST_CACHED_NAME else _name_tokens.__wrapped__
        return tokens(name, stems=self.stems, names=self.names)


_DEFAULT = Analyser()


def analyse(text: str) -> list[str]:
    """Return the tokens under which `text` is indexed, repeated as often as they occur.

    A token holds letters, digits, marks, pictographs and private-use characters; never white space
    or ASCII punctuation. Their order is close to the text's, but not a basis for phrase queries.
    """
    return _DEFAULT.analyse(text)


def analyse_query(text: str) -> list[QueryTerm]:
    """Return the distinct terms that look up what `text` asks for; empty where it has no word.

    Any of the terms may match. The words of a question ("what", "どのような") are dropped where
    something else remains.
    """
    return _DEFAULT.analyse_query(text)


def _prepared(text: str) -> str:
    return _CONTRACTION.sub("", _WRAPPED.sub("", normalise(text)))


def _lex(prepared: str) -> Iterator[tuple[str, str]]:
    for match in _TOKEN.finditer(prepared):
        yield match.lastgroup or "", match[0]


def _pairs(run: str) -> list[str]:
    return [first + second for first, second in pairwise(run)]


@lru_cache(maxsize=50_000)
def _name_tokens(name: str, *, stems: bool, names: bool) -> tuple[str, ...]:
    whole = [fold_word(level) for level in wholes(name)] if names else []
    words = [fold_word(word) for word in parts(name)]
    tokens = [*whole, *(stem(word) if stems else word for word in words)]
    return tuple(private(token) for token in tokens if token)


def _without_particles(terms: list[QueryTerm]) -> list[QueryTerm]:
    """Drop lone kana between other words: as a prefix, a particle would match everything."""
    kept = [term for term in terms if not term.prefix or _IDEOGRAPH.match(term.term)]
    return kept or terms
