"""Documents of formats that are made of lines: the text is the source as written, with cuts.

A reader says which lines are headings, code, tables, list items or quotes, and what is left out.
Everything else is paragraphs, parted by blank lines.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from localrag.formats.source_map import Cut, LineIndex, excerpt
from localrag.formats.spans import trimmed
from localrag.records import Block, Document

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from localrag.formats.source_map import Excerpt
    from localrag.records import BlockKind, Metadata

__all__ = ["LineSpan", "Lines", "titled"]

_MOST_LEVELS = 6


@dataclass(frozen=True, slots=True)
class LineSpan:
    """Lines of the source that have one structural role."""

    kind: BlockKind
    first: int
    """First line, from 0."""
    end: int
    """One past the last line."""
    heading: str = ""
    level: int = 0
    """1 to 6 for a heading."""
    header_rows: int = 0


@dataclass(slots=True)
class Lines:
    """A source with its lines, and what a reader found in it so far."""

    source: str
    lines: list[str] = field(init=False)
    index: LineIndex = field(init=False)
    spans: list[LineSpan] = field(default_factory=list)
    """In any order; where two overlap, the one that begins first keeps the lines."""
    cuts: list[Cut] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.lines = self.source.split("\n")
        self.index = LineIndex(self.source)

    def __len__(self) -> int:
        return len(self.lines)

    def line(self, number: int) -> str:
        """Return a line, counted from 0; past the last one, an empty line."""
        return self.lines[number] if number < len(self.lines) else ""

    def is_blank(self, number: int) -> bool:
        """Whether a line, or what would follow the last one, holds nothing."""
        return not self.line(number).strip()

    def indent(self, number: int) -> int:
        """Return how many columns a line is indented."""
        line = self.line(number).expandtabs(8)
        return len(line) - len(line.lstrip())

    def indented_end(self, first: int, deeper_than: int) -> int:
        """Return one past the last line of what is indented more than `deeper_than`."""
        end = number = first
        while number < len(self.lines) and (
            self.is_blank(number) or self.indent(number) > deeper_than
        ):
            number += 1
            if not self.is_blank(number - 1):
                end = number
        return end

    def add(
        self,
        kind: BlockKind,
        first: int,
        end: int,
        *,
        header_rows: int = 0,
    ) -> None:
        """Note the role of lines; empty ranges are ignored."""
        if first < end:
            self.spans.append(LineSpan(kind, first, end, header_rows=header_rows))

    def add_heading(self, first: int, end: int, text: str, level: int) -> None:
        """Note a heading, whose lines stay as they are."""
        self.spans.append(LineSpan("heading", first, end, text, min(max(level, 1), _MOST_LEVELS)))

    def heading(self, first: int, end: int, text: str, level: int, marker: int) -> None:
        """Note a heading. The first `marker` characters of its text become ``##``.

        Whatever the format, the later steps know a heading by that.
        """
        start = self.index.start(first)
        level = min(max(level, 1), _MOST_LEVELS)
        rest = "" if marker else self.source[start]
        self.cuts.append(Cut(start, start + (marker or 1), f"{'#' * level} {rest}"))
        self.add_heading(first, end, text, level)

    def cut(self, first: int, end: int) -> None:
        """Leave whole lines out, and the blank ones after them where blank ones come before."""
        before = first == 0 or self.is_blank(first - 1)
        while before and end < len(self.lines) and self.is_blank(end):
            end += 1
        self.cuts.append(Cut(self.index.start(first), self.index.start(end)))

    def cut_span(self, start: int, end: int, replacement: str = "") -> None:
        """Leave characters of the source out."""
        self.cuts.append(Cut(start, end, replacement))

    def cut_emptied(self) -> None:
        """Leave out the lines of which the cuts so far leave nothing: they part no paragraph."""
        left = bytearray(not character.isspace() for character in self.source)
        touched: set[int] = set()
        for cut in self.cuts:
            left[cut.start : cut.end] = bytes(cut.end - cut.start)
            if cut.replacement.strip() and cut.start < cut.end:
                left[cut.start] = 1
            touched.add(self.index.number(cut.start) - 1)
        for row in touched:
            start, end = self.index.start(row), self.index.start(row + 1)
            if not any(left[start:end]) and self.source[start:end].strip():
                self.cuts.append(Cut(start, end))

    def document(self, title: str, media_type: str, metadata: Metadata | None = None) -> Document:
        """Return the document of all that was noted."""
        kept = excerpt(self.source, self.cuts)
        spans = (self._block(kept, span) for span in _with_paragraphs(self))
        blocks = tuple(block for block in spans if block.start < block.end)
        return Document(
            kept.text, blocks, title, media_type, metadata or {}, kept.lines(self.index)
        )

    def _block(self, kept: Excerpt, span: LineSpan) -> Block:
        start = kept.position(self.index.start(span.first))
        end = kept.position(self.index.start(span.end))
        start, end = trimmed(kept.text, start, end)
        return Block(span.kind, start, end, span.heading, span.level, header_rows=span.header_rows)


def _with_paragraphs(lines: Lines) -> Iterator[LineSpan]:
    position = 0
    for span in sorted(lines.spans, key=lambda one: one.first):
        yield from _paragraphs(lines, position, span.first)
        first = max(span.first, position)
        if first < span.end:
            yield replace(span, first=first)
            position = span.end
    yield from _paragraphs(lines, position, len(lines))


def _paragraphs(lines: Lines, first: int, end: int) -> Iterator[LineSpan]:
    start = first
    for number in range(first, end + 1):
        if number == end or lines.is_blank(number):
            if start < number:
                yield LineSpan("paragraph", start, number)
            start = number + 1


def titled(stated: Sequence[str], spans: Sequence[LineSpan], otherwise: str) -> str:
    """Return the first of `stated` that says something, else the first top heading."""
    headings = (span.heading for span in spans if span.kind == "heading" and span.level == 1)
    return next((text.strip() for text in (*stated, *headings) if text.strip()), otherwise)
