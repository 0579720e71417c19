"""Stage 4: the cross-encoder reads the query and each candidate together."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from math import inf, log
from typing import TYPE_CHECKING, Final

from localrag.errors import RemoteError
from localrag.records import FAILED, Candidate
from localrag.search.reading import as_read, read_again, window_tokens
from localrag.store.chunks import fetch_chunks

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import apsw

    from localrag.inference.protocols import Reranker
    from localrag.records import SearchState, StoredChunk

__all__ = ["AGAIN", "FUSED_WEIGHT", "Rerank", "evidence"]

FUSED_WEIGHT: Final = 75.0
"""Of the fused score beside the cross-encoder's log-odds, chosen by models/training/evidence.py.
The best of both lists gets 2.5 from it, the last of both next to nothing."""

DOUBT: Final = 0.01
"""Added to the probability that a passage answers and to that it does not, before their logarithm:
a candidate at .001 is no more wrong than one at .01, and none is out of reach of what was found."""

AGAIN: Final = 10
"""Candidates that are read a second time, in windows."""

CLOSER: Final = 1.5
"""What reading again takes against reading once, at most: each window comes with its context."""

BATCH: Final = 6
"""Passages that are read between two looks at the clock: few enough to stop in time."""


@dataclass(frozen=True, slots=True)
class Rerank:
    """Let the cross-encoder read the best candidates against the original query, and order them.

    What it reads is added to what retrieval found (see `evidence`): two methods that put a chunk
    far ahead should not be overruled by a small cross-encoder that is unsure. A survivor's score is
    the cross-encoder's probability alone, which therefore need not fall from rank to rank.

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
        fused = {one.chunk_id: one.score for one in state.survivors}
        started = self.clock()
        try:
            scores, fastest = self._read(state.query, [chunks[id_] for id_ in ids], started)
        except RemoteError as error:
            note = f"{FAILED}{error} The order stays as it was."
            return replace(state, survivors=state.survivors[: self.top], note=note)
        probabilities = dict(zip(ids, scores, strict=False))
        unread = ids[len(scores) :]
        best = self._order(probabilities, fused)[: self.again]
        if self._late(self.clock() - started + fastest * CLOSER * len(best) / BATCH):
            best = []
        closer = self._read_again(state.query, [chunks[id_] for id_ in best], probabilities)
        probabilities |= closer
        order = [*self._order(probabilities, fused), *unread]
        known = fused | probabilities
        survivors = tuple(
            Candidate(id_, known[id_], rank) for rank, id_ in enumerate(order, start=1)
        )
        note = self._note(scores, len(unread)) + self._note_again(len(closer))
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

    @staticmethod
    def _note_again(chunks: int) -> str:
        return f"; {chunks} again in windows" if chunks else ""

    def _order(self, probabilities: Mapping[int, float], fused: Mapping[int, float]) -> list[int]:
        # Sorting is stable: equals stay in the fused order.
        return sorted(
            probabilities,
            key=lambda id_: -evidence(probabilities[id_], fused[id_], self.fused_weight),
        )


def evidence(probability: float, fused: float, fused_weight: float = FUSED_WEIGHT) -> float:
    """Return the cross-encoder's log-odds, doubted by `DOUBT`, plus the weighted fused score."""
    own = min(max(probability, 0.0), 1.0)  # a reranker of the caller's may return anything
    return log((own + DOUBT) / (1 - own + DOUBT)) + fused_weight * fused
