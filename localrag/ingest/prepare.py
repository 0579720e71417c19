"""From one file to chunks that are ready to be embedded and written."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING

from localrag.chunking.splitters import STRATEGIES, splitter
from localrag.errors import ReadError
from localrag.formats.registry import read_document
from localrag.records import Skipped
from localrag.store.documents import DocumentRow
from localrag.text.language import detect_language

if TYPE_CHECKING:
    from localrag.config import Settings
    from localrag.inference.protocols import TokenCounter
    from localrag.ingest.discover import Source
    from localrag.records import Chunk, Document, Metadata, Section

__all__ = ["Prepared", "prepare_document", "prepare_source", "read_source"]


@dataclass(frozen=True, slots=True)
class Prepared:
    """A document cut into chunks, with its row."""

    row: DocumentRow
    metadata: Metadata
    sections: tuple[Section, ...]
    chunks: tuple[Chunk, ...]


def read_source(source: Source) -> bytes | Skipped:
    """Return a file's bytes, or why they cannot be had."""
    try:
        return source.path.read_bytes()
    except OSError as error:
        return Skipped(source.uri, "unreadable", f"{error.strerror}; check its permissions")


def prepare_source(
    source: Source, data: bytes, counter: TokenCounter, settings: Settings
) -> Prepared | Skipped:
    """Read and cut one file, or say why it cannot be read."""
    try:
        document = read_document(data, source.uri)
    except ReadError as error:
        return Skipped(source.uri, error.reason, error.detail)
    row = DocumentRow(
        id=0,
        uri=source.uri,
        title=document.title,
        media_type=document.media_type,
        content_hash=sha256(data).hexdigest(),
        size=len(data),
        modified_at=source.modified_at,
        language=detect_language(document.text),
    )
    return prepare_document(row, document, counter, settings)


def prepare_document(
    row: DocumentRow, document: Document, counter: TokenCounter, settings: Settings
) -> Prepared:
    """Cut a document that a reader made."""
    sections, chunks = splitter(STRATEGIES[0])(
        document,
        counter,
        chunk_tokens=settings.chunk_tokens,
        overlap_tokens=settings.overlap_tokens,
    )
    return Prepared(row, document.metadata, sections, chunks)
