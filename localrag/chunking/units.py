"""Blocks become the units that chunks are filled with: nothing smaller is ever parted.

Prose that is too long for a chunk becomes its sentences. A table or a piece of code stays whole,
unless the model could not take it even alone: then it is cut between rows or lines, and every part
but the first repeats the table's header or the lines of code that enclose it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from localrag.chunking.signature import signature_above
from localrag.text.sentences import sentence_spans

if TYPE_CHECKING:
    from collections.abc import Iterator

    from localrag.chunking.token_index import TokenIndex
    from localrag.records import Block

__all__ = [
    "Limits",
    "Unit",
    "is_whole",
    "repeated_above",
    "sentence_units",
    "stripped",
    "table_parts",
    "units_of",
]

_PREAMBLE_SHARE = 2
"""A header or signature may fill this part of a chunk: one half."""
_SIGNATURE_SHARE = 5
"""Part of the model's limit that is kept free for a signature: one fifth."""


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
    """What is repeated in front of it."""

    @property
    def is_prose(self) -> bool:
        """Whether the text reads on into the next unit, so that chunks may overlap in it."""
        return self.kind not in ("table", "code", "heading")


def units_of(block: Block, index: int, tokens: TokenIndex, limits: Limits) -> Iterator[Unit]:
    """Yield the units of a block, in order; together they cover its text."""
    if is_whole(block, tokens, limits):
        yield Unit(block.kind, block.start, block.end, index)
    elif block.kind == "table":
        yield from table_parts(block, index, tokens, limits)
    elif block.kind == "code":
        yield from _code_parts(block, index, tokens, limits)
    else:
        yield from sentence_units(block, index, tokens, limits)


def is_whole(block: Block, tokens: TokenIndex, limits: Limits) -> bool:
    """Tell whether a block is never parted: prose that fits a chunk, the rest the model."""
    most = limits.model if block.kind in ("table", "code") else limits.chunk
    return tokens.count(block.start, block.end) <= most


def sentence_units(block: Block, index: int, tokens: TokenIndex, limits: Limits) -> Iterator[Unit]:
    """Yield the sentences of a block of prose; parts of those longer than a chunk."""
    for start, end in sentence_spans(tokens.text[block.start : block.end]):
        for piece in tokens.pieces(block.start + start, block.start + end, limits.chunk):
            for span in stripped(tokens.text, *piece):
                yield Unit(block.kind, *span, index)


def table_parts(block: Block, index: int, tokens: TokenIndex, limits: Limits) -> Iterator[Unit]:
    """Yield groups of rows; all but the first repeat the header, unless it fills the chunk."""
    header, header_size = _header(block, tokens, limits)
    body = block.start + len(header) + 1 if header else block.start
    if body >= block.end:
        body, header, header_size = block.start, "", 0
    groups = _line_groups(body, block.end, tokens, limits.chunk - header_size)
    for number, (start, end) in enumerate(groups):
        own = start if number else block.start
        yield Unit("table", own, end, index, alone=True, preamble=header if number else "")


def repeated_above(
    block: Block, position: int, tokens: TokenIndex, limits: Limits
) -> tuple[str, int]:
    """Return what a part of a table or code that begins at `position` repeats, and its tokens."""
    if position <= block.start:
        return "", 0
    if block.kind == "table":
        return _header(block, tokens, limits)
    if block.kind != "code":
        return "", 0
    most = min(limits.chunk // _PREAMBLE_SHARE, limits.model // _SIGNATURE_SHARE)
    return signature_above(tokens, block.start, position, most)


def _header(block: Block, tokens: TokenIndex, limits: Limits) -> tuple[str, int]:
    lines = tokens.text[block.start : block.end].split("\n", block.header_rows)
    header = "\n".join(lines[: block.header_rows])
    size = tokens.count(block.start, block.start + len(header)) if header else 0
    return ("", 0) if size > limits.chunk // _PREAMBLE_SHARE else (header, size)


def _code_parts(block: Block, index: int, tokens: TokenIndex, limits: Limits) -> Iterator[Unit]:
    """Yield groups of lines; each repeats the lines that enclose its first one."""
    most = max(1, min(limits.chunk, limits.model - limits.model // _SIGNATURE_SHARE))
    for start, end in _line_groups(block.start, block.end, tokens, most):
        signature, _ = repeated_above(block, start, tokens, limits)
        yield Unit("code", start, end, index, alone=True, preamble=signature)


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
        yield from stripped(tokens.text, *piece)


def stripped(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the span without blanks at its end and blank lines at its start, unless it is blank."""
    piece = text[start:end]
    if filled := piece.rstrip():
        indent = len(filled) - len(filled.lstrip())
        yield start + filled.rfind("\n", 0, indent) + 1, start + len(filled)
