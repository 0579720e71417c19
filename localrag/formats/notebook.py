"""Jupyter notebooks: Markdown cells, code cells, and the beginning of what the code wrote."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final

from localrag.errors import ReadError
from localrag.formats.assembly import Assembly
from localrag.formats.encoding import decode
from localrag.formats.markdown import read_markdown
from localrag.formats.spans import stem_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from localrag.records import Document

__all__ = ["MEDIA_TYPE", "read_notebook"]

MEDIA_TYPE: Final = "application/x-ipynb+json"

_OUTPUT_CHARACTERS = 1_000
"""Of all outputs of one cell: what a reader sees at a glance."""
_COLORS: Final = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_BLOB: Final = re.compile(r"[A-Za-z0-9+/=]{200,}")
_OBJECT: Final = re.compile(r"<[^<>\n]*(?: at 0x[0-9A-Fa-f]+| with \d+ Axes)>")
"""What stands in the place of a picture."""
_DATA_URI: Final = re.compile(r"(data:[\w/+.-]+;base64,)[A-Za-z0-9+/=\s]{40,}")


def read_notebook(data: bytes, uri: str) -> Document:
    """Return the document in `data`: headings come from the Markdown cells.

    Raises:
        ReadError: it is not text, or ``"damaged"`` where it is no notebook.
    """
    notebook = _loaded(data)
    language = _language(notebook)
    assembly = Assembly()
    for cell in _cells(notebook):
        source = _text(cell.get("source", cell.get("input", "")))
        match cell.get("cell_type"):
            case "markdown" | "heading":
                assembly.embed(_markdown(cell, source))
            case "code":
                assembly.code(source, language)
                _add_output(assembly, cell)
            case _:
                assembly.add("paragraph", source)
    metadata = {"programming_language": language} if language else {}
    return assembly.build(assembly.title or stem_of(uri), MEDIA_TYPE, metadata)


def _loaded(data: bytes) -> dict[str, Any]:
    try:
        notebook = json.loads(decode(data))
    except (ValueError, RecursionError) as error:
        raise ReadError("damaged", f"not the JSON of a notebook ({error})") from error
    if not isinstance(notebook, dict):
        raise ReadError("damaged", "not a notebook: its JSON holds no cells")
    return notebook


def _language(notebook: dict[str, Any]) -> str:
    metadata = notebook.get("metadata")
    for key in ("language_info", "kernelspec"):
        info = metadata.get(key) if isinstance(metadata, dict) else None
        name = (
            (info.get("name") if key == "language_info" else info.get("language"))
            if isinstance(info, dict)
            else None
        )
        if isinstance(name, str) and re.fullmatch(r"[\w+#-]{1,20}", name):
            return name
    return ""


def _cells(notebook: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the cells of today's notebooks, or of those before version 4, which had sheets."""
    lists = [notebook.get("cells")]
    sheets = notebook.get("worksheets")
    lists += (
        [one.get("cells") for one in sheets if isinstance(one, dict)]
        if isinstance(sheets, list)
        else []
    )
    if not any(isinstance(cells, list) for cells in lists):
        raise ReadError("damaged", "not a notebook: its JSON holds no cells")
    for cells in lists:
        if isinstance(cells, list):
            yield from (cell for cell in cells if isinstance(cell, dict))


def _text(value: object) -> str:
    """Return text that is a string or a list of lines."""
    if isinstance(value, list):
        value = "".join(line for line in value if isinstance(line, str))
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else ""


def _markdown(cell: dict[str, Any], source: str) -> Document:
    if cell["cell_type"] == "heading":
        level = cell.get("level")
        marks = "######"[: level if isinstance(level, int) and level > 0 else 1]
        source = f"{marks} {source}"
    return read_markdown(_DATA_URI.sub(r"\1…", source).encode(), "")


def _add_output(assembly: Assembly, cell: dict[str, Any]) -> None:
    outputs = cell.get("outputs")
    texts = (
        [_output(one) for one in outputs if isinstance(one, dict)]
        if isinstance(outputs, list)
        else []
    )
    text = _BLOB.sub("…", _COLORS.sub("", "\n".join(filter(None, texts)))).strip("\n")
    if len(text) > _OUTPUT_CHARACTERS:
        text = text[:_OUTPUT_CHARACTERS].rpartition("\n")[0] or text[:_OUTPUT_CHARACTERS]
        text = f"{text}\n…"
    if text.strip():
        assembly.code(text, "output")


def _output(output: dict[str, Any]) -> str:
    """Return the text of one output; pictures and HTML have none, as their text stands beside."""
    if "ename" in output:
        return f"{_text(output.get('ename'))}: {_text(output.get('evalue'))}"
    data = output.get("data")
    if isinstance(data, dict):
        text = _text(data.get("text/markdown", data.get("text/plain", "")))
        return "" if _OBJECT.fullmatch(text.strip()) else text
    return _text(output.get("text", ""))
