"""CSV and TSV files: every row stays with the names of its columns.

Encoding, delimiter and header are found by looking. A row is one line of a table, or a record where
cells hold whole texts; its line is that of the file, although cells may hold line breaks.
"""

from __future__ import annotations

import csv
from collections import Counter
from typing import TYPE_CHECKING, Literal

from localrag.formats.builder import DocumentBuilder
from localrag.formats.encoding import decode
from localrag.formats.grids import Row, parts_of
from localrag.formats.spans import stem_of
from localrag.formats.tables import add_rows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from localrag.formats.grids import Part
    from localrag.records import Document

__all__ = ["MEDIA_TYPE", "add_part", "read_delimited"]

MEDIA_TYPE = "text/csv"

_DELIMITERS = ",\t;|"
_SAMPLE = 200_000
_SAMPLE_LINES = 200
_UNCLOSED_QUOTE = 100_000
"""Characters of a field above which its opening quote was no quote."""


def read_delimited(data: bytes, uri: str) -> Document:
    """Return the rows in `data` as tables or records.

    Raises:
        ReadError: it is not text, or its encoding is not known.
    """
    text = decode(data)
    delimiter = _delimiter(text, uri)
    builder = DocumentBuilder()
    for part in parts_of(_rows(text, delimiter)):
        add_part(builder, part)
    return builder.build(stem_of(uri), MEDIA_TYPE)


def add_part(builder: DocumentBuilder, part: Part, page: int | None = None) -> None:
    """Add a part of a grid: a table with its header, or lines of text."""
    if not part.is_table:
        for row in part.rows:
            cells = " ".join(cell.strip() for cell in row.cells if cell.strip())
            builder.record([cells.replace("\n", " ")], page=page, line=row.line)
        return
    header = [part.header] if part.header else []
    rows = [*header, *(row.cells for row in part.rows)]
    lines = [*([part.header_line] if header else []), *(row.line for row in part.rows)]
    add_rows(builder, rows, header=bool(header), page=page, lines=lines, keys=True)


def _rows(text: str, delimiter: str) -> list[Row]:
    """Return the rows that are not blank; a quote that is never closed is an ordinary character."""
    try:
        rows = list(_parsed(text, delimiter, csv.QUOTE_MINIMAL))
    except csv.Error:
        return list(_parsed(text, delimiter, csv.QUOTE_NONE))
    if any(len(cell) > _UNCLOSED_QUOTE for row in rows for cell in row.cells):
        return list(_parsed(text, delimiter, csv.QUOTE_NONE))
    return rows


def _parsed(text: str, delimiter: str, quoting: Literal[0, 3]) -> Iterator[Row]:
    lines = text.split("\n")
    if quoting == csv.QUOTE_NONE:
        # A line longer than the module reads as one field is no row of a table.
        most = csv.field_size_limit()
        lines = [line[at : at + most] for line in lines for at in range(0, len(line) or 1, most)]
    reader = csv.reader(
        (f"{line}\n" for line in lines), delimiter=delimiter, quoting=quoting, skipinitialspace=True
    )
    number, line = 0, 1
    for cells in reader:
        if any(cell.strip() for cell in cells):
            number += 1
            yield Row(number, tuple(cell.strip() for cell in cells), line)
        line = reader.line_num + 1


def _delimiter(text: str, uri: str) -> str:
    """Return the delimiter that parts most rows into the same number of cells, above one."""
    candidates = sorted(_DELIMITERS, key=lambda one: one != "\t") if _is_tsv(uri) else _DELIMITERS
    sample = "\n".join(text[:_SAMPLE].split("\n")[:_SAMPLE_LINES])
    return max(candidates, key=lambda one: _evenness(sample, one))


def _is_tsv(uri: str) -> bool:
    return uri.lower().endswith((".tsv", ".tab"))


def _evenness(sample: str, delimiter: str) -> tuple[float, int]:
    widths = Counter(len(row.cells) for row in _rows(sample, delimiter))
    (width, rows), *_ = widths.most_common(1) or [(1, 0)]
    return (rows / widths.total(), width) if width > 1 else (0.0, 0)
