"""Chunks at places that a set prescribes, in files that have no names."""

from __future__ import annotations

import pytest

from localrag.evaluate.given_chunks import cut_at, read_nameless, suffix_of_code
from localrag.formats.code_languages import MEDIA_TYPE
from localrag.inference.fake import FakeCounter

SHOP = """\
class Shop:
    def open(self):
        return self.key

    def close(self):
        return None

    def sell(self):
        return 1
"""


@pytest.mark.parametrize(
    ("suffix", "text"),
    [
        (".py", SHOP),
        (".rs", "use std::fmt;\n\npub fn main() {\n    let mut x = 1;\n}\n"),
        (".java", "package a.b;\n\npublic class A {\n  private int x;\n}\n"),
        (".cpp", "#include <map>\n\nnamespace a {\nstd::map<int, int> x;\n}\n"),
        (".txt", "The harbour opens at six.\n"),
    ],
)
def test_the_language_shows_in_the_text(suffix: str, text: str) -> None:
    assert suffix_of_code(text) == suffix


def test_a_nameless_file_has_no_title() -> None:
    document = read_nameless("doc_1", SHOP)
    assert (document.title, document.media_type, document.text) == ("", MEDIA_TYPE, SHOP)


def test_chunks_lie_where_they_should_and_know_what_encloses_them() -> None:
    first, second = SHOP.index("    def open"), SHOP.index("        return None")
    spans = [(0, first), (first, second), (second, len(SHOP))]
    sections, chunks = cut_at(read_nameless("doc", SHOP), FakeCounter(), spans)
    assert [(chunk.start, chunk.end) for chunk in chunks] == spans
    assert "".join(chunk.text for chunk in chunks) == SHOP
    assert [chunk.context for chunk in chunks] == [
        "Shop",
        "Shop > open, close",
        "Shop > close, sell",
    ]
    assert [chunk.ordinal for chunk in chunks] == [0, 1, 2]
    assert (sections[0].first_chunk, sections[0].last_chunk) == (0, 2)


@pytest.mark.parametrize("context", ["none", "title"])
def test_the_context_can_be_left_out(context: str) -> None:
    _, chunks = cut_at(read_nameless("d", SHOP), FakeCounter(), [(0, len(SHOP))], context)  # type: ignore[arg-type]
    assert chunks[0].context == ""


def test_a_chunk_that_is_too_long_stays_one() -> None:
    text = "word " * 40
    _, chunks = cut_at(read_nameless("d", text), FakeCounter(max_tokens=20), [(0, len(text))])
    assert [chunk.text for chunk in chunks] == [text]


def test_a_blank_chunk_is_kept() -> None:
    _, chunks = cut_at(read_nameless("d", "a\n\n\n"), FakeCounter(), [(0, 2), (2, 4)])
    assert [chunk.text for chunk in chunks] == ["a\n", "\n\n"]
