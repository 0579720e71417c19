"""Where a body in braces ends, found without a grammar: strings and comments are passed over."""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["BRACED", "Braces", "braces_of"]

_BRACED_WORDS: Final = """
    c cpp java csharp javascript typescript tsx objc dart php groovy vue svelte solidity kotlin
    scala swift go rust zig proto
"""
BRACED: Final = frozenset(_BRACED_WORDS.split())
"""Languages in which a body stands in braces."""

_TOKEN: Final = re.compile(
    r"""//[^\n]* | /\*.*?\*/
      | "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])' | `(?:\\.|[^`\\])*`
      | (?P<mark>[{}();]) | (?P<line>\n)""",
    re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Braces:
    """Braces, parentheses and semicolons of a source, in order."""

    rows: tuple[int, ...]
    """The line of each, from 0."""
    marks: str
    ends: tuple[int, ...]
    """For each opening brace the line of the one that closes it; -1 for all else."""

    def body_end(self, row: int) -> int | None:
        """Return one past the last line of the first body that begins at or below line `row`.

        None where a statement ends before one begins, or where it is never closed.
        """
        depth = 0
        for index in range(bisect_left(self.rows, row), len(self.rows)):
            mark = self.marks[index]
            if mark in "()":
                depth += 1 if mark == "(" else -1
            elif depth == 0:
                return self.ends[index] + 1 or None
        return None


def braces_of(lines: Sequence[str]) -> Braces:
    """Return the braces of a source."""
    rows: list[int] = []
    marks: list[str] = []
    ends: list[int] = []
    opened: list[int] = []
    row = 0
    for token in _TOKEN.finditer("\n".join(lines)):
        if mark := token["mark"]:
            if mark == "}" and opened:
                ends[opened.pop()] = row
            elif mark == "{":
                opened.append(len(marks))
            rows.append(row)
            marks.append(mark)
            ends.append(-1)
        row += token[0].count("\n")
    return Braces(tuple(rows), "".join(marks), tuple(ends))
