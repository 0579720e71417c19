"""What of a passage could be an answer: its sentences, and the rows of its tables.

A row means nothing without the names of its columns, so it is read, and given as an answer, as
``key: max_retry_count; default: 5``. What is cited is always the document's own text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from localrag.records import passage_text
from localrag.text.rows import (
    cells_of,
    header_of,
    is_piped,
    is_row,
    is_rule,
    line_of,
    named_row,
    names_columns,
    rows_below,
)
from localrag.text.sentences import sentence_spans

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from localrag.records import Passage, StoredChunk

__all__ = ["Statement", "statements_of"]

_FENCE = ("```", "~~~")

_MARKUP = re.compile(
    r"(?>(?:</?[A-Za-z][\w-]*(?:\s[^<>]*)?/?>|<!--.*?-->|\{\{.*?\}\}|\{%.*?%\}|\s)*)", re.DOTALL
)
"""Tags, comments and placeholders of templates: an address in angle brackets is none of these.
Atomic, since each placeholder could otherwise end at any later one: twice the time for each."""

_QUOTED = re.compile(r"^[ \t]*>[> \t]*", re.MULTILINE)
"""The mark of a quotation, before each of its lines."""

_ENDS = (".", "!", "?", ":", "。", "！", "？", "：", "…")  # noqa: RUF001 - full-width ones


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
    before: str = ""
    """The sentence before, on one line; empty where none is, after headings and rows, for rows."""

    @property
    def passage(self) -> str:
        """What the cross-encoder reads: a sentence means little without its headings."""
        return passage_text(self.chunk.context, "", self.shown)

    @property
    def passage_with_before(self) -> str:
        """The same after the sentence before: who "it" is, and what "then" follows."""
        said = f"{self.before} {self.shown}" if self.before else self.shown
        return passage_text(self.chunk.context, "", said)


def statements_of(passage: Passage) -> list[Statement]:
    """Return the statements of a passage, in order; headings, rules, fences and tags are none.

    The passage is read as one text: a sentence that runs over the end of a chunk stays whole.
    """
    return list(_statements(passage))


def _statements(passage: Passage) -> Iterator[Statement]:
    spans = _with_quotations(passage.text, sentence_spans(passage.text))
    columns: list[str] = []
    said = ""
    for (_, before), (start, stop), (after, end) in zip(
        [(0, 0), *spans], spans, [*spans[1:], (0, 0)], strict=False
    ):
        text = passage.text[start:stop]
        # The first and the last cell of a row with tabs may be empty: its line tells.
        row = text if is_piped(text) else line_of(passage.text, start)
        if not is_row(text) or "\n\n" in passage.text[before:start]:
            columns = []
        if is_row(text) and (
            is_rule(passage.text[after:end])
            or (not columns and names_columns(row, rows_below(passage.text, stop)))
        ):
            columns = cells_of(row)
            continue
        if _says_nothing(text):
            said = ""
            continue
        chunk = _chunk_at(passage, passage.start + start)
        names = columns or header_of(chunk.preamble.splitlines())
        where = passage.start + start, passage.start + stop
        if is_row(text):
            said = ""
            yield Statement(chunk, *where, text, named_row(row, names))
        else:
            shown = " ".join(_unquoted(text).split())
            yield Statement(chunk, *where, text, shown, said)
            said = shown


def _with_quotations(text: str, spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return spans in which a sentence of a quotation runs over the ends of its lines."""
    found: list[tuple[int, int]] = []
    for start, end in spans:
        if found and text.startswith(">", start):
            first, last = found[-1]
            line = text.rfind("\n", 0, first) + 1
            follows = text[last:start].strip(" \t") == "\n" and _QUOTED.match(text, line)
            if follows and not text[first:last].endswith(_ENDS) and text[last - 1] != ">":
                found[-1] = (first, end)
                continue
        found.append((start, end))
    return found


def _unquoted(text: str) -> str:
    return _QUOTED.sub("", text) if ">" in text else text


def _chunk_at(passage: Passage, position: int) -> StoredChunk:
    """Return the matched chunk that holds a character, or else the first chunk that does."""
    holding = [chunk for chunk in passage.chunks if chunk.start <= position < chunk.end]
    return next((chunk for chunk in holding if chunk.id in passage.matched), holding[0])


def _says_nothing(text: str) -> bool:
    said = _unquoted(text)
    return said.startswith(("#", *_FENCE)) or is_rule(text) or bool(_MARKUP.fullmatch(said))
