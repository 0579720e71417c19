"""Stage 6 without an LLM: the sentences that answer best, word for word, each cited."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from localrag.answer.statements import statements_of
from localrag.errors import RemoteError
from localrag.inference.odds import between
from localrag.records import FAILED, Candidate, Citation, Copies

if TYPE_CHECKING:
    from collections.abc import Sequence

    from localrag.answer.statements import Statement
    from localrag.inference.protocols import Reranker
    from localrag.records import SearchState

__all__ = ["NOT_FOUND", "NOT_JUDGED", "Extract", "answer_text", "compose"]

NOT_FOUND = "Not found in the documents."
NOT_JUDGED = "No answer: the model that judges the passages could not be asked."


@dataclass(frozen=True, slots=True)
class Extract:
    """Let the cross-encoder read every sentence of the passages against the question."""

    reranker: Reranker
    min_relevance: float
    """Probability that the best passage must reach; below it nothing was found."""
    limit: int
    """Most sentences of the answer."""
    name: str = "6. answer"

    def __call__(self, state: SearchState) -> SearchState:
        """Set the sentences; none when the documents do not answer the question."""
        judged = [p.relevance for p in state.passages if p.relevance is not None]
        if judged and max(judged) < self.min_relevance:
            return self.not_found(state, f"best passage {max(judged):.2f}")
        try:
            chosen = self.choose(state)
        except RemoteError as error:
            return replace(state, sentences=(), survivors=(), note=f"{FAILED}{error}")
        if not chosen:
            return self.not_found(state, "no passage holds a sentence")
        # Passages that were not reranked have no relevance: then the sentence's own decides.
        if not judged and chosen[0].relevance < self.min_relevance:
            return self.not_found(state, f"best sentence {chosen[0].relevance:.2f}")
        survivors = tuple(
            Candidate(sentence.chunk_id, sentence.relevance, sentence.number) for sentence in chosen
        )
        return replace(state, sentences=chosen, survivors=survivors, note="")

    def not_found(self, state: SearchState, reason: str) -> SearchState:
        """Return the state of a question that the documents do not answer."""
        note = f"not found: {reason}, needed {self.min_relevance:.2f}"
        return replace(state, sentences=(), survivors=(), note=note)

    def choose(self, state: SearchState) -> tuple[Citation, ...]:
        """Return the best sentence, and those that come close to it, best first."""
        statements = [found for passage in state.passages for found in statements_of(passage)]
        alone, scores = self._scores(state.query, statements)
        ranked = sorted(zip(scores, alone, statements, strict=True), key=lambda item: -item[0])
        needed = CLOSE * max(scores, default=0.0)
        # What follows the best sentence is praised for it: another one must do without, too.
        kept = [
            (score, statement)
            for place, (score, own, statement) in enumerate(ranked)
            if place == 0 or min(score, own) >= needed
        ]
        return tuple(
            citation(number, statement, score, state.copies.get(statement.chunk.id, ALONE))
            for number, (score, statement) in enumerate(kept[: self.limit], start=1)
        )

    def _scores(
        self, query: str, statements: Sequence[Statement]
    ) -> tuple[list[float], list[float]]:
        """Return how probably each statement answers: read alone, and after the one before too."""
        after = [found for found in statements if found.before]
        passages = [found.passage for found in statements]
        passages += [found.passage_with_before for found in after]
        scores = [float(score) for score in self.reranker.relevance(query, passages)]
        alone, follows = scores[: len(statements)], iter(scores[len(statements) :])
        return alone, [
            between(own, next(follows), ALONE_SHARE) if found.before else own
            for own, found in zip(alone, statements, strict=True)
        ]


ALONE_SHARE: Final = 0.5
"""What a sentence counts alone, beside what it says after the one before (decisions.md, 59)."""
CLOSE = 0.8
"""Further sentences are given when they reach this share of the best one's probability, also when
they are read alone."""


ALONE: Final = Copies((), 0)
"""Of a text that stands nowhere else."""


def citation(number: int, statement: Statement, relevance: float, copies: Copies) -> Citation:
    """Return where a statement stands."""
    chunk = statement.chunk
    return Citation(
        number=number,
        document=chunk.uri,
        title=chunk.title,
        heading=chunk.headings,
        page=chunk.page_at(statement.start),
        line=chunk.line_at(statement.start),
        start=statement.start,
        end=statement.end,
        text=statement.text,
        shown=statement.shown,
        chunk_id=chunk.id,
        relevance=relevance,
        also_in=copies.places,
        also_in_count=copies.count,
    )


def answer_text(state: SearchState) -> str:
    """Return the answer's text, or why there is none."""
    failed = not state.sentences and state.note.startswith(FAILED)
    return NOT_JUDGED if failed else compose(state.sentences)


def compose(sentences: Sequence[Citation]) -> str:
    """Return the answer's text: each sentence on one line, followed by its number."""
    if not sentences:
        return NOT_FOUND
    return "\n".join(f"{one.shown} [{one.number}]" for one in sentences)
