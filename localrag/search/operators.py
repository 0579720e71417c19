"""Stage 0: the operators of a query decide what retrieval may find; the words that are left rank.

A check of what was found would starve the search: the fifty best chunks may all hold an excluded
word. Both retrieval methods therefore see the chunks only that meet the conditions.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from localrag.store.chunks import count_chunks
from localrag.store.conditions import both, chunks_that_hold, expressions_of
from localrag.text.operators import read_operators

if TYPE_CHECKING:
    import apsw

    from localrag.records import SearchState

__all__ = ["Operators"]


@dataclass(frozen=True, slots=True)
class Operators:
    """Read the query as one with operators; without any it stays as it is."""

    connection: apsw.Connection
    name: str = "0. operators"

    def __call__(self, state: SearchState) -> SearchState:
        """Set the words to rank by, what is allowed, and what BM25 looks for beside the words."""
        asked = read_operators(state.query)
        if not asked.conditions:
            return replace(state, note="no operators")
        held = chunks_that_hold(self.connection, asked.conditions)
        wanted = [one for one in asked.conditions if not one.excluded]
        note = (
            f"{', '.join(map(str, asked.conditions))}: {held.chunks:,} of "
            f"{count_chunks(self.connection):,} chunks; words: {asked.words or 'none'}"
        )
        return replace(
            state,
            query=asked.words,
            queries=(asked.words,),
            allowed=both(self.connection, state.allowed, held),
            required=tuple(expressions_of(wanted)),
            note=note,
        )
