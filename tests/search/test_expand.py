from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import add_document, chunks_of

from localrag.records import Candidate, SearchState, StoredChunk
from localrag.search.expand import Expand
from localrag.search.merge import merge_text
from localrag.search.window import Window
from localrag.store.database import Database

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

TEXTS = [f"chunk number {number}" for number in range(8)]
DOCUMENT = "\n\n".join(TEXTS)


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    """Return two documents of eight chunks of ten tokens: ids 1 to 8 and 9 to 16."""
    opened = Database(tmp_path / "base.db")
    add_document(opened, "/a", chunks_of(TEXTS, tokens=10))
    add_document(opened, "/b", chunks_of(TEXTS, tokens=10))
    yield opened
    opened.close()


def found(*ids: int) -> SearchState:
    """Return a state whose survivors are `ids` with probabilities 0.9, 0.8, ..."""
    survivors = tuple(Candidate(id_, 1 - rank / 10, rank) for rank, id_ in enumerate(ids, 1))
    return SearchState(query="q", queries=("q",), survivors=survivors, reranked=True)


def expand(  # noqa: PLR0913 - what the stage is made of
    database: Database,
    state: SearchState,
    *,
    neighbours: int = 0,
    token_budget: int | None = None,
    limit: int = 10,
    window: Window | None = None,
) -> SearchState:
    stage = Expand(
        database.connection,
        neighbours=neighbours,
        token_budget=token_budget,
        limit=limit,
        window=window,
    )
    return stage(state)


def ids_of(state: SearchState) -> list[list[int]]:
    return [[chunk.id for chunk in passage.chunks] for passage in state.passages]


def test_matches_that_touch_in_one_section_are_one_passage(database: Database) -> None:
    after = expand(database, found(5, 4, 12, 6))
    assert ids_of(after) == [[4, 5, 6], [12]]
    assert after.passages[0].matched == (5, 4, 6)


def test_with_neighbours_every_match_counts(database: Database) -> None:
    after = expand(database, found(5, 4, 12, 6), neighbours=1, limit=2)
    assert ids_of(after) == [[3, 4, 5, 6]]
    assert after.passages[0].matched == (5, 4)


def test_without_neighbours_matches_of_two_sections_stay_apart(database: Database) -> None:
    database.connection.execute(
        "UPDATE chunks SET section_id = (SELECT max(id) FROM sections) WHERE id = 5"
    )
    after = expand(database, found(5, 4, 12, 6))
    assert ids_of(after) == [[5], [4], [12], [6]]
    assert [passage.matched for passage in after.passages] == [(5,), (4,), (12,), (6,)]
    assert [passage.text for passage in after.passages] == [TEXTS[4], TEXTS[3], TEXTS[3], TEXTS[5]]


def test_the_order_of_the_ranking_is_the_order_of_the_passages(database: Database) -> None:
    after = expand(database, found(12, 2, 7), neighbours=1)
    assert [passage.best.id for passage in after.passages] == [12, 2, 7]
    assert [passage.relevance for passage in after.passages] == pytest.approx([0.9, 0.8, 0.7])


def test_neighbours_stay_inside_the_document(database: Database) -> None:
    assert ids_of(expand(database, found(1), neighbours=2)) == [[1, 2, 3]]
    assert ids_of(expand(database, found(8), neighbours=2)) == [[6, 7, 8]]
    assert ids_of(expand(database, found(9), neighbours=1)) == [[9, 10]]


def test_passages_that_touch_become_one_with_the_best_ones_relevance(database: Database) -> None:
    after = expand(database, found(6, 12, 4), neighbours=1)
    assert ids_of(after) == [[3, 4, 5, 6, 7], [11, 12, 13]]
    assert after.passages[0].matched == (6, 4)
    assert after.passages[0].relevance == pytest.approx(0.9)
    assert after.passages[0].best.id == 6


def test_the_ends_of_two_documents_do_not_touch(database: Database) -> None:
    assert ids_of(expand(database, found(8, 9), neighbours=1)) == [[7, 8], [9, 10]]


