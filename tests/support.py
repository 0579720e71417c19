"""What the tests of the lanes share: chunks and documents in a few words, exact vectors."""

from __future__ import annotations

import os
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING

import numpy as np

from localrag.inference.fake import FakeEmbedder, FakeReranker
from localrag.knowledge_base import KnowledgeBase
from localrag.records import Chunk, Section
from localrag.store.chunks import insert_chunks, insert_sections
from localrag.store.documents import DocumentRow, insert_document
from localrag.store.vectors import create_vectors, insert_vectors
from localrag.store.words import insert_words

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from localrag.config import Settings
    from localrag.inference.protocols import Embedder, FloatArray
    from localrag.store.database import Database

DIMENSIONS = 4


def unit(*values: float) -> NDArray[np.float32]:
    """Return a vector of length one that points where `values` point."""
    vector = np.array([*values, *[0.0] * (DIMENSIONS - len(values))], dtype=np.float32)
    return np.asarray(vector / np.linalg.norm(vector), dtype=np.float32)


def chunks_of(texts: Sequence[str], *, tokens: int | None = None) -> list[Chunk]:
    """Return one chunk per text, as if the texts stood in a document with an empty line between."""
    chunks = []
    start = 0
    for ordinal, text in enumerate(texts):
        chunks.append(
            Chunk(
                ordinal=ordinal,
                kind="paragraph",
                start=start,
                end=start + len(text),
                text=text,
                headings=(),
                context="Title",
                section=0,
                tokens=len(text.split()) if tokens is None else tokens,
                lines=((start, 1 + 2 * ordinal),),
            )
        )
        start += len(text) + 2
    return chunks


def document_row(uri: str, content: bytes = b"") -> DocumentRow:
    """Return a row for a text file."""
    return DocumentRow(
        id=0,
        uri=uri,
        title="Title",
        media_type="text/plain",
        content_hash=sha256(content).hexdigest(),
        size=len(content),
        modified_at=1,
    )


def add_document(
    database: Database,
    uri: str,
    chunks: Sequence[Chunk],
    vectors: Sequence[NDArray[np.float32]] | None = None,
) -> list[int]:
    """Write a document whose chunks' words are their plain words; return the chunk ids."""
    section = Section(heading="", level=0, parent=None, first_chunk=0, last_chunk=len(chunks) - 1)
    if vectors is None:
        vectors = [unit(1.0)] * len(chunks)
    with database.atomic() as connection:
        create_vectors(connection, DIMENSIONS)
        document_id = insert_document(connection, document_row(uri), {})
        section_ids = insert_sections(connection, document_id, [section])
        ids = insert_chunks(connection, document_id, section_ids, chunks)
        insert_words(connection, ids, [("title", chunk.text.lower()) for chunk in chunks])
        insert_vectors(connection, ids, np.array(vectors, dtype=np.float32))
    return ids


