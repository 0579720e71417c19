"""How large the chunks of a base are, and what about them is worth a look.

Means hide what goes wrong: a handful of chunks of three words, a table of 500 tokens, a document
that is one block. Each finding names examples and says what to do.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from localrag.config import Settings
    from localrag.inference.protocols import TokenCounter
    from localrag.records import ChunkSize

__all__ = ["ChunkFinding", "ChunkStatistics", "statistics_of"]

BOUNDS: Final = (16, 32, 64, 96, 128, 192, 256, 320, 384, 448, 512)
"""Upper ends of the histogram's classes, in tokens; one more class holds what is longer."""

TINY_TOKENS: Final = 5
LONG_TIMES: Final = 1.5
"""A chunk of so many times the wanted size is long."""
MUCH_OVERLAP: Final = 0.25
MUCH_CONTEXT: Final = 0.3
TINY_CHARACTERS: Final = 60
"""A text of more characters has more than five tokens, and is not counted again."""
EXAMPLES: Final = 3


@dataclass(frozen=True, slots=True)
class ChunkFinding:
    """Something that is worth a look."""

    problem: str
    """Such as ``"tiny chunks"``."""
    count: int
    """Chunks or documents that have it."""
    examples: tuple[str, ...]
    """Where: ``document, chunk 3: text``."""
    advice: str


@dataclass(frozen=True, slots=True)
class ChunkStatistics:
    """The sizes of all chunks; tokens with context and repeated headers."""

    documents: int
    chunks: int
    tokens: int
    smallest: int
    median: int
    largest: int
    histogram: tuple[tuple[int | None, int], ...]
    """(most tokens of the class, chunks in it); None for what is longer than all classes."""
    kinds: Mapping[str, int]
    """Chunks by kind, most first."""
    overlap: float
    """Share of the characters that a chunk repeats of the one before."""
    context: float
    """Share of the characters that are lines of context."""
    findings: tuple[ChunkFinding, ...]


@dataclass(slots=True)
class _Tally:
    """What one pass over the chunks collects."""

    tokens: list[int] = field(default_factory=list)
    kinds: Counter[str] = field(default_factory=Counter)
    characters: int = 0
    repeated: int = 0
    context: int = 0
    documents: int = 0
    found: defaultdict[str, list[str]] = field(default_factory=lambda: defaultdict(list))

    def add(self, chunks: Sequence[ChunkSize], counter: TokenCounter, settings: Settings) -> None:
        """Take in the chunks of one document."""
        self.documents += 1
        self.repeated += sum(max(0, a.end - b.start) for a, b in pairwise(chunks))
        for chunk in chunks:
            self.tokens.append(chunk.tokens)
            self.kinds[chunk.kind] += 1
            self.characters += chunk.end - chunk.start + chunk.context_characters
            self.context += chunk.context_characters
            for problem in _problems(chunk, counter, settings):
                self.found[problem].append(_place(chunk))
        if len(chunks) == 1 and chunks[0].tokens > settings.chunk_tokens * LONG_TIMES:
            self.found["single"].append(chunks[0].document)


def statistics_of(
    chunks: Iterable[ChunkSize], counter: TokenCounter, settings: Settings
) -> ChunkStatistics:
    """Return the statistics of chunks that come document by document, in order."""
    tally = _Tally()
    document: list[ChunkSize] = []
    for chunk in chunks:
        if document and document[-1].document != chunk.document:
            tally.add(document, counter, settings)
            document = []
        document.append(chunk)
    if document:
        tally.add(document, counter, settings)
    ordered = sorted(tally.tokens) or [0]
    overlap = tally.repeated / max(1, tally.characters - tally.context)
    context = tally.context / max(1, tally.characters)
    return ChunkStatistics(
        documents=tally.documents,
        chunks=len(tally.tokens),
        tokens=sum(tally.tokens),
        smallest=ordered[0],
        median=ordered[len(ordered) // 2],
        largest=ordered[-1],
        histogram=_histogram(tally.tokens),
        kinds=dict(tally.kinds.most_common()),
        overlap=overlap,
        context=context,
        findings=tuple(_findings(tally.found, overlap, context, settings)),
    )


def _problems(chunk: ChunkSize, counter: TokenCounter, settings: Settings) -> Iterable[str]:
    short = chunk.end - chunk.start <= TINY_CHARACTERS and not chunk.has_preamble
    if short and counter.count(chunk.text) <= TINY_TOKENS:
        yield "tiny"
    if chunk.has_preamble:
        yield "cut"
    elif chunk.tokens > settings.chunk_tokens * LONG_TIMES:
        yield "long"


def _place(chunk: ChunkSize) -> str:
    return f"{chunk.document}, chunk {chunk.ordinal}: {' '.join(chunk.text[:60].split())}"


def _histogram(tokens: Iterable[int]) -> tuple[tuple[int | None, int], ...]:
    classes = Counter(next((most for most in BOUNDS if size <= most), None) for size in tokens)
    return tuple((most, classes[most]) for most in (*BOUNDS, None))


def _findings(
    found: Mapping[str, list[str]], overlap: float, context: float, settings: Settings
) -> Iterable[ChunkFinding]:
    for key, (problem, advice) in _ADVICE.items():
        if places := found.get(key):
            yield ChunkFinding(problem, len(places), tuple(places[:EXAMPLES]), advice)
    if overlap > MUCH_OVERLAP:
        yield ChunkFinding(
            f"{overlap:.0%} of the text is overlap",
            1,
            (),
            f"Every search reads it twice. Index into a new file with --overlap-tokens "
            f"{settings.overlap_tokens // 2}.",
        )
    if context > MUCH_CONTEXT:
        yield ChunkFinding(
            f"{context:.0%} of the text is lines of context",
            1,
            (),
            "Chunks are small beside their headings. Index into a new file with larger "
            "--chunk-tokens, or with --context-line title.",
        )


_ADVICE: Final = {
    "tiny": (
        f"chunks of {TINY_TOKENS} tokens or fewer",
        (
            "They rank by chance. Most are headings without text, or what a page repeats: take "
            "them out of the source where they say nothing."
        ),
    ),
    "long": (
        f"chunks longer than {LONG_TIMES} times --chunk-tokens",
        (
            "They are tables or code, kept whole as long as the model can read them. Tables of "
            "many rows are found better with --chunking record."
        ),
    ),
    "cut": (
        "parts of a table or of code that the model cannot read whole",
        (
            "Each repeats the header or the signature. Tables of many rows are found better with "
            "--chunking record."
        ),
    ),
    "single": (
        "documents that are one long chunk",
        (
            "Their reader found no structure: look at one with localrag chunks FILE, and give it "
            "headings or blank lines."
        ),
    ),
}
