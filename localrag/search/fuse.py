"""Stage 3: one ranking out of several whose scores cannot be compared."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from localrag.records import Candidate

if TYPE_CHECKING:
    from collections.abc import Iterable

    from localrag.records import RankedList, SearchState

__all__ = ["RRF_K", "Fuse", "reciprocal_rank_fusion"]

RRF_K = 60
"""The constant of the paper: the weight of rank 1 against rank 2 is 61 to 62."""


def reciprocal_rank_fusion(
    lists: Iterable[RankedList], *, rank_constant: int = RRF_K
) -> tuple[Candidate, ...]:
    """Return all candidates of `lists`, best first.

    score(d) = sum over lists of weight / (rank_constant + rank of d in the list), ranks from 1.
    Ties go to the lower chunk id. Source: Cormack, Clarke, Buettcher, Reciprocal Rank Fusion
    outperforms Condorcet and individual Rank Learning Methods, SIGIR 2009.
    """
    scores: defaultdict[int, float] = defaultdict(float)
    for ranked in lists:
        for candidate in ranked.candidates:
            scores[candidate.chunk_id] += ranked.weight / (rank_constant + candidate.rank)
    best_first = sorted(scores.items(), key=lambda item: (-item[1], item[0]))
    return tuple(Candidate(id_, score, rank) for rank, (id_, score) in enumerate(best_first, 1))


@dataclass(frozen=True, slots=True)
class Fuse:
    """Reciprocal rank fusion over all lists of stage 2."""

    rank_constant: int = RRF_K
    name: str = "3. fuse"

    def __call__(self, state: SearchState) -> SearchState:
        """Set the survivors to the fused ranking."""
        fused = reciprocal_rank_fusion(state.lists, rank_constant=self.rank_constant)
        return replace(state, survivors=fused, note=f"{len(state.lists)} lists")