def write_files(folder: Path, files: dict[str, str]) -> Path:
    """Write text files below `folder` and return it."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


class ScriptedReranker:
    """A cross-encoder whose probabilities a test dictates; it notes what it was asked."""

    fingerprint = "scripted"

    def __init__(self, score: Callable[[str], float]) -> None:
        self.score = score
        self.asked: list[tuple[str, list[str]]] = []

    def relevance(self, query: str, passages: Sequence[str]) -> FloatArray:
        """Return `score` of every passage, whatever the query."""
        self.asked.append((query, list(passages)))
        return np.array([self.score(passage) for passage in passages], dtype=np.float32)

    def close(self) -> None:
        """Hold nothing, release nothing."""


class CountingEmbedder:
    """An embedder that notes every passage it is given."""

    def __init__(self, inner: Embedder) -> None:
        self.inner = inner
        self.dimensions = inner.dimensions
        self.fingerprint = inner.fingerprint
        self.counter = inner.counter
        self.passages: list[str] = []
        self.calls = 0

    def embed_passages(self, texts: Sequence[str]) -> FloatArray:
        """Return what the inner embedder returns."""
        self.calls += 1
        self.passages += texts
        return self.inner.embed_passages(texts)

    def embed_query(self, text: str) -> FloatArray:
        """Return what the inner embedder returns."""
        return self.inner.embed_query(text)

    def close(self) -> None:
        """Close the inner embedder."""
        self.inner.close()


def open_base(
    path: Path, settings: Settings | None = None, *, read_only: bool = False
) -> KnowledgeBase:
    """Open a knowledge base with the exact fake models."""
    return KnowledgeBase(
        path,
        read_only=read_only,
        settings=settings,
        embedder=FakeEmbedder(),
        reranker=FakeReranker(),
    )


@dataclass(frozen=True)
class Contents:
    """All that a knowledge base holds, without row ids and dates of runs."""

    documents: list[tuple[object, ...]]
    sections: list[tuple[object, ...]]
    chunks: list[tuple[object, ...]]
    words: list[tuple[object, ...]]
    vectors: list[tuple[object, ...]]
    skipped: list[tuple[object, ...]]


def contents(kb: KnowledgeBase) -> Contents:
    """Return what `kb` holds, comparable with another file's contents."""
    connection = kb.database.connection
    connection.execute(
        "CREATE VIRTUAL TABLE IF NOT EXISTS temp.occurrences "
        "USING fts5vocab('main', 'chunk_words', 'instance')"
    )

    def rows(sql: str) -> list[tuple[object, ...]]:
        return sorted(connection.execute(sql).fetchall(), key=repr)

    return Contents(
        documents=rows(
            "SELECT uri, title, media_type, content_hash, size, modified_at, language, metadata, "
            "labels FROM documents"
        ),
        sections=rows(
            "SELECT d.uri, s.level, s.heading, s.first_chunk, s.last_chunk, p.heading "
            "FROM sections AS s JOIN documents AS d ON d.id = s.document_id "
            "LEFT JOIN sections AS p ON p.id = s.parent_id"
        ),
        chunks=rows(
            "SELECT d.uri, c.ordinal, c.kind, c.text, c.preamble, c.context, c.headings, c.start, "
            'c."end", c.page, c.lines, c.tokens, c.content_hash, s.heading FROM chunks AS c '
            "JOIN documents AS d ON d.id = c.document_id JOIN sections AS s ON s.id = c.section_id"
        ),
        words=rows(
            'SELECT d.uri, c.ordinal, o.term, o.col, o."offset" FROM temp.occurrences AS o '
            "JOIN chunks AS c ON c.id = o.doc JOIN documents AS d ON d.id = c.document_id"
        ),
        vectors=rows(
            "SELECT d.uri, c.ordinal, v.embedding FROM chunk_vectors AS v "
            "JOIN chunks AS c ON c.id = v.chunk_id JOIN documents AS d ON d.id = c.document_id"
        ),
        skipped=rows("SELECT uri, reason, detail FROM skipped"),
    )


def embedded(kb: KnowledgeBase) -> list[str]:
    """Return the passages that a base with a `CountingEmbedder` embedded since the last call."""
    assert isinstance(kb.embedder, CountingEmbedder)
    passages, kb.embedder.passages = kb.embedder.passages, []
    return passages


def age(folder: Path, seconds: int = 3_600) -> None:
    """Date every file back: one that was changed just now is read again by the next run."""
    for path in folder.rglob("*"):
        if path.is_file() and not path.is_symlink():
            date = path.stat().st_mtime_ns - seconds * 1_000_000_000
            os.utime(path, ns=(date, date))


def chunk_ids(kb: KnowledgeBase, uri: str) -> list[int]:
    """Return the ids of a document's chunks."""
    rows = kb.database.connection.execute(
        "SELECT chunks.id FROM chunks JOIN documents ON documents.id = document_id "
        "WHERE uri = ? ORDER BY ordinal",
        (uri,),
    )
    return [id_ for (id_,) in rows]
