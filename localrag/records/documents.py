"""What a reader makes of a source: text, and the roles of its parts."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

__all__ = ["PAGE_BREAK", "Block", "BlockKind", "Document", "Metadata", "line_at"]

Metadata = Mapping[str, object]
"""JSON-compatible properties of a document: front matter, dates, authors."""

BlockKind = Literal["heading", "paragraph", "list_item", "table", "code", "quote", "caption"]

PAGE_BREAK = "\f"
"""Stands in a document's text wherever a page of the source ends, if the format has pages."""


@dataclass(frozen=True, slots=True)
class Block:
    """A span of a document's text that has one structural role. Blocks are in order, disjoint."""

    kind: BlockKind
    start: int
    """First character in `Document.text`."""
    end: int
    """One past the last character; the span is not blank and has no blank edges of lines."""
    heading: str = ""
    """Plain text of a heading, without markup; empty for other kinds."""
    level: int = 0
    """1 to 6 for a heading, 0 otherwise."""
    page: int | None = None
    """Page of the source, from 1, where the format has pages."""
    header_rows: int = 0
    """Lines at the start of a table that name its columns: repeated when a table must be cut."""


@dataclass(frozen=True, slots=True)
class Document:
    """What a reader made of one source."""

    text: str
    """Extracted text; every offset refers to it. Only blank characters lie outside `blocks`."""
    blocks: tuple[Block, ...]
    title: str
    """Front matter title, first top heading, or the file's stem."""
    media_type: str
    metadata: Metadata = field(default_factory=dict)
    lines: tuple[tuple[int, int], ...] = ()
    """(position in the text, line of the source file) at the start, and wherever something of the
    source was left out; in between each line break adds one. Empty where there are no lines."""

    def line(self, position: int) -> int | None:
        """Return the line of the source file, from 1, of a character; None without lines."""
        return line_at(self.lines, self.text, 0, position)


def line_at(lines: tuple[tuple[int, int], ...], text: str, start: int, position: int) -> int | None:
    """Return the source line of `position` in a text that begins at `start` of its document."""
    known = bisect_right(lines, position, key=lambda jump: jump[0])
    if not known:
        return None
    origin, line = lines[known - 1]
    return line + text.count("\n", origin - start, position - start)
