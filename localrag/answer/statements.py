"""What of a passage could be an answer: its sentences, and the rows of its tables.

A row means nothing without the names of its columns, so it is read, and given as an answer, as
``key: max_retry_count; default: 5``. What is cited is always the document's own text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from localrag.text.sentences import sentence_spans

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from localrag.records import Passage, StoredChunk

__all__ = ["Statement", "statements_of"]

_RULE = re.compile(r"\|?[ \t]*:?-{1,}:?[ \t]*(\|[ \t]*:?-{1,}:?[ \t]*)*\|?")
"""The line under a table's header."""
_CELL_MARK = re.compile(r"(?<!\\)\|")
_FENCE = ("```", "~~~")


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence or a table row of a passage, with the chunk it stands in."""

    chunk: StoredChunk
    start: int
    """First character in the document's text."""
    end: int
    text: str
    """The document's text from `start` to `end`; a blank between two chunks may be a line break."""
    shown: str
    """The same on one line; a table row with the names of its columns."""

    @property
    def passage(self) -> str:
        """What the cross-encoder reads: a sentence means little without its headings."""
        return f"{self.chunk.context}\n{self.shown}" if self.chunk.context else self.shown


def statements_of(passage: Passage) -> list[Statement]:
    """Return the statements of a passage, in order; headings, rules and fences are none.

    The passage is read as one text: a sentence that runs over the end of a chunk stays whole.
    """
    return list(_statements(passage))


def _statements(passage: Passage) -> Iterator[Statement]:
    spans = sentence_spans(passage.text)
    texts = [passage.text[start:stop] for start, stop in spans]
    columns: list[str] = []
    for (start, stop), text, following in zip(spans, texts, [*texts[1:], ""], strict=True):
        if not _is_row(text):
            columns = []
        elif _is_rule(following):
            columns = _cells(text)
            continue
        if _says_nothing(text):
            continue
        chunk = _chunk_at(passage, passage.start + start)
        names = columns or _columns(chunk.preamble.splitlines())
        shown = _named(text, names) if _is_row(text) else " ".join(text.split())
        yield Statement(chunk, passage.start + start, passage.start + stop, text, shown)


def _chunk_at(passage: Passage, position: int) -> StoredChunk:
    """Return the matched chunk that holds a character, or else the first chunk that does."""
    holding = [chunk for chunk in passage.chunks if chunk.start <= position < chunk.end]
    return next((chunk for chunk in holding if chunk.id in passage.matched), holding[0])


def _says_nothing(text: str) -> bool:
    return text.startswith(("#", *_FENCE)) or _is_rule(text)


def _is_row(text: str) -> bool:
    return text.startswith("|") and "\n" not in text.strip()


def _is_rule(text: str) -> bool:
    return "-" in text and _RULE.fullmatch(text.strip()) is not None


def _columns(header: Sequence[str]) -> list[str]:
    return _cells(header[0]) if header and _is_row(header[0]) else []


def _cells(row: str) -> list[str]:
    return [cell.strip() for cell in _CELL_MARK.split(row.strip().strip("|"))]


def _named(row: str, columns: Sequence[str]) -> str:
    """Return a row as ``column: cell; column: cell``; as it stands where the columns differ."""
    cells = _cells(row)
    if len(cells) != len(columns):
        return " ".join(row.split())
    pairs = zip(columns, cells, strict=True)
    return "; ".join(f"{column}: {cell}" if column else cell for column, cell in pairs if cell)
