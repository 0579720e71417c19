"""The lines above a part of a piece of code that say where it stands, found by indentation.

As editors do with "sticky scroll": the nearest line above that is indented less encloses the part,
the nearest above that one which is indented still less encloses both, and so on. This needs no
grammar, and holds for every language that people indent.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from localrag.chunking.token_index import TokenIndex

__all__ = ["signature_above"]

_ENCLOSES_NOTHING = re.compile(
    r"""\s*(?:$
    | [\W_]+$                                           # brackets, rules
    | (?:\#|//|/\*|\*|--|;|%|"{3}|'{3}|```|~~~|@)       # comments, directives, fences, decorators
    | [)\]}]                                            # the end of a longer signature
    | (?:else|elif|elsif|except|finally|catch|rescue|ensure|case|default|when)\b
    )""",
    re.VERBOSE,
)
_TAB = 4


def signature_above(
    tokens: TokenIndex, block_start: int, position: int, most: int
) -> tuple[str, int]:
    """Return the lines that enclose the line at `position` in its block, and their tokens.

    Outermost first, at most `most` tokens: the innermost lines are left out first.
    """
    enclosing = list(_enclosing(tokens.text, block_start, position))[::-1]
    kept: list[str] = []
    size = 0
    for start, end in enclosing:
        line = tokens.count(start, end) + 1
        if size + line > most:
            break
        size += line
        kept.append(tokens.text[start:end].rstrip())
    return "\n".join(kept), size


def _enclosing(text: str, block_start: int, position: int) -> Iterator[tuple[int, int]]:
    """Yield the span of every enclosing line, innermost first."""
    start = _line_start(text, block_start, position)
    indent = _indent(text[start : _line_end(text, position)])
    while indent > 0 and start > block_start:
        end = start - 1
        start = _line_start(text, block_start, end)
        line = text[start:end]
        if _indent(line) < indent and not _ENCLOSES_NOTHING.match(line):
            indent = _indent(line)
            yield start, end


def _line_start(text: str, block_start: int, position: int) -> int:
    return max(block_start, text.rfind("\n", block_start, position) + 1)


def _line_end(text: str, position: int) -> int:
    end = text.find("\n", position)
    return len(text) if end < 0 else end


def _indent(line: str) -> int:
    expanded = line.expandtabs(_TAB)
    return len(expanded) - len(expanded.lstrip())
