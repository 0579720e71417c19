"""A filter expression is cut into tokens, each with its place for the error message."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from localrag.errors import FilterError

__all__ = ["Token", "tokenize"]

TokenKind = Literal["name", "string", "number", "date", "operator", "end"]

_TOKEN = re.compile(
    r"""\s*(?:
    (?P<date>\d{4}-\d{2}(?:-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2})?)?)?
        (?![\w.-]))
    |(?P<number>[+-]?\d+(?:\.\d+)?(?![\w.]))
    |(?P<string>"(?:[^"]|"")*"|'(?:[^']|'')*')
    |(?P<quoted>`[^`"\\\x00-\x1f]+`)
    |(?P<name>[^\W\d][\w-]*)
    |(?P<operator><=|>=|==|!=|<>|[=<>(),.])
    |(?P<end>$)
    )""",
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class Token:
    """One word, literal or sign of an expression."""

    kind: TokenKind
    text: str
    """As it means: a string without its quotes, a name without its backquotes."""
    position: int
    """First character in the expression, from 0."""
    plain: bool = True
    """Whether a name may be a keyword: one in backquotes is not."""

    @property
    def word(self) -> str:
        """The name in lower case where it may be a keyword, otherwise empty."""
        return self.text.lower() if self.kind == "name" and self.plain else ""


def tokenize(source: str) -> list[Token]:
    """Return the tokens of `source`, the last one an ``end``.

    Raises:
        FilterError: a character, a quotation mark or a number makes no sense.
    """
    tokens: list[Token] = []
    position = 0
    while not tokens or tokens[-1].kind != "end":
        match = _TOKEN.match(source, position)
        if match is None:
            raise _illegal(source, position)
        tokens.append(_token(match))
        position = match.end()
    return tokens


def _token(match: re.Match[str]) -> Token:
    kind = match.lastgroup or ""
    text = match[kind]
    start = match.start(kind)
    match kind:
        case "string":
            return Token("string", text[1:-1].replace(text[0] * 2, text[0]), start)
        case "quoted":
            return Token("name", text[1:-1], start, plain=False)
        case "name" | "number" | "date" | "operator":
            return Token(kind, text, start)
        case _:
            return Token("end", "", start)


def _illegal(source: str, position: int) -> FilterError:
    start = position + len(source[position:]) - len(source[position:].lstrip())
    character = source[start]
    if character in "\"'":
        expected = f"a closing {character}"
    elif character == "`":
        expected = "a name in backquotes, without quotation marks and backslashes"
    elif character.isdigit():
        expected = "a number such as 2024 or a date such as 2024-01-31; put other text in quotes"
    else:
        expected = "a field, a value, an operator or a parenthesis"
    return FilterError(source, start, expected)
