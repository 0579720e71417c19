from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from support import DIMENSIONS, add_document, chunks_of, document_row, unit

from localrag.records import Candidate, Section, Skipped, StageRecord, Trace
from localrag.store import traces
from localrag.store.chunks import (
    chunk_hash,
    chunk_ids_of,
    count_chunks,
    fetch_chunks,
    fetch_range,
    insert_chunks,
    insert_sections,
)
from localrag.store.database import Database
from localrag.store.documents import (
    SourceRow,
    clear_skipped,
    delete_document,
    delete_sources,
    find_document,
    insert_document,
    list_documents,
    list_skipped,
    list_sources,
    metadata_of,
    now,
    record_skipped,
    rename_document,
    save_sources,
    touch_document,
)
from localrag.store.settings import all_settings, get_setting, set_setting
from localrag.store.traces import fetch_trace, insert_trace, last_trace_id
from localrag.store.vectors import (
    MAX_K,
    create_vectors,
    delete_vectors,
    insert_vectors,
    search_vectors,
    vectors_by_hash,
)
from localrag.store.words import delete_words, document_frequencies, insert_words, search_words

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    """Return an empty knowledge base with a table for vectors."""
    opened = Database(tmp_path / "base.db")
    create_vectors(opened.connection, DIMENSIONS)
    yield opened
    opened.close()


# Settings


def test_a_setting_is_kept_until_it_is_replaced(database: Database) -> None:
    assert get_setting(database.connection, "size") is None
    with database.atomic() as connection:
        set_setting(connection, "size", "300")
        set_setting(connection, "colour", "blue")
        set_setting(connection, "size", "400")
    assert get_setting(database.connection, "size") == "400"
    assert all_settings(database.connection) == {"colour": "blue", "size": "400"}


# Documents


def test_a_document_is_found_by_its_uri(database: Database) -> None:
    row = document_row("/notes/a.md", b"text")
    with database.atomic() as connection:
        id_ = insert_document(connection, row, {"author": "Ünal", "tags": ["a", 1]})
    assert find_document(database.connection, "/notes/a.md") == replace(row, id=id_)
    assert find_document(database.connection, "/notes/b.md") is None
    stored = database.connection.execute("SELECT metadata, indexed_at FROM documents").get
    assert stored[0] == '{"author": "Ünal", "tags": ["a", 1]}'
    assert stored[1].endswith("+00:00")


def test_documents_are_listed_in_the_order_of_their_uris(database: Database) -> None:
    with database.atomic() as connection:
        for uri in ("/b", "/a", "/c"):
            insert_document(connection, document_row(uri), {})
    assert [row.uri for row in list_documents(database.connection)] == ["/a", "/b", "/c"]


def test_touching_a_document_changes_its_date_only(database: Database) -> None:
    with database.atomic() as connection:
        id_ = insert_document(connection, document_row("/a"), {})
        before = find_document(connection, "/a")
        touch_document(connection, id_, 99, 100)
    assert before is not None
    touched = find_document(database.connection, "/a")
    assert touched == replace(before, modified_at=99, read_at=100)


def test_a_document_gets_another_name_and_keeps_the_rest(database: Database) -> None:
    with database.atomic() as connection:
        id_ = insert_document(connection, document_row("/a"), {"year": 2024})
        before = find_document(connection, "/a")
        rename_document(connection, id_, "/b", "B")
    assert before is not None
    assert find_document(database.connection, "/a") is None
    assert find_document(database.connection, "/b") == replace(before, uri="/b", title="B")
    assert metadata_of(database.connection, id_) == {"year": 2024}


def test_deleting_a_document_takes_its_sections_and_chunks_along(database: Database) -> None:
    add_document(database, "/a", chunks_of(["one", "two"]))
    add_document(database, "/b", chunks_of(["three"]))
    document = find_document(database.connection, "/a")
    assert document is not None
    with database.atomic() as connection:
        delete_document(connection, document.id)
    assert count_chunks(database.connection) == 1
    assert database.connection.execute("SELECT count(*) FROM sections").get == 1


def test_a_source_is_remembered_once(database: Database) -> None:
    with database.atomic() as connection:
        save_sources(connection, [SourceRow("/b"), SourceRow("/a", include=("*.md",))])
        save_sources(connection, [SourceRow("/a", exclude=("鍵/",), max_bytes=9)])
    assert list_sources(database.connection) == [
        SourceRow("/a", exclude=("鍵/",), max_bytes=9),
        SourceRow("/b"),
    ]
    with database.atomic() as connection:
        delete_sources(connection, ["/a", "/unknown"])
    assert list_sources(database.connection) == [SourceRow("/b")]


