"""Documents put together from pieces: records with their source lines, and whole documents."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from localrag.formats.builder import MOST_LEVELS, fenced, heading_line
from localrag.records import Block, Document

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from localrag.records import BlockKind

__all__ = ["Assembly"]

# What no text holds: controls, and halves of surrogate pairs, which cannot be stored.
_NO_TEXT = re.compile("[\x00-\x08\x0b-\x1f\x7f\ufffe\uffff\ud800-\udfff]")
_BLANK_LINES = re.compile(r"\A(?:[^\S\n]*\n)+")


@dataclass(slots=True)
class Assembly:
    """Collects blocks in reading order, then makes the document."""

    _pieces: list[str] = field(default_factory=list)
    _blocks: list[Block] = field(default_factory=list)
    _lines: list[tuple[int, int]] = field(default_factory=list)
    _length: int = 0

    @property
    def title(self) -> str:
        """The first heading of the first level; empty where there is none."""
        return next((block.heading for block in self._blocks if block.level == 1), "")

    def add(self, kind: BlockKind, text: str, numbers: Sequence[int] = ()) -> None:
        """Add a block; `numbers` are the source lines of its lines, where there are any."""
        self._add(Block(kind, 0, 0), text, numbers)

    def heading(self, text: str, level: int, *, name: str = "", line: int = 0) -> None:
        """Add a heading; `name` is its text in the path of headings, where that is another.

        `line` is its line in the source, where there is one.
        """
        if title := " ".join(_NO_TEXT.sub("", text).split()):
            shown, level = heading_line(title, level)
            block = Block("heading", 0, 0, name or title, level)
            self._add(block, shown, [line] if line else [])

    def code(self, text: str, language: str = "") -> None:
        """Add code between fences that are longer than any inside it."""
        text = text.strip("\n")
        if text.strip():
            self.add("code", fenced(text, language))

    def embed(self, document: Document, *, below: int = 0) -> None:
        """Add all blocks of another document; its headings come `below` levels deeper."""
        if not document.blocks:
            return
        first = document.blocks[0].start
        shift = self._append(document.text[first : document.blocks[-1].end]) - first
        for block in document.blocks:
            level = min(block.level + below, MOST_LEVELS) if block.kind == "heading" else 0
            moved = replace(block, start=block.start + shift, end=block.end + shift, level=level)
            self._blocks.append(moved)

    def _add(self, block: Block, text: str, numbers: Sequence[int] = ()) -> None:
        text = _BLANK_LINES.sub("", _NO_TEXT.sub(" ", text)).rstrip()
        if not text:
            return
        start = self._append(text)
        self._blocks.append(replace(block, start=start, end=self._length))
        expected = None
        for line, number in zip(text.split("\n"), numbers, strict=False):
            if number != expected:
                self._lines.append((start, number))
            start, expected = start + len(line) + 1, number + 1

    def _append(self, text: str) -> int:
        """Add text after a blank line; return where it starts."""
        gap = "\n\n" if self._pieces else ""
        start = self._length + len(gap)
        self._pieces.append(gap + text)
        self._length = start + len(text)
        return start

    def build(
        self, title: str, media_type: str, metadata: Mapping[str, object] | None = None
    ) -> Document:
        """Return the document of all blocks."""
        return Document(
            text="".join(self._pieces),
            blocks=tuple(self._blocks),
            title=" ".join(_NO_TEXT.sub("", title).split()),
            media_type=media_type,
            metadata=dict(metadata or {}),
            lines=tuple(self._lines),
        )
