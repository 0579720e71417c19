"""Counts and sizes of a file, and whether it is whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

from localrag.records import Properties, Source, Status
from localrag.store.documents import list_sources
from localrag.store.properties import list_properties
from localrag.store.settings import all_settings

if TYPE_CHECKING:
    from pathlib import Path

    import apsw

__all__ = ["read_status", "verify"]


def read_status(connection: apsw.Connection, path: Path) -> Status:
    """Return what the file at `path` holds."""

    def number(sql: str) -> int:
        return int(connection.execute(sql).get)

    sources = _sources(connection)
    return Status(
        path=str(path),
        format_version=int(str(connection.pragma("user_version"))),
        documents=number("SELECT count(*) FROM documents"),
        chunks=number("SELECT count(*) FROM chunks"),
        tokens=number("SELECT coalesce(sum(tokens), 0) FROM chunks"),
        skipped=number("SELECT count(*) FROM skipped"),
        bytes=path.stat().st_size,
        sources=tuple(source.path for source in sources),
        settings=all_settings(connection),
        queries=number("SELECT count(*) FROM queries"),
        indexed=sources,
    )


def _sources(connection: apsw.Connection) -> tuple[Source, ...]:
    said = list_properties(connection)
    rows = [(row, said.get(row.path, Properties())) for row in list_sources(connection)]
    return tuple(
        Source(
            path=row.path,
            include=row.include,
            exclude=row.exclude,
            max_bytes=row.max_bytes,
            metadata=properties.metadata or {},
            labels=properties.labels or (),
            path_patterns=properties.patterns or (),
        )
        for row, properties in rows
    )


def verify(connection: apsw.Connection) -> list[str]:
    """Return what is wrong with the file, in words; an empty list when it is whole.

    SQLite's own check, then ours: every chunk has its words and its vector, nothing has more, and
    the neighbour links run through each document from end to end.
    """
    with connection:  # one snapshot, while others may be writing
        # FTS5 keeps the index's structure in memory and renews it at a query, not at a check:
        # without this, what another connection has written meanwhile looks like damage.
        connection.execute("SELECT rowid FROM chunk_words LIMIT 1").fetchall()
        problems = [
            str(line) for (line,) in connection.execute("PRAGMA integrity_check") if line != "ok"
        ]
        for description, sql in CHECKS:
            count = int(connection.execute(sql).get)
            if count:
                problems.append(f"{count} {description}")
    return problems


CHECKS = (
    (
        "chunks without words",
        "SELECT count(*) FROM chunks WHERE id NOT IN (SELECT id FROM chunk_words_docsize)",
    ),
    (
        "word rows without a chunk",
        "SELECT count(*) FROM chunk_words_docsize WHERE id NOT IN (SELECT id FROM chunks)",
    ),
    (
        "chunks without a vector",
        "SELECT count(*) FROM chunks WHERE id NOT IN (SELECT rowid FROM chunk_vectors_rowids)",
    ),
    (
        "vectors without a chunk",
        "SELECT count(*) FROM chunk_vectors_rowids WHERE rowid NOT IN (SELECT id FROM chunks)",
    ),
    (
        "broken neighbour links",
        """SELECT count(*) FROM (SELECT previous_id, next_id,
        lag(id) OVER document AS previous, lead(id) OVER document AS following
        FROM chunks WINDOW document AS (PARTITION BY document_id ORDER BY ordinal))
        WHERE previous_id IS NOT previous OR next_id IS NOT following""",
    ),
    (
        "documents whose chunks are not numbered from 0 without a gap",
        """SELECT count(*) FROM (SELECT 1 FROM chunks GROUP BY document_id
        HAVING min(ordinal) != 0 OR max(ordinal) + 1 != count(*))""",
    ),
    (
        "rows whose document or section is gone",
        "SELECT count(*) FROM pragma_foreign_key_check",
    ),
)
