"""What the cross-encoder reads of a chunk: windows, and rows with the names of their columns.

A small model finds an answer in a few sentences and overlooks it in many, so a chunk is read in
windows, and answers as likely as the best of them. A row that stands far below its header says
little to a model that reads prose, and most rows of a long table say nothing about the query. This
is only what is read: hits and citations are slices of the document.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import accumulate, pairwise
from math import ceil
from typing import TYPE_CHECKING, Final

from localrag.records import passage_text
from localrag.text.analysis import analyse
from localrag.text.rows import cells_of, header_of, is_row, is_rule, named_row, tabbed_columns
from localrag.text.windows import even_parts

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from localrag.inference.protocols import Reranker
    from localrag.records import StoredChunk

__all__ = ["MOST_ROWS", "as_read", "relevance", "window_tokens", "windows_of"]

MOST_ROWS: Final = 8
"""Rows of a chunk that are read, chosen by the query's words (benchmarks/table_rows.py)."""

_WITH_TABLES: Final = ("table", "mixed")


@dataclass(frozen=True, slots=True)
class _Line:
    text: str
    is_named: bool
    """Whether it is a row, with the names of its columns."""


def window_tokens(reranker: Reranker) -> int | None:
    """Return how many tokens of a chunk a cross-encoder is to be shown at once; None for all."""
    return getattr(reranker, "window_tokens", None)


def relevance(
    reranker: Reranker, query: str, chunks: Sequence[StoredChunk], tokens: int | None
) -> list[float]:
    """Return the probability that each chunk answers the query: that of its likeliest window.

    Windows have about `tokens` tokens; see `windows_of`.

    Raises:
        ModelError: the model fails.
        RemoteError: a remote one cannot be asked.
    """
    windows = [windows_of(chunk, query, tokens) for chunk in chunks]
    read = reranker.relevance(query, [window for of_chunk in windows for window in of_chunk])
    scores = [float(score) for score in read]
    ends = accumulate(map(len, windows), initial=0)
    return [max(scores[start:end]) for start, end in pairwise(ends)]


def windows_of(chunk: StoredChunk, query: str, tokens: int | None) -> list[str]:
    """Return what is read of a chunk: windows of about `tokens` tokens, each below the context.

    Without `tokens` all of it is one. How many tokens a part of the text has is told by its length:
    the chunk's own are counted.
    """
    preamble, body = _shown(chunk, query, MOST_ROWS)
    characters = len(chunk.passage)
    wanted = ceil(chunk.tokens * len(body) / characters / tokens) if tokens and characters else 1
    parts = even_parts(body, wanted, by_lines=chunk.kind == "code")
    return [passage_text(chunk.context, preamble, part.strip("\n")) for part in parts]


def as_read(chunk: StoredChunk, query: str, most_rows: int = MOST_ROWS) -> str:
    """Return context and text of a chunk, rows as ``column: cell; column: cell``.

    Of more than `most_rows` rows those are kept that have most of the query's words, in their
    order. A chunk without a table that names its columns is read as it stands.
    """
    return passage_text(chunk.context, *_shown(chunk, query, most_rows))


def _shown(chunk: StoredChunk, query: str, most_rows: int) -> tuple[str, str]:
    """Return what is read between the line of context and the text, and the text."""
    if chunk.kind not in _WITH_TABLES:
        return chunk.preamble, chunk.text
    lines = list(_lines(chunk.text, header_of(chunk.preamble.splitlines())))
    rows = [line.text for line in lines if line.is_named]
    if not rows:
        return chunk.preamble, chunk.text
    kept = _best(rows, query, most_rows)
    shown, row = [], -1
    for line in lines:
        row += line.is_named
        if not line.is_named or row in kept:
            shown.append(line.text)
    return "", "\n".join(shown)


def _lines(text: str, columns: Sequence[str]) -> Iterator[_Line]:
    """Yield the lines of a text without the headers of its tables; `columns` are known above it."""
    lines = text.split("\n")
    for at, line in enumerate(lines):
        if not is_row(line):
            columns = () if line.strip() else columns
            yield _Line(line, is_named=False)
        elif at + 1 < len(lines) and is_rule(lines[at + 1]):
            columns = cells_of(line)
        elif not columns and (named := tabbed_columns(line, lines[at + 1 :])):
            columns = named
        elif not is_rule(line):
            fits = len(cells_of(line)) == len(columns)
            yield _Line(named_row(line, columns) if fits else line, is_named=fits)


def _best(rows: Sequence[str], query: str, most: int) -> frozenset[int]:
    """Return the rows that have most of the query's words; a word that many rows have counts less.

    Of equal rows the first are kept.
    """
    if len(rows) <= most:
        return frozenset(range(len(rows)))
    wanted = set(analyse(query))
    found = [wanted & set(analyse(row)) for row in rows]
    having = Counter(word for words in found for word in words)
    weights = [sum(1 / having[word] for word in words) for words in found]
    order = sorted(range(len(rows)), key=lambda row: -weights[row])
    return frozenset(order[:most])
