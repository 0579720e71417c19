"""What each way of cutting makes of small documents that can be counted by hand."""

from __future__ import annotations

import pytest
from counters import WordCounter

from localrag.chunking.splitters import STRATEGIES
from localrag.errors import SettingsError
from localrag.formats.registry import read_document
from localrag.records import Chunk, Document

TABLE = "\n".join(["| a | b |", "|---|---|", *(f"| {row} | x |" for row in range(6))])
CODE = "```\none two three\nfour five six\n```"


def cut(  # noqa: PLR0913 - a splitter's own parameters
    strategy: str,
    source: str,
    *,
    chunk_tokens: int = 10,
    overlap_tokens: int = 0,
    max_tokens: int = 60,
    context: str = "full",
) -> tuple[Chunk, ...]:
    return STRATEGIES[strategy].split(
        read_document(source.encode(), "note.md"),
        WordCounter(max_tokens),
        chunk_tokens=chunk_tokens,
        overlap_tokens=overlap_tokens,
        context=context,  # type: ignore[arg-type]
    )[1]


def texts(
    strategy: str,
    source: str,
    *,
    chunk_tokens: int = 10,
    overlap_tokens: int = 0,
    max_tokens: int = 60,
) -> list[str]:
    found = cut(
        strategy,
        source,
        chunk_tokens=chunk_tokens,
        overlap_tokens=overlap_tokens,
        max_tokens=max_tokens,
    )
    return [chunk.text for chunk in found]


def words(first: int, last: int) -> str:
    return " ".join(f"W{number}" for number in range(first, last))


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_an_empty_document_has_no_chunks(strategy: str) -> None:
    split = STRATEGIES[strategy].split
    sections, chunks = split(
        Document("", (), "note", "text/plain"),
        WordCounter(),
        chunk_tokens=10,
        overlap_tokens=0,
        context="full",
    )
    assert chunks == ()
    assert [(one.first_chunk, one.last_chunk) for one in sections] == [(0, -1)]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_impossible_limits(strategy: str) -> None:
    with pytest.raises(SettingsError, match="overlap_tokens=10"):
        cut(strategy, "text", overlap_tokens=10)
    with pytest.raises(SettingsError, match="at least 16"):
        cut(strategy, "text", max_tokens=15)


# fixed


def test_fixed_windows_overlap_and_cross_paragraphs() -> None:
    assert texts("fixed", f"{words(0, 12)}\n\n{words(12, 20)}", overlap_tokens=3) == [
        words(0, 10),
        f"{words(7, 12)}\n\n{words(12, 17)}",
        words(14, 20),
    ]


def test_the_last_fixed_window_ends_with_the_text() -> None:
    assert texts("fixed", words(0, 10), overlap_tokens=3) == [words(0, 10)]
    assert texts("fixed", words(0, 11), overlap_tokens=3) == [words(0, 10), words(7, 11)]


def test_fixed_windows_lie_in_the_section_in_which_they_begin() -> None:
    found = cut("fixed", f"# A\n\n{words(0, 6)}\n\n# B\n\n{words(6, 20)}")
    assert [chunk.headings for chunk in found] == [("A",), ("B",), ("B",)]
    assert [chunk.kind for chunk in found] == ["paragraph"] * 3
    assert found[0].text == f"# A\n\n{words(0, 6)}\n\n# B"


def test_the_context_of_a_fixed_window_names_all_sections_that_it_lies_in() -> None:
    source = f"# T\n\n## A\n\n{words(0, 4)}\n\n## B\n\n{words(4, 8)}\n\n## C\n\n{words(8, 30)}"
    found = cut("fixed", source, chunk_tokens=24)
    assert [chunk.context for chunk in found] == ["T > A, B, C", "T > C"]
    assert [chunk.headings for chunk in found] == [("T",), ("T", "C")]
    # With no room for it the section in which the window begins is named.
    full = cut("fixed", source, chunk_tokens=40, max_tokens=28)
    assert full[0].context == "T"


def test_fixed_windows_end_before_a_table_or_code_and_never_in_it() -> None:
    before = words(0, 6)
    assert texts("fixed", f"{before}\n\n{CODE}\n\nEnd.", overlap_tokens=4) == [
        before,
        CODE,
        "End.",
    ]
    (table, *rest) = texts("fixed", f"{TABLE}\n\nEnd.")
    assert table == TABLE
    assert rest == ["End."]


def test_fixed_windows_in_a_table_that_the_model_cannot_take_repeat_its_header() -> None:
    rows = "\n".join(f"| {row} | x y z |" for row in range(20))
    found = cut("fixed", f"| a | b |\n|---|---|\n{rows}", chunk_tokens=40)
    assert len(found) > 3
    assert not found[0].preamble
    assert {chunk.preamble for chunk in found[1:]} == {"| a | b |\n|---|---|"}
    assert all(chunk.tokens <= 60 for chunk in found)


