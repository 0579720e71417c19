"""Plain text: paragraphs are parted by blank lines."""

from __future__ import annotations

import re

from localrag.formats.encoding import decode
from localrag.formats.spans import stem_of, trimmed
from localrag.records import Block, Document

__all__ = ["MEDIA_TYPE", "read_plain_text"]

MEDIA_TYPE = "text/plain"

_BLANK_LINES = re.compile(r"\n(?:[^\S\n]*\n)+")


def read_plain_text(data: bytes, uri: str) -> Document:
    """Return the document in `data`, titled by its file name.

    Raises:
        ReadError: it is not text, or its encoding is not known.
    """
    text = decode(data)
    edges = [
        0,
        *(edge for match in _BLANK_LINES.finditer(text) for edge in match.span()),
        len(text),
    ]
    spans = (trimmed(text, *edge) for edge in zip(edges[::2], edges[1::2], strict=True))
    blocks = tuple(Block("paragraph", start, end) for start, end in spans if start < end)
    return Document(text, blocks, stem_of(uri), MEDIA_TYPE, lines=((0, 1),))
