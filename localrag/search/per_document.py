"""Stages 3b and 4b: no document takes more than its share of the results."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from localrag.store.chunks import places_of

if TYPE_CHECKING:
    import apsw

    from localrag.records import Candidate, SearchState
    from localrag.store.chunks import ChunkPlace

__all__ = ["PerDocument", "share"]


def share(most: int, limit: int, candidates: int) -> int:
    """Return how many of `candidates` one document may give, so that `limit` hits can be had.

    Each document keeps `most` of them in the end. The better of more can only be chosen where more
    were read, so it may give as many as leave enough for the others: if none gives more than
    ``candidates * most / limit``, at least `limit` remain, whatever the documents.
    """
    return max(most, candidates * most // limit)


@dataclass(frozen=True, slots=True)
class PerDocument:
    """Let go what comes after the best of each document; those of others move up."""

    connection: apsw.Connection
    most: int
    """Chunks of one document that are kept."""
    joined: bool = False
    """Whether chunks that follow each other in a section count once, as the one hit they become."""
    name: str = "3b. per document"

    def __call__(self, state: SearchState) -> SearchState:
        """Set the survivors to the best of each document, in their order."""
        places = places_of(self.connection, [one.chunk_id for one in state.survivors])
        runs: defaultdict[int, int] = defaultdict(int)
        kept: dict[int, Candidate] = {}
        beside: set[ChunkPlace] = set()
        for candidate in state.survivors:
            place = places.get(candidate.chunk_id)
            if place is None:
                continue  # removed by another process since it was found
            if place not in beside:
                if runs[place.document_id] >= self.most:
                    continue
                runs[place.document_id] += 1
            if self.joined:
                beside |= {replace(place, ordinal=place.ordinal + step) for step in (-1, 1)}
            kept[candidate.chunk_id] = replace(candidate, rank=len(kept) + 1)
        left_out = len(state.survivors) - len(kept)
        note = f"at most {self.most} of a document, {left_out} chunks left out"
        return replace(state, survivors=tuple(kept.values()), note=note)
