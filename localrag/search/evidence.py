"""What retrieval's own scores say for a candidate, on one scale for words and for meaning.

Reciprocal rank fusion chooses the candidates and forgets by how much one was better than the next.
Where the cross-encoder orders them, that is worth knowing: a passage far ahead of all others in
both lists is hardly wrong, and one that is the last of both is hardly right.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from localrag.records import RankedList

__all__ = ["WEIGHTS", "retrieval_evidence", "standings"]

WEIGHTS: Final[Mapping[str, float]] = {"bm25": 8.0, "vector": 5.0}
"""What the best of a list is worth beside one that has none of it, in log-odds: chosen by
models/training/evidence.py."""

FULL: Final = 30
"""Candidates from which on a list is taken to have been cut off: it would have gone on."""


def standings(ranked: RankedList) -> dict[int, float]:
    """Return where each candidate of a list stands between the last of it, 0, and the best, 1.

    Scores of any scale become comparable so (min-max normalisation, see Bruch, Gai, Ingber: An
    Analysis of Fusion Functions for Hybrid Retrieval, TOIS 2023). A list by words that is shorter
    than `FULL` was not cut off: what it lacks has no word of the query, which is a score of 0.
    """
    scores = {one.chunk_id: one.score for one in ranked.candidates}
    if not scores:
        return {}
    best, last = max(scores.values()), min(scores.values())
    if ranked.method != "vector" and len(scores) < FULL:
        last = min(last, 0.0)
    if best <= last:  # one candidate, or all alike
        return dict.fromkeys(scores, 1.0)
    return {id_: (score - last) / (best - last) for id_, score in scores.items()}


def retrieval_evidence(
    lists: Sequence[RankedList], weights: Mapping[str, float] = WEIGHTS
) -> dict[int, float]:
    """Return for each candidate of `lists` what they say for it together, in log-odds.

    A list that lacks a candidate says 0 of it. Where a method has several lists, of several
    queries, the one that says most counts; a list of alternative words counts by its weight.
    """
    said: defaultdict[str, defaultdict[int, float]] = defaultdict(lambda: defaultdict(float))
    for ranked in lists:
        own = said[ranked.method]
        for id_, stands in standings(ranked).items():
            own[id_] = max(own[id_], min(1.0, ranked.weight) * stands)
    found = {id_ for own in said.values() for id_ in own}
    return {
        id_: sum(weights.get(method, 0.0) * own[id_] for method, own in said.items())
        for id_ in found
    }
