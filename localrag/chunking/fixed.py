"""Windows of equally many tokens that overlap, whatever the text: the yardstick for other ways.

A window ends at white space where some is near, else between two tokens. It never cuts a table or
a piece of code that the model can take whole; one that it cannot take repeats its header or
signature in every window that begins inside it.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING

from localrag.chunking.maker import Span, maker_of
from localrag.chunking.units import Unit, is_whole, repeated_above, stripped

if TYPE_CHECKING:
    from collections.abc import Iterator

    from localrag.chunking.maker import ChunkMaker
    from localrag.chunking.units import Limits
    from localrag.config import ContextLine
    from localrag.inference.protocols import TokenCounter
    from localrag.records import Block, Chunk, Document, Section

__all__ = ["split"]


def split(
    document: Document,
    counter: TokenCounter,
    *,
    chunk_tokens: int = 300,
    overlap_tokens: int = 50,
    context: ContextLine = "full",
) -> tuple[tuple[Section, ...], tuple[Chunk, ...]]:
    """Return sections and chunks, as `Splitter` says; a chunk's section is where it begins."""
    maker = maker_of(document, counter, context, chunk_tokens, overlap_tokens)
    windows = _Windows(maker, chunk_tokens, overlap_tokens)
    chunks: list[Chunk] = []
    for span in windows.spans():
        section = maker.outline.section_of[span.units[0].block]
        chunks += maker.chunks(span, len(chunks), section)
    return maker.sections(chunks), tuple(chunks)


@dataclass(frozen=True, slots=True)
class _Windows:
    """Cuts one document."""

    maker: ChunkMaker
    chunk_tokens: int
    overlap_tokens: int

    def spans(self) -> Iterator[Span]:
        """Yield the windows, in order."""
        blocks = self.maker.document.blocks
        last = blocks[-1].end if blocks else 0
        start = blocks[0].start if blocks else 0
        while start < last:
            limits = self._limits(start)
            preamble, size = self._preamble(start, limits)
            end = self._end(start, last, limits, limits.chunk - size)
            for own_start, own_end in stripped(self.maker.document.text, start, end):
                yield Span(own_start, own_end, self._units(own_start, own_end, preamble))
            start = self._next(start, end, last, limits)

    def _limits(self, position: int) -> Limits:
        section = self.maker.outline.section_of[self._index_at(position)]
        return self.maker.limits(section, self.chunk_tokens, self.overlap_tokens)

    def _preamble(self, start: int, limits: Limits) -> tuple[str, int]:
        block = self.maker.document.blocks[self._index_at(start)]
        if start >= block.end:
            return "", 0
        return repeated_above(block, start, self.maker.tokens, limits)

    def _end(self, start: int, last: int, limits: Limits, size: int) -> int:
        """Return where a window ends: before a whole block rather than inside it."""
        _, end = next(self.maker.tokens.pieces(start, last, max(1, size)))
        whole = self._whole_across(end, limits)
        if whole is None:
            return end
        before = self.maker.document.text[start : whole.start].strip()
        return whole.start if before else whole.end

    def _next(self, start: int, end: int, last: int, limits: Limits) -> int:
        """Return where the next window begins: a few tokens before the end of this one."""
        if self._whole_at(end, limits):
            return end  # this window was cut short for it: what could overlap is not new
        begin = self.maker.tokens.before(end, limits.overlap)
        whole = self._whole_across(begin, limits)
        begin = begin if whole is None else whole.end
        following = self._limits(begin) if start < begin < end < last else limits
        reach = self.maker.tokens.count(begin, end)
        # The next window must end after this one, also where its section's context is longer.
        return begin if start < begin and reach * 2 <= following.chunk and end < last else end

    def _whole_across(self, position: int, limits: Limits) -> Block | None:
        """Return the table or code around a position that must not be cut there."""
        block = self.maker.document.blocks[self._index_at(position)]
        inside = block.start < position < block.end
        return block if inside and self._is_kept(block, limits) else None

    def _whole_at(self, position: int, limits: Limits) -> bool:
        """Tell whether a table or code begins at a position that must not be cut."""
        block = self.maker.document.blocks[self._index_at(position)]
        return block.start == position and self._is_kept(block, limits)

    def _is_kept(self, block: Block, limits: Limits) -> bool:
        return block.kind in ("table", "code") and is_whole(block, self.maker.tokens, limits)

    def _units(self, start: int, end: int, preamble: str) -> list[Unit]:
        """Return the parts of blocks between two places."""
        blocks = self.maker.document.blocks
        units: list[Unit] = []
        for index in range(self._index_at(start), len(blocks)):
            block = blocks[index]
            if block.start >= end:
                break
            if block.end > start:
                own = max(start, block.start), min(end, block.end)
                units.append(Unit(block.kind, *own, index, preamble="" if units else preamble))
        return units

    def _index_at(self, position: int) -> int:
        """Return the block that holds a position, or the last one before it."""
        blocks = self.maker.document.blocks
        return max(0, bisect_right(blocks, position, key=lambda block: block.start) - 1)
