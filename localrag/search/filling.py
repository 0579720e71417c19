"""Retrieval that lets no group of chunks take more than its share of the places in a list."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Protocol

from localrag.records import Allowed, Candidate
from localrag.store.allowed import without_documents
from localrag.store.chunks import places_of

if TYPE_CHECKING:
    import apsw

__all__ = ["Filling", "Groups", "Search", "Spread"]

Search = Callable[[int, Allowed | None], tuple[Candidate, ...]]
"""Returns the best of the allowed chunks, as many as it is asked for, fewer only when there are no
more; of equals the lower id first."""

MOST_ASKED: Final = 4_096
"""The vector table returns no more."""


class Filling(Protocol):
    """A way to fill the places of a list."""

    def fill(self, search: Search, k: int, allowed: Allowed | None) -> tuple[Candidate, ...]:
        """Return the best `k` candidates that may stand in one list together, best first."""
        ...


@dataclass(frozen=True, slots=True)
class Groups:
    """Which chunks belong together, and how many of them may stand in one list."""

    most: int
    of: Callable[[Sequence[Candidate]], Mapping[int, int]]
    """Returns the group of each candidate that has one, by the chunk's id."""
    without: Callable[[Allowed | None, Iterable[int]], Allowed]
    """Returns what is allowed without the members of some groups."""

    def fill(self, search: Search, k: int, allowed: Allowed | None) -> tuple[Candidate, ...]:
        """Return the `k` best candidates, at most `most` of each group; without a group, all.

        Exact, however large the groups are: while they leave too few candidates, the search is
        repeated without the members of those that are full.
        """
        wanted = k
        kept: defaultdict[int, dict[int, Candidate]] = defaultdict(dict)
        while True:
            found = search(wanted, allowed)
            groups = self.of(found)
            for candidate in found:
                # No group has the name of a chunk that has none: those are above 0.
                own = kept[groups.get(candidate.chunk_id, -candidate.chunk_id)]
                if len(own) < self.most:
                    own.setdefault(candidate.chunk_id, candidate)
            best = sorted((one for own in kept.values() for one in own.values()), key=_order)
            # What was not found comes after the last of what was: before it, nothing is missing.
            certain = sum(_order(one) <= _order(found[-1]) for one in best) if found else 0
            if len(found) < wanted or certain >= k:
                return tuple(replace(one, rank=rank) for rank, one in enumerate(best[:k], start=1))
            full = {group for group in groups.values() if len(kept[group]) >= self.most}
            allowed = self.without(allowed, full)
            wanted = min(wanted * 4, MOST_ASKED)


def _order(candidate: Candidate) -> tuple[float, int]:
    return -candidate.score, candidate.chunk_id


@dataclass(frozen=True, slots=True)
class Spread:
    """Fills a list with chunks of several documents."""

    connection: apsw.Connection
    most: int
    """Chunks of one document."""
    inner: Filling | None = None
    """How copies are counted, where there are any."""

    def fill(self, search: Search, k: int, allowed: Allowed | None) -> tuple[Candidate, ...]:
        """Return the `k` best candidates, at most `most` of each document."""
        groups = Groups(self.most, self._documents, self._without)
        return groups.fill(self._inside(search), k, allowed)

    def _documents(self, candidates: Sequence[Candidate]) -> dict[int, int]:
        places = places_of(self.connection, [one.chunk_id for one in candidates])
        return {id_: place.document_id for id_, place in places.items()}

    def _without(self, allowed: Allowed | None, documents: Iterable[int]) -> Allowed:
        return without_documents(self.connection, allowed, documents)

    def _inside(self, search: Search) -> Search:
        inner = self.inner
        if inner is None:
            return search
        return lambda k, allowed: inner.fill(search, k, allowed)
