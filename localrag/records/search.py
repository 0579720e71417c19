"""What the stages of a search hand on to each other."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

    from localrag.records.chunks import StoredChunk
    from localrag.records.glossary import Alternative
    from localrag.records.results import Citation, Place
    from localrag.records.trace import Candidate

__all__ = ["Allowed", "Copies", "Filter", "Passage", "RankedList", "SearchState", "Stage"]


@dataclass(frozen=True, slots=True)
class Filter:
    """Which documents a search looks at; what is not given lets everything through."""

    where: str = ""
    """Expression over the documents' properties, see docs/filters.md."""
    paths: tuple[str, ...] = ()
    """Patterns of which a document's path must match one."""
    labels: tuple[str, ...] | None = None
    """Of the documents with labels only those that share one; None looks at no labels."""


@dataclass(frozen=True, slots=True)
class Allowed:
    """The chunks that a filter lets through."""

    documents: int
    """Documents that pass."""
    chunks: int
    """Their chunks."""
    ids: str
    """The ids of the chunks, ascending, as a JSON list: how SQLite takes a set as one value."""


@dataclass(frozen=True, slots=True)
class RankedList:
    """The result of one retrieval method for one query."""

    method: str
    """``"bm25"`` or ``"vector"``."""
    query: str
    candidates: tuple[Candidate, ...]
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Copies:
    """The other places of one chunk's text."""

    places: tuple[Place, ...]
    """Newest document first, at most 100."""
    count: int
    """How many there are."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A span of one document: a matched chunk with its neighbours, merged where they touch."""

    chunks: tuple[StoredChunk, ...]
    """Consecutive chunks in document order."""
    matched: tuple[int, ...]
    """Ids of the chunks that were retrieved, best first; the rest of the span is context."""
    relevance: float | None
    """Highest probability of a matched chunk to answer the query; None if not reranked."""
    text: str
    """The document's text from `start` to `end`."""

    @property
    def start(self) -> int:
        """First character of the span."""
        return self.chunks[0].start

    @property
    def end(self) -> int:
        """One past the last character of the span."""
        return max(chunk.end for chunk in self.chunks)

    @property
    def tokens(self) -> int:
        """Tokens of the chunks, shared text counted twice."""
        return sum(chunk.tokens for chunk in self.chunks)

    @property
    def matches(self) -> tuple[tuple[int, int], ...]:
        """Where the matched chunks lie within `text`, best first: (start, end)."""
        spans = {one.id: (one.start - self.start, one.end - self.start) for one in self.chunks}
        return tuple(spans[id_] for id_ in self.matched)

    @property
    def best(self) -> StoredChunk:
        """The best matched chunk."""
        return next(chunk for chunk in self.chunks if chunk.id == self.matched[0])


@dataclass(frozen=True, slots=True)
class SearchState:
    """What the stages hand on. Each stage returns a new state."""

    query: str
    """The words the user typed, less the operators: ranking and answering use nothing else."""
    queries: tuple[str, ...] = ()
    """What retrieval uses: stage 1 sets it."""
    alternatives: tuple[Alternative, ...] = ()
    """What documents may have in place of words of the query: stage 1 sets it."""
    allowed: Allowed | None = None
    """What retrieval may find: operators and the filter set it; None for every chunk."""
    required: tuple[str, ...] = ()
    """FTS5 expressions of what the query's operators ask for: one of what BM25 looks for."""
    lists: tuple[RankedList, ...] = ()
    """One list per method and query: stages 2a and 2b add to it."""
    copies: Mapping[int, Copies] = field(default_factory=dict)
    """By chunk: where else its text stands, as far as the filter allows."""
    survivors: tuple[Candidate, ...] = ()
    """What the last stage let through, best first."""
    reranked: bool = False
    """Whether the survivors' scores are the cross-encoder's probabilities: stage 4 says so."""
    unread: frozenset[int] = frozenset()
    """Ids of survivors that stage 4 did not read: their score is the fused one."""
    passages: tuple[Passage, ...] = ()
    """Stage 5: spans in the order of their best chunk."""
    sentences: tuple[Citation, ...] = ()
    """Stage 6: the sentences of the answer; empty means not found."""
    note: str = ""
    """Remark of the last stage for the trace."""


class Stage(Protocol):
    """One step of a search: parameters are fields, the work is the call."""

    @property
    def name(self) -> str:
        """Number and word, such as ``"3. fuse"``."""
        ...

    def __call__(self, state: SearchState) -> SearchState:
        """Return the state after this stage; never modifies its argument."""
        ...
