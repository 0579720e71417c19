"""How a file would be cut, without a knowledge base."""

from __future__ import annotations

from typing import TYPE_CHECKING

from localrag.chunking.splitters import strategy
from localrag.errors import ReadError
from localrag.formats.registry import read_document

if TYPE_CHECKING:
    from pathlib import Path

    from localrag.config import Settings
    from localrag.inference.protocols import TokenCounter
    from localrag.records import Chunk, Document

__all__ = ["preview"]


def preview(
    path: Path, counter: TokenCounter, settings: Settings
) -> tuple[Document, tuple[Chunk, ...]]:
    """Return what a reader makes of a file, and the chunks that `settings` make of that.

    Raises:
        ReadError: the file cannot be read; the reason is the one that a run would record.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ReadError("unreadable", f"{path}: {error.strerror}") from error
    document = read_document(data, str(path))
    _, chunks = strategy(settings.chunking).split(
        document,
        counter,
        chunk_tokens=settings.chunk_tokens,
        overlap_tokens=settings.overlap_tokens,
        context=settings.context_line,
    )
    return document, chunks
