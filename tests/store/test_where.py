"""A filter expression against an independent reading of it in Python."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import document_row

from localrag.errors import FilterError
from localrag.records import Filter
from localrag.store.database import Database
from localrag.store.dates import Period, parse_period
from localrag.store.documents import DocumentRow, insert_document
from localrag.store.filters import allowed_documents
from localrag.store.where_parse import Comparison, Field, Junction, Negation, parse_where
from localrag.store.where_sql import compile_where

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

DAY = 86_400


def seconds(*parts: int) -> float:
    return datetime(*parts, tzinfo=UTC).timestamp()  # type: ignore[misc, arg-type]


DOCUMENTS: list[dict[str, Any]] = [
    {"year": 2024, "tags": ["law", "Money"], "author": {"name": "Ann"}, "date": "2024-05-01"},
    {"year": 2023, "tags": [], "draft": True, "date": "2024-05-01T10:30:00+02:00"},
    {"year": "2024", "tags": "law", "draft": False, "price": 3.5, "date": "2024-05"},
    {"year": [2020, 2024], "price": -1, "Due Date": "2024-06-30", "date": "soon"},
    {"title": "own title", "note": None, "name": 'O\'Brien "x" 100%', "year": " 7 "},
    {},
]
ROWS = [
    ("note one", "en", 10, seconds(2024, 5, 1)),
    ("Note two", "ja", 20, seconds(2024, 5, 1) - 1),
    ("Ｎｏｔｅ three", "de", 30, seconds(2024, 5, 2)),
    ("four", None, 40, None),
    ("five", "en", 50, seconds(1999, 1, 1)),
    ("six", "en", 0, seconds(2030, 1, 1)),
]


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    opened = Database(tmp_path_factory.mktemp("where") / "base.db")
    with opened.atomic() as connection:
        for number, (metadata, row) in enumerate(zip(DOCUMENTS, ROWS, strict=True)):
            title, language, size, modified = row
            known = document_row(f"/docs/{number}.md")
            insert_document(
                connection,
                DocumentRow(
                    0,
                    known.uri,
                    title,
                    known.media_type,
                    known.content_hash,
                    size,
                    None if modified is None else int(modified * 1e9),
                    language=language,
                ),
                metadata,
            )
    yield opened
    opened.close()


def passing(database: Database, where: str) -> list[int]:
    """Return the numbers of the documents that pass."""
    _, ids = allowed_documents(database.connection, Filter(where=where))
    return sorted(int(id_) - 1 for id_ in json.loads(ids))


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ("year = 2024", [0, 2, 3]),
        ("year != 2024", [1, 4, 5]),
        ("year <> 2024", [1, 4, 5]),
        ("year == 7", [4]),
        ("year >= 2024", [0, 2, 3]),
        ("year < 2024", [1, 3, 4]),
        ('year = "2024"', [2]),
        ("year in (2023, 7)", [1, 4]),
        ("year not in (2023, 7)", [0, 2, 3, 5]),
        ("YEAR = 2024", []),
        ("price = 3.5 or price < 0", [2, 3]),
        ("price > -2 AND NOT price = 3.5", [3]),
        ('tags = "law"', [0, 2]),
        ('tags contains "LAW"', [0, 2]),
        ('tags contains "la"', [2]),
        ("tags contains 'money'", [0]),
        ("year contains 2020", [3]),
        ("tags is null", [3, 4, 5]),
        ("tags is not null", [0, 1, 2]),
        ("note is null", [0, 1, 2, 3, 4, 5]),
        ('author.name = "Ann"', [0]),
        ("author is not null", [0]),
        ('author = "Ann"', []),
        ("draft = true", [1]),
        ("draft = FALSE", [2]),
        ("draft != true", [0, 2, 3, 4, 5]),
        ("draft contains true", [1]),
        ("date = 2024-05-01", [0, 1, 2]),
        ("date = 2024-05", [0, 1, 2]),
        ("date < 2024-05-01T08:30", [0, 2]),
        ("date = 2024-05-01T08:30Z", [1]),
        ("date > 2024-05-01", []),
        ("date <= 2024-05-01", [0, 1, 2]),
        ('date >= "2024-05-01"', [0, 1, 3]),
        ("`Due Date` >= 2024-06", [3]),
        ("modified = 2024-05-01", [0]),
        ("modified <= 2024-05-01", [0, 1, 4]),
        ("modified < 2024-05-01", [1, 4]),
        ("modified > 2024-05-01", [2, 5]),
        ("modified >= 2024-05", [0, 2, 5]),
        ('modified >= "2024-05-02"', [2, 5]),
        ("modified is null", [3]),
        ("not modified < 2024-05-01", [0, 2, 3, 5]),
        ("indexed > 2020-01-01", [0, 1, 2, 3, 4, 5]),
        ("size > 20 and size <= 40", [2, 3]),
        ("size in (10, 50)", [0, 4]),
        ('lang = "ja" or language = "de"', [1, 2]),
        ('lang in ("ja", "de")', [1, 2]),
        ('lang != "en"', [1, 2, 3]),
        ("lang is null", [3]),
        ('title like "note%"', [0, 1, 2]),
        ('title not like "note%"', [3, 4, 5]),
        ('title contains "NOTE"', [0, 1, 2]),
        ('title like "f_ur"', [3]),
        ('title > "n"', [0, 5, 2]),
        ('metadata.title = "own title"', [4]),
        ('name = "O\'Brien ""x"" 100%"', [4]),
        ("name = 'O''Brien \"x\" 100%'", [4]),
        (r'name like "%100\%"', [4]),
        (r'name like "%x\%"', []),
        ('uri like "%/3.md"', [3]),
        ('media_type = "text/plain" and size = 0', [5]),
        ("(year = 2024 or size = 0) and not (lang = 'de')", [0, 3, 5]),
        ("year = 2024 or size = 0 and lang = 'en'", [0, 2, 3, 5]),
        ("not not year = 2023", [1]),
        ("year = 99999999999999999999999", []),
        ("missing = 1", []),
    ],
)
def test_an_expression_lets_through(database: Database, where: str, expected: list[int]) -> None:
    assert passing(database, where) == sorted(expected)


@pytest.mark.parametrize(
    ("where", "position", "expected"),
    [
        ("", 0, "the name of a field"),
        ("lang = ja", 7, 'put text in quotes: "ja"'),
        ("lang =", 6, "a text in quotes, a number, a date, true or false"),
        ("lang", 4, "an operator"),
        ("lang ja", 5, "an operator"),
        ("lang = 'ja", 7, "a closing '"),
        ("year > 5x", 7, "a number such as 2024"),
        ("year > 2024-13-01", 7, "a date that exists"),
        ("year > 2024 year", 12, '"and", "or" or the end'),
        ("(year > 2024", 12, '")"'),
        ("year > 2024)", 11, '"and", "or" or the end'),
        ("year in 2024", 8, '"("'),
        ("year in (2024", 13, '"," or ")"'),
        ("year in ()", 9, "a text in quotes"),
        ("year not 5", 9, '"in", "contains" or "like"'),
        ("year is 5", 8, '"null"'),
        ("title like 5", 11, "a pattern in quotes"),
        ("and", 0, "the name of a field"),
        ("year = 2024 and", 15, "the name of a field"),
        ("author. = 1", 8, "the name of a field"),
        ("year ; drop", 5, "a field, a value, an operator"),
        ("`year = 1", 0, "a name in backquotes"),
        (r"`\` = 1", 0, "a name in backquotes, without quotation marks and backslashes"),
        ("`a\x00b` = 1", 0, "a name in backquotes"),
        ("size = 'big'", 7, "a number to compare size with"),
        ("title = 5", 8, "a text in quotes to compare title with"),
        ("title = true", 8, "a text in quotes to compare title with"),
        ("title = 2024-01-01", 8, "a text in quotes to compare title with"),
        ("modified > 5", 11, "a date to compare modified with"),
        ("modified > 'soon'", 11, "a date to compare modified with"),
        ("size contains 'a'", 14, "another operator: size is no text"),
        ("draft < true", 8, "true and false have no order"),
        ("(" * 60, 51, "at most 50 parentheses"),
        ("x" * 10_001, 0, "at most 10,000 characters"),
    ],
)
def test_an_error_says_where_and_what_was_expected(
    where: str, position: int, expected: str
) -> None:
    with pytest.raises(FilterError) as caught:
        compile_where(where)
    assert caught.value.position == position
    assert expected in caught.value.expected
    lines = str(caught.value).splitlines()
    assert f"character {position + 1}" in lines[0]
    assert lines[-1] == " " * (position + 2) + "^"


def test_many_conditions_are_no_problem(database: Database) -> None:
    numbers = ", ".join(map(str, range(1_500)))
    assert passing(database, f"year in ({numbers})") == [4]
    assert passing(database, " or ".join(f"year={number}" for number in range(700))) == [4]


def test_a_value_is_never_part_of_the_sql(database: Database) -> None:
    attack = "x' OR 1=1; DROP TABLE documents; --"
    condition = compile_where(f'title = "{attack}" and `{attack}` = "{attack}"')
    assert "DROP" not in condition.sql
    assert passing(database, f'title = "{attack}"') == []
    assert len(passing(database, "size >= 0")) == len(DOCUMENTS)


def test_the_tree_of_an_expression() -> None:
    assert parse_where("a.b = 1 and not c in ('x', true)") == Junction(
        "and",
        (
            Comparison(Field(("a", "b"), 0), "=", (1,), 6),
            Negation(Comparison(Field(("c",), 16), "=", ("x", True), 22)),
        ),
    )


@pytest.mark.parametrize(
    ("text", "start", "length"),
    [
        ("2024-02", seconds(2024, 2, 1), 29 * DAY),
        ("2023-12", seconds(2023, 12, 1), 31 * DAY),
        ("2024-02-29", seconds(2024, 2, 29), DAY),
        ("2024-02-29T10:30", seconds(2024, 2, 29, 10, 30), 60),
        ("2024-02-29 10:30:05Z", seconds(2024, 2, 29, 10, 30, 5), 1),
        ("2024-02-29T10:30+09:00", seconds(2024, 2, 29, 1, 30), 60),
    ],
)
def test_a_date_is_a_stretch_of_time(text: str, start: float, length: float) -> None:
    assert parse_period(text) == Period(start, start + length)


@pytest.mark.parametrize("text", ["2023-02-29", "2024-13", "9999-12", "9999-12-31", "2024", "x"])
def test_what_is_no_date(text: str) -> None:
    assert parse_period(text) is None


# Any expression, read by SQLite and by Python

FIELDS = ["year", "tags", "price", "draft", "author.name", "lang", "size", "missing"]
VALUES: st.SearchStrategy[object] = st.sampled_from(
    [2024, 2023, 7, 3.5, -1, "law", "Ann", "en", "ja", "2024", True, False]
)


def literal(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else json.dumps(value)


@st.composite
def comparisons(draw: st.DrawFn) -> tuple[str, Any]:
    name = draw(st.sampled_from(FIELDS))
    kinds: Mapping[str, tuple[type, ...]] = {"lang": (str,), "size": (int, float)}
    legal = VALUES.filter(
        lambda value: (
            isinstance(value, kinds.get(name, (object,)))
            and (name != "size" or not isinstance(value, bool))
        )
    )
    match draw(st.sampled_from(["=", "!=", "<", ">=", "in", "null"])):
        case "in":
            values = draw(st.lists(legal, min_size=1, max_size=3))
            return f"{name} in ({', '.join(map(literal, values))})", ("in", name, values)
        case "null":
            return f"{name} is null", ("null", name)
        case operator:
            ordered = operator in {"<", ">="}
            value = draw(legal.filter(lambda one: not (ordered and isinstance(one, bool))))
            return f"{name} {operator} {literal(value)}", (operator, name, value)


EXPRESSIONS: st.SearchStrategy[tuple[str, Any]] = st.deferred(
    lambda: st.one_of(
        comparisons(),
        comparisons(),
        st.tuples(EXPRESSIONS, st.sampled_from(["and", "or"]), EXPRESSIONS).map(
            lambda parts: (
                f"({parts[0][0]} {parts[1]} {parts[2][0]})",
                (parts[1], parts[0], parts[2]),
            )
        ),
        EXPRESSIONS.map(lambda one: (f"not {one[0]}", ("not", one))),
    )
)


def members(document: int, name: str) -> list[object]:
    match name:
        case "lang":
            found: object = ROWS[document][1]
        case "size":
            found = ROWS[document][2]
        case _:
            found = DOCUMENTS[document]
            for part in name.split("."):
                found = found.get(part) if isinstance(found, dict) else None
    return found if isinstance(found, list) else [] if found is None else [found]


def equal(found: object, value: object) -> bool:
    if isinstance(value, bool) or isinstance(found, bool):
        return found is value
    if isinstance(value, (int, float)) and isinstance(found, str):
        text = found.strip()
        return text.lstrip("-").replace(".", "", 1).isdigit() and float(text) == value
    return type(found) is not dict and found == value


def below(found: object, value: object) -> bool | None:
    """Tell whether one is less; None where they cannot be compared."""
    if isinstance(found, (bool, dict)):
        return None
    if isinstance(value, str):
        return found < value if isinstance(found, str) else None
    if isinstance(found, str):
        text = found.strip()
        if not text.lstrip("-").replace(".", "", 1).isdigit():
            return None
        found = float(text)
    return bool(found < value)  # type: ignore[operator]


def holds(tree: Any, document: int) -> bool:  # noqa: PLR0911 - one per kind of test
    match tree:
        case ("and", one, other):
            return holds(one[1], document) and holds(other[1], document)
        case ("or", one, other):
            return holds(one[1], document) or holds(other[1], document)
        case ("not", one):
            return not holds(one[1], document)
        case ("null", name):
            # An empty list is something.
            empty = name in DOCUMENTS[document] and DOCUMENTS[document][name] == []
            return not members(document, name) and not empty
        case ("in", name, values):
            return any(equal(one, value) for one in members(document, name) for value in values)
        case ("=", name, value):
            return any(equal(one, value) for one in members(document, name))
        case ("!=", name, value):
            return not any(equal(one, value) for one in members(document, name))
        case ("<", name, value):
            return any(below(one, value) for one in members(document, name))
        case (">=", name, value):
            return any(below(one, value) is False for one in members(document, name))
    raise AssertionError(tree)


@given(expression=EXPRESSIONS)
def test_sqlite_reads_an_expression_as_python_does(
    database: Database, expression: tuple[str, Any]
) -> None:
    source, tree = expression
    expected = [number for number in range(len(DOCUMENTS)) if holds(tree, number)]
    assert passing(database, source) == expected


@given(
    st.text()
    | st.lists(st.sampled_from([*"()=<>.,'\"`", "and", "not", "in", "a", "1"])).map(" ".join)
)
def test_any_text_is_an_expression_or_a_filter_error(database: Database, source: str) -> None:
    try:
        found = set(passing(database, source)) if source else set()
    except FilterError as error:
        found = set()
        within = 0 <= error.position <= len(source)
    else:
        within = True
    assert within
    assert found <= set(range(len(DOCUMENTS)))
