"""Stage 6 without an LLM: the sentences that answer best, word for word, each cited."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from localrag.records import Candidate, Citation
from localrag.text.sentences import sentence_spans

if TYPE_CHECKING:
    from collections.abc import Sequence

    from localrag.inference.protocols import Reranker
    from localrag.records import Passage, SearchState, StoredChunk

__all__ = ["NOT_FOUND", "Extract", "compose"]

NOT_FOUND = "Not found in the documents."


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of a passage, with the chunk it stands in."""

    chunk: StoredChunk
    start: int
    """First character in the document's text."""
    end: int
    text: str


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
        chosen = self.choose(state.query, state.passages)
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

    def choose(self, question: str, passages: Sequence[Passage]) -> tuple[Citation, ...]:
        """Return the best sentence, and those that come close to it, best first."""
        sentences = [sentence for passage in passages for sentence in sentences_of(passage)]
        scores = self.reranker.relevance(question, [readable(sentence) for sentence in sentences])
        ranked = sorted(zip(map(float, scores), sentences, strict=True), key=lambda item: -item[0])
        kept = [item for item in ranked if item[0] >= ranked[0][0] * CLOSE][: self.limit]
        return tuple(
            citation(number, sentence, score)
            for number, (score, sentence) in enumerate(kept, start=1)
        )


CLOSE = 0.8
"""Further sentences are given when they reach this share of the best one's probability."""


def sentences_of(passage: Passage) -> list[Sentence]:
    """Return the sentences of a passage that could be an answer; headings alone are not."""
    sentences: list[Sentence] = []
    end = passage.start
    for chunk in passage.chunks:
        # Chunks overlap: a sentence belongs to the first chunk that holds it.
        for start, stop in sentence_spans(chunk.text):
            text = chunk.text[start:stop]
            if chunk.start + start >= end and not text.startswith("#"):
                sentences.append(Sentence(chunk, chunk.start + start, chunk.start + stop, text))
        end = max(end, chunk.end)
    return sentences


def readable(sentence: Sentence) -> str:
    """Return what the cross-encoder reads: a sentence means little without its headings."""
    return f"{sentence.chunk.context}\n{sentence.text}"


def citation(number: int, sentence: Sentence, relevance: float) -> Citation:
    """Return where a sentence stands."""
    chunk = sentence.chunk
    line = chunk.line
    if line is not None:
        line += chunk.text.count("\n", 0, sentence.start - chunk.start)
    return Citation(
        number=number,
        document=chunk.uri,
        title=chunk.title,
        heading=chunk.headings,
        page=chunk.page,
        line=line,
        start=sentence.start,
        end=sentence.end,
        text=sentence.text,
        chunk_id=chunk.id,
        relevance=relevance,
    )


def compose(sentences: Sequence[Citation]) -> str:
    """Return the answer's text: each sentence on one line, followed by its number."""
    if not sentences:
        return NOT_FOUND
    return "\n".join(f"{' '.join(one.text.split())} [{one.number}]" for one in sentences)
