"""The sentences around a match, and where the match lies in what is shown."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import add_document, open_base, write_files

from localrag.config import make_settings
from localrag.errors import SettingsError
from localrag.records import Candidate, Chunk, SearchState
from localrag.search.expand import Expand
from localrag.search.sentences import Sentences, part_of
from localrag.store.chunks import fetch_chunks
from localrag.store.database import Database

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from localrag.knowledge_base import KnowledgeBase
    from localrag.records import Passage

TEXT = " ".join(f"This is sentence number {n:02}." for n in range(24))
"""Sentences of 27 characters, each with a space behind it."""
LENGTH = len("This is sentence number 00. ")


def numbers(passage: Passage) -> list[int]:
    """Return the numbers of the sentences that a passage shows."""
    return [int(part[-2:]) for part in passage.text.split(".") if part]


def cut(first: int, end: int, ordinal: int) -> Chunk:
    """Return a chunk that holds sentences `first` to `end`, the last left out."""
    start, stop = first * LENGTH, end * LENGTH - 1
    return Chunk(
        ordinal=ordinal,
        kind="paragraph",
        start=start,
        end=stop,
        text=TEXT[start:stop],
        headings=(),
        context="Title",
        section=0,
        tokens=10 * (end - first),
        lines=((start, 1),),
    )


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    """Return a document of six chunks of four sentences: ids 1 to 6."""
    opened = Database(tmp_path / "base.db")
    add_document(opened, "/a", [cut(n, n + 4, n // 4) for n in range(0, 24, 4)])
    yield opened
    opened.close()


def expand(
    database: Database, *ids: int, count: int = 2, tokens: int | None = None, limit: int = 10
) -> tuple[Passage, ...]:
    stage = Expand(database.connection, 0, tokens, limit, Sentences(count))
    survivors = tuple(Candidate(id_, 1 / rank, rank) for rank, id_ in enumerate(ids, start=1))
    return stage(SearchState(query="q", survivors=survivors)).passages


def test_a_match_is_shown_with_the_sentences_around_it(database: Database) -> None:
    (passage,) = expand(database, 3)
    assert numbers(passage) == [6, 7, 8, 9, 10, 11, 12, 13]
    assert passage.text == TEXT[passage.start : passage.end]
    ((start, end),) = passage.matches
    assert passage.text[start:end] == TEXT[8 * LENGTH : 12 * LENGTH - 1]


def test_as_many_sentences_as_there_are(database: Database) -> None:
    assert numbers(expand(database, 1)[0]) == [0, 1, 2, 3, 4, 5]
    assert numbers(expand(database, 3, count=6)[0]) == list(range(2, 18))
    assert numbers(expand(database, 6, count=99)[0]) == list(range(24))


def test_no_sentences_are_the_match_alone(database: Database) -> None:
    assert numbers(expand(database, 3, count=0)[0]) == [8, 9, 10, 11]


def test_the_sentences_end_with_the_section(database: Database) -> None:
    with database.atomic() as connection:
        connection.execute(
            "INSERT INTO sections(document_id, parent_id, level, heading, first_chunk, last_chunk) "
            "VALUES(1, NULL, 1, 'Second', 3, 5)"
        )
        connection.execute("UPDATE chunks SET section_id = 2 WHERE id > 3")
    assert numbers(expand(database, 3)[0]) == [6, 7, 8, 9, 10, 11]


def test_text_that_chunks_share_is_shown_once(tmp_path: Path) -> None:
    opened = Database(tmp_path / "overlap.db")
    add_document(opened, "/a", [cut(0, 5, 0), cut(4, 9, 1), cut(8, 13, 2)])
    (passage,) = expand(opened, 2)
    opened.close()
    assert numbers(passage) == [2, 3, 4, 5, 6, 7, 8, 9, 10]
    assert passage.matches == ((2 * LENGTH, 7 * LENGTH - 1),)


def test_a_sentence_that_a_cut_parted_is_completed(tmp_path: Path) -> None:
    opened = Database(tmp_path / "parted.db")
    middle = 5 * LENGTH - 10
    whole = cut(0, 9, 0)
    halves = [
        replace(whole, end=middle, text=TEXT[:middle]),
        replace(whole, ordinal=1, start=middle, text=TEXT[middle : whole.end]),
    ]
    add_document(opened, "/a", halves)
    assert numbers(expand(opened, 1, count=1)[0]) == [0, 1, 2, 3, 4]
    assert numbers(expand(opened, 2, count=1)[0]) == [4, 5, 6, 7, 8]
    opened.close()


def test_what_overlaps_is_one_passage_and_both_matches_are_marked(database: Database) -> None:
    (passage,) = expand(database, 4, 2)
    assert numbers(passage) == list(range(2, 18))
    assert passage.matched == (4, 2)
    assert [passage.text[start:end] for start, end in passage.matches] == [
        TEXT[12 * LENGTH : 16 * LENGTH - 1],
        TEXT[4 * LENGTH : 8 * LENGTH - 1],
    ]


def test_parts_with_a_gap_between_them_are_two_passages(database: Database) -> None:
    first, second = expand(database, 5, 2, count=1)
    assert (numbers(first), numbers(second)) == (list(range(15, 21)), list(range(3, 9)))
    for passage in (first, second):
        assert passage.text == TEXT[passage.start : passage.end]


def test_a_match_around_a_better_one_is_shown_whole_and_adds_none(database: Database) -> None:
    (passage,) = expand(database, 3, 4, limit=1)
    assert numbers(passage) == [6, 7, *range(8, 16)]
    assert passage.matched == (3, 4)


def test_matches_are_counted(database: Database) -> None:
    assert len(expand(database, 1, 6, limit=1)) == 1
    assert len(expand(database, 1, 6, limit=2)) == 2


def test_one_budget_holds_for_all_tokens(database: Database) -> None:
    # Four sentences are 40 tokens; a part rounds up.
    (passage,) = expand(database, 3, 6, tokens=64)
    assert numbers(passage) == list(range(6, 12))
    (passage,) = expand(database, 3, 6, tokens=84)
    assert numbers(passage) == list(range(6, 14))
    first, second = expand(database, 3, 6, tokens=124)
    assert (numbers(first), numbers(second)) == (list(range(6, 14)), [20, 21, 22, 23])
    assert numbers(expand(database, 3, tokens=1)[0]) == [8, 9, 10, 11]


def test_what_has_no_room_is_not_skipped_over(database: Database) -> None:
    (passage,) = expand(database, 1, count=5, tokens=50)
    assert numbers(passage) == [0, 1, 2, 3]


@settings(max_examples=60)
@given(
    ids=st.lists(st.integers(1, 6), min_size=1, max_size=6, unique=True),
    count=st.integers(0, 9),
    tokens=st.none() | st.integers(1, 260),
)
def test_every_passage_is_a_slice_with_its_matches_inside(
    tmp_path_factory: pytest.TempPathFactory, ids: list[int], count: int, tokens: int | None
) -> None:
    opened = Database(tmp_path_factory.mktemp("slices") / "base.db")
    add_document(opened, "/a", [cut(n, n + 4, n // 4) for n in range(0, 24, 4)])
    passages = expand(opened, *ids, count=count, tokens=tokens)
    opened.close()
    spans = sorted((passage.start, passage.end) for passage in passages)
    assert all(before[1] < after[0] for before, after in pairwise(spans))
    for passage in passages:
        assert passage.text == TEXT[passage.start : passage.end]
        for id_, (start, end) in zip(passage.matched, passage.matches, strict=True):
            first = 4 * (id_ - 1) * LENGTH
            assert passage.text[start:end] == TEXT[first : first + 4 * LENGTH - 1]
    spent = sum(passage.tokens for passage in passages)
    assert tokens is None or spent <= max(tokens, 40)


def test_a_part_of_a_chunk_knows_its_lines_and_its_page(database: Database) -> None:
    chunk = replace(
        fetch_chunks(database.connection, [2])[2],
        text="ab\ncd\f\nef\ngh",
        start=100,
        end=112,
        page=7,
        lines=((100, 20), (107, 30)),
        tokens=12,
    )
    part = part_of(chunk, 103, 112)
    assert (part.text, part.line, part.page) == ("cd\f\nef\ngh", 21, 7)
    assert (part.tokens, part.previous_id, part.next_id) == (9, None, 3)
    assert (part.line_at(110), part.page_at(110)) == (chunk.line_at(110), 8)
    part = part_of(replace(chunk, lines=()), 107, 109)
    assert (part.text, part.line, part.page) == ("ef", None, 8)
    assert (part.previous_id, part.next_id) == (None, None)


# In a search


@pytest.fixture
def kb(tmp_path: Path) -> Iterator[KnowledgeBase]:
    """Return a base of small chunks: three sections of twenty sentences, a nest in one of them."""
    text = "# Birds\n\n" + "\n\n".join(
        f"## {name}\n\n" + " ".join(f"The {name} was seen in place {n} again." for n in range(20))
        for name in ("owl", "duck", "crane")
    ).replace("The duck was seen in place 5", "The duck had a nest in place 5")
    write_files(tmp_path / "docs", {"birds.md": text})
    settings = make_settings(chunk_tokens=32, overlap_tokens=0)
    with open_base(tmp_path / "base.db", settings) as opened:
        opened.sync(tmp_path / "docs")
        yield opened


def best(kb: KnowledgeBase, **options: Any) -> tuple[str, str]:
    """Return the text of the best hit, and what of it is the match."""
    hit = kb.search("nest", mode="lexical", **options)[0]
    start, end = hit.matches[0]
    assert kb.chunks([hit.chunk_id])[hit.chunk_id].text == hit.text[start:end]
    return hit.text, hit.text[start:end]


def test_without_expansion_the_match_is_all_there_is(kb: KnowledgeBase) -> None:
    text, match = best(kb)
    assert text == match


def test_each_expansion_shows_more_around_the_same_match(kb: KnowledgeBase) -> None:
    _, match = best(kb)
    section, _ = best(kb, expand="section")
    assert section.count("The duck") == 20
    assert "owl" not in section
    for options in ({"expand": "neighbours"}, {"expand": "window"}):
        text, found = best(kb, **options)
        assert found == match
        assert "nest" in match
        assert match in text
        assert len(match) < len(text) < len(section)
    assert best(kb, expand="neighbours") == best(kb, context=1)
    one, three = (best(kb, expand="window", context=count)[0] for count in (1, 3))
    assert one.count("The duck") == match.count("The duck") + 2
    assert three == best(kb, expand="window")[0]


def test_all_hits_share_one_budget(kb: KnowledgeBase) -> None:
    def spent(**options: Any) -> int:
        note = kb.search("place", **options).trace.stages[-1].note
        return int(note.split(", ")[1].split()[0])

    for expand in (None, "neighbours", "section", "window"):
        assert spent(expand=expand) > 120
        assert spent(expand=expand, tokens=120) <= 120


TWO = "Two ducks swim on the small pond every day at noon. "


def test_a_file_of_sentences_can_be_searched_by_section(tmp_path: Path) -> None:
    write_files(
        tmp_path / "docs",
        {"a.md": f"# A\n\nOne owl sits in the old oak tree behind the house. {TWO * 9}"},
    )
    made = make_settings(chunking="sentence-window", chunk_tokens=32)
    with open_base(tmp_path / "sentences.db", made) as kb:
        kb.sync(tmp_path / "docs")
        (whole,) = kb.search("owl", mode="lexical", expand="section")
        (window,) = kb.search("owl", mode="lexical", expand="window", context=1)
    assert whole.text.count("ducks") == 9
    assert window.text.count("ducks") == 1
    assert "One owl sits" in window.text


def test_an_expansion_that_is_none_is_refused(kb: KnowledgeBase) -> None:
    with pytest.raises(
        SettingsError, match=r"Expand cannot be 'all'\. Use one of neighbours, section, window"
    ):
        kb.search("duck", expand="all")  # type: ignore[arg-type]
