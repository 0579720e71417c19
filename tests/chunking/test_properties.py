"""What holds for every document, every tokenizer and every setting."""

from itertools import pairwise

import pytest
from counters import PieceCounter, WastefulCounter, WordCounter
from hypothesis import given, settings
from hypothesis import strategies as st

from localrag.chunking.splitters import STRATEGIES
from localrag.config import ContextLine
from localrag.errors import ReadError
from localrag.formats.registry import read_document
from localrag.records import Chunk, Document, Section

WORDS = st.sampled_from(
    ["a", "word", "longer", "Sentence.", "end.", "漢字", "です。", "x" * 30, "é"]
)
PROSE = st.lists(WORDS, min_size=1, max_size=60).map(" ".join)
LINES = st.lists(PROSE, min_size=1, max_size=12).map("\n".join)
BLOCKS = st.one_of(
    PROSE,
    st.builds("{} {}".format, st.sampled_from(["#", "##", "###"]), PROSE),
    LINES.map(lambda code: f"```\n{code}\n```"),
    st.lists(PROSE, min_size=1, max_size=9).map(
        lambda rows: "\n".join(["| h |", "|---|", *(f"| {row} |" for row in rows)])
    ),
    st.lists(PROSE, min_size=1, max_size=4).map(lambda items: "\n".join(f"- {i}" for i in items)),
    PROSE.map(lambda quote: f"> {quote}\n>\n> more"),
    st.text("#`|->* \nab。", max_size=30),
)
COUNTERS = st.builds(
    lambda kind, most: kind(most),
    st.sampled_from([WordCounter, PieceCounter, WastefulCounter]),
    st.integers(24, 90),
)


Case = tuple[str, Document, WordCounter, int, int, ContextLine]


@st.composite
def cases(draw: st.DrawFn, *names: str) -> Case:
    source = "\n\n".join(draw(st.lists(BLOCKS, min_size=1, max_size=12)))
    name = draw(st.sampled_from(["note.md", "note.txt"]))
    try:
        document = read_document(source.encode(), name)
    except ReadError:
        document = Document("", (), "note", "text/plain")
    chunk_tokens = draw(st.integers(1, 80))
    overlap_tokens = draw(st.integers(0, chunk_tokens - 1))
    strategy = draw(st.sampled_from(names or tuple(STRATEGIES)))
    context: ContextLine = draw(st.sampled_from(["full", "words", "title", "none"]))
    return strategy, document, draw(COUNTERS), chunk_tokens, overlap_tokens, context


def cut(case: Case) -> tuple[tuple[Section, ...], tuple[Chunk, ...]]:
    strategy, document, counter, chunk_tokens, overlap_tokens, context = case
    return STRATEGIES[strategy].split(
        document,
        counter,
        chunk_tokens=chunk_tokens,
        overlap_tokens=overlap_tokens,
        context=context,
    )


@given(cases())
def test_chunks_slice_and_cover_the_document(case: Case) -> None:
    text = case[1].text
    covered = 0
    for chunk in cut(case)[1]:
        assert chunk.text == text[chunk.start : chunk.end]
        assert chunk.text.strip()
        assert chunk.start <= covered or not text[covered : chunk.start].strip()
        assert chunk.end > covered
        covered = chunk.end
    assert not text[covered:].strip()


@given(cases())
def test_nothing_exceeds_the_model(case: Case) -> None:
    counter = case[2]
    for chunk in cut(case)[1]:
        parts = (chunk.context, chunk.preamble, chunk.text)
        assert chunk.tokens == counter.count("\n".join(part for part in parts if part))
        assert chunk.tokens <= counter.max_tokens


@given(cases())
def test_ordinals_count_up(case: Case) -> None:
    chunks = cut(case)[1]
    assert [chunk.ordinal for chunk in chunks] == list(range(len(chunks)))
    assert [chunk.start for chunk in chunks] == sorted(chunk.start for chunk in chunks)


