"""What else speaks for a candidate beside the cross-encoder."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from support import ScriptedReranker, add_document, chunks_of

from localrag.formats.code_languages import MEDIA_TYPE
from localrag.records import Candidate, SearchState
from localrag.search.evidence import (
    FUSED_WEIGHT,
    IN_TEXT,
    NAMES_WEIGHT,
    Evidence,
    evidence,
    share_of_names,
)
from localrag.search.rerank import Rerank
from localrag.store.chunks import fetch_chunks
from localrag.store.database import Database

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TEXTS = ["fn on_add()", "self.on_add()", "nothing", "fn on_remove()"]
CONTEXTS = ["Merger > on_add", "Merger > run", "Merger", "Queue > on_remove"]


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    """Return four chunks of prose, ids 1 to 4, with a line of context."""
    opened = Database(tmp_path / "base.db")
    add_document(opened, "/a.md", chunks_of(TEXTS))
    for id_, context in enumerate(CONTEXTS, 1):
        opened.connection.execute("UPDATE chunks SET context = ? WHERE id = ?", (context, id_))
    yield opened
    opened.close()


def shares(database: Database, question: str) -> list[float]:
    chunks = fetch_chunks(database.connection, range(1, 5))
    return list(share_of_names(question, chunks.values()).values())


def test_evidence_adds_what_all_say() -> None:
    assert evidence(0.5, 0.0) == 0
    assert evidence(0.75, 0.0) == pytest.approx(1.0726, abs=1e-4)
    assert evidence(0.5, 0.02) - evidence(0.5, 0.01) == pytest.approx(FUSED_WEIGHT * 0.01)
    assert evidence(0.5, 0.0, 0.5) == pytest.approx(NAMES_WEIGHT / 2)
    assert evidence(1.0, 0.0) == pytest.approx(-evidence(0.0, 0.0))
    assert evidence(1.0, 0.0) < 5


def test_one_wrong_passage_is_hardly_more_wrong_than_another() -> None:
    assert evidence(0.01, 0.0) - evidence(0.001, 0.0) < 0.7
    assert evidence(0.001, 0.015) > evidence(0.01, 0.005)


def test_a_name_counts_most_where_the_line_of_context_has_it(database: Database) -> None:
    assert shares(database, "What does `on_add` do?") == [1, IN_TEXT, 0, 0]


def test_of_several_names_the_share_counts(database: Database) -> None:
    asked = "What does `on_add` of the `Merger` do?"
    assert shares(database, asked) == [1, (1 + IN_TEXT) / 2, 0.5, 0]


def test_a_question_without_names_says_nothing(database: Database) -> None:
    assert shares(database, "What does the method for adding do?") == [0, 0, 0, 0]


def test_a_file_of_source_code_vouches_for_its_chunks() -> None:
    known = Evidence({1: 0.0, 2: 0.0, 3: 0.0}, {1: 0.0, 2: 0.0, 3: 0.0}, {1: 9, 3: 9})
    assert known.order({1: 0.9, 2: 0.5, 3: 0.45}) == [1, 3, 2]
    prose = Evidence(known.fused, known.names, {})
    assert prose.order({1: 0.9, 2: 0.5, 3: 0.45}) == [1, 2, 3]


@pytest.mark.parametrize(
    ("question", "weight", "order", "note"),
    [
        (
            "What does `on_add` do?",
            NAMES_WEIGHT,
            [1, 2, 3, 4],
            "; 2 with a name that is asked about",
        ),
        ("What does `on_add` do?", 0, [3, 4, 2, 1], "; 2 with a name that is asked about"),
        ("What is done?", NAMES_WEIGHT, [3, 4, 2, 1], ""),
    ],
)
def test_what_is_named_comes_first_where_the_cross_encoder_cannot_tell(
    database: Database, question: str, weight: float, order: list[int], note: str
) -> None:
    survivors = tuple(Candidate(id_, 0.01, id_) for id_ in (3, 4, 2, 1))
    state = SearchState(query=question, queries=("rewritten",), survivors=survivors)
    stage = Rerank(database.connection, ScriptedReranker(lambda _: 0.5), 4, names_weight=weight)
    after = stage(state)
    assert [one.chunk_id for one in after.survivors] == order
    assert after.note == f"read 4 passages{note}"


def test_reranking_raises_the_chunks_of_a_source_file(database: Database) -> None:
    add_document(database, "/b.py", chunks_of(["def a(): ...", "def b(): ..."]))
    database.connection.execute(
        "UPDATE documents SET media_type = ? WHERE uri = '/b.py'", (MEDIA_TYPE,)
    )
    scores = {"def a(): ...": 0.875, "fn on_add()": 0.5, "def b(): ...": 0.4375}
    reranker = ScriptedReranker(lambda passage: scores[passage.rpartition("\n")[2]])
    survivors = tuple(Candidate(id_, 0.01, id_) for id_ in (1, 5, 6))
    state = SearchState(query="?", queries=("?",), survivors=survivors)
    state = Rerank(database.connection, reranker, 4)(state)
    assert [(one.chunk_id, one.score) for one in state.survivors] == [
        (5, 0.875),
        (6, 0.4375),
        (1, 0.5),
    ]
