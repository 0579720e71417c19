"""Query terms become full-text queries that SQLite cannot misread."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from localrag.text.stemming import stem

if TYPE_CHECKING:
    from collections.abc import Iterable

    from localrag.text.analysis import Phrase, QueryTerm

__all__ = [
    "MOST_TERMS",
    "match_expression",
    "phrase_expression",
]

MOST_TERMS: Final = 128
"""Distinct terms of one query; a pasted page stays as fast as a question."""

ENDINGS: Final = ("e", "ed", "es", "ing", "er", "ation", "ly")
"""What may follow the beginning of a word and be taken off again, with more, by its stemmer."""


def match_expression(terms: Iterable[QueryTerm], phrases: Iterable[str] = ()) -> str:
    """Return the FTS5 expression that matches any of `terms`; empty where there are none.

    The first `MOST_TERMS` distinct terms count: hand over the rare ones first. Every term is a
    quoted string, so that no word of a query is an operator. Any of `phrases`, which are
    expressions, matches as well.
    """
    distinct = list(dict.fromkeys(terms))[:MOST_TERMS]
    return " OR ".join([*(_quoted(term.term, prefix=term.prefix) for term in distinct), *phrases])


def phrase_expression(phrase: Phrase, *, column: str = "", beginning: bool = False) -> str:
    """Return the expression that matches where a phrase stands; empty where it has no word.

    Args:
        phrase: what must stand there.
        column: of the index, ``context`` or ``body``; any where empty.
        beginning: whether the last word need only be the beginning of one.
    """
    if not phrase.words:
        return ""
    begun = beginning or phrase.prefix
    *first, last = phrase.words
    choices = [_quoted(" ".join(phrase.words), prefix=begun)]
    if beginning:
        choices += [_quoted(" ".join((*first, form))) for form in _stems_of_beginning(last)]
    names = () if beginning else phrase.names
    parts = [f"({' OR '.join(choices)})" if len(choices) > 1 else choices[0], *map(_quoted, names)]
    expression = " AND ".join(parts)
    expression = f"({expression})" if len(parts) > 1 else expression
    return f"{{{column}}} : ({expression})" if column else expression


def _stems_of_beginning(word: str) -> list[str]:
    """Return stems that are shorter than a beginning of their words: ``organ`` for ``organiz``."""
    stems = dict.fromkeys(stem(word + ending) for ending in ENDINGS)
    return [form for form in stems if not form.startswith(word)]


def _quoted(text: str, *, prefix: bool = False) -> str:
    # SQLite ends a text at NUL; a quotation mark is doubled inside quotation marks.
    escaped = text.replace("\0", "").replace('"', '""')
    return f'"{escaped}"' + ("*" if prefix else "")
