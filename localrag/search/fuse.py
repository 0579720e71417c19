"""Stage 3: one ranking out of several whose scores cannot be compared."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from statistics import pstdev
from typing import TYPE_CHECKING, Final

from localrag.records import Candidate

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from localrag.records import RankedList, SearchState

__all__ = ["PLACES", "RRF_K", "Fuse", "places", "reciprocal_rank_fusion"]

RRF_K: Final = 60
"""The constant of the paper."""

PLACES: Final = 50.0
"""Places that a candidate stands behind the best one for each standard deviation of the scores."""


def reciprocal_rank_fusion(
    lists: Iterable[RankedList], *, rank_constant: int = RRF_K
) -> tuple[Candidate, ...]:
    """Return all candidates of `lists`, best first.

    score(d) = sum over lists of weight / (rank_constant + place of d in the list). Ties go to the
    lower chunk id. Source: Cormack, Clarke, Buettcher, Reciprocal Rank Fusion outperforms Condorcet
    and individual Rank Learning Methods, SIGIR 2009. There the places are the ranks; see `places`.
    """
    scores: defaultdict[int, float] = defaultdict(float)
    for ranked in lists:
        for candidate, place in zip(ranked.candidates, places(ranked.candidates), strict=True):
            scores[candidate.chunk_id] += ranked.weight / (rank_constant + place)
    best_first = sorted(scores.items(), key=lambda item: (-item[1], item[0]))
    return tuple(Candidate(id_, score, rank) for rank, (id_, score) in enumerate(best_first, 1))


def places(candidates: Sequence[Candidate]) -> list[float]:
    """Return the place of each candidate of a list, best first, from 1.

    A rank says that a candidate is second, and not whether by a hair or by far. A place is 1 plus
    `PLACES` for each standard deviation between a score and the best: it has no unit, so that two
    methods can be compared, and equal scores have one place.
    """
    spread = pstdev([one.score for one in candidates]) if candidates else 0.0
    best = max((one.score for one in candidates), default=0.0)
    return [1.0 + (PLACES * (best - one.score) / spread if spread else 0.0) for one in candidates]


@dataclass(frozen=True, slots=True)
class Fuse:
    """Reciprocal rank fusion over all lists of stage 2."""

    rank_constant: int = RRF_K
    name: str = "3. fuse"

    def __call__(self, state: SearchState) -> SearchState:
        """Set the survivors to the fused ranking."""
        fused = reciprocal_rank_fusion(state.lists, rank_constant=self.rank_constant)
        return replace(state, survivors=fused, note=f"{len(state.lists)} lists")