def test_the_ledger_keeps_the_last_reason_until_it_is_cleared(database: Database) -> None:
    with database.atomic() as connection:
        record_skipped(connection, Skipped("/b", "empty", "no text"))
        record_skipped(connection, Skipped("/a", "binary", "NUL bytes"))
        record_skipped(connection, Skipped("/b", "too large", "9 bytes"))
    assert list_skipped(database.connection) == [
        Skipped("/a", "binary", "NUL bytes"),
        Skipped("/b", "too large", "9 bytes"),
    ]
    with database.atomic() as connection:
        clear_skipped(connection, ["/b", "/unknown"])
    assert [skipped.uri for skipped in list_skipped(database.connection)] == ["/a"]


def test_now_is_utc_to_the_second() -> None:
    assert len(now()) == len("2026-01-01T00:00:00+00:00")
    assert now().endswith("+00:00")


# Sections and chunks


def test_sections_point_to_their_parents(database: Database) -> None:
    tree = [
        Section("", 0, None, 0, 3),
        Section("Keys", 1, 0, 1, 3),
        Section("Rotation", 2, 1, 2, 3),
    ]
    with database.atomic() as connection:
        document_id = insert_document(connection, document_row("/a"), {})
        ids = insert_sections(connection, document_id, tree)
    rows = database.connection.execute(
        "SELECT id, parent_id, level, heading, first_chunk, last_chunk FROM sections ORDER BY id"
    ).fetchall()
    assert rows == [
        (ids[0], None, 0, "", 0, 3),
        (ids[1], ids[0], 1, "Keys", 1, 3),
        (ids[2], ids[1], 2, "Rotation", 2, 3),
    ]


def test_a_chunk_comes_back_as_it_went_in(database: Database) -> None:
    plain = chunks_of(["|a|b|\n|1|2|"])[0]
    chunk = replace(
        plain,
        kind="table",
        headings=("Tables", "Größe 表"),
        context="Title > Tables > Größe 表",
        preamble="|a|b|",
        page=7,
        lines=((3, 12),),
        tokens=33,
    )
    [id_] = add_document(database, "/a.md", [chunk])
    stored = fetch_chunks(database.connection, [id_])[id_]
    for name in (
        "ordinal", "kind", "text", "preamble", "context", "headings", "start", "end", "page",
        "lines", "tokens",
    ):  # fmt: skip
        assert getattr(stored, name) == getattr(chunk, name), name
    assert (stored.uri, stored.title) == ("/a.md", "Title")
    assert stored.passage == "Title > Tables > Größe 表\n|a|b|\n|a|b|\n|1|2|"


def test_neighbours_are_linked_from_end_to_end(database: Database) -> None:
    add_document(database, "/other", chunks_of(["zero"]))
    first, second, third = add_document(database, "/a", chunks_of(["one", "two", "three"]))
    stored = fetch_chunks(database.connection, [first, second, third])
    links = [(chunk.previous_id, chunk.next_id) for chunk in stored.values()]
    assert links == [(None, second), (first, third), (second, None)]


def test_a_chunk_that_is_gone_is_left_out(database: Database) -> None:
    [id_] = add_document(database, "/a", chunks_of(["one"]))
    assert list(fetch_chunks(database.connection, [id_, 999])) == [id_]
    assert fetch_chunks(database.connection, []) == {}


def test_a_range_is_in_order_and_stays_in_its_document(database: Database) -> None:
    add_document(database, "/a", chunks_of(["a0", "a1", "a2", "a3"]))
    add_document(database, "/b", chunks_of(["b0", "b1"]))
    document = find_document(database.connection, "/a")
    assert document is not None
    found = fetch_range(database.connection, document.id, 1, 9)
    assert [chunk.text for chunk in found] == ["a1", "a2", "a3"]


def test_chunk_ids_of_a_document(database: Database) -> None:
    ids = add_document(database, "/a", chunks_of(["one", "two"]))
    add_document(database, "/b", chunks_of(["three"]))
    document = find_document(database.connection, "/a")
    assert document is not None
    assert chunk_ids_of(database.connection, document.id) == ids


