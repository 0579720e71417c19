"""Helpers that every reader uses."""

from __future__ import annotations

import re
import unicodedata

__all__ = ["stem_of", "trimmed", "whole_number"]

_WHOLE = re.compile(r"[0-9]{1,9}")


def trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the span without blank lines at its edges and blanks at its end.

    The first line keeps its indentation, which means something in code and lists. A blank span
    becomes empty.
    """
    piece = text[start:end]
    end = start + len(piece.rstrip())
    indent = len(piece) - len(piece.lstrip())
    first = start + indent
    return (max(start, text.rfind("\n", start, first) + 1), end) if first < end else (end, end)


def stem_of(uri: str) -> str:
    """Return the name of a file without folders and suffix, in composed Unicode."""
    name = re.split(r"[/\\]", uri.rstrip("/\\"))[-1]
    stem, _, suffix = name.rpartition(".")
    return unicodedata.normalize("NFC", stem if stem and " " not in suffix else name)


def whole_number(text: str | None, default: int, most: int) -> int:
    """Return the number that a file states, at most `most`; `default` where it states none.

    A damaged file may say anything, and a number that sizes a list must not be taken at its word.
    """
    stated = (text or "").strip()
    return min(int(stated), most) if _WHOLE.fullmatch(stated) else default
