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
    "SourceRow",
    "clear_skipped",
    "count_documents",
    "delete_document",
    "delete_sources",
    "find_document",
    "insert_document",
    "list_documents",
    "list_skipped",
    "list_sources",
    "metadata_of",
    "now",
    "record_skipped",
    "rename_document",
    "save_sources",
    "skipped_attempts",
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
    origin: str = "file"
    """``"file"``, or ``"memory"`` for a document that a program added."""
    read_at: int | None = None
    """Nanoseconds since 1970, when its bytes were read."""
    language: str | None = None
    """ISO 639-1 code of the language that most of it is in; None where none shows."""


@dataclass(frozen=True, slots=True)
class SourceRow:
    """A file or folder that the user asked to index, and how."""

    path: str
    include: tuple[str, ...] = ()
    """Patterns in the syntax of .gitignore, relative to the folder."""
    exclude: tuple[str, ...] = ()
    max_bytes: int | None = None
    """Larger files are skipped; None: the limit of the settings."""


def now() -> str:
    """Return the present time, UTC, ISO 8601 to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


COLUMNS = "id, uri, title, media_type, content_hash, size, modified_at, origin, read_at, language"


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
        "indexed_at, language, metadata, origin, read_at) "
        "VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
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
            row.origin,
            row.read_at,
        ),
    )
    return connection.last_insert_rowid()


def touch_document(
    connection: apsw.Connection, document_id: int, modified_at: int | None, read_at: int
) -> None:
    """Note the date of a file whose bytes did not change, and when they were read."""
    connection.execute(
        "UPDATE documents SET modified_at = ?, read_at = ? WHERE id = ?",
        (modified_at, read_at, document_id),
    )


def rename_document(connection: apsw.Connection, document_id: int, uri: str, title: str) -> None:
    """Give a document another name; its chunks keep their ids."""
    connection.execute(
        "UPDATE documents SET uri = ?, title = ? WHERE id = ?", (uri, title, document_id)
    )


def metadata_of(connection: apsw.Connection, document_id: int) -> Metadata:
    """Return a document's metadata."""
    text = connection.execute("SELECT metadata FROM documents WHERE id = ?", (document_id,)).get
    found: Metadata = json.loads(str(text))
    return found


def delete_document(connection: apsw.Connection, document_id: int) -> None:
    """Delete a document's row; its sections and chunks go with it."""
    connection.execute("DELETE FROM documents WHERE id = ?", (document_id,))


def save_sources(connection: apsw.Connection, sources: Iterable[SourceRow]) -> None:
    """Remember what the user asked to index, and how; the latest call decides how."""
    connection.executemany(
        "INSERT INTO sources(path, added_at, include, exclude, max_bytes) VALUES(?, ?, ?, ?, ?) "
        "ON CONFLICT(path) DO UPDATE SET include = excluded.include, exclude = excluded.exclude, "
        "max_bytes = excluded.max_bytes",
        [
            (
                source.path,
                now(),
                json.dumps(source.include, ensure_ascii=False),
                json.dumps(source.exclude, ensure_ascii=False),
                source.max_bytes,
            )
            for source in sources
        ],
    )


def list_sources(connection: apsw.Connection) -> list[SourceRow]:
    """Return the indexed files and folders in the order of their paths."""
    rows = connection.execute("SELECT path, include, exclude, max_bytes FROM sources ORDER BY path")
    return [
        SourceRow(str(path), tuple(json.loads(include)), tuple(json.loads(exclude)), max_bytes)
        for path, include, exclude, max_bytes in rows
    ]


def delete_sources(connection: apsw.Connection, paths: Iterable[str]) -> None:
    """Forget that these were indexed, and what was said of them."""
    names = [(path,) for path in paths]
    connection.executemany("DELETE FROM sources WHERE path = ?", names)
    connection.executemany("DELETE FROM source_properties WHERE path = ?", names)


def record_skipped(connection: apsw.Connection, skipped: Skipped, attempt: str = "") -> None:
    """Write down that a source could not be indexed, and why.

    Args:
        connection: inside a transaction.
        skipped: the source and the reason.
        attempt: as long as the next run finds the same here, it need not try again.
    """
    connection.execute(
        "INSERT INTO skipped(uri, reason, detail, seen_at, attempt) VALUES(?, ?, ?, ?, ?) "
        "ON CONFLICT(uri) DO UPDATE SET reason = excluded.reason, detail = excluded.detail, "
        "seen_at = excluded.seen_at, attempt = excluded.attempt",
        (skipped.uri, skipped.reason, skipped.detail, now(), attempt),
    )


def clear_skipped(connection: apsw.Connection, uris: Iterable[str]) -> None:
    """Forget that sources were skipped: they were indexed, or they are gone."""
    connection.executemany("DELETE FROM skipped WHERE uri = ?", [(uri,) for uri in uris])


def list_skipped(connection: apsw.Connection) -> list[Skipped]:
    """Return the ledger in the order of the URIs."""
    rows = connection.execute("SELECT uri, reason, detail FROM skipped ORDER BY uri")
    return [Skipped(*row) for row in rows]


def skipped_attempts(connection: apsw.Connection) -> dict[str, tuple[Skipped, str]]:
    """Return the ledger by URI, with each entry's attempt as `record_skipped` was given it."""
    rows = connection.execute("SELECT uri, reason, detail, attempt FROM skipped")
    return {uri: (Skipped(uri, reason, detail), attempt) for uri, reason, detail, attempt in rows}
