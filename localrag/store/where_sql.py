"""The tree of a filter expression becomes SQL over documents, every value bound.

A test never gives NULL: what a document lacks equals nothing, so that ``!=`` and ``not`` let it
through. A list passes a test when one of its members does. Numbers, texts, dates and truth values
are compared with their own kind only; a text that is a number counts as one beside a number.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal

from localrag.errors import FilterError
from localrag.store.dates import Period, parse_period
from localrag.store.where_parse import Junction, Negation, parse_where
from localrag.text.folding import fold

if TYPE_CHECKING:
    from localrag.store.where_parse import Comparison, Expression, Value

__all__ = ["BUILT_IN_FIELDS", "Condition", "compile_where"]

SqlValue = str | int | float

Kind = Literal["text", "number", "date"]

_COLUMNS: Final[dict[str, tuple[str, Kind]]] = {
    "title": ("d.title", "text"),
    "uri": ("d.uri", "text"),
    "media_type": ("d.media_type", "text"),
    "language": ("d.language", "text"),
    "lang": ("d.language", "text"),
    "size": ("d.size", "number"),
    "modified": ("d.modified_at / 1e9", "date"),
    "indexed": ("unixepoch(d.indexed_at)", "date"),
}
BUILT_IN_FIELDS: Final = tuple(_COLUMNS)
"""Fields that every document has; metadata of the same name is reached as ``metadata.title``."""

# julianday and its kin would take any number for a date.
_DATE = (
    "CASE WHEN v.type = 'text' AND v.atom GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]*' THEN "
    "unixepoch(CASE WHEN length(v.atom) = 7 THEN v.atom || '-01' ELSE v.atom END, 'subsec') END"
)
_NUMBER = (
    "CASE WHEN v.type IN ('integer', 'real') THEN v.atom "
    r"WHEN v.type = 'text' AND v.atom REGEXP '\s*[+-]?\d+(\.\d+)?\s*' THEN CAST(v.atom AS REAL) END"
)
_TEXT = "CASE WHEN v.type = 'text' THEN v.atom END"


@dataclass(frozen=True, slots=True)
class _Subject:
    """How the value of a field is read, as each kind that it may have; empty where it may not."""

    text: str = ""
    number: str = ""
    date: str = ""
    truth: str = ""


_MEMBER: Final = _Subject(
    text=_TEXT,
    number=_NUMBER,
    date=_DATE,
    truth="CASE v.type WHEN 'true' THEN 1 WHEN 'false' THEN 0 END",
)
"""A value of the metadata, or a member of a list: a row of json_each."""


@dataclass(slots=True)
class Condition:
    """A test of documents ``d``, whose metadata is ``d.properties``, and its bound values."""

    sql: str = ""
    values: dict[str, SqlValue] = field(default_factory=dict)
    metadata_fields: list[str] = field(default_factory=list)
    """First names of the metadata fields that are asked for."""

    def bind(self, value: SqlValue) -> str:
        """Keep a value and return the parameter that stands for it."""
        name = f"where_{len(self.values)}"
        self.values[name] = value
        return f":{name}"


def compile_where(source: str) -> Condition:
    """Return the SQL condition of an expression.

    Raises:
        FilterError: it is no expression, or a field is compared with what it can never be.
    """
    condition = Condition()
    condition.sql = _Compiler(source, condition).expression(parse_where(source))
    return condition


@dataclass(frozen=True, slots=True)
class _Compiler:
    source: str
    condition: Condition

    def expression(self, node: Expression) -> str:
        match node:
            case Junction():
                return _balanced(node.word.upper(), [self.expression(one) for one in node.parts])
            case Negation():
                return f"NOT {self.expression(node.inner)}"
            case _:
                return self.comparison(node)

    def comparison(self, test: Comparison) -> str:
        names = test.field.names
        if len(names) == 1 and names[0] in _COLUMNS:
            return self.column(test, *_COLUMNS[names[0]])
        return self.metadata(test, self.path(names))

    def path(self, names: tuple[str, ...]) -> str:
        """Return the parameter of the JSON path of a metadata field."""
        inner = names[1:] if names[0] == "metadata" and len(names) > 1 else names
        self.condition.metadata_fields.append(inner[0])
        return self.condition.bind("$" + "".join(f'."{name}"' for name in inner))

    def column(self, test: Comparison, column: str, kind: Kind) -> str:
        if test.operator == "null":
            return f"({column} IS NULL)"
        subject = _Subject(**{kind: column})
        parts = [self.test(test, subject, value, "0") for value in test.values]
        return f"coalesce({_balanced('OR', parts)}, 0)"

    def metadata(self, test: Comparison, path: str) -> str:
        kind = f"json_type(d.properties, {path})"
        if test.operator == "null":
            return f"(coalesce({kind}, 'null') = 'null')"
        tests = [self.test(test, _MEMBER, value, f"{kind} = 'array'") for value in test.values]
        # The members of a list count, those of an object have names of their own.
        member = f"{kind} <> 'object' AND {_balanced('OR', tests)}"
        return f"EXISTS(SELECT 1 FROM json_each(d.properties, {path}) AS v WHERE {member})"  # noqa: S608 - values are bound

    def test(self, test: Comparison, subject: _Subject, value: Value, in_list: str) -> str:
        """Return one test of one value; NULL counts as false where it stands."""
        if subject is not _MEMBER and not subject.text and test.operator in {"contains", "like"}:
            raise self.wrong(test, f"another operator: {test.field.text} is no text")
        if isinstance(value, str) and subject.date and not subject.text:
            value = parse_period(value) or value
        match value:
            case bool():
                return self.truth(test, subject, value)
            case Period():
                return self.period(test, subject, value)
            case str():
                return self.text(test, subject, value, in_list)
            case int() | float():
                if not subject.number:
                    raise self.mismatch(test, subject)
                return f"{subject.number} {_comparing(test)} {self.condition.bind(value)}"

    def truth(self, test: Comparison, subject: _Subject, value: bool) -> str:
        if not subject.truth:
            raise self.mismatch(test, subject)
        if test.operator not in {"=", "contains"}:
            raise self.wrong(test, "a number, a text or a date: true and false have no order")
        return f"{subject.truth} = {self.condition.bind(int(value))}"

    def period(self, test: Comparison, subject: _Subject, value: Period) -> str:
        if not subject.date:
            raise self.mismatch(test, subject)
        start, end = self.condition.bind(value.start), self.condition.bind(value.end)
        match _comparing(test):
            case "<":
                return f"{subject.date} < {start}"
            case "<=":
                return f"{subject.date} < {end}"
            case ">":
                return f"{subject.date} >= {end}"
            case ">=":
                return f"{subject.date} >= {start}"
            case _:
                return f"({subject.date} >= {start} AND {subject.date} < {end})"

    def text(self, test: Comparison, subject: _Subject, value: str, in_list: str) -> str:
        if not subject.text:
            raise self.mismatch(test, subject)
        match test.operator:
            case "contains":
                wanted = self.condition.bind(fold(value))
                found = f"fold({subject.text})"
                return f"iif({in_list}, {found} = {wanted}, instr({found}, {wanted}) > 0)"
            case "like":
                return f"fold({subject.text}) LIKE {self.condition.bind(fold(value))} ESCAPE '\\'"
            case _:
                return f"{subject.text} {test.operator} {self.condition.bind(value)}"

    def mismatch(self, test: Comparison, subject: _Subject) -> FilterError:
        kind = "a number" if subject.number else "a date" if subject.date else "a text in quotes"
        return self.wrong(test, f"{kind} to compare {test.field.text} with")

    def wrong(self, test: Comparison, expected: str) -> FilterError:
        return FilterError(self.source, test.position, expected)


def _comparing(test: Comparison) -> str:
    # A list contains a number that it has as a member.
    return "=" if test.operator == "contains" else test.operator


def _balanced(word: str, parts: list[str]) -> str:
    """Join conditions as a balanced tree: SQLite refuses expressions nested too deeply."""
    if len(parts) == 1:
        return parts[0]
    middle = len(parts) // 2
    return f"({_balanced(word, parts[:middle])} {word} {_balanced(word, parts[middle:])})"
