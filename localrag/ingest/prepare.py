"""From one file to chunks that are ready to be embedded and written."""

from __future__ import annotations

import time
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING

from localrag.chunking.splitters import strategy
from localrag.errors import LocalragError, ReadError
from localrag.ingest.worker import describe
from localrag.records import Skipped
from localrag.store.documents import DocumentRow
from localrag.text.analysis import analyse
from localrag.text.language import detect_language

if TYPE_CHECKING:
    from collections.abc import Callable

    from localrag.config import Settings
    from localrag.inference.protocols import TokenCounter
    from localrag.ingest.discover import Source
    from localrag.ingest.readers import Readers
    from localrag.records import Chunk, Document, Metadata, Section

__all__ = ["Prepared", "Preparer", "Touched", "prepare_document", "read_source", "words_of"]


@dataclass(frozen=True, slots=True)
class Prepared:
    """A document cut into chunks, with its row."""

    row: DocumentRow
    metadata: Metadata
    sections: tuple[Section, ...]
    chunks: tuple[Chunk, ...]
    words: tuple[tuple[str, str], ...]
    """For each chunk what the index holds: the words of its context and of its body."""


@dataclass(frozen=True, slots=True)
class Touched:
    """A file whose date is another one while its bytes are those that were indexed."""

    document_id: int
    modified_at: int
    read_at: int


@dataclass(frozen=True, slots=True)
class Preparer:
    """Does what can be done with a file before it is embedded; safe on any thread."""

    readers: Readers
    counter: TokenCounter
    settings: Settings

    def __call__(self, source: Source, stored: DocumentRow | None) -> Prepared | Touched | Skipped:
        """Read and cut one file, unless its bytes are those that were indexed, or say why not."""
        read_at = time.time_ns()
        data = read_source(source)
        if isinstance(data, Skipped):
            return data
        content_hash = sha256(data).hexdigest()
        if stored is not None and stored.content_hash == content_hash:
            return Touched(stored.id, source.modified_at, read_at)
        try:
            document = self.readers.read(data, source.uri)
        except ReadError as error:
            return Skipped(source.uri, error.reason, error.detail)
        row = DocumentRow(
            id=0,
            uri=source.uri,
            title=document.title,
            media_type=document.media_type,
            content_hash=content_hash,
            size=len(data),
            modified_at=source.modified_at,
            read_at=read_at,
            language=detect_language(document.text),
        )
        try:
            return prepare_document(row, document, self.counter, self.settings)
        except LocalragError:
            raise
        except Exception as error:  # noqa: BLE001 - no text may stop the run
            return Skipped(source.uri, "crashed", describe(error))


def read_source(source: Source) -> bytes | Skipped:
    """Return a file's bytes, or why they cannot be had."""
    try:
        return source.path.read_bytes()
    except OSError as error:
        return Skipped(source.uri, "unreadable", f"{error.strerror}; check its permissions")


def prepare_document(
    row: DocumentRow, document: Document, counter: TokenCounter, settings: Settings
) -> Prepared:
    """Cut a document that a reader made."""
    sections, chunks = strategy(settings.chunking).split(
        document,
        counter,
        chunk_tokens=settings.chunk_tokens,
        overlap_tokens=settings.overlap_tokens,
        context=settings.context_line,
    )
    words = tuple(words_of(chunk.context, chunk.preamble, chunk.text) for chunk in chunks)
    return Prepared(row, document.metadata, sections, chunks, words)


def words_of(
    context: str, preamble: str, text: str, analysis: Callable[[str], list[str]] = analyse
) -> tuple[str, str]:
    """Return the words of a chunk's context and of its body, as the index stores them.

    Queries are analysed as texts are, so that another `analysis` is for measuring only.
    """
    body = f"{preamble}\n{text}" if preamble else text
    return " ".join(analysis(context)), " ".join(analysis(body))
