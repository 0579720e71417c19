"""The abbreviations of a document, taken from its chunks: code explains none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from localrag.store.chunks import chunk_ids_of, fetch_chunks
from localrag.store.glossary import documents_behind, insert_short_forms
from localrag.text.short_forms import SHORT_FORMS_VERSION, find_short_forms

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import apsw

    from localrag.records import Chunk, StoredChunk
    from localrag.store.database import Database

__all__ = ["catch_up", "prose", "write_short_forms"]


def write_short_forms(
    connection: apsw.Connection, document_id: int, chunks: Sequence[Chunk | StoredChunk]
) -> None:
    """Write the abbreviations that a document's chunks explain; inside its transaction."""
    pairs = find_short_forms(prose(chunks))
    insert_short_forms(connection, document_id, pairs, SHORT_FORMS_VERSION)


def catch_up(database: Database, stop: Callable[[], object] = lambda: None) -> None:
    """Look through documents that were indexed by a version that found other abbreviations.

    `stop` is called before each one and may raise.
    """
    for document_id in documents_behind(database.connection, SHORT_FORMS_VERSION):
        stop()
        with database.atomic() as connection:
            chunks = fetch_chunks(connection, chunk_ids_of(connection, document_id))
            write_short_forms(connection, document_id, list(chunks.values()))


def prose(chunks: Iterable[Chunk | StoredChunk]) -> str:
    """Return the text of chunks that are not code, what they share once."""
    pieces: list[str] = []
    end = 0
    for chunk in sorted(chunks, key=lambda chunk: chunk.ordinal):
        if chunk.kind == "code":
            continue
        apart = "" if chunk.start <= end else "\n\n"
        pieces.append(apart + chunk.text[max(0, end - chunk.start) :])
        end = max(end, chunk.end)
    return "".join(pieces)
