"""What is added for frequent terms makes the score that FTS5 gives for all terms at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import apsw
import numpy as np
import pytest
from support import add_document, chunks_of

from localrag.records import Allowed
from localrag.store.database import Database
from localrag.store.term_scores import add_scores, inverse_frequency, term_score
from localrag.store.words import delete_words, document_frequencies, search_words
from localrag.text.analysis import QueryTerm
from localrag.text.match import match_expression

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

WORDS = [f"w{number}" for number in range(40)]


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    """Return 600 chunks of words whose frequencies fall as in real text."""
    opened = Database(tmp_path_factory.mktemp("words") / "base.db")
    random = np.random.default_rng(5)
    shares = 1 / np.arange(2, len(WORDS) + 2)
    for document in range(6):
        texts = [
            " ".join(random.choice(WORDS, random.integers(3, 30), p=shares / shares.sum()))
            for _ in range(100)
        ]
        add_document(opened, f"/{document}", chunks_of(texts))
    yield opened
    opened.close()


def parts_of(terms: list[QueryTerm]) -> list[str]:
    """Return the expression of each term."""
    return [match_expression([term]) for term in terms]


@pytest.mark.parametrize("seed", range(30))
def test_equal_to_the_score_of_all_terms(database: Database, seed: int) -> None:
    connection = database.connection
    random = np.random.default_rng(seed)
    chosen = random.choice(WORDS, 6, replace=False).tolist()
    frequencies = document_frequencies(connection, chosen)
    terms = [QueryTerm(word) for word in sorted(chosen, key=lambda word: frequencies[word])]
    rare, frequent = terms[:2], terms[2:]
    allowed = Allowed(1, 200, str(list(range(100, 300)))) if seed % 2 else None
    found = search_words(connection, match_expression(rare), 1_000, allowed)
    scored = add_scores(connection, found, parts_of(rare), frequent, frequencies)
    everything = search_words(connection, match_expression(terms), 1_000, allowed)
    ids = {one.chunk_id for one in found}
    wanted = [one for one in everything if one.chunk_id in ids]
    assert wanted
    assert [one.score for one in scored] == pytest.approx([one.score for one in wanted])
    assert {one.chunk_id: one.score for one in scored} == pytest.approx(
        {one.chunk_id: one.score for one in wanted}
    )
    assert [one.rank for one in scored] == list(range(1, len(wanted) + 1))


def test_nothing_found_stays_nothing(database: Database) -> None:
    assert add_scores(database.connection, (), ['"w30"'], [QueryTerm("w0")], {"w0": 9}) == ()


@pytest.mark.parametrize("needed", [1, 2, 3])
def test_only_as_many_terms_are_looked_up_as_match_all_that_was_found(
    database: Database, needed: int
) -> None:
    connection = database.connection
    rare = parts_of([QueryTerm(word) for word in ("w39", "w30", "w20")])
    common = [QueryTerm("w0")]
    frequencies = document_frequencies(connection, ["w0"])
    found = search_words(connection, " OR ".join(rare[:needed]), 1_000)
    statements: list[str] = []
    connection.trace_v2(apsw.SQLITE_TRACE_STMT, lambda event: statements.append(event["sql"]))
    scored = add_scores(connection, found, rare, common, frequencies)
    connection.trace_v2(0)
    assert len([sql for sql in statements if sql.startswith("SELECT rowid")]) == needed + 1
    assert scored == add_scores(connection, found, rare[:needed], common, frequencies)
    assert scored != found


def test_the_parts_of_a_score() -> None:
    assert term_score(0, 1) == 0
    assert term_score(1, 1) == pytest.approx(1.0)
    assert term_score(3, 0.5) > term_score(3, 2) > term_score(1, 2)
    assert inverse_frequency(9, 10) == 1e-6
    assert inverse_frequency(1, 100) > inverse_frequency(2, 100) > 0


def test_frequencies_are_counted_anew_after_a_change(tmp_path: Path) -> None:
    database = Database(tmp_path / "base.db")
    other = Database(tmp_path / "base.db")
    ids = add_document(database, "/a", chunks_of(["key lock", "key"]))
    assert document_frequencies(database.connection, ["key", "door"]) == {"key": 2}
    assert document_frequencies(database.connection, ["key", "key"]) == {"key": 2}
    add_document(other, "/b", chunks_of(["key door"]))
    assert document_frequencies(database.connection, ["key", "door"]) == {"key": 3, "door": 1}
    with other.atomic() as connection:
        delete_words(connection, ids)
    assert document_frequencies(database.connection, ["key", "door"]) == {"key": 1, "door": 1}
    other.close()
    database.close()
