"""Helpers that every reader uses."""

from __future__ import annotations

import re
import unicodedata

__all__ = ["stem_of", "trimmed"]


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
