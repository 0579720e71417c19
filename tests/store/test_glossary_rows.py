from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from support import chunks_of, document_row

from localrag.records import Allowed, GlossaryEntry, Section
from localrag.store.chunks import insert_chunks, insert_sections
from localrag.store.database import Database
from localrag.store.documents import delete_document, insert_document
from localrag.store.glossary import (
    add_entry,
    documents_behind,
    insert_short_forms,
    list_entries,
    pairs_of_longs,
    pairs_of_shorts,
    switch_off,
)
from localrag.text.short_form import ShortForm

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import apsw

FIELD = ShortForm("CRF", "conditional random field")
FIELDS = ShortForm("CRF", "Conditional Random Fields")
FAILURE = ShortForm("CRF", "chronic renal failure")


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[apsw.Connection]:
    """Return a base whose documents 1 to 3 explain CRF."""
    database = Database(tmp_path / "base.db")
    with database.atomic() as opened:
        for number, pairs in enumerate(([FIELD], [FIELD, FIELDS, FAILURE], [FIELDS]), 1):
            document = insert_document(opened, document_row(f"/{number}"), {})
            assert document == number
            sections = insert_sections(opened, document, [Section("", 0, None, 0, 0)])
            insert_chunks(opened, document, sections, chunks_of(["text"]))
            insert_short_forms(opened, document, pairs, version=7)
    yield database.connection
    database.close()


def spelled(connection: apsw.Connection, allowed: Allowed | None = None) -> set[tuple[str, int]]:
    pairs = pairs_of_shorts(connection, ["crf"], allowed)
    return {(pair.long, pair.documents) for pair in pairs}


def test_pairs_are_found_by_either_key(connection: apsw.Connection) -> None:
    # One document has one spelling of a pair: that which it has first.
    assert spelled(connection) == {
        ("conditional random field", 2),
        ("Conditional Random Fields", 1),
        ("chronic renal failure", 1),
    }
    [pair] = pairs_of_longs(connection, ["chronic renal failur", "unknown"])
    assert (pair.short, pair.documents) == ("CRF", 1)
    assert pairs_of_shorts(connection, ["xyz"]) == []


def test_pairs_of_documents_that_are_not_allowed_do_not_count(connection: apsw.Connection) -> None:
    only_third = Allowed(1, 1, "[3]")
    assert spelled(connection, only_third) == {("Conditional Random Fields", 1)}
    add_entry(connection, "CRF", "case report form")
    assert ("case report form", 1 << 32) in spelled(connection, only_third)


def test_pairs_go_with_their_document(connection: apsw.Connection) -> None:
    delete_document(connection, 2)
    left = {("conditional random field", 1), ("Conditional Random Fields", 1)}
    assert spelled(connection) == left


def test_a_document_is_looked_through_again_by_another_version(connection: apsw.Connection) -> None:
    assert documents_behind(connection, 7) == []
    assert documents_behind(connection, 8) == [1, 2, 3]
    insert_short_forms(connection, 2, [FAILURE], version=8)
    assert documents_behind(connection, 8) == [1, 3]
    assert documents_behind(connection, 7) == [2]
    assert ("chronic renal failure", 1) in spelled(connection)
    assert ("conditional random field", 1) in spelled(connection)


def test_entries_are_listed_with_their_commonest_spelling(connection: apsw.Connection) -> None:
    add_entry(connection, "AB", "another brother")
    add_entry(connection, "CRF", "chronic renal failure")
    assert list_entries(connection) == [
        GlossaryEntry("AB", "another brother", 0, "user"),
        GlossaryEntry("CRF", "conditional random field", 3, "found"),
        GlossaryEntry("CRF", "chronic renal failure", 1, "user"),
    ]


def test_one_meaning_is_switched_off_for_good(connection: apsw.Connection) -> None:
    assert switch_off(connection, "crf", "Chronic Renal Failures")
    assert "chronic renal failure" not in {long for long, _ in spelled(connection)}
    insert_short_forms(connection, 2, [FAILURE], version=9)
    assert "chronic renal failure" not in {long for long, _ in spelled(connection)}
    [off] = [entry for entry in list_entries(connection) if not entry.active]
    assert (off.long, off.source) == ("chronic renal failure", "found")
    add_entry(connection, "CRF", "chronic renal failure")
    assert "chronic renal failure" in {long for long, _ in spelled(connection)}


def test_an_abbreviation_is_switched_off_with_what_is_found_later(
    connection: apsw.Connection,
) -> None:
    add_entry(connection, "CRF", "my own")
    assert switch_off(connection, "CRF", None)
    insert_short_forms(connection, 1, [ShortForm("CRF", "case report form")], version=9)
    assert spelled(connection) == set()
    assert pairs_of_longs(connection, ["case report form"]) == []
    # What the user adds afterwards is used, and nothing else of it.
    add_entry(connection, "CRF", "case report form")
    assert {long for long, _ in spelled(connection)} == {"case report form"}


def test_an_entry_of_the_users_own_is_deleted(connection: apsw.Connection) -> None:
    add_entry(connection, "KB", "knowledge base")
    assert switch_off(connection, "KB", "knowledge base")
    assert not switch_off(connection, "KB", None)
    assert [entry for entry in list_entries(connection) if entry.short == "KB"] == []
    assert connection.execute("SELECT count(*) FROM glossary_edits").get == 0
