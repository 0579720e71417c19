"""The default splitter: chunks follow the structure of the document.

* A chunk lies in one section. It starts with the section's heading where it is the first; a heading
  without text of its own goes to the chunk of the next heading.
* Paragraphs, list items, tables and code fill a chunk up to `chunk_tokens`. Only what is longer is
  cut: prose between sentences; tables and code not at all, unless the model could not take them.
* Chunks of one section overlap by whole sentences of prose.
* Context, repeated table header and text together never exceed what the model takes.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING

from localrag.chunking.outline import Outline, context_line, outline_of
from localrag.chunking.packing import Draft, pack
from localrag.chunking.token_index import TokenIndex
from localrag.chunking.units import Limits, units_of
from localrag.errors import SettingsError
from localrag.records import Chunk, Section

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from localrag.inference.protocols import TokenCounter
    from localrag.records import Block, Document

__all__ = ["CHUNKER_VERSION", "split"]

CHUNKER_VERSION = "1"
"""Changes whenever the same document would give other chunks."""

_MARGIN = 4
"""Tokens left free: a span by itself may take a few more than inside its document."""
_FEWEST_TOKENS = 16


def split(
    document: Document,
    counter: TokenCounter,
    *,
    chunk_tokens: int = 300,
    overlap_tokens: int = 50,
) -> tuple[tuple[Section, ...], tuple[Chunk, ...]]:
    """Return the heading tree and the chunks of `document`.

    Together the chunks cover all text of the document's blocks, in order.

    Args:
        document: what a reader made of a file.
        counter: counts in the tokens of the model that will read the chunks.
        chunk_tokens: what a chunk is filled to, without its context.
        overlap_tokens: most tokens that a chunk repeats of the one before.

    Raises:
        SettingsError: a limit is too small to work with.
    """
    _check(counter, chunk_tokens, overlap_tokens)
    outline = outline_of(document)
    tokens = TokenIndex(document.text, counter)
    chunks: list[Chunk] = []
    for first, end in _runs(document):
        section = outline.section_of[end - 1]
        maker = _Maker(document, outline, counter, tokens, section)
        limits = maker.limits(chunk_tokens, overlap_tokens)
        blocks = enumerate(document.blocks[first:end], first)
        units = [unit for index, block in blocks for unit in units_of(block, index, tokens, limits)]
        for draft in pack(units, tokens, limits):
            chunks += maker.chunks(draft, len(chunks))
    return _sections(outline, chunks), tuple(chunks)


def _check(counter: TokenCounter, chunk_tokens: int, overlap_tokens: int) -> None:
    if counter.max_tokens < _FEWEST_TOKENS:
        raise SettingsError(f"a model must take at least {_FEWEST_TOKENS} tokens")
    if chunk_tokens < 1 or not 0 <= overlap_tokens < chunk_tokens:
        raise SettingsError(
            f"chunk_tokens={chunk_tokens} and overlap_tokens={overlap_tokens} do not fit: set"
            " chunk_tokens to 1 or more and overlap_tokens below it"
        )


def _runs(document: Document) -> Iterator[tuple[int, int]]:
    """Yield ranges of blocks: one or more headings, and what follows up to the next heading."""
    first = 0
    for index, block in enumerate(document.blocks):
        follows_text = index > first and document.blocks[index - 1].kind != "heading"
        if block.kind == "heading" and follows_text:
            yield first, index
            first = index
    if document.blocks:
        yield first, len(document.blocks)


@dataclass(frozen=True, slots=True)
class _Maker:
    """Turns the drafts of one section into chunks."""

    document: Document
    outline: Outline
    counter: TokenCounter
    tokens: TokenIndex
    section: int

    def _context(self, section: int) -> tuple[tuple[str, ...], str]:
        path = self.outline.path(section)
        return path, context_line(self.document.title, path, self.counter)

    def limits(self, chunk_tokens: int, overlap_tokens: int) -> Limits:
        """Return what is left for text beside the section's context."""
        _, context = self._context(self.section)
        model = max(1, self.counter.max_tokens - self.counter.count(f"{context}\n") - _MARGIN)
        chunk = min(chunk_tokens, model)
        return Limits(chunk=chunk, model=model, overlap=min(overlap_tokens, chunk - 1))

    def chunks(self, draft: Draft, ordinal: int) -> list[Chunk]:
        """Return the chunk of a draft; more than one where it does not fit the model after all."""
        section = self.outline.section_of[draft.units[-1].block]
        path, context = self._context(section)
        preamble = draft.units[0].preamble
        return [
            Chunk(
                ordinal=ordinal + number,
                kind=_kind(draft),
                start=start,
                end=end,
                text=self.document.text[start:end],
                headings=path,
                context=context,
                section=section,
                tokens=size,
                preamble=preamble,
                page=self._block_at(start).page,
                lines=self._lines(start, end),
            )
            for number, (start, end, size) in enumerate(
                self._fitting(context, preamble, draft.start, draft.end)
            )
        ]

    def _fitting(
        self, context: str, preamble: str, start: int, end: int
    ) -> Iterator[tuple[int, int, int]]:
        """Yield spans with their exact token count, none above what the model takes."""
        parts = (context, preamble, self.document.text[start:end])
        size = self.counter.count("\n".join(part for part in parts if part))
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


def _kind(draft: Draft) -> str:
    """Return the kind of a draft's units, whatever their headings; ``"mixed"`` for several."""
    kinds = {unit.kind for unit in draft.units}
    kinds = kinds - {"heading"} or kinds
    return kinds.pop() if len(kinds) == 1 else "mixed"


def _sections(outline: Outline, chunks: Sequence[Chunk]) -> tuple[Section, ...]:
    first = [len(chunks)] * len(outline.headings)
    last = [-1] * len(outline.headings)
    for chunk in chunks:
        for section in outline.ancestors(chunk.section):
            first[section] = min(first[section], chunk.ordinal)
            last[section] = max(last[section], chunk.ordinal)
    return tuple(
        Section(heading.text, heading.level, heading.parent, first[index], last[index])
        for index, heading in enumerate(outline.headings)
    )
