"""The settings of an engine, checked where they enter."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from functools import cache
from typing import Annotated, Any, Final, Literal, Self, get_type_hints

from localrag.checked import InvalidValueError, Limits, checked
from localrag.errors import SettingsError

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


OVERLAP_TOKENS: Final = 50
"""Tokens that chunks share where no number is asked for, unless that is more than half of one."""

FITTING: Final[Any] = None
"""A size that is not given: the one that fits the way of cutting."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What can be tuned. The defaults are the measured ones (docs/decisions.md).

    Attributes:
        given: names of the settings that the caller chose, rather than leaving them as they are.

    Raises:
        SettingsError: a value is out of range, or two do not fit.
    """

    given: frozenset[str] = field(init=False, repr=False, compare=False)

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
    chunk_tokens: Annotated[int, Limits(ge=32, le=8_192)] = FITTING
    """Most tokens of a chunk's text, in the bi-encoder's own count: 300, or 100 for
    sentence-window, parent-child and record; kept in the file."""
    overlap_tokens: Annotated[int, Limits(ge=0)] = FITTING
    """Tokens at the end of a chunk that the next one repeats: 50, or half of a small chunk; none
    but for structural and fixed. Kept in the file."""
    vectors: VectorForm = "int8"
    """How embeddings are kept: a byte per dimension (int8), or four (float32), which makes a file
    twice as large and finds the same passages; kept in the file."""
    window_sentences: Annotated[int, Limits(ge=0)] = 3
    """Sentences before and after a matched one that are returned with it (sentence-window)."""
    section_tokens: Annotated[int, Limits(ge=1)] = 1_000
    """Most tokens of a section that is returned for a matched part of it (parent-child)."""
    max_file_bytes: Annotated[int, Limits(ge=1)] = 50_000_000
    """Larger files are skipped, with a message."""
    reader_seconds: Annotated[int, Limits(ge=1)] = 120
    """Longest time that reading one file may take, or each page of it that is read from its
    picture; then it is skipped."""
    reader_memory_bytes: Annotated[int, Limits(ge=100_000_000)] = 1_000_000_000
    """Most memory that a process which reads files may take, where the system can limit it."""
    glossary: bool = True
    """Whether a search also looks for what the glossary says of the query's words: abbreviations
    that documents explain, and those that the user added."""
    spelling: bool = True
    """Whether a search also looks for the nearest words of a word that no document has."""
    retrieve_k: Annotated[int, Limits(ge=1, le=4_096)] = 50
    """Candidates of each retrieval method."""
    vector_matrix_from: Annotated[int, Limits(ge=1)] = 5_000
    """Chunks from which a process that searches more than once keeps the vectors in memory, in a
    coded form that finds the nearest sooner."""
    vector_memory_bytes: Annotated[int, Limits(ge=0)] = 1_000_000_000
    """Most memory that they may take, about 450 bytes per chunk; a base that needs more is searched
    on the disk."""
    rrf_k: Annotated[int, Limits(ge=1)] = 60
    """Constant of reciprocal rank fusion."""
    rerank_top: Annotated[int, Limits(ge=1, le=1_000)] = 30
    """Candidates that the cross-encoder reads, unless it is sure earlier."""
    rerank_first: Annotated[int, Limits(ge=1, le=1_000)] = 10
    """Candidates that it reads in any case, and half as many again as results are wanted."""
    rerank_sure: Annotated[float, Limits(ge=0.0, le=1.0)] = 0.5
    """Where one of those has a higher probability, the others are not read; 1 to read all."""
    rerank_again: Annotated[int, Limits(ge=0, le=1_000)] = 10
    """Best ones that it then reads a second time, in windows; 0 for none."""
    passage_tokens: Annotated[int, Limits(ge=1)] = 2_000
    """Most tokens of the passages that an answer is taken from."""
    answer_passages: Annotated[int, Limits(ge=1)] = 5
    """Passages that an answer is taken from."""
    answer_neighbours: Annotated[int, Limits(ge=0)] = 1
    """Chunks before and after a matched one that the answer may use."""
    answer_sentences: Annotated[int, Limits(ge=1)] = 3
    """Most sentences of an extractive answer."""
    min_relevance: Annotated[float, Limits(ge=0.0, le=1.0)] = 0.2
    """An answer needs a passage of at least this probability; below it nothing was found."""
    keep_traces: bool = True
    """Whether each query's trace is written to the file."""

    def __new__(cls, **values: object) -> Self:
        """Note which settings are given, before the others get their defaults."""
        settings = super().__new__(cls)
        object.__setattr__(settings, "given", frozenset(values))
        return settings

    def __post_init__(self) -> None:
        """Fill in the sizes that fit the way of cutting, and check what is not the default."""
        problems = []
        if self.chunk_tokens is FITTING:
            object.__setattr__(self, "chunk_tokens", CHUNK_TOKENS.get(str(self.chunking), 100))
        if self.overlap_tokens is FITTING:
            object.__setattr__(self, "overlap_tokens", self._fitting_overlap())
        for name in self._changed():
            try:
                checked(getattr(self, name), setting_kinds()[name])
            except InvalidValueError as error:
                problems.append(f"{name}: {error}")
        if not problems and self.overlap_tokens > self.chunk_tokens // 2:
            problems.append("settings: overlap_tokens must be at most half of chunk_tokens")
        if not problems and self.overlap_tokens and self.chunking not in OVERLAPPING:
            problems.append(
                f"settings: {self.chunking} chunks do not overlap: leave overlap_tokens out"
            )
        if problems:
            raise _refused(problems)

    def _changed(self) -> list[str]:
        """Return the names of all settings that are not the defaults, which need no check."""
        sizes = {"chunk_tokens": CHUNK_TOKENS["structural"], "overlap_tokens": OVERLAP_TOKENS}
        return [
            one.name
            for one in fields(self)
            if one.init and not _same(getattr(self, one.name), sizes.get(one.name, one.default))
        ]

    def _fitting_overlap(self) -> int:
        overlaps = self.chunking in OVERLAPPING and isinstance(self.chunk_tokens, int)
        return min(OVERLAP_TOKENS, self.chunk_tokens // 2) if overlaps else 0


def _same(value: object, default: object) -> bool:
    return type(value) is type(default) and value == default  # 1 is not True


@cache
def setting_kinds() -> dict[str, Any]:
    """Return what each setting may be, by its name, as its annotation says."""
    kinds = get_type_hints(Settings, include_extras=True)
    return {one.name: kinds[one.name] for one in fields(Settings) if one.init}


def make_settings(**values: Any) -> Settings:  # noqa: ANN401 - checked here
    """Return settings with some values changed.

    Raises:
        SettingsError: a name is unknown or a value is out of range.
    """
    unknown = [f"{name}: there is no such setting" for name in values.keys() - setting_kinds()]
    if unknown:
        raise _refused(sorted(unknown))
    return Settings(**values)


def _refused(problems: list[str]) -> SettingsError:
    return SettingsError(f"{'; '.join(problems)}. See docs/settings.md for the allowed values.")
