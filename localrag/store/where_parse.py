"""A filter expression becomes a tree: a recursive descent over its tokens.

::

    either     = both { "or" both }
    both       = negated { "and" negated }
    negated    = "not" negated | "(" either ")" | comparison
    comparison = field operator value
               | field [ "not" ] "in" "(" value { "," value } ")"
               | field [ "not" ] ( "contains" | "like" ) value
               | field "is" [ "not" ] "null"
    operator   = "=" | "==" | "!=" | "<>" | "<" | "<=" | ">" | ">="
    field      = name { "." name }
    value      = "text" | 'text' | number | date | "true" | "false"
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from localrag.errors import FilterError
from localrag.store.dates import Period, parse_period
from localrag.store.where_tokens import Token, tokenize

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Comparison", "Expression", "Field", "Junction", "Negation", "Value", "parse_where"]

Value = str | int | float | bool | Period
Operator = Literal["=", "<", "<=", ">", ">=", "contains", "like", "null"]

MOST_CHARACTERS: Final = 10_000
MOST_DEPTH: Final = 50
"""Parentheses and negations within each other: more is no expression that a person wrote."""

_OPERATORS: Final[dict[str, tuple[Operator, bool]]] = {
    "=": ("=", False),
    "==": ("=", False),
    "!=": ("=", True),
    "<>": ("=", True),
    "<": ("<", False),
    "<=": ("<=", False),
    ">": (">", False),
    ">=": (">=", False),
}
_KEYWORDS: Final = frozenset({"and", "or", "not", "in", "is", "null", "contains", "like"})
_SOME_OPERATOR: Final = "an operator: = != < <= > >= in contains like is"


@dataclass(frozen=True, slots=True)
class Field:
    """A property of a document, by its path: ``("author", "name")``."""

    names: tuple[str, ...]
    position: int

    @property
    def text(self) -> str:
        """The field as it is written."""
        return ".".join(self.names)


@dataclass(frozen=True, slots=True)
class Comparison:
    """One test of one field; a document without the field passes only a test for null."""

    field: Field
    operator: Operator
    values: tuple[Value, ...]
    """One value; any of several for a list, none for null."""
    position: int
    """Where the first value stands."""


@dataclass(frozen=True, slots=True)
class Negation:
    """What the inner expression lets through is left out, and the other way round."""

    inner: Expression


@dataclass(frozen=True, slots=True)
class Junction:
    """Several expressions, all or any of which must hold."""

    word: Literal["and", "or"]
    parts: tuple[Expression, ...]


Expression = Comparison | Negation | Junction


def parse_where(source: str) -> Expression:
    """Return the tree of `source`.

    Raises:
        FilterError: it is no expression; the error says where, and what was expected there.
    """
    if len(source) > MOST_CHARACTERS:
        raise FilterError(source[:60], 0, f"at most {MOST_CHARACTERS:,} characters")
    parser = _Parser(source, tokenize(source))
    expression = parser.either(0)
    if parser.current.kind != "end":
        raise parser.unexpected('"and", "or" or the end')
    return expression


@dataclass(slots=True)
class _Parser:
    source: str
    tokens: list[Token]
    at: int = 0

    @property
    def current(self) -> Token:
        return self.tokens[self.at]

    def advance(self) -> Token:
        token = self.current
        self.at += token.kind != "end"
        return token

    def takes(self, *words: str) -> str:
        """Go past the next token and return it if it is one of `words`, otherwise return ""."""
        token = self.current
        found = token.text if token.kind == "operator" else token.word
        if not found or found not in words:
            return ""
        self.advance()
        return found

    def needs(self, word: str) -> None:
        if not self.takes(word):
            raise self.unexpected(f'"{word}"')

    def unexpected(self, expected: str) -> FilterError:
        return FilterError(self.source, self.current.position, expected)

    def either(self, depth: int) -> Expression:
        return self.joined("or", lambda: self.joined("and", lambda: self.negated(depth)))

    def joined(self, word: Literal["and", "or"], part: Callable[[], Expression]) -> Expression:
        parts = [part()]
        while self.takes(word):
            parts.append(part())
        return parts[0] if len(parts) == 1 else Junction(word, tuple(parts))

    def negated(self, depth: int) -> Expression:
        if depth > MOST_DEPTH:
            raise self.unexpected(f"at most {MOST_DEPTH} parentheses within each other")
        if self.takes("not"):
            return Negation(self.negated(depth + 1))
        if self.takes("("):
            inner = self.either(depth + 1)
            self.needs(")")
            return inner
        return self.comparison()

    def comparison(self) -> Expression:
        field = self.field()
        sign = self.takes(*_OPERATORS)
        if sign:
            operator, negated = _OPERATORS[sign]
            return self.test(field, operator, negated=negated)
        if self.takes("is"):
            negated = bool(self.takes("not"))
            position = self.current.position
            self.needs("null")
            test = Comparison(field, "null", (), position)
            return Negation(test) if negated else test
        negated = bool(self.takes("not"))
        match self.takes("in", "contains", "like"):
            case "in":
                return self.membership(field, negated=negated)
            case "contains":
                return self.test(field, "contains", negated=negated)
            case "like":
                return self.test(field, "like", negated=negated)
            case _:
                raise self.unexpected('"in", "contains" or "like"' if negated else _SOME_OPERATOR)

    def test(self, field: Field, operator: Operator, *, negated: bool) -> Expression:
        position = self.current.position
        if operator == "like" and self.current.kind != "string":
            raise self.unexpected('a pattern in quotes, such as "Draft%"')
        test = Comparison(field, operator, (self.value(),), position)
        return Negation(test) if negated else test

    def membership(self, field: Field, *, negated: bool) -> Expression:
        self.needs("(")
        position = self.current.position
        values = [self.value()]
        while self.takes(","):
            values.append(self.value())
        if not self.takes(")"):
            raise self.unexpected('"," or ")"')
        test = Comparison(field, "=", tuple(values), position)
        return Negation(test) if negated else test

    def field(self) -> Field:
        start = self.current.position
        names = [self.name()]
        while self.takes("."):
            names.append(self.name())
        return Field(tuple(names), start)

    def name(self) -> str:
        if self.current.kind != "name" or self.current.word in _KEYWORDS:
            raise self.unexpected("the name of a field")
        return self.advance().text

    def value(self) -> Value:
        token = self.current
        match token.kind:
            case "string":
                value: Value = token.text
            case "number":
                value = _number(token.text)
            case "date":
                period = parse_period(token.text)
                if period is None:
                    raise self.unexpected("a date that exists, such as 2024-01-31")
                value = period
            case "name" if token.word in {"true", "false"}:
                value = token.word == "true"
            case "name" if token.word not in _KEYWORDS:
                raise self.unexpected(f'a value; put text in quotes: "{token.text}"')
            case _:
                raise self.unexpected("a text in quotes, a number, a date, true or false")
        self.advance()
        return value


def _number(text: str) -> int | float:
    # SQLite's integers have 64 bits.
    return int(text) if "." not in text and len(text) <= LONGEST_INTEGER else float(text)


LONGEST_INTEGER: Final = 18
"""Characters; a longer number becomes a floating-point one."""
