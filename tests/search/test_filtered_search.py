"""A filter never starves a search: the results are those of brute force over the allowed rows."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import document_row, open_base, write_files

from localrag.errors import SettingsError
from localrag.inference.fake import FakeEmbedder
from localrag.records import Allowed, Candidate, Chunk, Filter, SearchState, Section
from localrag.search.restrict import Restrict
from localrag.search.retrieve import Lexical, Vector
from localrag.search.term_choice import known_terms
from localrag.store.chunks import insert_chunks, insert_sections
from localrag.store.database import Database
from localrag.store.documents import insert_document
from localrag.store.vectors import create_vectors, insert_vectors
from localrag.store.words import document_frequencies, insert_words
from localrag.text.analysis import analyse, analyse_query
from localrag.text.match import match_expression

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from localrag.inference.protocols import FloatArray
    from localrag.knowledge_base import KnowledgeBase

DOCUMENTS = 1_000
PER_DOCUMENT = 4
WORDS = [f"word{number}" for number in range(300)]
EMBEDDER = FakeEmbedder(dimensions=64)


class CountingEmbedder(FakeEmbedder):
    """Counts the queries that it is given."""

    queries = 0

    def embed_query(self, text: str) -> FloatArray:
        self.queries += 1
        return super().embed_query(text)


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    """Return a base of 4,000 chunks; documents are numbered in their metadata."""
    opened = Database(tmp_path_factory.mktemp("filtered") / "base.db")
    drawn = random.Random(1)  # noqa: S311 - no secret
    weights = [1 / (rank + 1) for rank in range(len(WORDS))]
    with opened.atomic() as connection:
        create_vectors(connection, EMBEDDER.dimensions)
        for number in range(DOCUMENTS):
            row = document_row(f"/docs/{number % 10}/{number}.md")
            document = insert_document(connection, row, {"number": number})
            sections = insert_sections(connection, document, [Section("", 0, None, 0, 3)])
            texts = [" ".join(drawn.choices(WORDS, weights, k=15)) for _ in range(PER_DOCUMENT)]
            chunks = [
                Chunk(place, "paragraph", 0, len(text), text, (), "", 0, 15)
                for place, text in enumerate(texts)
            ]
            ids = insert_chunks(connection, document, sections, chunks)
            insert_words(connection, ids, [("", " ".join(analyse(text))) for text in texts])
            insert_vectors(connection, ids, EMBEDDER.embed_passages(texts))
    yield opened
    opened.close()


def restricted(database: Database, wanted: Filter) -> SearchState:
    return Restrict(database.connection, wanted)(SearchState("x", ("x",)))


def brute_words(database: Database, query: str, allowed: Allowed | None) -> list[int]:
    """Return every allowed chunk that holds a word of the query, best first."""
    connection = database.connection
    terms = analyse_query(query)
    known = known_terms(terms, document_frequencies(connection, [one.term for one in terms]))
    rows = connection.execute(
        "SELECT rowid FROM chunk_words WHERE chunk_words MATCH ? ORDER BY rank, rowid",
        (match_expression(known),),
    )
    ids = None if allowed is None else set(json.loads(allowed.ids))
    return [int(str(id_)) for (id_,) in rows if ids is None or id_ in ids]


def brute_vectors(database: Database, vector: FloatArray, allowed: Allowed | None) -> list[float]:
    """Return the cosines of all allowed chunks, best first."""
    ids = None if allowed is None else set(json.loads(allowed.ids))
    rows = database.connection.execute("SELECT chunk_id, embedding FROM chunk_vectors")
    stored = [
        np.frombuffer(bytes(blob), np.float32) for id_, blob in rows if ids is None or id_ in ids
    ]
    return sorted((float(one @ vector) for one in stored), reverse=True)


def cosines(candidates: Sequence[Candidate]) -> list[float]:
    return [one.score for one in candidates]


QUERIES = st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join)


@pytest.mark.parametrize("share", [0.001, 0.01, 0.5, 0.999])
@settings(max_examples=15)
@given(query=QUERIES)
def test_results_equal_brute_force_over_the_allowed_rows(
    database: Database, share: float, query: str
) -> None:
    allowed = restricted(database, Filter(where=f"number < {DOCUMENTS * share:.0f}")).allowed
    assert allowed is not None
    assert allowed.chunks == DOCUMENTS * share * PER_DOCUMENT
    k = 50

    near = Vector(database.connection, EMBEDDER, k).search(query, allowed).candidates
    expected = brute_vectors(database, EMBEDDER.embed_query(query), allowed)[:k]
    assert len(near) == min(k, allowed.chunks)
    assert cosines(near) == pytest.approx(expected, abs=1e-5)
    assert {one.chunk_id for one in near} <= set(json.loads(allowed.ids))

    found = Lexical(database.connection, k).search(query, allowed).candidates
    everything = brute_words(database, query, allowed)
    assert {one.chunk_id for one in found} <= set(everything)
    if len(found) < k:  # then no word was left out, however frequent
        assert sorted(one.chunk_id for one in found) == sorted(everything)


@settings(max_examples=25)
@given(numbers=st.sets(st.integers(0, DOCUMENTS - 1), max_size=30), query=QUERIES)
def test_any_set_of_documents_is_exact(database: Database, numbers: set[int], query: str) -> None:
    listed = ", ".join(map(str, sorted(numbers))) or "-1"
    allowed = restricted(database, Filter(where=f"number in ({listed})")).allowed
    assert allowed is not None
    assert allowed.documents == len(numbers)
    near = Vector(database.connection, EMBEDDER, 20).search(query, allowed).candidates
    expected = brute_vectors(database, EMBEDDER.embed_query(query), allowed)[:20]
    assert cosines(near) == pytest.approx(expected, abs=1e-5)
    found = Lexical(database.connection, 1_000).search(query, allowed).candidates
    assert {one.chunk_id for one in found} == set(brute_words(database, query, allowed))
    if len(set(query.split())) == 1:  # without a neighbour the order is that of BM25
        assert [one.chunk_id for one in found] == brute_words(database, query, allowed)


def test_a_word_of_most_chunks_counts_where_a_filter_leaves_few(database: Database) -> None:
    """The most frequent word is dropped beside a rare one, which the allowed chunks lack."""
    connection = database.connection
    most = WORDS[0]
    rare = "word299"
    holders = {
        row[0]
        for row in connection.execute(
            "SELECT document_id FROM chunks WHERE text LIKE ?", (f"%{rare}%",)
        )
    }
    number = next(n for n in range(DOCUMENTS) if n + 1 not in holders)
    allowed = restricted(database, Filter(where=f"number = {number}")).allowed
    assert allowed is not None
    found = Lexical(connection, 50).search(f"{most} {rare}", allowed).candidates
    assert found
    wanted = brute_words(database, f"{most} {rare}", allowed)
    assert {one.chunk_id for one in found} == set(wanted)


def test_a_filter_that_lets_everything_through_costs_nothing(database: Database) -> None:
    state = restricted(database, Filter(where="number >= 0"))
    assert state.allowed is None
    assert state.note == "where number >= 0: 1,000 of 1,000 documents, 4,000 of 4,000 chunks"


def test_the_note_says_what_is_let_through(database: Database) -> None:
    state = restricted(database, Filter("number < 2", ("docs/**", "/docs/1/**"), ("hr",)))
    assert state.note == (
        "where number < 2; path docs/**; path /docs/1/**; label hr: "
        "1 of 1,000 documents, 4 of 4,000 chunks"
    )


def test_nothing_allowed_is_nothing_found(database: Database) -> None:
    state = restricted(database, Filter(where="nmber = 1", labels=()))
    assert state.allowed == Allowed(0, 0, "[]")
    assert "0 of 1,000 documents" in state.note
    assert "no document has nmber" in state.note
    unused = CountingEmbedder(dimensions=64)
    assert not Vector(database.connection, unused, 5).search("word1", state.allowed).candidates
    assert unused.queries == 0
    assert not Lexical(database.connection, 5).search("word1", state.allowed).candidates


# Through the front door


@pytest.fixture
def kb(tmp_path: Path) -> Iterator[KnowledgeBase]:
    files = {
        f"bulk/{number}.md": f"# Bulk\n\nKeys, keys and key {number}.\n" for number in range(60)
    }
    files["notes/one.md"] = "---\nyear: 2024\n---\n# Note\n\nA door, and one of the keys.\n"
    docs = write_files(tmp_path / "docs", files)
    with open_base(tmp_path / "base.db") as opened:
        opened.sync(docs)
        yield opened


@pytest.mark.parametrize("mode", ["lexical", "vector", "hybrid"])
def test_the_one_allowed_document_is_found_behind_fifty_better_ones(
    kb: KnowledgeBase, mode: str
) -> None:
    for wanted in ({"where": "year = 2024"}, {"path": "notes/**"}, {"path": ["x", "notes/*.md"]}):
        result = kb.search("keys", mode=mode, **wanted)  # type: ignore[arg-type]
        assert [hit.title for hit in result] == ["Note"]


def test_an_answer_comes_from_the_allowed_documents(kb: KnowledgeBase) -> None:
    answer = kb.ask("one of the keys", where="year = 2024")
    assert answer.found
    assert {citation.title for citation in answer.citations} == {"Note"}
    assert not kb.ask("one of the keys", path="nowhere/**").found


def test_the_trace_shows_the_filter(kb: KnowledgeBase) -> None:
    result = kb.search("keys", path="notes/**", labels=["hr"])
    stage = result.trace.stages[0]
    assert stage.name == "0. filter"
    assert stage.note == "path notes/**; label hr: 1 of 61 documents, 1 of 61 chunks"
    names = [one.name for one in kb.search("keys").trace.stages]
    assert "0. filter" not in names


def test_labels_at_a_search(kb: KnowledgeBase, tmp_path: Path) -> None:
    kb.sync(tmp_path / "docs" / "notes", labels=["hr"])
    assert any(hit.title == "Note" for hit in kb.search("one of the keys door"))
    assert all(hit.title != "Note" for hit in kb.search("one of the keys door", labels=["it"]))
    assert any(hit.title == "Note" for hit in kb.search("one of the keys door", labels="hr"))


def test_what_cannot_be_stored_finds_nothing(kb: KnowledgeBase) -> None:
    assert kb.search("keys", where="title = '\ud800'").hits == ()
    assert kb.search("keys", path="\udcff/**").hits == ()
    assert len(kb.search("keys", labels=["\ud800"])) == 10


def test_there_are_three_ways_with_copies(kb: KnowledgeBase) -> None:
    with pytest.raises(SettingsError, match="Use one of together, apart, versions"):
        kb.search("keys", copies="never")  # type: ignore[arg-type]
