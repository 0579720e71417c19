"""What the best chunk of a source file does for the others, and for nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from support import add_document, chunks_of, open_base, write_files

from localrag.formats.code_languages import MEDIA_TYPE
from localrag.records import Candidate, SearchState
from localrag.search.files import SourceFiles
from localrag.search.pipeline import search_stages
from localrag.search.plan import Plan
from localrag.search.retrieve import Lexical, Vector
from localrag.store.chunks import documents_of
from localrag.store.database import Database

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from localrag.records import Stage


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    """Return two source files, chunks 1 to 3 and 4 to 5, and prose, chunks 6 to 7."""
    opened = Database(tmp_path / "base.db")
    for uri, count in (("/a.py", 3), ("/b.py", 2), ("/c.md", 2)):
        add_document(opened, uri, chunks_of([f"{uri} {n}" for n in range(count)]))
    opened.connection.execute(
        "UPDATE documents SET media_type = ? WHERE uri LIKE '%.py'", (MEDIA_TYPE,)
    )
    yield opened
    opened.close()


def searching(scores: dict[int, float]) -> tuple[Callable[[int], tuple[Candidate, ...]], list[int]]:
    """Return a search that finds chunks with these scores, and the list of what it is asked for."""
    asked: list[int] = []
    best = sorted(scores.items(), key=lambda item: -item[1])

    def search(k: int) -> tuple[Candidate, ...]:
        asked.append(k)
        return tuple(Candidate(id_, score, n) for n, (id_, score) in enumerate(best[:k], 1))

    return search, asked


def found(database: Database, scores: dict[int, float], k: int) -> list[tuple[int, float, int]]:
    search, _ = searching(scores)
    best = SourceFiles(database.connection).best(search, k)
    return [(one.chunk_id, round(one.score, 6), one.rank) for one in best]


def test_a_chunk_gains_a_third_of_the_distance_to_the_best_of_its_file(database: Database) -> None:
    assert found(database, {1: 9.0, 4: 4.5, 2: 3.0, 5: 1.5}, 4) == [
        (1, 9.0, 1),
        (2, 5.0, 2),
        (4, 4.5, 3),
        (5, 2.5, 4),
    ]


def test_a_chunk_may_come_from_below_what_was_asked_for(database: Database) -> None:
    scores = {1: 9.0, 6: 4.0, 7: 3.5, 2: 3.0}
    assert [id_ for id_, _, _ in found(database, scores, 2)] == [1, 2]


def test_negative_scores_are_raised_too(database: Database) -> None:
    assert found(database, {1: -0.1, 6: -0.2, 2: -0.4}, 3) == [
        (1, -0.1, 1),
        (6, -0.2, 2),
        (2, -0.3, 3),
    ]


def test_prose_keeps_its_scores_and_is_searched_once(database: Database) -> None:
    search, asked = searching({6: 2.0, 7: 1.0, 1: 0.5})
    assert SourceFiles(database.connection).best(search, 2) == search(2)
    assert asked == [2, 2]


def test_the_share_can_be_none_or_all(database: Database) -> None:
    search, _ = searching({1: 9.0, 6: 4.0, 2: 3.0})
    same = SourceFiles(database.connection, share=0.0).best(search, 3)
    assert [one.chunk_id for one in same] == [1, 6, 2]
    whole = SourceFiles(database.connection, share=1.0).best(search, 3)
    assert [(one.chunk_id, one.score) for one in whole] == [(1, 9.0), (2, 9.0), (6, 4.0)]


def test_no_more_is_asked_for_than_the_vector_table_returns(database: Database) -> None:
    search, asked = searching({1: 1.0})
    SourceFiles(database.connection).best(search, 2_000)
    SourceFiles(database.connection).best(search, 5_000)
    assert asked == [2_000, 4_096, 5_000, 5_000]


def test_chunks_are_sorted_by_document_and_type(database: Database) -> None:
    assert documents_of(database.connection, [1, 5, 6, 99], MEDIA_TYPE) == {1: 1, 5: 2}


def test_a_search_raises_code_and_leaves_prose_alone(tmp_path: Path) -> None:
    methods = "".join(f"    def {name}(self):\n        pass\n\n" for name in ("encode", "decode"))
    write_files(
        tmp_path / "docs",
        {"soundex.py": f"class Soundex:\n{methods}", "note.md": "Encode it in Soundex.\n"},
    )
    with open_base(tmp_path / "base.db") as kb:
        kb.sync(tmp_path / "docs")
        connection = kb.database.connection
        plan = Plan(rerank=False)
        stages = search_stages(connection, kb.embedder, kb.reranker, kb.settings, plan)
        plain: list[Stage] = [Lexical(connection, 50), Vector(connection, kb.embedder, 50)]
        asked = SearchState(query="", queries=("Soundex encode",))
        raised, alone = (
            [{one.chunk_id: one.score for one in stage(asked).survivors} for stage in chosen]
            for chosen in (list(stages[1:3]), plain)
        )
        kinds = {id_: chunk.context for id_, chunk in kb.chunks(list(raised[1])).items()}
    best, other = "docs/soundex.py > Soundex > encode", "docs/soundex.py > Soundex > decode"
    for after, before in zip(raised, alone, strict=True):
        for id_, score in after.items():
            assert score > before[id_] if kinds[id_] == other else score == before[id_]
        assert {best, other, "note"} == {kinds[id_] for id_ in after}
