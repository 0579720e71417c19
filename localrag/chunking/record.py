"""One chunk per record: every block by itself, and tables in small groups of rows.

For tables of data, lists and logs, where the neighbour of a record says nothing about it. Each
group of rows repeats the table's header. A heading goes to the block below it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from localrag.chunking.maker import Span, maker_of
from localrag.chunking.packing import pack
from localrag.chunking.units import table_parts, units_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from localrag.chunking.token_index import TokenIndex
    from localrag.chunking.units import Limits, Unit
    from localrag.config import ContextLine
    from localrag.inference.protocols import TokenCounter
    from localrag.records import Block, Chunk, Document, Section

__all__ = ["split"]


def split(
    document: Document,
    counter: TokenCounter,
    *,
    chunk_tokens: int = 100,
    overlap_tokens: int = 0,
    context: ContextLine = "full",
) -> tuple[tuple[Section, ...], tuple[Chunk, ...]]:
    """Return sections and chunks, as `Splitter` says; rows of a table share up to `chunk_tokens`.

    Other blocks are cut only where the model cannot take them; `overlap_tokens` has no effect.
    """
    maker = maker_of(document, counter, context, chunk_tokens, overlap_tokens)
    chunks: list[Chunk] = []
    for first, end in _records(document):
        limits = maker.limits(maker.outline.section_of[end - 1], chunk_tokens)
        whole = replace(limits, chunk=limits.model)
        blocks = enumerate(document.blocks[first:end], first)
        units = [
            unit
            for index, block in blocks
            for unit in _units(block, index, maker.tokens, limits, whole)
        ]
        for draft in pack(units, maker.tokens, whole):
            chunks += maker.chunks(Span(draft.start, draft.end, draft.units), len(chunks))
    return maker.sections(chunks), tuple(chunks)


def _records(document: Document) -> Iterator[tuple[int, int]]:
    """Yield ranges of blocks: one block, with the headings above it."""
    first = 0
    for index, block in enumerate(document.blocks, start=1):
        if block.kind != "heading":
            yield first, index
            first = index
    if first < len(document.blocks):
        yield first, len(document.blocks)


def _units(
    block: Block, index: int, tokens: TokenIndex, limits: Limits, whole: Limits
) -> Iterator[Unit]:
    if block.kind == "table":
        return table_parts(block, index, tokens, limits)
    return units_of(block, index, tokens, whole)
