"""Stage 4: the cross-encoder reads the query and each candidate together."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from math import inf
from typing import TYPE_CHECKING, Final

from localrag.errors import RemoteError
from localrag.records import FAILED, Candidate
from localrag.search.evidence import FUSED_WEIGHT, NAMES_WEIGHT, Evidence, share_of_names
from localrag.search.files import source_files
from localrag.search.reading import as_read, read_again, window_tokens
from localrag.store.chunks import fetch_chunks

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import apsw

    from localrag.inference.protocols import Reranker
    from localrag.records import SearchState, StoredChunk

__all__ = ["AGAIN", "Rerank"]

AGAIN: Final = 10
"""Candidates that are read a second time, in windows."""

CLOSER: Final = 1.5
"""What reading again takes against reading once, at most: each window comes with its context."""

BATCH: Final = 6
"""Passages that are read between two looks at the clock: few enough to stop in time."""


@dataclass(frozen=True, slots=True)
class Rerank:
    """Let the cross-encoder read the best candidates against the original query, and order them.

    What it reads is added to what retrieval found and to the names that a chunk has (see
    `Evidence`): two methods that put a chunk far ahead should not be overruled by a small
    cross-encoder that is unsure. A survivor's score is the cross-encoder's probability alone, which
    therefore need not fall from rank to rank.

    Those that then stand first are read again, window by window, and put in order anew: see
    `read_again`.
    """

    connection: apsw.Connection
    reranker: Reranker
    top: int
    """Candidates that are read; the rest is let go."""
    again: int = AGAIN
    """Candidates that are read a second time, by a model that reads windows."""
    fused_weight: float = FUSED_WEIGHT
    names_weight: float = NAMES_WEIGHT
    sure: float | None = None
    """Probability of one of the `first` above which no more are read; None to read all."""
    first: int = 0
    """Candidates that are read in any case."""
    budget: float | None = None
    """Seconds for reading, None for no limit. Candidates are read in fused order, at least one
    batch of them; those for which no time is left stay behind the ones that were read."""
    clock: Callable[[], float] = time.perf_counter
    name: str = "4. rerank"

    def __call__(self, state: SearchState) -> SearchState:
        """Set the survivors to the reranked top; the score is the probability.

        Where a remote cross-encoder cannot be asked, the top stays in the order it came in.
        """
        wanted = [candidate.chunk_id for candidate in state.survivors[: self.top]]
        chunks = fetch_chunks(self.connection, wanted)
        ids = [id_ for id_ in wanted if id_ in chunks]
        started = self.clock()
        try:
            scores, fastest = self._read(state.query, [chunks[id_] for id_ in ids], started)
        except RemoteError as error:
            note = f"{FAILED}{error} The order stays as it was."
            return replace(state, survivors=state.survivors[: self.top], note=note)
        probabilities = dict(zip(ids, scores, strict=False))
        unread = ids[len(scores) :]
        known = self._evidence(state, chunks)
        best = known.order(probabilities)[: self.again]
        if self._late(self.clock() - started + fastest * CLOSER * len(best) / BATCH):
            best = []
        closer = self._read_again(state.query, [chunks[id_] for id_ in best], probabilities)
        probabilities |= closer
        order = [*known.order(probabilities), *unread]
        shown = {one.chunk_id: one.score for one in state.survivors} | probabilities
        survivors = tuple(
            Candidate(id_, shown[id_], rank) for rank, id_ in enumerate(order, start=1)
        )
        note = self._note(scores, len(unread)) + _note_beside(len(closer), known)
        return replace(
            state, survivors=survivors, reranked=True, unread=frozenset(unread), note=note
        )

    def _read(
        self, query: str, chunks: Sequence[StoredChunk], started: float
    ) -> tuple[list[float], float]:
        """Return the probabilities of as many chunks, from the first on, as are to be read.

        And the seconds that the fastest batch took.
        """
        scores: list[float] = []
        before = started
        fastest = inf  # of all batches: the first one may have had to load the model
        while len(scores) < len(chunks):
            batch = chunks[len(scores) : len(scores) + self._batch(len(scores))]
            passages = [as_read(chunk, query) for chunk in batch]
            scores += map(float, self.reranker.relevance(query, passages))
            now = self.clock()
            fastest = min(fastest, now - before)
            before = now
            if self._decided(scores) or self._late(now - started + fastest):
                break
        return scores, fastest

    def _read_again(
        self, query: str, chunks: Sequence[StoredChunk], probabilities: Mapping[int, float]
    ) -> dict[int, float]:
        """Return the probabilities of chunks after a second look, if the model takes one."""
        tokens = window_tokens(self.reranker)
        if tokens is None or not chunks:
            return {}
        return read_again(self.reranker, query, chunks, probabilities, tokens)

    def _batch(self, read: int) -> int:
        """Return how many passages to read before the next look at the clock and at the scores."""
        if self.budget is not None:
            return BATCH
        return self.first if self.sure is not None and read < self.first else self.top

    def _decided(self, scores: Sequence[float]) -> bool:
        return self.sure is not None and len(scores) >= self.first and max(scores) > self.sure

    def _late(self, seconds: float) -> bool:
        return self.budget is not None and seconds > self.budget

    def _note(self, scores: Sequence[float], unread: int) -> str:
        if not unread:
            return f"read {len(scores)} passages"
        read = f"read {len(scores)} of {len(scores) + unread} passages"
        if self._decided(scores) or self.budget is None:
            return f"{read}: one answers with a probability of {max(scores):.2f}"
        return f"{read} in the {1000 * self.budget:.0f} ms allowed"

    def _evidence(self, state: SearchState, chunks: Mapping[int, StoredChunk]) -> Evidence:
        return Evidence(
            {one.chunk_id: one.score for one in state.survivors},
            share_of_names(state.query, chunks.values()),
            source_files(self.connection, chunks),
            self.fused_weight,
            self.names_weight,
        )


def _note_beside(again: int, known: Evidence) -> str:
    """Return what was done beside reading once, each with the number of chunks."""
    named = sum(share > 0 for share in known.names.values())
    return (f"; {again} again in windows" if again else "") + (
        f"; {named} with a name that is asked about" if named else ""
    )
