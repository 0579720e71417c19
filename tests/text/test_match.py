import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from localrag.text.analysis import QueryTerm, analyse, analyse_query
from localrag.text.match import MOST_TERMS, match_expression

TEXTS = ["max_seq_len = 512", "緑茶を飲む", "Rotating the keys", "C++ and C#", "NEAR AND OR NOT"]


@pytest.fixture(scope="module")
def words() -> apsw.Connection:
    connection = apsw.Connection(":memory:")
    connection.execute(
        "CREATE VIRTUAL TABLE words USING fts5"
        "(context, body, content='', contentless_delete=1, tokenize='ascii')"
    )
    for row, text in enumerate(TEXTS):
        body = " ".join(analyse(text))
        connection.execute("INSERT INTO words(rowid, body) VALUES (?, ?)", (row, body))
    return connection


def search(words: apsw.Connection, query: str) -> list[int]:
    expression = match_expression(analyse_query(query))
    if not expression:
        return []
    rows = words.execute(
        "SELECT rowid FROM words WHERE words MATCH ? ORDER BY rank, rowid", (expression,)
    )
    return [int(str(row)) for (row,) in rows]


def test_expression() -> None:
    assert match_expression([]) == ""
    assert match_expression([QueryTerm("a"), QueryTerm("b", prefix=True)]) == '"a" OR "b"*'
    assert match_expression([QueryTerm('say "a"\0')]) == '"say ""a"""'


def test_terms_beyond_the_limit_are_left_out() -> None:
    many = [QueryTerm(str(number % (2 * MOST_TERMS))) for number in range(10 * MOST_TERMS)]
    assert match_expression(many).count(" OR ") == MOST_TERMS - 1


@pytest.mark.parametrize(
    ("query", "row"),
    [
        ("max_seq_len", 0),
        ("seq", 0),
        ("茶", 1),
        ("飲む", 1),
        ("rotate key", 2),
        ("C++", 3),
        ("c#", 3),
        ("NOT", 4),
        ("NEAR(a b)", 4),
    ],
)
def test_finds(words: apsw.Connection, query: str, row: int) -> None:
    assert search(words, query)[0] == row


@pytest.mark.parametrize(
    "query",
    [
        '"',
        "'",
        "*",
        "^a",
        "body:",
        "context : x",
        "a AND",
        "NOT",
        "(",
        "a\0b",
        "\ud800",
        "🚀" * 9,
        "x" * 10_000,
        "あ" * 10_000,
        "a_" * 5_000,
        "a " * 5_000,
        "\\",
        "-- ;",
        "{a b}: c",
        '"a" + b',
    ],
)
def test_awkward_queries(words: apsw.Connection, query: str) -> None:
    search(words, query)


@settings(max_examples=300)
@given(query=st.text(alphabet=st.characters()) | st.text('"*()^:{}+-ANDORNOTNEAR \0東あ'))
def test_any_string_is_a_legal_query(words: apsw.Connection, query: str) -> None:
    search(words, query)


@given(st.text())
def test_any_term_is_legal(words: apsw.Connection, text: str) -> None:
    legal = text.encode("utf-8", "replace").decode()
    expression = match_expression([QueryTerm(legal), QueryTerm(legal, prefix=True)])
    words.execute("SELECT rowid FROM words WHERE words MATCH ?", (expression,)).fetchall()
