import pytest
from counters import WordCounter

from localrag.chunking.splitters import STRATEGIES, strategy
from localrag.chunking.structural import split
from localrag.config import CHUNK_TOKENS
from localrag.errors import SettingsError
from localrag.formats.registry import read_document
from localrag.records import Block, Chunk, Document, Section

WORDS = "alpha beta gamma delta epsilon zeta eta theta iota kappa"


def document(source: str, name: str = "note.md") -> Document:
    return read_document(source.encode(), name)


def chunks(
    source: str, *, chunk_tokens: int = 30, overlap_tokens: int = 0, max_tokens: int = 60
) -> tuple[Chunk, ...]:
    counter = WordCounter(max_tokens)
    return split(
        document(source), counter, chunk_tokens=chunk_tokens, overlap_tokens=overlap_tokens
    )[1]


def texts(source: str, **limits: int) -> list[str]:
    return [chunk.text for chunk in chunks(source, **limits)]


def numbered(count: int, words: int = 8) -> list[str]:
    return [f"Sentence {number} {' '.join(['word'] * words)}." for number in range(count)]


def test_a_short_document_is_one_chunk() -> None:
    (chunk,) = chunks("# Title\n\nOne.\n\nTwo.\n")
    assert chunk == Chunk(
        ordinal=0,
        kind="paragraph",
        start=0,
        end=19,
        text="# Title\n\nOne.\n\nTwo.",
        headings=("Title",),
        context="Title",
        section=1,
        tokens=7,
        lines=((0, 1),),
    )


def test_an_empty_document_has_no_chunks() -> None:
    sections, found = split(Document("", (), "note", "text/plain"), WordCounter())
    assert found == ()
    assert sections == (Section("", 0, None, 0, -1),)


def test_chunks_stay_in_their_section() -> None:
    source = "# T\n\nIntro.\n\n## A\n\nText a.\n\n### A1\n\nText a1.\n\n## B\n\nText b.\n"
    found = chunks(source)
    assert [chunk.headings for chunk in found] == [("T",), ("T", "A"), ("T", "A", "A1"), ("T", "B")]
    assert [chunk.context for chunk in found] == ["T", "T > A", "T > A > A1", "T > B"]
    sections = split(document(source), WordCounter())[0]
    assert sections == (
        Section("", 0, None, 0, 3),
        Section("T", 1, 0, 0, 3),
        Section("A", 2, 1, 1, 2),
        Section("A1", 3, 2, 2, 2),
        Section("B", 2, 1, 3, 3),
    )


def test_a_heading_without_text_goes_to_the_next() -> None:
    found = chunks("# T\n\n## A\n\n### A1\n\nText.\n\n## End\n")
    assert [chunk.text for chunk in found] == ["# T\n\n## A\n\n### A1\n\nText.", "## End"]
    assert [chunk.kind for chunk in found] == ["paragraph", "heading"]


def test_sections_without_chunks_are_empty() -> None:
    sections = split(document("# T\n\n# Empty\n\n# Full\n\nText.\n"), WordCounter())[0]
    assert sections[2] == Section("Empty", 1, 0, 1, -1)
    assert sections[3] == Section("Full", 1, 0, 0, 0)


def test_headings_that_skip_levels() -> None:
    found = chunks("### Deep\n\na\n\n# Top\n\nb\n\n#### Deeper\n\nc\n")
    assert [chunk.headings for chunk in found] == [("Deep",), ("Top",), ("Top", "Deeper")]


def test_paragraphs_fill_a_chunk() -> None:
    paragraphs = numbered(6)
    found = texts("\n\n".join(paragraphs), chunk_tokens=35)
    assert found == ["\n\n".join(paragraphs[:3]), "\n\n".join(paragraphs[3:])]


def test_long_paragraphs_are_cut_between_sentences() -> None:
    sentences = numbered(6)
    found = texts(" ".join(sentences), chunk_tokens=25)
    assert found == [" ".join(sentences[at : at + 2]) for at in (0, 2, 4)]


def test_chunks_overlap_by_whole_sentences() -> None:
    sentences = numbered(6)
    found = texts(" ".join(sentences), chunk_tokens=34, overlap_tokens=12)
    assert found == [
        " ".join(sentences[0:3]),
        " ".join(sentences[2:5]),
        " ".join(sentences[4:6]),
    ]


def test_overlap_reaches_over_paragraphs_but_not_into_headings_or_code() -> None:
    source = "# T\n\nOne a b c.\n\nTwo d e f.\n\n" + " ".join(["g"] * 19) + ".\n"
    assert texts(source, chunk_tokens=30, overlap_tokens=12)[-1].startswith("One a b c.")
    code = "# T\n\n" + "a " * 20 + ".\n\n```\ncode\n```\n\n" + "g " * 20 + ".\n"
    assert texts(code, chunk_tokens=30, overlap_tokens=12)[-1].startswith("g g")


def test_overlap_never_reaches_into_code() -> None:
    assert texts("```\nabc\n```\n\na\n\nb c", chunk_tokens=9, overlap_tokens=8) == [
        "```\nabc\n```\n\na",
        "a\n\nb c",
    ]


def test_a_sentence_longer_than_a_chunk_is_cut_between_words() -> None:
    found = texts(" ".join([WORDS] * 6), chunk_tokens=20)
    assert [len(text.split()) for text in found] == [20, 20, 20]
    assert found[0].endswith("kappa")


def test_code_and_tables_are_not_cut_while_the_model_can_take_them() -> None:
    code = "```\n" + "\n".join(["a b c d e"] * 8) + "\n```"
    assert texts(f"Text.\n\n{code}\n\nMore text.") == ["Text.", code, "More text."]


