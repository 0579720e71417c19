"""Structured text whose structure is not understood: the source as written, cut at blank lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from localrag.formats.line_document import Lines
from localrag.formats.spans import stem_of

if TYPE_CHECKING:
    from localrag.records import Document, Metadata

__all__ = ["add_code", "as_written"]


def as_written(source: str, uri: str, media_type: str, metadata: Metadata) -> Document:
    """Return a document of `source` in which nothing is prose."""
    lines = Lines(source)
    add_code(lines, 0, len(lines))
    return lines.document(stem_of(uri), media_type, metadata)


def add_code(lines: Lines, first: int, end: int) -> None:
    """Note every run of lines without a blank one as a block of code."""
    start = first
    for row in range(first, end + 1):
        if row == end or lines.is_blank(row):
            lines.add("code", start, row)
            start = row + 1
