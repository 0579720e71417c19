"""Plain text: paragraphs are parted by blank lines.

Where a text in a script without spaces was wrapped at a width, its lines are joined: words lie
across their ends.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from localrag.formats.encoding import decode
from localrag.formats.source_map import Cut, LineIndex, excerpt
from localrag.formats.spans import stem_of, trimmed
from localrag.records import Block, Document
from localrag.text.scripts import UNSPACED

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["MEDIA_TYPE", "read_plain_text"]

MEDIA_TYPE = "text/plain"

_FULL = 0.85
_NARROWEST = 15
_UNSPACED_WRAP = re.compile(f"[{UNSPACED}、][{UNSPACED}]")
_BLANK_LINES = re.compile(r"\n(?:[^\S\n]*\n)+")


def read_plain_text(data: bytes, uri: str) -> Document:
    """Return the document in `data`, titled by its file name.

    Raises:
        ReadError: it is not text, or its encoding is not known.
    """
    source = decode(data)
    edges = [
        0,
        *(edge for match in _BLANK_LINES.finditer(source) for edge in match.span()),
        len(source),
    ]
    spans = [trimmed(source, *edge) for edge in zip(edges[::2], edges[1::2], strict=True)]
    kept = excerpt(source, (cut for span in spans for cut in _wraps(source, *span)))
    blocks = tuple(
        Block("paragraph", kept.position(start), kept.position(end))
        for start, end in spans
        if start < end
    )
    return Document(
        kept.text, blocks, stem_of(uri), MEDIA_TYPE, lines=kept.lines(LineIndex(source))
    )


def _wraps(source: str, start: int, end: int) -> Iterator[Cut]:
    """Yield the line breaks within words of a paragraph: those of its full lines."""
    lines = source[start:end].split("\n")
    full = max(map(len, lines)) * _FULL
    position = start
    for line, following in pairwise(lines):
        position += len(line)
        if len(line) >= max(full, _NARROWEST) and _UNSPACED_WRAP.match(line[-1] + following[:1]):
            yield Cut(position, position + 1)
        position += 1