def test_a_line_that_introduces_code_goes_with_it() -> None:
    code = "```\n" + "\n".join(["a b c d"] * 6) + "\n```"
    source = f"Long text {WORDS} {WORDS}.\n\nLike this:\n\n{code}"
    assert texts(source) == [f"Long text {WORDS} {WORDS}.", f"Like this:\n\n{code}"]


def test_a_heading_goes_with_the_code_below_it() -> None:
    code = "```\n" + "\n".join(["a b c d"] * 8) + "\n```"
    assert texts(f"# T\n\n{code}") == [f"# T\n\n{code}"]


def table(rows: int) -> str:
    return "\n".join(["| a | b |", "|---|---|", *(f"| {row} | x y |" for row in range(rows))])


def test_a_table_too_long_for_the_model_repeats_its_header() -> None:
    found = chunks(f"# T\n\n{table(20)}\n\nAfter.", max_tokens=64)
    header = "| a | b |\n|---|---|"
    tables = [chunk for chunk in found if chunk.kind == "table"]
    assert tables[0].text.startswith(f"# T\n\n{header}")
    assert {chunk.preamble for chunk in tables[1:]} == {header}
    assert all(chunk.text.startswith("| ") for chunk in tables[1:])
    assert "".join(chunk.text for chunk in tables).count("x y") == 20
    assert found[-1].text == "After."
    assert all(chunk.tokens <= 64 for chunk in found)


def test_a_header_that_fills_a_chunk_is_not_repeated() -> None:
    wide = "| " + " | ".join("abcdefghij" * 2) + " |\n"
    source = wide + "|" + "---|" * 20 + "\n" + wide * 4
    assert {chunk.preamble for chunk in chunks(source)} == {""}


def test_code_too_long_for_the_model_is_cut_at_blank_lines() -> None:
    functions = "\n\n".join(["def f():\n    a b c d\n    e f g h"] * 10)
    found = chunks(f"```\n{functions}\n```")
    assert all(chunk.text.lstrip("`\n").startswith("def f()") for chunk in found)
    assert {chunk.kind for chunk in found} == {"code"}


def test_a_line_of_code_longer_than_a_chunk_is_cut() -> None:
    found = chunks("```\n" + "a " * 200 + "\n```")
    assert all(chunk.tokens <= 60 for chunk in found)
    assert len(found) > 3


def test_a_rest_of_a_few_words_goes_to_the_chunk_before() -> None:
    sentences = [*numbered(3), "The end."]
    assert texts(" ".join(sentences), chunk_tokens=33) == [" ".join(sentences)]


def test_small_rests_stay_where_the_chunk_before_is_full_or_a_table() -> None:
    assert texts(f"{table(20)}\n\nEnd.")[-1] == "End."
    full = "a " * 37 + "."
    assert len(texts(f"{full}\n\nThe end.", chunk_tokens=38, max_tokens=45)) == 2


def test_mixed_chunks() -> None:
    (chunk,) = chunks("Text.\n\n- item\n")
    assert chunk.kind == "mixed"


def test_context_is_cut_to_a_quarter_of_the_model() -> None:
    source = (
        "# " + "title " * 30 + "\n\n## " + "middle " * 30 + "\n\n### " + "last " * 30 + "\n\ntext"
    )
    (chunk,) = chunks(source, chunk_tokens=150, max_tokens=200)
    counter = WordCounter()
    assert chunk.context.startswith("title title")
    assert chunk.context.endswith("last last")
    assert "middle" not in chunk.context
    assert counter.count(chunk.context) <= 50
    assert chunk.headings[-1].count("last") == 30


def test_a_long_title_alone_is_cut() -> None:
    (chunk,) = chunks("---\ntitle: " + "very " * 100 + "long\n---\ntext")
    assert WordCounter().count(chunk.context) == 15


def test_the_lines_of_a_chunk_jump_where_something_was_left_out() -> None:
    (found,) = chunks("# A\n\nOne.\n\n<!--\nx\n-->\n\nTwo.\n")
    assert found.text == "# A\n\nOne.\n\nTwo."
    assert found.lines == ((0, 1), (found.text.index("Two"), 9))


def test_lines_and_pages() -> None:
    found = chunks("# A\n\nOne\ntwo.\n\n<!--\nx\n-->\n\n# B\n\nThree.\n")
    assert [chunk.lines[0][1] for chunk in found] == [1, 10]
    text = "One. Two."
    pages = Document(
        text,
        (Block("paragraph", 0, 4, page=1), Block("heading", 5, 9, "Two.", 1, page=2)),
        "t",
        "x",
    )
    assert [(c.page, c.lines) for c in split(pages, WordCounter())[1]] == [(1, ()), (2, ())]


@pytest.mark.parametrize(
    ("chunk_tokens", "overlap_tokens", "max_tokens"),
    [(0, 0, 60), (10, 10, 60), (10, -1, 60), (10, 0, 15)],
)
def test_impossible_limits(chunk_tokens: int, overlap_tokens: int, max_tokens: int) -> None:
    with pytest.raises(SettingsError):
        chunks(
            "text", chunk_tokens=chunk_tokens, overlap_tokens=overlap_tokens, max_tokens=max_tokens
        )


def test_ways_of_cutting_have_names() -> None:
    assert next(iter(STRATEGIES)) == "structural"
    assert strategy("structural").split is split
    assert list(STRATEGIES) == list(CHUNK_TOKENS)
    with pytest.raises(SettingsError, match="sentence-window"):
        strategy("semantic")
