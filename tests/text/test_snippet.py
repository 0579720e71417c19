import pytest
from hypothesis import given
from hypothesis import strategies as st

from localrag.text.snippet import display_width, snippet


@pytest.mark.parametrize(
    ("text", "width", "line"),
    [
        ("", 10, ""),
        ("  a\n\n b\t", 10, "a b"),
        ("abcdefghij", 10, "abcdefghij"),
        ("abcdefghijk", 10, "abcdefghi…"),
        ("abcdefgh ijk", 10, "abcdefgh…"),
        ("日本語の文章", 12, "日本語の文章"),
        ("日本語の文章", 11, "日本語の文…"),
        ("日本語の文章", 10, "日本語の…"),
    ],
)
def test_snippet(text: str, width: int, line: str) -> None:
    assert snippet(text, width) == line


def test_marks_take_no_columns() -> None:
    assert display_width("e\u0301\u200b") == 1


@given(st.text(), st.integers(min_value=1, max_value=200))
def test_snippet_fits(text: str, width: int) -> None:
    line = snippet(text, width)
    assert display_width(line) <= width
    assert "\n" not in line
