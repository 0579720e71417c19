"""What a word of a query that no document has may have been meant for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from localrag.records import Alternative
from localrag.store.words import document_frequencies, text_with_term
from localrag.text.folding import fold_word, normalise
from localrag.text.phrases import units
from localrag.text.spelling import distance, neighbour_stems, plain_words
from localrag.text.stemming import stem
from localrag.text.stop_words import STOP_WORDS, without_stop_words

if TYPE_CHECKING:
    import apsw

    from localrag.records import Allowed

__all__ = ["spelling_alternatives"]

MOST_WORDS: Final = 8
"""Misspelled words of one query that are looked at: a pasted text is in another language."""
MOST_NEIGHBOURS: Final = 2
"""Words that are looked for in place of a misspelled one, those of most chunks."""


def spelling_alternatives(
    connection: apsw.Connection, query: str, allowed: Allowed | None = None
) -> list[Alternative]:
    """Return for words of `query` that no chunk has the nearest words that some have.

    Where most words of a longer query are unknown it is in another language: it has none.
    """
    words = plain_words(without_stop_words(normalise(query)))
    stems = {word: stem(fold_word(word)) for word in words}
    known = document_frequencies(connection, stems.values())
    unknown = [word for word in words if stems[word] not in known]
    if len(unknown) > max(FEW_WORDS, len(words) / 2):
        return []
    return [
        Alternative(word, text, "spelling")
        for word in unknown[:MOST_WORDS]
        for text in _nearest(connection, word, allowed)
    ]


FEW_WORDS: Final = 2
"""Words that may all be misspelled."""


def _nearest(connection: apsw.Connection, word: str, allowed: Allowed | None) -> list[str]:
    """Return the nearest words of the allowed chunks, as they are written there."""
    typed = fold_word(word)
    neighbours = neighbour_stems(typed)
    chunks = document_frequencies(connection, neighbours)
    if any(neighbours[term] in _SMALL_WORDS for term in chunks):
        return []  # "wich" is "which", and that says nothing
    common = sorted(chunks, key=lambda term: -chunks[term])[:MOST_STEMS]
    found = [text for term in common if (text := _written(connection, term, typed, allowed))]
    # A stem may be that of a word nobody would have meant: "definency" is none, but "defined" is.
    least = min((distance(typed, text) for text in found), default=0)
    if least > MOST_EDITS:
        return []
    return [text for text in found if distance(typed, text) == least][:MOST_NEIGHBOURS]


MOST_EDITS: Final = 2
"""Between what was typed and a word of a chunk, which may have another ending than was meant."""
MOST_STEMS: Final = 6
"""Stems whose words are compared, those of most chunks."""
_SMALL_WORDS: Final = frozenset().union(*STOP_WORDS.values())


def _written(connection: apsw.Connection, term: str, typed: str, allowed: Allowed | None) -> str:
    """Return a word of the index as chunks have it: the one most like `typed`; empty if none."""
    text = text_with_term(connection, term, allowed)
    words = {unit.folded for unit in units(normalise(text)) if unit.stem == term}
    return min(words, key=lambda one: (distance(typed, one), one), default="")
