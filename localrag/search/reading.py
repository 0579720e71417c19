"""What the cross-encoder reads of a chunk: each row of a table with the names of its columns.

A row that stands far below its header says little to a model that reads prose, and most rows of a
long table say nothing about the query. This is only what is read: hits and citations are slices of
the document.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from localrag.records import passage_text
from localrag.text.analysis import analyse
from localrag.text.rows import cells_of, header_of, is_row, is_rule, named_row, tabbed_columns

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from localrag.records import StoredChunk

__all__ = ["MOST_ROWS", "as_read"]

MOST_ROWS: Final = 8
"""Rows of a chunk that are read, chosen by the query's words (benchmarks/table_rows.py)."""

_WITH_TABLES: Final = ("table", "mixed")


@dataclass(frozen=True, slots=True)
class _Line:
    text: str
    is_named: bool
    """Whether it is a row, with the names of its columns."""


def as_read(chunk: StoredChunk, query: str, most_rows: int = MOST_ROWS) -> str:
    """Return context and text of a chunk, rows as ``column: cell; column: cell``.

    Of more than `most_rows` rows those are kept that have most of the query's words, in their
    order. A chunk without a table that names its columns is read as it stands.
    """
    if chunk.kind not in _WITH_TABLES:
        return chunk.passage
    lines = list(_lines(chunk.text, header_of(chunk.preamble.splitlines())))
    rows = [line.text for line in lines if line.is_named]
    if not rows:
        return chunk.passage
    kept = _best(rows, query, most_rows)
    shown, row = [], -1
    for line in lines:
        row += line.is_named
        if not line.is_named or row in kept:
            shown.append(line.text)
    return passage_text(chunk.context, "", "\n".join(shown))


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
