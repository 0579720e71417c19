"""One document, one transaction: its old rows go and its new rows come, or nothing happens."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from localrag.formats.spans import stem_of
from localrag.ingest.copies import mark_copies
from localrag.ingest.moves import is_named_by_file, retitle
from localrag.ingest.short_forms import write_short_forms
from localrag.store.chunks import (
    chunk_hash,
    chunk_ids_of,
    fetch_chunks,
    insert_chunks,
    insert_sections,
    update_contexts,
)
from localrag.store.documents import (
    clear_skipped,
    delete_document,
    find_document,
    insert_document,
    metadata_of,
    rename_document,
    touch_document,
)
from localrag.store.properties import assign_properties
from localrag.store.vectors import (
    delete_vectors,
    insert_vectors,
    require_dimensions,
    vector_dimensions,
    vectors_by_hash,
)
from localrag.store.words import delete_words, insert_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    import apsw

    from localrag.inference.protocols import Embedder, FloatArray, TokenCounter
    from localrag.ingest.discover import Source
    from localrag.ingest.prepare import Prepared
    from localrag.store.database import Database
    from localrag.store.documents import DocumentRow

__all__ = ["embed_all", "move_document", "remove_document", "write_document"]


def embed_all(
    connection: apsw.Connection, embedder: Embedder, batch: Sequence[Prepared]
) -> tuple[list[FloatArray], int]:
    """Return each document's vectors, and how many tokens had to be embedded for them.

    Texts that the file has embedded before, in whichever document, are not embedded again.
    """
    chunks = {chunk_hash(chunk): chunk for prepared in batch for chunk in prepared.chunks}
    known = vectors_by_hash(connection, chunks)
    missing = {key: chunk for key, chunk in chunks.items() if key not in known}
    fresh = embedder.embed_passages([chunk.embedded for chunk in missing.values()])
    if missing:
        require_dimensions(connection, fresh.shape[1])
    known.update(zip(missing, fresh, strict=True))
    empty = np.empty((0, vector_dimensions(connection)), dtype=np.float32)
    vectors = [
        np.stack([known[chunk_hash(chunk)] for chunk in prepared.chunks])
        if prepared.chunks
        else empty
        for prepared in batch
    ]
    return vectors, sum(chunk.tokens for chunk in missing.values())


def write_document(database: Database, prepared: Prepared, vectors: FloatArray) -> None:
    """Replace whatever the file holds under this document's URI."""
    with database.atomic() as connection:
        _remove(connection, prepared.row.uri)
        document_id = insert_document(connection, prepared.row, prepared.metadata)
        assign_properties(connection, document_id, prepared.row.uri)
        section_ids = insert_sections(connection, document_id, prepared.sections)
        ids = insert_chunks(connection, document_id, section_ids, prepared.chunks)
        insert_words(connection, ids, prepared.words)
        insert_vectors(connection, ids, vectors)
        mark_copies(connection, ids, prepared.chunks, prepared.words, vectors)
        write_short_forms(connection, document_id, prepared.chunks)
        clear_skipped(connection, [prepared.row.uri])


def move_document(
    database: Database, row: DocumentRow, source: Source, read_at: int, counter: TokenCounter
) -> bool:
    """Give a document the name of the file that holds its bytes now; False where that cannot be.

    `read_at` is when those bytes were read, at the earliest, in nanoseconds since 1970.

    Chunks keep their ids and vectors. Where the title is the file's name it changes too, with the
    contexts and their words; the vectors keep what the old name gave them until the text changes.
    """
    with database.atomic() as connection:
        chunks = fetch_chunks(connection, chunk_ids_of(connection, row.id))
        title = row.title
        if is_named_by_file(row, metadata_of(connection, row.id), chunks.values()):
            title = stem_of(source.uri)
        if title != row.title:
            retitled = retitle(chunks, title, counter)
            if retitled is None:
                return False
            update_contexts(connection, [(one.id, one.context, one.tokens) for one in retitled])
            ids = [one.id for one in retitled]
            delete_words(connection, ids)
            insert_words(connection, ids, [one.words for one in retitled])
        rename_document(connection, row.id, source.uri, title)
        assign_properties(connection, row.id, source.uri)
        touch_document(connection, row.id, source.modified_at, read_at)
        clear_skipped(connection, [source.uri])
    return True


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