def test_the_text_of_a_passage_is_a_slice_of_the_document(database: Database) -> None:
    after = expand(database, found(4, 6), neighbours=1)
    [passage] = after.passages
    assert passage.text == DOCUMENT[passage.start : passage.end]


def test_the_budget_drops_matches_from_the_end(database: Database) -> None:
    after = expand(database, found(1, 5, 12), neighbours=0, token_budget=25)
    assert ids_of(after) == [[1], [5]]
    assert [candidate.chunk_id for candidate in after.survivors] == [1, 5]


def test_the_best_match_is_kept_even_beyond_the_budget(database: Database) -> None:
    assert ids_of(expand(database, found(3, 5), neighbours=2, token_budget=1)) == [[3]]


def test_neighbours_take_what_the_matches_leave_nearest_and_best_first(
    database: Database,
) -> None:
    after = expand(database, found(4, 13), neighbours=2, token_budget=50)
    assert ids_of(after) == [[3, 4, 5], [12, 13]]
    after = expand(database, found(4, 13), neighbours=2, token_budget=70)
    assert ids_of(after) == [[2, 3, 4, 5], [12, 13, 14]]
    assert after.note == "2 passages, 70 tokens"


def test_a_matched_chunk_is_not_spent_twice_as_a_neighbour(database: Database) -> None:
    after = expand(database, found(4, 5), neighbours=1, token_budget=40)
    assert ids_of(after) == [[3, 4, 5, 6]]


def test_only_the_wanted_number_of_matches_is_taken(database: Database) -> None:
    assert ids_of(expand(database, found(1, 3, 5), limit=2)) == [[1], [3]]


def test_scores_that_are_no_probabilities_are_not_shown_as_relevance(database: Database) -> None:
    [passage] = expand(database, replace(found(1), reranked=False)).passages
    assert passage.relevance is None


def test_what_was_not_read_has_no_relevance(database: Database) -> None:
    state = replace(found(2, 6, 7), unread=frozenset({2, 7}))
    passages = expand(database, state).passages
    assert [(p.matched, p.relevance) for p in passages] == [((2,), None), ((6, 7), 0.8)]


def test_a_chunk_that_is_gone_is_left_out(database: Database) -> None:
    after = expand(database, found(99, 2), neighbours=1)
    assert ids_of(after) == [[1, 2, 3]]
    assert [candidate.chunk_id for candidate in after.survivors] == [2]


def test_nothing_expands_to_nothing(database: Database) -> None:
    after = expand(database, found(), neighbours=1)
    assert (after.passages, after.survivors) == ((), ())
    assert after.note == "0 passages, 0 tokens"


# merge_text


def stored(ordinal: int, start: int, text: str) -> StoredChunk:
    return StoredChunk(
        id=ordinal,
        document_id=1,
        uri="/a",
        title="Title",
        ordinal=ordinal,
        kind="paragraph",
        text=text,
        preamble="",
        context="Title",
        headings=(),
        start=start,
        end=start + len(text),
        page=None,
        lines=(),
        tokens=1,
        section_id=1,
        previous_id=None,
        next_id=None,
    )


def slices(document: str, spans: Sequence[tuple[int, int]]) -> list[StoredChunk]:
    return [stored(n, start, document[start:end]) for n, (start, end) in enumerate(spans)]


def test_shared_text_appears_once() -> None:
    assert merge_text(slices("abcdefgh", [(0, 5), (3, 8)])) == "abcdefgh"


def test_a_chunk_inside_the_one_before_adds_nothing() -> None:
    assert merge_text(slices("abcdefgh", [(0, 6), (2, 4), (4, 8)])) == "abcdefgh"


def test_a_gap_is_filled_so_that_offsets_stay_those_of_the_document() -> None:
    assert merge_text(slices("ab\n\n\ncd", [(0, 2), (5, 7)])) == "ab\n\n\ncd"


