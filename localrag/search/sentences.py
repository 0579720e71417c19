"""What is returned with a chunk of any size: the sentences before and after it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import zip_longest
from math import ceil
from typing import TYPE_CHECKING

from localrag.search.merge import merge_text
from localrag.store.chunks import fetch_range
from localrag.text.sentences import sentence_spans

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import apsw

    from localrag.records import Candidate, StoredChunk

__all__ = ["Sentences", "part_of"]


@dataclass(frozen=True, slots=True)
class Sentences:
    """The sentences around a chunk that was found, in its own section: parts of its neighbours."""

    count: int
    """Most sentences before and after it. A row of a table counts as one."""

    def take(
        self,
        connection: apsw.Connection,
        ranked: Sequence[Candidate],
        chunks: Mapping[int, StoredChunk],
        *,
        limit: int,
        budget: float,
    ) -> tuple[list[Candidate], dict[int, StoredChunk]]:
        """Return the matches that had room, and what is to be read: they and parts of others.

        As with `Window`, a match that lies in the sentences around a better one is read with it,
        and adds none. `budget` are tokens; a part of a chunk costs its share of the chunk's.
        """
        kept: list[Candidate] = []
        taken = _Taken(budget)
        windows = 0
        for candidate in ranked:
            chunk = chunks[candidate.chunk_id]
            is_new = chunk.id not in taken.spans
            if is_new and windows == limit:
                break
            if not taken.add(chunk, chunk.start, chunk.end, even_beyond=not kept):
                break
            kept.append(candidate)
            if is_new:
                windows += 1
                closed: set[bool] = set()  # what is farther would stand without what has no room
                for found, start, end in self._around(connection, chunk):
                    side = found.ordinal > chunk.ordinal
                    if side not in closed and not taken.add(found, start, end):
                        closed.add(side)
        return kept, taken.parts

    def _around(
        self, connection: apsw.Connection, chunk: StoredChunk
    ) -> Iterator[tuple[StoredChunk, int, int]]:
        """Yield chunks with the span of each that is wanted, both sides in turn, nearest first."""
        # Each chunk holds text that the one before does not: so many hold enough sentences.
        first, last = chunk.ordinal - self.count, chunk.ordinal + self.count
        section = [
            found
            for found in fetch_range(connection, chunk.document_id, first, last)
            if found.section_id == chunk.section_id
        ]
        before = [one for one in section if one.ordinal < chunk.ordinal]
        after = [one for one in section if one.ordinal > chunk.ordinal]
        for pair in zip_longest(self._before(before, chunk), self._after(chunk, after)):
            yield from (found for found in pair if found is not None)

    def _before(
        self, run: list[StoredChunk], chunk: StoredChunk
    ) -> Iterator[tuple[StoredChunk, int, int]]:
        text = merge_text([*run, chunk])[: -len(chunk.text)]
        if spans := sentence_spans(text)[-self.count :]:
            start = run[0].start + spans[0][0]
            for one in reversed(run):
                if one.end > start:
                    yield one, max(one.start, start), one.end

    def _after(
        self, chunk: StoredChunk, run: list[StoredChunk]
    ) -> Iterator[tuple[StoredChunk, int, int]]:
        text = merge_text([chunk, *run])[len(chunk.text) :]
        if spans := sentence_spans(text)[: self.count]:
            end = chunk.end + spans[-1][1]
            for one in run:
                if one.start < end:
                    yield one, one.start, min(one.end, end)


@dataclass(slots=True)
class _Taken:
    """What is to be read of each chunk, within a budget of tokens."""

    budget: float
    spans: dict[int, tuple[StoredChunk, int, int]] = field(default_factory=dict)
    """By the chunk's id: the chunk, and the first and last of its characters that are read."""

    def add(self, chunk: StoredChunk, start: int, end: int, *, even_beyond: bool = False) -> bool:
        """Add a span where there is room; what lies between two spans of a chunk is read too."""
        paid = 0
        if chunk.id in self.spans:
            _, known_start, known_end = self.spans[chunk.id]
            paid = part_of(chunk, known_start, known_end).tokens
            start, end = min(start, known_start), max(end, known_end)
        cost = part_of(chunk, start, end).tokens - paid
        if cost > self.budget and not even_beyond:
            return False
        self.budget -= cost
        self.spans[chunk.id] = chunk, start, end
        return True

    @property
    def parts(self) -> dict[int, StoredChunk]:
        """The parts, by the id of the chunk."""
        return {id_: part_of(*span) for id_, span in self.spans.items()}


def part_of(chunk: StoredChunk, start: int, end: int) -> StoredChunk:
    """Return the part of a chunk between two positions of the document.

    Where it is cut it has no neighbour any more. Its tokens are its share of the chunk's.
    """
    if (start, end) == (chunk.start, chunk.end):
        return chunk
    return replace(
        chunk,
        text=chunk.text[start - chunk.start : end - chunk.start],
        start=start,
        end=end,
        page=chunk.page_at(start),
        lines=_lines_of(chunk, start, end),
        tokens=ceil(chunk.tokens * (end - start) / len(chunk.text)),
        previous_id=chunk.previous_id if start == chunk.start else None,
        next_id=chunk.next_id if end == chunk.end else None,
    )


def _lines_of(chunk: StoredChunk, start: int, end: int) -> tuple[tuple[int, int], ...]:
    line = chunk.line_at(start)
    later = tuple(jump for jump in chunk.lines if start < jump[0] < end)
    return later if line is None else ((start, line), *later)
