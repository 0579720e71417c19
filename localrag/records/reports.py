"""What a run of the indexer tells, while it goes on and at its end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["Moved", "Progress", "ProgressCallback", "ReembedReport", "Skipped", "SyncReport"]


@dataclass(frozen=True, slots=True)
class Skipped:
    """A source that could not be indexed."""

    uri: str
    reason: str
    detail: str


@dataclass(frozen=True, slots=True)
class Moved:
    """A document whose file has another name or lies elsewhere."""

    old: str
    new: str


@dataclass(frozen=True, slots=True)
class SyncReport:
    """What a run of the indexer did, or would do."""

    added: tuple[str, ...] = ()
    updated: tuple[str, ...] = ()
    moved: tuple[Moved, ...] = ()
    unchanged: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    chunks: int = 0
    """Chunks written by this run."""
    tokens: int = 0
    """Tokens embedded by this run."""
    seconds: float = 0.0
    dry_run: bool = False
    """Whether the file was left as it is: everything above is what would happen."""

    @property
    def changed(self) -> bool:
        """Whether a document came, went, moved or was written anew."""
        return bool(self.added or self.updated or self.moved or self.removed)


@dataclass(frozen=True, slots=True)
class ReembedReport:
    """What a change of the bi-encoder did, or, in a dry run, would do."""

    model: str
    dimensions: int
    chunks: int
    """In the file."""
    texts: int
    """Different ones among them: each is embedded once."""
    reused: int
    """Texts whose vectors an earlier, interrupted run had left."""
    embedded: int
    """Texts embedded by this run; in a dry run, those that are left to embed."""
    tokens: int
    """Of those texts, in the new model's own count."""
    bytes: int
    """Room that the new vectors take beside the old ones."""
    swapped: bool
    """Whether searches use the new vectors from now on: not after a dry run."""
    seconds: float


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a run of the indexer stands."""

    done: int
    """Files finished."""
    total: int
    current: str
    """The file that was finished last."""
    chunks: int
    tokens: int


ProgressCallback = Callable[[Progress], None]
