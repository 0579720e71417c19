"""What every stage of a search let through."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["FAILED", "Candidate", "StageRecord", "Trace"]

FAILED = "failed: "
"""Begins the note of a stage that went on without its model."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A chunk that a stage let through."""

    chunk_id: int
    score: float
    """In the stage's own unit: BM25 weight, cosine, reciprocal rank sum, or probability."""
    rank: int
    """Position in the stage's list, from 1."""


@dataclass(frozen=True, slots=True)
class StageRecord:
    """What one stage did."""

    name: str
    """Such as ``"2b. vector"``."""
    milliseconds: float
    survivors: tuple[Candidate, ...]
    """What the stage let through, best first."""
    note: str = ""
    """What else a reader must know: the transformed query, a fallback, a threshold."""


@dataclass(frozen=True, slots=True)
class Trace:
    """Every stage of one query, in order."""

    id: int | None
    """Row in the file; None when the trace was not kept."""
    query: str
    created_at: str
    """UTC, ISO 8601."""
    stages: tuple[StageRecord, ...]

    @property
    def chunk_ids(self) -> frozenset[int]:
        """Ids of all chunks that any stage let through."""
        return frozenset(one.chunk_id for stage in self.stages for one in stage.survivors)

    @property
    def failures(self) -> tuple[str, ...]:
        """What a stage could not do, and what it did instead; empty when all went well."""
        return tuple(
            f"{stage.name} {stage.note}" for stage in self.stages if stage.note.startswith(FAILED)
        )
