from __future__ import annotations

from pathlib import Path

import apsw
import pytest
from support import add_document, chunks_of

from localrag.errors import ReadOnlyError
from localrag.records import Skipped
from localrag.store.database import Database
from localrag.store.documents import SourceRow, list_documents, list_sources, skipped_attempts
from localrag.store.migrations import FORMAT_VERSION, migrate
from localrag.store.schema import APPLICATION_ID, TABLES
from localrag.store.vectors import create_vectors
from localrag.store.words import insert_words, search_words

SNAPSHOT = Path(__file__).with_name("schema.sql")


def tables_and_indexes(connection: apsw.Connection) -> str:
    """Return the SQL of everything but the tables that FTS5, vec0 and SQLite keep for themselves.

    Those belong to their extensions and change with their versions.
    """
    rows = connection.execute(
        "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite!_%' "
        "ESCAPE '!' AND name NOT LIKE 'chunk!_words!_%' ESCAPE '!' "
        "AND name NOT LIKE 'chunk!_vectors!_%' ESCAPE '!' ORDER BY rowid"
    )
    return ";\n\n".join(str(sql) for (sql,) in rows) + ";\n"


def test_the_tables_of_a_fresh_file_are_the_released_ones(tmp_path: Path) -> None:
    database = Database(tmp_path / "fresh.db")
    create_vectors(database.connection, 384)
    assert tables_and_indexes(database.connection) == SNAPSHOT.read_text(encoding="utf-8"), (
        f"The tables changed. Add a migration and a new version, then update {SNAPSHOT.name}."
    )
    database.close()


def test_a_fresh_file_says_what_it_is_and_in_which_format(tmp_path: Path) -> None:
    database = Database(tmp_path / "fresh.db")
    assert database.connection.pragma("application_id") == APPLICATION_ID
    assert database.connection.pragma("user_version") == FORMAT_VERSION
    database.close()
    header = (tmp_path / "fresh.db").read_bytes()[:100]
    assert header[68:72] == b"lrag"


def file_of_format_1(path: Path) -> Path:
    """Make a file as the first release made it, with a document, a source and a skipped file."""
    connection = apsw.Connection(str(path))
    connection.execute(TABLES)
    connection.pragma("application_id", APPLICATION_ID)
    connection.pragma("user_version", 1)
    connection.execute(
        "INSERT INTO documents(uri, title, media_type, content_hash, size, modified_at, indexed_at)"
        " VALUES('/docs/a.md', 'A', 'text/markdown', 'hash', 4, 5, '2026-01-01T00:00:00+00:00');"
        "INSERT INTO sources VALUES('/docs', '2026-01-01T00:00:00+00:00');"
        "INSERT INTO skipped VALUES('/docs/b.md', 'empty', 'no text', '2026-01-01T00:00:00+00:00')"
    )
    connection.close()
    return path


def test_a_file_of_the_first_format_is_brought_up_to_date(tmp_path: Path) -> None:
    database = Database(file_of_format_1(tmp_path / "old.db"))
    connection = database.connection
    assert connection.pragma("user_version") == FORMAT_VERSION
    [row] = list_documents(connection)
    assert (row.uri, row.origin, row.read_at) == ("/docs/a.md", "file", None)
    assert list_sources(connection) == [SourceRow("/docs")]
    skipped = Skipped("/docs/b.md", "empty", "no text")
    assert skipped_attempts(connection) == {"/docs/b.md": (skipped, "")}
    database.close()


def test_a_file_of_an_older_format_that_may_not_be_written_says_what_to_do(tmp_path: Path) -> None:
    path = file_of_format_1(tmp_path / "old.db")
    before = path.read_bytes()
    with pytest.raises(ReadOnlyError, match=r"format 1, now \d+\).* Open it once"):
        Database(path, read_only=True)
    assert path.read_bytes() == before


def test_a_step_that_another_process_did_meanwhile_is_not_done_twice(tmp_path: Path) -> None:
    database = Database(tmp_path / "fresh.db")
    before = tables_and_indexes(database.connection)
    migrate(database.connection, 0)
    assert tables_and_indexes(database.connection) == before
    database.close()


