"""Stage 0: a filter decides what retrieval may find, before it looks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from localrag.store.allowed import chunks_of_documents
from localrag.store.chunks import count_chunks
from localrag.store.conditions import both
from localrag.store.documents import count_documents
from localrag.store.filters import allowed_documents, why_nothing

if TYPE_CHECKING:
    import apsw

    from localrag.records import Filter, SearchState

__all__ = ["Restrict"]


@dataclass(frozen=True, slots=True)
class Restrict:
    """Let both retrieval methods see the chunks of some documents only.

    A filter on what they found would starve the search: the fifty best of all documents may hold
    none of the allowed ones.
    """

    connection: apsw.Connection
    filter: Filter
    name: str = "0. filter"

    def __call__(self, state: SearchState) -> SearchState:
        """Set what is allowed.

        Raises:
            FilterError: the expression cannot be understood.
        """
        passing, ids = allowed_documents(self.connection, self.filter)
        documents, chunks = count_documents(self.connection), count_chunks(self.connection)
        # A filter that keeps nothing back need not be asked for every chunk.
        keeps_back = passing < documents or not documents
        allowed = chunks_of_documents(self.connection, passing, ids) if keeps_back else None
        through = chunks if allowed is None else allowed.chunks
        note = (
            f"{describe(self.filter)}: {passing:,} of {documents:,} documents, "
            f"{through:,} of {chunks:,} chunks"
        )
        hint = "" if passing else why_nothing(self.connection, self.filter)
        note = f"{note}; {hint}" if hint else note
        allowed = both(self.connection, state.allowed, allowed)
        return replace(state, allowed=allowed, survivors=(), note=note)


def describe(wanted: Filter) -> str:
    """Return a filter as it is given on the command line."""
    parts = [f"where {wanted.where}"] if wanted.where else []
    parts += [f"path {path}" for path in wanted.paths]
    if wanted.labels is not None:
        parts.append(f"label {', '.join(wanted.labels) or 'none'}")
    return "; ".join(parts)
