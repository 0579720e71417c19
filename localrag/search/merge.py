"""Puts consecutive chunks together again."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from localrag.records import StoredChunk

__all__ = ["merge_text"]


def merge_text(run: Sequence[StoredChunk]) -> str:
    """Return the text of consecutive chunks without what they share.

    Only blanks lie between chunks, so a gap is filled with line breaks of its length, or with the
    space between two sentences of a paragraph: the result has exactly ``end - start`` characters
    and offsets in it stay offsets of the document.
    """
    text = run[0].text
    end = run[0].end
    for before, chunk in pairwise(run):
        gap = max(0, chunk.start - end)
        is_space = gap == 1 and before.kind == chunk.kind == "paragraph"
        text += (" " if is_space else "\n" * gap) + chunk.text[max(0, end - chunk.start) :]
        end = max(end, chunk.end)
    return text
