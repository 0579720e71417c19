"""Stage 4: the cross-encoder reads the query and each candidate together."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from localrag.errors import RemoteError
from localrag.records import FAILED, Candidate, RankedList
from localrag.search.fuse import reciprocal_rank_fusion
from localrag.store.chunks import fetch_chunks

if TYPE_CHECKING:
    import apsw

    from localrag.inference.protocols import Reranker
    from localrag.records import SearchState

__all__ = ["VOTE", "Rerank"]

VOTE: Final = 0.5
"""Weight of the cross-encoder's ranking beside the fused one: see models/training/evidence.py."""


@dataclass(frozen=True, slots=True)
class Rerank:
    """Let the cross-encoder read the best candidates against the original query, and vote.

    The new order is the reciprocal rank fusion of the order it finds and the cross-encoder's: two
    retrieval methods that agree on a chunk are evidence that a small cross-encoder should not be
    able to discard. A survivor's score is the cross-encoder's probability, which therefore need not
    fall from rank to rank.
    """

    connection: apsw.Connection
    reranker: Reranker
    top: int
    """Candidates that are read; the rest is let go."""
    vote: float = VOTE
    name: str = "4. rerank"

    def __call__(self, state: SearchState) -> SearchState:
        """Set the survivors to the reranked top; the score is the probability.

        Where a remote cross-encoder cannot be asked, the top stays in the order it came in.
        """
        wanted = [candidate.chunk_id for candidate in state.survivors[: self.top]]
        chunks = fetch_chunks(self.connection, wanted)
        ids = [id_ for id_ in wanted if id_ in chunks]
        passages = [chunks[id_].passage for id_ in ids]
        try:
            scores = self.reranker.relevance(state.query, passages)
        except RemoteError as error:
            note = f"{FAILED}{error} The order stays as it was."
            return replace(state, survivors=state.survivors[: self.top], note=note)
        probabilities = dict(zip(ids, map(float, scores), strict=True))
        order = self._order(ids, probabilities)
        survivors = tuple(
            Candidate(id_, probabilities[id_], rank) for rank, id_ in enumerate(order, start=1)
        )
        note = f"read {len(ids)} passages"
        return replace(state, survivors=survivors, reranked=True, note=note)

    def _order(self, ids: list[int], probabilities: dict[int, float]) -> list[int]:
        # Sorting is stable: among equals the cross-encoder has no say.
        own = sorted(ids, key=lambda id_: -probabilities[id_])
        lists = [_ranked("fused", ids, 1.0), _ranked("cross-encoder", own, self.vote)]
        return [candidate.chunk_id for candidate in reciprocal_rank_fusion(lists)]


def _ranked(method: str, ids: list[int], weight: float) -> RankedList:
    candidates = tuple(Candidate(id_, 0.0, rank) for rank, id_ in enumerate(ids, start=1))
    return RankedList(method, "", candidates, weight)
