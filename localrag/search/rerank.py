"""Stage 4: the cross-encoder reads the query and each candidate together."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import log
from typing import TYPE_CHECKING, Final

from localrag.records import Candidate
from localrag.store.chunks import fetch_chunks

if TYPE_CHECKING:
    import apsw

    from localrag.inference.protocols import Reranker
    from localrag.records import SearchState

__all__ = ["EVIDENCE_WEIGHT", "Rerank", "log_odds"]

EVIDENCE_WEIGHT: Final = 8.0
"""How much the fused score counts beside the cross-encoder, chosen by benchmarks/evidence.py."""

LEAST: Final = 1e-9
"""Probabilities are kept this far from 0 and 1, where log-odds are infinite."""


@dataclass(frozen=True, slots=True)
class Rerank:
    """Order the best candidates by how likely they answer the original query.

    The order weighs the cross-encoder's log-odds with the fused score: two lists that agree on a
    chunk are evidence that a small cross-encoder should not be able to discard. A survivor's score
    is the cross-encoder's own probability, so scores need not fall from rank to rank.
    """

    connection: apsw.Connection
    reranker: Reranker
    top: int
    """Candidates that are read; the rest is let go."""
    evidence_weight: float = EVIDENCE_WEIGHT
    name: str = "4. rerank"

    def __call__(self, state: SearchState) -> SearchState:
        """Set the survivors to the reranked top; the score is the probability."""
        wanted = [candidate.chunk_id for candidate in state.survivors[: self.top]]
        chunks = fetch_chunks(self.connection, wanted)
        # In the fused order, so that equals keep it: sorting is stable.
        read = [one for one in state.survivors[: self.top] if one.chunk_id in chunks]
        passages = [chunks[candidate.chunk_id].passage for candidate in read]
        probabilities = map(float, self.reranker.relevance(state.query, passages))
        judged = list(zip(read, probabilities, strict=True))
        judged.sort(key=lambda pair: -self._evidence(pair[0].score, pair[1]))
        survivors = tuple(
            Candidate(candidate.chunk_id, probability, rank)
            for rank, (candidate, probability) in enumerate(judged, 1)
        )
        return replace(state, survivors=survivors, note=f"read {len(read)} passages")

    def _evidence(self, fused: float, probability: float) -> float:
        return log_odds(probability) + self.evidence_weight * log(fused)


def log_odds(probability: float) -> float:
    """Return ln(p / (1 - p)), finite for every p from 0 to 1."""
    bounded = min(max(probability, LEAST), 1 - LEAST)
    return log(bounded / (1 - bounded))
