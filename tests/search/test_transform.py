"""Stage 1: the glossary and near words in a real base with the exact fake models."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support import age, open_base, write_files

from localrag.config import make_settings
from localrag.errors import ReadOnlyError, SettingsError
from localrag.ingest.short_forms import catch_up, prose
from localrag.records import ALSO, Alternative, Chunk, Filter, SearchState
from localrag.search.glossary import glossary_alternatives
from localrag.search.spelling import spelling_alternatives
from localrag.search.transform import Transform, open_words
from localrag.store.allowed import chunks_of_documents
from localrag.store.filters import allowed_documents

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from localrag.knowledge_base import KnowledgeBase

FILES = {
    "a.md": "# Labelling\n\nWe train conditional random fields (CRFs) to label sequences.\n",
    "b.md": "# Kidneys\n\nPatients with chronic renal failure (CRF) receive dialysis.\n",
    "c.md": "# Fields\n\nA conditional random field is undirected.\n",
    "d.md": "# Forms\n\nThe CRF is filled in by hand.\n",
    "ja.md": "# 連合\n\nこれは国際連合（国連）の本部です。\n\n国連の総会は毎年開かれる。\n",
    "ja2.md": "# 歴史\n\n国際連合の歴史を述べる。\n",
    "it.md": "# Staff\n\nInformation technology (IT) needs many hands.\n",
    "secret/plan.md": "# Plan\n\nThe Grand Merger Project (GMP) with Zylotron starts in May.\n",
}


@pytest.fixture
def kb(tmp_path: Path) -> Iterator[KnowledgeBase]:
    write_files(tmp_path / "docs", FILES)
    with open_base(tmp_path / "base.db") as opened:
        opened.sync(tmp_path / "docs")
        opened.sync(tmp_path / "docs" / "secret", labels=["board"])
        yield opened


def expanded(kb: KnowledgeBase, query: str) -> list[tuple[str, str]]:
    found = glossary_alternatives(kb.database.connection, query)
    assert all(one.source == "glossary" for one in found)
    return [(one.word, one.text) for one in found]


def corrected(kb: KnowledgeBase, query: str) -> list[tuple[str, str]]:
    found = spelling_alternatives(kb.database.connection, query)
    assert all(one.source == "spelling" for one in found)
    return [(one.word, one.text) for one in found]


def names(kb: KnowledgeBase, query: str, **options: object) -> list[str]:
    result = kb.search(query, mode="lexical", rerank=False, **options)  # type: ignore[arg-type]
    return [hit.document.rpartition("/")[2] for hit in result]


# The glossary


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("CRF", [("CRF", "conditional random fields"), ("CRF", "chronic renal failure")]),
        ("what are crfs", []),  # not written so, and the plural is not in capitals
        ("what is crf", [("crf", "conditional random fields"), ("crf", "chronic renal failure")]),
        ("What is crf", []),  # in a query with capitals lower case is meant
        ("Our ITs", [("ITs", "Information technology")]),
        ("Conditional Random Field training", [("Conditional Random Field", "CRF")]),
        ("conditional random, field", []),
        ("国連とは", [("国連", "国際連合")]),
        ("国際連合の本部", [("国際連合", "国連")]),
        ("it is what it is", []),
        ("IT staff", [("IT", "Information technology")]),
        ("information technologies", [("information technologies", "IT")]),
        ("what is CRF, the chronic renal failure", [("CRF", "conditional random fields")]),
        ("", []),
        ("nothing of the kind", []),
    ],
)
def test_abbreviations_and_terms_of_a_query(
    kb: KnowledgeBase, query: str, expected: list[tuple[str, str]]
) -> None:
    assert sorted(expanded(kb, query)) == sorted(expected)


def test_a_search_for_one_finds_the_other(kb: KnowledgeBase) -> None:
    assert set(names(kb, "CRF")) == {"a.md", "b.md", "c.md", "d.md"}
    assert set(names(kb, "conditional random field")) >= {"a.md", "c.md", "d.md"}
    assert set(names(kb, "国連 総会")) == {"ja.md", "ja2.md"}


def test_an_alternative_counts_only_where_the_words_themselves_are_missing(
    kb: KnowledgeBase,
) -> None:
    plain = kb.search("CRF dialysis", mode="lexical", rerank=False)
    kb.settings = replace(kb.settings, glossary=False)
    without = kb.search("CRF dialysis", mode="lexical", rerank=False)
    scores = [
        {one.chunk_id: one.score for one in stage.survivors}
        for result in (plain, without)
        for stage in result.trace.stages
        if stage.name == "2a. bm25"
    ]
    assert len(scores[0]) > len(scores[1])
    for chunk, score in scores[1].items():
        assert scores[0][chunk] == pytest.approx(score)


def test_the_trace_tells_what_was_looked_for(kb: KnowledgeBase) -> None:
    result = kb.search("国連とは")
    assert result.trace.stages[0].note == f"{ALSO}国際連合 (国連)"
    assert result.trace.searched_also == "国際連合 (国連)"
    assert kb.search("dialysis").trace.searched_also == ""
    answer = kb.ask("Who wil recieve dialysis?")
    assert answer.trace.searched_also == "recieve -> receive"
    assert answer.question == "Who wil recieve dialysis?"


def test_what_is_in_quotation_marks_or_excluded_is_meant_as_it_stands(kb: KnowledgeBase) -> None:
    assert names(kb, 'the "CRF"') == names(kb, '"CRF"')
    assert set(names(kb, '"CRF"')) == {"b.md", "d.md"}
    assert open_words('a "b c" d -e “f” g-h').split() == ["a", ".", "d", ".", ".", "g-h"]


def test_each_can_be_switched_off(kb: KnowledgeBase, tmp_path: Path) -> None:
    kb.close()
    settings = make_settings(glossary=False, spelling=False)
    with open_base(tmp_path / "base.db", settings) as opened:
        for query in ("CRF", "recieve"):
            assert opened.search(query).trace.stages[0].note == "query unchanged"


def test_a_failure_leaves_the_query_as_it_is(kb: KnowledgeBase) -> None:
    kb.database.connection.execute("DROP TABLE glossary")
    result = kb.search("CRF dialysis", mode="lexical", rerank=False)
    assert result.hits
    [failure] = result.trace.failures
    assert failure.startswith("1. transform failed: ")
    assert "no such table: glossary" in failure
    assert failure.endswith("Searched for the query as it is.")


def test_nothing_is_told_of_documents_that_may_not_be_searched(kb: KnowledgeBase) -> None:
    for query in ("GMP", "Zylotrom"):
        assert kb.search(query, labels=["board"]).trace.searched_also
        result = kb.search(query, labels=["staff"])
        assert [stage.name for stage in result.trace.stages[:2]] == ["0. filter", "1. transform"]
        assert result.trace.searched_also == ""


# Spelling


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("recieve letters", [("recieve", "receive")]),
        ("Dilaysus", []),  # two errors
        ("Dialyss", [("Dialyss", "dialysis")]),
        ("sequnces", [("sequnces", "sequences")]),
        ("receive dialysis", []),
        ("where does receive", []),  # "does" is in no document, and not misspelled
        ("wich dialysis", []),  # a word of questions: it would say nothing
        ("CRG max_seq crf2 国際連盟", []),
        ("patienten bekomen dyalisis tretment", []),  # another language
        ("", []),
    ],
)
def test_near_words_of_a_query(
    kb: KnowledgeBase, query: str, expected: list[tuple[str, str]]
) -> None:
    assert corrected(kb, query) == expected


def test_a_misspelled_word_finds_what_was_meant(kb: KnowledgeBase) -> None:
    assert names(kb, "dialyss") == ["b.md"]


def test_a_word_that_only_shares_a_stem_with_a_neighbour_is_not_meant(tmp_path: Path) -> None:
    # "deficency" is one letter from "definency", whose stem is that of "defined".
    files = {f"{number}.md": f"The term is defined, {number}.\n" for number in range(5)}
    write_files(tmp_path / "docs", {**files, "d.md": "A deficiency of iron; deficient.\n"})
    with open_base(tmp_path / "base.db") as kb:
        kb.sync(tmp_path / "docs")
        assert corrected(kb, "deficency") == [("deficency", "deficiency")]
        # One letter from "definities"; the only word of that stem is too far away.
        assert corrected(kb, "definxties") == []


def test_the_words_of_most_chunks_are_taken(tmp_path: Path) -> None:
    words = {"bread": 1, "broad": 5, "bred": 3, "brood": 2}
    files = {f"{w}{n}.md": f"{w} {n}\n" for w, count in words.items() for n in range(count)}
    write_files(tmp_path / "docs", files)
    with open_base(tmp_path / "base.db") as kb:
        kb.sync(tmp_path / "docs")
        assert corrected(kb, "bread") == []
        assert corrected(kb, "broed") == [("broed", "broad"), ("broed", "bred")]


# Over the life of a document


def test_the_glossary_follows_its_documents(kb: KnowledgeBase, tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    assert expanded(kb, "IT") == [("IT", "Information technology")]
    (docs / "it.md").rename(docs / "moved.md")
    age(docs)
    kb.refresh()
    assert expanded(kb, "IT") == [("IT", "Information technology")]
    (docs / "moved.md").write_text("# Staff\n\nIndustrial trucks (IT) roll.\n", encoding="utf-8")
    kb.refresh()
    assert expanded(kb, "IT") == [("IT", "Industrial trucks")]
    (docs / "moved.md").unlink()
    kb.refresh()
    assert expanded(kb, "IT") == []
    kb.add("The International Tribunal (IT) sits.", uri="memo")
    assert expanded(kb, "IT") == [("IT", "International Tribunal")]
    kb.remove("memo")
    assert expanded(kb, "IT") == []


def test_a_sync_looks_through_documents_of_an_older_version(kb: KnowledgeBase) -> None:
    with kb.database.atomic() as connection:
        connection.execute("DELETE FROM glossary")
        connection.execute("UPDATE documents SET glossary_version = 0")
    assert kb.refresh(dry_run=True).dry_run
    assert expanded(kb, "IT") == []
    report = kb.refresh()
    assert not report.changed
    assert expanded(kb, "IT") == [("IT", "Information technology")]


def test_looking_through_can_be_stopped(kb: KnowledgeBase) -> None:
    def stop() -> None:
        raise KeyboardInterrupt

    with kb.database.atomic() as connection:
        connection.execute("UPDATE documents SET glossary_version = 0")
    with pytest.raises(KeyboardInterrupt):
        catch_up(kb.database, stop)


def chunk(ordinal: int, kind: str, start: int, text: str) -> Chunk:
    return Chunk(
        ordinal=ordinal,
        kind=kind,
        start=start,
        end=start + len(text),
        text=text,
        headings=(),
        context="",
        section=0,
        tokens=1,
    )


def test_prose_has_what_chunks_share_once_and_no_code() -> None:
    chunks = [
        chunk(2, "code", 20, "new (N)"),
        chunk(0, "paragraph", 0, "one two three"),
        chunk(1, "paragraph", 8, "three four"),
        chunk(3, "paragraph", 30, "five"),
    ]
    assert prose(chunks) == "one two three four\n\nfive"


# The user's own


def test_the_users_entries_are_used_and_survive(kb: KnowledgeBase, tmp_path: Path) -> None:
    kb.glossary.add("KBX", " forms  by hand ")
    kb.glossary.remove("CRF", "chronic renal failure")
    (tmp_path / "docs" / "b.md").write_text(
        "# K\n\nMore of chronic renal failure (CRF).\n", encoding="utf-8"
    )
    kb.refresh()
    assert expanded(kb, "KBX") == [("KBX", "forms by hand")]
    assert expanded(kb, "CRF") == [("CRF", "conditional random fields")]
    assert [entry.short for entry in kb.glossary.entries("by HAND")] == ["KBX"]
    assert len(kb.glossary.entries("crf")) == 1
    assert len(kb.glossary.entries("crf", all_=True)) == 2
    assert not kb.glossary.remove("nothing")
    # One's own comes first, whatever the documents say.
    kb.glossary.add("CRF", "case report form")
    assert expanded(kb, "CRF")[0] == ("CRF", "case report form")


@pytest.mark.parametrize(("short", "long"), [("", "x"), ("x", " ?"), ("A-B", "a b")])
def test_an_entry_must_say_something(kb: KnowledgeBase, short: str, long: str) -> None:
    with pytest.raises(SettingsError, match="Give both: localrag glossary add"):
        kb.glossary.add(short, long)


def test_a_read_only_base_uses_its_glossary_and_keeps_it(kb: KnowledgeBase, tmp_path: Path) -> None:
    kb.close()
    with open_base(tmp_path / "base.db", read_only=True) as opened:
        assert opened.search("国連").trace.searched_also
        with pytest.raises(ReadOnlyError):
            opened.glossary.add("A", "b c")
        with pytest.raises(ReadOnlyError):
            opened.glossary.remove("CRF")


# Any text


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(st.text(alphabet='CRFcrf recive"“”-()*国連際合、.\0\ud800'))
def test_any_text_is_a_legal_query(kb: KnowledgeBase, query: str) -> None:
    result = kb.search(query, mode="lexical", rerank=False)
    assert result.trace.failures == ()


def test_a_pasted_page_is_looked_at_in_part(kb: KnowledgeBase) -> None:
    page = "some words about nothing " * 2_000 + "CRF"
    assert expanded(kb, page) == []
    assert expanded(kb, f"CRF {page}")[0][0] == "CRF"


def test_alternatives_are_of_allowed_documents_only(kb: KnowledgeBase) -> None:
    connection = kb.database.connection
    passing, ids = allowed_documents(connection, Filter(paths=("**/b.md",)))
    allowed = chunks_of_documents(connection, passing, ids)
    state = SearchState(query="CRF recieve sequnces", allowed=allowed)
    assert Transform(connection)(state).alternatives == (
        Alternative("CRF", "chronic renal failure", "glossary"),
        Alternative("recieve", "receive", "spelling"),
    )
