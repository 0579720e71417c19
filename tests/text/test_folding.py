import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from localrag.text import folding
from localrag.text.folding import fold, fold_word, normalise

ROWS = re.findall(r"^``(.+?)`` +``(.+?)`` ", folding.__doc__ or "", re.MULTILINE)


def test_table_of_examples_is_found() -> None:
    assert len(ROWS) == 17


@pytest.mark.parametrize(("written", "folded"), ROWS)
def test_table_of_examples_is_true(written: str, folded: str) -> None:
    assert fold(written) == folded


@pytest.mark.parametrize(
    ("written", "folded"),
    [
        ("", ""),
        ("ヴ", "ブ"),
        ("ヴェネツィア", "ベネツィア"),
        ("レヴュー", fold("レビュー")),
        ("三ヵ月", "三カ月"),
        ("一ヶ所", "一カ所"),
        ("２箇国", "2カ国"),
        ("五箇条", "五カ条"),
        ("数か年", "数カ年"),
        ("明日か月曜", "明日か月曜"),
        ("茅ヶ崎", "茅ケ崎"),
        ("データ−ベース", "データーベース"),
        ("コンピューターー", "コンピュータ"),
        ("İ", "i"),
        ("à\u0300", "a"),
        ("ṩ", "s"),
        ("q\u0301", "q"),
        ("ﾊﾟｿｺﾝ", "パソコン"),
        ("non\u2011breaking", "non-breaking"),
        ("㈱", "(株)"),
        ("Ё", "е"),
    ],
)
def test_fold(written: str, folded: str) -> None:
    assert fold(written) == folded


def test_normalise_keeps_case_for_camel_case_names() -> None:
    assert normalise("ＨttpServer’s") == "HttpServer's"


def test_dakuten_survive() -> None:
    assert fold("か\u3099") == "が"
    assert fold("カ") != fold("ガ")


@given(st.text())
def test_folding_twice_changes_nothing_more(text: str) -> None:
    assert fold(fold(text)) == fold(text)


@given(st.text(alphabet=st.characters(max_codepoint=127)))
def test_ascii_is_only_lowered(text: str) -> None:
    assert fold_word(text) == text.lower()