def test_a_step_that_fails_leaves_the_file_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = ("CREATE TABLE half(done TEXT); SELECT * FROM nowhere;",)
    monkeypatch.setattr("localrag.store.migrations.MIGRATIONS", broken)
    with pytest.raises(Exception, match="no such table: nowhere"):
        Database(tmp_path / "fresh.db")
    monkeypatch.undo()
    database = Database(tmp_path / "fresh.db")
    assert "half" not in tables_and_indexes(database.connection)
    database.close()


def test_a_fresh_file_needs_no_tokenizer_of_ours_to_be_searched(tmp_path: Path) -> None:
    database = Database(tmp_path / "fresh.db")
    sql = database.connection.execute(
        "SELECT sql FROM sqlite_schema WHERE name = 'chunk_words'"
    ).get
    assert "tokenize='ascii'" in str(sql)
    database.close()


def test_an_older_file_learns_which_of_its_chunks_are_copies(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    old = apsw.Connection(str(path))
    old.execute(TABLES)
    old.pragma("application_id", APPLICATION_ID)
    old.pragma("user_version", 1)
    for number, content in enumerate("aba"):
        old.execute(
            "INSERT INTO documents(id, uri, title, media_type, content_hash, size, indexed_at) "
            "VALUES(?1, ?1, '', '', '', 0, '')",
            (number,),
        )
        old.execute("INSERT INTO sections VALUES(?1, ?1, NULL, 0, '', 0, 0)", (number,))
        old.execute(
            "INSERT INTO chunks(id, document_id, section_id, ordinal, kind, text, preamble, "
            'context, headings, start, "end", lines, tokens, content_hash) '
            "VALUES(?1 + 1, ?1, ?1, 0, '', '', '', '', '[]', 0, 0, '[]', 0, ?2)",
            (number, content),
        )
    old.close()
    with pytest.raises(ReadOnlyError, match="written by an older localrag"):
        Database(path, read_only=True)
    database = Database(path)
    rows = database.connection.execute("SELECT * FROM chunk_copies ORDER BY chunk_id").fetchall()
    assert rows == [(1, 1, 1), (3, 1, 1)]
    database.close()


def file_of_format_4(path: Path) -> Database:
    """Return a file whose index of words has the line of context in its first column."""
    database = Database(path)
    database.connection.execute("DROP TABLE chunk_words")
    database.connection.execute(TABLES[TABLES.index("CREATE VIRTUAL") : TABLES.index(SKIPPED)])
    database.connection.pragma("user_version", 4)
    return database


SKIPPED = "CREATE TABLE skipped"
COLUMNS = "SELECT group_concat(name) FROM pragma_table_info('chunk_words')"


def test_an_older_file_without_chunks_gets_its_index_of_words_turned_round(tmp_path: Path) -> None:
    file_of_format_4(tmp_path / "old.db").close()
    database = Database(tmp_path / "old.db")
    assert database.connection.pragma("user_version") == FORMAT_VERSION
    assert database.connection.execute(COLUMNS).get == "body,context"
    database.close()


@pytest.mark.parametrize(
    "expression", ['"key" OR "lock"', '"key lock"', 'context : "spare"', 'body : ("key lock")']
)
def test_an_older_file_keeps_its_words_and_finds_the_same(tmp_path: Path, expression: str) -> None:
    old = file_of_format_4(tmp_path / "old.db")
    new = Database(tmp_path / "new.db")
    for database in (old, new):
        add_document(database, "/a", chunks_of(["key lock key", "a lock", "door"]))
        with database.atomic() as connection:
            insert_words(connection, [8, 9], [("spare key", "key lock"), ("spare", "no key")])
    old.close()
    old = Database(tmp_path / "old.db")
    assert old.connection.pragma("user_version") == FORMAT_VERSION
    assert old.connection.execute(COLUMNS).get == "context,body"
    found = search_words(new.connection, expression, 9)
    assert found
    assert search_words(old.connection, expression, 9) == found
    for database in (old, new):
        database.close()
