"""What the cross-encoder reads of a chunk: rows with the names of their columns, then windows.

A row that stands far below its header says little to a model that reads prose, and most rows of a
long table say nothing about the query. And a small model finds an answer in a few sentences that it
overlooks in many, so the best chunks are read again in windows. This is only what is read: hits and
citations are slices of the document.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import accumulate, pairwise
from math import ceil
from typing import TYPE_CHECKING, Final

from localrag.inference.odds import between
from localrag.records import passage_text
from localrag.text.analysis import analyse
from localrag.text.rows import cells_of, header_of, is_row, is_rule, named_row, tabbed_columns
from localrag.text.windows import even_parts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from localrag.inference.protocols import Reranker
    from localrag.records import StoredChunk

__all__ = ["MOST_ROWS", "OF_WHOLE", "as_read", "read_again", "window_tokens", "windows_of"]

MOST_ROWS: Final = 8
"""Rows of a chunk that are read, chosen by the query's words (benchmarks/table_rows.py)."""

_WITH_TABLES: Final = ("table", "mixed")
OF_WHOLE: Final = 0.25
"""What the whole of a chunk counts beside its best window (docs/decisions.md, 56)."""


@dataclass(frozen=True, slots=True)
class _Line:
    text: str
    is_named: bool
    """Whether it is a row, with the names of its columns."""


def window_tokens(reranker: Reranker) -> int | None:
    """Return how many tokens the windows of a cross-encoder have; None if it reads only once."""
    return getattr(reranker, "window_tokens", None)


def read_again(
    reranker: Reranker,
    query: str,
    chunks: Iterable[StoredChunk],
    probabilities: Mapping[int, float],
    tokens: int,
) -> dict[int, float]:
    """Return the probability that a chunk answers the query after a second, closer look, by id.

    The log-odds are a mean of those of the whole, which `probabilities` tell, and of the best
    window: it counts most what is said in one place, but also what only all of it says. A chunk
    that is not longer than a window has nothing to look closer at, and is left out.

    Raises:
        ModelError: the model fails.
    """
    windows = {chunk.id: windows_of(chunk, query, tokens) for chunk in chunks}
    windows = {id_: parts for id_, parts in windows.items() if len(parts) > 1}
    read = reranker.relevance(query, [part for parts in windows.values() for part in parts])
    scores = [float(score) for score in read]
    ends = accumulate(map(len, windows.values()), initial=0)
    return {
        id_: between(probabilities[id_], max(scores[start:end]), OF_WHOLE)
        for id_, (start, end) in zip(windows, pairwise(ends), strict=True)
    }


def windows_of(chunk: StoredChunk, query: str, tokens: int) -> list[str]:
    """Return the windows of a chunk, of about `tokens` tokens, each below the line of context.

    How many tokens a part of the text has is told by its length: the chunk's own are counted.
    """
    preamble, body = _shown(chunk, query, MOST_ROWS)
    characters = len(chunk.passage)
    wanted = ceil(chunk.tokens * len(body) / characters / tokens) if characters else 1
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
