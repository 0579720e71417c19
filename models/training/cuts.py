"""Cuts documents into chunks as the product does, or blindly, as programs do that do not parse."""

from __future__ import annotations

from typing import TYPE_CHECKING

from localrag.chunking.splitters import strategy
from localrag.evaluate.given_chunks import cut_at

if TYPE_CHECKING:
    import random
    from collections.abc import Sequence

    from localrag.inference.protocols import TokenCounter
    from localrag.records import Chunk, Document

__all__ = ["cut_blindly", "cut_by_product"]

CHUNK_TOKENS = (150, 220, 300)
SHORTEST, LONGEST = 450, 950
"""Characters of a piece of a source file that is cut by a program that does not parse it."""


def cut_by_product(
    document: Document, counter: TokenCounter, overlaps: Sequence[int], generator: random.Random
) -> Sequence[Chunk]:
    """Return the chunks of one of `CHUNK_TOKENS`, with one of `overlaps`, both drawn."""
    return strategy("structural").split(
        document,
        counter,
        chunk_tokens=generator.choice(CHUNK_TOKENS),
        overlap_tokens=generator.choice(overlaps),
        context="full",
    )[1]


def cut_blindly(
    document: Document, counter: TokenCounter, generator: random.Random
) -> Sequence[Chunk]:
    """Return pieces of `SHORTEST` to `LONGEST` characters, which end with a line if they can."""
    starts = [0]
    while starts[-1] + LONGEST < len(document.text):
        wanted = starts[-1] + generator.randrange(SHORTEST, LONGEST)
        starts.append(document.text.rfind("\n", starts[-1] + 1, wanted) + 1 or wanted)
    spans = list(zip(starts, [*starts[1:], len(document.text)], strict=True))
    return cut_at(document, counter, spans)[1]
