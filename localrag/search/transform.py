"""Stage 1: what retrieval looks for.

The query itself always, unchanged. In documents that lack some of its words, what they may call the
same:

1. the glossary: long forms of its abbreviations, and abbreviations of its terms;
2. spelling: for a word that no document has, the nearest words that some have.

Only retrieval by words takes these (docs/decisions.md): in vectors they did harm. What is in
quotation marks was meant as it stands and has no alternatives. Ranking and answering use
the words the user typed. Whatever goes wrong here, the query is searched as it is.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from localrag.records import ALSO, FAILED
from localrag.search.glossary import glossary_alternatives
from localrag.search.spelling import spelling_alternatives

if TYPE_CHECKING:
    from collections.abc import Iterable

    import apsw

    from localrag.records import Alternative, SearchState

__all__ = ["PassThrough", "Transform", "open_words"]


@dataclass(frozen=True, slots=True)
class PassThrough:
    """Look for exactly what the user typed."""

    name: str = "1. transform"

    def __call__(self, state: SearchState) -> SearchState:
        """Set the one query."""
        return replace(state, queries=(state.query,), alternatives=(), note="query unchanged")


@dataclass(frozen=True, slots=True)
class Transform:
    """Look for what the user typed, and for what documents call it."""

    connection: apsw.Connection
    glossary: bool = True
    spelling: bool = True
    name: str = "1. transform"

    def __call__(self, state: SearchState) -> SearchState:
        """Set the one query and its alternatives; without these where they cannot be had."""
        try:
            found = self.alternatives(state)
        except Exception as error:  # noqa: BLE001 - a search must not fail for what it can do without
            note = f"{FAILED}{str(error) or type(error).__name__}. Searched for the query as it is."
            return replace(state, queries=(state.query,), alternatives=(), note=note)
        note = ALSO + describe(found) if found else "query unchanged"
        return replace(state, queries=(state.query,), alternatives=found, note=note)

    def alternatives(self, state: SearchState) -> tuple[Alternative, ...]:
        """Return what else may stand in documents for words of the query."""
        words = open_words(state.query)
        found: list[Alternative] = []
        if self.glossary:
            found += glossary_alternatives(self.connection, words, state.allowed)
        if self.spelling:
            found += spelling_alternatives(self.connection, words, state.allowed)
        return tuple(found)


def open_words(query: str) -> str:
    """Return a query without what is in quotation marks or excluded by a minus."""
    return _AS_IT_STANDS.sub(" . ", query)


_AS_IT_STANDS = re.compile(r'"[^"]*"|“[^”]*”|(?<!\S)-\S+')


def describe(alternatives: Iterable[Alternative]) -> str:
    """Return alternatives for a person, each with the words that it stands for."""
    shown = []
    for one in alternatives:
        arrow = (
            f"{one.word} -> {one.text}" if one.source == "spelling" else f"{one.text} ({one.word})"
        )
        shown.append(arrow)
    return ", ".join(shown)
