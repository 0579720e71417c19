"""The default splitter: chunks follow the structure of the document.

* A chunk lies in one section. It starts with the section's heading where it is the first; a heading
  without text of its own goes to the chunk of the next heading.
* Paragraphs, list items, tables and code fill a chunk up to `chunk_tokens`. Only what is longer is
  cut: prose between sentences; tables and code not at all, unless the model could not take them.
* Chunks of one section overlap by whole sentences of prose.
* Context, repeated table header or signature, and text together never exceed what the model takes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from localrag.chunking.maker import Span, maker_of
from localrag.chunking.packing import pack
from localrag.chunking.units import units_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from localrag.config import ContextLine
    from localrag.inference.protocols import TokenCounter
    from localrag.records import Chunk, Document, Section

__all__ = ["runs_of", "split"]


def split(
    document: Document,
    counter: TokenCounter,
    *,
    chunk_tokens: int = 300,
    overlap_tokens: int = 50,
    context: ContextLine = "full",
) -> tuple[tuple[Section, ...], tuple[Chunk, ...]]:
    """Return the heading tree and the chunks of `document`.

    Together the chunks cover all text of the document's blocks, in order.

    Args:
        document: what a reader made of a file.
        counter: counts in the tokens of the model that will read the chunks.
        chunk_tokens: what a chunk is filled to, without its context.
        overlap_tokens: most tokens that a chunk repeats of the one before.
        context: what stands in a chunk's line of context.

    Raises:
        SettingsError: a limit is too small to work with.
    """
    maker = maker_of(document, counter, context, chunk_tokens, overlap_tokens)
    tokens = maker.tokens
    chunks: list[Chunk] = []
    for first, end in runs_of(document):
        limits = maker.limits(maker.outline.section_of[end - 1], chunk_tokens, overlap_tokens)
        blocks = enumerate(document.blocks[first:end], first)
        units = [unit for index, block in blocks for unit in units_of(block, index, tokens, limits)]
        for draft in pack(units, tokens, limits):
            chunks += maker.chunks(Span(draft.start, draft.end, draft.units), len(chunks))
    return maker.sections(chunks), tuple(chunks)


def runs_of(document: Document) -> Iterator[tuple[int, int]]:
    """Yield ranges of blocks: one or more headings, and what follows up to the next heading."""
    first = 0
    for index, block in enumerate(document.blocks):
        follows_text = index > first and document.blocks[index - 1].kind != "heading"
        if block.kind == "heading" and follows_text:
            yield first, index
            first = index
    if document.blocks:
        yield first, len(document.blocks)
