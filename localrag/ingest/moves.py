"""A file that was renamed or moved keeps its document, with its chunks and their vectors."""

from __future__ import annotations

import os
from collections import defaultdict
from hashlib import sha256
from typing import TYPE_CHECKING

from localrag.chunking.outline import SEPARATOR, context_line
from localrag.formats.registry import suffix_of
from localrag.formats.spans import stem_of
from localrag.ingest.prepare import read_source, words_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from localrag.inference.protocols import TokenCounter
    from localrag.ingest.discover import Source
    from localrag.records import Metadata, StoredChunk
    from localrag.store.documents import DocumentRow

__all__ = ["Retitled", "find_moves", "is_named_by_file", "retitle"]


def find_moves(new: Iterable[Source], vanished: Iterable[DocumentRow]) -> dict[str, DocumentRow]:
    """Return for each new file that holds the bytes of a vanished one the document of that one.

    Only files of equal size are read. The suffix must be the same, since it chooses the reader. Of
    several vanished files with the same bytes one that had the same name is taken first, then one
    from the same folder.
    """
    candidates: defaultdict[tuple[str, str], list[DocumentRow]] = defaultdict(list)
    sizes = set()
    for row in vanished:
        candidates[row.content_hash, suffix_of(row.uri)].append(row)
        sizes.add(row.size)
    same: dict[str, list[DocumentRow]] = {}
    for source in new:
        if source.size in sizes and isinstance(data := read_source(source), bytes):
            rows = candidates.get((sha256(data).hexdigest(), suffix_of(source.uri)))
            if rows:
                same[source.uri] = rows
    moves: dict[str, DocumentRow] = {}
    for alike in (_have_one_name, _have_one_folder, _are_any):
        for uri, rows in same.items():
            fitting = [row for row in rows if alike(row.uri, uri)]
            if fitting and uri not in moves:
                moves[uri] = fitting[0]
                rows.remove(fitting[0])
    return moves


def _have_one_name(first: str, second: str) -> bool:
    return os.path.basename(first) == os.path.basename(second)  # noqa: PTH119 - URIs, not paths


def _have_one_folder(first: str, second: str) -> bool:
    return os.path.dirname(first) == os.path.dirname(second)  # noqa: PTH120 - as above


def _are_any(_first: str, _second: str) -> bool:
    return True


class Retitled:
    """What a chunk says anew when its document has another title."""

    __slots__ = ("context", "id", "tokens", "words")

    def __init__(self, chunk: StoredChunk, title: str, counter: TokenCounter) -> None:
        self.id = chunk.id
        self.context = _retitled_context(chunk, title, counter)
        parts = (self.context, chunk.preamble, chunk.text)
        self.tokens = counter.count("\n".join(part for part in parts if part))
        self.words = words_of(self.context, chunk.preamble, chunk.text)


def _retitled_context(chunk: StoredChunk, title: str, counter: TokenCounter) -> str:
    if not chunk.context:
        return ""
    if chunk.context == context_line(chunk.title, chunk.headings, counter):
        return context_line(title, chunk.headings, counter)
    # The title alone, or a window that lies in several sections.
    _, *path = chunk.context.split(SEPARATOR)
    return context_line(title, path, counter)


def is_named_by_file(row: DocumentRow, metadata: Metadata, chunks: Iterable[StoredChunk]) -> bool:
    """Whether a document's title is its file's name, for want of a better one."""
    return (
        row.title == stem_of(row.uri)
        and metadata.get("title") != row.title
        and not any(row.title in chunk.headings for chunk in chunks)
    )


def retitle(
    chunks: Mapping[int, StoredChunk], title: str, counter: TokenCounter
) -> list[Retitled] | None:
    """Return the chunks as the new title makes them; None where one would not fit the model."""
    found = [Retitled(chunk, title, counter) for chunk in chunks.values()]
    return None if any(chunk.tokens > counter.max_tokens for chunk in found) else found