@settings(deadline=None)
@given(st.data())
def test_chunks_that_cover_a_document_merge_to_its_text(data: st.DataObject) -> None:
    document = data.draw(st.text(min_size=1, max_size=40))
    length = len(document)
    starts = sorted({0, *data.draw(st.lists(st.integers(0, length - 1), max_size=5))})
    following = [*starts[1:], length]
    spans = [
        (start, data.draw(st.integers(end, length)))
        for start, end in zip(starts, following, strict=True)
    ]
    spans[-1] = (spans[-1][0], length)
    assert merge_text(slices(document, spans)) == document


# What small chunks are returned with


@pytest.fixture
def sections(tmp_path: Path) -> Iterator[Database]:
    """Return a document of two sections, of chunks 1 to 4 and 5 to 8."""
    opened = Database(tmp_path / "sections.db")
    add_document(opened, "/a", chunks_of(TEXTS, tokens=10))
    with opened.atomic() as connection:
        connection.execute(
            "INSERT INTO sections(document_id, parent_id, level, heading, first_chunk, last_chunk) "
            "VALUES(1, NULL, 1, 'Second', 4, 7)"
        )
        connection.execute("UPDATE chunks SET section_id = 2 WHERE id > 4")
    yield opened
    opened.close()


def test_a_window_ends_with_its_section(sections: Database) -> None:
    after = expand(sections, found(4, 6), window=Window(2))
    assert ids_of(after) == [[2, 3, 4], [5, 6, 7, 8]]
    assert [passage.matched for passage in after.passages] == [(4,), (6,)]


def test_the_whole_section_is_returned_around_the_chunk_that_was_found(
    sections: Database,
) -> None:
    after = expand(sections, found(7), window=Window(100))
    assert ids_of(after) == [[5, 6, 7, 8]]
    assert after.passages[0].best.id == 7


def test_a_match_in_the_window_of_a_better_one_opens_none(sections: Database) -> None:
    after = expand(sections, found(2, 3, 1, 6), window=Window(1), limit=2)
    assert ids_of(after) == [[1, 2, 3], [5, 6, 7]]
    assert [passage.matched for passage in after.passages] == [(2, 3, 1), (6,)]
    assert [one.chunk_id for one in after.survivors] == [2, 3, 1, 6]


def test_windows_are_counted(sections: Database) -> None:
    assert ids_of(expand(sections, found(1, 6, 2), window=Window(1), limit=1)) == [[1, 2]]
    assert len(expand(sections, found(1, 6), window=Window(100), limit=2).passages) == 2


def test_windows_that_meet_are_one_passage(sections: Database) -> None:
    after = expand(sections, found(1, 4), window=Window(1))
    assert ids_of(after) == [[1, 2, 3, 4]]
    assert after.passages[0].matched == (1, 4)


def test_a_window_grows_to_its_own_limit_nearest_first(sections: Database) -> None:
    assert ids_of(expand(sections, found(6), window=Window(100, 30))) == [[5, 6, 7]]
    assert ids_of(expand(sections, found(6), window=Window(100, 25))) == [[5, 6]]
    assert ids_of(expand(sections, found(6), window=Window(100, 5))) == [[6]]


def test_windows_share_the_budget_best_first(sections: Database) -> None:
    after = expand(sections, found(2, 7), window=Window(1), token_budget=45)
    assert ids_of(after) == [[1, 2, 3], [7]]
    after = expand(sections, found(2, 7), window=Window(1), token_budget=35)
    assert ids_of(after) == [[1, 2, 3]]
    after = expand(sections, found(2, 4), window=Window(1), token_budget=50)
    assert ids_of(after) == [[1, 2, 3, 4]]
    assert ids_of(expand(sections, found(2), window=Window(1), token_budget=1)) == [[2]]


def test_nothing_is_added_beyond_a_neighbour_that_has_no_room(database: Database) -> None:
    with database.atomic() as connection:
        connection.execute("UPDATE chunks SET tokens = 90 WHERE id = 4")
    after = expand(database, found(5), neighbours=3, token_budget=60)
    assert ids_of(after) == [[5, 6, 7, 8]]
