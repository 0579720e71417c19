# ruff: noqa: RUF001 - characters of many scripts are the subject
"""What the glossary offers for a query: long forms of abbreviations, short forms of terms."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final

from localrag.records import Alternative
from localrag.store.glossary import pairs_of_longs, pairs_of_shorts
from localrag.text.folding import normalise
from localrag.text.phrases import units
from localrag.text.stop_words import STOP_WORDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import apsw

    from localrag.records import Allowed
    from localrag.store.glossary import Pair
    from localrag.text.phrases import Unit

__all__ = ["glossary_alternatives"]

MOST_UNITS: Final = 128
"""Words of a query, or characters of a script without blanks, that are looked at."""
LONGEST_SHORT: Final = 8
"""Units of a short form: the characters of a Japanese one."""
LONGEST_LONG: Final = 24
"""Units of a long form."""
MOST_LONGS: Final = 3
"""Long forms of one abbreviation that are looked for, those that most documents explain."""
MOST_SHORTS: Final = 2
"""Abbreviations of one term that are looked for."""


def glossary_alternatives(
    connection: apsw.Connection, query: str, allowed: Allowed | None = None
) -> list[Alternative]:
    """Return what documents call the abbreviations and the terms of `query`, in its own order.

    An abbreviation counts where it is written as in a document; in a query without any capital,
    where it is no stop word: "it" is not information technology.
    """
    text = normalise(query)
    words = units(text)[:MOST_UNITS]
    spans = _spans(text, words)
    shorts = [span for span in spans if len(span) <= LONGEST_SHORT]
    taken = {key for span in spans for key in (_short_key(span), _long_key(span))}
    found: list[tuple[int, Alternative]] = []
    by_short = _grouped(pairs_of_shorts(connection, _short_keys(shorts), allowed), "short_key")
    for span in shorts:
        pairs = [
            pair
            for key in _short_keys([span])
            for pair in by_short[key]
            if _is_meant(_written(text, span), pair.short, query=text)
        ]
        found += [
            (span[0].start, Alternative(_written(text, span), long, "glossary"))
            for key, long in _most_explained(pairs, "long_key", "long")[:MOST_LONGS]
            if key not in taken
        ]
    by_long = _grouped(pairs_of_longs(connection, map(_long_key, spans), allowed), "long_key")
    for span in _apart([span for span in spans if by_long[_long_key(span)]]):
        pairs = by_long[_long_key(span)]
        found += [
            (span[0].start, Alternative(_written(text, span), short, "glossary"))
            for key, short in _most_explained(pairs, "short_key", "short")[:MOST_SHORTS]
            if key not in taken
        ]
    return list(dict.fromkeys(alternative for _, alternative in sorted(found, key=_place)))


def _place(found: tuple[int, Alternative]) -> int:
    return found[0]


def _spans(text: str, words: Sequence[Unit]) -> list[Sequence[Unit]]:
    """Return all runs of units without punctuation between them, longest first."""
    runs: list[Sequence[Unit]] = []
    for length in range(min(LONGEST_LONG, len(words)), 0, -1):
        for start in range(len(words) - length + 1):
            run = words[start : start + length]
            if not _BREAKS.intersection(text[run[0].start : run[-1].end]):
                runs.append(run)
    return runs


_BREAKS: Final = frozenset(',.;:!?。、！？()[]"\n')


def _written(text: str, span: Sequence[Unit]) -> str:
    return text[span[0].start : span[-1].end]


def _short_key(span: Sequence[Unit]) -> str:
    return " ".join(unit.folded for unit in span)


def _short_keys(spans: Iterable[Sequence[Unit]]) -> Iterator[str]:
    """Yield the keys of spans, and those of what may be the plural of an abbreviation."""
    for span in spans:
        key = _short_key(span)
        yield key
        if span[-1].text[-2:-1].isupper() and key.endswith("s"):
            yield key.removesuffix("s")


def _long_key(span: Sequence[Unit]) -> str:
    return " ".join(unit.stem for unit in span)


def _is_meant(written: str, short: str, *, query: str) -> bool:
    """Whether the words of a query are the abbreviation, and not a word of the same letters."""
    if written in (short, f"{short}s"):
        return True
    if written.islower():
        return query.islower() and written not in _ALL_STOP_WORDS
    return written.upper() == written


_ALL_STOP_WORDS: Final = frozenset().union(*STOP_WORDS.values())


def _grouped(pairs: Iterable[Pair], key: str) -> defaultdict[str, list[Pair]]:
    groups: defaultdict[str, list[Pair]] = defaultdict(list)
    for pair in pairs:
        groups[getattr(pair, key)].append(pair)
    return groups


def _most_explained(pairs: Iterable[Pair], key: str, text: str) -> list[tuple[str, str]]:
    """Return keys with their commonest spelling, those that most documents explain first."""
    documents: defaultdict[str, int] = defaultdict(int)
    spelling: dict[str, Pair] = {}
    for pair in sorted(pairs, key=lambda pair: -pair.documents):
        documents[getattr(pair, key)] += pair.documents
        spelling.setdefault(getattr(pair, key), pair)
    ranked = sorted(documents, key=lambda name: -documents[name])
    return [(name, getattr(spelling[name], text)) for name in ranked]


def _apart(spans: Iterable[Sequence[Unit]]) -> list[Sequence[Unit]]:
    """Return the longest spans that share no word."""
    kept: list[Sequence[Unit]] = []
    for span in spans:
        if all(span[0].start >= other[-1].end or span[-1].end <= other[0].start for other in kept):
            kept.append(span)
    return kept
