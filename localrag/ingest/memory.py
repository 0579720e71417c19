"""Documents that a program adds by itself: they have a name, and no file."""

from __future__ import annotations

import time
from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING, Literal

from localrag.errors import LocalragError
from localrag.ingest.prepare import prepare_document
from localrag.ingest.readers import Readers
from localrag.ingest.write import embed_all, write_document
from localrag.store.documents import DocumentRow, find_document, metadata_of
from localrag.text.language import detect_language

if TYPE_CHECKING:
    from localrag.config import Settings
    from localrag.inference.protocols import Embedder
    from localrag.records import Metadata
    from localrag.store.database import Database

__all__ = ["add_document"]


def add_document(  # noqa: PLR0913 - the facade's own arguments, each named by its keyword
    database: Database,
    embedder: Embedder,
    settings: Settings,
    content: str | bytes,
    *,
    uri: str,
    title: str | None,
    metadata: Metadata | None,
) -> Literal["added", "updated", "unchanged"]:
    """Add a document, or replace the one that was added under this name.

    Raises:
        ReadError: there is no document in `content`.
        LocalragError: a file was indexed under this name.
    """
    data = content.encode("utf-8", "replace") if isinstance(content, str) else content
    with database.reading() as connection:
        stored = find_document(connection, uri)
        old_metadata = metadata_of(connection, stored.id) if stored else {}
    if stored is not None and stored.origin == "file":
        raise LocalragError(
            f"{uri} is a file that was indexed. Add the document under another name, or remove the "
            "file's first."
        )
    with Readers(settings) as readers:
        document = readers.read(data, uri)
    document = replace(
        document,
        title=title or document.title,
        metadata={**document.metadata, **(metadata or {})},
    )
    content_hash = sha256(data).hexdigest()
    if (
        stored is not None
        and (stored.content_hash, stored.title) == (content_hash, document.title)
        and old_metadata == document.metadata
    ):
        return "unchanged"
    row = DocumentRow(
        id=0,
        uri=uri,
        title=document.title,
        media_type=document.media_type,
        content_hash=content_hash,
        size=len(data),
        modified_at=time.time_ns(),
        origin="memory",
        language=detect_language(document.text),
    )
    prepared = prepare_document(row, document, embedder.counter, settings)
    [vectors], _ = embed_all(database.connection, embedder, [prepared])
    write_document(database, prepared, vectors)
    return "added" if stored is None else "updated"
