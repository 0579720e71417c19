"""Text and blocks of a document whose source is no text: readers add blocks in reading order.

The text is written as Markdown would be, whatever the source: ``##`` before headings, ``-`` before
list items, fences around code, pipes between the cells of tables. A person knows it, a language
model knows it, and the later steps tell headings and rows from sentences by it. Pages are parted
by form feeds, so that a part of the text still tells on which page each of its characters stands.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from localrag.records import PAGE_BREAK, Block, Document

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from localrag.records import BlockKind

__all__ = ["MOST_LEVELS", "DocumentBuilder", "fenced", "heading_line", "one_line"]

MOST_LEVELS = 6
# What no text holds: controls, halves of surrogate pairs, the marks of a lost character.
_NO_TEXT = re.compile("[\x00-\x08\x0b-\x1f\x7f\u00ad\ufeff\ufffe\uffff\ud800-\udfff]")
_FENCE = re.compile("`{3,}")


def one_line(text: str) -> str:
    """Return `text` with each run of white space as one blank."""
    return " ".join(_NO_TEXT.sub("", text.replace("\x0b", " ").replace("\x0c", " ")).split())


def fenced(code: str, language: str) -> str:
    """Return code between fences that are longer than any inside it."""
    longest = max((len(run) for run in _FENCE.findall(code)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{code}\n{fence}"


def heading_line(title: str, level: int) -> tuple[str, int]:
    """Return a heading as Markdown writes it, and its level there: 1 to 6, whatever was asked."""
    level = min(max(level, 1), MOST_LEVELS)
    return f"{'#' * level} {title}", level


@dataclass(slots=True)
class DocumentBuilder:
    """Collects blocks, then makes the document."""

    _pieces: list[str] = field(default_factory=list)
    _blocks: list[Block] = field(default_factory=list)
    _lines: list[tuple[int, int]] = field(default_factory=list)
    _length: int = 0
    _last: int | None = None
    """Source line of the last line of text, where there are lines."""

    @property
    def blocks(self) -> Sequence[Block]:
        """What was added so far."""
        return self._blocks

    def heading(
        self,
        text: str,
        level: int,
        *,
        page: int | None = None,
        name: str = "",
        line: int | None = None,
    ) -> None:
        """Add a heading; `name` is its text in the path of headings, where that is another."""
        if title := one_line(text):
            shown, level = heading_line(title, level)
            lines = () if line is None else (line,)
            self._add(Block("heading", 0, 0, name or title, level, page), shown, lines)

    def discard_heading(self) -> None:
        """Take back the last block, a heading that nothing came to stand under."""
        block = self._blocks.pop()
        gap, _ = self._pieces[-2:]
        del self._pieces[-2:]
        self._length = block.start - len(gap)

    def paragraph(self, text: str, kind: BlockKind = "paragraph", page: int | None = None) -> None:
        """Add prose; its line breaks stay."""
        self._add(Block(kind, 0, 0, page=page), _stripped_lines(text))

    def list_item(
        self, text: str, *, marker: str = "-", depth: int = 0, page: int | None = None
    ) -> None:
        """Add a list item; `depth` counts the lists around its own."""
        if text := _stripped_lines(text):
            indent = "  " * min(depth, MOST_LEVELS)
            shown = f"{indent}{marker} {text}".replace("\n", f"\n{indent}  ")
            self._add(Block("list_item", 0, 0, page=page), shown)

    def code(self, text: str, *, page: int | None = None, language: str = "") -> None:
        """Add code, fenced."""
        text = _NO_TEXT.sub("", text).expandtabs(4).strip("\n")
        if text.strip():
            self._add(Block("code", 0, 0, page=page), fenced(text, language))

    def table(
        self,
        rows: Sequence[str],
        header_rows: int,
        *,
        page: int | None = None,
        lines: Sequence[int] = (),
    ) -> None:
        """Add the lines of a table; `lines` are their lines in the source."""
        if rows:
            block = Block("table", 0, 0, page=page, header_rows=header_rows)
            self._add(block, "\n".join(rows), lines)

    def record(
        self, lines: Sequence[str], *, page: int | None = None, line: int | None = None
    ) -> None:
        """Add the lines of a record, all of which come from one line of the source."""
        text = [_NO_TEXT.sub("", one) for one in lines]
        numbers = () if line is None else [line] * len(text)
        self._add(Block("paragraph", 0, 0, page=page), "\n".join(text), numbers)

    def _add(self, block: Block, text: str, lines: Sequence[int] = ()) -> None:
        text = text.rstrip()  # the last cells of a row may be empty
        lines = lines[: text.count("\n") + 1]
        if not text:
            return
        # Items of one list are lines of one text; everything else is parted by a blank line.
        in_list = block.kind == "list_item" and self._blocks and self._blocks[-1].kind == block.kind
        feeds = PAGE_BREAK * self._pages_to(block.page)
        gap = "" if not self._blocks else f"{feeds}\n" if in_list else f"\n{feeds}\n"
        start = self._length + len(gap)
        end = start + len(text)
        self._pieces += (gap, text)
        self._length = end
        self._map_lines(text, start, lines)
        self._blocks.append(
            Block(block.kind, start, end, block.heading, block.level, block.page, block.header_rows)
        )

    def _pages_to(self, page: int | None) -> int:
        """Return how many pages end between the last block and one on `page`."""
        last = self._blocks[-1].page if self._blocks else None
        return 0 if page is None or last is None else max(0, page - last)

    def _map_lines(self, text: str, start: int, lines: Sequence[int]) -> None:
        if not lines:
            return
        position, expected = start, None
        for line, number in zip(text.split("\n"), lines, strict=True):
            if number != expected:
                self._lines.append((position, number))
            position, expected = position + len(line) + 1, number + 1

    def build(
        self, title: str, media_type: str, metadata: Mapping[str, object] | None = None
    ) -> Document:
        """Return the document of all blocks."""
        return Document(
            text="".join(self._pieces),
            blocks=tuple(self._blocks),
            title=one_line(title),
            media_type=media_type,
            metadata=dict(metadata or {}),
            lines=tuple(self._lines),
        )


def _stripped_lines(text: str) -> str:
    """Return lines without blanks at their ends and without empty ones."""
    lines = (one_line(line) for line in text.splitlines())
    return "\n".join(line for line in lines if line)
