"""Every sentence is a chunk: what is found is exact, what is read around it comes with the search.

A heading goes to the sentence below it. Sentences of a few words join their neighbour: "Yes." alone
means nothing. Tables and code stay whole, as everywhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from localrag.chunking.maker import Span, maker_of
from localrag.chunking.structural import runs_of
from localrag.chunking.units import sentence_units, units_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from localrag.chunking.token_index import TokenIndex
    from localrag.chunking.units import Limits, Unit
    from localrag.config import ContextLine
    from localrag.inference.protocols import TokenCounter
    from localrag.records import Block, Chunk, Document, Section

__all__ = ["split"]

_FEWEST_TOKENS = 10
"""A sentence with fewer is not a chunk of its own, where it has a neighbour."""


def split(
    document: Document,
    counter: TokenCounter,
    *,
    chunk_tokens: int = 100,
    overlap_tokens: int = 0,
    context: ContextLine = "full",
) -> tuple[tuple[Section, ...], tuple[Chunk, ...]]:
    """Return sections and chunks, as `Splitter` says; `overlap_tokens` has no effect."""
    maker = maker_of(document, counter, context, chunk_tokens, overlap_tokens)
    chunks: list[Chunk] = []
    for first, end in runs_of(document):
        limits = maker.limits(maker.outline.section_of[end - 1], chunk_tokens)
        blocks = enumerate(document.blocks[first:end], first)
        units = (
            unit for index, block in blocks for unit in _units(block, index, maker.tokens, limits)
        )
        for group in _groups(units, maker.tokens, limits):
            chunks += maker.chunks(Span(group[0].start, group[-1].end, group), len(chunks))
    return maker.sections(chunks), tuple(chunks)


def _units(block: Block, index: int, tokens: TokenIndex, limits: Limits) -> Iterator[Unit]:
    if block.kind in ("heading", "table", "code"):
        return units_of(block, index, tokens, limits)
    return sentence_units(block, index, tokens, limits)


def _groups(units: Iterable[Unit], tokens: TokenIndex, limits: Limits) -> Iterator[list[Unit]]:
    group: list[Unit] = []
    for unit in units:
        if group and not _joins(group, unit, tokens, limits):
            yield group
            group = []
        group.append(unit)
    if group:
        yield group


def _joins(group: Sequence[Unit], unit: Unit, tokens: TokenIndex, limits: Limits) -> bool:
    """Tell whether a unit goes to the chunk before."""
    if unit.preamble or tokens.count(group[0].start, unit.end) > limits.model:
        return False
    body = [one for one in group if one.kind != "heading"]
    if not body:
        return True
    own = tokens.count(body[0].start, body[-1].end)
    added = tokens.count(unit.start, unit.end)
    prose = body[-1].is_prose and unit.is_prose
    return prose and min(own, added) < _FEWEST_TOKENS and own + added <= limits.chunk
