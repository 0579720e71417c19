from __future__ import annotations

import pytest

from localrag.evaluate.answers import holds_answer


@pytest.mark.parametrize(
    ("text", "answers"),
    [
        ("Founded by Osamu TEZUKA.", ["osamu tezuka"]),
        ("ＡＢＣ１２３の規格", ["ABC123"]),
        ("It was 2008 then.", ["1999", "2008"]),
        ("Section 12 says so.", ["12"]),
        ("国の名", ["国"]),
    ],
)
def test_an_answer_is_found_whatever_its_case_and_width(text: str, answers: list[str]) -> None:
    assert holds_answer(text, answers)


@pytest.mark.parametrize(
    ("text", "answers"),
    [("Section 123 says so.", ["12"]), ("a category", ["cat"]), ("anything", [])],
)
def test_a_short_answer_is_no_part_of_a_word(text: str, answers: list[str]) -> None:
    assert not holds_answer(text, answers)
