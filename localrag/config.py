"""The settings of an engine, checked where they enter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from localrag.errors import SettingsError

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["CHUNK_TOKENS", "Chunking", "ContextLine", "Settings", "VectorForm", "make_settings"]

Chunking = Literal["structural", "fixed", "sentence-window", "parent-child", "record"]
"""How documents are cut: see `localrag.chunking.splitters`."""

CHUNK_TOKENS: Final = {
    "structural": 300,
    "fixed": 300,
    "sentence-window": 100,
    "parent-child": 100,
    "record": 100,
}
"""Size of a chunk where none is asked for."""

OVERLAPPING: Final = ("structural", "fixed")
"""Ways of cutting whose chunks overlap; the others return what is around a chunk, or records."""

ContextLine = Literal["full", "words", "title", "none"]
"""What stands above a chunk's text: title and headings everywhere; the same, but not in the
vectors; the title alone; nothing."""

VectorForm = Literal["int8", "float32"]
"""How a file keeps the embeddings: one byte per dimension, or four."""


def _overlap(values: Mapping[str, object]) -> int:
    """Return the overlap that fits the values that were given."""
    size = values.get("chunk_tokens", 100)
    overlaps = values.get("chunking", "structural") in OVERLAPPING
    return min(50, size // 2) if overlaps and isinstance(size, int) else 0


class Settings(BaseModel):
    """What can be tuned. The defaults are the measured ones (docs/decisions.md)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    embedder: str | None = None
    """Name or folder of the bi-encoder; the file's own when none, and for a new file the bundled
    one."""
    reranker: str | None = None
    """Name or folder of the cross-encoder, likewise."""
    chunking: Chunking = "structural"
    """How documents are cut; kept in the file."""
    context_line: ContextLine = "full"
    """What stands above each chunk: title and headings (full), the same but not in the vectors
    (words), the title alone (title), or nothing (none); kept in the file."""
    chunk_tokens: int = Field(
        default_factory=lambda values: CHUNK_TOKENS[values.get("chunking", "structural")],
        ge=32,
        le=8_192,
    )
    """Most tokens of a chunk's text, in the bi-encoder's own count: 300, or 100 for
    sentence-window, parent-child and record; kept in the file."""
    overlap_tokens: int = Field(default_factory=_overlap, ge=0)
    """Tokens at the end of a chunk that the next one repeats: 50, or half of a small chunk; none
    but for structural and fixed. Kept in the file."""
    vectors: VectorForm = "int8"
    """How embeddings are kept: a byte per dimension (int8), or four (float32), which makes a file
    twice as large and finds the same passages; kept in the file."""
    window_sentences: int = Field(default=3, ge=0)
    """Sentences before and after a matched one that are returned with it (sentence-window)."""
    section_tokens: int = Field(default=1_000, ge=1)
    """Most tokens of a section that is returned for a matched part of it (parent-child)."""
    max_file_bytes: int = Field(default=50_000_000, ge=1)
    """Larger files are skipped, with a message."""
    reader_seconds: int = Field(default=120, ge=1)
    """Longest time that reading one file may take, or each page of it that is read from its
    picture; then it is skipped."""
    reader_memory_bytes: int = Field(default=1_000_000_000, ge=100_000_000)
    """Most memory that a process which reads files may take, where the system can limit it."""
    glossary: bool = True
    """Whether a search also looks for what the glossary says of the query's words: abbreviations
    that documents explain, and those that the user added."""
    spelling: bool = True
    """Whether a search also looks for the nearest words of a word that no document has."""
    retrieve_k: int = Field(default=50, ge=1, le=4_096)
    """Candidates of each retrieval method."""
    vector_matrix_from: int = Field(default=5_000, ge=1)
    """Chunks from which a process that searches more than once keeps the vectors in memory, in a
    coded form that finds the nearest sooner."""
    vector_memory_bytes: int = Field(default=1_000_000_000, ge=0)
    """Most memory that they may take, about 450 bytes per chunk; a base that needs more is searched
    on the disk."""
    rrf_k: int = Field(default=60, ge=1)
    """Constant of reciprocal rank fusion."""
    rerank_top: int = Field(default=30, ge=1, le=1_000)
    """Candidates that the cross-encoder reads."""
    passage_tokens: int = Field(default=2_000, ge=1)
    """Most tokens of the passages that an answer is taken from."""
    answer_passages: int = Field(default=5, ge=1)
    """Passages that an answer is taken from."""
    answer_neighbours: int = Field(default=1, ge=0)
    """Chunks before and after a matched one that the answer may use."""
    answer_sentences: int = Field(default=3, ge=1)
    """Most sentences of an extractive answer."""
    min_relevance: float = Field(default=0.3, ge=0.0, le=1.0)
    """An answer needs a passage of at least this probability; below it nothing was found."""
    keep_traces: bool = True
    """Whether each query's trace is written to the file."""

    @model_validator(mode="after")
    def _overlap_fits(self) -> Settings:
        if self.overlap_tokens > self.chunk_tokens // 2:
            raise ValueError("overlap_tokens must be at most half of chunk_tokens")
        if self.overlap_tokens and self.chunking not in OVERLAPPING:
            raise ValueError(f"{self.chunking} chunks do not overlap: leave overlap_tokens out")
        return self


def make_settings(**values: object) -> Settings:
    """Return settings with some values changed.

    Raises:
        SettingsError: a name is unknown or a value is out of range.
    """
    try:
        return Settings.model_validate(values)
    except ValidationError as error:
        problems = "; ".join(
            f"{'.'.join(map(str, item['loc'])) or 'settings'}: {item['msg']}"
            for item in error.errors()
            # A default that depends on a wrong value cannot be had: not the user's mistake.
            if item["type"] != "default_factory_not_called"
        )
        raise SettingsError(f"{problems}. See docs/settings.md for the allowed values.") from error
