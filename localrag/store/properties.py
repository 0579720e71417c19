"""What the user says of whole sources: metadata, access labels, and what a path tells.

It is kept with the source, so that a file that is added or changed later gets the same. What the
file says of itself stays apart from it, so that it can be changed without reading a file again.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, TypeVar

from localrag.errors import SettingsError
from localrag.records import Properties
from localrag.text.globs import named_parts
from localrag.text.values import typed_value

if TYPE_CHECKING:
    from collections.abc import Iterable

    import apsw

T = TypeVar("T")

__all__ = ["assign_below", "assign_properties", "keep_properties", "list_properties"]


def keep_properties(connection: apsw.Connection, path: str, given: Properties) -> None:
    """Keep what is said of the source at `path`; what is None stays as it was.

    Raises:
        SettingsError: a value cannot be written as JSON, or a path pattern is wrong.
    """
    for pattern in given.patterns or ():
        named_parts(pattern, "")
    before = list_properties(connection).get(path, Properties())
    try:
        metadata = json.dumps(
            dict(_given(given.metadata, before.metadata, {})), ensure_ascii=False, allow_nan=False
        )
    except (TypeError, ValueError) as error:
        raise SettingsError(
            f"Metadata must be values that JSON knows ({error}). Give texts, numbers, true, false "
            "or lists of them."
        ) from error
    connection.execute(
        "INSERT INTO source_properties(path, metadata, labels, patterns) VALUES(?, ?, ?, ?) "
        "ON CONFLICT(path) DO UPDATE SET metadata = excluded.metadata, labels = excluded.labels, "
        "patterns = excluded.patterns",
        (
            path,
            # A command line may hold bytes that are no text.
            metadata.encode("utf-8", "replace").decode("utf-8"),
            _json(_given(given.labels, before.labels, ())),
            _json(_given(given.patterns, before.patterns, ())),
        ),
    )


def list_properties(connection: apsw.Connection) -> dict[str, Properties]:
    """Return what was said of each source, outer folders before inner ones."""
    rows = connection.execute(
        "SELECT path, metadata, labels, patterns FROM source_properties ORDER BY length(path), path"
    )
    return {
        str(path): Properties(
            metadata=json.loads(str(metadata)),
            labels=tuple(json.loads(str(labels))),
            patterns=tuple(json.loads(str(patterns))),
        )
        for path, metadata, labels, patterns in rows
    }


def assign_properties(connection: apsw.Connection, document_id: int, uri: str) -> None:
    """Give a document what was said of the sources that it lies in."""
    _assign(connection, list_properties(connection), [(document_id, uri)])


def assign_below(connection: apsw.Connection, path: str) -> None:
    """Give every document of a source what is said of it now."""
    folder = path.rstrip(os.sep) + os.sep
    rows = connection.execute(
        "SELECT id, uri FROM documents WHERE uri = :path OR substr(uri, 1, length(:folder)) = "
        ":folder",
        {"path": path, "folder": folder},
    ).fetchall()
    documents = [(int(str(id_)), str(uri)) for id_, uri in rows]
    _assign(connection, list_properties(connection), documents)


def _assign(
    connection: apsw.Connection,
    sources: dict[str, Properties],
    documents: Iterable[tuple[int, str]],
) -> None:
    connection.executemany(
        "UPDATE documents SET assigned = ?, labels = ? WHERE id = ?",
        [(*_assigned(sources, uri), document_id) for document_id, uri in documents],
    )


def _assigned(sources: dict[str, Properties], uri: str) -> tuple[str, str]:
    """Return metadata and labels as JSON: an inner folder's word counts more than an outer one's.

    Labels are not added up: who may see the outer folder need not see the inner one.
    """
    metadata: dict[str, object] = {}
    labels: tuple[str, ...] = ()
    for path, said in sources.items():
        relative = _relative(uri, path)
        if relative is None:
            continue
        for pattern in said.patterns or ():
            parts = named_parts(pattern, relative)
            metadata |= {name: typed_value(part) for name, part in parts.items()}
        metadata |= said.metadata or {}
        labels = said.labels or labels
    return _json(metadata), _json(labels)


def _relative(uri: str, path: str) -> str | None:
    """Return the path of a document within a source, with slashes; None if it lies elsewhere."""
    folder = path.rstrip(os.sep) + os.sep
    if uri == path:
        return os.path.basename(uri)  # noqa: PTH119 - a URI need not be a path
    return uri[len(folder) :].replace(os.sep, "/") if uri.startswith(folder) else None


def _given(new: T | None, old: T | None, empty: T) -> T:
    return new if new is not None else old if old is not None else empty


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
