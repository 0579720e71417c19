"""Makes the file as small as what it holds: what was deleted is not in its bytes afterwards.

SQLite, FTS5 and vec0 each keep what was deleted until something overwrites it: SQLite in free
pages, FTS5 in the segments of its index, vec0 in blocks of 1,024 vectors whose places it marks as
free.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from localrag.store.vector_forms import stored_form

if TYPE_CHECKING:
    import apsw

    from localrag.store.database import Database

__all__ = ["compact"]


def compact(database: Database) -> int:
    """Rebuild the file without what was deleted, and return the number of bytes that it lost.

    It needs free space on the disk for a second copy. Killed at any moment it leaves the file as it
    was, or compacted.

    Raises:
        BusyError: another process is indexing, or reading all the time.
        ReadOnlyError: the file is open read-only.
        KnowledgeBaseError: the disk is full; nothing is lost.
    """
    with database.sole_writer():
        _fold(database.connection)
        before = database.path.stat().st_size
        with database.atomic() as connection:
            connection.execute("INSERT INTO chunk_words(chunk_words) VALUES('optimize')")
            rebuild_vectors(connection)
        database.connection.execute("VACUUM")
        _fold(database.connection)
        return before - database.path.stat().st_size


def rebuild_vectors(connection: apsw.Connection) -> None:
    """Write the vectors into a new table, densely: vec0 takes no row out of its blocks."""
    sql = connection.execute("SELECT sql FROM sqlite_schema WHERE name = 'chunk_vectors'").get
    if sql is None:
        return
    form, _ = stored_form(connection)
    connection.execute(
        "CREATE TABLE kept_vectors(chunk_id INTEGER PRIMARY KEY, embedding BLOB); "
        "INSERT INTO kept_vectors SELECT chunk_id, embedding FROM chunk_vectors; "
        "DROP TABLE chunk_vectors"
    )
    connection.execute(str(sql))
    connection.execute(
        "INSERT INTO chunk_vectors(chunk_id, embedding) "  # noqa: S608 - a constant
        # In the order of the key: a sorter would lose what vec0 is told of the type.
        f"SELECT chunk_id, {form.constructor}(embedding) FROM kept_vectors ORDER BY chunk_id; "
        "DROP TABLE kept_vectors"
    )


def _fold(connection: apsw.Connection) -> None:
    """Bring the write-ahead log into the file, and leave nothing in it."""
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
