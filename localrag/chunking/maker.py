"""From spans of a document to chunks: their context, place and exact size, whatever cut them."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING

from localrag.chunking.outline import Outline, context_line, outline_of
from localrag.chunking.token_index import TokenIndex
from localrag.chunking.units import Limits
from localrag.errors import SettingsError
from localrag.records import Chunk, Section

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from localrag.chunking.units import Unit
    from localrag.config import ContextLine
    from localrag.inference.protocols import TokenCounter
    from localrag.records import Block, Document

__all__ = ["ChunkMaker", "Span", "maker_of"]

_MARGIN = 4
"""Tokens left free: a span by itself may take a few more than inside its document."""
_FEWEST_TOKENS = 16


@dataclass(frozen=True, slots=True)
class Span:
    """Where a chunk is to be, and what it is made of."""

    start: int
    end: int
    units: Sequence[Unit]
    """Never empty; the last one says in which section the chunk lies."""

    @property
    def preamble(self) -> str:
        """What must be repeated in front of the text."""
        return self.units[0].preamble

    @property
    def kind(self) -> str:
        """The kind of the units, whatever their headings; ``"mixed"`` for several."""
        kinds = {unit.kind for unit in self.units}
        kinds = kinds - {"heading"} or kinds
        return kinds.pop() if len(kinds) == 1 else "mixed"


@dataclass(frozen=True, slots=True)
class ChunkMaker:
    """Makes the chunks of one document."""

    document: Document
    counter: TokenCounter
    context: ContextLine
    outline: Outline
    tokens: TokenIndex

    def limits(self, section: int, chunk_tokens: int, overlap_tokens: int = 0) -> Limits:
        """Return what is left for text beside the context of a section."""
        context = self._context(section)
        model = max(1, self.counter.max_tokens - self.counter.count(f"{context}\n") - _MARGIN)
        chunk = min(chunk_tokens, model)
        return Limits(chunk=chunk, model=model, overlap=min(overlap_tokens, chunk - 1))

    def chunks(self, span: Span, ordinal: int, section: int | None = None) -> list[Chunk]:
        """Return the chunk of a span; more than one where it does not fit the model after all.

        It lies in the section of its last unit, unless another one is named: then it may lie in
        several, and its line of context names them all where there is room.
        """
        if section is None:
            section = self.outline.section_of[span.units[-1].block]
            context = self._context(section)
        else:
            context = self._joint_context(span, section)
        path = self.outline.path(section)
        return [
            Chunk(
                ordinal=ordinal + number,
                kind=span.kind,
                start=start,
                end=end,
                text=self.document.text[start:end],
                headings=path,
                context=context,
                section=section,
                tokens=size,
                preamble=span.preamble,
                page=self._block_at(start).page,
                lines=self._lines(start, end),
                embeds_context=self.context != "words",
            )
            for number, (start, end, size) in enumerate(
                self._fitting(context, span.preamble, span.start, span.end)
            )
        ]

    def sections(self, chunks: Sequence[Chunk]) -> tuple[Section, ...]:
        """Return the document's heading tree, with the chunks that lie below each heading."""
        first = [len(chunks)] * len(self.outline.headings)
        last = [-1] * len(self.outline.headings)
        for chunk in chunks:
            for section in self.outline.ancestors(chunk.section):
                first[section] = min(first[section], chunk.ordinal)
                last[section] = max(last[section], chunk.ordinal)
        return tuple(
            Section(heading.text, heading.level, heading.parent, first[index], last[index])
            for index, heading in enumerate(self.outline.headings)
        )

    def _context(self, section: int) -> str:
        return self._line_of(self.outline.path(section))

    def _joint_context(self, span: Span, section: int) -> str:
        """Return the line of all sections of a span; that of its own if it becomes too long."""
        sections = (self.outline.section_of[unit.block] for unit in span.units)
        joint = self._line_of(self.outline.joint_path([section, *sections]))
        size = self._size(joint, span.preamble, span.start, span.end)
        return joint if size <= self.counter.max_tokens else self._context(section)

    def _line_of(self, path: tuple[str, ...]) -> str:
        if self.context == "none":
            return ""
        shown = () if self.context == "title" else path
        return context_line(self.document.title, shown, self.counter)

    def _size(self, context: str, preamble: str, start: int, end: int) -> int:
        parts = (context, preamble, self.document.text[start:end])
        return self.counter.count("\n".join(part for part in parts if part))

    def _fitting(
        self, context: str, preamble: str, start: int, end: int
    ) -> Iterator[tuple[int, int, int]]:
        """Yield spans with their exact token count, none above what the model takes."""
        size = self._size(context, preamble, start, end)
        if size <= self.counter.max_tokens or end - start <= 1:
            yield start, end, size
            return
        half = max(1, self.tokens.count(start, end) // 2)
        for piece_start, piece_end in self.tokens.pieces(start, end, half):
            yield from self._fitting(context, preamble, piece_start, piece_end)

    def _block_at(self, position: int) -> Block:
        starts = bisect_right(self.document.blocks, position, key=lambda block: block.start)
        return self.document.blocks[starts - 1]

    def _lines(self, start: int, end: int) -> tuple[tuple[int, int], ...]:
        line = self.document.line(start)
        if line is None:
            return ()
        return ((start, line), *(jump for jump in self.document.lines if start < jump[0] < end))


def maker_of(
    document: Document,
    counter: TokenCounter,
    context: ContextLine,
    chunk_tokens: int,
    overlap_tokens: int,
) -> ChunkMaker:
    """Return the maker of a document's chunks.

    Raises:
        SettingsError: a limit is too small to work with.
    """
    if counter.max_tokens < _FEWEST_TOKENS:
        raise SettingsError(f"a model must take at least {_FEWEST_TOKENS} tokens")
    if chunk_tokens < 1 or not 0 <= overlap_tokens < chunk_tokens:
        raise SettingsError(
            f"chunk_tokens={chunk_tokens} and overlap_tokens={overlap_tokens} do not fit: set"
            " chunk_tokens to 1 or more and overlap_tokens below it"
        )
    tokens = TokenIndex(document.text, counter)
    return ChunkMaker(document, counter, context, outline_of(document), tokens)