# sentence-window


def test_every_sentence_is_a_chunk_and_a_heading_goes_with_the_first() -> None:
    one, two, three = (f"{words(at, at + 10)}." for at in (0, 10, 20))
    found = cut("sentence-window", f"# T\n\n{one} {two}\n\n{three}", chunk_tokens=30)
    assert [chunk.text for chunk in found] == [f"# T\n\n{one}", two, three]
    assert {chunk.context for chunk in found} == {"T"}


def test_short_sentences_join_their_neighbour() -> None:
    long = f"{words(0, 12)}."
    assert texts("sentence-window", f"Yes. {long} No. {long}", chunk_tokens=30) == [
        f"Yes. {long} No.",
        long,
    ]
    assert texts("sentence-window", f"Yes. {long}", chunk_tokens=13) == ["Yes.", long]


def test_sentence_windows_keep_tables_and_code_whole() -> None:
    assert texts("sentence-window", f"Text.\n\n{TABLE}\n\n{CODE}") == ["Text.", TABLE, CODE]


def test_a_sentence_longer_than_a_chunk_is_cut() -> None:
    found = texts("sentence-window", words(0, 50), chunk_tokens=20)
    assert found == [words(0, 20), words(20, 40), words(40, 50)]


def test_a_heading_stays_alone_where_the_code_below_fills_the_model() -> None:
    code = "```\n" + "\n".join(["a b c d e"] * 8) + "\n```"
    assert texts("sentence-window", f"# {words(0, 10)}\n\n{code}", max_tokens=62)[-1] == code


# parent-child


def test_children_are_small_and_stay_in_their_section() -> None:
    source = f"# A\n\n{words(0, 8)}.\n\n{words(8, 16)}.\n\n# B\n\nText."
    found = cut("parent-child", source, chunk_tokens=12)
    assert [chunk.headings for chunk in found] == [("A",), ("A",), ("B",)]
    assert STRATEGIES["parent-child"].returns == "section"


# record


def test_every_block_is_a_record() -> None:
    source = f"# T\n\n{words(0, 20)}\n\nTwo.\n\n- one\n- two\n\n{CODE}"
    found = [f"# T\n\n{words(0, 20)}", "Two.", "- one", "- two", CODE]
    assert texts("record", source) == found


def test_tables_are_cut_into_groups_of_rows_with_the_header() -> None:
    found = cut("record", f"# T\n\n{TABLE}\n\n# End", chunk_tokens=30)
    header = "| a | b |\n|---|---|"
    assert [(chunk.preamble, chunk.text) for chunk in found] == [
        ("", f"# T\n\n{header}\n| 0 | x |\n| 1 | x |\n| 2 | x |"),
        (header, "| 3 | x |\n| 4 | x |\n| 5 | x |"),
        ("", "# End"),
    ]


def test_a_table_that_is_all_header_is_kept() -> None:
    wide = "| " + " | ".join(["a"] * 9) + " |\n" + "|---" * 9 + "|"
    found = cut("record", wide, chunk_tokens=70, max_tokens=60)
    assert found[0].text.startswith("| a")
    assert found[-1].text.endswith("---|")
    (small,) = cut("record", "| a |\n|---|", chunk_tokens=40)
    assert (small.text, small.preamble) == ("| a |\n|---|", "")


def test_a_record_is_cut_only_where_the_model_cannot_take_it() -> None:
    long = " ".join(f"{words(at, at + 9)}." for at in range(0, 90, 9))
    found = cut("record", f"{long}\n\nShort.")
    assert len(found) == 3
    assert all(chunk.tokens <= 60 for chunk in found)
    assert found[-1].text == "Short."


# The line of context


@pytest.mark.parametrize(
    ("context", "line", "embedded"),
    [
        ("full", "T > A", "T > A\n# T\n\n## A\n\nText."),
        ("words", "T > A", "# T\n\n## A\n\nText."),
        ("title", "T", "T\n# T\n\n## A\n\nText."),
        ("none", "", "# T\n\n## A\n\nText."),
    ],
)
def test_what_stands_above_a_chunk(context: str, line: str, embedded: str) -> None:
    (chunk,) = cut("structural", "# T\n\n## A\n\nText.", chunk_tokens=20, context=context)
    assert chunk.context == line
    assert chunk.embedded == embedded
    assert chunk.passage == "\n".join(part for part in (line, chunk.text) if part)
    assert chunk.headings == ("T", "A")
    assert chunk.tokens == WordCounter().count(chunk.passage)
