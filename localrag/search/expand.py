"""Stage 5: a small chunk is found, its surroundings are read."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise, product
from math import inf
from typing import TYPE_CHECKING

from localrag.records import Passage
from localrag.search.merge import merge_text
from localrag.store.chunks import fetch_chunks, fetch_range

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import apsw

    from localrag.records import Candidate, SearchState, StoredChunk
    from localrag.search.sentences import Sentences
    from localrag.search.window import Window

__all__ = ["Expand"]


@dataclass(frozen=True, slots=True)
class Expand:
    """Widen the best chunks by their neighbours, merge what touches, keep the ranking's order."""

    connection: apsw.Connection
    neighbours: int
    """Chunks before and after a matched one that may be added."""
    token_budget: int | None
    """Most tokens of all passages together; None for no limit. The best chunk is always kept."""
    limit: int
    """Passages that are wanted; matched chunks where neighbours are added to each."""
    window: Window | Sentences | None = None
    """What is returned with a chunk instead of neighbours."""
    name: str = "5. expand"

    def __call__(self, state: SearchState) -> SearchState:
        """Set the passages; the survivors are the matched chunks that had room."""
        chunks = fetch_chunks(self.connection, [c.chunk_id for c in state.survivors])
        kept, taken = self._take([c for c in state.survivors if c.chunk_id in chunks], chunks)
        passages = self._passages(kept, taken, known_relevance(state))
        note = f"{len(passages)} passages, {sum(p.tokens for p in passages)} tokens"
        return replace(state, survivors=tuple(kept), passages=passages, note=note)

    def _take(
        self, ranked: Sequence[Candidate], chunks: dict[int, StoredChunk]
    ) -> tuple[list[Candidate], dict[int, StoredChunk]]:
        """Return the matches that have room, and all chunks that are to be read."""
        if self.window is not None:
            limit, budget = self.limit, self._budget
            return self.window.take(self.connection, ranked, chunks, limit=limit, budget=budget)
        kept = self._matches(ranked, chunks)
        taken = {c.chunk_id: chunks[c.chunk_id] for c in kept}
        spent = sum(chunk.tokens for chunk in taken.values())
        return kept, taken | self._neighbours(list(taken.values()), self._budget - spent)

    @property
    def _budget(self) -> float:
        return inf if self.token_budget is None else self.token_budget

    def _matches(
        self, ranked: Sequence[Candidate], chunks: dict[int, StoredChunk]
    ) -> list[Candidate]:
        """Return the best candidates, as many as `limit` and the budget allow."""
        kept: list[Candidate] = []
        known: dict[int, StoredChunk] = {}
        spent = runs = 0
        for candidate in ranked:
            chunk = chunks[candidate.chunk_id]
            spent += chunk.tokens
            runs += 1 - self._joined(chunk, known)
            # Neighbours would join almost anything: then every match counts, or the budget that is
            # meant for the surroundings of the best goes to ever worse matches.
            count = len(kept) + 1 if self.neighbours else runs
            if kept and (spent > self._budget or count > self.limit):
                break
            kept.append(candidate)
            known[chunk.id] = chunk
        return kept

    def _joined(self, chunk: StoredChunk, known: Mapping[int, StoredChunk]) -> int:
        """Return how many of the two beside `chunk` are known and touch it."""
        before, after = known.get(chunk.previous_id or 0), known.get(chunk.next_id or 0)
        pairs = ((before, chunk), (chunk, after))
        return sum(self._touch(one, two) for one, two in pairs if one and two)

    def _neighbours(self, matched: Sequence[StoredChunk], budget: float) -> dict[int, StoredChunk]:
        """Return neighbours as far as the budget goes: nearest first, best match first."""
        added: dict[int, StoredChunk] = {}
        known = {chunk.id for chunk in matched}
        closed: set[tuple[int, int]] = set()
        for distance in range(1, self.neighbours + 1):
            for chunk, side in product(matched, (-1, 1)):
                ordinal = chunk.ordinal + side * distance
                for found in fetch_range(self.connection, chunk.document_id, ordinal, ordinal):
                    if found.id in known or (chunk.id, side) in closed:
                        continue
                    if found.tokens > budget:
                        closed.add((chunk.id, side))  # what is farther would stand without it
                        continue
                    budget -= found.tokens
                    known.add(found.id)
                    added[found.id] = found
        return added

    def _runs(self, chunks: Iterable[StoredChunk]) -> list[list[StoredChunk]]:
        """Split chunks into runs that touch, in document order."""
        ordered = sorted(chunks, key=lambda chunk: (chunk.document_id, chunk.ordinal))
        runs: list[list[StoredChunk]] = [[ordered[0]]] if ordered else []
        for before, after in pairwise(ordered):
            if self._touch(before, after):
                runs[-1].append(after)
            else:
                runs.append([after])
        return runs

    def _touch(self, before: StoredChunk, after: StoredChunk) -> bool:
        """Tell whether two chunks make one passage: they follow each other in a document.

        A passage without added context stays in one section, so that its heading is right for all
        of it.
        """
        # By both links: a part of a chunk has none where it is cut.
        follows = before.next_id == after.id and after.previous_id == before.id
        return follows and (self.neighbours > 0 or before.section_id == after.section_id)

    def _passages(
        self,
        kept: Sequence[Candidate],
        taken: dict[int, StoredChunk],
        relevance: dict[int, float],
    ) -> tuple[Passage, ...]:
        """Return one passage per run of neighbouring chunks, in the order of its best match."""
        rank = {candidate.chunk_id: position for position, candidate in enumerate(kept)}
        passages = []
        for run in self._runs(taken.values()):
            best = sorted((c for c in run if c.id in rank), key=lambda chunk: rank[chunk.id])
            passages.append(
                Passage(
                    chunks=tuple(run),
                    matched=tuple(chunk.id for chunk in best),
                    relevance=max(
                        (relevance[c.id] for c in best if c.id in relevance), default=None
                    ),
                    text=merge_text(run),
                )
            )
        return tuple(sorted(passages, key=lambda passage: rank[passage.matched[0]]))


def known_relevance(state: SearchState) -> dict[int, float]:
    """Return the probability of every survivor that the cross-encoder has read."""
    if not state.reranked:
        return {}
    return {one.chunk_id: one.score for one in state.survivors if one.chunk_id not in state.unread}
