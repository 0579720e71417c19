"""Text cut to one line of a terminal."""

from __future__ import annotations

import unicodedata

__all__ = ["display_width", "snippet"]

_ELLIPSIS = "…"


def display_width(text: str) -> int:
    """Return the columns that `text` takes in a terminal: East Asian characters take two."""
    return sum(_columns(character) for character in text)


def snippet(text: str, width: int = 100) -> str:
    """Return `text` on one line of at most `width` columns, ending in an ellipsis if it was cut."""
    # A line holds no more characters than columns, but combining marks take none.
    line = " ".join(text[: width * 8 + 1_000].split())
    if display_width(line) <= width:
        return line
    used, kept = len(_ELLIPSIS), []
    for character in line:
        used += _columns(character)
        if used > width:
            break
        kept.append(character)
    return "".join(kept).rstrip() + _ELLIPSIS


def _columns(character: str) -> int:
    if unicodedata.combining(character) or unicodedata.category(character) in ("Cf", "Cc"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
