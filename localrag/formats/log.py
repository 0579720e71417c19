"""Logs: an entry is a line with what belongs to it, such as the stack trace of an error."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from localrag.formats.encoding import decode
from localrag.formats.line_document import Lines
from localrag.formats.spans import stem_of

if TYPE_CHECKING:
    from localrag.records import Document

__all__ = ["MEDIA_TYPE", "read_log"]

MEDIA_TYPE: Final = "text/x-log"

_CONTINUES: Final = re.compile(r"\s|Caused by:|Traceback |[\w.]+(?:Error|Exception)\b|\}|\)|\]")
_COLORS_IN_BYTES: Final = re.compile(rb"\x1b\[[0-9;]*[A-Za-z]")
_MOST_LINES = 200


def read_log(data: bytes, uri: str) -> Document:
    """Return the document in `data`: each entry is a block, and is never parted from its lines.

    Raises:
        ReadError: it is not text, or its encoding is not known.
    """
    lines = Lines(decode(_COLORS_IN_BYTES.sub(b"", data)))
    first = 0
    for row in range(1, len(lines) + 1):
        end = row == len(lines)
        if end or not _continues(lines, row) or row - first >= _MOST_LINES:
            if not lines.is_blank(first):
                lines.add("code", first, row)
            first = row
    return lines.document(stem_of(uri), MEDIA_TYPE)


def _continues(lines: Lines, row: int) -> bool:
    line = lines.line(row)
    return bool(line.strip()) and not lines.is_blank(row - 1) and bool(_CONTINUES.match(line))
