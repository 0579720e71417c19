"""Opening the file: one connection per thread, one writer at a time, clear errors."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

import apsw
import sqlite_vec

from localrag.errors import (
    BusyError,
    KnowledgeBaseError,
    NotAKnowledgeBaseError,
    ReadOnlyError,
)
from localrag.store.functions import add_functions
from localrag.store.lock import locked
from localrag.store.migrations import FORMAT_VERSION, check_identity, migrate

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator

__all__ = ["Database"]

BUSY_MILLISECONDS: Final = 5_000
"""How long a statement waits for another process's transaction: one document, so far below this."""


class Database:
    """A knowledge base file, open for reading or for reading and writing.

    Readers are safe on any thread: each thread gets a connection of its own. Writers of one
    process queue on a lock.

    Raises:
        NotAKnowledgeBaseError: not SQLite, damaged, or another program's database.
        NewerFormatError: written by a later localrag.
        KnowledgeBaseError: the file or its folder cannot be opened.
    """

    def __init__(self, path: str | os.PathLike[str], *, read_only: bool = False) -> None:
        self.path = Path(path).absolute()
        self.read_only = read_only
        self._threads = threading.local()
        self._connections: list[apsw.Connection] = []
        self._connections_lock = threading.Lock()
        self._write_lock = threading.RLock()
        self._closed = False
        try:
            with translated(self.path):
                self._prepare()
        except BaseException:
            self.close()
            raise

    def _prepare(self) -> None:
        if self.read_only and not self.path.exists():
            raise KnowledgeBaseError(
                f"{self.path} does not exist. Make it first: localrag index FOLDER --db {self.path}"
            )
        version = check_identity(self.connection, str(self.path))
        if not self.read_only:
            # Readers go on while one writes; a killed process loses no committed document. The
            # file keeps this mode, so another program's file must be recognised before.
            self.connection.pragma("journal_mode", "wal")
            migrate(self.connection, version)
        elif version == 0:
            raise NotAKnowledgeBaseError(
                f"{self.path} is empty. Fill it first: localrag index FOLDER --db {self.path}"
            )
        elif version < FORMAT_VERSION:
            raise ReadOnlyError(
                f"{self.path} was written by an older localrag (format {version}, now "
                f"{FORMAT_VERSION}) and cannot be brought up to date read-only. Open it once where "
                f"it may be written: localrag status --db {self.path}"
            )

    @property
    def connection(self) -> apsw.Connection:
        """This thread's connection, opened at first use."""
        if self._closed:
            raise KnowledgeBaseError(f"{self.path.name} is closed. Open it again to use it.")
        connection: apsw.Connection | None = getattr(self._threads, "connection", None)
        if connection is None:
            connection = connect(self.path, read_only=self.read_only)
            self._threads.connection = connection
            with self._connections_lock:
                self._connections.append(connection)
        return connection

    @contextmanager
    def reading(self) -> Iterator[apsw.Connection]:
        """Give this thread's connection for a block that only reads.

        Raises:
            NotAKnowledgeBaseError: the file turned out to be damaged.
            BusyError: another program holds the file.
        """
        with translated(self.path):
            yield self.connection

    @contextmanager
    def atomic(self) -> Iterator[apsw.Connection]:
        """Run a block as one transaction: all of it is kept, or nothing.

        Raises:
            ReadOnlyError: the file is open read-only.
            BusyError: another process held the file for longer than the busy timeout.
        """
        self.require_writable()
        with self._write_lock, translated(self.path):
            connection = self.connection
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
            except BaseException:
                # A full disk makes SQLite roll back by itself.
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise
            connection.execute("COMMIT")

    def require_writable(self) -> None:
        """Raise ReadOnlyError if the file is open read-only."""
        if self.read_only:
            raise ReadOnlyError(
                f"{self.path.name} is open read-only. Open it for writing, or copy it to a place "
                "where you may write."
            )

    @contextmanager
    def sole_writer(self) -> Iterator[None]:
        """Hold the file against a second indexing process for the length of the block.

        The lock is the operating system's: it ends with the process, however that dies. Single
        transactions, such as keeping a trace, do not need it.

        Raises:
            BusyError: another process is indexing into this file.
            ReadOnlyError: the file is open read-only, or its folder may not be written.
        """
        if self.read_only:
            raise self._read_only_error()
        with locked(self.path), translated(self.path):
            yield

    def _read_only_error(self) -> ReadOnlyError:
        return ReadOnlyError(
            f"{self.path.name} is open read-only. Open it for writing, or copy it to a place where "
            "you may write."
        )

    def close(self) -> None:
        """Close every thread's connection. The last one folds the write-ahead log into the file."""
        self._closed = True
        with self._connections_lock:
            for connection in self._connections:
                connection.close()
            self._connections.clear()


def connect(path: Path, *, read_only: bool) -> apsw.Connection:
    """Return a connection with sqlite-vec loaded and our pragmas set."""
    connection = _open_read_only(path) if read_only else apsw.Connection(str(path))
    try:
        connection.set_busy_timeout(BUSY_MILLISECONDS)
        connection.enable_load_extension(True)
        connection.load_extension(sqlite_vec.loadable_path())
        connection.enable_load_extension(False)
        # What is no database is refused here, and not by whatever needs its schema next.
        connection.execute("SELECT count(*) FROM sqlite_schema").get  # noqa: B018 - as below
        add_functions(connection)
        if not read_only:
            connection.pragma("synchronous", "normal")
        connection.pragma("foreign_keys", "on")
        connection.pragma("temp_store", "memory")
        connection.pragma("mmap_size", 1 << 30)
        connection.pragma("cache_size", -64_000)  # KiB: an index of some 100,000 chunks
    except BaseException:
        connection.close()
        raise
    return connection


def _open_read_only(path: Path) -> apsw.Connection:
    uri = "file:" + quote(str(path)) + "?mode=ro"
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    connection = apsw.Connection(uri, flags=flags)
    try:
        connection.execute("SELECT count(*) FROM sqlite_schema").get  # noqa: B018 - forces the open
    except (apsw.CantOpenError, apsw.ReadOnlyError):
        # A file in WAL mode in a folder where no -shm file can be made: nobody else writes there.
        connection.close()
        return apsw.Connection(uri + "&immutable=1", flags=flags)
    except BaseException:
        connection.close()
        raise
    return connection


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Turn SQLite's errors about the file into ours, each with what to do next."""
    try:
        yield
    except (apsw.NotADBError, apsw.CorruptError) as error:
        raise NotAKnowledgeBaseError(
            f"{path} is not a usable SQLite file ({error}). If it was a knowledge base, restore a "
            "copy or index the documents again into a new file."
        ) from error
    except (apsw.BusyError, apsw.LockedError) as error:
        raise BusyError(
            f"{path.name} is locked by another program ({error}). Close that program and try again."
        ) from error
    except apsw.CantOpenError as error:
        raise KnowledgeBaseError(
            f"Cannot open {path}. Check that its folder exists and that you may write to it."
        ) from error
    except apsw.ReadOnlyError as error:
        raise ReadOnlyError(
            f"{path} cannot be written. Change its permissions, or copy it to a place where you "
            "may write."
        ) from error
    except (apsw.FullError, apsw.IOError) as error:
        raise KnowledgeBaseError(
            f"Writing to {path.name} failed ({error}). Free space on the disk and run the command "
            "again: what was finished before is kept."
        ) from error
