from __future__ import annotations

import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import apsw
import pytest
import sqlite_vec
from support import add_document, chunks_of, unit

from localrag.errors import (
    BusyError,
    KnowledgeBaseError,
    NewerFormatError,
    NotAKnowledgeBaseError,
    ReadOnlyError,
)
from localrag.store import database as database_module
from localrag.store.database import Database, translated
from localrag.store.documents import list_documents
from localrag.store.migrations import FORMAT_VERSION
from localrag.store.settings import get_setting, set_setting
from localrag.store.vectors import search_vectors
from localrag.store.words import search_words

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    """Return an empty knowledge base that is open for writing."""
    opened = Database(tmp_path / "base.db")
    yield opened
    opened.close()


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a locked file be reported at once."""
    monkeypatch.setattr(database_module, "BUSY_MILLISECONDS", 10)


def foreign_file(path: Path) -> bytes:
    connection = apsw.Connection(str(path))
    connection.execute("CREATE TABLE photos(id); INSERT INTO photos VALUES(1)")
    connection.close()
    return path.read_bytes()


# Which files are opened


@pytest.mark.parametrize("read_only", [True, False])
def test_another_programs_database_is_refused_and_left_as_it_was(
    tmp_path: Path, *, read_only: bool
) -> None:
    path = tmp_path / "photos.db"
    before = foreign_file(path)
    with pytest.raises(NotAKnowledgeBaseError, match=r"another program.*--db NAME\.db"):
        Database(path, read_only=read_only)
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["photos.db"]


@pytest.mark.parametrize("read_only", [True, False])
def test_a_newer_format_is_refused_with_the_way_out(tmp_path: Path, *, read_only: bool) -> None:
    path = tmp_path / "base.db"
    database = Database(path)
    database.connection.pragma("user_version", FORMAT_VERSION + 1)
    database.close()
    with pytest.raises(NewerFormatError, match="pip install -U localrag"):
        Database(path, read_only=read_only)


@pytest.mark.parametrize("read_only", [True, False])
@pytest.mark.parametrize("content", [b"not a database " * 100, b"SQLite format 3\x00" + b"?" * 900])
def test_garbage_is_refused(tmp_path: Path, content: bytes, *, read_only: bool) -> None:
    path = tmp_path / "garbage.db"
    path.write_bytes(content)
    with pytest.raises(NotAKnowledgeBaseError, match="not a usable SQLite file"):
        Database(path, read_only=read_only)
    assert path.read_bytes() == content


def test_a_missing_file_is_made_for_writing(tmp_path: Path) -> None:
    Database(tmp_path / "new.db").close()
    assert (tmp_path / "new.db").stat().st_size > 0


def test_a_missing_file_is_not_made_for_reading(tmp_path: Path) -> None:
    with pytest.raises(KnowledgeBaseError, match=r"does not exist.*localrag index"):
        Database(tmp_path / "none.db", read_only=True)
    assert list(tmp_path.iterdir()) == []


def test_an_empty_file_cannot_be_read_but_can_be_filled(tmp_path: Path) -> None:
    path = tmp_path / "empty.db"
    path.touch()
    with pytest.raises(NotAKnowledgeBaseError, match=r"is empty.*localrag index"):
        Database(path, read_only=True)
    Database(path).close()
    Database(path, read_only=True).close()


def test_a_file_in_a_folder_that_does_not_exist_is_an_error_with_advice(tmp_path: Path) -> None:
    with pytest.raises(KnowledgeBaseError, match="Check that its folder exists"):
        Database(tmp_path / "nowhere" / "base.db")


def test_a_folder_is_not_a_knowledge_base(tmp_path: Path) -> None:
    with pytest.raises(KnowledgeBaseError):
        Database(tmp_path)


def test_a_file_that_is_opened_again_keeps_what_it_held(tmp_path: Path) -> None:
    database = Database(tmp_path / "base.db")
    with database.atomic() as connection:
        set_setting(connection, "colour", "blue")
    database.close()
    again = Database(tmp_path / "base.db", read_only=True)
    assert get_setting(again.connection, "colour") == "blue"
    again.close()


def test_a_name_with_uri_characters_is_opened_read_only(tmp_path: Path) -> None:
    path = tmp_path / "50% of #1? é.db"
    Database(path).close()
    Database(path, read_only=True).close()


def test_the_closed_file_is_one_file(tmp_path: Path) -> None:
    database = Database(tmp_path / "base.db")
    add_document(database, "a", chunks_of(["one"]))
    with database.sole_writer():
        pass
    database.close()
    assert [entry.name for entry in tmp_path.iterdir()] == ["base.db"]


def test_a_closed_database_says_so(database: Database) -> None:
    database.close()
    database.close()
    with pytest.raises(KnowledgeBaseError, match="is closed"):
        _ = database.connection


def test_a_connection_that_cannot_be_set_up_is_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_vec, "loadable_path", lambda: str(tmp_path / "no"))
    with pytest.raises(apsw.ExtensionLoadingError):
        Database(tmp_path / "base.db")


# Read-only


def test_a_read_only_file_refuses_every_write(tmp_path: Path) -> None:
    path = tmp_path / "base.db"
    Database(path).close()
    before = path.read_bytes()
    database = Database(path, read_only=True)
    with pytest.raises(ReadOnlyError, match="open read-only"), database.atomic():
        pass
    with pytest.raises(apsw.ReadOnlyError):
        database.connection.execute("DELETE FROM settings")
    database.close()
    assert path.read_bytes() == before


def test_a_folder_without_write_permission_is_read_as_immutable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tests may run as root, whom no permission stops: SQLite's refusal is played."""
    path = tmp_path / "base.db"
    Database(path).close()
    opened: list[str] = []

    class Refusing(apsw.Connection):
        def __init__(self, name: str, flags: int) -> None:
            opened.append(name)
            super().__init__(name, flags=flags)

        def execute(self, statements: str, *rest: object, **more: object) -> apsw.Cursor:
            if "sqlite_schema" in statements and "immutable" not in opened[-1]:
                raise apsw.CantOpenError("no -shm file can be made")
            return super().execute(statements, *rest, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(apsw, "Connection", Refusing)
    database = Database(path, read_only=True)
    assert [name.endswith("?mode=ro&immutable=1") for name in opened] == [False, True]
    assert list_documents(database.connection) == []
    database.close()


# Transactions


def test_a_block_that_fails_leaves_nothing(database: Database) -> None:
    def fail() -> None:
        with database.atomic() as connection:
            set_setting(connection, "a", "1")
            raise RuntimeError("half way")

    with pytest.raises(RuntimeError, match="half way"):
        fail()
    assert get_setting(database.connection, "a") is None
    with database.atomic() as connection:
        set_setting(connection, "a", "2")
    assert get_setting(database.connection, "a") == "2"


def test_an_interrupt_inside_a_block_leaves_nothing(database: Database) -> None:
    def interrupted() -> None:
        with database.atomic() as connection:
            set_setting(connection, "a", "1")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert get_setting(database.connection, "a") is None


def test_a_transaction_that_sqlite_ended_itself_is_not_rolled_back_again(
    database: Database,
) -> None:
    def full() -> None:
        with database.atomic() as connection:
            connection.execute("ROLLBACK")  # as SQLite does when the disk is full
            raise apsw.FullError("database or disk is full")

    with pytest.raises(KnowledgeBaseError, match="Free space on the disk"):
        full()


@pytest.mark.usefixtures("impatient")
def test_a_writer_that_waits_too_long_says_what_is_going_on(tmp_path: Path) -> None:
    database = Database(tmp_path / "base.db")
    other = apsw.Connection(str(tmp_path / "base.db"))
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(BusyError, match="locked by another program"), database.atomic():
        pass
    other.execute("ROLLBACK")
    with database.atomic() as connection:
        set_setting(connection, "a", "1")
    other.close()
    database.close()


@pytest.mark.parametrize(
    ("raised", "expected"),
    [
        (apsw.CorruptError, NotAKnowledgeBaseError),
        (apsw.LockedError, BusyError),
        (apsw.CantOpenError, KnowledgeBaseError),
        (apsw.ReadOnlyError, ReadOnlyError),
        (apsw.IOError, KnowledgeBaseError),
    ],
)
def test_sqlite_errors_about_the_file_become_ours(
    tmp_path: Path, raised: type[apsw.Error], expected: type[KnowledgeBaseError]
) -> None:
    def fail() -> None:
        with translated(tmp_path / "base.db"):
            raise raised("reason")

    with pytest.raises(KnowledgeBaseError, match=r"base\.db") as caught:
        fail()
    assert type(caught.value) is expected
    assert isinstance(caught.value.__cause__, raised)


def test_a_mistake_in_our_sql_is_not_blamed_on_the_file(database: Database) -> None:
    with pytest.raises(apsw.SQLError), database.reading() as connection:
        connection.execute("SELECT nothing FROM nowhere")


# One indexing process per file

HOLD = """
import sys
from localrag.store.database import Database
with Database(sys.argv[1]).sole_writer():
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_second_process_cannot_index_until_the_first_has_ended(database: Database) -> None:
    with subprocess.Popen(  # noqa: S603 - this interpreter, our own script
        [sys.executable, "-c", HOLD, str(database.path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        with pytest.raises(BusyError, match=r"Another localrag is writing to base\.db"):
            hold(database)
        with database.atomic() as connection:  # a trace is kept all the same
            set_setting(connection, "a", "1")
        other.kill()
        other.wait()
        hold(database)


def hold(database: Database) -> None:
    with database.sole_writer():
        pass


def test_the_lock_is_released_when_the_run_fails(database: Database) -> None:
    def fail() -> None:
        with database.sole_writer():
            raise RuntimeError("run")

    with pytest.raises(RuntimeError):
        fail()
    hold(database)


# Threads


def test_threads_search_at_once_and_get_the_same_results(database: Database) -> None:
    texts = [f"word{number} common" for number in range(50)]
    add_document(database, "a", chunks_of(texts), [unit(1.0, n / 50) for n in range(50)])
    barrier = threading.Barrier(4)

    def search() -> list[object]:
        barrier.wait(timeout=10)
        return [
            (
                search_words(database.connection, f"word{number}", 5),
                search_vectors(database.connection, unit(1.0, number / 50), 5),
            )
            for number in range(50)
        ]

    with ThreadPoolExecutor(4) as pool:
        results = [future.result() for future in [pool.submit(search) for _ in range(4)]]
    assert results == [results[0]] * 4


def test_every_thread_has_a_connection_of_its_own(database: Database) -> None:
    with ThreadPoolExecutor(1) as pool:
        other = pool.submit(lambda: database.connection).result()
    assert other is not database.connection
    assert database.connection is database.connection


@pytest.mark.usefixtures("impatient")
def test_writing_threads_queue_however_long_it_takes(database: Database) -> None:
    def count() -> None:
        for _ in range(5):
            with database.atomic() as connection:
                value = int(get_setting(connection, "n") or 0)
                time.sleep(0.02)  # longer than SQLite would wait
                set_setting(connection, "n", str(value + 1))

    with ThreadPoolExecutor(3) as pool:
        for future in [pool.submit(count) for _ in range(3)]:
            future.result()
    assert get_setting(database.connection, "n") == "15"


def test_a_reader_sees_the_old_state_until_a_transaction_is_kept(database: Database) -> None:
    with ThreadPoolExecutor(1) as pool:

        def read() -> str | None:
            return get_setting(database.connection, "a")

        with database.atomic() as connection:
            set_setting(connection, "a", "1")
            assert pool.submit(read).result() is None
        assert pool.submit(read).result() == "1"
