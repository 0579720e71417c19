"""Makes questions about rows of tables: invented data, with nothing copied from anywhere.

A passage is some rows of a table under its header, as the product cuts a table, or rows that carry
the names of their columns, several or one, as the product shows them to the cross-encoder.
Negatives are the other rows of the same table and rows of tables that have the same columns.
"""

from __future__ import annotations

import json
import random
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from localrag.text.rows import named_row
from models.training.questions import Passage, TrainingQuestion, TrainingSet

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["read_tables"]


WORDS = Path(__file__).with_name("table_words.json")
SHARES = {"en": 2, "ja": 2, "zh": 1}
TABLES = 220
FEWEST_ROWS, MOST_ROWS = 6, 24
OF_A_PASSAGE = (3, 10)
"""Rows."""
FORMS = ("header",) * 7 + ("names",) * 8 + ("names, one row",) * 5
"""How the passages of a table look, in equal shares."""
OF_A_TABLE = 8
"""Questions."""


@dataclass(frozen=True, slots=True)
class Language:
    """The words of one language that tables and questions are made of."""

    first: list[str]
    second: list[str]
    joint: str
    places: list[str]
    groups: list[str]
    states: list[str]
    columns: dict[str, str]
    titles: list[str]
    of_key: list[str]
    of_value: list[str]
    things: list[str]


@dataclass(slots=True)
class Table:
    """A table with its rows; the first column names the row."""

    title: str
    columns: list[str]
    rows: list[list[str]]
    passages: list[tuple[str, range]] = field(default_factory=list)
    """Ids of its passages and the rows that each holds."""


TELLING = {"phone", "code", "date", "price", "size", "count"}
"""Columns whose values are seldom the same twice."""


def read_tables(seed: int, most: int) -> TrainingSet:
    """Return at most `most` questions about rows of invented tables."""
    generator = random.Random(f"{seed} tables")  # noqa: S311 - it samples, it hides nothing
    passages: dict[str, Passage] = {}
    questions: list[TrainingQuestion] = []
    used: set[str] = set()
    known = json.loads(WORDS.read_text(encoding="utf-8"))
    languages = [Language(**known[name]) for name, share in SHARES.items() for _ in range(share)]
    for number in range(TABLES):
        language = generator.choice(languages)
        kinds = _kinds(language, generator)
        table = _table(language, kinds, used, generator)
        _cut(table, str(number), passages, generator)
        rows = generator.sample(range(len(table.rows)), min(OF_A_TABLE, len(table.rows)))
        questions += [_question(table, row, kinds, language, generator) for row in rows]
    generator.shuffle(questions)
    numbered = [
        TrainingQuestion(f"table{at}", one.text, one.relevant)
        for at, one in enumerate(questions[:most])
    ]
    return TrainingSet("tables", passages, tuple(numbered))


def _kinds(language: Language, generator: random.Random) -> list[str]:
    key = generator.choice(["person", "code", "thing"])
    others = [kind for kind in language.columns if kind != key]
    return [key, *generator.sample(others, generator.randint(2, 5))]


def _table(
    language: Language, kinds: Sequence[str], used: set[str], generator: random.Random
) -> Table:
    title = f"{generator.choice(language.titles)} {generator.randint(1, 99)}"
    rows = []
    for _ in range(generator.randint(FEWEST_ROWS, MOST_ROWS)):
        row = [_value(kind, language, generator) for kind in kinds]
        while row[0] in used:  # one question must not have two answers
            row[0] = f"{_value(kinds[0], language, generator)} {generator.randint(2, 999)}"
        used.add(row[0])
        rows.append(row)
    return Table(title, [language.columns[kind] for kind in kinds], rows)


def _value(kind: str, language: Language, generator: random.Random) -> str:
    draw = generator.randint
    makers: dict[str, Callable[[], str]] = {
        "person": lambda: language.joint.join(
            [generator.choice(language.first), generator.choice(language.second)]
        ),
        "place": lambda: generator.choice(language.places),
        "group": lambda: generator.choice(language.groups),
        "state": lambda: generator.choice(language.states),
        "thing": lambda: f"{generator.choice(language.things)} {chr(draw(65, 90))}{draw(1, 99)}",
        "phone": lambda: str(draw(1000, 9999)),
        "date": lambda: f"{draw(1995, 2025)}-{draw(1, 12):02}-{draw(1, 28):02}",
        "code": lambda: f"{chr(draw(65, 90))}{chr(draw(65, 90))}-{draw(100, 9999)}",
        "price": lambda: f"{draw(1, 99)},{draw(0, 999):03}",
        "count": lambda: str(draw(0, 2500)),
        "degree": lambda: f"{draw(-30, 120)}.{draw(0, 9)}",
        "share": lambda: f"{draw(0, 99)}.{draw(0, 9)}",
        "size": lambda: str(draw(5, 4000)),
        "time": lambda: f"{draw(6, 22)}:{draw(0, 3) * 15:02}",
    }
    return makers[kind]()


def _cut(table: Table, number: str, passages: dict[str, Passage], generator: random.Random) -> None:
    form = generator.choice(FORMS)
    header = f"| {' | '.join(table.columns)} |"
    rule = f"|{' --- |' * len(table.columns)}"
    start = 0
    while start < len(table.rows):
        end = min(
            len(table.rows),
            start + (1 if form.endswith("one row") else generator.randint(*OF_A_PASSAGE)),
        )
        lines = [f"| {' | '.join(row)} |" for row in table.rows[start:end]]
        if form == "header":
            text = "\n".join([header, rule, *lines])
        else:
            text = "\n".join(named_row(line, table.columns) for line in lines)
        id_ = f"{number}.{start}"
        passages[id_] = Passage(id_, table.title, text)
        table.passages.append((id_, range(start, end)))
        start = end


def _question(
    table: Table, row: int, kinds: Sequence[str], language: Language, generator: random.Random
) -> TrainingQuestion:
    cells = table.rows[row]
    column = generator.randrange(1, len(kinds))
    alone = sum(other[column] == cells[column] for other in table.rows) == 1
    backwards = kinds[column] in TELLING and alone and generator.random() < 0.25  # noqa: PLR2004 - a share
    text = generator.choice(language.of_value if backwards else language.of_key).format(
        key=cells[0], column=_plain(table.columns[column]), value=cells[column],
        name=_plain(table.columns[0]),
    )  # fmt: skip
    relevant = [id_ for id_, rows in table.passages if row in rows]
    return TrainingQuestion("", text, tuple(relevant))


def _plain(column: str) -> str:
    """Return the name of a column as one asks for it: without its unit, in small letters."""
    return column.partition("(")[0].strip().lower()
