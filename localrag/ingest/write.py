"""One document, one transaction: its old rows go and its new rows come, or nothing happens."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from localrag.ingest.copies import mark_copies
from localrag.store.chunks import chunk_hash, chunk_ids_of, insert_chunks, insert_sections
from localrag.store.documents import (
    clear_skipped,
    delete_document,
    find_document,
    insert_document,
)
from localrag.store.properties import assign_properties
from localrag.store.vectors import delete_vectors, insert_vectors, vectors_by_hash
from localrag.store.words import delete_words, insert_words
from localrag.text.analysis import analyse

if TYPE_CHECKING:
    from collections.abc import Sequence

    import apsw

    from localrag.inference.protocols import Embedder, FloatArray
    from localrag.ingest.prepare import Prepared
    from localrag.records import Chunk
    from localrag.store.database import Database

__all__ = ["embed_all", "remove_document", "write_document"]


def embed_all(
    connection: apsw.Connection, embedder: Embedder, batch: Sequence[Prepared]
) -> tuple[list[FloatArray], int]:
    """Return each document's vectors, and how many tokens had to be embedded for them.

    Texts that the file has embedded before, in whichever document, are not embedded again.
    """
    chunks = {chunk_hash(chunk): chunk for prepared in batch for chunk in prepared.chunks}
    known = vectors_by_hash(connection, chunks)
    missing = {key: chunk for key, chunk in chunks.items() if key not in known}
    fresh = embedder.embed_passages([chunk.passage for chunk in missing.values()])
    known.update(zip(missing, fresh, strict=True))
    empty = np.empty((0, embedder.dimensions), dtype=np.float32)
    vectors = [
        np.stack([known[chunk_hash(chunk)] for chunk in prepared.chunks])
        if prepared.chunks
        else empty
        for prepared in batch
    ]
    return vectors, sum(chunk.tokens for chunk in missing.values())


def _words(chunk: Chunk) -> tuple[str, str]:
    body = f"{chunk.preamble}\n{chunk.text}" if chunk.preamble else chunk.text
    return " ".join(analyse(chunk.context)), " ".join(analyse(body))


def write_document(database: Database, prepared: Prepared, vectors: FloatArray) -> None:
    """Replace whatever the file holds under this document's URI."""
    words = [_words(chunk) for chunk in prepared.chunks]
    with database.atomic() as connection:
        _remove(connection, prepared.row.uri)
        document_id = insert_document(connection, prepared.row, prepared.metadata)
        assign_properties(connection, document_id, prepared.row.uri)
        section_ids = insert_sections(connection, document_id, prepared.sections)
        ids = insert_chunks(connection, document_id, section_ids, prepared.chunks)
        insert_words(connection, ids, words)
        insert_vectors(connection, ids, vectors)
        mark_copies(connection, ids, prepared.chunks, words, vectors)
        clear_skipped(connection, prepared.row.uri)


def remove_document(database: Database, uri: str) -> None:
    """Take a document out of the file, with all that hangs on it."""
    with database.atomic() as connection:
        _remove(connection, uri)


def _remove(connection: apsw.Connection, uri: str) -> None:
    old = find_document(connection, uri)
    if old is None:
        return
    ids = chunk_ids_of(connection, old.id)
    delete_words(connection, ids)
    delete_vectors(connection, ids)
    delete_document(connection, old.id)
