"""Stage 4: the cross-encoder reads the query and each candidate together."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from localrag.records import Candidate
from localrag.store.chunks import fetch_chunks

if TYPE_CHECKING:
    import apsw

    from localrag.inference.protocols import Reranker
    from localrag.records import SearchState

__all__ = ["Rerank"]


@dataclass(frozen=True, slots=True)
class Rerank:
    """Order the best candidates by the probability that they answer the original query."""

    connection: apsw.Connection
    reranker: Reranker
    top: int
    """Candidates that are read; the rest is let go."""
    name: str = "4. rerank"

    def __call__(self, state: SearchState) -> SearchState:
        """Set the survivors to the reranked top; the score is the probability."""
        chunks = fetch_chunks(self.connection, [c.chunk_id for c in state.survivors[: self.top]])
        # In the fused order, so that equal probabilities keep it: sorting is stable.
        ids = [c.chunk_id for c in state.survivors[: self.top] if c.chunk_id in chunks]
        scores = self.reranker.relevance(state.query, [chunks[id_].passage for id_ in ids])
        best_first = sorted(zip(ids, map(float, scores), strict=True), key=lambda item: -item[1])
        survivors = tuple(
            Candidate(id_, score, rank) for rank, (id_, score) in enumerate(best_first, 1)
        )
        return replace(state, survivors=survivors, note=f"read {len(ids)} passages")