def test_an_id_is_never_used_again(database: Database) -> None:
    used = set(add_document(database, "/a", chunks_of(["one", "two"])))
    document = find_document(database.connection, "/a")
    assert document is not None
    with database.atomic() as connection:
        delete_document(connection, document.id)
    database.close()
    again = Database(database.path)
    with again.atomic() as connection:
        document_id = insert_document(connection, document_row("/b"), {})
        sections = insert_sections(connection, document_id, [Section("", 0, None, 0, 1)])
        fresh = insert_chunks(connection, document_id, sections, chunks_of(["three", "four"]))
    assert used.isdisjoint(fresh)
    again.close()


def test_the_hash_covers_all_that_is_embedded_and_nothing_else() -> None:
    chunk = chunks_of(["text"])[0]
    assert chunk_hash(chunk) == chunk_hash(replace(chunk, ordinal=5, start=9, lines=(), page=2))
    others = [
        replace(chunk, text="texts"),
        replace(chunk, context="Titles"),
        replace(chunk, preamble="|a|"),
        replace(chunk, context="", text="Title\x00text"),
    ]
    assert len({chunk_hash(other) for other in [chunk, *others]}) == 5


# Words


def test_bm25_prefers_the_chunk_with_the_rarer_word(database: Database) -> None:
    ids = add_document(database, "/a", chunks_of(["key key", "key rotation", "key lock"]))
    found = search_words(database.connection, '"rotation" OR "key"', 10)
    assert found[0].chunk_id == ids[1]
    assert [candidate.rank for candidate in found] == [1, 2, 3]
    scores = [candidate.score for candidate in found]
    assert scores == sorted(scores, reverse=True)
    assert all(score > 0 for score in scores)


def test_equal_scores_go_to_the_older_chunk(database: Database) -> None:
    ids = add_document(database, "/a", chunks_of(["same words"] * 5))
    assert [c.chunk_id for c in search_words(database.connection, "same", 4)] == ids[:4]


def test_the_context_is_searched_as_well(database: Database) -> None:
    ids = add_document(database, "/a", chunks_of(["one", "two"]))
    assert [c.chunk_id for c in search_words(database.connection, "title", 10)] == ids


def test_an_empty_expression_finds_nothing(database: Database) -> None:
    assert search_words(database.connection, "", 10) == ()


def test_words_that_were_deleted_are_not_found(database: Database) -> None:
    ids = add_document(database, "/a", chunks_of(["one", "one"]))
    with database.atomic() as connection:
        delete_words(connection, ids[:1])
    assert [c.chunk_id for c in search_words(database.connection, "one", 10)] == ids[1:]


def test_document_frequencies_count_chunks_and_leave_out_the_unknown(database: Database) -> None:
    add_document(database, "/a", chunks_of(["key key", "key lock", "door 東京"]))
    terms = ["key", "lock", "title", "東京", "absent", 'quo"te', "\x00"]
    frequencies = document_frequencies(database.connection, terms)
    assert frequencies == {"key": 2, "lock": 1, "title": 3, "東京": 1}
    assert document_frequencies(database.connection, []) == {}


def test_document_frequencies_can_be_read_from_a_read_only_file(database: Database) -> None:
    add_document(database, "/a", chunks_of(["key"]))
    reader = Database(database.path, read_only=True)
    assert document_frequencies(reader.connection, ["key"]) == {"key": 1}
    reader.close()


def test_words_and_ids_must_be_as_many(database: Database) -> None:
    with pytest.raises(ValueError, match="shorter"), database.atomic() as connection:
        insert_words(connection, [1, 2], [("a", "b")])


# Vectors


def test_the_nearest_vector_comes_first_with_its_cosine(database: Database) -> None:
    vectors = [unit(0.0, 1.0), unit(1.0, 1.0), unit(1.0), unit(-1.0)]
    ids = add_document(database, "/a", chunks_of(["a", "b", "c", "d"]), vectors)
    found = search_vectors(database.connection, unit(1.0), 10)
    assert [candidate.chunk_id for candidate in found] == [ids[2], ids[1], ids[0], ids[3]]
    assert [candidate.rank for candidate in found] == [1, 2, 3, 4]
    cosines = [candidate.score for candidate in found]
    assert cosines == pytest.approx([1.0, 0.5**0.5, 0.0, -1.0], abs=1e-6)


