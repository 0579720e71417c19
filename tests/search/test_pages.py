"""The page of a hit whose chunk stands on several."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from support import add_document, chunks_of

from localrag.search.pages import page_of
from localrag.store.chunks import fetch_chunks
from localrag.store.database import Database

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from localrag.records import StoredChunk

PAGES = "Account 17 holds 4 marbles.\n\f\nAccount 18 holds 9 marbles.\n\f\f\n東京の口座は空です。"


@pytest.fixture
def chunk(tmp_path: Path) -> Iterator[StoredChunk]:
    """Return a chunk that begins on page 5; page 7 is blank."""
    [made] = chunks_of([PAGES])
    database = Database(tmp_path / "base.db")
    [id_] = add_document(database, "a.pdf", [replace(made, page=5, start=100, end=200)])
    yield fetch_chunks(database.connection, [id_])[id_]
    database.close()


@pytest.mark.parametrize(
    ("query", "page"),
    [
        ("account 18", 6),
        ("how many marbles does account 17 hold", 5),
        ("marbles", 5),  # on both: the first
        ("東京", 8),
        ("京", 8),
        ("elephants", 5),
        ("?", 5),
    ],
)
def test_the_page_with_the_words_is_cited(chunk: StoredChunk, query: str, page: int) -> None:
    assert page_of(chunk, query) == page


def test_a_chunk_without_pages_has_none(chunk: StoredChunk) -> None:
    assert page_of(replace(chunk, page=None), "18") is None
    assert replace(chunk, page=None).page_at(100) is None


def test_each_character_has_its_page(chunk: StoredChunk) -> None:
    places = [100 + PAGES.index(word) for word in ("17", "18", "東")]
    assert [chunk.page_at(place) for place in places] == [5, 6, 8]
    assert chunk.page_at(100) == 5
