"""Source code: the file as written, cut at its functions and classes, which are its headings."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from localrag.formats.as_written import add_code
from localrag.formats.code_languages import MEDIA_TYPE, language_of
from localrag.formats.code_lines import definitions_by_lines
from localrag.formats.code_python import definitions_of_python
from localrag.formats.code_tree_sitter import definitions_by_tree_sitter
from localrag.formats.encoding import decode
from localrag.formats.line_document import Lines

if TYPE_CHECKING:
    from localrag.formats.code_definitions import Definition
    from localrag.records import Document

__all__ = ["read_source_code"]

_CLOSES: Final = re.compile(r"\s*(?:[})\];,]+|end|\#\s*(?:endif|else)\b.*)\s*(?://.*)?")


def read_source_code(data: bytes, uri: str) -> Document:
    """Return the document in `data`: titled by folder and name, with the language as metadata.

    Python is parsed by `ast`, other languages by tree-sitter where the extra ``localrag[code]`` is
    installed, and by keywords and indentation otherwise.

    Raises:
        ReadError: it is not text, or its encoding is not known.
    """
    lines = Lines(decode(data))
    language = language_of(uri, lines.source)
    _add(lines, _definitions(lines, language))
    metadata = {"programming_language": language} if language else {}
    return lines.document(_title(uri), MEDIA_TYPE, metadata)


def _title(uri: str) -> str:
    """Return the name with its folder: half of all modules are called ``index`` or ``__init__``."""
    parts = [part for part in uri.replace("\\", "/").split("/") if part not in ("", ".", "..")]
    return "/".join(parts[-2:])


def _definitions(lines: Lines, language: str) -> list[Definition]:
    if language == "python":
        parsed = definitions_of_python(lines.source, lines.lines)
    else:
        parsed = definitions_by_tree_sitter(lines.source, lines.lines, language)
    return parsed if parsed is not None else definitions_by_lines(lines.lines, language)


def _add(lines: Lines, definitions: list[Definition]) -> None:
    """Note a heading where each definition begins, and code below it.

    After its end the code belongs to what encloses it again: a heading without a name says so.
    """
    enclosing: list[Definition] = []
    row = 0
    for definition in definitions:
        if definition.first < row or (enclosing and definition.first == enclosing[-1].first):
            continue
        row = _close(lines, enclosing, row, definition.first)
        add_code(lines, row, definition.first)
        enclosing.append(definition)
        _head(lines, definition.first, definition.name, len(enclosing))
        row = definition.first + 1
    row = _close(lines, enclosing, row, len(lines))
    add_code(lines, row, len(lines))


def _close(lines: Lines, enclosing: list[Definition], row: int, until: int) -> int:
    """Add what is left of the definitions that end before line `until`; return the next line."""
    while enclosing and enclosing[-1].end <= until:
        end = max(row, enclosing[-1].end)
        while end < until and _CLOSES.fullmatch(lines.line(end)):
            end += 1
        add_code(lines, row, end)
        enclosing.pop()
        row = end
        while row < until and lines.is_blank(row):
            row += 1
        ends_too = enclosing and enclosing[-1].end <= row
        if row < until and not ends_too:
            _head(lines, row, "", len(enclosing) + 1)
            row += 1
    return row


def _head(lines: Lines, row: int, name: str, depth: int) -> None:
    lines.add_heading(row, row + 1, name, depth)
