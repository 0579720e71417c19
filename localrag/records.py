"""The plain values that travel between the lanes.

A file becomes a `Document` of `Block` spans, a document becomes `Section` and `Chunk` values, a
query becomes a `SearchState` that the stages widen and narrow, and what comes out is a `Hit` or an
`Answer`. Offsets are characters (code points) of `Document.text`, half open, from 0.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol

__all__ = [
    "FAILED",
    "PAGE_BREAK",
    "Allowed",
    "Alternative",
    "Answer",
    "Block",
    "BlockKind",
    "Candidate",
    "Chunk",
    "ChunkSize",
    "Citation",
    "Copies",
    "Document",
    "Filter",
    "GlossaryEntry",
    "Hit",
    "Metadata",
    "Moved",
    "Passage",
    "Place",
    "Progress",
    "ProgressCallback",
    "Properties",
    "RankedList",
    "ReembedReport",
    "SearchResult",
    "SearchState",
    "Section",
    "Skipped",
    "Source",
    "Stage",
    "StageRecord",
    "Status",
    "StoredChunk",
    "SyncReport",
    "Trace",
]

Metadata = Mapping[str, object]
"""JSON-compatible properties of a document: front matter, dates, authors."""

BlockKind = Literal["heading", "paragraph", "list_item", "table", "code", "quote", "caption"]


@dataclass(frozen=True, slots=True)
class Properties:
    """What the user says of every document of a source; None leaves it as it was said before."""

    metadata: Metadata | None = None
    """Wins over what a file says of itself, and over what its path says."""
    labels: tuple[str, ...] | None = None
    """Access labels, see `Filter.labels`."""
    patterns: tuple[str, ...] | None = None
    """Patterns of paths within the source that name parts: ``clients/{client}/{year}/**``."""


@dataclass(frozen=True, slots=True)
class Block:
    """A span of a document's text that has one structural role. Blocks are in order, disjoint."""

    kind: BlockKind
    start: int
    """First character in `Document.text`."""
    end: int
    """One past the last character; the span is not blank and has no blank edges of lines."""
    heading: str = ""
    """Plain text of a heading, without markup; empty for other kinds."""
    level: int = 0
    """1 to 6 for a heading, 0 otherwise."""
    page: int | None = None
    """Page of the source, from 1, where the format has pages."""
    header_rows: int = 0
    """Lines at the start of a table that name its columns: repeated when a table must be cut."""


@dataclass(frozen=True, slots=True)
class Document:
    """What a reader made of one source."""

    text: str
    """Extracted text; every offset refers to it. Only blank characters lie outside `blocks`."""
    blocks: tuple[Block, ...]
    title: str
    """Front matter title, first top heading, or the file's stem."""
    media_type: str
    metadata: Metadata = field(default_factory=dict)
    lines: tuple[tuple[int, int], ...] = ()
    """(position in the text, line of the source file) at the start, and wherever something of the
    source was left out; in between each line break adds one. Empty where there are no lines."""

    def line(self, position: int) -> int | None:
        """Return the line of the source file, from 1, of a character; None without lines."""
        return line_at(self.lines, self.text, 0, position)


def line_at(lines: tuple[tuple[int, int], ...], text: str, start: int, position: int) -> int | None:
    """Return the source line of `position` in a text that begins at `start` of its document."""
    known = bisect_right(lines, position, key=lambda jump: jump[0])
    if not known:
        return None
    origin, line = lines[known - 1]
    return line + text.count("\n", origin - start, position - start)


PAGE_BREAK = "\f"
"""Stands in a document's text wherever a page of the source ends, if the format has pages."""


@dataclass(frozen=True, slots=True)
class Section:
    """A node of a document's heading tree. Index 0 is the document itself (level 0)."""

    heading: str
    level: int
    parent: int | None
    """Index of the enclosing section in the document's list; None for the root."""
    first_chunk: int
    """Ordinal of the first chunk that lies in this section or below it."""
    last_chunk: int
    """Ordinal of the last such chunk; below `first_chunk` where there is none."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """The unit that is indexed, retrieved, reranked and cited."""

    ordinal: int
    """Position among the document's chunks, from 0."""
    kind: str
    """Kind of its blocks, or ``"mixed"``."""
    start: int
    end: int
    text: str
    """Exactly `Document.text[start:end]`."""
    headings: tuple[str, ...]
    """Heading path, outermost first, the heading that gave the title included."""
    context: str
    """``title > heading > heading``, indexed and shown in front of the text."""
    section: int
    """Index into the document's sections."""
    tokens: int
    """Tokens of context, preamble and text together, in the bi-encoder's own count."""
    preamble: str = ""
    """Header rows of a table that was cut, or the signature above a part of a piece of code:
    repeated in front of the text; not part of the slice."""
    page: int | None = None
    lines: tuple[tuple[int, int], ...] = ()
    """As in `Document.lines`, for this chunk alone: its own line first."""
    embeds_context: bool = True
    """Whether the line of context is part of what is embedded."""

    @property
    def passage(self) -> str:
        """What the cross-encoder reads, and the bi-encoder too unless context is kept from it."""
        return passage_text(self.context, self.preamble, self.text)

    @property
    def embedded(self) -> str:
        """What the bi-encoder reads."""
        return passage_text(self.context if self.embeds_context else "", self.preamble, self.text)


@dataclass(frozen=True, slots=True)
class ChunkSize:
    """What statistics need of a chunk."""

    document: str
    """URI."""
    ordinal: int
    kind: str
    text: str
    """Its beginning."""
    tokens: int
    """Tokens of context, preamble and text together."""
    start: int
    end: int
    context_characters: int
    has_preamble: bool


def passage_text(context: str, preamble: str, text: str) -> str:
    """Return what models read of a chunk: its context line, a repeated table header, the text."""
    return "\n".join(part for part in (context, preamble, text) if part)


@dataclass(frozen=True, slots=True)
class StoredChunk:
    """A chunk as it lies in the file, with what is needed to show and to cite it."""

    id: int
    document_id: int
    uri: str
    title: str
    ordinal: int
    kind: str
    text: str
    preamble: str
    context: str
    headings: tuple[str, ...]
    start: int
    end: int
    page: int | None
    lines: tuple[tuple[int, int], ...]
    """(position in the document, line of the source file), as in `Document.lines`."""
    tokens: int
    section_id: int
    previous_id: int | None
    next_id: int | None

    @property
    def line(self) -> int | None:
        """Line of the source file on which the chunk starts, from 1, where there are lines."""
        return self.lines[0][1] if self.lines else None

    def line_at(self, position: int) -> int | None:
        """Return the line of the source file of a character of the document in this chunk."""
        return line_at(self.lines, self.text, self.start, position)

    def page_at(self, position: int) -> int | None:
        """Return the page of a character of the document in this chunk, where there are pages."""
        if self.page is None:
            return None
        return self.page + self.text.count(PAGE_BREAK, 0, position - self.start)

    @property
    def passage(self) -> str:
        """What models read."""
        return passage_text(self.context, self.preamble, self.text)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A chunk that a stage let through."""

    chunk_id: int
    score: float
    """In the stage's own unit: BM25 weight, cosine, reciprocal rank sum, or probability."""
    rank: int
    """Position in the stage's list, from 1."""


@dataclass(frozen=True, slots=True)
class RankedList:
    """The result of one retrieval method for one query."""

    method: str
    """``"bm25"`` or ``"vector"``."""
    query: str
    candidates: tuple[Candidate, ...]
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Alternative:
    """What retrieval looks for besides words of the query."""

    word: str
    """The words as the user typed them."""
    text: str
    """What may stand in a document in their place."""
    source: Literal["glossary", "spelling"]


@dataclass(frozen=True, slots=True)
class GlossaryEntry:
    """An abbreviation with one of the terms that it stands for."""

    short: str
    long: str
    documents: int
    """How many documents explain it so."""
    source: Literal["found", "user"]
    """Whether it was found in documents only, or added by the user."""
    active: bool = True
    """Whether searches use it: the user can switch it off."""


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
    def best(self) -> StoredChunk:
        """The best matched chunk."""
        return next(chunk for chunk in self.chunks if chunk.id == self.matched[0])


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
    document_ids: str = "[]"
    """The ids of the documents, likewise."""


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
class Copies:
    """The other places of one chunk's text."""

    places: tuple[Place, ...]
    """Newest document first, at most 100."""
    count: int
    """How many there are."""


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
    """The matched chunk, widened by its neighbours where context was asked for."""
    chunk_id: int
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


def cite(document: str, line: int | None, page: int | None, heading: tuple[str, ...]) -> str:
    """Return a place in a document in the form that terminals and people understand."""
    place = document if line is None else f"{document}:{line}"
    if page is not None:
        place = f"{place} p. {page}"
    return " > ".join((place, *heading))


@dataclass(frozen=True, slots=True)
class StageRecord:
    """What one stage did."""

    name: str
    """Such as ``"2b. vector"``."""
    milliseconds: float
    survivors: tuple[Candidate, ...]
    """What the stage let through, best first."""
    note: str = ""
    """What else a reader must know: the transformed query, a fallback, a threshold."""


@dataclass(frozen=True, slots=True)
class Trace:
    """Every stage of one query, in order."""

    id: int | None
    """Row in the file; None when the trace was not kept."""
    query: str
    created_at: str
    """UTC, ISO 8601."""
    stages: tuple[StageRecord, ...]

    @property
    def chunk_ids(self) -> frozenset[int]:
        """Ids of all chunks that any stage let through."""
        return frozenset(one.chunk_id for stage in self.stages for one in stage.survivors)

    @property
    def failures(self) -> tuple[str, ...]:
        """What a stage could not do, and what it did instead; empty when all went well."""
        return tuple(
            f"{stage.name} {stage.note}" for stage in self.stages if stage.note.startswith(FAILED)
        )


FAILED = "failed: "
"""Begins the note of a stage that went on without its model."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a question, or the honest absence of one."""

    question: str
    text: str
    """Sentences from the documents, each followed by its ``[n]``; or the "not found" sentence."""
    found: bool
    citations: tuple[Citation, ...]
    trace: Trace


@dataclass(frozen=True, slots=True)
class SearchState:
    """What the stages hand on. Each stage returns a new state."""

    query: str
    """The words the user typed: ranking and answering use nothing else."""
    queries: tuple[str, ...] = ()
    """What retrieval uses: stage 1 sets it."""
    alternatives: tuple[Alternative, ...] = ()
    """What else retrieval by words may find, with less weight: stage 1 sets it."""
    allowed: Allowed | None = None
    """What retrieval may find: the filter sets it; None for every chunk."""
    lists: tuple[RankedList, ...] = ()
    """One list per method and query: stages 2a and 2b add to it."""
    copies: Mapping[int, Copies] = field(default_factory=dict)
    """By chunk: where else its text stands, as far as the filter allows."""
    survivors: tuple[Candidate, ...] = ()
    """What the last stage let through, best first."""
    reranked: bool = False
    """Whether the survivors' scores are the cross-encoder's probabilities: stage 4 says so."""
    unread: frozenset[int] = frozenset()
    """Ids of survivors that stage 4 had no time for: their score is the fused one."""
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


@dataclass(frozen=True, slots=True)
class Skipped:
    """A source that could not be indexed."""

    uri: str
    reason: str
    detail: str


@dataclass(frozen=True, slots=True)
class Moved:
    """A document whose file has another name or lies elsewhere."""

    old: str
    new: str


@dataclass(frozen=True, slots=True)
class SyncReport:
    """What a run of the indexer did, or would do."""

    added: tuple[str, ...] = ()
    updated: tuple[str, ...] = ()
    moved: tuple[Moved, ...] = ()
    unchanged: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    chunks: int = 0
    """Chunks written by this run."""
    tokens: int = 0
    """Tokens embedded by this run."""
    seconds: float = 0.0
    dry_run: bool = False
    """Whether the file was left as it is: everything above is what would happen."""

    @property
    def changed(self) -> bool:
        """Whether a document came, went, moved or was written anew."""
        return bool(self.added or self.updated or self.moved or self.removed)


@dataclass(frozen=True, slots=True)
class ReembedReport:
    """What a change of the bi-encoder did, or, in a dry run, would do."""

    model: str
    dimensions: int
    chunks: int
    """In the file."""
    texts: int
    """Different ones among them: each is embedded once."""
    reused: int
    """Texts whose vectors an earlier, interrupted run had left."""
    embedded: int
    """Texts embedded by this run; in a dry run, those that are left to embed."""
    tokens: int
    """Of those texts, in the new model's own count."""
    bytes: int
    """Room that the new vectors take beside the old ones."""
    swapped: bool
    """Whether searches use the new vectors from now on: not after a dry run."""
    seconds: float


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a run of the indexer stands."""

    done: int
    """Files finished."""
    total: int
    current: str
    """The file that was finished last."""
    chunks: int
    tokens: int


@dataclass(frozen=True, slots=True)
class Source:
    """A file or folder that was indexed, and how."""

    path: str
    include: tuple[str, ...]
    """Patterns of what is taken; empty for everything."""
    exclude: tuple[str, ...]
    """Patterns of what is left out."""
    max_bytes: int | None
    """Larger files are skipped; None: the limit of the settings."""
    metadata: Metadata
    """Properties of every document below it."""
    labels: tuple[str, ...]
    """Access labels of every document below it."""
    path_patterns: tuple[str, ...]
    """Patterns whose named parts become metadata."""


@dataclass(frozen=True, slots=True)
class Status:
    """What a knowledge base holds."""

    path: str
    format_version: int
    documents: int
    chunks: int
    tokens: int
    """Tokens of all chunks, contexts and overlaps included."""
    skipped: int
    bytes: int
    """Size of the file."""
    sources: tuple[str, ...]
    """Files and folders that were indexed."""
    settings: Mapping[str, str]
    """Fingerprint and chunk sizes kept in the file."""
    queries: int
    """Traces kept."""
    indexed: tuple[Source, ...]
    """How each source was indexed, in the order of `sources`: the next sync repeats it."""
    vector_memory: int = 0
    """Bytes of the vectors that this process holds in memory."""
    vector_memory_open: int = 0
    """Bytes that they take in a process that goes on searching; 0 where vec0 is asked instead."""


ProgressCallback = Callable[[Progress], None]
