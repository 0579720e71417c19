"""Blocks become the units that chunks are filled with: nothing smaller is ever parted.

Prose that is too long for a chunk becomes its sentences. A table or a piece of code stays whole,
unless the model could not take it even alone: then it is cut between rows or lines.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from localrag.text.sentences import sentence_spans

if TYPE_CHECKING:
    from collections.abc import Iterator

    from localrag.chunking.token_index import TokenIndex
    from localrag.records import Block

__all__ = ["Limits", "Unit", "units_of"]

_PREAMBLE_SHARE = 2


@dataclass(frozen=True, slots=True)
class Limits:
    """Tokens of text, without context."""

    chunk: int
    """What a chunk is filled to."""
    model: int
    """What the model can take."""
    overlap: int


@dataclass(frozen=True, slots=True)
class Unit:
    """A span that lies in one chunk as a whole."""

    kind: str
    start: int
    end: int
    block: int
    """Index of the block that it is or lies in."""
    alone: bool = False
    """Whether it is a part of a table or code that was cut, and makes a chunk by itself."""
    preamble: str = ""

    @property
    def is_prose(self) -> bool:
        """Whether the text reads on into the next unit, so that chunks may overlap in it."""
        return self.kind not in ("table", "code", "heading")


def units_of(block: Block, index: int, tokens: TokenIndex, limits: Limits) -> Iterator[Unit]:
    """Yield the units of a block, in order; together they cover its text."""
    size = tokens.count(block.start, block.end)
    whole = block.kind in ("table", "code")
    if size <= (limits.model if whole else limits.chunk):
        yield Unit(block.kind, block.start, block.end, index)
    elif block.kind == "table":
        yield from _table_parts(block, index, tokens, limits)
    elif block.kind == "code":
        for span in _line_groups(block.start, block.end, tokens, limits.chunk):
            yield Unit(block.kind, *span, index, alone=True)
    else:
        for span in _sentences(block, tokens, limits.chunk):
            yield Unit(block.kind, *span, index)


def _sentences(block: Block, tokens: TokenIndex, most: int) -> Iterator[tuple[int, int]]:
    for start, end in sentence_spans(tokens.text[block.start : block.end]):
        for piece in tokens.pieces(block.start + start, block.start + end, most):
            yield from _stripped(tokens.text, *piece)


def _table_parts(block: Block, index: int, tokens: TokenIndex, limits: Limits) -> Iterator[Unit]:
    """Yield groups of rows; all but the first repeat the header, unless it fills the chunk."""
    lines = tokens.text[block.start : block.end].split("\n")
    header = "\n".join(lines[: block.header_rows])
    header_size = tokens.count(block.start, block.start + len(header)) if header else 0
    if header_size > limits.chunk // _PREAMBLE_SHARE:
        header, header_size = "", 0
    groups = _line_groups(block.start, block.end, tokens, limits.chunk - header_size)
    for number, span in enumerate(groups):
        yield Unit("table", *span, index, alone=True, preamble=header if number else "")


def _line_groups(start: int, end: int, tokens: TokenIndex, most: int) -> Iterator[tuple[int, int]]:
    """Yield spans of whole lines of at most `most` tokens, cut at a blank line if one is near."""
    group_start, position, blank = start, start, start
    for line in tokens.text[start:end].splitlines(keepends=True):
        line_end = position + len(line)
        if tokens.count(group_start, line_end) > most and position > group_start:
            late = tokens.count(group_start, blank) > most // 2
            cut = blank if late else position
            yield from _pieces(group_start, cut, tokens, most)
            group_start = cut
        if not line.strip():
            blank = line_end
        position = line_end
    yield from _pieces(group_start, end, tokens, most)


def _pieces(start: int, end: int, tokens: TokenIndex, most: int) -> Iterator[tuple[int, int]]:
    for piece in tokens.pieces(start, end, most):
        yield from _stripped(tokens.text, *piece)


def _stripped(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the span without blanks at its end and blank lines at its start, unless it is blank."""
    piece = text[start:end]
    if filled := piece.rstrip():
        indent = len(filled) - len(filled.lstrip())
        yield start + filled.rfind("\n", 0, indent) + 1, start + len(filled)
