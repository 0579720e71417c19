"""Chunks that a set prescribes, with the context that the product gives such places of a file."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from localrag.chunking.maker import Span, maker_of
from localrag.chunking.units import Unit
from localrag.formats.registry import read_document

if TYPE_CHECKING:
    from collections.abc import Sequence

    from localrag.config import ContextLine
    from localrag.inference.protocols import TokenCounter
    from localrag.records import Chunk, Document, Section

__all__ = ["cut_at", "read_nameless", "suffix_of_code"]

_MARKS: Final = {
    ".cpp": re.compile(r"^\s*#\s*(?:include|pragma|ifndef)\b|^namespace\b|\bstd::", re.MULTILINE),
    ".java": re.compile(r"^package [\w.]+;|^import [\w.*]+;|^\s*(?:public|private) ", re.MULTILINE),
    ".py": re.compile(r"^\s*def \w+\(|^from [\w.]+ import |^import \w+$|^\s*elif\b", re.MULTILINE),
    ".rs": re.compile(r"^use [\w:{]|\bfn \w+|^\s*(?:pub|impl|let mut)\b|^//!", re.MULTILINE),
}


def suffix_of_code(text: str) -> str:
    """Return the suffix of the language that most marks of `text` speak for; ``.txt`` for none."""
    marks = {suffix: len(pattern.findall(text)) for suffix, pattern in _MARKS.items()}
    best = max(marks, key=lambda suffix: marks[suffix])
    return best if marks[best] else ".txt"


def read_nameless(name: str, text: str) -> Document:
    """Return the document of a file whose name was not handed down; it has no title either."""
    return replace(read_document(text.encode(), f"{name}{suffix_of_code(text)}"), title="")


def cut_at(
    document: Document,
    counter: TokenCounter,
    spans: Sequence[tuple[int, int]],
    context: ContextLine = "full",
) -> tuple[tuple[Section, ...], tuple[Chunk, ...]]:
    """Return sections and chunks of a document that is cut at `spans`, whatever lies there.

    There are as many chunks as spans, also where one is longer than the model takes.
    """
    maker = maker_of(document, counter, context, chunk_tokens=1, overlap_tokens=0)
    chunks = []
    for ordinal, (start, end) in enumerate(spans):
        units = tuple(_units(document, start, end))
        section = maker.outline.section_of[units[0].block]
        first, *rest = maker.chunks(Span(start, end, units), ordinal, section)
        whole = replace(first, end=end, text=document.text[start:end])
        chunks.append(whole if rest else first)
    return maker.sections(chunks), tuple(chunks)


def _units(document: Document, start: int, end: int) -> list[Unit]:
    """Return the parts of blocks in a span, of a blank one itself as part of the block before."""
    parts = [
        Unit(block.kind, max(start, block.start), min(end, block.end), index)
        for index, block in enumerate(document.blocks)
        if block.start < end and start < block.end
    ]
    before = sum(block.start < end for block in document.blocks)
    return parts or [Unit("paragraph", start, end, max(0, before - 1))]
