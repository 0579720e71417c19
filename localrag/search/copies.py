"""Texts that say the same take one slot of a search, at every step from retrieval on.

Each place of a text is a chunk of its own, with its own neighbours and its own headings. Retrieval
counts a group of them once; which of them is shown is decided when both methods have spoken.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from localrag.records import Candidate, Copies, Place
from localrag.search.filling import Groups
from localrag.store.chunks import fetch_chunks
from localrag.store.copies import group_members, groups_of, has_groups, without_groups
from localrag.text.folding import fold

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import apsw

    from localrag.records import Allowed, RankedList, SearchState, StoredChunk
    from localrag.search.filling import Search
    from localrag.store.copies import Grouping, Member

__all__ = ["MOST_PLACES", "Collapse", "Slots", "slots_for"]

MOST_PLACES: Final = 100
"""Other places of a text that are listed; the rest is counted."""


@dataclass(frozen=True, slots=True)
class Slots:
    """Counts the chunks of one group as one."""

    connection: apsw.Connection
    grouping: Grouping

    def fill(self, search: Search, k: int, allowed: Allowed | None) -> tuple[Candidate, ...]:
        """Return the best chunk of each of the `k` best groups; a chunk without copies is one."""
        return Groups(1, self.groups, self._without).fill(search, k, allowed)

    def _without(self, allowed: Allowed | None, groups: Iterable[int]) -> Allowed:
        return without_groups(self.connection, allowed, groups, self.grouping)

    def groups(self, candidates: Sequence[Candidate]) -> dict[int, int]:
        """Return the group of each candidate that has one."""
        return groups_of(self.connection, [one.chunk_id for one in candidates], self.grouping)


def slots_for(connection: apsw.Connection, grouping: Grouping) -> Slots | None:
    """Return the slots of a file in which some chunks have copies, otherwise None."""
    return Slots(connection, grouping) if has_groups(connection, grouping) else None


@dataclass(frozen=True, slots=True)
class Collapse:
    """Choose which place of a text stands for all of them, the same one in every list.

    The place that ranks best says under which title and headings the text is wanted; of the places
    under these the newest stands in front.
    """

    connection: apsw.Connection
    slots: Slots
    name: str = "2c. copies"

    def __call__(self, state: SearchState) -> SearchState:
        """Set the front places in all lists, and where else each of their texts stands."""
        groups = self.slots.groups([one for ranked in state.lists for one in ranked.candidates])
        members = group_members(
            self.connection, set(groups.values()), self.slots.grouping, state.allowed
        )
        fronts = {
            group: self._front(members[group], best)
            for group, best in best_members(state.lists, groups).items()
            if len(members.get(group, ())) > 1
        }
        copies = self._copies(fronts, members)
        others = sum(one.count for one in copies.values())
        standing = {id_: fronts[group] for id_, group in groups.items() if group in fronts}
        lists = tuple(with_fronts(ranked, standing) for ranked in state.lists)
        note = (
            f"{len(copies)} texts stand in {others} other places as well" if copies else "no copies"
        )
        return replace(state, lists=lists, copies=copies, survivors=(), note=note)

    def _front(self, members: Sequence[Member], best: int) -> int:
        """Return the member that stands for all; they are ordered, the newest first."""
        if self.slots.grouping == "version_group":
            return members[0].chunk_id
        context = {fold(one.context) for one in members if one.chunk_id == best}
        # None where another process has removed it since it was found.
        return next((one.chunk_id for one in members if fold(one.context) in context), best)

    def _copies(
        self, fronts: Mapping[int, int], members: Mapping[int, Sequence[Member]]
    ) -> dict[int, Copies]:
        """Return the other places of each front's text."""
        others = {
            front: [one.chunk_id for one in members[group] if one.chunk_id != front]
            for group, front in fronts.items()
        }
        listed = {front: ids[:MOST_PLACES] for front, ids in others.items()}
        chunks = fetch_chunks(self.connection, [id_ for ids in listed.values() for id_ in ids])
        return {
            front: Copies(
                tuple(place(chunks[id_]) for id_ in ids if id_ in chunks), len(others[front])
            )
            for front, ids in listed.items()
        }


def best_members(lists: Sequence[RankedList], groups: Mapping[int, int]) -> dict[int, int]:
    """Return the chunk of each group that ranks best in any list; of equals, the first list's."""
    ranked = sorted((one for each in lists for one in each.candidates), key=lambda one: one.rank)
    best: dict[int, int] = {}
    for candidate in ranked:
        group = groups.get(candidate.chunk_id)
        if group is not None:
            best.setdefault(group, candidate.chunk_id)
    return best


def with_fronts(ranked: RankedList, standing: Mapping[int, int]) -> RankedList:
    """Return a list in which the front place stands for its text."""
    candidates = tuple(
        Candidate(standing.get(one.chunk_id, one.chunk_id), one.score, one.rank)
        for one in ranked.candidates
    )
    return replace(ranked, candidates=candidates)


def place(chunk: StoredChunk) -> Place:
    """Return where a chunk stands."""
    return Place(
        document=chunk.uri,
        title=chunk.title,
        heading=chunk.headings,
        page=chunk.page,
        line=chunk.line,
        start=chunk.start,
        end=chunk.end,
        chunk_id=chunk.id,
    )
