"""What a knowledge base holds, and what was said of its sources."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from localrag.records.documents import Metadata

__all__ = ["Properties", "Source", "Status"]


@dataclass(frozen=True, slots=True)
class Properties:
    """What the user says of every document of a source; None leaves it as it was said before."""

    metadata: Metadata | None = None
    """Wins over what a file says of itself, and over what its path says."""
    labels: tuple[str, ...] | None = None
    """Access labels, see `Filter.labels`."""
    patterns: tuple[str, ...] | None = None
    """Patterns of paths within the source that name parts: ``clients/{client}/{year}/**``."""


@dataclass(frozen=True, slots=True)
class Source:
    """A file or folder that was indexed, and how."""

    path: str
    include: tuple[str, ...]
    """Patterns of what is taken; empty for everything."""
    exclude: tuple[str, ...]
    """Patterns of what is left out."""
    max_bytes: int | None
    """Larger files are skipped; None: the limit of the settings."""
    metadata: Metadata
    """Properties of every document below it."""
    labels: tuple[str, ...]
    """Access labels of every document below it."""
    path_patterns: tuple[str, ...]
    """Patterns whose named parts become metadata."""


@dataclass(frozen=True, slots=True)
class Status:
    """What a knowledge base holds."""

    path: str
    format_version: int
    documents: int
    chunks: int
    tokens: int
    """Tokens of all chunks, contexts and overlaps included."""
    skipped: int
    bytes: int
    """Size of the file."""
    sources: tuple[str, ...]
    """Files and folders that were indexed."""
    settings: Mapping[str, str]
    """Fingerprint and chunk sizes kept in the file."""
    queries: int
    """Traces kept."""
    indexed: tuple[Source, ...]
    """How each source was indexed, in the order of `sources`: the next sync repeats it."""
    vector_memory: int = 0
    """Bytes of the vectors that this process holds in memory."""
    vector_memory_open: int = 0
    """Bytes that they take in a process that goes on searching; 0 where vec0 is asked instead."""
