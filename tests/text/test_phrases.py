from __future__ import annotations

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from localrag.text.analysis import analyse
from localrag.text.phrases import instead_expression, long_key, phrase_expression, short_key, units


@pytest.mark.parametrize(
    ("text", "short", "long"),
    [
        ("World Banks", "world banks", "world bank"),
        ("IL-6", "il 6", "il 6"),
        ("R&D", "r d", "r d"),
        ("ＣＲＦ", "crf", "crf"),
        ("国連総会", "国 連 総 会", "国 連 総 会"),
        ("AIを使う", "ai を 使 う", "ai を 使 う"),
        ("Café", "cafe", "cafe"),
        ("?!", "", ""),
    ],
)
def test_keys_do_not_tell_ways_of_writing_apart(text: str, short: str, long: str) -> None:
    assert (short_key(text), long_key(text)) == (short, long)


def test_a_unit_knows_where_it_stands() -> None:
    text = "the World Banks"
    assert [text[unit.start : unit.end] for unit in units(text)] == ["the", "World", "Banks"]
    assert [unit.stem for unit in units(text)] == ["the", "world", "bank"]


def index(*texts: str) -> apsw.Connection:
    connection = apsw.Connection("")
    connection.execute("CREATE VIRTUAL TABLE words USING fts5(body, tokenize='ascii')")
    for text in texts:
        connection.execute("INSERT INTO words VALUES(?)", (" ".join(analyse(text)),))
    return connection


@pytest.mark.parametrize(
    ("phrase", "text", "is_there"),
    [
        ("conditional random field", "Conditional random fields are trained.", True),
        ("conditional random field", "A random conditional field.", False),
        ("graft-versus-host disease", "acute graft-versus-host disease", True),
        ("graft-versus-host disease", "acute graft versus host diseases", True),
        ("graft versus host disease", "acute graft-versus-host disease", True),
        ("IL-6", "the IL-6 level", True),
        ("IL 6", "the IL-6 level", True),
        ("条件付き確率場", "これは条件付き確率場です。", True),
        ("条件付き確率場", "確率場に条件を付ける", False),
        ("AIを使う", "今日からAIを使う人", True),
        ("AIを使う", "今日から道具を使う人", False),
        ("場", "確率場", True),
    ],
)
def test_a_phrase_is_found_where_it_stands(phrase: str, text: str, *, is_there: bool) -> None:
    expression = phrase_expression(phrase)
    found = index(text).execute("SELECT count(*) FROM words WHERE words MATCH ?", (expression,)).get
    assert bool(found) == is_there


def test_other_words_count_where_ones_own_are_missing() -> None:
    connection = index(
        "the CRF form", "a random field (RF) and CRF", "a random field", "RF", "none"
    )
    expression = instead_expression([("CRF", "random field"), ("CRF", "RF"), ("?", "x"), ("x", "")])
    rows = connection.execute("SELECT rowid FROM words WHERE words MATCH ?", (expression,))
    assert [row for (row,) in rows] == [3, 4]
    assert instead_expression([]) == ""


def test_what_has_no_word_has_no_expression() -> None:
    assert phrase_expression(" ?! ") == ""


@given(st.text(alphabet='abCD1 "*()-:^~+東京サーバー가각NEAR', max_size=30))
def test_no_text_is_an_operator(text: str) -> None:
    expression = phrase_expression(text)
    if expression:
        index("a").execute(
            "SELECT count(*) FROM words WHERE words MATCH ?", (expression,)
        ).fetchall()
