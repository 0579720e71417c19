"""From an empty or an older file to the present tables: numbered steps, one transaction each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from localrag.errors import NewerFormatError, NotAKnowledgeBaseError
from localrag.store.schema import (
    APPLICATION_ID,
    BODY_FIRST,
    GLOSSARY,
    PROPERTIES_AND_COPIES,
    SYNC_BOOKKEEPING,
    TABLES,
)

if TYPE_CHECKING:
    import apsw

__all__ = ["FORMAT_VERSION", "check_identity", "migrate"]

MIGRATIONS: Final = (TABLES, SYNC_BOOKKEEPING, PROPERTIES_AND_COPIES, GLOSSARY, BODY_FIRST)
"""Step n brings a file from version n to n + 1. A step that has been released never changes."""

FOR_FILES_WITHOUT_CHUNKS: Final = frozenset((5,))
"""Versions whose step others do without: to fill an index anew takes minutes."""

FORMAT_VERSION: Final = len(MIGRATIONS)


def check_identity(connection: apsw.Connection, path: str) -> int:
    """Return the file's format version; 0 for an empty file.

    Raises:
        NotAKnowledgeBaseError: another program's database.
        NewerFormatError: written by a later localrag.
    """
    application = connection.pragma("application_id")
    version = int(str(connection.pragma("user_version")))
    tables = connection.execute("SELECT count(*) FROM sqlite_schema").get
    if application == 0 and version == 0 and tables == 0:
        return 0
    if application != APPLICATION_ID:
        raise NotAKnowledgeBaseError(
            f"{path} is an SQLite database of another program. Give localrag a file of its own: "
            "--db NAME.db"
        )
    if version > FORMAT_VERSION:
        raise NewerFormatError(
            f"{path} has format {version}; this localrag reads up to {FORMAT_VERSION}. "
            "Update it: pip install -U localrag"
        )
    return version


def migrate(connection: apsw.Connection, version: int) -> None:
    """Run the steps from `version` on, each in one transaction with its new version number."""
    for number, step in enumerate(MIGRATIONS[version:], start=version + 1):
        connection.execute("BEGIN IMMEDIATE")
        try:
            # A second process may have done the step while this one waited for the lock.
            if int(str(connection.pragma("user_version"))) < number:
                if number not in FOR_FILES_WITHOUT_CHUNKS or not _has_chunks(connection):
                    connection.execute(step)
                connection.pragma("application_id", APPLICATION_ID)
                connection.pragma("user_version", number)
            connection.execute("COMMIT")
        except BaseException:
            connection.execute("ROLLBACK")
            raise


def _has_chunks(connection: apsw.Connection) -> bool:
    return bool(connection.execute("SELECT EXISTS(SELECT 1 FROM chunks)").get)