@given(cases("structural", "fixed", "sentence-window", "parent-child"))
def test_tables_and_code_are_whole_where_the_model_can_take_them(
    case: Case,
) -> None:
    _, document, counter, *_ = case
    chunks = cut(case)[1]
    for block in document.blocks:
        if block.kind not in ("table", "code"):
            continue
        inside = [c for c in chunks if c.start < block.end and block.start < c.end]
        if len(inside) > 1:
            text = document.text[block.start : block.end]
            # The margin, and a cut that the counter may see otherwise.
            most = counter.max_tokens - counter.count(inside[0].context) - 8
            assert counter.count(text) > most


@given(cases("structural", "parent-child"))
def test_overlap_is_bounded_and_inside_a_section(
    case: Case,
) -> None:
    _, document, counter, _, overlap_tokens, _ = case
    chunks = cut(case)[1]
    for previous, chunk in pairwise(chunks):
        if chunk.start < previous.end:
            shared = document.text[chunk.start : previous.end]
            assert counter.count(shared) <= overlap_tokens + 1
            assert chunk.section == previous.section
            assert chunk.start > previous.start


@given(cases())
def test_sections_name_their_chunks(case: Case) -> None:
    sections, chunks = cut(case)
    assert sections[0].parent is None
    for index, section in enumerate(sections[1:], start=1):
        assert section.parent is not None
        assert section.parent < index
        assert sections[section.parent].level < section.level
    for chunk in chunks:
        enclosing: int | None = chunk.section
        while enclosing is not None:
            section = sections[enclosing]
            assert section.first_chunk <= chunk.ordinal <= section.last_chunk
            enclosing = section.parent


@settings(max_examples=20)
@given(cases())
def test_the_same_document_gives_the_same_chunks(
    case: Case,
) -> None:
    assert cut(case) == cut(case)


@given(cases("sentence-window", "record"))
def test_chunks_that_are_returned_with_others_do_not_overlap(case: Case) -> None:
    for previous, chunk in pairwise(cut(case)[1]):
        assert chunk.start >= previous.end


@given(cases())
def test_a_part_of_a_table_repeats_the_header(case: Case) -> None:
    """Unless the header fills half of a chunk, or only a piece of a row fitted with it."""
    _, document, counter, chunk_tokens, *_ = case
    for chunk in cut(case)[1]:
        block = next(b for b in document.blocks if b.start <= chunk.start < b.end)
        if block.kind != "table" or chunk.start == block.start:
            assert block.kind == "code" or not chunk.preamble
            continue
        header = "\n".join(document.text[block.start : block.end].split("\n")[: block.header_rows])
        small = counter.count(header) <= min(chunk_tokens, counter.max_tokens // 2) // 2 - 1
        assert chunk.preamble in ("", header)
        assert chunk.preamble == header or not small


@given(cases())
def test_the_line_of_context_holds_what_was_asked_for(case: Case) -> None:
    *_, counter, _, _, context = case
    for chunk in cut(case)[1]:
        assert (chunk.context == "") == (context == "none")
        assert chunk.embedded == chunk.passage or context == "words"
        assert counter.count(chunk.embedded) <= counter.max_tokens
        if context == "words":
            assert chunk.passage == f"{chunk.context}\n{chunk.embedded}"


@pytest.mark.parametrize("counter", [WordCounter(60), PieceCounter(60), WastefulCounter(60)])
@pytest.mark.parametrize(
    "text", ["x" * 50_000, "漢" * 5_000, "a " * 20_000, "\u200b" * 3_000 + "a"]
)
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_endless_lines(strategy: str, text: str, counter: WordCounter) -> None:
    document = read_document(text.encode(), "a.txt")
    chunks = cut((strategy, document, counter, 30, 5, "full"))[1]
    assert all(chunk.tokens <= 60 for chunk in chunks)
    assert chunks[-1].end == len(document.text.rstrip())
