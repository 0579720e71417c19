from __future__ import annotations

from counters import WordCounter

from localrag.chunking.statistics import ChunkFinding, ChunkStatistics, statistics_of
from localrag.config import make_settings
from localrag.records import ChunkSize


def size(  # noqa: PLR0913 - a value with its usual fields
    document: str,
    ordinal: int,
    tokens: int,
    *,
    start: int = 0,
    text: str = "one two three four five six",
    characters: int = 1_000,
    kind: str = "paragraph",
    context: int = 10,
    preamble: bool = False,
) -> ChunkSize:
    end = start + characters
    return ChunkSize(document, ordinal, kind, text, tokens, start, end, context, preamble)


def statistics(*sizes: ChunkSize) -> ChunkStatistics:
    settings = make_settings(chunk_tokens=100, overlap_tokens=20)
    return statistics_of(sizes, WordCounter(), settings)


def problems(found: ChunkStatistics) -> dict[str, ChunkFinding]:
    return {finding.problem: finding for finding in found.findings}


def test_sizes_are_counted_in_classes_and_kinds() -> None:
    found = statistics(
        size("/a", 0, 16), size("/a", 1, 17, start=1_000, kind="code"), size("/b", 0, 90)
    )
    assert (found.documents, found.chunks, found.tokens) == (2, 3, 123)
    assert (found.smallest, found.median, found.largest) == (16, 17, 90)
    assert found.histogram[:4] == ((16, 1), (32, 1), (64, 0), (96, 1))
    assert found.histogram[-1] == (None, 0)
    assert found.kinds == {"paragraph": 2, "code": 1}
    assert found.overlap == 0
    assert round(found.context, 4) == round(30 / 3_030, 4)
    assert found.findings == ()


def test_an_empty_base_has_no_chunks() -> None:
    found = statistics()
    assert (found.documents, found.chunks, found.median, found.largest) == (0, 0, 0, 0)
    assert found.findings == ()


def test_more_than_the_largest_class() -> None:
    assert statistics(size("/a", 0, 600)).histogram[-1] == (None, 1)


def test_tiny_chunks_are_found_by_their_own_tokens() -> None:
    found = statistics(
        size("/a", 0, 30, text="just four words here", characters=20),
        size("/a", 1, 30, text="now there are six words here", start=20, characters=30),
        size("/a", 2, 30, text="| x |", start=50, characters=5, preamble=True),
        size("/a", 3, 30, text="Yes", start=55, characters=1_000),
    )
    finding = problems(found)["chunks of 5 tokens or fewer"]
    assert finding.count == 1
    assert finding.examples == ("/a, chunk 0: just four words here",)
    assert "take them out" in finding.advice


def test_long_chunks_cut_blocks_and_documents_of_one_chunk() -> None:
    found = problems(
        statistics(
            size("/a", 0, 151, kind="table"),
            size("/b", 0, 150),
            size("/c", 0, 160, kind="table"),
            size("/c", 1, 160, start=1_000, kind="table", preamble=True),
        )
    )
    assert found["chunks longer than 1.5 times --chunk-tokens"].count == 2
    cut = found["parts of a table or of code that the model cannot read whole"]
    assert (cut.count, cut.examples[0][:11]) == (1, "/c, chunk 1")
    assert found["documents that are one long chunk"].examples == ("/a",)


def test_only_a_few_examples_are_given() -> None:
    many = [size(f"/{name}", 0, 200) for name in range(9)]
    finding = problems(statistics(*many))["documents that are one long chunk"]
    assert (finding.count, len(finding.examples)) == (9, 3)


def test_much_overlap_and_much_context() -> None:
    found = problems(
        statistics(
            size("/a", 0, 90, context=500),
            size("/a", 1, 90, start=400, context=500),
        )
    )
    assert list(found) == ["30% of the text is overlap", "33% of the text is lines of context"]
    assert "--overlap-tokens 10" in found["30% of the text is overlap"].advice
    assert "--context-line title" in found["33% of the text is lines of context"].advice


def test_overlap_is_not_counted_between_documents() -> None:
    assert statistics(size("/a", 0, 90), size("/b", 0, 90)).overlap == 0
