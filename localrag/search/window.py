"""What is returned with a small chunk: the sentences around it, or its section."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

from localrag.store.chunks import fetch_range

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import apsw

    from localrag.records import Candidate, StoredChunk

__all__ = ["Window"]


@dataclass(frozen=True, slots=True)
class Window:
    """The chunks around one that was found, in its own section, nearest first."""

    reach: int
    """Most chunks before and after it."""
    tokens: float = inf
    """Most tokens of all of them together."""

    def take(
        self,
        connection: apsw.Connection,
        ranked: Sequence[Candidate],
        chunks: Mapping[int, StoredChunk],
        *,
        limit: int,
        budget: float,
    ) -> tuple[list[Candidate], dict[int, StoredChunk]]:
        """Return the matches that had room, and all chunks of their windows.

        A match that lies in the window of a better one is part of that, and opens none: a section
        that matches in many places would otherwise be returned whole. `limit` counts windows, and
        `budget` the tokens of all of them; the best match is always kept.
        """
        kept: list[Candidate] = []
        taken: dict[int, StoredChunk] = {}
        windows = 0
        for candidate in ranked:
            chunk = chunks[candidate.chunk_id]
            if chunk.id not in taken:
                if windows == limit or (kept and chunk.tokens > budget):
                    break
                windows += 1
                taken[chunk.id] = chunk
                budget -= chunk.tokens
                for found in self._around(connection, chunk, budget):
                    # Where two windows meet, what they share is paid once.
                    budget -= 0 if found.id in taken else found.tokens
                    taken[found.id] = found
            kept.append(candidate)
        return kept, taken

    def _around(
        self, connection: apsw.Connection, chunk: StoredChunk, budget: float
    ) -> Iterator[StoredChunk]:
        """Yield the chunks of a window, both sides in turn, without a gap."""
        first, last = chunk.ordinal - self.reach, chunk.ordinal + self.reach
        section = {
            found.ordinal: found
            for found in fetch_range(connection, chunk.document_id, first, last)
            if found.section_id == chunk.section_id
        }
        room = min(self.tokens - chunk.tokens, budget)
        sides = {-1, 1}
        for distance in range(1, self.reach + 1):
            for side in sorted(sides):
                found = section.get(chunk.ordinal + side * distance)
                if found is None or found.tokens > room:
                    sides.discard(side)
                    continue
                room -= found.tokens
                yield found
