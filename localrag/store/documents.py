"""Documents, the folders they come from, and the ledger of sources that were skipped."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from localrag.records import Skipped

if TYPE_CHECKING:
    from collections.abc import Iterable

    import apsw

    from localrag.records import Metadata

__all__ = [
    "DocumentRow",
    "add_sources",
    "clear_skipped",
    "count_documents",
    "delete_document",
    "find_document",
    "insert_document",
    "list_documents",
    "list_skipped",
    "list_sources",
    "now",
    "record_skipped",
    "touch_document",
]


@dataclass(frozen=True, slots=True)
class DocumentRow:
    """What the file knows of a document, without its text."""

    id: int
    uri: str
    title: str
    media_type: str
    content_hash: str
    """SHA-256 of the source's bytes, in hexadecimal."""
    size: int
    """Bytes."""
    modified_at: int | None
    """Nanoseconds since 1970, of the file."""
    language: str | None = None
    """ISO 639-1 code of the language that most of it is in; None where none shows."""


def now() -> str:
    """Return the present time, UTC, ISO 8601 to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


COLUMNS = "id, uri, title, media_type, content_hash, size, modified_at, language"


def find_document(connection: apsw.Connection, uri: str) -> DocumentRow | None:
    """Return the document with this URI, or None."""
    row = connection.execute(f"SELECT {COLUMNS} FROM documents WHERE uri = ?", (uri,)).fetchone()  # noqa: S608 - a constant
    return None if row is None else DocumentRow(*row)


def list_documents(connection: apsw.Connection) -> list[DocumentRow]:
    """Return all documents in the order of their URIs."""
    rows = connection.execute(f"SELECT {COLUMNS} FROM documents ORDER BY uri")  # noqa: S608 - a constant
    return [DocumentRow(*row) for row in rows]


def count_documents(connection: apsw.Connection) -> int:
    """Return the number of documents in the file."""
    return int(connection.execute("SELECT count(*) FROM documents").get)


def insert_document(connection: apsw.Connection, row: DocumentRow, metadata: Metadata) -> int:
    """Insert a document (its `id` is ignored) and return the new id."""
    connection.execute(
        "INSERT INTO documents(uri, title, media_type, content_hash, size, modified_at, "
        "indexed_at, language, metadata) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            row.uri,
            row.title,
            row.media_type,
            row.content_hash,
            row.size,
            row.modified_at,
            now(),
            row.language,
            json.dumps(metadata, ensure_ascii=False),
        ),
    )
    return connection.last_insert_rowid()


def touch_document(connection: apsw.Connection, document_id: int, modified_at: int | None) -> None:
    """Note a new file date for a document whose bytes did not change."""
    connection.execute(
        "UPDATE documents SET modified_at = ? WHERE id = ?", (modified_at, document_id)
    )


def delete_document(connection: apsw.Connection, document_id: int) -> None:
    """Delete a document's row; its sections and chunks go with it."""
    connection.execute("DELETE FROM documents WHERE id = ?", (document_id,))


def add_sources(connection: apsw.Connection, paths: Iterable[str]) -> None:
    """Remember what the user asked to index."""
    connection.executemany(
        "INSERT OR IGNORE INTO sources(path, added_at) VALUES(?, ?)",
        [(path, now()) for path in paths],
    )


def list_sources(connection: apsw.Connection) -> list[str]:
    """Return the indexed files and folders."""
    return [str(path) for (path,) in connection.execute("SELECT path FROM sources ORDER BY path")]


def record_skipped(connection: apsw.Connection, skipped: Skipped) -> None:
    """Write down that a source could not be indexed, and why."""
    connection.execute(
        "INSERT INTO skipped(uri, reason, detail, seen_at) VALUES(?, ?, ?, ?) "
        "ON CONFLICT(uri) DO UPDATE SET reason = excluded.reason, detail = excluded.detail, "
        "seen_at = excluded.seen_at",
        (skipped.uri, skipped.reason, skipped.detail, now()),
    )


def clear_skipped(connection: apsw.Connection, uri: str) -> None:
    """Forget that a source was skipped: it was indexed, or it is gone."""
    connection.execute("DELETE FROM skipped WHERE uri = ?", (uri,))


def list_skipped(connection: apsw.Connection) -> list[Skipped]:
    """Return the ledger in the order of the URIs."""
    rows = connection.execute("SELECT uri, reason, detail FROM skipped ORDER BY uri")
    return [Skipped(*row) for row in rows]