def test_equal_vectors_are_ranked_by_age(database: Database) -> None:
    ids = add_document(database, "/a", chunks_of(["a", "b", "c"]), [unit(1.0, 2.0)] * 3)
    found = search_vectors(database.connection, unit(1.0), 10)
    assert [candidate.chunk_id for candidate in found] == ids


def test_a_k_beyond_what_vec0_takes_is_lowered(database: Database) -> None:
    add_document(database, "/a", chunks_of(["a", "b"]))
    assert len(search_vectors(database.connection, unit(1.0), MAX_K + 1)) == 2


def test_nothing_is_near_in_an_empty_table(database: Database) -> None:
    assert search_vectors(database.connection, unit(1.0), 10) == ()


@pytest.mark.parametrize(
    "bad", [[0.0, 0, 0, 0], [2.0, 0, 0, 0], [np.nan, 0, 0, 0], [np.inf, 0, 0, 0]]
)
def test_a_vector_that_would_spoil_searches_is_refused(
    database: Database, bad: list[float]
) -> None:
    vectors = np.array([[1, 0, 0, 0], bad], dtype=np.float32)
    with (
        pytest.raises(ValueError, match="finite and of length one"),
        database.atomic() as connection,
    ):
        insert_vectors(connection, [1, 2], vectors)
    assert search_vectors(database.connection, unit(1.0), 10) == ()


def test_no_vectors_are_no_error(database: Database) -> None:
    with database.atomic() as connection:
        insert_vectors(connection, [], np.empty((0, DIMENSIONS), dtype=np.float32))


def test_a_vector_that_was_deleted_is_not_found(database: Database) -> None:
    ids = add_document(database, "/a", chunks_of(["a", "b"]))
    with database.atomic() as connection:
        delete_vectors(connection, ids[:1])
    found = search_vectors(database.connection, unit(1.0), 10)
    assert [candidate.chunk_id for candidate in found] == ids[1:]


def test_the_table_of_vectors_is_made_once(database: Database) -> None:
    create_vectors(database.connection, DIMENSIONS)
    add_document(database, "/a", chunks_of(["a"]))
    create_vectors(database.connection, DIMENSIONS)
    assert len(search_vectors(database.connection, unit(1.0), 10)) == 1


def test_a_vector_is_known_by_the_hash_of_its_text(database: Database) -> None:
    chunks = chunks_of(["a", "b"])
    add_document(database, "/a", chunks, [unit(1.0, 2.0), unit(3.0, 1.0)])
    hashes = [chunk_hash(chunk) for chunk in chunks]
    known = vectors_by_hash(database.connection, [*hashes, "unknown"])
    assert list(known) == sorted(hashes)
    assert known[hashes[0]].tolist() == unit(1.0, 2.0).tolist()
    assert known[hashes[1]].tolist() == unit(3.0, 1.0).tolist()


def test_a_chunk_without_a_vector_is_not_known(database: Database) -> None:
    chunks = chunks_of(["a"])
    ids = add_document(database, "/a", chunks)
    with database.atomic() as connection:
        delete_vectors(connection, ids)
    assert vectors_by_hash(database.connection, [chunk_hash(chunks[0])]) == {}


# Traces


def trace_of(query: str) -> Trace:
    stages = (
        StageRecord("1. transform", 0.25, (), "query unchanged"),
        StageRecord("3. fuse", 1.5, (Candidate(7, 0.032787, 1), Candidate(3, 0.016, 2))),
    )
    return Trace(None, query, "2026-01-01T00:00:00+00:00", stages)


def test_a_trace_comes_back_with_its_stages_in_order(database: Database) -> None:
    trace = trace_of('what\'s "up"? \x00 東京')
    with database.atomic() as connection:
        id_ = insert_trace(connection, trace)
    assert fetch_trace(database.connection, id_) == replace(trace, id=id_)
    assert last_trace_id(database.connection) == id_


def test_a_trace_that_is_not_there_is_none(database: Database) -> None:
    assert last_trace_id(database.connection) is None
    assert fetch_trace(database.connection, 1) is None


def test_only_the_newest_traces_are_kept(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(traces, "KEPT_TRACES", 3)
    with database.atomic() as connection:
        ids = [insert_trace(connection, trace_of(str(number))) for number in range(5)]
    kept = [id_ for id_ in ids if fetch_trace(database.connection, id_) is not None]
    assert kept == ids[-3:]
    assert last_trace_id(database.connection) == ids[-1]
    assert database.connection.execute("SELECT count(*) FROM query_stages").get == 6
