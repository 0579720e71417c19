"""Documents in a few words, for the tests of the readers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from localrag.formats.registry import read_document

if TYPE_CHECKING:
    from localrag.records import Document


def read(source: str | bytes, uri: str) -> Document:
    """Read a source as the file `uri`."""
    return read_document(source.encode() if isinstance(source, str) else source, uri)


def shown(document: Document) -> list[tuple[str, str]]:
    """Return the kind and the text of every block."""
    return [(block.kind, document.text[block.start : block.end]) for block in document.blocks]


def blocks(source: str | bytes, uri: str) -> list[tuple[str, str]]:
    """Return the kind and the text of every block of a source."""
    return shown(read(source, uri))


def outline(document: Document) -> list[tuple[int, str, int | None]]:
    """Return level, text and line of every heading."""
    return [
        (block.level, block.heading, document.line(block.start))
        for block in document.blocks
        if block.kind == "heading"
    ]


def line_of(document: Document, text: str) -> int | None:
    """Return the source line of a text."""
    return document.line(document.text.index(text))
