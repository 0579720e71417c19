"""What a search and an answer return, with the places where it stands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from localrag.records.trace import Trace

__all__ = ["Answer", "Citation", "Hit", "Place", "SearchResult", "cite"]


@dataclass(frozen=True, slots=True)
class Place:
    """Where else the text of a hit stands, as it is or nearly so."""

    document: str
    title: str
    heading: tuple[str, ...]
    page: int | None
    line: int | None
    start: int
    end: int
    chunk_id: int

    @property
    def citation(self) -> str:
        """Where it stands, for a person."""
        return cite(self.document, self.line, self.page, self.heading)


@dataclass(frozen=True, slots=True)
class Hit:
    """One search result."""

    rank: int
    relevance: float | None
    """Probability that the chunk answers the query; None when the search was not reranked."""
    document: str
    """Path or URI."""
    title: str
    heading: tuple[str, ...]
    page: int | None
    """Of the pages that the matched chunk stands on, the one with most of the query's words."""
    line: int | None
    start: int
    end: int
    text: str
    """The matched chunk, widened by what is around it where that was asked for."""
    chunk_id: int
    matches: tuple[tuple[int, int], ...] = ()
    """Where the chunks that were found lie within `text`, the best first: the first character of
    each, and the one after its last. The rest of the text is context."""
    also_in: tuple[Place, ...] = ()
    """Other places of the same text, newest document first: the filter's own, at most 100."""
    also_in_count: int = 0
    """How many other places there are."""

    @property
    def citation(self) -> str:
        """Where the text stands, for a person: ``guide.md:12 > Keys > Rotation``."""
        return cite(self.document, self.line, self.page, self.heading)


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The hits of one search, best first: iterate it, index it, take its length."""

    query: str
    hits: tuple[Hit, ...]
    trace: Trace

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)

    def __len__(self) -> int:
        return len(self.hits)

    def __getitem__(self, index: int) -> Hit:
        return self.hits[index]


@dataclass(frozen=True, slots=True)
class Citation:
    """Where one sentence of an answer stands, word for word."""

    number: int
    """The ``[n]`` in the answer's text, from 1."""
    document: str
    title: str
    heading: tuple[str, ...]
    page: int | None
    line: int | None
    start: int
    end: int
    text: str
    """The cited sentence or table row: exactly the document's text from `start` to `end`."""
    shown: str
    """The same on one line, as the answer gives it; a table row with the names of its columns."""
    chunk_id: int
    relevance: float
    """Probability that the sentence answers the question."""
    also_in: tuple[Place, ...] = ()
    """Other places of the chunk that holds it, as of a hit."""
    also_in_count: int = 0
    """How many other places there are."""

    @property
    def citation(self) -> str:
        """Where the sentence stands, for a person."""
        return cite(self.document, self.line, self.page, self.heading)


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a question, or the honest absence of one."""

    question: str
    text: str
    """Sentences from the documents, each followed by its ``[n]``; or the "not found" sentence."""
    found: bool
    citations: tuple[Citation, ...]
    trace: Trace


def cite(document: str, line: int | None, page: int | None, heading: tuple[str, ...]) -> str:
    """Return a place in a document in the form that terminals and people understand."""
    place = document if line is None else f"{document}:{line}"
    if page is not None:
        place = f"{place} p. {page}"
    return " > ".join((place, *heading))
