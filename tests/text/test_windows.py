"""A text cut into parts of about the same length."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from localrag.text.windows import even_parts

PROSE = "One is short. Two is a little longer than it. Three ends it here. Four comes last of all."


@given(st.text(), st.integers(-1, 9), st.booleans())
def test_the_parts_together_are_the_text(text: str, wanted: int, by_lines: bool) -> None:
    parts = even_parts(text, wanted, by_lines=by_lines)
    assert "".join(parts) == text
    assert 1 <= len(parts) <= max(1, wanted)
    assert all(parts) or not text


def test_a_part_ends_where_a_sentence_does() -> None:
    assert even_parts(PROSE, 2) == [
        "One is short. Two is a little longer than it. ",
        "Three ends it here. Four comes last of all.",
    ]
    sentences = ["犬が走る。", "猫が眠る。", "鳥が歌う。"]
    assert even_parts("".join(sentences), 3) == sentences


def test_sentences_are_not_cut_to_get_more_parts() -> None:
    assert len(even_parts(PROSE, 9)) == 4
    assert even_parts("no end in sight " * 40, 3) == ["no end in sight " * 40]


def test_a_long_sentence_is_cut_between_lines() -> None:
    wrapped = "\n".join(["a line that goes on and on"] * 8)
    parts = even_parts(wrapped, 4)
    assert [part.count("\n") for part in parts] == [2, 2, 2, 1]


@pytest.mark.parametrize("by_lines", [True, False])
def test_code_is_cut_between_lines_only_where_that_is_asked_for(by_lines: bool) -> None:
    code = "x = 1  # One. Two.\ny = 2  # Three. Four.\n"
    assert even_parts(code, 2, by_lines=by_lines)[0] == (
        "x = 1  # One. Two.\n" if by_lines else "x = 1  # One. "
    )
