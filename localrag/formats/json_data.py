"""JSON and JSON Lines: records of ``path: value`` lines, each with its line in the file."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from localrag.formats.as_written import as_written
from localrag.formats.assembly import Assembly
from localrag.formats.data_tree import Leaf, Tree, add_records, name_of
from localrag.formats.encoding import decode
from localrag.formats.json_scanner import JSONSyntaxError, scan_json
from localrag.formats.spans import stem_of

if TYPE_CHECKING:
    from localrag.records import Document

__all__ = ["JSON", "JSON_LINES", "read_json", "read_json_lines"]

JSON: Final = "application/json"
JSON_LINES: Final = "application/x-ndjson"

_COMMENT: Final = re.compile(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|/\*.*?\*/', re.DOTALL)
_TRAILING: Final = re.compile(r",(?=\s*[}\]])")


def read_json(data: bytes, uri: str) -> Document:
    """Return the records in `data`; as written, with the reason in the metadata, if it is broken.

    Raises:
        ReadError: it is not text, or its encoding is not known.
    """
    source = decode(data)
    try:
        tree = _scanned(source)
    except JSONSyntaxError as error:
        if len(source.strip().split("\n")) > 1 and source.lstrip().startswith("{"):
            lines = read_json_lines(data, uri)
            if "parse_error" not in lines.metadata:
                return lines
        return as_written(source, uri, JSON, {"parse_error": str(error)})
    assembly = Assembly()
    add_records(assembly, tree)
    return assembly.build(name_of(tree) or stem_of(uri), JSON)


def _scanned(source: str) -> Tree | Leaf:
    try:
        return scan_json(source)
    except JSONSyntaxError:
        # Settings of editors and compilers have comments and commas too many. Blanks in their
        # place keep the lines.
        return scan_json(_TRAILING.sub(" ", _COMMENT.sub(_blanked, source)))


def _blanked(found: re.Match[str]) -> str:
    return found[0] if found[0].startswith('"') else re.sub(r"[^\n]", " ", found[0])


def read_json_lines(data: bytes, uri: str) -> Document:
    """Return one record for each line of `data`; a line that is broken stays as it is written.

    Raises:
        ReadError: it is not text, or its encoding is not known.
    """
    source = decode(data)
    assembly = Assembly()
    errors: list[str] = []
    for number, line in enumerate(source.split("\n"), 1):
        if not line.strip():
            continue
        try:
            add_records(assembly, scan_json(line, line=number))
        except JSONSyntaxError as error:
            errors.append(str(error))
            assembly.add("code", line.strip(), (number,))
    metadata = {"parse_error": errors[0]} if errors else {}
    return assembly.build(stem_of(uri), JSON_LINES, metadata)
