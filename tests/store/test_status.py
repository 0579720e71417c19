from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from support import add_document, chunks_of

from localrag.records import Skipped
from localrag.store.database import Database
from localrag.store.documents import SourceRow, record_skipped, save_sources
from localrag.store.migrations import FORMAT_VERSION
from localrag.store.settings import set_setting
from localrag.store.status import CHECKS, read_status, verify

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    """Return a knowledge base of two documents with five chunks, ids 1 to 5."""
    opened = Database(tmp_path / "base.db")
    add_document(opened, "/a", chunks_of(["one", "two", "three"], tokens=4))
    add_document(opened, "/b", chunks_of(["four", "five"], tokens=5))
    yield opened
    opened.close()


def test_status_counts_what_the_file_holds(database: Database) -> None:
    with database.atomic() as connection:
        save_sources(connection, [SourceRow("/")])
        record_skipped(connection, Skipped("/c", "empty", "no text"))
        set_setting(connection, "chunk_tokens", "300")
    status = read_status(database.connection, database.path)
    assert status.path == str(database.path)
    assert status.format_version == FORMAT_VERSION
    assert (status.documents, status.chunks, status.tokens) == (2, 5, 22)
    assert (status.skipped, status.queries) == (1, 0)
    assert status.sources == ("/",)
    assert status.settings == {"chunk_tokens": "300"}
    assert status.bytes == database.path.stat().st_size


def test_an_empty_file_has_a_status(tmp_path: Path) -> None:
    empty = Database(tmp_path / "empty.db")
    assert read_status(empty.connection, empty.path).tokens == 0
    empty.close()


def test_a_whole_file_has_no_problems(database: Database) -> None:
    assert verify(database.connection) == []


DAMAGE = {
    "a word row is lost": (
        "DELETE FROM chunk_words WHERE rowid = 2",
        ["1 chunks without words"],
    ),
    "a word row is left over": (
        "INSERT INTO chunk_words(rowid, context, body) VALUES(9, 'a', 'b')",
        ["1 word rows without a chunk"],
    ),
    "two vectors are lost": (
        "DELETE FROM chunk_vectors WHERE chunk_id IN (1, 2)",
        ["2 chunks without a vector"],
    ),
    "a vector is left over": (
        "INSERT INTO chunk_vectors(chunk_id, embedding) VALUES(9, '[1, 0, 0, 0]')",
        ["1 vectors without a chunk"],
    ),
    "a link to the next chunk is cut": (
        "UPDATE chunks SET next_id = NULL WHERE id = 1",
        ["1 broken neighbour links"],
    ),
    "a link leads nowhere": (
        "UPDATE chunks SET next_id = 99 WHERE id = 1",
        ["1 broken neighbour links"],
    ),
    "a link leads to another document": (
        "UPDATE chunks SET previous_id = 3 WHERE id = 4",
        ["1 broken neighbour links"],
    ),
    "two links are swapped": (
        "UPDATE chunks SET previous_id = next_id, next_id = previous_id WHERE id = 2",
        ["1 broken neighbour links"],
    ),
    "the numbering has a gap": (
        "UPDATE chunks SET ordinal = 7 WHERE id = 5",
        ["1 documents whose chunks are not numbered from 0 without a gap"],
    ),
    "the numbering does not start at 0": (
        "UPDATE chunks SET ordinal = ordinal - 5 WHERE document_id = 2",
        ["1 documents whose chunks are not numbered from 0 without a gap"],
    ),
    "a document is gone": (
        "DELETE FROM documents WHERE uri = '/b'",
        ["3 rows whose document or section is gone"],  # two chunks and a section
    ),
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_verify_finds_damage(database: Database, kind: str) -> None:
    sql, problems = DAMAGE[kind]
    database.connection.pragma("foreign_keys", "off")
    database.connection.execute(sql)
    assert verify(database.connection) == problems


def test_every_check_has_its_damage() -> None:
    found = {problem.split(" ", 1)[1] for _, problems in DAMAGE.values() for problem in problems}
    assert found == {description for description, _ in CHECKS}


def test_verify_reports_what_sqlite_finds(database: Database) -> None:
    connection = database.connection
    root = connection.execute(
        "SELECT rootpage FROM sqlite_schema WHERE name = 'chunks_content_hash'"
    ).get
    size = int(str(connection.pragma("page_size")))
    database.close()
    with database.path.open("r+b") as file:
        file.seek((root - 1) * size)
        file.write(bytes([10, 0, 0, 0, 0]))  # an index leaf without entries
    again = Database(database.path)
    assert any("chunks_content_hash" in problem for problem in verify(again.connection))
    again.close()
