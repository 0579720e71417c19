"""What every way of finding definitions in source code returns."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Definition", "with_comments"]

_BELONGS: Final = re.compile(
    r"\s*(?://|/\*|\*|\#(?!\s*(?:include|define|if|ifdef|ifndef|endif|else|elif|pragma|undef)\b)"
    r"|--|;;|%|@[\w.]|\[\w|template\s*<)"
)


_LONGEST_COMMENT = 500


@dataclass(frozen=True, slots=True, order=True)
class Definition:
    """A function, class or section of a source file."""

    first: int
    """First line, from 0, with the comment and the decorators in front."""
    end: int
    """One past its last line."""
    name: str


def with_comments(lines: Sequence[str], first: int) -> int:
    """Return where a definition begins with the comments and decorators right above it."""
    while first > 0:
        above = lines[first - 1].strip()
        if above.endswith("*/"):
            begin = _comment_start(lines, first - 1)
            if begin is None:
                break
            first = begin
        elif _BELONGS.match(above):
            first -= 1
        else:
            break
    return first


def _comment_start(lines: Sequence[str], last: int) -> int | None:
    """Return the line of the ``/*`` that is closed in line `last`, unless code stands before it."""
    for row in range(last, max(-1, last - _LONGEST_COMMENT), -1):
        before, opening, _ = lines[row].rpartition("/*")
        if row < last and "*/" in lines[row]:
            return None
        if opening:
            return None if before.strip() else row
    return None
