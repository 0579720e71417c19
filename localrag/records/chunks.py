"""What a document is cut into: the tree of its headings, and chunks."""

from __future__ import annotations

from dataclasses import dataclass

from localrag.records.documents import PAGE_BREAK, line_at

__all__ = ["Chunk", "ChunkSize", "Section", "StoredChunk", "passage_text"]


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


def passage_text(context: str, preamble: str, text: str) -> str:
    """Return what models read of a chunk: its context line, a repeated table header, the text."""
    return "\n".join(part for part in (context, preamble, text) if part)
