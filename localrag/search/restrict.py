"""Stage 1b: a filter decides what retrieval may find, before it looks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from localrag.store.chunks import count_chunks
from localrag.store.documents import count_documents
from localrag.store.filters import allowed_chunks, why_nothing

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
    name: str = "1b. filter"

    def __call__(self, state: SearchState) -> SearchState:
        """Set what is allowed.

        Raises:
            FilterError: the expression cannot be understood.
        """
        allowed = allowed_chunks(self.connection, self.filter)
        documents, chunks = count_documents(self.connection), count_chunks(self.connection)
        note = (
            f"{describe(self.filter)}: {allowed.documents:,} of {documents:,} documents, "
            f"{allowed.chunks:,} of {chunks:,} chunks"
        )
        if not allowed.documents:
            hint = why_nothing(self.connection, self.filter)
            note += f"; {hint}" if hint else "; nothing passes"
        # A filter that keeps nothing back need not be asked for every chunk.
        kept = None if allowed.documents == documents else allowed
        return replace(state, allowed=kept, survivors=(), note=note)


def describe(wanted: Filter) -> str:
    """Return a filter as it is given on the command line."""
    parts = [f"where {wanted.where}"] if wanted.where else []
    parts += [f"path {path}" for path in wanted.paths]
    if wanted.labels is not None:
        parts.append(f"label {', '.join(wanted.labels) or 'none'}")
    return "; ".join(parts)
